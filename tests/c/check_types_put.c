// ranks: 2
// only: posthaste
// env: POSTHASTE_CHECK_TYPES=1
// env: POSTHASTE_LONG_PROTOCOL=put
/* check_types with long messages by the protocol put. */
#include "check_types.c"
