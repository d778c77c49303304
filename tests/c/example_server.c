// ranks: 4 2
// only: posthaste
// says: server: 
/* The server of the examples. */
#include "../../examples/handlers/server.c"
