// ranks: 2
// only: posthaste
// timeout: 120
/* Cancel versus match with threads: four threads of rank 1 send to rank 0 and cancel at random, each with tags of its own,
 * while four threads of rank 0 receive, two of them with wildcards on communicators of their own. Both sides agree on what
 * was sent. */
#include "check.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 4, COUNT = 500, LONG = 70000, OVER = 9999 };

static MPI_Comm comms[THREADS];

static unsigned roll(unsigned *dice, unsigned n)
{
    *dice = *dice * 1664525u + 1013904223u;
    return (*dice >> 8) % n;
}

static int gone(MPI_Request *request, int by_test)
{
    int flag = 0;
    MPI_Status status;
    while (by_test && !flag) OK(MPI_Test(request, &flag, &status));
    if (!by_test) OK(MPI_Wait(request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    return flag;
}

static void sender(int me)
{
    static const int lengths[] = {4, 1000, 7000, 30000, LONG};
    unsigned dice = 77u + (unsigned)me;
    int sent = 0;
    char *out = calloc(1, LONG);
    for (int i = 0; i < COUNT; i++) {
        MPI_Request request;
        int length = lengths[roll(&dice, 5)];
        memcpy(out, &i, sizeof i);
        if (roll(&dice, 2)) OK(MPI_Issend(out, length, MPI_CHAR, 0, me, comms[me], &request));
        else OK(MPI_Isend(out, length, MPI_CHAR, 0, me, comms[me], &request));
        if (roll(&dice, 2)) {
            for (unsigned k = roll(&dice, 2000); k > 0; k--) __asm__ volatile("" ::: "memory");
            OK(MPI_Cancel(&request));
        }
        sent += !gone(&request, (int)roll(&dice, 2));
    }
    OK(MPI_Send(&sent, 1, MPI_INT, 0, OVER, comms[me]));
    free(out);
}

static void receiver(int me)
{
    int last = -1, got = 0, sent = -1;
    unsigned dice = 99u + (unsigned)me;
    char *in = malloc(LONG);
    for (;;) {
        MPI_Status status;
        /* Now and then a message comes before its receive. */
        if (roll(&dice, 3) == 0) usleep(roll(&dice, 200));
        OK(MPI_Recv(in, LONG, MPI_CHAR, me % 2 ? MPI_ANY_SOURCE : 1, MPI_ANY_TAG, comms[me], &status));
        if (status.MPI_TAG == OVER) break;
        int number;
        memcpy(&number, in, sizeof number);
        CHECK(number > last, "thread %d: message %d came after %d", me, number, last);
        last = number;
        got++;
    }
    memcpy(&sent, in, sizeof sent);
    EQUAL(got, sent);
    CHECK(sent > 0 && sent < COUNT, "%d of %d were sent: no race", sent, COUNT);
    free(in);
}

static void *talk(void *which)
{
    int me = (int)(long)which;
    if (rank == 0) receiver(me);
    else sender(me);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int t = 0; t < THREADS; t++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]));
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, talk, (void *)(long)t);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    for (int t = 0; t < THREADS; t++) OK(MPI_Comm_free(&comms[t]));
    return check_end();
}
