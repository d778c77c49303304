// ranks: 2
// only: posthaste
/* user_op_calls.c as if several threads called. */
#define LEVEL MPI_THREAD_MULTIPLE
#include "user_op_calls.c"
