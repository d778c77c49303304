// ranks: 2 4
// env: POSTHASTE_LONG_PROTOCOL=get
// only: posthaste
// timeout: 120
/* cancel_send.c where the receiver copies long messages directly. */
#include "cancel_send.c"
