// ranks: 2 4
// env: POSTHASTE_UNEXPECTED_BYTES=0
/* threads.c where every message that nobody expected makes its receiver throttle the sender. */
#include "threads.c"
