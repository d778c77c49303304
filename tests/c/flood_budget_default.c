// ranks: 4
// env: POSTHASTE_UNEXPECTED_BYTES=1048576
// says: rank 0 of the world has not received yet what rank
// only: posthaste
// timeout: 180
// not over libfabric: libfabric takes megabytes of its own for each peer
/* The same with the buffers of connections left to the system, which lets them grow: the bound grows by them. */
#define BUFFERS_OF_THE_SYSTEM
#include "flood_budget.c"
