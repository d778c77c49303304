/* plain.c: mpi.h and nothing else, which no warning of any compiler may spoil. With POSTHASTE_ONLY_STANDARD nothing is
 * there that the standard's own header does not have. Built by `cargo xtask test` (part `headers`). */
#include <mpi.h>

#if defined(POSTHASTE_ONLY_STANDARD)
/* Names of the program's own. */
typedef long MPI_Fint;
#define MPI_Comm_c2f(comm) ((MPI_Fint)MPI_Comm_toint(comm))
static const char MPI_Address[] = "no function", MPI_F08_status[] = "no type";
#if defined(MPI_LB) || defined(MPI_F_STATUS_IGNORE) || defined(POSTHASTE_INLINE)
#error "there is more than the standard"
#endif
#endif

int main(void)
{
#if defined(POSTHASTE_ONLY_STANDARD)
    return sizeof MPI_Address + sizeof MPI_F08_status + sizeof MPI_Comm_c2f(MPI_COMM_NULL) == 0;
#else
    return 0;
#endif
}
