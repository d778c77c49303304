/* Rank 1 is stopped for some seconds, as by a debugger, while all others need it: whoever waits goes on waiting, nobody takes it for
 * lost, and everything comes to its end when it goes on. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { STOPPED = 1, SECONDS = 6, LONG = 1 << 21, FLOOD = 600, PIECE = 4096 };

static pid_t pids[64];

static void go_on(int number)
{
    (void)number;
    kill(pids[STOPPED], SIGCONT);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int pid = getpid(), all[64], lost = -1, flag = 3, count = 0, sum = -1;
    OK(MPI_Allgather(&pid, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++) pids[i] = all[i];
    OK(MPI_Barrier(MPI_COMM_WORLD));
    double began = MPI_Wtime();
    if (rank == 0) {
        struct sigaction action = {.sa_handler = go_on, .sa_flags = SA_RESTART};
        struct itimerval timer = {.it_value = {.tv_sec = SECONDS}};
        sigaction(SIGALRM, &action, NULL);
        CHECK(kill(pids[STOPPED], SIGSTOP) == 0, "it cannot be stopped");
        setitimer(ITIMER_REAL, &timer, NULL);
    }
    /* Long messages, and so many short ones that they fill whatever is on the way to it. */
    MPI_Request *requests = malloc(2 * (size_t)(size + 1) * (FLOOD + 1) * sizeof *requests);
    char *in = malloc((size_t)size * (LONG + FLOOD * PIECE)), *out = malloc(LONG), *place = in;
    check_fill(out, LONG, (unsigned)rank);
    for (int peer = 0; peer < size; peer++) {
        if (peer == rank || (rank != STOPPED && peer != STOPPED)) continue;
        for (int i = 0; i < FLOOD; i++) {
            OK(MPI_Irecv(place, PIECE, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &requests[count++]));
            place += PIECE;
            OK(MPI_Isend(out, PIECE, MPI_CHAR, peer, 2, MPI_COMM_WORLD, &requests[count++]));
        }
        OK(MPI_Irecv(place, LONG, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[count++]));
        OK(MPI_Issend(out, LONG, MPI_CHAR, peer, 1, MPI_COMM_WORLD, &requests[count++]));
        place += LONG;
    }
    OK(MPI_Waitall(count, requests, MPI_STATUSES_IGNORE));
    if (rank == 0) CHECK(MPI_Wtime() - began > SECONDS - 0.5, "it was not stopped: %g s", MPI_Wtime() - began);
    place = in;
    for (int peer = 0; peer < size; peer++) {
        if (peer == rank || (rank != STOPPED && peer != STOPPED)) continue;
        for (int i = 0; i < FLOOD; i++, place += PIECE) check_filled(place, PIECE, (unsigned)peer);
        check_filled(place, LONG, (unsigned)peer);
        place += LONG;
    }
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag));
    EQUAL(flag, 3);
    MPI_Group group;
    OK(MPIX_Comm_get_failed(MPI_COMM_WORLD, &group));
    OK(MPI_Group_size(group, &lost));
    EQUAL(lost, 0);
    OK(MPI_Group_free(&group));
    free(in);
    free(out);
    free(requests);
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    return check_end();
}
