// ranks: 2 3
// env: POSTHASTE_MAP_WINDOWS=0
// env: POSTHASTE_WINDOW_TRANSPORT=0
/* The same with every access done by the owner of the memory. */
#include "win_long.c"
