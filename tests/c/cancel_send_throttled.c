// ranks: 2 4
// env: POSTHASTE_UNEXPECTED_BYTES=2000
// only: posthaste
// timeout: 120
/* cancel_send.c where a receiver throttles its senders. */
#include "cancel_send.c"
