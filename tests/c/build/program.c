/* program.c: valid C (from C99 on) and C++: built in every way that users have. Rank 0 sends 3 messages to
 * itself, so that a profiler has something to count. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank = -1, size = -1, in = -1, sum = -1, i;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (i = 0; i < 3; i++) {
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_INT, 0, i, MPI_COMM_SELF, &request);
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_SELF);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (in != i) MPI_Abort(MPI_COMM_WORLD, 4);
    }
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("program: %d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return 0;
}
