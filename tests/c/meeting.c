// ranks: 2 3 4
/* Two halves of one job meet at a port: whoever comes first, with any root, several times at one port. MPI-5.0 section 11.9. */
#include "meeting_check.h"

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    check_start(&argc, &argv);
    int high = rank % 2;
    MPI_Comm half, inter[3];
    OK(MPI_Comm_split(MPI_COMM_WORLD, high, rank, &half));
    OK(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    int n, mine;
    OK(MPI_Comm_size(half, &n));
    OK(MPI_Comm_rank(half, &mine));
    /* Rank 0 of the world opens it; only roots need its name. */
    if (rank == 0) OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK(strlen(port) < 256, "the name has %zu letters", strlen(port));
    char shared[MPI_MAX_PORT_NAME];
    memcpy(shared, port, sizeof shared);
    OK(MPI_Bcast(shared, sizeof shared, MPI_CHAR, 0, MPI_COMM_WORLD));
    for (int round = 0; round < 3; round++) {
        int root = high ? round % n : 0;
        const char *name = high && mine == root ? shared : high ? "nobody looks here" : port;
        /* Either side comes first. */
        if (round == 1 && high) usleep(200000);
        if (round == 2 && !high) usleep(200000);
        if (high)
            OK(MPI_Comm_connect(name, MPI_INFO_NULL, root, half, &inter[round]));
        else
            OK(MPI_Comm_accept(name, MPI_INFO_NULL, root, half, &inter[round]));
        int same = -1;
        OK(MPI_Comm_compare(inter[0], inter[round], &same));
        EQUAL(same, round ? MPI_CONGRUENT : MPI_IDENT);
        use(inter[round], high);
    }
    for (int round = 0; round < 3; round++) {
        OK(MPI_Comm_disconnect(&inter[round]));
        CHECK(inter[round] == MPI_COMM_NULL, "the handle is left");
        if (round < 2) use(inter[2], high);
    }
    if (rank == 0) OK(MPI_Close_port(port));
    OK(MPI_Comm_free(&half));
    return check_end();
}
