// ranks: 1 2 4
/* Puts and gets in every kind of epoch on windows of every flavor: each rank writes to the next one and reads from the
 * one before. MPI-5.0 sections 12.3.1, 12.3.2, 12.5. */
#include "win.h"

enum epoch { FENCE, START, LOCK, LOCK_SHARED, LOCK_ALL, EPOCHS };
enum { LONG = 50000 };

static int next, before;

static void begin(enum epoch epoch, MPI_Win win, MPI_Group origins, MPI_Group targets)
{
    switch (epoch) {
    case FENCE: OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win)); break;
    case START:
        OK(MPI_Win_post(origins, 0, win));
        OK(MPI_Win_start(targets, 0, win));
        break;
    case LOCK: break;
    case LOCK_SHARED: break;
    default: OK(MPI_Win_lock_all(0, win));
    }
}

/* Locks are taken for each target apart. */
static void open_target(enum epoch epoch, MPI_Win win, int target)
{
    if (epoch == LOCK) OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
    if (epoch == LOCK_SHARED) OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
}

static void close_target(enum epoch epoch, MPI_Win win, int target)
{
    if (epoch == LOCK || epoch == LOCK_SHARED) OK(MPI_Win_unlock(target, win));
}

static void end(enum epoch epoch, MPI_Win win)
{
    switch (epoch) {
    case FENCE: OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win)); break;
    case START:
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
        break;
    case LOCK_ALL: OK(MPI_Win_unlock_all(win)); break;
    default: break;
    }
}

static MPI_Group both(int one, int other)
{
    MPI_Group all, some;
    int ranks[2] = {one, other};
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, one == other ? 1 : 2, ranks, &some));
    OK(MPI_Group_free(&all));
    return some;
}

static void exchange(enum flavor flavor, enum epoch epoch, int elements)
{
    struct window w = make_window(flavor, 3 * elements, sizeof(int));
    MPI_Group neighbours = both(next, before);
    int *mine = (int *)w.base, *data = malloc(sizeof(int) * (size_t)elements), *got = calloc((size_t)elements, sizeof(int));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w.win));
    for (int i = 0; i < elements; i++) {
        data[i] = rank * 1000000 + i;
        mine[i] = -data[i] - 1;
        mine[elements + i] = mine[2 * elements + i] = 0;
    }
    OK(MPI_Win_unlock(rank, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    begin(epoch, w.win, neighbours, neighbours);
    open_target(epoch, w.win, next);
    OK(MPI_Put(data, elements, MPI_INT, next, place(&w, next, elements), elements, MPI_INT, w.win));
    close_target(epoch, w.win, next);
    open_target(epoch, w.win, before);
    OK(MPI_Get(got, elements, MPI_INT, before, place(&w, before, 0), elements, MPI_INT, w.win));
    OK(MPI_Put(data, elements, MPI_INT, MPI_PROC_NULL, 5, elements, MPI_INT, w.win));
    close_target(epoch, w.win, before);
    end(epoch, w.win);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
    for (int i = 0; i < elements; i++) {
        int written = mine[elements + i], read = got[i];
        if (written != before * 1000000 + i || read != -(before * 1000000 + i) - 1 || mine[2 * elements + i] != 0)
            FAIL("%s, epoch %d, element %d of %d: %d written, %d read", flavor_names[flavor], epoch, i, elements,
                 written, read);
    }
    OK(MPI_Win_unlock(rank, w.win));
    OK(MPI_Group_free(&neighbours));
    free_window(&w);
    free(data);
    free(got);
}

/* What a flush completes is there, and what it completes locally may be written over. */
static void flushed(enum flavor flavor)
{
    struct window w = make_window(flavor, 64, sizeof(long));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int turn = 0; turn < 64; turn++) {
        long value = rank * 100 + turn, back = -1;
        OK(MPI_Put(&value, 1, MPI_LONG, next, place(&w, next, turn), 1, MPI_LONG, w.win));
        if (turn % 2) OK(MPI_Win_flush_local(next, w.win));
        else OK(MPI_Win_flush_local_all(w.win));
        long was = value;
        value = -5;
        if (turn % 3) OK(MPI_Win_flush(next, w.win));
        else OK(MPI_Win_flush_all(w.win));
        OK(MPI_Get(&back, 1, MPI_LONG, next, place(&w, next, turn), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(next, w.win));
        EQUAL(back, was);
    }
    OK(MPI_Win_sync(w.win));
    OK(MPI_Win_unlock_all(w.win));
    free_window(&w);
}

/* An exposure epoch that is looked at instead of waited for, and one that nobody uses. */
static void tested(enum flavor flavor)
{
    struct window w = make_window(flavor, 4, sizeof(int));
    MPI_Group from = both(before, before), to = both(next, next);
    int value = rank + 7, over = 0;
    OK(MPI_Win_post(from, 0, w.win));
    OK(MPI_Win_start(to, 0, w.win));
    OK(MPI_Put(&value, 1, MPI_INT, next, place(&w, next, 3), 1, MPI_INT, w.win));
    OK(MPI_Win_complete(w.win));
    while (!over) OK(MPI_Win_test(w.win, &over));
    EQUAL(((int *)w.base)[3], before + 7);
    OK(MPI_Win_post(MPI_GROUP_EMPTY, 0, w.win));
    OK(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOCHECK, w.win));
    OK(MPI_Win_complete(w.win));
    OK(MPI_Win_wait(w.win));
    OK(MPI_Group_free(&from));
    OK(MPI_Group_free(&to));
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        for (enum epoch epoch = FENCE; epoch < EPOCHS; epoch++) {
            exchange(flavor, epoch, 1);
            exchange(flavor, epoch, 777);
        }
        exchange(flavor, FENCE, LONG);
        exchange(flavor, LOCK, LONG);
        flushed(flavor);
        tested(flavor);
    }
    return check_end();
}
