// ranks: 2 3
// only: posthaste
/* Threads of ranks of one job meet at one port: those with MPI_COMM_SELF by messages, those with a communicator of their own, whose VCI may be another one,
 * by connections. Everybody is met once. MPI-5.0 sections 11.6 and 11.9. */
#include "check.h"
#include <pthread.h>

enum { ROUNDS = 40 };

static char port[MPI_MAX_PORT_NAME];
static MPI_Comm own;

static void meet(MPI_Comm comm, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        MPI_Comm inter;
        int there = -1;
        if (rank == 0) OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, comm, &inter));
        else OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, comm, &inter));
        OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 5, &there, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE));
        CHECK(rank == 0 ? there > 0 && there < size : there == 0, "rank %d is there", there);
        OK(MPI_Comm_disconnect(&inter));
    }
}

static void *other(void *unused)
{
    (void)unused;
    meet(own, ROUNDS * (rank == 0 ? size - 1 : 1));
    return NULL;
}

int main(int argc, char **argv)
{
    int given;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given));
    EQUAL(given, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &own));
    if (rank == 0) OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, other, NULL) == 0, "no thread");
    meet(MPI_COMM_SELF, ROUNDS * (rank == 0 ? size - 1 : 1));
    pthread_join(thread, NULL);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) OK(MPI_Close_port(port));
    OK(MPI_Comm_free(&own));
    return check_end();
}
