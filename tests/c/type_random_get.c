// ranks: 2
// timeout: 120
// only: posthaste
// env: POSTHASTE_LONG_PROTOCOL=get
// env: POSTHASTE_EAGER_LIMIT=64
/* Random types with nearly every message by one protocol: see type_random.c. */
#include "type_random.c"
