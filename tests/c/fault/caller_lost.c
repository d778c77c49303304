/* A rank is called at its port by others of its job, and one of the two is killed. MPI-5.0 section 11.9, and ULFM. Three ranks.
 *
 *   caller_lost WHO
 *
 *   owner    rank 0, which has a port and accepts nobody: the call of rank 1 is over, who then meets rank 2
 *   caller   rank 1, which waits at the port of rank 0: rank 0 passes it by, and meets rank 2 */
#include "killed.h"

/* The two that are left. */
static void meet(const char *port, int accepts)
{
    MPI_Comm inter;
    int said = -1;
    if (accepts) OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    else OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &said, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
    CHECK(said >= 0 && said < 3 && said != rank, "rank %d is there", said);
    OK(MPI_Comm_disconnect(&inter));
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", all[3][MPI_MAX_PORT_NAME];
    MPI_Comm inter = MPI_COMM_WORLD;
    if (argc != 2) FAIL("an argument is expected");
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    EQUAL(size, 3);
    int owner = !strcmp(argv[1], "owner");
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Allgather(port, sizeof port, MPI_CHAR, all, sizeof port, MPI_CHAR, MPI_COMM_WORLD));
    if (rank == !owner) die_later();
    if (rank == 0 && owner) pause();
    if (rank == 1) {
        double since = MPI_Wtime();
        int code = MPI_Comm_connect(all[0], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter), class = MPI_SUCCESS;
        CHECK(code != MPI_SUCCESS && owner, "there is nobody");
        OK(MPI_Error_class(code, &class));
        CHECK(class == MPI_ERR_PORT || class == MPIX_ERR_PROC_FAILED || class == MPI_ERR_PROC_ABORTED, "class %d: %s", class,
              check_text(code));
        CHECK(MPI_Wtime() - since < 10, "heard too late, after %g s", MPI_Wtime() - since);
        CHECK(inter == MPI_COMM_NULL, "there is a communicator");
        meet(all[2], 0);
    } else if (owner) {
        meet(port, 1);
    } else {
        until_lost(MPI_COMM_WORLD);
        if (rank == 0) meet(port, 1);
        else meet(all[0], 0);
    }
    OK(MPI_Close_port(port));
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    return MPI_Finalize();
}
