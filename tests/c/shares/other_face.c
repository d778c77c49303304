/* What the extension of examples/shared-engine does, by another face of the C library, which is to be loaded into a scope of its
 * own: two libraries with functions of the same names. */
#include <mpi.h>
#include <stddef.h>

int extension_open(void)
{
    return MPI_Init(NULL, NULL);
}

int extension_rank(void)
{
    int rank;
    return MPI_Comm_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS ? rank : -1;
}

int extension_send(int number, int to)
{
    return MPI_Send(&number, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
}

int extension_receive(int from)
{
    int number;
    MPI_Status status;
    int rc = MPI_Recv(&number, 1, MPI_INT, from, 7, MPI_COMM_WORLD, &status);
    return rc == MPI_SUCCESS && status.MPI_SOURCE == from ? number : -1;
}

int extension_close(void)
{
    return MPI_Finalize();
}
