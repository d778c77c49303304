/* The host of the last rank is lost: the agent there is killed, and all its ranks end with it. The others hear of it, agree on who is
 * left, and go on. Argument: how many that are. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int me, n, left = 1, all, code, class;
    MPI_Comm comm;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &me));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &n));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (me < n - 1) OK(MPI_Send(&left, 1, MPI_INT, n - 1, 0, MPI_COMM_WORLD));
    if (me == n - 1) {
        for (int from = 0; from < n - 1; from++) OK(MPI_Recv(&left, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        kill(getppid(), SIGKILL);
        for (;;) pause();
    }
    code = MPI_Recv(&left, 1, MPI_INT, n - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    OK(MPI_Error_class(code, &class));
    EQUAL(class, MPIX_ERR_PROC_FAILED);
    OK(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_size(comm, &all));
    if (all > atoi(argv[1])) {
        /* Of others of that host one hears a moment later. */
        MPI_Comm first = comm;
        code = MPI_Recv(&left, 1, MPI_INT, all - 1, 0, first, MPI_STATUS_IGNORE);
        CHECK(code != MPI_SUCCESS, "%d are left", all);
        OK(MPIX_Comm_shrink(first, &comm));
        OK(MPI_Comm_free(&first));
    }
    left = 1;
    OK(MPI_Allreduce(&left, &all, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(all, atoi(argv[1]));
    printf("rank %d goes on, one of %d\n", me, all);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Finalize());
    return 0;
}
