// ranks: 1 2 3
// only: posthaste
// of memory
/* The thread that does what others ask of this rank's windows, and its deputy, are there only where somebody could ask: not with windows
 * whose memory all ranks map, nor with those of one rank. */
#include "win.h"
#include <dirent.h>

static int threads(void)
{
    int count = 0;
    DIR *all = opendir("/proc/self/task");
    CHECK(all, "there is no /proc/self/task");
    for (struct dirent *one; (one = readdir(all));) count += one->d_name[0] != '.';
    closedir(all);
    return count;
}

/* A window is made and used; whether the thread is there then. */
static void with(enum flavor flavor, int expected)
{
    struct window w = make_window(flavor, 600, sizeof(long));
    long one = 1;
    OK(MPI_Win_lock_all(0, w.win));
    OK(MPI_Accumulate(&one, 1, MPI_LONG, (rank + 1) % size, place(&w, (rank + 1) % size, 0), 1, MPI_LONG, MPI_SUM, w.win));
    OK(MPI_Win_unlock_all(w.win));
    CHECK(threads() == expected, "%d threads with a window of %s, expected %d", threads(), flavor_names[flavor], expected);
    free_window(&w);
}

int main(int argc, char **argv)
{
    char own[8] = "";
    MPI_Win alone[2];
    check_start(&argc, &argv);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    int before = threads();
    with(HEAP, before);
    with(AGAIN, before);
    with(ALLOCATE, before);
    if (can_make(SHARED)) with(SHARED, before);
    OK(MPI_Win_create(own, sizeof own, 1, MPI_INFO_NULL, MPI_COMM_SELF, &alone[0]));
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_SELF, &alone[1]));
    EQUAL(threads(), before);
    for (int i = 0; i < 2; i++) OK(MPI_Win_free(&alone[i]));
    with(CREATE, size > 1 ? before + 2 : before);
    with(DYNAMIC, size > 1 ? before + 2 : before);
    OK(MPI_Finalize());
    EQUAL(threads(), 1);
    return 0;
}
