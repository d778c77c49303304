/* types.c: calls about a datatype that the program has made: its size and extent, making one, packing an element of it. Run under callgrind by
 * `cargo xtask test`, which counts the instructions of the calls. Usage: types COUNT. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    int numbers[16] = {0}, size, position;
    char packed[64];
    MPI_Aint lb, extent;
    MPI_Datatype vector;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < count; i++) {
        MPI_Type_vector(4, 1, 2, MPI_INT, &vector);
        MPI_Type_commit(&vector);
        MPI_Type_size(vector, &size);
        MPI_Type_get_extent(vector, &lb, &extent);
        position = 0;
        MPI_Pack(numbers, 1, vector, packed, sizeof packed, &position, MPI_COMM_SELF);
        if (size != 16 || extent != 28 || position != 16) MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Type_free(&vector);
    }
    MPI_Finalize();
    return 0;
}
