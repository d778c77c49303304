// ranks: 2
// only: posthaste
/* Who waits for processes to start goes on receiving: the new process does not come to MPI_Init before a message that the waiting
 * rank has to help with has arrived. MPI-5.0 section 3.5. */
#include "check.h"

#include <fcntl.h>
#include <unistd.h>

enum { LONG = 1 << 20 };

int main(int argc, char **argv)
{
    static char own[4096], message[LONG];
    char mark[256];
    /* The new process waits for the mark that the sender leaves. */
    for (int waits = argc > 1; waits && access(argv[1], F_OK); usleep(1000)) {}
    check_start(&argc, &argv);
    MPI_Comm parent, inter;
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        OK(MPI_Comm_disconnect(&parent));
        return check_end();
    }
    const char *folder = getenv("TMPDIR");
    int number = (int)getpid(); /* of rank 0: ranks on two hosts have two parents */
    OK(MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD));
    snprintf(mark, sizeof mark, "%s/spawn_progress-%d", folder ? folder : "/tmp", number);
    if (rank == 1) {
        memset(message, 7, LONG);
        OK(MPI_Ssend(message, LONG, MPI_BYTE, 0, 0, MPI_COMM_WORLD));
        int file = creat(mark, 0600);
        CHECK(file >= 0, "no mark at %s", mark);
        close(file);
    } else {
        MPI_Request request;
        char *arguments[] = {mark, NULL};
        CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
        OK(MPI_Irecv(message, LONG, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request));
        OK(MPI_Comm_spawn(own, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        EQUAL(message[LONG - 1], 7);
        OK(MPI_Comm_disconnect(&inter));
        unlink(mark);
    }
    return check_end();
}
