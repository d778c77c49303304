// ranks: 2
// env: POSTHASTE_INITIAL_ERRHANDLER=mpi_errors_abort
// exit: nonzero
// says: MPI_Send on rank 1 of MPI_COMM_WORLD: dest is 7
// only: posthaste
/* The job was started with mpi_errors_abort: a program that sets nothing ends, and its handler says so. MPI-5.0 section
 * 9.3. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Errhandler found;
    int value = 0;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    if (found != MPI_ERRORS_ABORT) return 0;
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 7, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
