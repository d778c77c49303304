// ranks: 2 3
// env: POSTHASTE_LONG_PROTOCOL=shared
// The same with the direct copy forced for messages of every length.
#include "alloc_mem.c"
