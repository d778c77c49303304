// ranks: 2
// of memory
// env: POSTHASTE_METHODS=tcp
// env: POSTHASTE_LINKS=tcp@lo,tcp@none0
// exit: nonzero
// says: the link tcp@none0 of POSTHASTE_LINKS cannot be used
// only: posthaste
//
// A link over an interface that is not there: the job does not start, and the sentence names the link.
#include <mpi.h>

int main(void)
{
    MPI_Init(0, 0);
    return MPI_Finalize();
}
