// ranks: 1 2 4
/* Every assertion where it holds: at fences, at posts and starts of groups that are not empty, and at locks. What is there afterwards is what
 * was put there. MPI-5.0 section 12.5.5. */
#include "win.h"

enum { TURNS = 6 };

/* Buffers are the window's until the end of the epoch. */
static int given[8];

static void put(const struct window *w, int target, int at, int value)
{
    given[at] = value;
    OK(MPI_Put(&given[at], 1, MPI_INT, target, place(w, target, at), 1, MPI_INT, w->win));
}

/* The even ranks put in one epoch, the odd ones in the next, so that in each the memory of half of them is left alone. */
static void fences(const struct window *w)
{
    volatile int *mine = (volatile int *)w->base;
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int turn = 1; turn <= TURNS; turn++) {
        for (int odd = 0; odd < 2; odd++) {
            int puts = rank % 2 == odd, gets = before % 2 == odd;
            /* Nothing was stored here since the fence before, and nothing may be put here. */
            int first = MPI_MODE_NOSTORE | (gets ? 0 : MPI_MODE_NOPUT);
            OK(MPI_Win_fence(first | (odd == 0 ? MPI_MODE_NOPRECEDE : 0), w->win));
            if (puts) put(w, next, odd, 100 * turn + rank);
            OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | (odd == 1 ? MPI_MODE_NOSUCCEED : 0), w->win));
            if (gets) EQUAL(mine[odd], 100 * turn + before);
        }
    }
    /* An epoch of nothing. */
    OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE, w->win));
    OK(MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win));
}

/* Each rank exposes its memory to the one before it. */
static void posts(const struct window *w)
{
    volatile int *mine = (volatile int *)w->base;
    int next = (rank + 1) % size, before = (rank + size - 1) % size, flag, got;
    MPI_Group world, theirs, ours;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &next, &theirs));
    OK(MPI_Group_incl(world, 1, &before, &ours));
    const int asserts[] = {0, MPI_MODE_NOSTORE, MPI_MODE_NOPUT, MPI_MODE_NOCHECK, MPI_MODE_NOSTORE | MPI_MODE_NOPUT,
                           MPI_MODE_NOCHECK | MPI_MODE_NOSTORE, MPI_MODE_NOCHECK | MPI_MODE_NOPUT,
                           MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT};
    for (int turn = 1; turn <= TURNS; turn++) {
        for (unsigned i = 0; i < sizeof asserts / sizeof *asserts; i++) {
            int checks = !(asserts[i] & MPI_MODE_NOCHECK), puts = !(asserts[i] & MPI_MODE_NOPUT);
            if (!(asserts[i] & MPI_MODE_NOSTORE)) mine[3] = 7 * turn + rank;
            OK(MPI_Win_post(ours, asserts[i], w->win));
            /* Without the check, posts come before starts by the program's own means. */
            if (!checks) OK(MPI_Barrier(MPI_COMM_WORLD));
            OK(MPI_Win_start(theirs, checks ? 0 : MPI_MODE_NOCHECK, w->win));
            if (puts) put(w, next, 2, 1000 * turn + (int)i + rank);
            OK(MPI_Get(&got, 1, MPI_INT, next, place(w, next, 3), 1, MPI_INT, w->win));
            OK(MPI_Win_complete(w->win));
            EQUAL(got, 7 * turn + next);
            if (i % 2) OK(MPI_Win_wait(w->win));
            else for (flag = 0; !flag;) OK(MPI_Win_test(w->win, &flag));
            if (puts) EQUAL(mine[2], 1000 * turn + (int)i + before);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&theirs));
    OK(MPI_Group_free(&ours));
}

/* Locks that nobody else can want at that time. */
static void locks(const struct window *w)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size, one = 1;
    for (int turn = 1; turn <= TURNS; turn++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, MPI_MODE_NOCHECK, w->win));
        put(w, next, 4, turn + rank);
        OK(MPI_Win_unlock(next, w->win));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, w->win));
        put(w, next, 5, turn - rank);
        OK(MPI_Win_unlock(next, w->win));
        OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
        for (int target = 0; target < size; target++)
            OK(MPI_Accumulate(&one, 1, MPI_INT, target, place(w, target, 6), 1, MPI_INT, MPI_SUM, w->win));
        OK(MPI_Win_unlock_all(w->win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, MPI_MODE_NOCHECK, w->win));
        const int *mine = (const int *)w->base;
        EQUAL(mine[4], turn + before);
        EQUAL(mine[5], turn - before);
        EQUAL(mine[6], turn * size);
        OK(MPI_Win_unlock(rank, w->win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        struct window w = make_window(flavor, 8, sizeof(int));
        if (size % 2 == 0) fences(&w);
        posts(&w);
        locks(&w);
        free_window(&w);
    }
    return check_end();
}
