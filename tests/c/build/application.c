/* Says which program of its job this rank runs, and how many processes the launcher has room for. */
#include "../check.h"

int main(int argc, char **argv)
{
    int *number, *universe, flag = 0;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
    CHECK(flag, "no MPI_APPNUM");
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
    CHECK(flag, "no MPI_UNIVERSE_SIZE");
    printf("rank %d of %d runs program %d in a universe of %d\n", rank, size, *number, *universe);
    fflush(stdout);
    return check_end();
}
