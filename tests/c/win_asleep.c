// ranks: 2
// timeout: 30
// of memory
// env: POSTHASTE_WINDOW_THREAD=0
/* The target of a window that is mapped need not enter MPI, nor have a thread for it: accesses, locks and completion are over while it sleeps. MPI-5.0
 * sections 12.5.3, 12.7.3. */
#include "win.h"
#include <unistd.h>

static void asleep(enum flavor flavor)
{
    struct window w = make_window(flavor, 8, sizeof(double));
    double began = MPI_Wtime(), value = 2.5, found = -1, pair[2] = {1, 2};
    if (rank == 0) {
        usleep(1500000);
    } else {
        for (int turn = 0; turn < 100; turn++) {
            OK(MPI_Win_lock(turn % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
            OK(MPI_Put(&value, 1, MPI_DOUBLE, 0, place(&w, 0, 1), 1, MPI_DOUBLE, w.win));
            OK(MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, place(&w, 0, 2), 1, MPI_DOUBLE, MPI_SUM, w.win));
            OK(MPI_Accumulate(pair, 1, MPI_C_DOUBLE_COMPLEX, 0, place(&w, 0, 4), 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, w.win));
            OK(MPI_Win_flush(0, w.win));
            OK(MPI_Get(&found, 1, MPI_DOUBLE, 0, place(&w, 0, 2), 1, MPI_DOUBLE, w.win));
            OK(MPI_Win_unlock(0, w.win));
            CHECK(found == 2.5 * (turn + 1), "%g", found);
        }
        CHECK(MPI_Wtime() - began < 1.0, "it took %g s", MPI_Wtime() - began);
    }
    OK(MPI_Win_fence(0, w.win));
    if (rank == 0) CHECK(((double *)w.base)[5] == 200, "%g", ((double *)w.base)[5]);
    OK(MPI_Win_fence(0, w.win));
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    asleep(HEAP);
    asleep(AGAIN);
    asleep(ALLOCATE);
    if (can_make(SHARED)) asleep(SHARED);
    return check_end();
}
