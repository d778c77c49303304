// ranks: 2
// only: posthaste
// timeout: 30
/* A cancelled MPI_Isendrecv ends although nobody receives its message and nobody sends it one; what was on its way is
 * taken back. What has been received already stays received, and the status is that of the receive. */
#include "check.h"

enum { LONG = 5000000 }; /* more than a bounce buffer holds: it does not end before it is received */

static char *out, *in;

/* Rank 0 begins both and takes both back. */
static void neither(int len, int in_place)
{
    if (rank == 0) {
        MPI_Request request;
        MPI_Status status;
        int flag;
        if (in_place) OK(MPI_Isendrecv_replace(in, len, MPI_BYTE, 1, 1, 1, 2, MPI_COMM_WORLD, &request));
        else OK(MPI_Isendrecv(out, len, MPI_BYTE, 1, 1, in, len, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request));
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag, "nothing was sent, and it was not cancelled");
        CHECK(request == MPI_REQUEST_NULL);
    } else {
        /* Long enough to answer, and to get what is not taken back. */
        int flag = 0;
        for (double until = MPI_Wtime() + 0.05; MPI_Wtime() < until;)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1 && len > 5000) {
        int flag;
        OK(MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "the message of %d bytes was not taken back", len);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* the next one may be there already otherwise */
    /* A short one has left for good. */
    if (rank == 1 && len <= 5000) OK(MPI_Recv(in, len, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* The receive has got its message; the send has not, and is taken back. */
static void only_received(void)
{
    if (rank == 0) {
        MPI_Request request;
        MPI_Status status;
        int flag, count;
        OK(MPI_Isendrecv(out, LONG, MPI_BYTE, 1, 1, in, 10, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "nobody has received the message");
        OK(MPI_Cancel(&request));
        OK(MPI_Wait(&request, &status));
        OK(MPI_Test_cancelled(&status, &flag));
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK(!flag && count == 10, "cancelled: %d, %d bytes", flag, count);
    } else {
        OK(MPI_Send(out, 10, MPI_BYTE, 0, 2, MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    out = calloc(1, LONG), in = calloc(1, LONG);
    for (int turn = 0; turn < 5; turn++) {
        neither(LONG, 0);
        neither(LONG, 1);
        neither(100, 0);
        only_received();
    }
    free(out), free(in);
    return check_end();
}
