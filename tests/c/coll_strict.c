// ranks: 2
// env: POSTHASTE_STRICT=1
// only: posthaste
/* A nonblocking collective operation that is under way is neither freed nor cancelled, read strictly. MPI-5.0 section 6.12. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Request request;
    check_start(&argc, &argv);
    if (rank == 0) {
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
        REFUSED(MPI_Cancel(&request), MPI_ERR_REQUEST);
        REFUSED(MPI_Request_free(&request), MPI_ERR_REQUEST);
        CHECK(request != MPI_REQUEST_NULL, "the request is still the program's%s", "");
        OK(MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Ibarrier(MPI_COMM_WORLD, &request));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return check_end();
}
