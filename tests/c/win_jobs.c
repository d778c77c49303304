// ranks: 1 2
// only: posthaste
/* Windows of processes of two jobs, which number their nodes alike and are on none together. MPI-5.0 sections 11.8, 12.2. */
#include "win.h"
#include <unistd.h>

enum { TURNS = 40 };

/* Under an exclusive lock a get and a put are one step; every so often the lock is held long enough for the others to sleep. */
static void counted(MPI_Comm both)
{
    MPI_Win win;
    long *base, value, one = 1;
    int members;
    OK(MPI_Comm_size(both, &members));
    OK(MPI_Win_allocate(2 * sizeof(long), sizeof(long), MPI_INFO_NULL, both, &base, &win));
    for (int turn = 0; turn < TURNS; turn++) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, members - 1, 0, win));
        OK(MPI_Get(&value, 1, MPI_LONG, members - 1, 0, 1, MPI_LONG, win));
        OK(MPI_Win_flush(members - 1, win));
        value++;
        OK(MPI_Put(&value, 1, MPI_LONG, members - 1, 0, 1, MPI_LONG, win));
        OK(MPI_Accumulate(&one, 1, MPI_LONG, members - 1, 1, 1, MPI_LONG, MPI_SUM, win));
        if (turn % 16 == 0) usleep(2000);
        OK(MPI_Win_unlock(members - 1, win));
    }
    OK(MPI_Barrier(both));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, members - 1, 0, win));
    OK(MPI_Get(&value, 1, MPI_LONG, members - 1, 0, 1, MPI_LONG, win));
    OK(MPI_Get(&one, 1, MPI_LONG, members - 1, 1, 1, MPI_LONG, win));
    OK(MPI_Win_unlock(members - 1, win));
    EQUAL(value, TURNS * members);
    EQUAL(one, TURNS * members);
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    static char own[4096];
    MPI_Comm parent, inter, both;
    MPI_Win win;
    int *base;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    int is_child = parent != MPI_COMM_NULL;
    if (!is_child) {
        ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
        CHECK(n > 0, "no program");
        OK(MPI_Comm_spawn(own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    } else {
        inter = parent;
    }
    OK(MPI_Intercomm_merge(inter, is_child, &both));
    OK(MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN));
    counted(both);
    REFUSED(MPI_Win_allocate_shared(64, 4, MPI_INFO_NULL, both, &base, &win), MPI_ERR_RMA_SHARED);
    OK(MPI_Comm_free(&both));
    OK(MPI_Comm_disconnect(&inter));
    return check_end();
}
