// ranks: 2 3
// of memory
// env: POSTHASTE_WINDOW_THREAD=0
/* Puts and gets reach memory of a window on the same node whose owner stays out of MPI, and has no thread for it: it waits for
 * them by looking at its memory alone. MPI-5.0 sections 12.5.3, 12.7.3. */
#include "win.h"
#include <sched.h>

enum { TURNS = 50, LONG = 100000 };

static void untouched(enum flavor flavor)
{
    struct window w = make_window(flavor, LONG + size, sizeof(int));
    volatile int *mine = (volatile int *)w.base;
    int *data = malloc(LONG * sizeof(int)), *back = malloc(LONG * sizeof(int));
    MPI_Request request;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        for (int other = 1; other < size; other++)
            while (mine[LONG + other] != TURNS) sched_yield();
    } else {
        int share = LONG / (size - 1), first = share * (rank - 1);
        for (int turn = 1; turn <= TURNS; turn++) {
            for (int i = 0; i < share; i++) data[i] = turn * LONG + first + i;
            OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, w.win));
            OK(MPI_Put(data, share, MPI_INT, 0, place(&w, 0, first), share, MPI_INT, w.win));
            OK(MPI_Win_flush(0, w.win));
            OK(MPI_Rget(back, share, MPI_INT, 0, place(&w, 0, first), share, MPI_INT, w.win, &request));
            OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            CHECK(memcmp(data, back, (size_t)share * sizeof(int)) == 0, "%s", flavor_names[flavor]);
            OK(MPI_Put(&turn, 1, MPI_INT, 0, place(&w, 0, LONG + rank), 1, MPI_INT, w.win));
            OK(MPI_Win_unlock(0, w.win));
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free_window(&w);
    free(data), free(back);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++)
        if (can_make(flavor)) untouched(flavor);
    return check_end();
}
