/* faulty.c: programs that go wrong in a chosen way, for the fault tests (`cargo xtask test --only faults`).
 * Usage: faulty WHAT [NUMBER]; each says "about to" on standard output just before it happens. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static char *buffer;
enum { LENGTH = 64 << 20 };

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static void about_to(const char *what)
{
    printf("about to %s\n", what);
    fflush(stdout);
}

/* Everybody but rank 1 waits for a message that never comes. */
static void wait_for_ever(void)
{
    MPI_Recv(buffer, 1, MPI_BYTE, size - 1, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Rank 1 dies while rank 0's long message to it is under way. */
static void die_in_rendezvous(int signal_number)
{
    MPI_Request request;
    if (rank == 0) {
        for (;;) MPI_Send(buffer, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(buffer, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(buffer, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
        int flag;
        for (int i = 0; i < 3; i++) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        about_to("die");
        raise(signal_number);
    }
    wait_for_ever();
}

/* Both sides of the pair send long messages until somebody from outside ends it. */
static void exchange_for_ever(void)
{
    int peer = rank ^ 1;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) about_to("exchange");
    for (;;) {
        MPI_Sendrecv(buffer, LENGTH / 2, MPI_BYTE, peer, 1, buffer + LENGTH / 2, LENGTH / 2, MPI_BYTE, peer, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = malloc(LENGTH);
    memset(buffer, rank, LENGTH);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "die") == 0) die_in_rendezvous(number);
    if (strcmp(what, "exchange") == 0) exchange_for_ever();
    if (strcmp(what, "wait") == 0) {
        if (rank == 0) about_to("wait");
        wait_for_ever();
    }
    if (strcmp(what, "abort") == 0) {
        if (rank != 1) wait_for_ever();
        about_to("abort");
        MPI_Abort(MPI_COMM_WORLD, number);
    }
    if (strcmp(what, "leave") == 0) {
        if (rank != 1) wait_for_ever();
        pause_ms(50);
        about_to("leave");
        exit(number);
    }
    if (strcmp(what, "error") == 0) {
        /* MPI_ERRORS_ARE_FATAL is the default: the job ends with one message. */
        if (rank != 1) wait_for_ever();
        about_to("send to a rank that does not exist");
        MPI_Send(buffer, 1, MPI_BYTE, size + 5, 1, MPI_COMM_WORLD);
    }
    if (strcmp(what, "busy") == 0) {
        /* A real program for a while: neighbours exchange, everybody reduces. */
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        for (int i = 0; i < number; i++) {
            double mine = rank, sum = 0;
            MPI_Sendrecv(buffer, 1024, MPI_BYTE, right, 1, buffer + 4096, 1024, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
            MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            if (buffer[4096] != (char)left || sum != 0.5 * size * (size - 1)) {
                fprintf(stderr, "rank %d: wrong data in step %d\n", rank, i);
                MPI_Abort(MPI_COMM_WORLD, 9);
            }
        }
        if (rank == 0) printf("done\n");
    }
    MPI_Finalize();
    return 0;
}
