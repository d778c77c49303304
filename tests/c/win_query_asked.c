// ranks: 1 3
// only: posthaste
// env: POSTHASTE_WINDOW_TABLE=1
/* The same where members do not know each other's memory from the beginning. */
#include "win_query.c"
