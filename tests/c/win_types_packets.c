// ranks: 2 3
// env: POSTHASTE_MAP_WINDOWS=0
/* The same with every operation done by the owner of the memory. */
#include "win_types.c"
