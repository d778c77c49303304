// ranks: 2 4
// env: POSTHASTE_UNEXPECTED_BYTES=2000
// only: posthaste
// timeout: 120
/* cancel_send.c where messages are held back at their sender. */
#include "cancel_send.c"
