// ranks: 1 2 4
// env: POSTHASTE_WINDOW_TABLE=1
/* The same where members do not know each other's memory from the beginning. */
#include "win_threads_at_once.c"
