// ranks: 1 3
// exit: 5
// only: posthaste
// says: the last words of rank 0
/* What a rank wrote before it called MPI_Abort is not lost, though its output is a pipe and the launcher ends
 * everybody. MPI-5.0 section 9.7. */
#include "check.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (rank == 0) {
        printf("the last words of rank 0\n");
        MPI_Abort(MPI_COMM_WORLD, 5);
    }
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
