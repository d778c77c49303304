// ranks: 2 3 5
// only: posthaste
// timeout: 120
// env: POSTHASTE_MAP_WINDOWS=0
// env: POSTHASTE_WINDOW_TRANSPORT=0
/* The same with every operation done by the owner of the memory. */
#include "win_random.c"
