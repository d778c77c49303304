/* handlers.c: what a handler costs beside a wait, with messages of each rank to itself, so that nothing else is measured; and the
 * CPU time of a rank that sleeps in an event loop.
 * Usage: handlers costs | handlers loop | handlers ROUNDS. The last is run under callgrind by `cargo xtask test`, which counts
 * the instructions of a round. */
#include "measure.h"

#include <poll.h>
#include <posthaste.h>
#include <sys/resource.h>
#include <time.h>

enum { TAG = 1, WORD = 2 };

static int rank;
static long runs;
static char in[8], out[8];

static void counts(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
    runs++;
}

static void completes(MPI_Request request, void *extra_state)
{
    (void)extra_state;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    runs++;
}

/* A message, received and waited for. */
__attribute__((noinline)) void handlers_wait(void *unused)
{
    MPI_Request request;
    (void)unused;
    MPI_Irecv(in, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF, &request);
    MPI_Send(out, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same with a handler, which runs in the wait. */
__attribute__((noinline)) void handlers_run(void *unused)
{
    MPI_Request request;
    (void)unused;
    MPI_Irecv(in, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF, &request);
    Posthaste_Request_attach(&request, counts, NULL);
    MPI_Send(out, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The same with a handler that completes the request, so that the wait is only told that it is over. */
__attribute__((noinline)) void handlers_complete(void *unused)
{
    MPI_Request request;
    (void)unused;
    MPI_Irecv(in, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF, &request);
    Posthaste_Request_attach(&request, completes, NULL);
    MPI_Send(out, 8, MPI_BYTE, 0, TAG, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void costs(void)
{
    double waited = measure(handlers_wait, NULL, 0.05, 0), handled = measure(handlers_run, NULL, 0.05, 0);
    if (runs == 0) measure_fail("no handler has run");
    if (rank > 0) return;
    measure_report("handler_wait", waited * 1e9, "ns");
    measure_report("handler_run", handled * 1e9, "ns");
    measure_report("handler_more", (handled - waited) * 1e9, "ns");
}

static double cpu_seconds(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
}

/* Sleeps until the request has finished, and completes it. */
static void event_loop(int fd, MPI_Request *request)
{
    Posthaste_Request_watch(*request);
    for (int flag = 0;;) {
        struct pollfd watched = {.fd = fd, .events = POLLIN};
        Posthaste_Drain_fd();
        MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        if (flag) return;
        if (poll(&watched, 1, -1) < 0) measure_fail("poll");
    }
}

/* Rank 1 is in its loop for a second in which nothing comes. */
static void loop(void)
{
    double used = 0;
    int fd = -1;
    MPI_Request request;
    Posthaste_Get_fd(&fd);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        struct timespec second = {1, 0};
        nanosleep(&second, NULL);
        MPI_Send(NULL, 0, MPI_BYTE, 1, WORD, MPI_COMM_WORLD);
        MPI_Recv(&used, 1, MPI_DOUBLE, 1, WORD, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        measure_report("loop_cpu", used * 100, "%");
    } else if (rank == 1) {
        double before = cpu_seconds();
        MPI_Irecv(NULL, 0, MPI_BYTE, 0, WORD, MPI_COMM_WORLD, &request);
        event_loop(fd, &request);
        used = cpu_seconds() - before;
        MPI_Send(&used, 1, MPI_DOUBLE, 0, WORD, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "costs";
    int looping = strcmp(what, "loop") == 0, level;
    MPI_Init_thread(&argc, &argv, looping ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (looping) {
        loop();
    } else if (strcmp(what, "costs") == 0) {
        costs();
    } else {
        long rounds = atol(what);
        for (long round = 0; round < rounds; round++) handlers_wait(NULL);
        for (long round = 0; round < rounds; round++) handlers_run(NULL);
        for (long round = 0; round < rounds; round++) handlers_complete(NULL);
        if (runs != 2 * rounds) measure_fail("handlers have not run once for each message");
    }
    MPI_Finalize();
    return 0;
}
