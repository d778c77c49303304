/* With POSTHASTE_STRICT=1, operations at a target are for the types that the standard gives them (MPI-5.0 §6.9.2, §12.3.4), as reductions are. */
// ranks: 1 2
// env: POSTHASTE_STRICT=1
// only: posthaste
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Win win;
    char *memory;
    char some[16] = {0}, old[16] = {0};
    check_start(&argc, &argv);
    OK(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, win));
    int to = size - 1;
    REFUSED(MPI_Accumulate(some, 1, MPI_CHAR, to, 0, 1, MPI_CHAR, MPI_SUM, win), MPI_ERR_OP);
    REFUSED(MPI_Accumulate(some, 1, MPI_BYTE, to, 0, 1, MPI_BYTE, MPI_SUM, win), MPI_ERR_OP);
    REFUSED(MPI_Get_accumulate(some, 1, MPI_AINT, old, 1, MPI_AINT, to, 0, 1, MPI_AINT, MPI_LAND, win), MPI_ERR_OP);
    REFUSED(MPI_Fetch_and_op(some, old, MPI_CHAR, to, 0, MPI_MAX, win), MPI_ERR_OP);
    REFUSED(MPI_Compare_and_swap(some, some, old, MPI_CHAR, to, 0, win), MPI_ERR_TYPE);
    OK(MPI_Accumulate(some, 1, MPI_CHAR, to, 0, 1, MPI_CHAR, MPI_REPLACE, win));
    OK(MPI_Fetch_and_op(some, old, MPI_BYTE, to, 0, MPI_NO_OP, win));
    OK(MPI_Accumulate(some, 1, MPI_SIGNED_CHAR, to, 0, 1, MPI_SIGNED_CHAR, MPI_SUM, win));
    OK(MPI_Accumulate(some, 1, MPI_BYTE, to, 0, 1, MPI_BYTE, MPI_BXOR, win));
    OK(MPI_Fetch_and_op(some, old, MPI_LONG, to, 0, MPI_SUM, win));
    OK(MPI_Compare_and_swap(some, some, old, MPI_BYTE, to, 0, win));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    return check_end();
}
