// ranks: 4 7
// timeout: 120
// cpus: 1
// env: POSTHASTE_BOARD_LIMIT=16384
/* The same where all share one CPU: boards are used, and one member combines, on a machine with any number of CPUs. */
#include "coll_random.c"
