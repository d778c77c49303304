// ranks: 2 3 5
// only: posthaste
// timeout: 120
// env: POSTHASTE_WINDOW_TABLE=1
/* The same where members do not know each other's memory from the beginning. */
#include "win_random.c"
