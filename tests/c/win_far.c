// ranks: 1 2 3
/* What lies beyond 4 GiB: displacements, units, and datatypes that reach that far, at both sides, in memory of which only a few pages are ever
 * touched. Datatypes that are freed before the operations are over. Accumulates that are longer than any piece in which they are done, in order
 * with the next ones. MPI-5.0 sections 12.2, 12.3.4, 12.7.1. */
#include "win.h"
#include <sys/mman.h>

#define FAR ((MPI_Aint)5000000000LL)
#define BYTES (FAR + 4096)

enum { LONG = 6000, TURNS = 4 };

static int next, before;
static char *memory;

/* The memory of rank `next` begins at the displacement `there`, this rank's at `mine`. */
static void reach(MPI_Win win, MPI_Aint there, char *mine)
{
    long value = 700 + rank, back = 0, two[2] = {11 + rank, 12 + rank}, found[2] = {0}, one = 1, old = -1;
    MPI_Datatype apart;
    OK(MPI_Type_create_hvector(2, 1, FAR - 64, MPI_LONG, &apart));
    OK(MPI_Type_commit(&apart));
    memset(mine, 0, 256);
    memset(mine + FAR, 0, 256);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Put(&value, 1, MPI_LONG, next, there + FAR, 1, MPI_LONG, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, next, there + FAR, 1, MPI_LONG, MPI_SUM, win));
    OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, next, there + FAR, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    EQUAL(old, value + 1);
    OK(MPI_Compare_and_swap(&two[0], &value, &old, MPI_LONG, next, there + FAR, win));
    OK(MPI_Get(&back, 1, MPI_LONG, next, there + FAR, 1, MPI_LONG, win));
    OK(MPI_Win_flush(next, win));
    EQUAL(old, value + 2);
    EQUAL(back, value + 2);
    /* One element at the beginning, one at the end. */
    OK(MPI_Put(two, 2, MPI_LONG, next, there + 128, 1, apart, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Accumulate(two, 2, MPI_LONG, next, there + 128, 1, apart, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get(found, 2, MPI_LONG, next, there + 128, 1, apart, win));
    OK(MPI_Win_flush(next, win));
    CHECK(found[0] == 2 * two[0] && found[1] == 2 * two[1], "%ld, %ld", found[0], found[1]);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    EQUAL(*(long *)(void *)(mine + FAR), 702 + before);
    EQUAL(*(long *)(void *)(mine + 128), 2 * (11 + before));
    EQUAL(*(long *)(void *)(mine + 128 + FAR - 64), 2 * (12 + before));
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Type_free(&apart));
}

/* The origin's buffer reaches that far. */
static void own_memory(void)
{
    struct window w = make_window(CREATE, 2, sizeof(long));
    MPI_Datatype apart;
    OK(MPI_Type_create_hvector(2, 1, FAR - 64, MPI_LONG, &apart));
    OK(MPI_Type_commit(&apart));
    long *first = (long *)(void *)memory, *second = (long *)(void *)(memory + FAR - 64);
    *first = 31 + rank;
    *second = 32 + rank;
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Put(memory, 1, apart, next, place(&w, next, 0), 2, MPI_LONG, w.win));
    OK(MPI_Win_fence(0, w.win));
    long *mine = (long *)(void *)w.base;
    CHECK(mine[0] == 31 + before && mine[1] == 32 + before, "%ld, %ld", mine[0], mine[1]);
    *first = *second = 0;
    OK(MPI_Get(memory, 1, apart, next, place(&w, next, 0), 2, MPI_LONG, w.win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    CHECK(*first == 31 + rank && *second == 32 + rank, "%ld, %ld", *first, *second);
    OK(MPI_Type_free(&apart));
    free_window(&w);
}

/* The unit alone is more than an int. */
static void unit(void)
{
    MPI_Win win;
    MPI_Aint found_size, found_unit;
    long value = 41 + rank;
    void *base;
    int flag;
    OK(MPI_Win_create_c(memory, BYTES, FAR, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_LONG, next, 1, 1, MPI_LONG, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    EQUAL(*(long *)(void *)(memory + FAR), 41 + before);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &base, &flag));
    found_size = *(MPI_Aint *)base;
    EQUAL(found_size, BYTES);
    OK(MPI_Win_shared_query_c(win, MPI_PROC_NULL, &found_size, &found_unit, &base));
    OK(MPI_Win_free(&win));
}

/* A new type takes the place of a freed one at once. */
static void freed_types(enum flavor flavor)
{
    struct window w = make_window(flavor, 2 * LONG, sizeof(long));
    long *out = malloc(LONG * sizeof *out), *mine = (long *)(void *)w.base;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Datatype column, wide, other;
        for (int i = 0; i < LONG; i++) out[i] = i + turn;
        OK(MPI_Win_fence(0, w.win));
        OK(MPI_Type_vector(LONG / 2, 1, 2, MPI_LONG, &column));
        OK(MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &wide));
        OK(MPI_Type_commit(&column));
        OK(MPI_Type_commit(&wide));
        OK(MPI_Put(out, 1, column, next, place(&w, next, 0), LONG / 2, wide, w.win));
        OK(MPI_Accumulate(out, LONG / 2, wide, next, place(&w, next, 1), 1, column, MPI_SUM, w.win));
        OK(MPI_Type_free(&column));
        OK(MPI_Type_free(&wide));
        OK(MPI_Type_vector(LONG / 4, 2, 4, MPI_LONG, &other));
        OK(MPI_Type_commit(&other));
        OK(MPI_Win_fence(0, w.win));
        OK(MPI_Type_free(&other));
        for (int i = 0; i < LONG / 2; i++) {
            long sum = (turn + 1) * 2L * i + turn * (turn + 1) / 2;
            if (mine[2 * i] != 2 * i + turn || mine[2 * i + 1] != sum)
                FAIL("%s, turn %d, %d: %ld, %ld", flavor_names[flavor], turn, i, mine[2 * i], mine[2 * i + 1]);
        }
    }
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
    free(out);
    free_window(&w);
}

/* Each reads what the one before it has written, though nothing is between them. */
static void in_order(enum flavor flavor)
{
    struct window w = make_window(flavor, 2 * LONG, sizeof(long));
    static long out[TURNS][LONG], in[TURNS][LONG];
    MPI_Datatype wide;
    OK(MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &wide));
    OK(MPI_Type_commit(&wide));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, w.win));
    for (int strided = 0; strided < 2; strided++) {
        MPI_Datatype type = strided ? wide : MPI_LONG;
        for (int turn = 0; turn < TURNS; turn++) {
            MPI_Aint at = place(&w, next, 0);
            for (int i = 0; i < LONG; i++) out[turn][i] = 1000L * (turn + 20 * strided) + i % 100;
            OK(MPI_Accumulate(out[turn], LONG, MPI_LONG, next, at, LONG, type, MPI_REPLACE, w.win));
            OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, in[turn], LONG, MPI_LONG, next, at, LONG, type, MPI_NO_OP, w.win));
        }
        OK(MPI_Win_flush(next, w.win));
        for (int turn = 0; turn < TURNS; turn++)
            for (int i = 0; i < LONG; i++)
                if (in[turn][i] != out[turn][i])
                    FAIL("%s, turn %d, %d: %ld, expected %ld", flavor_names[flavor], turn, i, in[turn][i], out[turn][i]);
    }
    OK(MPI_Win_unlock_all(w.win));
    OK(MPI_Type_free(&wide));
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    CHECK(memory != MAP_FAILED, "there is no room for %lld bytes", (long long)BYTES);
    MPI_Win win;
    OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    reach(win, 0, memory);
    OK(MPI_Win_free(&win));
    MPI_Aint here, *all = malloc((size_t)size * sizeof *all);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_attach(win, memory, BYTES));
    OK(MPI_Get_address(memory, &here));
    OK(MPI_Allgather(&here, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
    reach(win, all[next], memory);
    OK(MPI_Win_detach(win, memory));
    OK(MPI_Win_free(&win));
    own_memory();
    unit();
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        freed_types(flavor);
        in_order(flavor);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    munmap(memory, BYTES);
    free(all);
    return check_end();
}
