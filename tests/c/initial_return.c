// ranks: 2
// env: POSTHASTE_INITIAL_ERRHANDLER=mpi_errors_return
// only: posthaste
/* The job was started with mpi_errors_return: errors come back before MPI_Init, from the first communicators and those
 * made of them, and after MPI_Finalize. MPI-5.0 sections 9.3 and 11.5. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Errhandler found;
    MPI_Comm half;
    int value = 0;
    REFUSED(MPI_Barrier(MPI_COMM_WORLD), MPI_ERR_OTHER);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    REFUSED(MPI_Send(&value, 1, MPI_INT, 7, 1, MPI_COMM_WORLD), MPI_ERR_RANK);
    REFUSED(MPI_Wait(NULL, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &half));
    OK(MPI_Comm_get_errhandler(half, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Comm_free(&half));
    OK(MPI_Finalize());
    REFUSED(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD), MPI_ERR_OTHER);
    return 0;
}
