// ranks: 2 5 8
// timeout: 120
/* Random programs as in coll_random.c, of what that leaves out: all operations on an intercommunicator, operations of neighbours on grids and
 * graphs that change, v and w forms among them, blocking, nonblocking and persistent, several under way; in three threads, each of which
 * has communicators of its own. What arrives says who sent it to whom. For more than the usual rounds: COLL_RANDOM=ROUNDS,SEED
 * in the environment. MPI-5.0 chapters 6 and 8. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

enum { THREADS = 3, ROUNDS = 3, STEPS = 25, UNDER_WAY = 4, MOST = 32, EDGES = 6 };
enum operation { BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW, REDUCE,
    ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, OPERATIONS };
enum form { BLOCKING, NONBLOCKING, PERSISTENT };

/* What one thread has. */
struct program {
    uint64_t state;
    MPI_Comm world;
};

/* An operation under way: its buffers, and what has to be in the second one. */
struct task {
    uint64_t *in, *out, *expected;
    int length, what;
    int counts[2][MOST], places[2][MOST], bytes[2][MOST];
    MPI_Aint addresses[2][MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
};

static unsigned draw(struct program *p, unsigned n)
{
    p->state ^= p->state << 13, p->state ^= p->state >> 7, p->state ^= p->state << 17;
    return (unsigned)(p->state >> 11) % n;
}

/* What a rank of the world gives another one, for all if that is -1. */
static uint64_t value(int from, int to, int i) { return (uint64_t)from * 1000003 + (uint64_t)(to + 1) * 10007 + (uint64_t)i * 3; }

/* Elements of a block: others between any two, up to `most`. */
static int block(int from, int to, int most) { return (from * 5 + to * 3) % (most + 1); }

static void begin(struct task *t, int what, int in, int out)
{
    memset(t, 0, sizeof *t);
    t->what = what, t->length = out, t->request = MPI_REQUEST_NULL;
    t->in = calloc((size_t)in + 1, 8), t->out = calloc((size_t)out + 1, 8), t->expected = calloc((size_t)out + 1, 8);
    for (int i = 0; i < MOST; i++) t->types[i] = MPI_UINT64_T;
}

static void finish(struct task *t)
{
    OK(MPI_Wait(&t->request, MPI_STATUS_IGNORE));
    if (t->request != MPI_REQUEST_NULL) OK(MPI_Request_free(&t->request));
    for (int i = 0; i < t->length; i++)
        CHECK(t->out[i] == t->expected[i], "what %d: element %d of %d is %llx, expected %llx", t->what, i, t->length,
              (unsigned long long)t->out[i], (unsigned long long)t->expected[i]);
    free(t->in), free(t->out), free(t->expected);
    memset(t, 0, sizeof *t);
}

#define CALL(B, I, P, ...)                                                          \
    do {                                                                            \
        if (form == BLOCKING) OK(MPI_##B(__VA_ARGS__));                             \
        else if (form == NONBLOCKING) OK(MPI_##I(__VA_ARGS__, &t->request));        \
        else {                                                                      \
            OK(MPI_##P(__VA_ARGS__, MPI_INFO_NULL, &t->request));                   \
            OK(MPI_Start(&t->request));                                             \
        }                                                                           \
    } while (0)

/* Any operation between two groups, whose members' ranks in the world are known. */
static void between(struct program *p, struct task *t, MPI_Comm c, const int *ours, int m, const int *theirs, int n, enum form form)
{
    enum operation what = (enum operation)draw(p, OPERATIONS);
    static const int lengths[] = {1, 3, 50, 1000, 5000};
    int count = lengths[draw(p, 5)];
    int root = (int)draw(p, (unsigned)size), me, at = 0, shared = m * n, all = what == REDUCE_SCATTER || what == REDUCE_SCATTER_BLOCK;
    OK(MPI_Comm_rank(c, &me));
    int own = ours[me], say = MPI_PROC_NULL, is_root = own == root, gets = 0;
    if (is_root) say = MPI_ROOT;
    for (int r = 0; r < n; r++)
        if (theirs[r] == root) say = r, gets = 1;
    if (all) count = 1 + count % 7;
    int given = all ? count * shared : count * n, most = given > count * m ? given : count * m;
    begin(t, what, most, most);
    int is_v = what == GATHERV || what == SCATTERV || what == ALLGATHERV;
    for (int r = 0, to = 0, from = 0; r < n; r++) {
        /* Blocks of the v forms for all are those for rank 0 of the world. */
        t->counts[0][r] = is_v ? block(theirs[r], 0, count) : block(own, theirs[r], count);
        t->counts[1][r] = is_v ? t->counts[0][r] : block(theirs[r], own, count);
        t->places[0][r] = to, t->bytes[0][r] = 8 * to, to += t->counts[0][r];
        t->places[1][r] = from, t->bytes[1][r] = 8 * from, from += t->counts[1][r];
    }
    int mine = block(own, 0, count), *counts = t->counts[0], *into = t->counts[1];
    uint64_t *in = t->in, *out = t->out;
    const MPI_Datatype w = MPI_UINT64_T;
#define GIVE(n_, to) for (int i_ = 0; i_ < (n_); i_++) in[at++] = value(own, to, i_)
#define EXPECT(n_, from, to) for (int i_ = 0; i_ < (n_); i_++) t->expected[at++] = value(from, to, i_)
    switch (what) {
    case BARRIER: CALL(Barrier, Ibarrier, Barrier_init, c); break;
    case BCAST:
        if (is_root) GIVE(count, -1);
        if (gets) EXPECT(count, root, -1);
        if (is_root) memcpy(out, in, (size_t)count * 8), memcpy(t->expected, in, (size_t)count * 8);
        CALL(Bcast, Ibcast, Bcast_init, out, count, w, say, c);
        break;
    case GATHER:
        GIVE(count, -1);
        at = 0;
        for (int r = 0; is_root && r < n; r++) EXPECT(count, theirs[r], -1);
        CALL(Gather, Igather, Gather_init, in, count, w, out, count, w, say, c);
        break;
    case GATHERV:
        GIVE(mine, -1);
        at = 0;
        for (int r = 0; is_root && r < n; r++) EXPECT(counts[r], theirs[r], -1);
        CALL(Gatherv, Igatherv, Gatherv_init, in, mine, w, out, counts, t->places[0], w, say, c);
        break;
    case SCATTER:
        for (int r = 0; is_root && r < n; r++) GIVE(count, theirs[r]);
        at = 0;
        if (gets) EXPECT(count, root, own);
        CALL(Scatter, Iscatter, Scatter_init, in, count, w, out, count, w, say, c);
        break;
    case SCATTERV:
        for (int r = 0; is_root && r < n; r++) GIVE(counts[r], theirs[r]);
        at = 0;
        if (gets) EXPECT(mine, root, own);
        CALL(Scatterv, Iscatterv, Scatterv_init, in, counts, t->places[0], w, out, mine, w, say, c);
        break;
    case ALLGATHER:
        GIVE(count, -1);
        at = 0;
        for (int r = 0; r < n; r++) EXPECT(count, theirs[r], -1);
        CALL(Allgather, Iallgather, Allgather_init, in, count, w, out, count, w, c);
        break;
    case ALLGATHERV:
        GIVE(mine, -1);
        at = 0;
        for (int r = 0; r < n; r++) EXPECT(counts[r], theirs[r], -1);
        CALL(Allgatherv, Iallgatherv, Allgatherv_init, in, mine, w, out, counts, t->places[0], w, c);
        break;
    case ALLTOALL:
        for (int r = 0; r < n; r++) GIVE(count, theirs[r]);
        at = 0;
        for (int r = 0; r < n; r++) EXPECT(count, theirs[r], own);
        CALL(Alltoall, Ialltoall, Alltoall_init, in, count, w, out, count, w, c);
        break;
    case ALLTOALLV: case ALLTOALLW:
        for (int r = 0; r < n; r++) GIVE(counts[r], theirs[r]);
        at = 0;
        for (int r = 0; r < n; r++) EXPECT(into[r], theirs[r], own);
        if (what == ALLTOALLV)
            CALL(Alltoallv, Ialltoallv, Alltoallv_init, in, counts, t->places[0], w, out, into, t->places[1], w, c);
        else
            CALL(Alltoallw, Ialltoallw, Alltoallw_init, in, counts, t->bytes[0], t->types, out, into, t->bytes[1], t->types, c);
        break;
    default: {
        /* Sums over the other group; where it is scattered, both have as much together. */
        int length = all ? count * shared : count, first = all ? me * count * n : 0, result = all ? count * n : count;
        GIVE(length, -1);
        if (what != REDUCE || is_root)
            for (int i = 0; i < result; i++)
                for (int r = 0; r < n; r++) t->expected[i] += value(theirs[r], -1, first + i);
        for (int r = 0; r < m; r++) counts[r] = count * n;
        if (what == REDUCE) CALL(Reduce, Ireduce, Reduce_init, in, out, count, w, MPI_SUM, say, c);
        if (what == ALLREDUCE) CALL(Allreduce, Iallreduce, Allreduce_init, in, out, count, w, MPI_SUM, c);
        if (what == REDUCE_SCATTER) CALL(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init, in, out, counts, w, MPI_SUM, c);
        if (what == REDUCE_SCATTER_BLOCK)
            CALL(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init, in, out, count * n, w, MPI_SUM, c);
    }
    }
}

/* One of the five operations of neighbours, with ranks of the world on both sides of each edge. `twin` is the number of an edge at its other end. */
static void among(struct program *p, struct task *t, MPI_Comm c, int own, const int *from, const int *twins, int in_degree, const int *to,
                  int out_degree, enum form form)
{
    int what = (int)draw(p, 5), most = (int)draw(p, 2) ? 5 : 900, at = 0;
    begin(t, 100 + what, most * (EDGES + 1), most * (EDGES + 1));
    const MPI_Datatype w = MPI_UINT64_T;
    int one = 1 + most / 2;
    for (int e = 0; e < out_degree; e++) {
        /* What differs between edges is known at both ends: the number of the edge where it begins. */
        int n = what >= 3 ? block(own, e, most) : one;
        t->counts[0][e] = n, t->places[0][e] = at, t->addresses[0][e] = 8 * at;
        if (what >= 2 && to[e] != MPI_PROC_NULL)
            for (int i = 0; i < n; i++) t->in[at + i] = value(own, e, i);
        at += n;
    }
    if (what < 2)
        for (int i = 0; i < (what == 1 ? block(own, 0, most) : one); i++) t->in[i] = value(own, -1, i);
    at = 0;
    for (int e = 0; e < in_degree; e++) {
        int nobody = from[e] == MPI_PROC_NULL, n = one;
        if (what == 1) n = nobody ? 2 : block(from[e], 0, most);
        if (what >= 3) n = nobody ? 2 : block(from[e], twins[e], most);
        t->counts[1][e] = n, t->places[1][e] = at, t->addresses[1][e] = 8 * at;
        for (int i = 0; !nobody && i < n; i++) t->expected[at + i] = value(from[e], what < 2 ? -1 : twins[e], i);
        at += n;
    }
    uint64_t *in = t->in, *out = t->out;
    int *counts = t->counts[0], *into = t->counts[1], *places = t->places[0], *there = t->places[1];
    if (what == 0) CALL(Neighbor_allgather, Ineighbor_allgather, Neighbor_allgather_init, in, one, w, out, one, w, c);
    if (what == 1)
        CALL(Neighbor_allgatherv, Ineighbor_allgatherv, Neighbor_allgatherv_init, in, block(own, 0, most), w, out, into, there, w, c);
    if (what == 2) CALL(Neighbor_alltoall, Ineighbor_alltoall, Neighbor_alltoall_init, in, one, w, out, one, w, c);
    if (what == 3)
        CALL(Neighbor_alltoallv, Ineighbor_alltoallv, Neighbor_alltoallv_init, in, counts, places, w, out, into, there, w, c);
    if (what == 4)
        CALL(Neighbor_alltoallw, Ineighbor_alltoallw, Neighbor_alltoallw_init, in, counts, t->addresses[0], t->types, out, into,
             t->addresses[1], t->types, c);
}

static void one_round(struct program *p)
{
    struct task tasks[UNDER_WAY] = {0};
    MPI_Comm half, bridge = MPI_COMM_NULL, grid, graph;
    int groups[2][MOST], sizes[2] = {0, 0}, which = 0;
    /* Two groups: rank 0 is in one, rank 1 in the other one. */
    unsigned bits = draw(p, 1u << 16);
    for (int r = 0; r < size; r++) {
        int in = r < 2 ? r : (int)(bits >> r & 1);
        if (r == rank) which = in;
        groups[in][sizes[in]++] = r;
    }
    OK(MPI_Comm_split(p->world, which, rank, &half));
    OK(MPI_Intercomm_create(half, 0, p->world, groups[1 - which][0], 7, &bridge));
    OK(MPI_Comm_set_errhandler(bridge, MPI_ERRORS_RETURN));
    /* A grid of one or two dimensions, periodic or not. */
    int dims[2] = {0, 0}, n_dims = 1 + (int)draw(p, 2), periodic[2] = {(int)draw(p, 2), (int)draw(p, 2)};
    OK(MPI_Dims_create(size, n_dims, dims));
    OK(MPI_Cart_create(p->world, n_dims, dims, periodic, 0, &grid));
    int around[4], twins[4];
    for (int d = 0; d < n_dims; d++) {
        OK(MPI_Cart_shift(grid, d, 1, &around[2 * d], &around[2 * d + 1]));
        /* What comes from below was sent up. */
        twins[2 * d] = 2 * d + 1, twins[2 * d + 1] = 2 * d;
    }
    /* A graph of which everybody draws all edges: the k-th edge between two ranks is the same at both ends. */
    int from[MOST], to[EDGES], their[MOST], in_degree = 0, out_degree = 0;
    for (int r = 0; r < size; r++) {
        int degree = (int)draw(p, EDGES);
        for (int e = 0; e < degree; e++) {
            int other = (int)draw(p, (unsigned)size);
            /* Who has as many already gets no more. */
            if (other == rank && in_degree < EDGES) from[in_degree] = r, their[in_degree++] = e;
            if (r == rank) to[out_degree++] = other;
        }
    }
    /* Edges that found no place at their end are left out: everybody asks. */
    int *all = malloc((size_t)size * EDGES * sizeof *all), known[EDGES];
    for (int e = 0; e < EDGES; e++) known[e] = e < in_degree ? from[e] * EDGES + their[e] : -1;
    OK(MPI_Allgather(known, EDGES, MPI_INT, all, EDGES, MPI_INT, p->world));
    int edges = 0, drawn = out_degree, renamed[EDGES];
    for (int e = 0; e < out_degree; e++) {
        int is_known = 0;
        renamed[e] = -1;
        for (int k = 0; k < size * EDGES; k++) is_known |= all[k] == rank * EDGES + e;
        for (int k = 0; is_known && k < size; k++)
            for (int i = 0; i < EDGES; i++)
                if (all[k * EDGES + i] == rank * EDGES + e) to[edges] = k, renamed[e] = edges;
        if (is_known) edges++;
    }
    out_degree = edges;
    for (int e = drawn; e < EDGES; e++) renamed[e] = -1;
    int *names = malloc((size_t)size * EDGES * sizeof *names);
    OK(MPI_Allgather(renamed, EDGES, MPI_INT, names, EDGES, MPI_INT, p->world));
    for (int e = 0; e < in_degree; e++) their[e] = names[from[e] * EDGES + their[e]];
    OK(MPI_Dist_graph_create_adjacent(p->world, in_degree, from, MPI_UNWEIGHTED, out_degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    free(all), free(names);

    for (int step = 0; step < STEPS; step++) {
        int at = (int)draw(p, UNDER_WAY), late = (int)draw(p, 24), where = (int)draw(p, 4);
        enum form form = (enum form)draw(p, 3);
        struct task *t = &tasks[at];
        if (t->in) finish(t);
        if (late == rank) usleep(200);
        if (where < 2) between(p, t, bridge, groups[which], sizes[which], groups[1 - which], sizes[1 - which], form);
        if (where == 2) among(p, t, grid, rank, around, twins, 2 * n_dims, around, 2 * n_dims, form);
        if (where == 3) among(p, t, graph, rank, from, their, in_degree, to, out_degree, form);
    }
    for (int at = UNDER_WAY - 1; at >= 0; at--)
        if (tasks[at].in) finish(&tasks[at]);
    OK(MPI_Comm_free(&graph));
    OK(MPI_Comm_free(&grid));
    OK(MPI_Comm_free(&bridge));
    OK(MPI_Comm_free(&half));
}

static int rounds = ROUNDS, seed;

static void *thread(void *of)
{
    struct program *p = of;
    uint64_t begin = p->state;
    for (int round = 0; round < rounds; round++) {
        p->state = begin + 977 * (uint64_t)(round + seed);
        one_round(p);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    struct program programs[THREADS];
    pthread_t threads[THREADS];
    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS || provided != MPI_THREAD_MULTIPLE) return 1;
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    const char *asked = getenv("COLL_RANDOM");
    if (asked) sscanf(asked, "%d,%d", &rounds, &seed);
    for (int k = 0; k < THREADS; k++) {
        programs[k].state = 88172645463325252ull + 1000003 * (uint64_t)k;
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &programs[k].world));
    }
    for (int k = 0; k < THREADS; k++) CHECK(pthread_create(&threads[k], NULL, thread, &programs[k]) == 0, "no thread");
    for (int k = 0; k < THREADS; k++) {
        CHECK(pthread_join(threads[k], NULL) == 0, "no end");
        OK(MPI_Comm_free(&programs[k].world));
    }
    return check_end();
}
