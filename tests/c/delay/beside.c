/* beside.c: two ranks with a CPU each and messages of 16 KiB between them, alone and beside programs that compute on all CPUs: so many
 * times less go there and back beside them. MPI sees nothing of those programs, which are there before it begins.
 * Usage: beside CPUS MOST. Output: what it measured; fails beyond MOST times. */
#include "../check.h"
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BYTES = 16384, MOST_CPUS = 1024 };

static char data[BYTES];

/* Processes that compute once something can be read, until this one ends or kills them. */
static int start_others(int cpus, pid_t *others)
{
    int pipes[2];
    char byte;
    if (pipe(pipes) != 0) FAIL("no pipe");
    for (int i = 0; i < cpus; i++) {
        others[i] = fork();
        if (others[i] < 0) FAIL("no process");
        if (others[i] > 0) continue;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(pipes[1]);
        if (read(pipes[0], &byte, 1) != 1) _exit(0);
        for (volatile long i = 0;; i++) {}
    }
    close(pipes[0]);
    return pipes[1];
}

/* Messages there and back in a second. */
static double rate(double seconds)
{
    long rounds = 0;
    double start = MPI_Wtime();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (data[0] = 1; data[0]; rounds++) {
        if (rank == 0) {
            data[0] = MPI_Wtime() - start < seconds;
            OK(MPI_Send(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
            OK(MPI_Recv(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        } else {
            OK(MPI_Recv(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            OK(MPI_Send(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
        }
    }
    return rounds / (MPI_Wtime() - start);
}

int main(int argc, char **argv)
{
    static pid_t others[MOST_CPUS];
    int given = atoi(argv[1]), cpus = given > MOST_CPUS ? MOST_CPUS : given, fd = start_others(cpus, others);
    check_start(&argc, &argv);
    double alone = rate(0.5);
    /* Those of one rank are enough. */
    for (int i = 0; i < cpus && rank == 0; i++) CHECK(write(fd, "", 1) == 1, "process %d was not told", i);
    double beside = rate(2);
    for (int i = 0; i < cpus; i++) kill(others[i], SIGKILL);
    if (rank == 0) {
        printf("%.0f a second alone, %.0f beside others\n", alone, beside);
        CHECK(alone < beside * atof(argv[2]), "%.1f times less beside others", alone / beside);
    }
    return check_end();
}
