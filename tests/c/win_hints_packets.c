// ranks: 2
// only: posthaste
// env: POSTHASTE_MAP_WINDOWS=0
#include "win_hints.c"
