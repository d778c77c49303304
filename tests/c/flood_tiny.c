// ranks: 2 4
// timeout: 90
// env: POSTHASTE_UNEXPECTED_BYTES=700
/* flood.c with room for two unexpected messages of each rank. */
#include "flood.c"
