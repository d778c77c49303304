// ranks: 4
// env: POSTHASTE_UNEXPECTED_BYTES=1048576
// says: of the world floods rank 0 with messages that nobody receives
// only: posthaste
// timeout: 180
// not over libfabric: libfabric takes megabytes of its own for each peer
/* The same with the buffers of connections left to the system, which lets them grow: the bound grows by them. */
#define BUFFERS_OF_THE_SYSTEM
#include "flood_budget.c"
