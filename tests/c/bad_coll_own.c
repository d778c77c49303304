// ranks: 1 2 3
/* What a rank gives itself in a collective operation is as long as what it takes: MPI-5.0 sections 6.5 to 6.8. */
#include "check.h"

enum { MOST = 8 };

int main(int argc, char **argv)
{
    int given[MOST * MOST] = {0}, taken[MOST * MOST] = {0};
    check_start(&argc, &argv);
    /* The others are right, and hear of nothing. */
    for (int own = 0; own <= 2; own++) {
        int is_root = rank == 0, code = own == 1 ? MPI_SUCCESS : own == 0 ? MPI_ERR_NOT_SAME : MPI_ERR_TRUNCATE;
        int expected = is_root ? code : MPI_SUCCESS, found;
        OK(MPI_Error_class(MPI_Gather(given, is_root ? own : 1, MPI_INT, taken, 1, MPI_INT, 0, MPI_COMM_WORLD), &found));
        EQUAL(found, expected);
        OK(MPI_Error_class(MPI_Scatter(given, 1, MPI_INT, taken, is_root ? 2 - own : 1, MPI_INT, 0, MPI_COMM_WORLD), &found));
        EQUAL(found, expected);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    return check_end();
}
