// ranks: 4 3
// says: with fences on
// says: with post and start on
/* The halo exchange by put of the examples. */
#include "../../examples/windows/halo.c"
