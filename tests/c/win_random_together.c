// ranks: 2 3
// only: posthaste
// timeout: 120
/* The same in windows of which whole arrays of elements are changed under one lock. */
#define GRANULARITY "64"
#include "win_random.c"
