// ranks: 2
// env: POSTHASTE_LONG_PROTOCOL=get
// only: posthaste
// timeout: 30
// not over libfabric: its software providers do not say that memory cannot be read
/* A send buffer that cannot be read, and a receive buffer that cannot be written, where the kernel copies between
 * processes (for the receiver, or for a sender whose data lies in pieces): an error of the receive, not a crash, and
 * everything still works. */
#include "check.h"

#include <sys/mman.h>

enum { LENGTH = 1 << 20 };

static void ping_pong(unsigned char *buffer)
{
    if (rank == 0) check_fill(buffer, LENGTH, 7);
    if (rank == 0) OK(MPI_Send(buffer, LENGTH, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
    if (rank == 1) OK(MPI_Recv(buffer, LENGTH, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    check_filled(buffer, LENGTH, 7);
}

int main(int argc, char **argv)
{
    char text[MPI_MAX_ERROR_STRING];
    int n, code;
    unsigned char *buffer = check_guarded(LENGTH);
    check_start(&argc, &argv);
    unsigned char *closed = mmap(NULL, LENGTH, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(closed != MAP_FAILED);
    ping_pong(buffer);
    /* Half of the buffer in pieces. */
    MPI_Datatype pieces;
    OK(MPI_Type_vector(LENGTH / 4096, 2048, 4096, MPI_BYTE, &pieces));
    OK(MPI_Type_commit(&pieces));
    /* The receiver learns whose memory it is. The sender may learn it too. */
    for (int turn = 0; turn < 4; turn++) {
        int side = turn % 2, whole = turn < 2;
        unsigned char *mine = rank == side ? closed : buffer;
        if (rank == 0) code = MPI_Send(mine, whole ? LENGTH : 1, whole ? MPI_BYTE : pieces, 1, 3, MPI_COMM_WORLD);
        else code = MPI_Recv(mine, LENGTH, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) CHECK(code != MPI_SUCCESS);
        if (code != MPI_SUCCESS) {
            OK(MPI_Error_string(code, text, &n));
            CHECK(strstr(text, rank == 0 ? "MPI_Send" : "MPI_Recv"), "%s", text);
            if (argc > 1) printf("rank %d: %s\n", rank, text);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        ping_pong(buffer);
    }
    OK(MPI_Type_free(&pieces));
    munmap(closed, LENGTH);
    check_free_guarded(buffer, LENGTH);
    return check_end();
}
