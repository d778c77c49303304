/* mismatch.c: rank 0 calls one collective function and the others another one, or with another root, as the first operation of a
 * communicator, for the tests of what the library says about it (`cargo xtask test --only hangs`).
 * Usage: mismatch WHERE FIRST SECOND. WHERE is world, middle (rank 1 makes the first call instead), inter (rank 0 is one group, the others are the other), types (rank 0
 * says MPI_INT, the others MPI_FLOAT), short or shorter (rank 0 says 64 or 100 KiB, the others 128 KiB), or window (the
 * calls are fence and free, on a window that is not mapped). A call is the name of a function, with an I in front of its
 * nonblocking form, or a P in front of its persistent one, and its root, a rank in the world, behind it: Ibcast1. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int in[1 << 16], out[1 << 16], counts[64], places[64], n = 4;
static MPI_Datatype types_of[64];
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Win win = MPI_WIN_NULL;

/* Of the persistent forms there is only this. */
static void persistent_allreduce(MPI_Comm c, MPI_Datatype t)
{
    MPI_Allreduce_init(in, out, n, t, MPI_SUM, c, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

/* If this is the call, makes it in one of its forms. */
#define FUNCTION(text, blocking, nonblocking, ...)                \
    if (!strncmp(name, text, length) && strlen(text) == length) { \
        if (is_nonblocking) nonblocking(__VA_ARGS__, &request);   \
        else blocking(__VA_ARGS__);                               \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                    \
        return;                                                   \
    }

static void call(const char *name, MPI_Comm c, MPI_Datatype t, int rank, int inter)
{
    int is_nonblocking = *name == 'I';
    if (is_nonblocking) name++;
    size_t length = strcspn(name, "0123456789");
    int root = atoi(name + length);
    if (!strcmp(name, "Pallreduce")) return persistent_allreduce(c, t);
    if (!strcmp(name, "fence")) return (void)MPI_Win_fence(0, win);
    if (!strcmp(name, "free")) return (void)MPI_Win_free(&win);
    if (inter && (root == 0) == (rank == 0)) root = root == rank ? MPI_ROOT : MPI_PROC_NULL;
    else if (inter && root > 0) root--;
    for (int i = 0; i < 64; i++) counts[i] = n, places[i] = n * i, types_of[i] = t;
    FUNCTION("barrier", MPI_Barrier, MPI_Ibarrier, c)
    FUNCTION("bcast", MPI_Bcast, MPI_Ibcast, in, n, t, root, c)
    FUNCTION("gather", MPI_Gather, MPI_Igather, in, n, t, out, n, t, root, c)
    FUNCTION("scatter", MPI_Scatter, MPI_Iscatter, in, n, t, out, n, t, root, c)
    FUNCTION("reduce", MPI_Reduce, MPI_Ireduce, in, out, n, t, MPI_SUM, root, c)
    FUNCTION("allreduce", MPI_Allreduce, MPI_Iallreduce, in, out, n, t, MPI_SUM, c)
    FUNCTION("allgather", MPI_Allgather, MPI_Iallgather, in, n, t, out, n, t, c)
    FUNCTION("alltoall", MPI_Alltoall, MPI_Ialltoall, in, n, t, out, n, t, c)
    FUNCTION("scan", MPI_Scan, MPI_Iscan, in, out, n, t, MPI_SUM, c)
    FUNCTION("exscan", MPI_Exscan, MPI_Iexscan, in, out, n, t, MPI_SUM, c)
    FUNCTION("gatherv", MPI_Gatherv, MPI_Igatherv, in, n, t, out, counts, places, t, root, c)
    FUNCTION("scatterv", MPI_Scatterv, MPI_Iscatterv, in, counts, places, t, out, n, t, root, c)
    FUNCTION("allgatherv", MPI_Allgatherv, MPI_Iallgatherv, in, n, t, out, counts, places, t, c)
    FUNCTION("alltoallv", MPI_Alltoallv, MPI_Ialltoallv, in, counts, places, t, out, counts, places, t, c)
    FUNCTION("alltoallw", MPI_Alltoallw, MPI_Ialltoallw, in, counts, places, types_of, out, counts, places, types_of, c)
    FUNCTION("reduce_scatter", MPI_Reduce_scatter, MPI_Ireduce_scatter, in, out, counts, t, MPI_SUM, c)
    FUNCTION("reduce_scatter_block", MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, n, t, MPI_SUM, c)
    fprintf(stderr, "mismatch: what is %s?\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm comm = MPI_COMM_WORLD, half;
    if (argc != 4) return 2;
    if (!strncmp(argv[1], "short", 5)) n = rank > 0 ? 32 << 10 : !strcmp(argv[1], "short") ? 16 << 10 : 25 << 10;
    int inter = !strcmp(argv[1], "inter"), types = !strcmp(argv[1], "types");
    if (inter) {
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0, 5, &comm);
        MPI_Comm_set_name(comm, "bridge");
    }
    if (!strcmp(argv[1], "window")) {
        MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, comm, &win);
        MPI_Win_set_name(win, "board");
    }
    int odd = !strcmp(argv[1], "middle");
    call(rank == odd ? argv[2] : argv[3], comm, types && rank != 0 ? MPI_FLOAT : MPI_INT, rank, inter);
    MPI_Barrier(comm);
    MPI_Finalize();
    return 0;
}
