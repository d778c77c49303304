// ranks: 1 3
// exit: 7
// says: MPI_Abort(7) was called on rank 0
/* MPI_Abort ends all ranks, also those that wait, with its code. MPI-5.0 section 9.3.2. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
