// ranks: 2
// of memory
// only: posthaste
// env: POSTHASTE_EXPLAIN=1
// says: posthaste: rank 0 sends 100000 bytes to rank 1, tag 1, MPI_COMM_WORLD: shared through shared memory, because it lies in memory from MPI_Alloc_mem, which the receiver can reach
// says: posthaste: rank 1 receives 100000 bytes from rank 0, tag 1, MPI_COMM_WORLD: shared through shared memory, matched a posted receive
// says: posthaste: rank 0 sends 100000 bytes to rank 1, tag 2, MPI_COMM_WORLD: into through shared memory, because messages like it are received into memory from MPI_Alloc_mem there
// says: posthaste: rank 0 sends 100000 bytes to rank 1, tag 4, MPI_COMM_WORLD: stream through shared memory, because both sides can copy at once through a buffer
/* Messages from and into memory from MPI_Alloc_mem are copied directly, and say so. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { LEN = 100000 };
    char *shared, *plain = calloc(1, LEN);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(MPI_Alloc_mem(LEN, MPI_INFO_NULL, &shared) == MPI_SUCCESS);
    /* 1: out of it; 2: into it; 3: neither, as the sender finds out by asking; 4: neither, and it does not ask again. */
    for (int tag = 1; tag <= 4; tag++) {
        if (rank == 1) MPI_Irecv(tag == 2 ? shared : plain, LEN, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            memset(tag == 1 ? shared : plain, tag, LEN);
            MPI_Send(tag == 1 ? shared : plain, LEN, MPI_BYTE, 1, tag, MPI_COMM_WORLD);
        } else {
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            char *in = tag == 2 ? shared : plain;
            CHECK(in[0] == tag && in[LEN - 1] == tag);
        }
    }
    MPI_Free_mem(shared);
    free(plain);
    MPI_Finalize();
    return 0;
}
