/* Routines of Fortran under the names of compilers that write them in capital letters or without an underscore. */
#include <mpi.h>
#include <stdio.h>

extern void MPI_COMM_RANK(int *comm, int *rank, int *ierror);
extern void PMPI_COMM_SIZE(int *comm, int *size, int *ierror);
extern void mpi_allreduce(const void *from, void *to, int *count, int *datatype, int *op, int *comm, int *ierror);
extern double MPI_WTIME(void);

int main(int argc, char **argv) {
    int world = MPI_Comm_c2f(MPI_COMM_WORLD), type = MPI_Type_c2f(MPI_INT), op = MPI_Op_c2f(MPI_SUM);
    int rank = -1, size = -1, sum = -1, one = 1, ierror = 7;
    MPI_Init(&argc, &argv);
    MPI_COMM_RANK(&world, &rank, &ierror);
    PMPI_COMM_SIZE(&world, &size, &ierror);
    /* With more arguments than registers have room for. */
    mpi_allreduce(&rank, &sum, &one, &type, &op, &world, &ierror);
    if (ierror != 0 || rank < 0 || sum != size * (size - 1) / 2 || MPI_WTIME() <= 0) {
        printf("rank %d of %d, sum %d, error %d\n", rank, size, sum, ierror);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    printf("rank %d: all names are there\n", rank);
    MPI_Finalize();
    return 0;
}
