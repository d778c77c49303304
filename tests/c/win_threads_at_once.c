// ranks: 1 2 4
/* MPI_THREAD_MULTIPLE: several threads of each rank use one window at once, within one lock_all: puts, gets and accumulates of each one's own elements, flushes of
 * every kind, requests, and counters that all of them change; then each locks targets of its own. MPI-5.0 sections 11.6, 12.3, 12.5. */
#include "win.h"

#include <pthread.h>

enum { THREADS = 3, ROUNDS = 80, LOCKS = 30, EACH = 40 };
/* Element 0, 1 and 2 are counters; then each thread of each rank has its own. */
enum { ADDED, FETCHED, LOCKED, COUNTERS };

static struct window w;

static MPI_Aint own(int target, int origin, int thread)
{
    return place(&w, target, COUNTERS + (origin * THREADS + thread) * EACH);
}

static void flush(int target, int round)
{
    switch (round % 4) {
    case 0: OK(MPI_Win_flush(target, w.win)); break;
    case 1: OK(MPI_Win_flush_all(w.win)); break;
    case 2:
        OK(MPI_Win_flush_local(target, w.win));
        OK(MPI_Win_flush(target, w.win));
        break;
    default:
        OK(MPI_Win_flush_local_all(w.win));
        OK(MPI_Win_flush_all(w.win));
    }
}

static void *accesses(void *which)
{
    int me = (int)(long)which;
    long one = 1, out[EACH], in[EACH], last = -1;
    MPI_Request request;
    for (int round = 0; round < ROUNDS; round++) {
        int target = (rank + me + round) % size;
        for (int i = 0; i < EACH; i++) out[i] = 1000000L * rank + 100000 * me + 100 * round + i;
        OK(MPI_Put(out, EACH, MPI_LONG, target, own(target, rank, me), EACH, MPI_LONG, w.win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, target, place(&w, target, ADDED), 1, MPI_LONG, MPI_SUM, w.win));
        flush(target, round);
        OK(MPI_Accumulate(&one, 1, MPI_LONG, target, own(target, rank, me) + (w.flavor == DYNAMIC ? 8 : 1), 1, MPI_LONG, MPI_SUM, w.win));
        flush(target, round + me);
        OK(MPI_Get(in, EACH, MPI_LONG, target, own(target, rank, me), EACH, MPI_LONG, w.win));
        flush(target, round / 2);
        for (int i = 0; i < EACH; i++)
            CHECK(in[i] == out[i] + (i == 1), "thread %d, round %d, %d: %ld, expected %ld", me, round, i, in[i], out[i] + (i == 1));
        long old = -1;
        if (round % 2) {
            OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, rank, place(&w, rank, FETCHED), MPI_SUM, w.win));
            OK(MPI_Win_flush(rank, w.win));
        } else {
            OK(MPI_Rget_accumulate(&one, 1, MPI_LONG, &old, 1, MPI_LONG, rank, place(&w, rank, FETCHED), 1, MPI_LONG, MPI_SUM, w.win, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
        CHECK(old > last, "thread %d, round %d: %ld after %ld", me, round, old, last);
        last = old;
    }
    return NULL;
}

/* Nobody else adds to it under an exclusive lock; a target belongs to one thread of a rank. */
static void *locks(void *which)
{
    int me = (int)(long)which, target = (rank + me) % size;
    for (int round = 0; round < LOCKS; round++) {
        long value = -1;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
        OK(MPI_Get(&value, 1, MPI_LONG, target, place(&w, target, LOCKED), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(target, w.win));
        value++;
        OK(MPI_Put(&value, 1, MPI_LONG, target, place(&w, target, LOCKED), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(target, w.win));
    }
    return NULL;
}

static void together(void *(*work)(void *), int threads)
{
    pthread_t all[THREADS];
    for (long i = 0; i < threads; i++) CHECK(pthread_create(&all[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        w = make_window(flavor, COUNTERS + size * THREADS * EACH, sizeof(long));
        int lockers = size < THREADS ? size : THREADS;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, w.win));
        together(accesses, THREADS);
        OK(MPI_Win_unlock_all(w.win));
        together(locks, lockers);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
        long *counters = (long *)(void *)w.base, added;
        OK(MPI_Allreduce(&counters[ADDED], &added, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
        EQUAL(added, (long)size * THREADS * ROUNDS);
        EQUAL(counters[FETCHED], THREADS * ROUNDS);
        EQUAL(counters[LOCKED], lockers * LOCKS);
        OK(MPI_Win_unlock(rank, w.win));
        free_window(&w);
    }
    return check_end();
}
