// ranks: 2 3
// of memory
// env: POSTHASTE_MAP_WINDOWS=0
/* The same with copies by the system. */
#include "win_untouched.c"
