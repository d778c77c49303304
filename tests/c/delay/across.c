/* How long ranks take on average that exchange a few bytes with four others, again and again. */
#include "../check.h"

enum { WARM = 50, ROUNDS = 500 };

static void exchange(int rounds)
{
    const int steps[4] = {1, size - 1, 4, size - 4};
    char out[64] = {0}, in[4][64];
    MPI_Request requests[8];
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < 4; k++) {
            OK(MPI_Irecv(in[k], 64, MPI_BYTE, (rank + size - steps[k]) % size, k, MPI_COMM_WORLD, &requests[k]));
            OK(MPI_Isend(out, 64, MPI_BYTE, (rank + steps[k]) % size, k, MPI_COMM_WORLD, &requests[4 + k]));
        }
        OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    exchange(WARM);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime();
    exchange(ROUNDS);
    double took = (MPI_Wtime() - began) / ROUNDS * 1e6, mean = 0;
    OK(MPI_Reduce(&took, &mean, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0) printf("mean %.1f us\n", mean / size);
    return check_end();
}
