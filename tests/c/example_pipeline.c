// ranks: 4 2 3
// only: posthaste
// says: blocks through
/* The pipeline of the examples. */
#include "../../examples/handlers/pipeline.c"
