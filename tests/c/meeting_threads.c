// ranks: 1
// timeout: 120
// only: posthaste
/* Two jobs meet and part while another thread of one of them sleeps in the library, which has used a communicator of both jobs last:
 * nothing of it stays, the next meeting is a new one, and who waits at the port wakes up for each word of it. */
#include "meeting_check.h"

#include <pthread.h>
#include <time.h>

enum { ROUNDS = 20, USE = 1, USED, END };
/* By so much the shortest meeting is longer where another thread sleeps, at most: a thread that nobody wakes looks after 20 ms. */
static const double SECONDS = 0.012;

static MPI_Comm all;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void exchange(void)
{
    int place = -1, theirs = -1;
    OK(MPI_Comm_rank(all, &place));
    OK(MPI_Sendrecv(&place, 1, MPI_INT, 1 - place, 0, &theirs, 1, MPI_INT, 1 - place, 0, all, MPI_STATUS_IGNORE));
    EQUAL(theirs, 1 - place);
}

static void *worker(void *unused)
{
    for (;;) {
        MPI_Status status;
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        if (status.MPI_TAG == END) return unused;
        exchange();
        OK(MPI_Send(NULL, 0, MPI_INT, 0, USED, MPI_COMM_SELF));
    }
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int provided = -1, high = argc > 2;
    double shortest[2] = {1e9, 1e9};
    MPI_Comm inter;
    pthread_t thread;
    pid_t job = 0;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    if (high) {
        snprintf(port, sizeof port, "%s", argv[2]);
    } else {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        job = job_start("1", "client", port);
    }
    for (int round = 0; round < 2 * ROUNDS; round++) {
        int theirs = -1, works = !high && round >= ROUNDS;
        if (works && round == ROUNDS) CHECK(pthread_create(&thread, NULL, worker, NULL) == 0, "no thread");
        double began = now();
        if (high)
            OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        else
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        if (now() - began < shortest[works]) shortest[works] = now() - began;
        if (high) {
            OK(MPI_Recv(&theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
            EQUAL(theirs, round);
        } else {
            OK(MPI_Send(&round, 1, MPI_INT, 0, 0, inter));
        }
        OK(MPI_Intercomm_merge(inter, high, &all));
        if (works) {
            OK(MPI_Send(NULL, 0, MPI_INT, 0, USE, MPI_COMM_WORLD));
            OK(MPI_Recv(NULL, 0, MPI_INT, 0, USED, MPI_COMM_SELF, MPI_STATUS_IGNORE));
        } else {
            exchange();
        }
        OK(MPI_Comm_free(&all));
        OK(MPI_Comm_disconnect(&inter));
    }
    if (!high) {
        OK(MPI_Send(NULL, 0, MPI_INT, 0, END, MPI_COMM_WORLD));
        CHECK(pthread_join(thread, NULL) == 0, "no thread");
        job_end(job);
        OK(MPI_Close_port(port));
        CHECK(shortest[1] < shortest[0] + SECONDS, "the shortest meeting takes %g ms, without a thread that sleeps %g ms",
              1e3 * shortest[1], 1e3 * shortest[0]);
    }
    return check_end();
}
