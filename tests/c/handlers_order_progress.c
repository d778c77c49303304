// ranks: 2 3
// only: posthaste
// env: POSTHASTE_PROGRESS_THREAD=1
/* handlers_order.c with a progress thread. */
#include "handlers_order.c"
