// ranks: 2
// only: posthaste
// exit: 7
/* The function of a reduction operation may call MPI_Abort (MPI-5.0 section 6.9.5), also while handlers are attached. */
#include "check.h"

#include <posthaste.h>

static void aborts(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)length, (void)type;
    MPI_Abort(MPI_COMM_WORLD, 7);
}

static void nothing(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
}

int main(int argc, char **argv)
{
    int number = 1, sum;
    MPI_Op op;
    MPI_Request open;
    check_start(&argc, &argv);
    OK(MPI_Irecv(&number, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &open));
    OK(Posthaste_Request_attach(&open, nothing, NULL));
    OK(MPI_Op_create(aborts, 1, &op));
    OK(MPI_Allreduce(&number, &sum, 1, MPI_INT, op, MPI_COMM_WORLD));
    return check_end();
}
