/* Rank 1 is killed while windows are made and freed, at a moment that nobody chooses. The others all get the same number of
 * windows, then an error, and nobody waits for one who has failed; the windows that they make among themselves are as ever. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { VICTIM = 1, BYTES = 64, PAGE = 4096, KINDS = 4 };

static void die(int signal_)
{
    (void)signal_;
    kill(getpid(), SIGKILL);
}

/* Dies after so many microseconds, whatever it does then. */
static void die_after(int microseconds)
{
    struct itimerval when = {.it_value = {.tv_usec = microseconds}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &when, NULL);
}

static int make(int kind, MPI_Comm comm, MPI_Win *win)
{
    static char mine[BYTES], *shared;
    char *base;
    if (!shared) OK(MPI_Alloc_mem(PAGE, MPI_INFO_NULL, &shared));
    switch (kind % KINDS) {
    case 0: return MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, comm, &base, win);
    case 1: return MPI_Win_create(mine, BYTES, 1, MPI_INFO_NULL, comm, win);
    case 2: return MPI_Win_create(shared, PAGE, 1, MPI_INFO_NULL, comm, win);
    default: return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm left;
    MPI_Win win;
    int code, class, made = 0, range[2], most[2];
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == VICTIM) die_after(20000 + (int)(MPI_Wtime() * 1e6) % 10000);
    while ((code = make(made, MPI_COMM_WORLD, &win)) == MPI_SUCCESS) {
        made++;
        /* A window that one of its members does not free with the others is of no use; it need not be freed at all. */
        OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        if (MPI_Win_free(&win) != MPI_SUCCESS) continue;
    }
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_PROC_ABORTED || class == MPIX_ERR_PROC_FAILED, "class %d: %s", class, check_text(code));
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &left));
    MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN);
    range[0] = made;
    range[1] = -made;
    OK(MPI_Allreduce(range, most, 2, MPI_INT, MPI_MAX, left));
    CHECK(most[0] == -most[1], "%d windows, and others %d to %d", made, -most[1], most[0]);
    for (int kind = 0; kind < KINDS; kind++) {
        OK(make(kind, left, &win));
        OK(MPI_Win_fence(0, win));
        OK(MPI_Win_free(&win));
    }
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    return MPI_Finalize();
}
