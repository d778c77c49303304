// ranks: 2 3 4
/* Windows of memory that is of another kind at each rank: of the program, of MPI_Alloc_mem (long and short), of another window, which may be of
 * some of them only, and none. All ranks change
 * the elements of all others by one mechanism, so no update is lost, whatever the memory of the target is. MPI-5.0 sections
 * 12.2.1, 12.3.4. */
#include "win.h"

enum { ELEMENTS = 1024 };

/* Fewer where a turn may need packets. */
static int turns = 300;
enum kind { PROGRAM, LONG_BLOCK, SHORT_BLOCK, WINDOW, KINDS };

/* The members of windows whose memory is given to others. */
static MPI_Comm inner_comm;

static char *allocate(enum kind kind, MPI_Aint bytes)
{
    char *base;
    if (kind == PROGRAM) return calloc((size_t)bytes, 1);
    OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base));
    memset(base, 0, (size_t)bytes);
    return base;
}

/* All add to an integer and to a double of every rank that has memory, and take turns in a third element. `odd` has another kind of memory
 * than the others, and the last rank none, if `without`. */
static void count(enum kind most, enum kind other, int odd, int without)
{
    enum kind kind = rank == odd ? other : most;
    int has = !(without && rank == size - 1), counted = without ? size - 1 : size;
    MPI_Aint bytes = (kind == SHORT_BLOCK ? 8 : ELEMENTS) * (MPI_Aint)sizeof(long);
    char *of_window;
    MPI_Win win, inner;
    OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, inner_comm, &of_window, &inner));
    char *base = !has ? NULL : kind == WINDOW ? of_window : allocate(kind, bytes);
    /* Not at the beginning of the block. */
    MPI_Aint skip = has && kind == LONG_BLOCK ? 24 : 0;
    OK(MPI_Win_create(base + skip, has ? bytes - skip : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_lock_all(0, win));
    for (int turn = 0; turn < turns; turn++) {
        for (int target = 0; target < counted; target++) {
            long one = 1, old;
            double half = 0.5;
            OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, target, 0, MPI_SUM, win));
            OK(MPI_Accumulate(&half, 1, MPI_DOUBLE, target, 1, 1, MPI_DOUBLE, MPI_SUM, win));
            OK(MPI_Accumulate(&one, 1, MPI_LONG, target, 2, 1, MPI_LONG, MPI_BXOR, win));
            OK(MPI_Win_flush_local(target, win));
        }
    }
    OK(MPI_Win_unlock_all(win));
    for (int turn = 0; turn < turns / 10; turn++) {
        for (int target = 0; target < counted; target++) {
            long value;
            OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
            OK(MPI_Get(&value, 1, MPI_LONG, target, 3, 1, MPI_LONG, win));
            OK(MPI_Win_flush(target, win));
            value++;
            OK(MPI_Put(&value, 1, MPI_LONG, target, 3, 1, MPI_LONG, win));
            OK(MPI_Win_unlock(target, win));
        }
    }
    OK(MPI_Win_fence(0, win));
    for (int target = 0; target < counted; target++) {
        long found[4];
        double sum;
        OK(MPI_Get(found, 4, MPI_LONG, target, 0, 4, MPI_LONG, win));
        OK(MPI_Win_fence(0, win));
        memcpy(&sum, &found[1], sizeof sum);
        if (found[0] != turns * size || sum != 0.5 * turns * size || found[2] != turns * size % 2 || found[3] != turns / 10 * size)
            FAIL("kinds %d and %d at rank %d, target %d: %ld, %g, %ld, %ld", most, other, odd, target, found[0], sum, found[2], found[3]);
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    if (has && kind == WINDOW) CHECK(*(long *)base == turns * size, "it is not the memory of the first window: %ld", *(long *)base);
    OK(MPI_Win_free(&win));
    OK(MPI_Win_free(&inner));
    if (!has || kind == WINDOW) return;
    if (kind == PROGRAM) free(base);
    else OK(MPI_Free_mem(base));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (!all_are_mapped() || getenv("POSTHASTE_METHODS")) turns = 60;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &inner_comm));
    for (enum kind most = PROGRAM; most < KINDS; most++)
        for (enum kind other = PROGRAM; other < KINDS; other++) count(most, other, size > 2 ? 1 : 0, 0);
    count(LONG_BLOCK, LONG_BLOCK, 0, 1);
    count(LONG_BLOCK, PROGRAM, 0, 1);
    count(WINDOW, WINDOW, 0, 1);
    OK(MPI_Comm_free(&inner_comm));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &inner_comm));
    count(WINDOW, WINDOW, 0, 0);
    count(WINDOW, LONG_BLOCK, 0, 0);
    OK(MPI_Comm_free(&inner_comm));
    return check_end();
}
