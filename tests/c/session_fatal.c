// ranks: 2
// exit: nonzero
// says: thread_level in info is "MPI_THREAD_SOME"
// only: posthaste
/* The handler that MPI_Session_init was given is MPI_ERRORS_ARE_FATAL: that ends the program. MPI-5.0 section 11.3.1. */
#include "check.h"

int main(void)
{
    MPI_Session session;
    MPI_Info info;
    check_unused();
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_level", "MPI_THREAD_SOME");
    MPI_Session_init(info, MPI_ERRORS_ARE_FATAL, &session);
    return 0;
}
