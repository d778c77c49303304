// ranks: 2
// of memory
// only: posthaste
// env: POSTHASTE_BOUNCE_BUFFER=1048576
/* A message that has left its sender is received while the sender is outside of MPI, also when a later one, of which only
 * the beginning is in the bounce buffer, was matched before it. */
#include "check.h"
#include <unistd.h>

enum { MEDIUM = 10000, LONG = 300000, OUTSIDE = 4 };

int main(int argc, char **argv)
{
    static char medium[MEDIUM], large[LONG];
    MPI_Request request;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Send(medium, MEDIUM, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
        OK(MPI_Isend(large, LONG, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request));
        sleep(OUTSIDE);
    } else {
        int flag;
        double start = MPI_Wtime(), took;
        OK(MPI_Irecv(large, LONG, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request));
        for (int i = 0; i < 10; i++) {
            usleep(20000);
            OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
        }
        OK(MPI_Recv(medium, MEDIUM, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        took = MPI_Wtime() - start;
        CHECK(took < OUTSIDE - 1, "it took %g s", took);
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Finalize());
    return 0;
}
