// ranks: 2
// timeout: 300
// only: posthaste
// env: POSTHASTE_LONG_PROTOCOL=put
/* Messages of more than 2^31 elements by one protocol: see large_messages.c. */
#include "large_messages.c"
