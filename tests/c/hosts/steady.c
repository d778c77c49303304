/* All ranks send to the next one and receive from the one before, round and round, for so many seconds; rank 0 says when
 * it has begun. For links that fail while messages are on their way. */
#include "../check.h"

int main(int argc, char **argv)
{
    static int out[1 << 14], in[1 << 14];
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    double seconds = argc > 1 ? atof(argv[1]) : 1, begin = MPI_Wtime();
    int go_on = 1;
    for (long rounds = 0; go_on; rounds++) {
        OK(MPI_Sendrecv(out, 1 << 14, MPI_INT, (rank + 1) % size, 0, in, 1 << 14, MPI_INT, (rank + size - 1) % size, 0,
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (rank == 0 && rounds == 10) printf("begun\n"), fflush(stdout);
        go_on = MPI_Wtime() - begin < seconds;
        OK(MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    if (rank == 0) printf("done\n");
    OK(MPI_Finalize());
    return 0;
}
