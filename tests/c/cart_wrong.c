// ranks: 1 4
// only: posthaste
/* Every argument of the Cartesian functions wrong in turn. MPI-5.0 section 8.5. */
#include "bad_check.h"

static void wrong(void)
{
    MPI_Comm w = MPI_COMM_WORLD, cart = w;
    int dims[2] = {size, 1}, periods[2] = {0, 0}, bad[2], out[2], x, y;
    BAD(MPI_ERR_COMM, "comm_old is MPI_COMM_NULL", MPI_Cart_create, MPI_COMM_NULL, 2, dims, periods, 0, &cart);
    BAD(MPI_ERR_ARG, "ndims is -1,", MPI_Cart_create, w, -1, dims, periods, 0, &cart);
    CHECK(cart == MPI_COMM_NULL, "a communicator was made");
    BAD(MPI_ERR_ARG, "dims is NULL", MPI_Cart_create, w, 2, NULL, periods, 0, &cart);
    BAD(MPI_ERR_ARG, "periods is NULL", MPI_Cart_create, w, 2, dims, NULL, 0, &cart);
    BAD(MPI_ERR_ARG, "comm_cart is NULL", MPI_Cart_create, w, 2, dims, periods, 0, NULL);
    bad[0] = size, bad[1] = 2;
    BAD(MPI_ERR_DIMS, "dims is [", MPI_Cart_create, w, 2, bad, periods, 0, &cart);
    bad[1] = 0;
    BAD(MPI_ERR_DIMS, "dims is 0 at index 1", MPI_Cart_create, w, 2, bad, periods, 0, &cart);
    bad[1] = -1;
    BAD(MPI_ERR_DIMS, "dims is -1 at index 1", MPI_Cart_create, w, 2, bad, periods, 0, &cart);
    BAD(MPI_ERR_DIMS, "dims is -1 at index 1", MPI_Cart_map, w, 2, bad, periods, &x);
    BAD(MPI_ERR_ARG, "newrank is NULL", MPI_Cart_map, w, 2, dims, periods, NULL);
    BAD(MPI_ERR_COMM, "comm is MPI_COMM_NULL", MPI_Cart_map, MPI_COMM_NULL, 2, dims, periods, &x);
    BAD(MPI_ERR_ARG, "ndims is -1,", MPI_Cart_map, w, -1, dims, periods, &x);
    BAD(MPI_ERR_ARG, "dims is NULL", MPI_Cart_map, w, 2, NULL, periods, &x);
    BAD(MPI_ERR_ARG, "periods is NULL", MPI_Cart_map, w, 2, dims, NULL, &x);

    BAD(MPI_ERR_COMM, "comm is MPI_COMM_NULL", MPI_Topo_test, MPI_COMM_NULL, &x);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Topo_test, w, NULL);
    BAD(MPI_ERR_TOPOLOGY, "without a topology", MPI_Cartdim_get, w, &x);
    BAD(MPI_ERR_TOPOLOGY, "without a topology", MPI_Cart_get, w, 2, out, out, out);
    BAD(MPI_ERR_TOPOLOGY, "without a topology", MPI_Cart_rank, w, out, &x);
    BAD(MPI_ERR_TOPOLOGY, "without a topology", MPI_Cart_coords, w, 0, 2, out);
    BAD(MPI_ERR_TOPOLOGY, "without a topology", MPI_Cart_shift, w, 0, 1, &x, &y);
    BAD(MPI_ERR_TOPOLOGY, "without a topology", MPI_Cart_sub, w, dims, &cart);

    OK(MPI_Cart_create(w, 2, dims, periods, 0, &cart));
    BAD(MPI_ERR_ARG, "ndims is NULL", MPI_Cartdim_get, cart, NULL);
    BAD(MPI_ERR_ARG, "maxdims is 1,", MPI_Cart_get, cart, 1, out, out, out);
    BAD(MPI_ERR_ARG, "dims is NULL", MPI_Cart_get, cart, 2, NULL, out, out);
    BAD(MPI_ERR_ARG, "periods is NULL", MPI_Cart_get, cart, 2, out, NULL, out);
    BAD(MPI_ERR_ARG, "coords is NULL", MPI_Cart_get, cart, 2, out, out, NULL);
    BAD(MPI_ERR_RANK, "rank is ", MPI_Cart_coords, cart, size, 2, out);
    BAD(MPI_ERR_RANK, "rank is -1,", MPI_Cart_coords, cart, -1, 2, out);
    BAD(MPI_ERR_ARG, "maxdims is 1,", MPI_Cart_coords, cart, 0, 1, out);
    BAD(MPI_ERR_ARG, "coords is NULL", MPI_Cart_coords, cart, 0, 2, NULL);
    out[0] = size, out[1] = 0;
    BAD(MPI_ERR_ARG, "at index 0", MPI_Cart_rank, cart, out, &x);
    out[0] = 0, out[1] = -1;
    BAD(MPI_ERR_ARG, "coords is -1 at index 1", MPI_Cart_rank, cart, out, &x);
    BAD(MPI_ERR_ARG, "coords is NULL", MPI_Cart_rank, cart, NULL, &x);
    BAD(MPI_ERR_ARG, "rank is NULL", MPI_Cart_rank, cart, periods, NULL);
    BAD(MPI_ERR_ARG, "direction is 2,", MPI_Cart_shift, cart, 2, 1, &x, &y);
    BAD(MPI_ERR_ARG, "direction is -1,", MPI_Cart_shift, cart, -1, 1, &x, &y);
    BAD(MPI_ERR_ARG, "rank_source is NULL", MPI_Cart_shift, cart, 0, 1, NULL, &y);
    BAD(MPI_ERR_ARG, "rank_dest is NULL", MPI_Cart_shift, cart, 0, 1, &x, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Cart_sub, cart, dims, NULL);
    BAD(MPI_ERR_ARG, "remain_dims is NULL", MPI_Cart_sub, cart, NULL, &cart);
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    wrong();
    return bad_end();
}
