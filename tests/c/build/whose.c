/* Says which rank of how many it is and whose library it runs with; with an argument, rank 0 then runs that
 * command, as programs do that call system(). For launchers and environments of every kind. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    int rank, size, sum, length, status = 0;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = 0;
    printf("rank %d of %d, sum %d, %s\n", rank, size, sum, library);
    fflush(stdout);
    if (argc > 1 && rank == 0)
        status = system(argv[1]);
    MPI_Finalize();
    return status != 0;
}
