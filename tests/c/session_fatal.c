// ranks: 2
// exit: nonzero
// says: MPI_Session_init is not implemented yet
// only: posthaste
/* The handler that MPI_Session_init was given is MPI_ERRORS_ARE_FATAL: that ends the program. MPI-5.0 section 11.3.1. */
#define POSTHASTE_MISSING_SILENT
#include "check.h"

int main(void)
{
    MPI_Session session;
    check_unused();
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    return 0;
}
