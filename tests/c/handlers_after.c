// ranks: 1
// only: posthaste
// exit: nonzero
// says: Posthaste_Request_attach on rank 0 of MPI_COMM_WORLD: it was called after MPI_Finalize
/* Handlers end with MPI: a request that is left has none any more, and attaching to one is an error. */
#include "check.h"

#include <posthaste.h>

static void none(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
}

int main(int argc, char **argv)
{
    static int got;
    MPI_Request request;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Recv_init(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    OK(Posthaste_Request_attach(&request, none, NULL));
    OK(MPI_Finalize());
    Posthaste_Request_attach(&request, none, NULL);
    return 0;
}
