// ranks: 2
// timeout: 90
/* MPI_Type_vector: strides longer than the block, as long, shorter, negative; vectors of vectors; no blocks.
 * MPI-5.0 section 5.1.2. */
#include "type_check.h"

static void vector(int count, int length, int stride, int lb, int extent)
{
    MPI_Datatype type;
    MPI_Aint bytes = 8L * count * length;
    for (int large = 0; large < 2; large++) {
        type_begin();
        for (int i = 0; i < count; i++)
            for (int j = 0; j < length; j++) type_at((i * stride + j) * 8, 8);
        if (large) {
            OK(MPI_Type_vector_c(count, length, stride, MPI_DOUBLE, &type));
            type_made_by_c(type, MPI_COMBINER_VECTOR, 0, NULL, 3, (MPI_Count[]){count, length, stride}, 1,
                           (MPI_Datatype[]){MPI_DOUBLE});
        } else {
            OK(MPI_Type_vector(count, length, stride, MPI_DOUBLE, &type));
            type_made_by(type, MPI_COMBINER_VECTOR, 3, (int[]){count, length, stride}, 0, NULL, 1,
                         (MPI_Datatype[]){MPI_DOUBLE});
        }
        type_measures(type, bytes, lb, extent, lb, extent);
        type_moves(type, MPI_DOUBLE);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype inner, type;
    check_start(&argc, &argv);
    vector(4, 1, 3, 0, 80);
    vector(5, 2, 7, 0, 240);
    vector(3, 4, 4, 0, 96);
    vector(6, 1, -2, -80, 88);
    vector(3, 2, -5, -80, 96);
    vector(1, 3, 100, 0, 24);
    vector(0, 3, 2, 0, 0);
    vector(3, 0, 2, 0, 0);
    vector(200, 1, 2, 0, 3192);

    /* Sending may read a place more than once: blocks that overlap. */
    type_begin();
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 3; j++) type_at((i + j) * 8, 8);
    OK(MPI_Type_vector(4, 3, 1, MPI_DOUBLE, &type));
    type_measures(type, 96, 0, 48, 0, 48);
    OK(MPI_Type_commit(&type));
    double values[6] = {0, 1, 2, 3, 4, 5}, got[12];
    if (rank == 0) OK(MPI_Send(values, 1, type, 1, 9, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv(got, 12, MPI_DOUBLE, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 12; i++) EQUAL(got[i], type_places[i] / 8);
    }
    OK(MPI_Type_free(&type));

    /* A vector of vectors: strides are in extents of the inner one, 5 doubles. */
    type_begin();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 3; k++) type_at(((i * 4 + j) * 5 + k * 2) * 8, 8);
    OK(MPI_Type_vector(3, 1, 2, MPI_DOUBLE, &inner));
    OK(MPI_Type_vector(3, 2, 4, inner, &type));
    OK(MPI_Type_free(&inner));
    type_measures(type, 144, 0, 400, 0, 400);
    type_moves(type, MPI_DOUBLE);
    return check_end();
}
