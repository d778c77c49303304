/* fortran.c: what libraries with Fortran interfaces and drivers for several languages do with handles, in C and in C++:
 * an entry for Fortran that takes MPI_Fint by address, a handle kept in an integer, statuses in both forms.
 * Built by `cargo xtask test` (part `headers`) with several standards and all warnings. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__cplusplus)
extern "C" {
#endif
void open_(const MPI_Fint *comm_f, MPI_Fint *kept_f, MPI_Fint *ierr);
void sum_(const MPI_Fint *kept_f, int *sum, MPI_Fint *status_f, MPI_Fint *ierr);
#if defined(__cplusplus)
}
#endif

/* Keeps a duplicate of the caller's communicator, as a library of transforms does. */
void open_(const MPI_Fint *comm_f, MPI_Fint *kept_f, MPI_Fint *ierr)
{
    MPI_Comm comm = MPI_Comm_f2c(*comm_f), kept;
    *ierr = MPI_Comm_dup(comm, &kept);
    *kept_f = MPI_Comm_c2f(kept);
}

/* Adds the ranks up in a ring of messages; returns the status of the last one. */
void sum_(const MPI_Fint *kept_f, int *sum, MPI_Fint *status_f, MPI_Fint *ierr)
{
    MPI_Comm comm = MPI_Comm_f2c(*kept_f);
    MPI_Status status;
    int rank, size, value, got, step;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *ierr = MPI_SUCCESS;
    *sum = value = rank;
    for (step = 1; step < size && *ierr == MPI_SUCCESS; step++) {
        *ierr = MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, (rank + size - 1) % size, 1,
                             comm, &status);
        *sum += got;
        value = got;
    }
    if (size > 1 && status_f != MPI_F_STATUS_IGNORE) MPI_Status_c2f(&status, status_f);
}

int main(int argc, char **argv)
{
    MPI_Fint world, kept, ierr, status_f[MPI_F_STATUS_SIZE];
    MPI_Fint (*number_of)(MPI_Datatype) = MPI_Type_c2f;
    MPI_F08_status f08;
    MPI_Status status;
    MPI_Comm comm;
    int sum = -1, rank, size, count = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    world = MPI_Comm_c2f(MPI_COMM_WORLD);
    open_(&world, &kept, &ierr);
    if (ierr == MPI_SUCCESS) sum_(&kept, &sum, status_f, &ierr);
    MPI_Status_f2c(status_f, &status);
    MPI_Status_f2f08(status_f, &f08);
    MPI_Get_count(&status, MPI_Type_f2c(number_of(MPI_INT)), &count);
    if (ierr != MPI_SUCCESS || sum != size * (size - 1) / 2 || count != 1 || f08.MPI_SOURCE != status.MPI_SOURCE) {
        fprintf(stderr, "sum %d, count %d, source %d\n", sum, count, status.MPI_SOURCE);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    comm = MPI_Comm_f2c(kept);
    MPI_Comm_free(&comm);
    if (rank == 0) printf("program: %d ranks, sum %d\n", size, sum);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
