// ranks: 2
// timeout: 90
/* MPI_Type_create_indexed_block: blocks of one length in any order. MPI-5.0 section 5.1.2. */
#include "type_check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type;
    static const int places[] = {9, 0, -5, 30, 3};
    static const MPI_Count places_c[] = {9, 0, -5, 30, 3};
    check_start(&argc, &argv);
    type_begin();
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 3; j++) type_at((places[i] + j) * 2, 2);
    OK(MPI_Type_create_indexed_block(5, 3, places, MPI_SHORT, &type));
    type_measures(type, 30, -10, 76, -10, 76);
    type_made_by(type, MPI_COMBINER_INDEXED_BLOCK, 7, (int[]){5, 3, 9, 0, -5, 30, 3}, 0, NULL, 1,
                 (MPI_Datatype[]){MPI_SHORT});
    type_moves(type, MPI_SHORT);
    OK(MPI_Type_create_indexed_block_c(5, 3, places_c, MPI_SHORT, &type));
    type_measures(type, 30, -10, 76, -10, 76);
    type_made_by_c(type, MPI_COMBINER_INDEXED_BLOCK, 0, NULL, 7, (MPI_Count[]){5, 3, 9, 0, -5, 30, 3}, 1,
                   (MPI_Datatype[]){MPI_SHORT});
    type_moves(type, MPI_SHORT);

    /* Many single doubles at places without order. */
    static int many[10000];
    unsigned seed = 12345;
    for (int i = 0; i < 10000; i++) many[i] = 2 * i;
    for (int i = 9999; i > 0; i--) {
        int other = (int)((seed = seed * 1664525u + 1013904223u) >> 8) % (i + 1), kept = many[i];
        many[i] = many[other];
        many[other] = kept;
    }
    type_begin();
    for (int i = 0; i < 10000; i++) type_at(many[i] * 8, 8);
    OK(MPI_Type_create_indexed_block(10000, 1, many, MPI_DOUBLE, &type));
    type_measures(type, 80000, 0, 19999 * 8, 0, 19999 * 8);
    type_moves(type, MPI_DOUBLE);

    type_begin();
    OK(MPI_Type_create_indexed_block(2, 0, places, MPI_SHORT, &type));
    type_measures(type, 0, 0, 0, 0, 0);
    type_moves(type, MPI_SHORT);
    return check_end();
}
