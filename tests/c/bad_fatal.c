// ranks: 2
// exit: nonzero
// says: posthaste: MPI_Send on rank 1 of MPI_COMM_WORLD: dest is 99, expected
// says: MPI_ERR_RANK
// only: posthaste
/* With the default error handler a wrong argument ends the whole job with one sentence, though the others wait.
 * MPI-5.0 section 9.3. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 99, 1, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_unused();
    return 0;
}
