// ranks: 2 4 5
// only: posthaste
// env: POSTHASTE_REQUESTS=64
// timeout: 60
/* A rank whose table of requests is full takes its part in collective operations all the same: nobody waits in vain. */
#include "check.h"

enum { REQUESTS = 64, MANY = 200, LONG = 30000 };

static MPI_Request mine[REQUESTS];
static int in[LONG], out[LONG];

static void blocking(MPI_Comm comm)
{
    int sum = 0, all[16], from[16];
    OK(MPI_Barrier(comm));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, size * (size - 1) / 2);
    for (int i = 0; i < LONG; i++) out[i] = rank + i;
    OK(MPI_Allreduce(out, in, LONG, MPI_INT, MPI_SUM, comm));
    EQUAL(in[LONG - 1], size * (size - 1) / 2 + size * (LONG - 1));
    for (int i = 0; i < size; i++) all[i] = 10 * rank + i;
    OK(MPI_Alltoall(all, 1, MPI_INT, from, 1, MPI_INT, comm));
    for (int i = 0; i < size; i++) EQUAL(from[i], 10 * i + rank);
    int root = rank == size - 1 ? 77 : 0;
    OK(MPI_Bcast(&root, 1, MPI_INT, size - 1, comm));
    EQUAL(root, 77);
}

static void nonblocking(MPI_Comm comm)
{
    static MPI_Request all[MANY];
    static int sums[MANY];
    for (int i = 0; i < MANY; i++) {
        if (i % 2) OK(MPI_Ibarrier(comm, &all[i]));
        else OK(MPI_Iallreduce(&rank, &sums[i], 1, MPI_INT, MPI_SUM, comm, &all[i]));
    }
    OK(MPI_Waitall(MANY, all, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i += 2) EQUAL(sums[i], size * (size - 1) / 2);
}

static void communicators(void)
{
    MPI_Comm copy, half, later, bridge;
    MPI_Request request;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Comm_idup(copy, &later, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_split(copy, rank % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, copy, 1 - rank % 2, 3, &bridge));
    OK(MPI_Barrier(bridge));
    blocking(later);
    OK(MPI_Comm_free(&bridge));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&later));
    OK(MPI_Comm_free(&copy));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int full = 0; full < size; full++) {
        char byte;
        for (int i = 0; i < REQUESTS && rank == full; i++)
            OK(MPI_Irecv(&byte, 1, MPI_BYTE, 0, i, MPI_COMM_SELF, &mine[i]));
        for (int turn = 0; turn < 3; turn++) {
            blocking(MPI_COMM_WORLD);
            nonblocking(MPI_COMM_WORLD);
            communicators();
        }
        if (rank != full) continue;
        MPI_Request more = MPI_REQUEST_NULL;
        REFUSED(MPI_Irecv(&byte, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &more), MPI_ERR_NO_MEM);
        for (int i = 0; i < REQUESTS; i++) OK(MPI_Cancel(&mine[i]));
        OK(MPI_Waitall(REQUESTS, mine, MPI_STATUSES_IGNORE));
    }
    return check_end();
}
