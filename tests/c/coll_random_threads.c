// ranks: 2 3 4
// timeout: 120
/* The programs of coll_random.c in three threads of each rank at once, one of which is the first thread: each has communicators of its
 * own, makes and frees others from them, and has several operations under way on them while those of the other threads go on. Blocks
 * of the v and w forms differ by many elements here. For more than the usual rounds: COLL_RANDOM=ROUNDS,SEED in the environment. MPI-5.0
 * chapter 6 and section 11.6. */
#define APART 331
#include "coll_random.h"

#include <pthread.h>

enum { ROUNDS = 40, THREADS = 3 };

static MPI_Comm worlds[THREADS];

static void *thread(void *number)
{
    program(worlds[(intptr_t)number], (int)(intptr_t)number);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int provided;
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS || provided != MPI_THREAD_MULTIPLE) return 1;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    begin_programs(ROUNDS);
    for (int k = 0; k < THREADS; k++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &worlds[k]));
    for (int k = 1; k < THREADS; k++)
        CHECK(pthread_create(&threads[k], NULL, thread, (void *)(intptr_t)k) == 0, "no thread");
    thread((void *)0);
    for (int k = 1; k < THREADS; k++) CHECK(pthread_join(threads[k], NULL) == 0, "no end");
    for (int k = 0; k < THREADS; k++) OK(MPI_Comm_free(&worlds[k]));
    end_programs();
    return check_end();
}
