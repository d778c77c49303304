// ranks: 1 2 4
// only: posthaste
// options: -fopenmp
// env: OMP_WAIT_POLICY=passive
// says: 0 cells wrong
/* The task runtime of the examples: OpenMP's. */
#include "../../examples/handlers/tasks.c"
