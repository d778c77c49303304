// ranks: 2 3 5
// only: posthaste
// timeout: 120
// env: POSTHASTE_MAP_WINDOWS=0
/* The same with puts and gets done by the system or the network, where they can. */
#include "win_random.c"
