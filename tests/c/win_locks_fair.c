// ranks: 2 4
/* Ranks take one exclusive lock again and again: each gets its share, whoever holds it does not keep it from those that wait.
 * MPI-5.0 section 12.5.3. */
#include "win.h"

enum { SHARE = 8 };
static const double SECONDS = 1;

static void fair(enum flavor flavor)
{
    struct window w = make_window(flavor, 1, sizeof(long));
    long taken = 0, all[64], sum = 0, least, most = 0;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (double end = MPI_Wtime() + SECONDS; MPI_Wtime() < end; taken++) {
        long count = -1;
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win));
        OK(MPI_Get(&count, 1, MPI_LONG, 0, place(&w, 0, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_flush(0, w.win));
        count++;
        OK(MPI_Put(&count, 1, MPI_LONG, 0, place(&w, 0, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(0, w.win));
    }
    OK(MPI_Allgather(&taken, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD));
    least = all[0];
    for (int i = 0; i < size; i++) {
        sum += all[i];
        if (all[i] < least) least = all[i];
        if (all[i] > most) most = all[i];
    }
    if (rank == 0) {
        long count = 0;
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        OK(MPI_Get(&count, 1, MPI_LONG, 0, place(&w, 0, 0), 1, MPI_LONG, w.win));
        OK(MPI_Win_unlock(0, w.win));
        EQUAL(count, sum);
        printf("%s: of %ld locks %ld to %ld each\n", flavor_names[flavor], sum, least, most);
    }
    CHECK(least * SHARE >= most, "%s: one rank got %ld locks and one %ld", flavor_names[flavor], least, most);
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    fair(ALLOCATE);
    fair(CREATE);
    return check_end();
}
