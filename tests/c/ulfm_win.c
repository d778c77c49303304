/* A window that is revoked: whatever its members wait for ends, what they begin later is refused, and it is freed in any epoch. The
 * communicator that it was made of goes on. */
// ranks: 2 3 5
// only: posthaste
#include "bad_check.h"
#include <mpi-ext.h>
#include <unistd.h>
#include "win.h"

static MPI_Group world, first, last, others;

static struct window window_of(enum flavor flavor)
{
    struct window w = make_window(flavor, 600, sizeof(long));
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    return w;
}

/* Each member frees it by itself; memory of the program goes when all have done so. */
static void end(struct window *w)
{
    MPI_Win inner = w->inner;
    OK(MPI_Win_free(&w->win));
    CHECK(w->win == MPI_WIN_NULL, "the handle of a freed window");
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (inner != MPI_WIN_NULL) OK(MPI_Win_free(&inner));
    if (w->flavor == CREATE || w->flavor == DYNAMIC) free(w->base);
    if (w->flavor == HEAP) OK(MPI_Free_mem(w->base));
    free(w->start);
}

/* Those who wait for the last rank do so when it revokes the window. */
static void revoke_soon(MPI_Win win)
{
    usleep(30000);
    OK(MPIX_Win_revoke(win));
}

static void refused(const struct window *w)
{
    MPI_Win win = w->win;
    MPI_Request request;
    MPI_Aint at = place(w, 0, 0);
    long value = 5, old = 7, expected = 0, many[600] = {0};
    int flag = 0;
    REFUSED(MPI_Put(&value, 1, MPI_LONG, 0, at, 1, MPI_LONG, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Put(&value, 1, MPI_LONG, MPI_PROC_NULL, at, 1, MPI_LONG, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Put(many, 600, MPI_LONG, 0, at, 600, MPI_LONG, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Get(&value, 1, MPI_LONG, 0, at, 1, MPI_LONG, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Accumulate(&value, 1, MPI_LONG, 0, at, 1, MPI_LONG, MPI_SUM, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Get_accumulate(&value, 1, MPI_LONG, &old, 1, MPI_LONG, 0, at, 1, MPI_LONG, MPI_SUM, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Fetch_and_op(&value, &old, MPI_LONG, 0, at, MPI_SUM, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Compare_and_swap(&value, &expected, &old, MPI_LONG, 0, at, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Rput(&value, 1, MPI_LONG, 0, at, 1, MPI_LONG, win, &request), MPIX_ERR_REVOKED);
    REFUSED(MPI_Rget(&value, 1, MPI_LONG, 0, at, 1, MPI_LONG, win, &request), MPIX_ERR_REVOKED);
    REFUSED(MPI_Raccumulate(&value, 1, MPI_LONG, 0, at, 1, MPI_LONG, MPI_SUM, win, &request), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_fence(0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_lock_all(0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_unlock(0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_unlock_all(win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_flush(0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_flush_all(win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_flush_local(0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_flush_local_all(win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_sync(win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_post(world, 0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_start(world, 0, win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_complete(win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_wait(win), MPIX_ERR_REVOKED);
    REFUSED(MPI_Win_test(win, &flag), MPIX_ERR_REVOKED);
    EQUAL(old, 7);
    OK(MPIX_Win_is_revoked(win, &flag));
    EQUAL(flag, 1);
    OK(MPIX_Win_revoke(win)); /* once more: nothing happens */
    if (w->flavor == DYNAMIC) OK(MPI_Win_detach(win, w->base));
}

static void not_revoked(enum flavor flavor)
{
    int flag = -1;
    struct window w = window_of(flavor);
    OK(MPIX_Win_is_revoked(w.win, &flag));
    EQUAL(flag, 0);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) OK(MPIX_Win_revoke(w.win));
    while (flag != 1) OK(MPIX_Win_is_revoked(w.win, &flag));
    refused(&w);
    end(&w);
}

static void in_fence(enum flavor flavor)
{
    struct window w = window_of(flavor);
    long value = rank;
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Put(&value, 1, MPI_LONG, 0, place(&w, 0, rank), 1, MPI_LONG, w.win));
    if (rank == size - 1) revoke_soon(w.win);
    REFUSED(MPI_Win_fence(0, w.win), MPIX_ERR_REVOKED);
    refused(&w);
    end(&w);
}

/* The last rank has the lock of rank 0 and does not give it back. */
static void in_lock(enum flavor flavor, int all)
{
    struct window w = window_of(flavor);
    long value = 3;
    if (rank == size - 1) OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1) {
        OK(MPI_Put(&value, 1, MPI_LONG, 0, place(&w, 0, 0), 1, MPI_LONG, w.win));
        revoke_soon(w.win);
    } else if (all) {
        REFUSED(MPI_Win_lock_all(0, w.win), MPIX_ERR_REVOKED);
    } else {
        REFUSED(MPI_Win_lock(rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w.win), MPIX_ERR_REVOKED);
    }
    refused(&w);
    end(&w);
}

/* The others wait for the last rank, which does not post, or has started and does not complete. */
static void in_start(enum flavor flavor)
{
    struct window w = window_of(flavor);
    if (rank == size - 1) revoke_soon(w.win);
    else REFUSED(MPI_Win_start(last, 0, w.win), MPIX_ERR_REVOKED);
    refused(&w);
    end(&w);
}

static void in_wait(enum flavor flavor, int tests)
{
    struct window w = window_of(flavor);
    int flag = 0, code;
    if (rank < size - 1) OK(MPI_Win_post(last, 0, w.win));
    else OK(MPI_Win_start(others, 0, w.win));
    if (rank == size - 1) {
        revoke_soon(w.win);
    } else if (tests) {
        while ((code = MPI_Win_test(w.win, &flag)) == MPI_SUCCESS) EQUAL(flag, 0);
        REFUSED(code, MPIX_ERR_REVOKED);
    } else {
        REFUSED(MPI_Win_wait(w.win), MPIX_ERR_REVOKED);
    }
    refused(&w);
    end(&w);
}

/* Who flushes again and again hears of it, too. */
static void between_flushes(enum flavor flavor)
{
    struct window w = window_of(flavor);
    long value = rank;
    int code;
    OK(MPI_Win_lock_all(0, w.win));
    if (rank == size - 1) {
        revoke_soon(w.win);
    } else {
        while ((code = MPI_Put(&value, 1, MPI_LONG, 0, place(&w, 0, rank), 1, MPI_LONG, w.win)) == MPI_SUCCESS
               && (code = MPI_Win_flush(0, w.win)) == MPI_SUCCESS) {}
        REFUSED(code, MPIX_ERR_REVOKED);
    }
    refused(&w);
    end(&w);
}

/* The last rank frees its memory while rank 0, which has not heard of anything, still writes to it: that is nobody else's then. */
static void freed_early(enum flavor flavor)
{
    struct window w = window_of(flavor);
    char letters[4096], *memory;
    MPI_Aint at = place(&w, size - 1, 0);
    memset(letters, 'x', sizeof letters);
    OK(MPI_Win_lock_all(0, w.win));
    OK(MPI_Put(letters, 4096, MPI_CHAR, size - 1, at, 4096, MPI_CHAR, w.win)); /* the way is known */
    OK(MPI_Win_flush(size - 1, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        usleep(30000);
        int code = MPI_Put(letters, 4096, MPI_CHAR, size - 1, at, 4096, MPI_CHAR, w.win);
        if (code != MPI_SUCCESS) REFUSED(code, MPIX_ERR_REVOKED);
        code = MPI_Win_flush_local(size - 1, w.win);
        if (code != MPI_SUCCESS) REFUSED(code, MPIX_ERR_REVOKED);
        OK(MPI_Send(NULL, 0, MPI_CHAR, size - 1, 9, MPI_COMM_WORLD));
    }
    if (rank != size - 1) {
        for (int flag = 0; !flag;) OK(MPIX_Win_is_revoked(w.win, &flag));
        OK(MPI_Win_free(&w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Free_mem(w.base));
    } else {
        OK(MPIX_Win_revoke(w.win));
        OK(MPI_Win_free(&w.win));
        OK(MPI_Free_mem(w.base));
        OK(MPI_Alloc_mem(4800, MPI_INFO_NULL, &memory));
        memset(memory, 'm', 4800);
        OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 4800; i++) CHECK(memory[i] == 'm', "byte %d is %c", i, memory[i]);
        OK(MPI_Free_mem(memory));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(w.start);
}

static void wrong_arguments(void)
{
    int flag = 7;
    struct window w = window_of(ALLOCATE);
    MPI_Win wrong[] = {MPI_WIN_NULL, (MPI_Win)MPI_COMM_WORLD, (MPI_Win)&flag};
    for (int i = 0; i < 3; i++) {
        BAD(MPI_ERR_WIN, "win is ", MPIX_Win_revoke, wrong[i]);
        BAD(MPI_ERR_WIN, "win is ", MPIX_Win_is_revoked, wrong[i], &flag);
    }
    EQUAL(flag, 7);
    BAD(MPI_ERR_ARG, "flag is NULL", MPIX_Win_is_revoked, w.win, NULL);
    free_window(&w);
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, (const int[]){0}, &first));
    OK(MPI_Group_incl(world, 1, (const int[]){size - 1}, &last));
    OK(MPI_Group_excl(world, 1, (const int[]){size - 1}, &others));
    freed_early(HEAP); /* first: there is no thread that would hear of it for rank 0 */
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        not_revoked(flavor);
        in_fence(flavor);
        in_lock(flavor, 0);
        in_lock(flavor, 1);
        in_start(flavor);
        in_wait(flavor, 0);
        in_wait(flavor, 1);
        between_flushes(flavor);
    }
    wrong_arguments();
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&first));
    OK(MPI_Group_free(&last));
    OK(MPI_Group_free(&others));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    return bad_end();
}
