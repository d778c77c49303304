// ranks: 1 2
// env: POSTHASTE_STRICT=1
// only: posthaste
/* A size of 0 has no meaning in MPI_Cart_map, MPI-5.0 section 8.5.8, and is refused where the standard alone holds. */
#include "check.h"

int main(int argc, char **argv)
{
    int dims[2] = {0, 1}, periods[2] = {0, 0}, place = -5;
    check_start(&argc, &argv);
    REFUSED(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place), MPI_ERR_DIMS);
    EQUAL(place, -5);
    dims[0] = size;
    OK(MPI_Cart_map(MPI_COMM_WORLD, 2, dims, periods, &place));
    EQUAL(place, rank);
    return check_end();
}
