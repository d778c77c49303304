// ranks: 2
// only: posthaste
// exit: nonzero
// says: the function of a reduction operation (MPI_Op_create) has called a function of MPI that communicates
// says: MPI_Type_get_extent, and MPI_Abort
/* The function of a reduction operation communicates, which it must not do (MPI-5.0 section 6.9.5): the rank says so and ends.
 * user_op_communicates_threads.c: as if several threads called. */
#include "check.h"

#ifndef LEVEL
#define LEVEL MPI_THREAD_SINGLE
#endif

static void sends(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
    MPI_Send(NULL, 0, MPI_INT, rank, 1, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int number = 1, sum, level;
    MPI_Op op;
    OK(MPI_Init_thread(&argc, &argv, LEVEL, &level));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Op_create(sends, 1, &op));
    OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, op, MPI_COMM_WORLD));
    return check_end();
}
