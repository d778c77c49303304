// ranks: 2
// timeout: 90
/* MPI_Type_create_hvector: strides in bytes, odd ones too. MPI-5.0 section 5.1.2. */
#include "type_check.h"

static void hvector(int count, int length, MPI_Aint stride, int lb, int extent)
{
    MPI_Datatype type;
    MPI_Aint true_extent = count > 0 && length > 0 ? labs(stride) * (count - 1) + length * 4 : 0;
    for (int large = 0; large < 2; large++) {
        type_begin();
        for (int i = 0; i < count; i++)
            for (int j = 0; j < length; j++) type_at(i * stride + j * 4, 4);
        if (large) {
            OK(MPI_Type_create_hvector_c(count, length, stride, MPI_INT, &type));
            type_made_by_c(type, MPI_COMBINER_HVECTOR, 0, NULL, 3, (MPI_Count[]){count, length, stride}, 1,
                           (MPI_Datatype[]){MPI_INT});
        } else {
            OK(MPI_Type_create_hvector(count, length, stride, MPI_INT, &type));
            type_made_by(type, MPI_COMBINER_HVECTOR, 2, (int[]){count, length}, 1, (MPI_Aint[]){stride}, 1,
                         (MPI_Datatype[]){MPI_INT});
        }
        type_measures(type, 4L * count * length, lb, extent, lb, true_extent);
        type_moves(type, MPI_INT);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype row, type;
    check_start(&argc, &argv);
    hvector(4, 1, 12, 0, 40);
    hvector(3, 2, 8, 0, 24);
    hvector(3, 2, -20, -40, 48);
    hvector(0, 2, 20, 0, 0);
    hvector(2, 0, 20, 0, 0);
    hvector(100, 3, 16, 0, 1596);

    /* A stride that is no multiple of the element: the extent is rounded up to its alignment. */
    type_begin();
    for (int i = 0; i < 5; i++) type_at(i * 7, 4);
    OK(MPI_Type_create_hvector(5, 1, 7, MPI_INT, &type));
    type_measures(type, 20, 0, 32, 0, 32);
    type_moves(type, MPI_INT);

    /* Every second plane of an array of 6 x 5 x 4 bytes, without its last column. */
    type_begin();
    for (int i = 0; i < 6; i += 2)
        for (int j = 0; j < 5; j++)
            for (int k = 0; k < 3; k++) type_at((i * 5 + j) * 4 + k, 1);
    OK(MPI_Type_create_hvector(5, 3, 4, MPI_CHAR, &row));
    OK(MPI_Type_create_hvector(3, 1, 40, row, &type));
    OK(MPI_Type_free(&row));
    type_measures(type, 45, 0, 99, 0, 99);
    type_moves(type, MPI_CHAR);
    return check_end();
}
