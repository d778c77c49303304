// ranks: 1 2 4 6 12
/* Cartesian topologies: coordinates and ranks, shifts, borders, sub-grids, duplicates, the rank without a
 * place. MPI-5.0 section 8.5. */
#include "check.h"

static int kind(MPI_Comm comm)
{
    int status = -1;
    OK(MPI_Topo_test(comm, &status));
    return status;
}

static MPI_Comm make(int ndims, const int *dims, const int *periods)
{
    MPI_Comm cart = MPI_COMM_WORLD;
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &cart));
    return cart;
}

/* A grid without places has none for any rank; MPI_Dims_create makes sizes that are close to each other. */
static void sizes(void)
{
    static const struct { int nodes, ndims, wanted[4]; } cases[] = {
        {7488, 3, {26, 18, 16}}, {6, 2, {3, 2}}, {7, 3, {7, 1, 1}}, {1 << 30, 3, {1024, 1024, 1024}},
        {2147483647, 4, {2147483647, 1, 1, 1}}, {2095133040, 4, {221, 216, 210, 209}}};
    int dims[4] = {0, size, 0, 1}, periods[4] = {0, 0, 0, 0}, place = -5;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 4, dims, periods, &place));
    EQUAL(place, MPI_UNDEFINED);
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims + 2, periods, &place));
    EQUAL(place, MPI_UNDEFINED);
    for (unsigned c = 0; c < sizeof cases / sizeof *cases; c++) {
        long long product = 1;
        memset(dims, 0, sizeof dims);
        OK(MPI_Dims_create(cases[c].nodes, cases[c].ndims, dims));
        for (int i = 0; i < cases[c].ndims; i++) {
            product *= dims[i];
            if (cases[c].wanted[i]) EQUAL(dims[i], cases[c].wanted[i]);
            if (i > 0) CHECK(dims[i] <= dims[i - 1], "%d after %d", dims[i], dims[i - 1]);
        }
        EQUAL(product, cases[c].nodes);
    }
    /* Given sizes stay where they are. */
    dims[0] = 0, dims[1] = 5, dims[2] = dims[3] = 0;
    OK(MPI_Dims_create(5 * 7488, 4, dims));
    CHECK(dims[0] == 26 && dims[1] == 5 && dims[2] == 18 && dims[3] == 16, "%d %d %d %d", dims[0], dims[1], dims[2], dims[3]);
}

static void plane(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0}, got_dims[2], got_periods[2], coords[2], all, ndims = 0, r = -1, n;
    OK(MPI_Dims_create(size, 2, dims));
    EQUAL(dims[0] * dims[1], size);
    CHECK(dims[0] >= dims[1], "%d x %d", dims[0], dims[1]);
    MPI_Comm cart = make(2, dims, periods);
    EQUAL(kind(cart), MPI_CART);
    EQUAL(kind(MPI_COMM_WORLD), MPI_UNDEFINED);
    OK(MPI_Cartdim_get(cart, &ndims));
    EQUAL(ndims, 2);
    OK(MPI_Comm_rank(cart, &r));
    OK(MPI_Comm_size(cart, &n));
    EQUAL(n, size);
    OK(MPI_Cart_get(cart, 2, got_dims, got_periods, coords));
    for (int i = 0; i < 2; i++) {
        EQUAL(got_dims[i], dims[i]);
        EQUAL(got_periods[i], periods[i]);
    }
    EQUAL(coords[0] * dims[1] + coords[1], r);
    for (int i = 0; i < n; i++) {
        int back = -1;
        OK(MPI_Cart_coords(cart, i, 2, coords));
        OK(MPI_Cart_rank(cart, coords, &back));
        EQUAL(back, i);
        coords[0] -= 3 * dims[0];
        OK(MPI_Cart_rank(cart, coords, &back));
        EQUAL(back, i);
    }
    /* Everybody sends its rank along both dimensions; the border gets nothing. */
    for (int direction = 0; direction < 2; direction++) {
        for (int step = -2; step <= 2; step++) {
            int from = -9, to = -9, value = -1;
            OK(MPI_Cart_coords(cart, r, 2, coords));
            OK(MPI_Cart_shift(cart, direction, step, &from, &to));
            int other = coords[direction] - step, wanted = r + (direction ? -step : -step * dims[1]);
            if (direction == 0) {
                other = ((other % dims[0]) + dims[0]) % dims[0];
                wanted = other * dims[1] + coords[1];
            } else if (other < 0 || other >= dims[1]) {
                wanted = MPI_PROC_NULL;
            }
            EQUAL(from, wanted);
            OK(MPI_Sendrecv(&r, 1, MPI_INT, to, 3, &value, 1, MPI_INT, from, 3, cart, MPI_STATUS_IGNORE));
            EQUAL(value, from == MPI_PROC_NULL ? -1 : from);
        }
    }
    /* A duplicate has the topology, a split has none. */
    MPI_Comm other;
    OK(MPI_Comm_dup(cart, &other));
    EQUAL(kind(other), MPI_CART);
    OK(MPI_Cart_rank(other, (int[]){dims[0] - 1, dims[1] - 1}, &all));
    EQUAL(all, size - 1);
    OK(MPI_Comm_free(&other));
    MPI_Request request;
    OK(MPI_Comm_idup(cart, &other, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(kind(other), MPI_CART);
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_split(cart, 0, 0, &other));
    EQUAL(kind(other), MPI_UNDEFINED);
    OK(MPI_Comm_free(&other));

    /* Rows, columns, points. */
    OK(MPI_Cart_coords(cart, r, 2, coords));
    for (int mask = 0; mask < 4; mask++) {
        int remain[2] = {mask & 1, mask & 2}, sub_rank, sub_size, sum = -1;
        MPI_Comm sub;
        OK(MPI_Cart_sub(cart, remain, &sub));
        OK(MPI_Comm_rank(sub, &sub_rank));
        OK(MPI_Comm_size(sub, &sub_size));
        EQUAL(sub_size, (remain[0] ? dims[0] : 1) * (remain[1] ? dims[1] : 1));
        EQUAL(sub_rank, (remain[0] ? coords[0] * (remain[1] ? dims[1] : 1) : 0) + (remain[1] ? coords[1] : 0));
        EQUAL(kind(sub), MPI_CART);
        OK(MPI_Cartdim_get(sub, &ndims));
        EQUAL(ndims, (remain[0] != 0) + (remain[1] != 0));
        if (mask == 1) {
            OK(MPI_Cart_get(sub, 1, got_dims, got_periods, got_dims + 1));
            EQUAL(got_dims[0], dims[0]);
            EQUAL(got_periods[0], 1);
            EQUAL(got_dims[1], coords[0]);
            OK(MPI_Allreduce(coords + 1, &sum, 1, MPI_INT, MPI_SUM, sub));
            EQUAL(sum, coords[1] * sub_size);
        }
        OK(MPI_Comm_free(&sub));
    }
    OK(MPI_Comm_free(&cart));
}

static void unusual(void)
{
    int none = 0, ndims = -1, one = 1, newrank = -1, status = 0;
    /* No dimensions: a grid of rank 0 alone. */
    MPI_Comm cart = make(0, &none, &none);
    EQUAL(cart == MPI_COMM_NULL, rank != 0);
    if (rank == 0) {
        OK(MPI_Cartdim_get(cart, &ndims));
        EQUAL(ndims, 0);
        OK(MPI_Cart_rank(cart, NULL, &newrank));
        EQUAL(newrank, 0);
        OK(MPI_Cart_get(cart, 0, NULL, NULL, NULL));
        OK(MPI_Cart_coords(cart, 0, 0, NULL));
        CHECK(MPI_Cart_shift(cart, 0, 1, &none, &one) != MPI_SUCCESS, "shifted along no dimension");
        OK(MPI_Comm_free(&cart));
    }
    /* One place less than ranks. */
    int less = size > 1 ? size - 1 : 1, periodic = 1;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 1, &less, &periodic, &newrank));
    EQUAL(newrank, rank < less ? rank : MPI_UNDEFINED);
    cart = make(1, &less, &periodic);
    EQUAL(cart == MPI_COMM_NULL, rank >= less);
    if (cart != MPI_COMM_NULL) {
        int from, to;
        OK(MPI_Cart_shift(cart, 0, 1, &from, &to));
        EQUAL(to, (rank + 1) % less);
        EQUAL(from, (rank + less - 1) % less);
        OK(MPI_Topo_test(cart, &status));
        EQUAL(status, MPI_CART);
        OK(MPI_Comm_free(&cart));
    }
    EQUAL(cart == MPI_COMM_NULL, 1);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    plane();
    unusual();
    sizes();
    return check_end();
}
