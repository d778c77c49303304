/* unheard.c: the last rank is lost, alone or with its host, and most of the others have never talked to it. Who receives from anybody, or
 * asks who is lost, hears of it all the same; what it had sent to the one that knows it is received first. Usage: unheard rank|host|silent;
 * with silent somebody else ends its host when it says so. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGES = 20, LONG = 100000 };

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void is_lost(int code, double begin)
{
    int class;
    OK(MPI_Error_class(code, &class));
    EQUAL(class, MPIX_ERR_PROC_FAILED);
    if (!strstr(check_text(code), "rank 3")) FAIL("\"%s\"", check_text(code));
    if (MPI_Wtime() - begin > 15) FAIL("it was heard after %.1f s", MPI_Wtime() - begin);
}

int main(int argc, char **argv)
{
    static char buffer[LONG];
    int failed, last, again;
    double begin;
    MPI_Group group;
    MPI_Request request;
    check_start(&argc, &argv);
    if (size != 4) FAIL("needs 4 ranks");
    last = size - 1;
    begin = MPI_Wtime();
    if (rank == last) {
        OK(MPI_Ssend(buffer, 1, MPI_BYTE, 2, 0, MPI_COMM_WORLD));
        for (int i = 0; i < MESSAGES; i++) {
            memset(buffer, i, sizeof buffer);
            OK(MPI_Send(buffer, i % 2 ? 1000 : 1, MPI_BYTE, 2, 1 + i, MPI_COMM_WORLD));
        }
        OK(MPI_Recv(buffer, 1, MPI_BYTE, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        printf("the last rank is to be lost\n");
        fflush(stdout);
        if (strcmp(argv[1], "silent") != 0) kill(strcmp(argv[1], "host") == 0 ? getppid() : getpid(), SIGKILL);
        for (;;) pause();
    }
    if (rank == 0) {
        /* Waits for anybody. */
        is_lost(MPI_Recv(buffer, 1, MPI_BYTE, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE), begin);
    } else if (rank == 1) {
        /* Waits for nobody, and asks; then it waits without waiting. */
        for (failed = 0; failed == 0;) {
            OK(MPIX_Comm_get_failed(MPI_COMM_WORLD, &group));
            OK(MPI_Group_size(group, &failed));
            OK(MPI_Group_free(&group));
            if (MPI_Wtime() - begin > 15) FAIL("nobody is lost after 15 s");
            pause_ms(1);
        }
        EQUAL(failed, 1);
        OK(MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, &again));
        EQUAL(again, 1);
        is_lost(MPI_Send(buffer, LONG, MPI_BYTE, last, 0, MPI_COMM_WORLD), begin);
    } else {
        /* Is not there when it happens. */
        OK(MPI_Recv(buffer, 1, MPI_BYTE, last, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Isend(buffer, 1, MPI_BYTE, last, 0, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        pause_ms(strcmp(argv[1], "silent") == 0 ? 6000 : 1500);
        for (int i = MESSAGES; i-- > 0;) {
            OK(MPI_Recv(buffer, LONG, MPI_BYTE, last, 1 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            EQUAL(buffer[0], i);
        }
        is_lost(MPI_Recv(buffer, 1, MPI_BYTE, last, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE), begin);
    }
    printf("rank %d has heard of it after %.1f s\n", rank, MPI_Wtime() - begin);
    /* Those that are left still reach each other. */
    if (rank > 0) {
        OK(MPI_Send(&rank, 1, MPI_INT, 0, 50, MPI_COMM_WORLD));
    } else {
        int from[2];
        for (int i = 0; i < 2; i++) OK(MPI_Recv(from + i, 1, MPI_INT, i + 1, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(from[0] + from[1], 3);
    }
    fflush(stdout);
    OK(MPI_Finalize());
    return 0;
}
