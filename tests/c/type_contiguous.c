// ranks: 2
// timeout: 90
/* MPI_Type_contiguous, also of types with gaps and of none. MPI-5.0 section 5.1.2. */
#include "type_check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type, gapped;
    check_start(&argc, &argv);

    type_begin();
    for (int i = 0; i < 7; i++) type_at(i * 4, 4);
    OK(MPI_Type_contiguous(7, MPI_INT, &type));
    type_measures(type, 28, 0, 28, 0, 28);
    type_made_by(type, MPI_COMBINER_CONTIGUOUS, 1, (int[]){7}, 0, NULL, 1, (MPI_Datatype[]){MPI_INT});
    type_moves(type, MPI_INT);
    OK(MPI_Type_contiguous_c(7, MPI_INT, &type));
    type_measures(type, 28, 0, 28, 0, 28);
    type_made_by_c(type, MPI_COMBINER_CONTIGUOUS, 0, NULL, 1, (MPI_Count[]){7}, 1, (MPI_Datatype[]){MPI_INT});
    type_moves(type, MPI_INT);

    /* Two shorts every twelve bytes, beginning two bytes after the origin. */
    OK(MPI_Type_create_hindexed_block(2, 1, (MPI_Aint[]){2, 6}, MPI_SHORT, &type));
    OK(MPI_Type_create_resized(type, 0, 12, &gapped));
    OK(MPI_Type_free(&type));
    type_begin();
    for (int i = 0; i < 5; i++) {
        type_at(i * 12 + 2, 2);
        type_at(i * 12 + 6, 2);
    }
    OK(MPI_Type_contiguous(5, gapped, &type));
    OK(MPI_Type_free(&gapped));
    type_measures(type, 20, 0, 60, 2, 54);
    type_made_by(type, MPI_COMBINER_CONTIGUOUS, 1, (int[]){5}, 0, NULL, 1, NULL);
    type_moves(type, MPI_SHORT);

    /* Nothing. */
    type_begin();
    OK(MPI_Type_contiguous(0, MPI_DOUBLE, &type));
    type_measures(type, 0, 0, 0, 0, 0);
    type_made_by(type, MPI_COMBINER_CONTIGUOUS, 1, (int[]){0}, 0, NULL, 1, (MPI_Datatype[]){MPI_DOUBLE});
    type_moves(type, MPI_DOUBLE);
    return check_end();
}
