/* completions.c: messages of a rank to itself that are complete, and the calls that end them: 64 requests at once, with and without
 * statuses, and one. Run under callgrind by `cargo xtask test`, which counts the instructions of the functions.
 * Usage: completions COUNT. */
#include <mpi.h>
#include <stdlib.h>

enum { HALF = 32, ALL = 2 * HALF };
#define COUNTED __attribute__((noinline)) void

static MPI_Request requests[ALL];
static MPI_Status statuses[ALL];
static char data[HALF][8];

COUNTED completions_waitall(void)
{
    MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE);
}

COUNTED completions_statuses(void)
{
    MPI_Waitall(ALL, requests, statuses);
}

COUNTED completions_testall(void)
{
    int flag;
    MPI_Testall(ALL, requests, &flag, MPI_STATUSES_IGNORE);
}

COUNTED completions_wait(void)
{
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

COUNTED completions_test(void)
{
    int flag;
    MPI_Test(&requests[1], &flag, &statuses[0]);
}

static void post(int pairs)
{
    for (int k = 0; k < pairs; k++) MPI_Irecv(data[k], 8, MPI_BYTE, 0, k, MPI_COMM_SELF, &requests[2 * k]);
    for (int k = 0; k < pairs; k++) MPI_Isend("message", 8, MPI_BYTE, 0, k, MPI_COMM_SELF, &requests[2 * k + 1]);
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < count; i++) {
        post(HALF);
        completions_waitall();
        post(HALF);
        completions_statuses();
        post(HALF);
        completions_testall();
        post(1);
        completions_wait();
        completions_test();
    }
    MPI_Finalize();
    return 0;
}
