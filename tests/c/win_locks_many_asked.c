// ranks: 2 3 4
// timeout: 30
// env: POSTHASTE_WINDOW_TABLE=1
/* The same where members do not know each other's memory from the beginning. */
#include "win_locks_many.c"
