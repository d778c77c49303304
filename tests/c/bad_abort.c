// ranks: 1 3
// exit: 7
// says: MPI_Abort(7) was called on rank 0 of MPI_COMM_WORLD
// only: posthaste
/* A communicator that is none does not keep MPI_Abort from ending the job. MPI-5.0 section 9.7. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (rank == 0) MPI_Abort((MPI_Comm)(uintptr_t)0xdeadbeef, 7);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
