// ranks: 2
// only: posthaste
// exit: nonzero
// says: the function of a reduction operation (MPI_Op_create) has called a function of MPI that communicates
#define LEVEL MPI_THREAD_MULTIPLE
#include "user_op_communicates.c"
