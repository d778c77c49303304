// ranks: 5 8
// timeout: 120
// env: POSTHASTE_BOARD_LIMIT=1
// env: POSTHASTE_SHARED_LIMIT=1
/* The same where everything that goes to three members or more goes on a board. */
#include "coll_random.c"
