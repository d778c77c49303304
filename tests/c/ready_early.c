// ranks: 2 4
// only: posthaste
// says: rank 0 sent 4 bytes with tag 1 to rank 1 of MPI_COMM_WORLD in ready mode before the receive was posted
// says: rank 0 sent 200000 bytes with tag 2 to rank 1 of MPI_COMM_WORLD in ready mode before the receive was posted
// says: rank 0 sent 8 bytes with tag 3 to rank 1 of row 0 in ready mode before the receive was posted
/* ready_early.c: a ready send that came before its receive is delivered all the same and warned of; one that kept its
 * promise is not. MPI-5.0 section 3.4. */
#include "ready_check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    early(MPI_SUCCESS);
    in_time();
    return finish();
}
