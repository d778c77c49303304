// ranks: 2
// exit: nonzero
// says: posthaste: MPI_Comm_free on rank 0 of MPI_COMM_WORLD: comm is MPI_COMM_WORLD, expected a communicator made by the program
// only: posthaste
/* MPI_COMM_WORLD cannot be freed: the default error handler says so and ends the job. MPI-5.0 section 7.4.3. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) MPI_Comm_free(&world);
    MPI_Barrier(MPI_COMM_WORLD);
    check_unused();
    return 0;
}
