// ranks: 2
// exit: nonzero
// says: MPI_Barrier
// only: posthaste
/* A call before MPI_Init ends the program with one sentence that names the call and MPI_Init. */
#include "check.h"

int main(void)
{
    check_unused();
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}
