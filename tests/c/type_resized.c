// ranks: 2
// timeout: 90
/* MPI_Type_create_resized: bounds narrower and wider than the data, and whose bounds win in types made from it.
 * MPI-5.0 section 5.1.7. */
#include "type_check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type, wide, column;
    check_start(&argc, &argv);
    type_begin();
    type_at(0, 4);
    OK(MPI_Type_create_resized(MPI_INT, -4, 20, &type));
    type_measures(type, 4, -4, 20, 0, 4);
    type_made_by(type, MPI_COMBINER_RESIZED, 0, NULL, 2, (MPI_Aint[]){-4, 20}, 1, (MPI_Datatype[]){MPI_INT});
    type_moves(type, MPI_INT);
    OK(MPI_Type_create_resized_c(MPI_INT, -4, 20, &type));
    type_measures(type, 4, -4, 20, 0, 4);
    type_made_by_c(type, MPI_COMBINER_RESIZED, 0, NULL, 2, (MPI_Count[]){-4, 20}, 1, (MPI_Datatype[]){MPI_INT});
    type_moves(type, MPI_INT);

    /* Columns of a matrix of 30 x 8 ints that follow each other at the distance of one int: a transpose. */
    type_begin();
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 30; i++) type_at((i * 8 + j) * 4, 4);
    OK(MPI_Type_vector(30, 1, 8, MPI_INT, &type));
    OK(MPI_Type_create_resized(type, 0, 4, &column));
    OK(MPI_Type_free(&type));
    type_measures(column, 120, 0, 4, 0, 29 * 32 + 4);
    OK(MPI_Type_contiguous(8, column, &type));
    OK(MPI_Type_free(&column));
    type_measures(type, 960, 0, 32, 0, 960);
    type_moves_alone(type, MPI_INT);

    /* Resized once more: the last word counts. An array that grows downwards. */
    OK(MPI_Type_create_resized(MPI_DOUBLE, 0, 64, &wide));
    OK(MPI_Type_create_resized(wide, 0, -16, &type));
    OK(MPI_Type_free(&wide));
    type_begin();
    type_at(0, 8);
    type_measures(type, 8, 0, -16, 0, 8);
    type_moves(type, MPI_DOUBLE);
    return check_end();
}
