/* A profiling tool that is preloaded: it sees every call from Fortran once, and none that the Fortran library makes for
 * itself. MPI-5.0 section 15.2. */
#include <mpi.h>
#include <stdio.h>

static int sends, reductions;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    sends++;
    return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Finalize(void)
{
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) printf("counter: %d sends, %d reductions\n", sends, reductions);
    return PMPI_Finalize();
}
