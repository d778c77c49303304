/* A communicator that is revoked while some members make windows of it and others agree: who makes one gets an error, and nobody takes what
 * is agreed there for what the program agrees on. */
// ranks: 2 3
// only: posthaste
#include "check.h"
#include <mpi-ext.h>

enum { CREATE, ALLOCATE, SHARED, DYNAMIC, FLAVORS };

static int make(int flavor, MPI_Comm comm, MPI_Win *win)
{
    static int mine;
    void *base;
    switch (flavor) {
    case CREATE: return MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, comm, win);
    case ALLOCATE: return MPI_Win_allocate(8, 1, MPI_INFO_NULL, comm, &base, win);
    case SHARED: return MPI_Win_allocate_shared(8, 1, MPI_INFO_NULL, comm, &base, win);
    default: return MPI_Win_create_dynamic(MPI_INFO_NULL, comm, win);
    }
}

/* `early`: who makes a window knows that the communicator is revoked. */
static void revoked_meanwhile(int flavor, int early)
{
    MPI_Comm comm, left;
    MPI_Win win;
    int flag = rank == 0 ? 3 : 6, known = 0;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    if (rank == 1 && early) OK(MPIX_Comm_revoke(comm));
    if (rank == 0) {
        while (early && !known) OK(MPIX_Comm_is_revoked(comm, &known));
        REFUSED(make(flavor, comm, &win), MPIX_ERR_REVOKED);
    } else if (rank == 1 && !early) {
        /* Rank 0 has come to it by now, most times. */
        double until = MPI_Wtime() + 0.01;
        while (MPI_Wtime() < until) OK(MPIX_Comm_is_revoked(comm, &known));
        OK(MPIX_Comm_revoke(comm));
    }
    OK(MPIX_Comm_agree(comm, &flag));
    EQUAL(flag, 2);
    OK(MPIX_Comm_shrink(comm, &left));
    OK(MPI_Barrier(left));
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int flavor = CREATE; flavor < FLAVORS; flavor++)
        for (int early = 0; early < 2; early++) revoked_meanwhile(flavor, early);
    return check_end();
}
