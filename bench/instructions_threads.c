/* instructions_threads.c: two ranks, so many sends of 8 bytes and of 8 KiB under MPI_THREAD_MULTIPLE, each answered. Run under callgrind by
 * `cargo xtask test`, which counts the instructions of the two functions. Usage: instructions_threads COUNT. */
#include <mpi.h>
#include <stdlib.h>

#define COUNTED __attribute__((noinline, visibility("default")))

static char data[8192];

COUNTED void threads_short(void) { MPI_Send(data, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD); }

/* Whole through the bounce buffer of the pair: its copy is counted, too. */
COUNTED void threads_medium(void) { MPI_Send(data, sizeof data, MPI_BYTE, 1, 1, MPI_COMM_WORLD); }

int main(int argc, char **argv)
{
    int rank, provided, count = argc > 1 ? atoi(argv[1]) : 3200;
    /* One way of copying, whatever is right for this processor. */
    setenv("POSTHASTE_COPY_STORE", "plain", 1);
    setenv("POSTHASTE_BOUNCE_BUFFER", "1048576", 1);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided != MPI_THREAD_MULTIPLE) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < 2 * count; i++) {
        if (rank == 0) {
            if (i % 2) threads_medium();
            else threads_short();
            MPI_Recv(data, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(data, sizeof data, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
        }
    }
    MPI_Finalize();
    return 0;
}
