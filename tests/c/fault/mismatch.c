/* mismatch.c: some ranks call one collective function and the others another one, or with another root, as the same operation of a
 * communicator, or do not come to it at all, for the tests of what is said about it (`cargo xtask test --only hangs`).
 * Usage: mismatch WHERE FIRST SECOND [WHO]. Ranks of the world whose digits are in WHO make the first call, the others the
 * second; rank 0 alone unless WHO says otherwise. WHERE is world, middle (rank 1 makes the first call), late (the same, and
 * rank 2 says what is wrong 0.2 s after it has found it), inter (rank 0 is one group, the others are the other), halves (the ranks of even number are one group, those of odd number the other), rows (all but
 * rank 0, which sleeps, in reverse, and after a barrier), ring (a periodic grid of one dimension), types (who makes the first
 * call says MPI_INT, the others MPI_FLOAT), counts (4 elements, the others 8), short or shorter (rank 0 says 64 or 100 KiB,
 * the others 128 KiB), or window (the calls are fence and free, on a window that is not mapped). A call is the name of a
 * function, with an I in front of its nonblocking form, or a P in front of its persistent one, and its root, a rank in the
 * world, behind it: Ibcast1. Who does not come is asleep, computing or receiving, or away: odd ranks asleep, even ones receiving. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int in[1 << 16], out[1 << 16], counts[64], places[64], n = 4;
static MPI_Datatype types_of[64];
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Win win = MPI_WIN_NULL;

/* If this is how a rank stays away, does so for ever: outside of MPI, or in a call that waits for the next rank. */
static void stay_away(const char *how, int rank)
{
    int size, is_away = !strcmp(how, "away");
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!strcmp(how, "computing"))
        for (volatile int forever = 1; forever;) {}
    if (!strcmp(how, "asleep") || (is_away && rank % 2 == 1)) sleep(1000);
    if (!strcmp(how, "receiving") || is_away)
        MPI_Recv(in, 4, MPI_INT, (rank + 1) % size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* If this is the call, makes it in one of its forms. */
#define FUNCTION(text, blocking, nonblocking, ...)                                       \
    if (!strncmp(name, text, length) && strlen(text) == length) {                        \
        switch (form) {                                                                  \
        case 'I': nonblocking(__VA_ARGS__, &request); break;                             \
        case 'P': blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &request); break;          \
        default: blocking(__VA_ARGS__);                                                  \
        }                                                                                \
        if (form == 'P') MPI_Start(&request);                                            \
        MPI_Wait(&request, MPI_STATUS_IGNORE);                                           \
        if (form == 'P') MPI_Request_free(&request);                                     \
        return;                                                                          \
    }

static void call(const char *name, MPI_Comm c, MPI_Datatype t, int rank, int inter)
{
    char form = *name == 'I' || *name == 'P' ? *name++ : 0;
    size_t length = strcspn(name, "0123456789");
    int root = atoi(name + length);
    stay_away(name, rank);
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
    FUNCTION("neighbor_allgather", MPI_Neighbor_allgather, MPI_Ineighbor_allgather, in, n, t, out, n, t, c)
    FUNCTION("neighbor_alltoall", MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, in, n, t, out, n, t, c)
    FUNCTION("neighbor_alltoallv", MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, in, counts, places, t, out, counts, places, t, c)
    fprintf(stderr, "mismatch: what is %s?\n", name);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

/* An error handler of somebody slow. */
static void say_late(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    usleep(200000);
    MPI_Error_string(*code, text, &length);
    fprintf(stderr, "late: %s\n", text);
    MPI_Abort(*comm, 3);
}

/* The communicator of the calls. */
static MPI_Comm place(const char *where, int rank)
{
    MPI_Comm comm = MPI_COMM_WORLD, half;
    int inter = !strcmp(where, "inter"), size, periodic = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (inter || !strcmp(where, "halves")) {
        int is_first = inter ? rank == 0 : rank % 2 == 0;
        MPI_Comm_split(MPI_COMM_WORLD, is_first, 0, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_first, 5, &comm);
        MPI_Comm_set_name(comm, "bridge");
    }
    if (!strcmp(where, "rows")) {
        MPI_Comm_split(MPI_COMM_WORLD, rank == 0, -rank, &comm);
        if (rank == 0) sleep(1000);
        MPI_Comm_set_name(comm, "rows");
        MPI_Barrier(comm);
    }
    if (!strcmp(where, "late") && rank == 2) {
        MPI_Errhandler late;
        MPI_Comm_create_errhandler(say_late, &late);
        MPI_Comm_set_errhandler(comm, late);
    }
    if (!strcmp(where, "ring")) {
        MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
        MPI_Comm_set_name(comm, "ring");
    }
    if (!strcmp(where, "window")) {
        MPI_Win_create(in, sizeof in, sizeof *in, MPI_INFO_NULL, comm, &win);
        MPI_Win_set_name(win, "board");
    }
    return comm;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 4) return 2;
    const char *where = argv[1], *who = argc > 4 ? argv[4] : !strcmp(where, "middle") || !strcmp(where, "late") ? "1" : "0";
    int is_first = strchr(who, '0' + rank) != NULL;
    if (!strncmp(where, "short", 5)) n = rank > 0 ? 32 << 10 : !strcmp(where, "short") ? 16 << 10 : 25 << 10;
    if (!strcmp(where, "counts") && !is_first) n = 8;
    MPI_Datatype type = !strcmp(where, "types") && !is_first ? MPI_FLOAT : MPI_INT;
    MPI_Comm comm = place(where, rank);
    call(is_first ? argv[2] : argv[3], comm, type, rank, !strcmp(where, "inter"));
    MPI_Barrier(comm);
    MPI_Finalize();
    return 0;
}
