// ranks: 2 4
// env: POSTHASTE_LONG_PROTOCOL=put
// only: posthaste
// timeout: 120
/* cancel_send.c where long messages come in fragments. */
#include "cancel_send.c"
