/* darray_check.h: what the tests of distributed arrays share: every rank's part of an array is built, taken apart and
 * moved, and compared with a loop over all elements that asks who owns them. Together the ranks own each once. */
#ifndef DARRAY_CHECK_H
#define DARRAY_CHECK_H

#include "type_check.h"

enum { MOST = 3, ANY = MPI_DISTRIBUTE_DFLT_DARG };

struct dimension {
    int size, distribution, darg, processes;
};

/* The process along a dimension that owns an index. */
static int owner(const struct dimension *d, int index)
{
    int block = d->darg;
    if (d->distribution == MPI_DISTRIBUTE_NONE) return 0;
    if (d->distribution == MPI_DISTRIBUTE_BLOCK) {
        if (block == MPI_DISTRIBUTE_DFLT_DARG) block = (d->size + d->processes - 1) / d->processes;
        return index / block;
    }
    if (block == MPI_DISTRIBUTE_DFLT_DARG) block = 1;
    return index / block % d->processes;
}

static char owned[TYPE_MOST];

static MPI_Datatype make(int ranks, int at, int ndims, const struct dimension *array, int order, int large)
{
    int sizes[MOST], distributions[MOST], dargs[MOST], grid[MOST], ints[4 + 4 * MOST], n = 0;
    MPI_Count sizes_c[MOST];
    MPI_Datatype type;
    for (int d = 0; d < ndims; d++) {
        sizes_c[d] = sizes[d] = array[d].size;
        distributions[d] = array[d].distribution;
        dargs[d] = array[d].darg;
        grid[d] = array[d].processes;
    }
    ints[n++] = ranks;
    ints[n++] = at;
    ints[n++] = ndims;
    for (int d = 0; d < ndims && !large; d++) ints[n++] = sizes[d];
    for (int d = 0; d < ndims; d++) ints[n++] = distributions[d];
    for (int d = 0; d < ndims; d++) ints[n++] = dargs[d];
    for (int d = 0; d < ndims; d++) ints[n++] = grid[d];
    ints[n++] = order;
    if (large) {
        OK(MPI_Type_create_darray_c(ranks, at, ndims, sizes_c, distributions, dargs, grid, order, MPI_INT, &type));
        type_made_by_c(type, MPI_COMBINER_DARRAY, n, ints, ndims, sizes_c, 1, (MPI_Datatype[]){MPI_INT});
    } else {
        OK(MPI_Type_create_darray(ranks, at, ndims, sizes, distributions, dargs, grid, order, MPI_INT, &type));
        type_made_by(type, MPI_COMBINER_DARRAY, n, ints, 0, NULL, 1, (MPI_Datatype[]){MPI_INT});
    }
    return type;
}

static void array(int ndims, const struct dimension *array, int order)
{
    int ranks = 1, whole = 1;
    for (int d = 0; d < ndims; d++) {
        ranks *= array[d].processes;
        whole *= array[d].size;
    }
    memset(owned, 0, (size_t)whole);
    for (int at = 0; at < ranks; at++) {
        int place[MOST], rest = at, low = -1, high = -1;
        /* The grid is in row-major order, whatever the array is. */
        for (int d = ndims - 1; d >= 0; d--) {
            place[d] = rest % array[d].processes;
            rest /= array[d].processes;
        }
        type_begin();
        for (int i = 0; i < whole; i++) {
            int mine = 1, index = i;
            for (int k = 0; k < ndims; k++) {
                int d = order == MPI_ORDER_C ? ndims - 1 - k : k;
                mine &= owner(&array[d], index % array[d].size) == place[d];
                index /= array[d].size;
            }
            if (!mine) continue;
            type_at(i * 4, 4);
            owned[i]++;
            if (low < 0) low = i * 4;
            high = i * 4 + 4;
        }
        for (int large = 0; large < 2; large++) {
            MPI_Datatype type = make(ranks, at, ndims, array, order, large);
            type_measures(type, type_count * 4, 0, whole * 4, low, high - low);
            type_moves(type, MPI_INT);
        }
    }
    for (int i = 0; i < whole; i++) CHECK(owned[i] == 1, "element %d is owned %d times", i, owned[i]);
}

/* Dimensions in every distribution. */
static const struct dimension all[] = {
    {10, MPI_DISTRIBUTE_BLOCK, ANY, 3}, {10, MPI_DISTRIBUTE_BLOCK, 5, 3},  {4, MPI_DISTRIBUTE_BLOCK, ANY, 1},
    {9, MPI_DISTRIBUTE_CYCLIC, ANY, 2}, {5, MPI_DISTRIBUTE_NONE, ANY, 1},  {11, MPI_DISTRIBUTE_CYCLIC, 2, 2},
    {12, MPI_DISTRIBUTE_CYCLIC, 3, 2},  {5, MPI_DISTRIBUTE_CYCLIC, 2, 1},  {7, MPI_DISTRIBUTE_CYCLIC, 4, 2}};
enum { KINDS = sizeof all / sizeof *all };

#endif
