// ranks: 2
// timeout: 90
/* MPI_Type_create_hindexed_block: blocks of one length at displacements in bytes. MPI-5.0 section 5.1.2. */
#include "type_check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type, pair;
    static const MPI_Aint places[] = {40, -24, 3};
    static const MPI_Count places_c[] = {40, -24, 3};
    check_start(&argc, &argv);
    type_begin();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) type_at(places[i] + j, 1);
    OK(MPI_Type_create_hindexed_block(3, 2, places, MPI_BYTE, &type));
    type_measures(type, 6, -24, 66, -24, 66);
    type_made_by(type, MPI_COMBINER_HINDEXED_BLOCK, 2, (int[]){3, 2}, 3, places, 1, (MPI_Datatype[]){MPI_BYTE});
    type_moves(type, MPI_BYTE);
    OK(MPI_Type_create_hindexed_block_c(3, 2, places_c, MPI_BYTE, &type));
    type_measures(type, 6, -24, 66, -24, 66);
    type_made_by_c(type, MPI_COMBINER_HINDEXED_BLOCK, 0, NULL, 5, (MPI_Count[]){3, 2, 40, -24, 3}, 1,
                   (MPI_Datatype[]){MPI_BYTE});
    type_moves(type, MPI_BYTE);

    /* Blocks of a type with a gap. */
    type_begin();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++) {
            type_at(places[i] + j * 12, 4);
            type_at(places[i] + j * 12 + 8, 4);
        }
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
    OK(MPI_Type_create_hindexed_block(3, 2, places, pair, &type));
    OK(MPI_Type_free(&pair));
    type_measures(type, 48, -24, 88, -24, 88);
    type_moves_alone(type, MPI_INT);
    return check_end();
}
