// ranks: 1 3
/* MPI_BOTTOM with absolute displacements in the forms whose displacements count elements: bytes, whose displacements are addresses.
 * MPI-5.0 sections 2.5.4 and 6.8. */
#include "check.h"

enum { MOST = 16 };
static char in[MOST], out[MOST];

int main(int argc, char **argv)
{
    MPI_Count counts[MOST];
    MPI_Aint from[MOST], to[MOST];
    check_start(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int at = 0; at < size; at++) {
        in[at] = (char)(16 * rank + at);
        counts[at] = 1;
        OK(MPI_Get_address(&in[at], &from[at]));
        OK(MPI_Get_address(&out[at], &to[at]));
    }
    OK(MPI_Alltoallv_c(MPI_BOTTOM, counts, from, MPI_BYTE, MPI_BOTTOM, counts, to, MPI_BYTE, MPI_COMM_WORLD));
    for (int at = 0; at < size; at++) EQUAL(out[at], 16 * at + rank);
    memset(out, 0, sizeof out);
    OK(MPI_Allgatherv_c(&in[0], 1, MPI_BYTE, MPI_BOTTOM, counts, to, MPI_BYTE, MPI_COMM_WORLD));
    for (int at = 0; at < size; at++) EQUAL(out[at], 16 * at);
    memset(out, 0, sizeof out);
    OK(MPI_Gatherv_c(&in[0], 1, MPI_BYTE, MPI_BOTTOM, counts, to, MPI_BYTE, size - 1, MPI_COMM_WORLD));
    for (int at = 0; at < size; at++) EQUAL(out[at], rank == size - 1 ? 16 * at : 0);
    /* Without an address it is no buffer. */
    MPI_Aint near[MOST];
    for (int at = 0; at < size; at++) near[at] = at;
    REFUSED(MPI_Alltoallv_c(NULL, counts, near, MPI_BYTE, out, counts, near, MPI_BYTE, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    for (int at = 0; at < size; at++) counts[at] = 0;
    OK(MPI_Alltoallv_c(NULL, counts, near, MPI_BYTE, NULL, counts, near, MPI_BYTE, MPI_COMM_WORLD));
    return check_end();
}
