// ranks: 2
// says: MPI_Send
// exit: nonzero
// only: posthaste
/* A call after MPI_Finalize ends the program with one sentence that names the call. */
#include "check.h"

int main(int argc, char **argv)
{
    int value = 1;
    check_start(&argc, &argv);
    check_end();
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    return 0;
}
