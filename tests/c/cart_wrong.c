// ranks: 1 4
// only: posthaste
/* Every argument of the Cartesian functions wrong in turn. MPI-5.0 section 8.5. */
#include "check.h"

static void wrong(void)
{
    MPI_Comm w = MPI_COMM_WORLD, cart = w;
    int dims[2] = {size, 1}, periods[2] = {0, 0}, bad[2], out[2], x, y;
    REFUSED(MPI_Cart_create(MPI_COMM_NULL, 2, dims, periods, 0, &cart), MPI_ERR_COMM);
    REFUSED(MPI_Cart_create(w, -1, dims, periods, 0, &cart), MPI_ERR_ARG);
    CHECK(cart == MPI_COMM_NULL, "a communicator was made");
    REFUSED(MPI_Cart_create(w, 2, NULL, periods, 0, &cart), MPI_ERR_ARG);
    REFUSED(MPI_Cart_create(w, 2, dims, NULL, 0, &cart), MPI_ERR_ARG);
    REFUSED(MPI_Cart_create(w, 2, dims, periods, 0, NULL), MPI_ERR_ARG);
    bad[0] = size, bad[1] = 2;
    REFUSED(MPI_Cart_create(w, 2, bad, periods, 0, &cart), MPI_ERR_DIMS);
    bad[1] = 0;
    REFUSED(MPI_Cart_create(w, 2, bad, periods, 0, &cart), MPI_ERR_DIMS);
    bad[1] = -1;
    REFUSED(MPI_Cart_create(w, 2, bad, periods, 0, &cart), MPI_ERR_DIMS);
    REFUSED(MPI_Cart_map(w, 2, bad, periods, &x), MPI_ERR_DIMS);
    REFUSED(MPI_Cart_map(w, 2, dims, periods, NULL), MPI_ERR_ARG);

    REFUSED(MPI_Topo_test(MPI_COMM_NULL, &x), MPI_ERR_COMM);
    REFUSED(MPI_Topo_test(w, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Cartdim_get(w, &x), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_get(w, 2, out, out, out), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_rank(w, out, &x), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_coords(w, 0, 2, out), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_shift(w, 0, 1, &x, &y), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_sub(w, dims, &cart), MPI_ERR_TOPOLOGY);

    OK(MPI_Cart_create(w, 2, dims, periods, 0, &cart));
    REFUSED(MPI_Cartdim_get(cart, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Cart_get(cart, 1, out, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Cart_get(cart, 2, NULL, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Cart_coords(cart, size, 2, out), MPI_ERR_RANK);
    REFUSED(MPI_Cart_coords(cart, -1, 2, out), MPI_ERR_RANK);
    REFUSED(MPI_Cart_coords(cart, 0, 1, out), MPI_ERR_ARG);
    REFUSED(MPI_Cart_coords(cart, 0, 2, NULL), MPI_ERR_ARG);
    out[0] = size, out[1] = 0;
    REFUSED(MPI_Cart_rank(cart, out, &x), MPI_ERR_ARG);
    out[0] = 0, out[1] = -1;
    REFUSED(MPI_Cart_rank(cart, out, &x), MPI_ERR_ARG);
    REFUSED(MPI_Cart_rank(cart, NULL, &x), MPI_ERR_ARG);
    REFUSED(MPI_Cart_shift(cart, 2, 1, &x, &y), MPI_ERR_ARG);
    REFUSED(MPI_Cart_shift(cart, -1, 1, &x, &y), MPI_ERR_ARG);
    REFUSED(MPI_Cart_shift(cart, 0, 1, NULL, &y), MPI_ERR_ARG);
    REFUSED(MPI_Cart_sub(cart, NULL, &cart), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    wrong();
    return check_end();
}
