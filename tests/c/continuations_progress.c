// ranks: 1 2
// only: posthaste
// env: POSTHASTE_PROGRESS_THREAD=1
/* continuations.c with a progress thread: callbacks stay on the program's thread, as without the key for all threads. */
#include "continuations.c"
