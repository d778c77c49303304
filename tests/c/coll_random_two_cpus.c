// ranks: 6 8
// timeout: 120
// cpus: 2
// env: POSTHASTE_BOARD_LIMIT=1
// env: POSTHASTE_SHARED_LIMIT=1
/* The same where all share two CPUs and everything that goes to three members or more goes on a board: long operands are combined by
 * one member or two. */
#include "coll_random.c"
