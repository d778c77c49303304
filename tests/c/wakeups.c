// ranks: 2
// only: posthaste
// timeout: 60
/* One thread is woken, not all: seven threads of rank 0 wait for fourteen long messages each while an eighth one receives
 * a message every millisecond. One of the seven at a time is woken by each, because it listens; the others sleep through.
 * How often a thread slept is what the system counted. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WAITERS = 7, EACH = 14, MESSAGES = 300, LONG = 200000 };

static long switches(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

static void *waiter(void *slept)
{
    static int tags;
    int tag = 100 + __atomic_fetch_add(&tags, 1, __ATOMIC_RELAXED);
    MPI_Request requests[EACH];
    char *in = malloc((size_t)EACH * LONG);
    for (int i = 0; i < EACH; i++)
        OK(MPI_Irecv(in + (size_t)i * LONG, LONG, MPI_CHAR, 1, tag, MPI_COMM_WORLD, &requests[i]));
    long before = switches();
    OK(MPI_Waitall(EACH, requests, MPI_STATUSES_IGNORE));
    *(long *)slept = switches() - before;
    for (int i = 0; i < EACH; i++) CHECK(in[(size_t)i * LONG + LONG - 1] == 7, "message %d is not whole", i);
    free(in);
    return NULL;
}

static void *receive(void *unused)
{
    (void)unused;
    for (int i = 0; i < MESSAGES; i++) {
        int number;
        OK(MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(number, i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, level;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    EQUAL(level, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    if (rank == 0) {
        pthread_t threads[WAITERS];
        long slept[WAITERS];
        long all = 0;
        for (int i = 0; i < WAITERS; i++) pthread_create(&threads[i], NULL, waiter, &slept[i]);
        receive(NULL);
        for (int i = 0; i < WAITERS; i++) pthread_join(threads[i], NULL);
        for (int i = 0; i < WAITERS; i++) {
            printf("thread %d slept %ld times\n", i, slept[i]);
            all += slept[i];
        }
        CHECK(all <= 3 * MESSAGES, "%ld sleeps of %d threads for %d messages", all, WAITERS, MESSAGES);
    } else {
        char *out = malloc(LONG);
        memset(out, 7, LONG);
        for (int i = 0; i < MESSAGES; i++) {
            usleep(1000);
            OK(MPI_Send(&i, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
        }
        for (int i = 0; i < WAITERS * EACH; i++)
            OK(MPI_Send(out, LONG, MPI_CHAR, 0, 100 + i % WAITERS, MPI_COMM_WORLD));
        free(out);
    }
    MPI_Finalize();
    return 0;
}
