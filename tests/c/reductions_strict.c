// ranks: 1 2
// env: POSTHASTE_STRICT=1
// only: posthaste
/* reductions_beyond.c where the standard's table alone holds. */
#define STRICT
#include "reductions_beyond.c"
