// ranks: 2
// of memory
// only: posthaste
// env: POSTHASTE_EXPLAIN=1
// says: posthaste: rank 0 sends 8 bytes to rank 1, tag 5, MPI_COMM_WORLD: eager through shared memory, because it is short and there is room for it
// says: posthaste: rank 1 receives 8 bytes from rank 0, tag 5, MPI_COMM_WORLD: eager through shared memory, matched a posted receive
// says: posthaste: rank 1 receives 8 bytes from rank 0, tag 6, MPI_COMM_WORLD: eager through shared memory, was unexpected and waited for its receive
// says: posthaste: rank 0 sends 8 bytes synchronously to rank 1, tag 7, pair: eager through shared memory, because it is not longer than the eager limit
// says: posthaste: rank 0 sends 4194304 bytes to rank 1, tag 8, MPI_COMM_WORLD: 
// says: posthaste: rank 1 receives 4194304 bytes from rank 0, tag 8, MPI_COMM_WORLD: 
// says: posthaste: rank 0 sends 0 bytes to rank 0, tag 9, MPI_COMM_SELF: eager within the process, because
// says: MPI_COMM_WORLD (collective): eager through shared memory
// says: posthaste: rank 0 copies long messages on its node through 
/* Every message is explained by a line of its sender and one of its receiver. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { LONG = 4 << 20 };
    char *data = calloc(1, LONG);
    int rank;
    MPI_Request request;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &pair);
    MPI_Comm_set_name(pair, "pair");
    if (rank == 0) {
        MPI_Recv(data, 0, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(data, 8, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
        MPI_Send(data, 8, MPI_BYTE, 1, 6, MPI_COMM_WORLD);
        MPI_Send(data, 8, MPI_BYTE, 1, 10, MPI_COMM_WORLD);
        MPI_Ssend(data, 8, MPI_BYTE, 1, 7, pair);
        MPI_Send(data, LONG, MPI_BYTE, 1, 8, MPI_COMM_WORLD);
        MPI_Irecv(data, 0, MPI_BYTE, 0, 9, MPI_COMM_SELF, &request);
        MPI_Send(data, 0, MPI_BYTE, 0, 9, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Irecv(data, 8, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &request);
        MPI_Send(data, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
        MPI_Recv(data, 8, MPI_BYTE, 0, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(data, 8, MPI_BYTE, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Recv(data, 8, MPI_BYTE, 0, 7, pair, MPI_STATUS_IGNORE);
        MPI_Recv(data, LONG, MPI_BYTE, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&pair);
    MPI_Finalize();
    free(data);
    return 0;
}
