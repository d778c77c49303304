// ranks: 2 3
/* Many short accesses to one target, of which a network carries several together: each arrives, accumulates in their order, and a long
 * put, a message or a lock behind them does not overtake them. MPI-5.0 sections 12.3 and 12.7.2. */
#include "win.h"

enum { SHORT = 1000, LONG = 20000, SUM = SHORT, DATA = SHORT + 1, ALL = DATA + LONG };

static int long_one[LONG], values[SHORT];
static const unsigned numbers[] = {5, 3};

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    /* Of memory that the others do not map, if there is any such. */
    struct window w = make_window(CREATE, ALL, sizeof(int));
    const int *base = (const int *)w.base;
    int next = (rank + 1) % size, before = (rank + size - 1) % size, got;
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < LONG; i++) long_one[i] = round * 7 + i;
        OK(MPI_Win_lock_all(0, w.win));
        for (int i = 0; i < SHORT; i++) {
            values[i] = 10000 * round + i;
            OK(MPI_Put(&values[i], 1, MPI_INT, next, place(&w, next, i), 1, MPI_INT, w.win));
            /* From one origin to one place they happen in their order. */
            MPI_Op op = i == 0 ? MPI_REPLACE : i % 2 ? MPI_SUM : MPI_PROD;
            OK(MPI_Accumulate(&numbers[i % 2], 1, MPI_UNSIGNED, next, place(&w, next, SUM), 1, MPI_UNSIGNED, op, w.win));
            if (i == SHORT / 2)
                OK(MPI_Put(long_one, LONG, MPI_INT, next, place(&w, next, DATA), LONG, MPI_INT, w.win));
        }
        OK(MPI_Win_flush(next, w.win));
        OK(MPI_Send(&round, 1, MPI_INT, next, 0, MPI_COMM_WORLD));
        OK(MPI_Recv(&got, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(got, round);
        OK(MPI_Win_sync(w.win));
        unsigned expected = 5;
        for (int i = 1; i < SHORT; i++) expected = i % 2 ? expected + 3 : expected * 5;
        EQUAL((unsigned)base[SUM], expected);
        for (int i = 0; i < SHORT; i++) EQUAL(base[i], 10000 * round + i);
        for (int i = 0; i < LONG; i++) EQUAL(base[DATA + i], round * 7 + i);
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free_window(&w);
    return check_end();
}
