// ranks: 1
// alone
// only: posthaste
// env: POSTHASTE_SHOW_TYPES=1
// says: rank 0 commits MPI_Type_vector (size 80, lower bound 0, extent 152), true lower bound 0, true extent 152, 10 runs of 8.0 bytes on average: @0 10 x +16 (8)
// says: rank 0 commits a face (size 512, lower bound 0, extent 4096), true lower bound 24, true extent 4040, 64 runs of 8.0 bytes on average: @24 64 x +64 (8)
// says: rank 0 commits MPI_Type_create_struct (size 13, lower bound 0, extent 24), true lower bound 0, true extent 20, 2 runs of 6.5 bytes on average: @0 [@0 (1) @8 (12)]
// says: rank 0 commits MPI_Type_contiguous (size 0, lower bound 0, extent 0), true lower bound 0, true extent 0, 0 runs of 0.0 bytes on average: nothing
/* POSTHASTE_SHOW_TYPES: what each type became, on stderr, once. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type;
    check_start(&argc, &argv);
    OK(MPI_Type_vector(10, 1, 2, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_subarray(3, (int[]){8, 8, 8}, (int[]){8, 8, 1}, (int[]){0, 0, 3}, MPI_ORDER_C, MPI_DOUBLE, &type));
    OK(MPI_Type_set_name(type, "a face"));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 8, 16},
                              (MPI_Datatype[]){MPI_CHAR, MPI_DOUBLE, MPI_INT}, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_contiguous(0, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_free(&type));
    type = MPI_INT;
    OK(MPI_Type_commit(&type));
    return check_end();
}
