// ranks: 1 2 4
/* No update is lost: all ranks add to, draw from and swap the same elements of one target at the same time, with every
 * size of integer and with floating point, under shared locks; and exclusive locks keep others out. MPI-5.0 sections
 * 12.3.4, 12.5.3. */
#include "win.h"

enum { TURNS = 200 };

#define COUNT(w, type, mpi)                                                                                       \
    do {                                                                                                          \
        type one = 1, had = 0, seen = 0;                                                                          \
        OK(MPI_Accumulate(&one, 1, mpi, 0, place(w, 0, 2), 1, mpi, MPI_SUM, (w)->win));                           \
        OK(MPI_Fetch_and_op(&one, &had, mpi, 0, place(w, 0, 4), MPI_SUM, (w)->win));                              \
        OK(MPI_Get_accumulate(&one, 1, mpi, &seen, 1, mpi, 0, place(w, 0, 6), 1, mpi, MPI_SUM, (w)->win));        \
        OK(MPI_Win_flush_local(0, (w)->win));                                                                     \
    } while (0)

#define COUNTED(w, type, mpi)                                                                                     \
    do {                                                                                                          \
        for (int at = 2; at <= 6; at += 2) {                                                                      \
            type found = 0, nothing = 0;                                                                          \
            OK(MPI_Fetch_and_op(&nothing, &found, mpi, 0, place(w, 0, at), MPI_NO_OP, (w)->win));                 \
            OK(MPI_Win_flush(0, (w)->win));                                                                       \
            if (found != (type)(TURNS * size))                                                                    \
                FAIL("%s: element %d of %s is %.0f", flavor_names[(w)->flavor], at, #type, (double)found);        \
        }                                                                                                         \
    } while (0)

#define COUNTERS(flavor, type, mpi)                                                                               \
    do {                                                                                                          \
        struct window w = make_window(flavor, 8, sizeof(type));                                                   \
        OK(MPI_Win_lock_all(0, w.win));                                                                           \
        for (int turn = 0; turn < TURNS; turn++) COUNT(&w, type, mpi);                                            \
        OK(MPI_Win_flush_all(w.win));                                                                             \
        OK(MPI_Barrier(MPI_COMM_WORLD));                                                                          \
        COUNTED(&w, type, mpi);                                                                                   \
        OK(MPI_Win_unlock_all(w.win));                                                                            \
        free_window(&w);                                                                                          \
    } while (0)

/* Each ticket is drawn once. */
static void tickets(enum flavor flavor)
{
    struct window w = make_window(flavor, 2, sizeof(long));
    long one = 1, *drawn = malloc(sizeof(long) * TURNS), *all = malloc(sizeof(long) * TURNS * (size_t)size);
    char *seen = calloc((size_t)(TURNS * size), 1);
    for (int turn = 0; turn < TURNS; turn++) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        OK(MPI_Fetch_and_op(&one, &drawn[turn], MPI_LONG, 0, place(&w, 0, 1), MPI_SUM, w.win));
        OK(MPI_Win_unlock(0, w.win));
        if (turn > 0) CHECK(drawn[turn] > drawn[turn - 1], "%ld after %ld", drawn[turn], drawn[turn - 1]);
    }
    OK(MPI_Allgather(drawn, TURNS, MPI_LONG, all, TURNS, MPI_LONG, MPI_COMM_WORLD));
    for (int i = 0; i < TURNS * size; i++) {
        CHECK(all[i] >= 0 && all[i] < TURNS * size && !seen[all[i]], "ticket %ld", all[i]);
        seen[all[i]] = 1;
    }
    free_window(&w);
    free(drawn), free(all), free(seen);
}

/* Arrays and single elements of doubles, contiguous and in pieces, meet in the same places. */
static void arrays(enum flavor flavor)
{
    enum { MANY = 10000 };
    struct window w = make_window(flavor, MANY, sizeof(double));
    MPI_Datatype pieces;
    double *ones = malloc(MANY * sizeof *ones), one = 1, old;
    for (int i = 0; i < MANY; i++) ones[i] = 1;
    OK(MPI_Type_vector(MANY / 2, 1, 2, MPI_DOUBLE, &pieces));
    OK(MPI_Type_commit(&pieces));
    OK(MPI_Win_lock_all(0, w.win));
    for (int turn = 0; turn < TURNS / 10; turn++) {
        OK(MPI_Accumulate(ones, MANY, MPI_DOUBLE, 0, place(&w, 0, 0), MANY, MPI_DOUBLE, MPI_SUM, w.win));
        OK(MPI_Fetch_and_op(&one, &old, MPI_DOUBLE, 0, place(&w, 0, turn), MPI_SUM, w.win));
        OK(MPI_Accumulate(ones, 1, pieces, 0, place(&w, 0, 0), 1, pieces, MPI_SUM, w.win));
        OK(MPI_Win_flush_local(0, w.win));
    }
    OK(MPI_Win_flush_all(w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, ones, MANY, MPI_DOUBLE, 0, place(&w, 0, 0), MANY, MPI_DOUBLE, MPI_NO_OP, w.win));
    OK(MPI_Win_unlock_all(w.win));
    for (int i = 0; i < MANY; i++) {
        int expected = size * (TURNS / 10 * (i % 2 ? 1 : 2) + (i < TURNS / 10));
        CHECK(ones[i] == expected, "%s: element %d is %g, not %d", flavor_names[flavor], i, ones[i], expected);
    }
    OK(MPI_Type_free(&pieces));
    free(ones);
    free_window(&w);
}

/* A counter that grows by compare-and-swap alone. */
static void swapped(enum flavor flavor)
{
    struct window w = make_window(flavor, 2, sizeof(int));
    OK(MPI_Win_lock_all(0, w.win));
    for (int turn = 0; turn < TURNS / 4; turn++) {
        int expected = 0, found;
        for (;;) {
            int next = expected + 1;
            OK(MPI_Compare_and_swap(&next, &expected, &found, MPI_INT, 0, place(&w, 0, 1), w.win));
            OK(MPI_Win_flush(0, w.win));
            if (found == expected) break;
            expected = found;
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int last, none = 0;
    OK(MPI_Fetch_and_op(&none, &last, MPI_INT, 0, place(&w, 0, 1), MPI_NO_OP, w.win));
    OK(MPI_Win_unlock_all(w.win));
    EQUAL(last, TURNS / 4 * size);
    free_window(&w);
}

/* Under an exclusive lock a get and a put are one step. */
static void exclusive(enum flavor flavor)
{
    struct window w = make_window(flavor, 1, sizeof(long));
    for (int turn = 0; turn < TURNS / 4; turn++) {
        long value;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, size - 1, 0, w.win));
        OK(MPI_Get(&value, 1, MPI_LONG, size - 1, place(&w, size - 1, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(size - 1, w.win));
        value++;
        OK(MPI_Put(&value, 1, MPI_LONG, size - 1, place(&w, size - 1, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(size - 1, w.win));
        if (turn % 8 == 0) {
            OK(MPI_Win_lock_all(0, w.win));
            OK(MPI_Win_unlock_all(w.win));
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == size - 1) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, w.win));
        EQUAL(*(long *)w.base, TURNS / 4 * size);
        OK(MPI_Win_unlock(rank, w.win));
    }
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        COUNTERS(flavor, short, MPI_SHORT);
        COUNTERS(flavor, int, MPI_INT);
        COUNTERS(flavor, long, MPI_LONG);
        COUNTERS(flavor, float, MPI_FLOAT);
        COUNTERS(flavor, double, MPI_DOUBLE);
        COUNTERS(flavor, long double, MPI_LONG_DOUBLE);
        arrays(flavor);
        tickets(flavor);
        swapped(flavor);
        exclusive(flavor);
    }
    return check_end();
}
