// ranks: 2
// env: POSTHASTE_LONG_PROTOCOL=stream
// exit: nonzero
// says: was killed by signal 11 (SIGSEGV)
// only: posthaste
// timeout: 30
/* A send buffer that cannot be read, where the sender itself copies: the process dies as it would by its own memcpy,
 * and the launcher says which rank and which signal, and ends the others. */
#include "check.h"

#include <sys/mman.h>

int main(int argc, char **argv)
{
    enum { LENGTH = 1 << 20 };
    check_start(&argc, &argv);
    unsigned char *closed = mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *room = malloc(LENGTH);
    CHECK(closed != MAP_FAILED && room != NULL);
    if (rank == 0) MPI_Send(closed, LENGTH, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
    else MPI_Recv(room, LENGTH, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return check_end();
}
