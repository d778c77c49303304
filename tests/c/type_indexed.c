// ranks: 2
// timeout: 90
/* MPI_Type_indexed: blocks in any order, empty ones among them, behind the origin and before it.
 * MPI-5.0 section 5.1.2. */
#include "type_check.h"

static const int lengths[] = {2, 0, 1, 3, 1}, places[] = {10, 99, -2, 4, 0};
static const MPI_Count lengths_c[] = {2, 0, 1, 3, 1}, places_c[] = {10, 99, -2, 4, 0};

static void ours(int width)
{
    type_begin();
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < lengths[i]; j++) type_at((places[i] + j) * width, width);
}

int main(int argc, char **argv)
{
    MPI_Datatype type, pair;
    check_start(&argc, &argv);
    ours(4);
    OK(MPI_Type_indexed(5, lengths, places, MPI_FLOAT, &type));
    type_measures(type, 28, -8, 56, -8, 56);
    type_made_by(type, MPI_COMBINER_INDEXED, 11, (int[]){5, 2, 0, 1, 3, 1, 10, 99, -2, 4, 0}, 0, NULL, 1,
                 (MPI_Datatype[]){MPI_FLOAT});
    type_moves(type, MPI_FLOAT);
    OK(MPI_Type_indexed_c(5, lengths_c, places_c, MPI_FLOAT, &type));
    type_measures(type, 28, -8, 56, -8, 56);
    type_made_by_c(type, MPI_COMBINER_INDEXED, 0, NULL, 11, (MPI_Count[]){5, 2, 0, 1, 3, 1, 10, 99, -2, 4, 0}, 1,
                   (MPI_Datatype[]){MPI_FLOAT});
    type_moves(type, MPI_FLOAT);

    /* Blocks of a type with a gap; displacements are in its extent, 3 shorts. */
    type_begin();
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < lengths[i]; j++) {
            type_at((places[i] + j) * 6, 2);
            type_at((places[i] + j) * 6 + 4, 2);
        }
    OK(MPI_Type_vector(2, 1, 2, MPI_SHORT, &pair));
    OK(MPI_Type_indexed(5, lengths, places, pair, &type));
    OK(MPI_Type_free(&pair));
    type_measures(type, 28, -12, 84, -12, 84);
    type_moves(type, MPI_SHORT);

    /* The upper triangle of a matrix, as in the standard's example. */
    int rows[50], starts[50];
    type_begin();
    for (int i = 0; i < 50; i++) {
        rows[i] = 50 - i;
        starts[i] = i * 50 + i;
        for (int j = i; j < 50; j++) type_at((i * 50 + j) * 8, 8);
    }
    OK(MPI_Type_indexed(50, rows, starts, MPI_DOUBLE, &type));
    type_measures(type, 1275 * 8, 0, 2500 * 8, 0, 2500 * 8);
    type_moves(type, MPI_DOUBLE);

    type_begin();
    OK(MPI_Type_indexed(0, NULL, NULL, MPI_DOUBLE, &type));
    type_measures(type, 0, 0, 0, 0, 0);
    type_moves(type, MPI_DOUBLE);
    return check_end();
}
