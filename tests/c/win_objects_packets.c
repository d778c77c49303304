// ranks: 1 3
// env: POSTHASTE_MAP_WINDOWS=0
// env: POSTHASTE_WINDOW_TRANSPORT=0
/* The same where no memory is mapped. */
#include "win_objects.c"
