// ranks: 4 2
// only: posthaste
// says: event loop: 
/* The event loop of the examples. */
#include "../../examples/handlers/event_loop.c"
