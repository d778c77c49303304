// ranks: 2 4
// timeout: 90
/* Many to one: every other rank sends 10,000 small messages before rank 0 receives any, so that all of them are
 * unexpected; rank 0 then takes them from the last sender to the first. Nothing is lost, the order of each sender
 * is kept, and with a second flood the memory is used again. */
#include "check.h"

enum { COUNT = 10000 };

static void flood(int tag)
{
    if (rank != 0) {
        int last = -1;
        for (int i = 0; i < COUNT; i++) {
            int message[3] = {rank, i, rank * i};
            OK(MPI_Send(message, 1 + i % 3, MPI_INT, 0, tag, MPI_COMM_WORLD));
        }
        OK(MPI_Recv(&last, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(last, rank);
        return;
    }
    double until = MPI_Wtime() + 0.3;
    int flag, count;
    /* Look away for a while: what comes in the meantime is unexpected. */
    while (MPI_Wtime() < until) OK(MPI_Iprobe(MPI_ANY_SOURCE, tag + 1000, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    for (int source = size - 1; source > 0; source--) {
        for (int i = 0; i < COUNT; i++) {
            int message[3] = {-1, -1, -1};
            MPI_Status status;
            OK(MPI_Recv(message, 3, MPI_INT, source, tag, MPI_COMM_WORLD, &status));
            OK(MPI_Get_count(&status, MPI_INT, &count));
            EQUAL(count, 1 + i % 3);
            EQUAL(message[0], source);
            if (count > 1) EQUAL(message[1], i);
            if (count > 2) EQUAL(message[2], source * i);
        }
    }
    for (int source = 1; source < size; source++) OK(MPI_Send(&source, 1, MPI_INT, source, tag, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    flood(1);
    flood(2);
    return check_end();
}
