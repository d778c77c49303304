// ranks: 2 4
// only: posthaste
/* Calls of synchronisation in the wrong order, or with groups of strangers: each is refused, changes nothing, and the epoch that is open goes on; everything
 * works afterwards. Requests that outlive their epoch, and their window. MPI-5.0 sections 12.2.5, 12.3.5, 12.5. */
#include "win.h"

enum { ELEMENTS = 8 };

static int next, before, one = 1;
static MPI_Group to, from;

static MPI_Group of(int member)
{
    MPI_Group all, made;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, 1, &member, &made));
    OK(MPI_Group_free(&all));
    return made;
}

/* The window is not freed, and stays what it is. */
static void stays(struct window *w)
{
    MPI_Win was = w->win;
    REFUSED(MPI_Win_free(&w->win), MPI_ERR_RMA_SYNC);
    CHECK(w->win == was, "the handle is another one");
}

static void add(const struct window *w, int target)
{
    OK(MPI_Accumulate(&one, 1, MPI_INT, target, place(w, target, 0), 1, MPI_INT, MPI_SUM, w->win));
}

/* The counter is set back when it has this number. */
static void counted(const struct window *w, int expected, int line)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
    int *counter = (int *)(void *)w->base;
    if (*counter != expected) FAIL("line %d: %s: the counter is %d, expected %d", line, flavor_names[w->flavor], *counter, expected);
    *counter = 0;
    OK(MPI_Win_unlock(rank, w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* Every kind of epoch does what it should. */
static void works(const struct window *w, int line)
{
    OK(MPI_Win_fence(0, w->win));
    add(w, next);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    OK(MPI_Win_post(from, 0, w->win));
    OK(MPI_Win_start(to, 0, w->win));
    add(w, next);
    OK(MPI_Win_complete(w->win));
    OK(MPI_Win_wait(w->win));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w->win));
    add(w, next);
    OK(MPI_Win_unlock(next, w->win));
    OK(MPI_Win_lock_all(0, w->win));
    for (int target = 0; target < size; target++) add(w, target);
    OK(MPI_Win_unlock_all(w->win));
    counted(w, 3 + size, line);
}

#define WORKS(w) works(w, __LINE__)

/* An epoch of any kind is not begun here, but perhaps an exposure. */
static void begins_nothing(struct window *w)
{
    REFUSED(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_start(to, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_start(to, MPI_MODE_NOCHECK, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, MPI_MODE_NOCHECK, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    stays(w);
}

static void nothing_is_open(struct window *w)
{
    int flag;
    REFUSED(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_test(w->win, &flag), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock(next, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush(next, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush_all(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Put(&one, 1, MPI_INT, next, place(w, next, 0), 1, MPI_INT, w->win), MPI_ERR_RMA_SYNC);
    WORKS(w);
}

static void twice(struct window *w)
{
    int flag;
    OK(MPI_Win_post(from, 0, w->win));
    REFUSED(MPI_Win_post(from, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOCHECK, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_fence(0, w->win), MPI_ERR_RMA_SYNC);
    stays(w);
    OK(MPI_Win_start(to, 0, w->win));
    begins_nothing(w);
    REFUSED(MPI_Win_unlock(next, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush(next, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush_local_all(w->win), MPI_ERR_RMA_SYNC);
    add(w, next);
    OK(MPI_Win_complete(w->win));
    REFUSED(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    stays(w);
    OK(MPI_Win_wait(w->win));
    REFUSED(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_test(w->win, &flag), MPI_ERR_RMA_SYNC);
    counted(w, 1, __LINE__);
    WORKS(w);
}

static void within_locks(struct window *w)
{
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w->win));
    begins_nothing(w);
    REFUSED(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    add(w, next);
    OK(MPI_Win_unlock(next, w->win));
    REFUSED(MPI_Win_unlock(next, w->win), MPI_ERR_RMA_SYNC);
    /* What is exposed is not locked by its owner, and what is locked is not exposed. */
    OK(MPI_Win_post(from, 0, w->win));
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_start(to, 0, w->win));
    OK(MPI_Win_complete(w->win));
    OK(MPI_Win_wait(w->win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w->win));
    REFUSED(MPI_Win_post(from, 0, w->win), MPI_ERR_RMA_SYNC);
    add(w, rank);
    OK(MPI_Win_unlock(rank, w->win));
    OK(MPI_Win_lock_all(0, w->win));
    begins_nothing(w);
    REFUSED(MPI_Win_post(from, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock(next, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    add(w, next);
    OK(MPI_Win_unlock_all(w->win));
    REFUSED(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    counted(w, 3, __LINE__);
    WORKS(w);
}

/* A fence begins an epoch that is one only when it is used. */
static void within_fences(struct window *w)
{
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Win_post(from, 0, w->win));
    OK(MPI_Win_start(to, 0, w->win));
    add(w, next);
    OK(MPI_Win_complete(w->win));
    OK(MPI_Win_wait(w->win));
    counted(w, 1, __LINE__);
    OK(MPI_Win_fence(0, w->win));
    OK(MPI_Put(&one, 1, MPI_INT, next, place(w, next, 0), 1, MPI_INT, w->win));
    REFUSED(MPI_Win_post(from, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_post(from, MPI_MODE_NOCHECK, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_start(to, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock_all(0, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_complete(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_wait(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock(next, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_unlock_all(w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush(next, w->win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_flush_local_all(w->win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win));
    counted(w, 1, __LINE__);
    WORKS(w);
}

/* Of a window of the even ranks, or of the odd ones, the others are no members. */
static void strangers(void)
{
    MPI_Comm half;
    MPI_Win win;
    MPI_Group mine, mixed;
    int memory = 0, value = 4, alike, pair[2] = {rank, next};
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Comm_size(half, &alike));
    OK(MPI_Win_create(&memory, sizeof memory, sizeof memory, MPI_INFO_NULL, half, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    MPI_Group all;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    OK(MPI_Group_incl(all, 2, pair, &mixed));
    OK(MPI_Group_free(&all));
    mine = of(rank);
    MPI_Group const wrong[] = {to, mixed, MPI_GROUP_NULL};
    for (int i = 0; i < 3; i++) {
        REFUSED(MPI_Win_post(wrong[i], 0, win), MPI_ERR_GROUP);
        REFUSED(MPI_Win_start(wrong[i], 0, win), MPI_ERR_GROUP);
        REFUSED(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
        REFUSED(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
        OK(MPI_Win_post(mine, 0, win));
        REFUSED(MPI_Win_start(wrong[i], 0, win), MPI_ERR_GROUP);
        OK(MPI_Win_start(mine, 0, win));
        OK(MPI_Put(&value, 1, MPI_INT, rank / 2, 0, 1, MPI_INT, win));
        REFUSED(MPI_Put(&value, 1, MPI_INT, alike, 0, 1, MPI_INT, win), MPI_ERR_RANK);
        OK(MPI_Win_complete(win));
        OK(MPI_Win_wait(win));
        EQUAL(memory, value);
        value++;
    }
    OK(MPI_Group_free(&mine));
    OK(MPI_Group_free(&mixed));
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&half));
}

static void requests(enum flavor flavor)
{
    struct window w = make_window(flavor, ELEMENTS, sizeof(int));
    MPI_Request all[8];
    int values[2] = {20 + rank, 30 + rank}, got[4] = {-1, -1, -1, -1}, flag = 0;
    MPI_Aint second = place(&w, next, 1), third = place(&w, next, 2);
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    for (int turn = 0; turn < 2; turn++) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, w.win));
        OK(MPI_Rput(&values[0], 1, MPI_INT, next, second, 1, MPI_INT, w.win, &all[4 * turn]));
        OK(MPI_Raccumulate(&values[1], 1, MPI_INT, next, third, 1, MPI_INT, MPI_REPLACE, w.win, &all[4 * turn + 1]));
        OK(MPI_Rget_accumulate(NULL, 0, MPI_INT, &got[turn], 1, MPI_INT, next, third, 1, MPI_INT, MPI_NO_OP, w.win, &all[4 * turn + 2]));
        OK(MPI_Win_flush(next, w.win));
        OK(MPI_Rget(&got[2 + turn], 1, MPI_INT, next, second, 1, MPI_INT, w.win, &all[4 * turn + 3]));
        OK(MPI_Win_unlock_all(w.win));
        /* They are over, though not completed. */
        EQUAL(got[turn], 30 + rank);
        EQUAL(got[2 + turn], 20 + rank);
        if (turn == 0) OK(MPI_Waitall(3, all, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
    int *mine = (int *)(void *)w.base;
    CHECK(mine[1] == 20 + before && mine[2] == 30 + before, "%d, %d", mine[1], mine[2]);
    OK(MPI_Win_unlock(rank, w.win));
    free_window(&w);
    OK(MPI_Test(&all[3], &flag, MPI_STATUS_IGNORE));
    CHECK(flag && all[3] == MPI_REQUEST_NULL, "a request of a freed window is not over");
    OK(MPI_Wait(&all[4], MPI_STATUS_IGNORE));
    OK(MPI_Waitall(3, all + 5, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 8; i++) CHECK(all[i] == MPI_REQUEST_NULL, "request %d", i);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    to = of(next);
    from = of(before);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        struct window w = make_window(flavor, ELEMENTS, sizeof(int));
        OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
        WORKS(&w);
        nothing_is_open(&w);
        twice(&w);
        within_locks(&w);
        within_fences(&w);
        free_window(&w);
        requests(flavor);
    }
    strangers();
    OK(MPI_Group_free(&to));
    OK(MPI_Group_free(&from));
    return check_end();
}
