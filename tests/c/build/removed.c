/* removed.c: names that MPI-3.0 removed. They compile, and the compiler warns of each by the name of what replaced it;
 * built by `cargo xtask test` (part `headers`), never run. What they do is tested by removed_names.c. */
#include <mpi.h>

int main(void)
{
    int lengths[1] = {1}, combiner = 0;
    MPI_Aint place = 0;
    MPI_Datatype types[1] = {MPI_UB}, type;
    MPI_Handler_function *handler = 0;
    MPI_Errhandler errhandler;
    MPI_Address(&place, &place);
    MPI_Type_struct(1, lengths, &place, types, &type);
    MPI_Errhandler_create(handler, &errhandler);
    return combiner == MPI_COMBINER_STRUCT_INTEGER;
}
