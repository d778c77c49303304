// ranks: 1
// only: posthaste
// says: the handler of a request was left by a jump (longjmp), not by returning
/* A handler that jumps out of MPI is named, and counts as one that has returned: its request can be completed. */
#include "check.h"

#include <posthaste.h>
#include <setjmp.h>

static jmp_buf out;

static void jumps(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
    longjmp(out, 1);
}

static int got;

int main(int argc, char **argv)
{
    static MPI_Request request, other;
    MPI_Status status;
    int value = 6, flag;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 2, MPI_COMM_SELF, &other)); /* keeps handlers looked for */
    OK(Posthaste_Request_attach(&request, jumps, NULL));
    OK(Posthaste_Request_attach(&other, jumps, NULL));
    OK(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    if (!setjmp(out)) {
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        FAIL("the handler did not jump");
    }
    OK(MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    OK(Posthaste_Request_detach(&other));
    OK(MPI_Wait(&request, &status));
    EQUAL(got, 6);
    EQUAL(status.MPI_TAG, 1);
    OK(MPI_Cancel(&other));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    OK(MPI_Finalize());
    return 0;
}
