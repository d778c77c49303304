// ranks: 2 4
// env: POSTHASTE_GET_LIMIT=4096
/* Ranks that fork while long messages are under way: a child that runs a command, one that leaves by _exit and one
 * that leaves by exit. The children touch nothing of MPI, and the parent's messages arrive as if there were none. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { LENGTH = 3 << 20, ROUNDS = 9 };

/* Starts a child that ends in one of three ways; the code is 7 for all. */
static pid_t child(int way)
{
    fflush(NULL);
    pid_t pid = fork();
    CHECK(pid >= 0, "fork fails");
    if (pid > 0) return pid;
    if (way == 0) execl("/bin/sh", "sh", "-c", "exit 7", (char *)NULL);
    if (way == 1) exit(7);
    _exit(7);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char *out = check_guarded(LENGTH), *in = check_guarded(LENGTH);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Request requests[2];
        int status, flag;
        check_fill(out, LENGTH, (unsigned)(rank + round));
        memset(in, 0, LENGTH);
        OK(MPI_Irecv(in, LENGTH, MPI_BYTE, left, round, MPI_COMM_WORLD, &requests[0]));
        OK(MPI_Isend(out, LENGTH, MPI_BYTE, right, round, MPI_COMM_WORLD, &requests[1]));
        OK(MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE));
        pid_t pid = child(round % 3);
        if (!flag) OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        check_filled(in, LENGTH, (unsigned)(left + round));
        CHECK(waitpid(pid, &status, 0) == pid, "the child is gone");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7, "the child's status is %#x", (unsigned)status);
    }
    check_free_guarded(out, LENGTH);
    check_free_guarded(in, LENGTH);
    return check_end();
}
