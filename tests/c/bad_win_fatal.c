// ranks: 2
// exit: nonzero
// says: posthaste: MPI_Put on rank 1 of MPI_COMM_WORLD
// says: board
// says: MPI_ERR_RMA_RANGE
// only: posthaste
/* With the default error handler of a window a wrong access ends the whole job with one sentence, though the others wait, whatever handler
 * the communicator has of which it was made. MPI-5.0 section 12.6.1. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 1, *base;
    MPI_Win win;
    check_start(&argc, &argv);
    OK(MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Win_set_name(win, "board"));
    OK(MPI_Win_lock_all(0, win));
    if (rank == 1) MPI_Put(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, win);
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    return 0;
}
