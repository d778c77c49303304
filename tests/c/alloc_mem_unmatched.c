// ranks: 2
// of memory
// only: posthaste
/* Messages of medium length that leave before their receives are posted do so also where everybody has memory from MPI_Alloc_mem. */
#include "check.h"

int main(int argc, char **argv)
{
    enum { LONGEST = 16 << 10, TIMES = 3 };
    char *shared, *out = malloc(LONGEST), *in = malloc(LONGEST);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(out != NULL && in != NULL);
    CHECK(MPI_Alloc_mem(LONGEST, MPI_INFO_NULL, &shared) == MPI_SUCCESS);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int len = LONGEST / 4; len <= LONGEST; len *= 2) {
        for (int i = 0; i < TIMES; i++) {
            memset(out, len / 64 + i + rank, (size_t)len);
            memset(in, 0, (size_t)len);
            MPI_Send(out, len, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD);
            MPI_Recv(in, len, MPI_BYTE, 1 - rank, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            memset(out, len / 64 + i + 1 - rank, (size_t)len);
            CHECK(memcmp(in, out, (size_t)len) == 0);
        }
    }
    CHECK(MPI_Free_mem(shared) == MPI_SUCCESS);
    free(out), free(in);
    MPI_Finalize();
    return 0;
}
