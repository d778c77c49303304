// ranks: 2 4
/* threads.c: MPI_THREAD_MULTIPLE: four threads of each rank talk on communicators of their own and on a common one,
 * in all lengths, while one more thread of rank 0 sits in a receive that is served last. */
#include "check.h"

#include <pthread.h>

enum { THREADS = 4, ROUNDS = 300 };

static MPI_Comm comms[THREADS];

static void *talk(void *which)
{
    static const int lengths[] = {0, 8, 2000, 5000, 20000, 200000};
    int me = (int)(long)which, next = (rank + 1) % size, before = (rank + size - 1) % size;
    char *out = malloc(200000), *in = malloc(200000);
    for (int i = 0; i < ROUNDS; i++) {
        int length = lengths[(i + me) % 6];
        MPI_Comm comm = i % 2 ? comms[me] : MPI_COMM_WORLD;
        MPI_Request requests[2];
        long sum = -1, mine = rank + 1;
        memset(out, i + me, (size_t)length);
        MPI_Irecv(in, length, MPI_CHAR, before, 100 + me, comm, &requests[0]);
        MPI_Isend(out, length, MPI_CHAR, next, 100 + me, comm, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int k = 0; k < length; k += 97)
            CHECK(in[k] == (char)(i + me), "thread %d round %d byte %d is %d", me, i, k, in[k]);
        if (i % 10 == 0) {
            MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comms[me]);
            CHECK(sum == (long)size * (size + 1) / 2, "thread %d round %d sum %ld", me, i, sum);
        }
    }
    free(out);
    free(in);
    return NULL;
}

static void *wait_long(void *unused)
{
    int got = 0;
    (void)unused;
    MPI_Recv(&got, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got == 77, "the late message says %d", got);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], late;
    int provided, last = 77;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE, "provided is %d", provided);
    for (int t = 0; t < THREADS; t++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    if (rank == 0) pthread_create(&late, NULL, wait_long, NULL);
    for (int t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, talk, (void *)(long)t);
    for (int t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Send(&last, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    if (rank == 0) pthread_join(late, NULL);
    for (int t = 0; t < THREADS; t++) MPI_Comm_free(&comms[t]);
    MPI_Finalize();
    return 0;
}
