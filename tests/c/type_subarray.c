// ranks: 2
// timeout: 90
/* MPI_Type_create_subarray: blocks of arrays with one to four dimensions, in both orders. MPI-5.0 section 5.1.3. */
#include "type_check.h"

enum { MOST = 4 };

/* Walks the block in the order of the type map: the last dimension is the fastest in C, the first in Fortran. */
static void block(int ndims, const int *sizes, const int *parts, const int *starts, int order)
{
    int index[MOST] = {0}, ints[2 + 3 * MOST], integers = 0;
    MPI_Count counts[3 * MOST], sizes_c[MOST], parts_c[MOST], starts_c[MOST];
    MPI_Aint whole = 8, low = 0, high = 0;
    MPI_Datatype type;
    type_begin();
    for (;;) {
        MPI_Aint at = 0;
        for (int d = 0; d < ndims; d++) {
            int dim = order == MPI_ORDER_C ? d : ndims - 1 - d;
            at = at * sizes[dim] + starts[dim] + index[dim];
        }
        if (type_count == 0) low = at * 8;
        high = at * 8 + 8;
        type_at(at * 8, 8);
        int d = 0;
        for (; d < ndims; d++) {
            int dim = order == MPI_ORDER_C ? ndims - 1 - d : d;
            if (++index[dim] < parts[dim]) break;
            index[dim] = 0;
        }
        if (d == ndims) break;
    }
    ints[integers++] = ndims;
    for (int d = 0; d < ndims; d++) ints[integers++] = sizes[d];
    for (int d = 0; d < ndims; d++) ints[integers++] = parts[d];
    for (int d = 0; d < ndims; d++) ints[integers++] = starts[d];
    ints[integers++] = order;
    for (int d = 0; d < ndims; d++) {
        whole *= sizes[d];
        counts[d] = sizes_c[d] = sizes[d];
        counts[ndims + d] = parts_c[d] = parts[d];
        counts[2 * ndims + d] = starts_c[d] = starts[d];
    }
    OK(MPI_Type_create_subarray(ndims, sizes, parts, starts, order, MPI_DOUBLE, &type));
    type_measures(type, type_count * 8, 0, whole, low, high - low);
    type_made_by(type, MPI_COMBINER_SUBARRAY, integers, ints, 0, NULL, 1, (MPI_Datatype[]){MPI_DOUBLE});
    type_moves(type, MPI_DOUBLE);
    OK(MPI_Type_create_subarray_c(ndims, sizes_c, parts_c, starts_c, order, MPI_DOUBLE, &type));
    type_measures(type, type_count * 8, 0, whole, low, high - low);
    type_made_by_c(type, MPI_COMBINER_SUBARRAY, 2, (int[]){ndims, order}, 3 * ndims, counts, 1,
                   (MPI_Datatype[]){MPI_DOUBLE});
    type_moves(type, MPI_DOUBLE);
}

int main(int argc, char **argv)
{
    const int orders[] = {MPI_ORDER_C, MPI_ORDER_FORTRAN};
    MPI_Datatype pair, type;
    check_start(&argc, &argv);
    for (int i = 0; i < 2; i++) {
        block(1, (int[]){9}, (int[]){4}, (int[]){3}, orders[i]);
        block(2, (int[]){5, 7}, (int[]){2, 3}, (int[]){3, 1}, orders[i]);
        block(2, (int[]){5, 7}, (int[]){5, 7}, (int[]){0, 0}, orders[i]);
        block(3, (int[]){4, 5, 6}, (int[]){2, 5, 3}, (int[]){1, 0, 2}, orders[i]);
        block(3, (int[]){20, 20, 20}, (int[]){20, 20, 1}, (int[]){0, 0, 7}, orders[i]);
        block(3, (int[]){20, 20, 20}, (int[]){1, 20, 20}, (int[]){7, 0, 0}, orders[i]);
        block(3, (int[]){20, 20, 20}, (int[]){20, 1, 20}, (int[]){0, 7, 0}, orders[i]);
        block(4, (int[]){3, 4, 2, 5}, (int[]){2, 1, 2, 3}, (int[]){0, 3, 0, 2}, orders[i]);
    }
    /* Of elements with a gap: the array is one of their extents. */
    type_begin();
    for (int i = 1; i < 3; i++)
        for (int j = 2; j < 5; j++) {
            type_at((i * 6 + j) * 12, 4);
            type_at((i * 6 + j) * 12 + 8, 4);
        }
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
    OK(MPI_Type_create_subarray(2, (int[]){4, 6}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, pair, &type));
    OK(MPI_Type_free(&pair));
    type_measures(type, 48, 0, 288, 96, 108);
    type_moves(type, MPI_INT);
    return check_end();
}
