// ranks: 1 2 4
/* Accumulates of arrays by all ranks at once, of every length around what is done at a time, while others change single elements of
 * them: no update is lost. MPI-5.0 section 12.3.4. */
#include "win.h"
#include <sched.h>

enum { ELEMENTS = 9000, ROUNDS = 6 };

/* Of these many elements each rank adds to some: from an element on, so many. */
static const int lengths[ROUNDS] = {1, 2, 31, 97, 4099, ELEMENTS - 5};

/* Whether the last rank alone gives the hint. */
static int one_gives;

#ifdef GRANULARITY
/* What a window shows is what its rank has given. */
static void shows_what_was_given(const struct window *w)
{
    char found[32] = "";
    const char *given = rank == size - 1 ? GRANULARITY : "0";
    int length = sizeof found, is_there;
    MPI_Info info;
    OK(MPI_Win_get_info(w->win, &info));
    OK(MPI_Info_get_string(info, "mpi_accumulate_granularity", &length, found, &is_there));
    OK(MPI_Info_free(&info));
    CHECK(is_there && !strcmp(found, given), "%s: mpi_accumulate_granularity is \"%s\", not \"%s\"", flavor_names[w->flavor], found, given);
}

/* A window of which the last rank alone gives the hint, the others MPI_INFO_NULL: all have to change elements by one mechanism nevertheless. */
static struct window make_with_one_hint(enum flavor flavor, int elements, int width)
{
    struct window w = {.flavor = flavor, .width = width, .inner = MPI_WIN_NULL};
    MPI_Aint bytes = (MPI_Aint)elements * width;
    MPI_Info info = MPI_INFO_NULL;
    w.start = calloc((unsigned)size, sizeof *w.start);
    if (rank == size - 1) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "mpi_accumulate_granularity", GRANULARITY));
    }
    if (flavor == ALLOCATE) OK(MPI_Win_allocate(bytes, width, info, MPI_COMM_WORLD, &w.base, &w.win));
    else if (flavor == SHARED) OK(MPI_Win_allocate_shared(bytes, width, info, MPI_COMM_WORLD, &w.base, &w.win));
    else if (flavor == HEAP) OK(MPI_Alloc_mem(bytes < 4096 ? 4096 : bytes, MPI_INFO_NULL, &w.base));
    else w.base = malloc((size_t)bytes);
    if (flavor == HEAP || flavor == CREATE) memset(w.base, 0, (size_t)bytes);
    if (flavor == HEAP || flavor == CREATE) OK(MPI_Win_create(w.base, bytes, width, info, MPI_COMM_WORLD, &w.win));
    if (info != MPI_INFO_NULL) OK(MPI_Info_free(&info));
    shows_what_was_given(&w);
    return w;
}
#else
#define make_with_one_hint make_window
#endif

static struct window make(enum flavor flavor, int elements, int width)
{
    return (one_gives ? make_with_one_hint : make_window)(flavor, elements, width);
}

#define SUMS(flavor, type, mpi)                                                                                   \
    do {                                                                                                          \
        struct window w = make(flavor, ELEMENTS, sizeof(type));                                                   \
        type *ones = malloc(ELEMENTS * sizeof(type)), *found = malloc(ELEMENTS * sizeof(type));                   \
        for (int i = 0; i < ELEMENTS; i++) ones[i] = 1;                                                           \
        OK(MPI_Win_lock_all(0, w.win));                                                                           \
        for (int round = 0; round < ROUNDS; round++) {                                                            \
            type one = 1, had;                                                                                    \
            int count = lengths[round];                                                                           \
            OK(MPI_Accumulate(ones, count, mpi, 0, place(&w, 0, round), count, mpi, MPI_SUM, w.win));              \
            OK(MPI_Get_accumulate(ones, count, mpi, found, count, mpi, 0, place(&w, 0, round), count, mpi, MPI_SUM, w.win)); \
            OK(MPI_Fetch_and_op(&one, &had, mpi, 0, place(&w, 0, 5), MPI_SUM, w.win));                            \
            OK(MPI_Accumulate(&one, 1, mpi, 0, place(&w, 0, 5), 1, mpi, MPI_SUM, w.win));                         \
            OK(MPI_Win_flush(0, w.win));                                                                          \
        }                                                                                                         \
        OK(MPI_Barrier(MPI_COMM_WORLD));                                                                          \
        OK(MPI_Get_accumulate(NULL, 0, mpi, found, ELEMENTS, mpi, 0, place(&w, 0, 0), ELEMENTS, mpi, MPI_NO_OP, w.win)); \
        OK(MPI_Win_flush(0, w.win));                                                                              \
        for (int i = 0; i < ELEMENTS; i++) {                                                                      \
            int expected = i == 5 ? 2 * ROUNDS : 0;                                                               \
            for (int round = 0; round < ROUNDS; round++)                                                          \
                if (i >= round && i < round + lengths[round]) expected += 2;                                      \
            if (found[i] != (type)(expected * size))                                                              \
                FAIL("%s: element %d of %s is %.0f, expected %d", flavor_names[(flavor)], i, #type, (double)found[i], \
                     expected * size);                                                                            \
        }                                                                                                         \
        OK(MPI_Win_unlock_all(w.win));                                                                            \
        free_window(&w);                                                                                          \
        free(ones), free(found);                                                                                  \
    } while (0)

/* One element in turn by whoever finds it as expected. */
static void swaps(enum flavor flavor)
{
    struct window w = make(flavor, 4, sizeof(long));
    OK(MPI_Win_lock_all(0, w.win));
    for (int turn = 0; turn < 50;) {
        long is = (long)turn * size + rank, next = is + 1, was;
        OK(MPI_Compare_and_swap(&next, &is, &was, MPI_LONG, 0, place(&w, 0, 1), w.win));
        OK(MPI_Win_flush(0, w.win));
        if (was == is) turn++;
        else sched_yield(); /* ranks that share a CPU would wait for the end of each other's turns */
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    long nothing = 0, last;
    OK(MPI_Fetch_and_op(&nothing, &last, MPI_LONG, 0, place(&w, 0, 1), MPI_NO_OP, w.win));
    OK(MPI_Win_flush(0, w.win));
    CHECK(last == 50L * size, "%s: %ld", flavor_names[flavor], last);
    OK(MPI_Win_unlock_all(w.win));
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        SUMS(flavor, int, MPI_INT);
        SUMS(flavor, long, MPI_LONG);
        SUMS(flavor, short, MPI_SHORT);
        SUMS(flavor, float, MPI_FLOAT);
        SUMS(flavor, double, MPI_DOUBLE);
        swaps(flavor);
#ifdef GRANULARITY
        if (flavor == AGAIN || flavor == DYNAMIC) continue;
        one_gives = 1;
        SUMS(flavor, int, MPI_INT);
        SUMS(flavor, double, MPI_DOUBLE);
        swaps(flavor);
        one_gives = 0;
#endif
    }
    return check_end();
}
