// ranks: 1 2 3
// env: POSTHASTE_WINDOW_TABLE=1
/* The same where members do not know each other's memory from the beginning. */
#include "win_requests.c"
