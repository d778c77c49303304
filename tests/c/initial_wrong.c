// ranks: 1
// env: POSTHASTE_INITIAL_ERRHANDLER=mpi_errors_sometimes
// exit: nonzero
// says: POSTHASTE_INITIAL_ERRHANDLER is mpi_errors_sometimes, expected mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return
// only: posthaste
/* An initial error handler that there is none of is named by MPI_Init. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    return 0;
}
