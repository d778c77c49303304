// ranks: 1 2 3 4 6
/* Neighbourhood collectives in every form, on grids, graphs and distributed graphs: the order of blocks, several edges
 * between two ranks, edges of a rank to itself, periodic dimensions of one and two places, where what goes down comes in from
 * above, and borders, whose blocks nobody touches. MPI-5.0 sections 8.6 to 8.8. */
#include "check.h"

enum { MOST = 16, BLOCK = 5, STRIDE = 7, ROOM = MOST * STRIDE, UNTOUCHED = -77 };

/* Whom a rank talks to, and which block of the source each received block is. */
static struct topology {
    MPI_Comm comm;
    int rank, in, out, sources[MOST], destinations[MOST], blocks[MOST];
} t;

static int sent[ROOM], got[ROOM];
/* By neighbour: of each second one block fewer elements count. */
static int sendcounts[MOST], recvcounts[MOST], sdispls[MOST], rdispls[MOST];
static MPI_Count sendcounts_c[MOST], recvcounts_c[MOST];
static MPI_Aint sdispls_c[MOST], rdispls_c[MOST], sbytes[MOST], rbytes[MOST], sfar[MOST], rfar[MOST];
static MPI_Datatype sendtypes[MOST], recvtypes[MOST], pair;
static int turn;

static int value(int source, int block, int element)
{
    return (turn * 50 + source) * 1000 + block * 10 + element;
}

/* How many elements the block from a rank to another has, in operations with lengths of their own. */
static int length(int from, int to)
{
    return (from + 2 * to) % BLOCK;
}

static int length_of(int from)
{
    return 1 + from % 3;
}

/* Each operation lays out the buffers for itself, fills them, and looks at what came. */
enum layout { ONE_BLOCK, ONE_TO_MANY, MANY, MANY_LENGTHS, MANY_TYPES };

static void lay_out(enum layout layout)
{
    MPI_Aint from, to;
    OK(MPI_Get_address(sent, &from));
    OK(MPI_Get_address(got, &to));
    turn++;
    for (int i = 0; i < ROOM; i++) sent[i] = got[i] = UNTOUCHED;
    for (int i = 0; i < MOST; i++) {
        int out = i < t.out ? t.destinations[i] : MPI_PROC_NULL, in = i < t.in ? t.sources[i] : MPI_PROC_NULL;
        /* Places from the last to the first, with a gap before each. */
        sdispls[i] = (MOST - 1 - i) * STRIDE + 1;
        rdispls[i] = (MOST - 1 - i) * STRIDE + 2;
        sendcounts[i] = out == MPI_PROC_NULL ? 3 : length(t.rank, out);
        recvcounts[i] = in == MPI_PROC_NULL ? 3 : layout == ONE_TO_MANY ? length_of(in) : length(in, t.rank);
        sendtypes[i] = recvtypes[i] = MPI_INT;
        /* Pairs of integers at one end, as many integers at the other. */
        if (layout == MANY_TYPES && sendcounts[i] % 2 == 0) sendcounts[i] /= 2, sendtypes[i] = pair;
        sendcounts_c[i] = sendcounts[i], recvcounts_c[i] = recvcounts[i];
        sdispls_c[i] = sdispls[i], rdispls_c[i] = rdispls[i];
        sbytes[i] = sdispls[i] * (MPI_Aint)sizeof(int), rbytes[i] = rdispls[i] * (MPI_Aint)sizeof(int);
        sfar[i] = MPI_Aint_add(from, sbytes[i]), rfar[i] = MPI_Aint_add(to, rbytes[i]);
    }
    for (int i = 0; i < t.out; i++) {
        for (int e = 0; e < BLOCK; e++) {
            if (layout == ONE_BLOCK || layout == ONE_TO_MANY) sent[e] = value(t.rank, 0, e);
            else if (layout == MANY) sent[i * BLOCK + e] = value(t.rank, i, e);
            else sent[sdispls[i] + e] = value(t.rank, i, e);
        }
    }
}

static void check(enum layout layout, const char *call)
{
    int wanted[ROOM];
    for (int i = 0; i < ROOM; i++) wanted[i] = UNTOUCHED;
    for (int i = 0; i < t.in; i++) {
        if (t.sources[i] == MPI_PROC_NULL) continue;
        int spread = layout == ONE_BLOCK || layout == MANY, one = layout == ONE_BLOCK || layout == ONE_TO_MANY;
        int count = spread ? BLOCK : recvcounts[i], at = spread ? i * BLOCK : rdispls[i];
        for (int e = 0; e < count; e++) wanted[at + e] = value(t.sources[i], one ? 0 : t.blocks[i], e);
    }
    for (int i = 0; i < ROOM; i++)
        if (got[i] != wanted[i]) FAIL("%s: element %d is %d, expected %d", call, i, got[i], wanted[i]);
}

static MPI_Request r;

/* One operation in its three forms; a persistent one is started twice. */
#define FORMS(layout, blocking, nonblocking, persistent)                 \
    do {                                                                 \
        lay_out(layout);                                                 \
        OK(blocking);                                                    \
        check(layout, #blocking);                                        \
        lay_out(layout);                                                 \
        OK(nonblocking);                                                 \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                             \
        check(layout, #nonblocking);                                     \
        lay_out(layout);                                                 \
        OK(persistent);                                                  \
        for (int again_ = 0; again_ < 2; again_++) {                     \
            lay_out(layout);                                             \
            OK(MPI_Start(&r));                                           \
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                         \
            check(layout, #persistent);                                  \
        }                                                                \
        OK(MPI_Request_free(&r));                                        \
    } while (0)

/* The arguments of each operation; where counts are wide, lists of them are others. */
#define SAME sent, BLOCK, MPI_INT, got, BLOCK, MPI_INT, t.comm
#define GATHERV sent, length_of(t.rank), MPI_INT, got, recvcounts, rdispls, MPI_INT, t.comm
#define GATHERV_C sent, length_of(t.rank), MPI_INT, got, recvcounts_c, rdispls_c, MPI_INT, t.comm
#define ALLV sent, sendcounts, sdispls, MPI_INT, got, recvcounts, rdispls, MPI_INT, t.comm
#define ALLV_C sent, sendcounts_c, sdispls_c, MPI_INT, got, recvcounts_c, rdispls_c, MPI_INT, t.comm
#define ALLW sent, sendcounts, sbytes, sendtypes, got, recvcounts, rbytes, recvtypes, t.comm
#define ALLW_C sent, sendcounts_c, sbytes, sendtypes, got, recvcounts_c, rbytes, recvtypes, t.comm
/* Displacements that are addresses. */
#define FARW MPI_BOTTOM, sendcounts, sfar, sendtypes, MPI_BOTTOM, recvcounts, rfar, recvtypes, t.comm
#define FARW_C MPI_BOTTOM, sendcounts_c, sfar, sendtypes, MPI_BOTTOM, recvcounts_c, rfar, recvtypes, t.comm
#define REQUEST MPI_INFO_NULL, &r

static void operations(void)
{
    turn = 0; /* the same at all members: not every rank is one of every grid */
    FORMS(ONE_BLOCK, MPI_Neighbor_allgather(SAME), MPI_Ineighbor_allgather(SAME, &r),
          MPI_Neighbor_allgather_init(SAME, REQUEST));
    FORMS(ONE_BLOCK, MPI_Neighbor_allgather_c(SAME), MPI_Ineighbor_allgather_c(SAME, &r),
          MPI_Neighbor_allgather_init_c(SAME, REQUEST));
    FORMS(ONE_TO_MANY, MPI_Neighbor_allgatherv(GATHERV), MPI_Ineighbor_allgatherv(GATHERV, &r),
          MPI_Neighbor_allgatherv_init(GATHERV, REQUEST));
    FORMS(ONE_TO_MANY, MPI_Neighbor_allgatherv_c(GATHERV_C), MPI_Ineighbor_allgatherv_c(GATHERV_C, &r),
          MPI_Neighbor_allgatherv_init_c(GATHERV_C, REQUEST));
    FORMS(MANY, MPI_Neighbor_alltoall(SAME), MPI_Ineighbor_alltoall(SAME, &r),
          MPI_Neighbor_alltoall_init(SAME, REQUEST));
    FORMS(MANY, MPI_Neighbor_alltoall_c(SAME), MPI_Ineighbor_alltoall_c(SAME, &r),
          MPI_Neighbor_alltoall_init_c(SAME, REQUEST));
    FORMS(MANY_LENGTHS, MPI_Neighbor_alltoallv(ALLV), MPI_Ineighbor_alltoallv(ALLV, &r),
          MPI_Neighbor_alltoallv_init(ALLV, REQUEST));
    FORMS(MANY_LENGTHS, MPI_Neighbor_alltoallv_c(ALLV_C), MPI_Ineighbor_alltoallv_c(ALLV_C, &r),
          MPI_Neighbor_alltoallv_init_c(ALLV_C, REQUEST));
    FORMS(MANY_TYPES, MPI_Neighbor_alltoallw(ALLW), MPI_Ineighbor_alltoallw(ALLW, &r),
          MPI_Neighbor_alltoallw_init(ALLW, REQUEST));
    FORMS(MANY_TYPES, MPI_Neighbor_alltoallw_c(ALLW_C), MPI_Ineighbor_alltoallw_c(ALLW_C, &r),
          MPI_Neighbor_alltoallw_init_c(ALLW_C, REQUEST));
    FORMS(MANY_TYPES, MPI_Neighbor_alltoallw(FARW), MPI_Ineighbor_alltoallw(FARW, &r),
          MPI_Neighbor_alltoallw_init(FARW, REQUEST));
    FORMS(MANY_TYPES, MPI_Neighbor_alltoallw_c(FARW_C), MPI_Ineighbor_alltoallw_c(FARW_C, &r),
          MPI_Neighbor_alltoallw_init_c(FARW_C, REQUEST));
}

static void grid(int ndims, const int *dims, const int *periods)
{
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, 0, &t.comm));
    if (t.comm == MPI_COMM_NULL) return;
    OK(MPI_Comm_rank(t.comm, &t.rank));
    t.in = t.out = 2 * ndims;
    for (int d = 0; d < ndims; d++) {
        OK(MPI_Cart_shift(t.comm, d, 1, &t.sources[2 * d], &t.sources[2 * d + 1]));
        for (int up = 0; up < 2; up++) {
            t.destinations[2 * d + up] = t.sources[2 * d + up];
            /* What comes from below went up there. */
            t.blocks[2 * d + up] = 2 * d + !up;
        }
    }
    operations();
    OK(MPI_Comm_free(&t.comm));
}

/* The k-th edge from a rank meets the k-th edge to this one among those that the rank has, which lead by these steps. */
static void match(int n, const int *steps)
{
    for (int i = 0; i < t.in; i++) {
        int before = 0, block = -1;
        for (int other = 0; other < i; other++) before += t.sources[other] == t.sources[i];
        while (before >= 0) before -= (t.sources[i] + steps[++block] + n) % n == t.rank;
        t.blocks[i] = block;
    }
}

static void graphs(void)
{
    /* Twice to the next, twice to the one before, twice to itself: of two ranks the next is the one before. */
    const int steps[6] = {1, 0, size - 1, 1, 0, size - 1};
    int ends[MOST], edges[MOST * MOST];
    for (int node = 0; node < size; node++) {
        for (int i = 0; i < 6; i++) edges[6 * node + i] = (node + steps[i]) % size;
        ends[node] = 6 * (node + 1);
    }
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &t.comm));
    OK(MPI_Comm_rank(t.comm, &t.rank));
    t.in = t.out = 6;
    OK(MPI_Graph_neighbors(t.comm, t.rank, 6, t.sources));
    memcpy(t.destinations, t.sources, sizeof t.sources);
    match(size, steps);
    operations();
    OK(MPI_Comm_free(&t.comm));
}

static void dist_graphs(void)
{
    const int steps[7] = {1, 0, 2, 1, 0, 1, 3}, back[7] = {3, 1, 1, 0, 2, 0, 1};
    t.in = t.out = 7, t.rank = rank;
    for (int i = 0; i < 7; i++) {
        t.destinations[i] = (rank + steps[i]) % size;
        t.sources[i] = (rank + 4 * size - back[i]) % size;
    }
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 7, t.sources, MPI_UNWEIGHTED, 7, t.destinations, MPI_UNWEIGHTED,
                                      MPI_INFO_NULL, 0, &t.comm));
    match(size, steps);
    operations();
    OK(MPI_Comm_free(&t.comm));

    /* From rank 0 to all, named by the last rank; twice, and a duplicate carries the edges. */
    int source = 0, degree = 2 * size, destinations[2 * MOST], last = rank == size - 1;
    MPI_Comm original;
    for (int i = 0; i < degree; i++) destinations[i] = i % size;
    OK(MPI_Dist_graph_create(MPI_COMM_WORLD, last, &source, &degree, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &original));
    OK(MPI_Comm_dup(original, &t.comm));
    OK(MPI_Comm_free(&original));
    t.in = 2, t.out = rank == 0 ? degree : 0;
    OK(MPI_Dist_graph_neighbors(t.comm, 2, t.sources, MPI_UNWEIGHTED, MOST, t.destinations, MPI_UNWEIGHTED));
    t.blocks[0] = rank, t.blocks[1] = size + rank;
    operations();
    OK(MPI_Comm_free(&t.comm));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    grid(1, (int[]){size}, (int[]){1});
    grid(1, (int[]){size}, (int[]){0});
    grid(3, (int[]){1, size, 1}, (int[]){1, 1, 0});
    grid(0, NULL, NULL);
    if (size > 1) {
        grid(3, (int[]){2, 1, size / 2}, (int[]){1, 1, 1});
        grid(2, (int[]){2, size / 2}, (int[]){1, 0});
        grid(2, (int[]){2, size / 2}, (int[]){0, 1});
    }
    graphs();
    dist_graphs();
    OK(MPI_Type_free(&pair));
    return check_end();
}
