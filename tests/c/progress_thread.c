// ranks: 2
// only: posthaste
// env: POSTHASTE_PROGRESS_THREAD=1
/* With a progress thread a long message leaves and comes while both programs compute and call nothing; without one it would
 * wait for the end of the computation. */
#include "check.h"

#include <unistd.h>

enum { LONG = 8 << 20, COMPUTE_MS = 400 };

int main(int argc, char **argv)
{
    int rank, there = 0;
    MPI_Request request;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    char *data = malloc(LONG);
    for (int round = 0; round < 3; round++) {
        memset(data, rank == 0 ? 5 + round : 0, LONG);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) OK(MPI_Isend(data, LONG, MPI_CHAR, 1, round, MPI_COMM_WORLD, &request));
        else OK(MPI_Irecv(data, LONG, MPI_CHAR, 0, round, MPI_COMM_WORLD, &request));
        usleep(COMPUTE_MS * 1000);
        /* No call has been made since, so the last byte is there only if the thread brought it. */
        if (rank == 1) CHECK(((volatile char *)data)[LONG - 1] == 5 + round, "round %d: nothing has come", round);
        OK(MPI_Test(&request, &there, MPI_STATUS_IGNORE));
        CHECK(there, "round %d: the request is not over", round);
    }
    free(data);
    MPI_Finalize();
    return 0;
}
