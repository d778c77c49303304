// ranks: 1
// only: posthaste
// env: POSTHASTE_PROGRESS_THREAD=1
/* handlers.c with a progress thread, on which most of the handlers run. */
#include "handlers.c"
