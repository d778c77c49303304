// ranks: 3 4
// timeout: 60
/* Locks that are held long: who waits sleeps and is woken, readers hold together, and a writer is not starved by readers
 * who come one after the other. */
#include "win.h"
#include <unistd.h>

static void held_long(enum flavor flavor)
{
    struct window w = make_window(flavor, 2, sizeof(int));
    int one = 1;
    for (int turn = 0; turn < 3; turn++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        usleep(30000);
        OK(MPI_Accumulate(&one, 1, MPI_INT, 0, place(&w, 0, 0), 1, MPI_INT, MPI_SUM, w.win));
        OK(MPI_Win_unlock(0, w.win));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        usleep(5000);
        OK(MPI_Win_unlock(0, w.win));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        EQUAL(*(int *)w.base, 3 * size);
        OK(MPI_Win_unlock(0, w.win));
    }
    free_window(&w);
}

/* All but rank 1 read one after the other, at no time nobody, until the writer has been there. */
static void not_starved(enum flavor flavor)
{
    struct window w = make_window(flavor, 2, sizeof(int));
    int one = 1, none = 0, seen = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 1) {
        usleep(20000);
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        OK(MPI_Put(&one, 1, MPI_INT, 0, place(&w, 0, 1), 1, MPI_INT, w.win));
        OK(MPI_Win_unlock(0, w.win));
    } else {
        while (!seen) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
            OK(MPI_Fetch_and_op(&none, &seen, MPI_INT, 0, place(&w, 0, 1), MPI_NO_OP, w.win));
            OK(MPI_Win_flush(0, w.win));
            usleep(3000);
            OK(MPI_Win_unlock(0, w.win));
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < SHARED; flavor++) {
        held_long(flavor);
        not_starved(flavor);
    }
    return check_end();
}
