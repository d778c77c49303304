/* Which ABI the library says that it has: mpi4py and others choose by this, and MPICH's ABI is no version of the standard's.
 * Built as C and as C++. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    int major = 7, minor = 7, rank = -1;
    if (MPI_Abi_get_version(&major, &minor) != MPI_SUCCESS || major != -1 || minor != -1) {
        printf("before MPI_Init: %d.%d\n", major, minor);
        return 1;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    major = minor = 7;
    if (PMPI_Abi_get_version(&major, &minor) != MPI_SUCCESS || major != -1 || minor != -1) {
        printf("rank %d: %d.%d\n", rank, major, minor);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    printf("rank %d: no version of the standard ABI\n", rank);
    MPI_Finalize();
    return 0;
}
