// ranks: 1 2 4
/* Accumulates of arrays by all ranks at once, of every length around what is done at a time, while others change single elements of
 * them: no update is lost. MPI-5.0 section 12.3.4. */
#include "win.h"

enum { ELEMENTS = 9000, ROUNDS = 6 };

/* Of these many elements each rank adds to some: from an element on, so many. */
static const int lengths[ROUNDS] = {1, 2, 31, 97, 4099, ELEMENTS - 5};

#define SUMS(flavor, type, mpi)                                                                                   \
    do {                                                                                                          \
        struct window w = make_window(flavor, ELEMENTS, sizeof(type));                                            \
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
    struct window w = make_window(flavor, 4, sizeof(long));
    OK(MPI_Win_lock_all(0, w.win));
    for (int turn = 0; turn < 50;) {
        long is = (long)turn * size + rank, next = is + 1, was;
        OK(MPI_Compare_and_swap(&next, &is, &was, MPI_LONG, 0, place(&w, 0, 1), w.win));
        OK(MPI_Win_flush(0, w.win));
        if (was == is) turn++;
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
    }
    return check_end();
}
