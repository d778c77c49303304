// ranks: 2 3
// of memory
// env: POSTHASTE_MAP_WINDOWS=0
// env: POSTHASTE_WINDOW_THREAD=0
/* The same with copies by the system. */
#include "win_untouched.c"
