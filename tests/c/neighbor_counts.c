// ranks: 2
// only: posthaste
/* A neighbour that sends more than is received, along several edges: an error on the one side at least, and no waiting. Both ends need
 * not have taken the same counts for short. MPI-5.0 section 8.6. */
#include "check.h"

enum { SHORT = 1 << 10, LONG = 1 << 16 };

static int out[2 * LONG], in[2 * LONG];

int main(int argc, char **argv)
{
    int rank, size = 2, periodic = 1;
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring));
    OK(MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(ring, &rank));
    int sends = rank == 0 ? LONG : SHORT, class = MPI_SUCCESS;
    int code = MPI_Neighbor_alltoall(out, sends, MPI_INT, in, SHORT, MPI_INT, ring);
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    CHECK(class == (rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE));
    OK(MPI_Comm_free(&ring));
    MPI_Finalize();
    return 0;
}
