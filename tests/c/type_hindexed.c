// ranks: 2
// timeout: 90
/* MPI_Type_create_hindexed: displacements in bytes; absolute addresses with MPI_BOTTOM. MPI-5.0 section 5.1.2. */
#include "type_check.h"

static const int lengths[] = {3, 1, 2};
static const MPI_Aint places[] = {64, -16, 4};
static const MPI_Count lengths_c[] = {3, 1, 2}, places_c[] = {64, -16, 4};

static void from_bottom(void)
{
    static int far[8], near[8];
    MPI_Aint at[2];
    MPI_Datatype type;
    OK(MPI_Get_address(far + 2, &at[0]));
    OK(MPI_Get_address(near, &at[1]));
    OK(MPI_Type_create_hindexed(2, (int[]){3, 2}, at, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 8; i++) {
        far[i] = rank == 0 ? i : -1;
        near[i] = rank == 0 ? 100 + i : -1;
    }
    if (rank == 0) OK(MPI_Send(MPI_BOTTOM, 1, type, 1, 4, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv(MPI_BOTTOM, 1, type, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 8; i++) {
            EQUAL(far[i], i >= 2 && i < 5 ? i : -1);
            EQUAL(near[i], i < 2 ? 100 + i : -1);
        }
    }
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    MPI_Datatype type, column;
    check_start(&argc, &argv);
    type_begin();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < lengths[i]; j++) type_at(places[i] + j * 4, 4);
    OK(MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &type));
    type_measures(type, 24, -16, 92, -16, 92);
    type_made_by(type, MPI_COMBINER_HINDEXED, 4, (int[]){3, 3, 1, 2}, 3, places, 1, (MPI_Datatype[]){MPI_INT});
    type_moves(type, MPI_INT);
    OK(MPI_Type_create_hindexed_c(3, lengths_c, places_c, MPI_INT, &type));
    type_measures(type, 24, -16, 92, -16, 92);
    type_made_by_c(type, MPI_COMBINER_HINDEXED, 0, NULL, 7, (MPI_Count[]){3, 3, 1, 2, 64, -16, 4}, 1,
                   (MPI_Datatype[]){MPI_INT});
    type_moves(type, MPI_INT);

    /* The transpose of a matrix of 6 x 4 doubles: columns, one after the other. */
    MPI_Aint starts[4];
    type_begin();
    for (int j = 0; j < 4; j++) {
        starts[j] = j * 8;
        for (int i = 0; i < 6; i++) type_at((i * 4 + j) * 8, 8);
    }
    OK(MPI_Type_vector(6, 1, 4, MPI_DOUBLE, &column));
    OK(MPI_Type_create_hindexed(4, (int[]){1, 1, 1, 1}, starts, column, &type));
    OK(MPI_Type_free(&column));
    type_measures(type, 192, 0, 192, 0, 192);
    type_made_by(type, MPI_COMBINER_HINDEXED, 5, (int[]){4, 1, 1, 1, 1}, 4, starts, 1, NULL);
    type_moves(type, MPI_DOUBLE);
    from_bottom();
    return check_end();
}
