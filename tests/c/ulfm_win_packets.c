// ranks: 2 3
// only: posthaste
// env: POSTHASTE_MAP_WINDOWS=0
// env: POSTHASTE_WINDOW_TRANSPORT=0
#include "ulfm_win.c"
