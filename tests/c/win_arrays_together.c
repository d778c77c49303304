// ranks: 1 2 4
// only: posthaste
/* The same where the program says that it changes arrays of elements at once; then where one rank alone does, though MPI asks for the same
 * value of all. MPI-5.0 section 12.2.1. */
#define GRANULARITY "4096"
#include "win_arrays.c"
