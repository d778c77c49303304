// ranks: 2 3
// only: posthaste
/* The target of a window need not enter MPI, whichever way its origins have to it: rank 0 calls nothing until all that the others
 * do to its memory is over. How long that takes does not matter. MPI-5.0 section 12.7.3. */
#include "win.h"
#include <unistd.h>

enum { PATIENCE_MS = 40000 };
static char mark[64];

/* Every operation and its completion, by each origin alone. */
static void work(const struct window *w)
{
    long value = rank, one = 1, old = -1, seen = -1, expected = 0, next = 7;
    double half = 0.5, sum = -1;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
    OK(MPI_Put(&value, 1, MPI_LONG, 0, place(w, 0, 1), 1, MPI_LONG, w->win));
    OK(MPI_Win_flush(0, w->win));
    OK(MPI_Get(&seen, 1, MPI_LONG, 0, place(w, 0, 1), 1, MPI_LONG, w->win));
    OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, place(w, 0, 2), MPI_SUM, w->win));
    OK(MPI_Win_flush_local(0, w->win));
    EQUAL(seen, rank);
    CHECK(old >= 0 && old < size - 1, "%ld others were before", old);
    OK(MPI_Accumulate(&half, 1, MPI_DOUBLE, 0, place(w, 0, 3), 1, MPI_DOUBLE, MPI_SUM, w->win));
    OK(MPI_Win_unlock(0, w->win));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win));
    OK(MPI_Compare_and_swap(&next, &expected, &seen, MPI_LONG, 0, place(w, 0, 4), w->win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_DOUBLE, &sum, 1, MPI_DOUBLE, 0, place(w, 0, 3), 1, MPI_DOUBLE, MPI_NO_OP, w->win));
    OK(MPI_Win_flush_all(w->win));
    CHECK(seen == 0 || seen == 7, "%ld", seen);
    CHECK(sum >= 0.5, "%g", sum);
    OK(MPI_Win_unlock(0, w->win));
}

/* Waits for a mark of each other rank, which it leaves where no call of MPI has to look. */
static void away(int turn)
{
    char name[80];
    for (int other = 1; other < size; other++) {
        snprintf(name, sizeof name, "%s.%d.%d", mark, turn, other);
        for (int waited = 0; access(name, F_OK) != 0; waited++) {
            if (waited > PATIENCE_MS) FAIL("rank %d is not done without this one", other);
            usleep(1000);
        }
        remove(name);
    }
}

static void done(int turn)
{
    char name[80];
    snprintf(name, sizeof name, "%s.%d.%d", mark, turn, rank);
    FILE *file = fopen(name, "w");
    CHECK(file, "no mark %s", name);
    fclose(file);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    snprintf(mark, sizeof mark, "/tmp/posthaste-attended-%ld", (long)getpid());
    OK(MPI_Bcast(mark, sizeof mark, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        struct window w = make_window(flavor, 8, sizeof(long));
        if (rank == 0) {
            away((int)flavor);
        } else {
            work(&w);
            done((int)flavor);
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
            EQUAL(((long *)w.base)[2], size - 1);
            EQUAL(((long *)w.base)[4], 7);
            CHECK(((double *)w.base)[3] == 0.5 * (size - 1), "%g", ((double *)w.base)[3]);
            OK(MPI_Win_unlock(0, w.win));
        }
        free_window(&w);
    }
    return check_end();
}
