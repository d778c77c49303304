/* coll_random.h: random programs of collective operations on random nested communicators and on intercommunicators, blocking,
 * nonblocking and persistent mixed, several under way on each, ranks out of step; all results against what a naive implementation by
 * point-to-point messages gives, which runs meanwhile. Operands are affine maps, whose composition does not commute, or numbers to be
 * added. A thread runs a program of its own. What fails says by which seed it comes again. MPI-5.0 chapter 6. */
#ifndef COLL_RANDOM_H
#define COLL_RANDOM_H

#include "check.h"

#include <stdint.h>
#include <unistd.h>

enum { STEPS = 30, LEVELS = 3, UNDER_WAY = 5, MOST = 64, LONG = 20000 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT };
enum operation { BARRIER, BCAST, ALLGATHER, ALLTOALL, ALLREDUCE, GATHER, SCATTER, REDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER, GATHERV, SCATTERV, ALLGATHERV, ALLTOALLV, ALLTOALLW, OPERATIONS };

typedef struct { uint64_t a, b; } map;

#ifndef IN_ALLOC_MEM
#define IN_ALLOC_MEM 0
#endif
#ifndef APART
#define APART 1
#endif

/* Operands, results and what the naive implementation gets lie in memory from malloc, or where a variant of this program says so, in
 * memory from MPI_Alloc_mem. Its bytes say that nothing was written yet. */
static map *new_maps(int count)
{
    size_t bytes = (size_t)count * sizeof(map);
    map *maps = NULL;
    if (IN_ALLOC_MEM) OK(MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &maps));
    else maps = malloc(bytes);
    CHECK(maps, "no memory for %zu bytes", bytes);
    memset(maps, 0xA5, bytes);
    return maps;
}

static void free_maps(map *maps)
{
    if (IN_ALLOC_MEM) OK(MPI_Free_mem(maps));
    else free(maps);
}

/* An operation, its operands, and what everybody has given. */
struct task {
    enum operation operation;
    /* Elements of a block, and of all that a rank gives. */
    int n, me, root, count, length;
    map *in, *out, *all;
    /* The operation adds numbers, of which a map has two; its operand lies where its result goes. */
    int adds, in_place;
    /* Of blocks that differ: counts, places in elements and in bytes. */
    int counts[2][MOST], places[MOST], bytes[MOST];
    MPI_Datatype types[MOST];
    MPI_Request request;
};

static MPI_Datatype map_type;
static MPI_Op compose;
static _Thread_local uint64_t state;
/* What this thread does: a number of the thread, and the seed of the round. */
static _Thread_local int own_thread, own_round = -1;

static unsigned draw(unsigned n)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state >> 11) % n;
}

/* First the left map, then the right one. */
static map composed(map left, map right)
{
    return (map){left.a * right.a, left.b * right.a + right.b};
}

static void compose_all(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) ((map *)inout)[i] = composed(((map *)in)[i], ((map *)inout)[i]);
}

/* Everybody that this rank gets data from sends it all that it gives, by messages. */
static void naive(struct task *t, MPI_Comm shadow)
{
    int length = t->length;
    MPI_Request *requests = malloc(2 * (size_t)t->n * sizeof *requests);
    for (int r = 0; r < t->n; r++) {
        OK(MPI_Irecv(t->all + r * length, length, map_type, r, 1, shadow, &requests[2 * r]));
        OK(MPI_Isend(t->in, length, map_type, r, 1, shadow, &requests[2 * r + 1]));
    }
    OK(MPI_Waitall(2 * t->n, requests, MPI_STATUSES_IGNORE));
    free(requests);
}

/* How many elements rank `from` has for rank `to` where blocks differ: by few, or where a variant of this program says so, by many. */
static int block(const struct task *t, int from, int to)
{
    return (from + to) * APART % (t->count + 1);
}

static void start(struct task *t, MPI_Comm comm, enum form form)
{
#define CALL(X, ...)                                                            \
    OK(form == BLOCKING      ? MPI_##X(__VA_ARGS__)                             \
       : form == NONBLOCKING ? MPI_I##X(__VA_ARGS__, &t->request)               \
                             : MPI_##X##_init(__VA_ARGS__, MPI_INFO_NULL, &t->request)); \
    break
/* The names of the nonblocking forms begin with a small letter. */
#define MPI_IBarrier MPI_Ibarrier
#define MPI_IBcast MPI_Ibcast
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block
    map *in = t->in, *out = t->out;
    int v = t->operation == GATHERV || t->operation == SCATTERV || t->operation == ALLGATHERV, n = t->adds ? 2 * t->count : t->count;
    MPI_Datatype type = t->adds ? MPI_UINT64_T : map_type;
    MPI_Op op = t->adds ? MPI_SUM : compose;
    const void *operand = t->in_place ? MPI_IN_PLACE : (void *)in;
    if (t->in_place) memcpy(out, in, (size_t)t->length * sizeof *in);
    for (int r = 0; r < t->n; r++) {
        t->counts[0][r] = v ? block(t, r, 0) : block(t, t->me, r), t->counts[1][r] = block(t, r, t->me);
        if (t->operation == REDUCE_SCATTER) t->counts[0][r] = n;
        t->places[r] = r * t->count, t->bytes[r] = r * t->count * (int)sizeof *in, t->types[r] = map_type;
    }
    int mine = t->counts[0][t->me], *counts = t->counts[0], *theirs = t->counts[1], *at = t->places;
    t->request = MPI_REQUEST_NULL;
    switch (t->operation) {
    case BARRIER: CALL(Barrier, comm);
    case BCAST:
        if (t->me == t->root) memcpy(out, in, (size_t)t->count * sizeof *in);
        CALL(Bcast, out, t->count, map_type, t->root, comm);
    case GATHER: CALL(Gather, in, t->count, map_type, out, t->count, map_type, t->root, comm);
    case SCATTER: CALL(Scatter, in, t->count, map_type, out, t->count, map_type, t->root, comm);
    case ALLGATHER: CALL(Allgather, in, t->count, map_type, out, t->count, map_type, comm);
    case ALLTOALL: CALL(Alltoall, in, t->count, map_type, out, t->count, map_type, comm);
    case REDUCE: CALL(Reduce, t->me == t->root ? operand : in, out, n, type, op, t->root, comm);
    case ALLREDUCE: CALL(Allreduce, operand, out, n, type, op, comm);
    case SCAN: CALL(Scan, operand, out, n, type, op, comm);
    case EXSCAN: CALL(Exscan, operand, out, n, type, op, comm);
    case REDUCE_SCATTER_BLOCK: CALL(Reduce_scatter_block, operand, out, n, type, op, comm);
    case REDUCE_SCATTER: CALL(Reduce_scatter, operand, out, counts, type, op, comm);
    case GATHERV: CALL(Gatherv, in, mine, map_type, out, counts, at, map_type, t->root, comm);
    case SCATTERV: CALL(Scatterv, in, counts, at, map_type, out, mine, map_type, t->root, comm);
    case ALLGATHERV: CALL(Allgatherv, in, mine, map_type, out, counts, at, map_type, comm);
    case ALLTOALLV: CALL(Alltoallv, in, counts, at, map_type, out, theirs, at, map_type, comm);
    default: CALL(Alltoallw, in, counts, t->bytes, t->types, out, theirs, t->bytes, t->types, comm);
    }
    if (form == PERSISTENT) OK(MPI_Start(&t->request));
}

/* The composition of what ranks first to last have given as element i. */
static map folded(const struct task *t, int first, int last, int i)
{
    map value = t->all[first * t->length + i];
    for (int r = first + 1; r <= last; r++) {
        map next = t->all[r * t->length + i];
        value = t->adds ? (map){value.a + next.a, value.b + next.b} : composed(value, next);
    }
    return value;
}

static void finish(struct task *t)
{
    int n = t->n, count = t->count, me = t->me, is_root = me == t->root;
    OK(MPI_Wait(&t->request, MPI_STATUS_IGNORE));
    if (t->request != MPI_REQUEST_NULL) OK(MPI_Request_free(&t->request));
#define GAVE(r, i) t->all[(r) * t->length + (i)]
#define IS(at, expected)                                                                                            \
    do {                                                                                                            \
        map wanted = (expected), got = t->out[at];                                                                  \
        CHECK(got.a == wanted.a && got.b == wanted.b, "operation %d, rank %d of %d, root %d: element %d of %d", t->operation, \
              me, n, t->root, (int)(at), count);                                                                    \
    } while (0)
    for (int i = 0; i < count; i++) {
        if (t->operation == BCAST) IS(i, GAVE(t->root, i));
        if (t->operation == SCATTER) IS(i, GAVE(t->root, me * count + i));
        if (t->operation == ALLREDUCE || (t->operation == REDUCE && is_root)) IS(i, folded(t, 0, n - 1, i));
        if (t->operation == SCATTERV && i < block(t, me, 0)) IS(i, GAVE(t->root, me * count + i));
        if (t->operation == SCAN) IS(i, folded(t, 0, me, i));
        if (t->operation == EXSCAN && me > 0) IS(i, folded(t, 0, me - 1, i));
        if (t->operation == REDUCE_SCATTER || t->operation == REDUCE_SCATTER_BLOCK) IS(i, folded(t, 0, n - 1, me * count + i));
        for (int r = 0; r < n; r++) {
            if (t->operation == ALLGATHER || (t->operation == GATHER && is_root)) IS(r * count + i, GAVE(r, i));
            if (t->operation == ALLTOALL) IS(r * count + i, GAVE(r, me * count + i));
            if ((t->operation == ALLGATHERV || (t->operation == GATHERV && is_root)) && i < block(t, r, 0)) IS(r * count + i, GAVE(r, i));
            if ((t->operation == ALLTOALLV || t->operation == ALLTOALLW) && i < block(t, r, me)) IS(r * count + i, GAVE(r, me * count + i));
        }
    }
    free_maps(t->in), free_maps(t->out), free_maps(t->all);
    memset(t, 0, sizeof *t);
}

static void prepare(struct task *t, MPI_Comm comm, int inter, unsigned operation, unsigned root, int count, int adds, int in_place)
{
    OK(MPI_Comm_rank(comm, &t->me));
    if (inter) OK(MPI_Comm_remote_size(comm, &t->n));
    else OK(MPI_Comm_size(comm, &t->n));
    /* Between two groups only those whose result says nothing of an own rank in the other one's order. */
    t->operation = (enum operation)(inter ? (operation % 2 ? ALLGATHER : ALLREDUCE) : operation);
    t->root = (int)root % t->n;
    t->count = count;
    int reduces = t->operation == REDUCE || t->operation == ALLREDUCE || t->operation == SCAN || t->operation == EXSCAN ||
                  t->operation == REDUCE_SCATTER || t->operation == REDUCE_SCATTER_BLOCK;
    t->adds = adds && reduces;
    t->in_place = in_place && !inter && reduces;
    /* Of these there is only one block. */
    int is_one = t->operation == BARRIER || t->operation == BCAST || t->operation == ALLREDUCE || t->operation == REDUCE;
    if (count >= LONG && !is_one) count = t->count = count / 20;
    t->length = inter || is_one ? count : t->n * count;
    t->in = new_maps(t->length), t->out = new_maps(t->n * count), t->all = new_maps(t->length * t->n);
    for (size_t i = 0; i < (size_t)t->length; i++) t->in[i] = (map){2 * i + 3 + (uint64_t)rank, i * 17 + 1000003 * (uint64_t)rank};
}

static void one_round(MPI_Comm world)
{
    /* The last ones are combined by several members, also where all share few CPUs. */
    static const int counts[] = {1, 1, 2, 5, 40, 200, 900, 900, 5000, LONG, 2 * LONG};
    MPI_Comm comms[LEVELS + 1], shadows[LEVELS + 1], half;
    struct task tasks[UNDER_WAY] = {0};
    int comms_used = 0, half_rank;
    /* Each communicator is split from the one before, in another order; of one rank there may be any number. */
    OK(MPI_Comm_dup(world, &comms[comms_used++]));
    while (comms_used < LEVELS) {
        int bits = (int)draw(1 << 16), reverse = (int)draw(2);
        OK(MPI_Comm_split(comms[comms_used - 1], bits >> rank & 1, reverse ? -rank : rank, &comms[comms_used]));
        comms_used++;
    }
    OK(MPI_Comm_split(world, rank % 2, (int)draw(2) ? rank : -rank, &half));
    OK(MPI_Comm_rank(half, &half_rank));
    /* The leaders are the lowest of each order. */
    int leader, others = 0;
    OK(MPI_Allreduce(&(int){half_rank == 0 && rank % 2 == 0 ? rank : 0}, &leader, 1, MPI_INT, MPI_MAX, world));
    OK(MPI_Allreduce(&(int){half_rank == 0 && rank % 2 == 1 ? rank : 0}, &others, 1, MPI_INT, MPI_MAX, world));
    OK(MPI_Intercomm_create(half, 0, world, rank % 2 ? leader : others, 3, &comms[comms_used++]));
    for (int level = 0; level < comms_used; level++) OK(MPI_Comm_dup(comms[level], &shadows[level]));

    for (int step = 0; step < STEPS; step++) {
        int level = (int)draw((unsigned)comms_used), at = (int)draw(UNDER_WAY), adds = draw(2), in_place = draw(2);
        enum form form = (enum form)draw(3);
        unsigned operation = draw(OPERATIONS), root = draw(64), late = draw(16), early_naive = draw(2);
        int count = counts[draw(sizeof counts / sizeof *counts)];
        struct task *t = &tasks[at];
        if (t->in) finish(t);
        prepare(t, comms[level], level == LEVELS, operation, root, count, adds, in_place);
        if ((int)late == rank) usleep(300);
        if (early_naive) naive(t, shadows[level]);
        start(t, comms[level], form);
        if (!early_naive) naive(t, shadows[level]);
    }
    for (int at = UNDER_WAY - 1; at >= 0; at--)
        if (tasks[at].in) finish(&tasks[at]);
    for (int level = 0; level < comms_used; level++) {
        OK(MPI_Comm_free(&comms[level]));
        OK(MPI_Comm_free(&shadows[level]));
    }
    OK(MPI_Comm_free(&half));
}

/* A failed check ends the process, and this runs in the thread that has found it. */
static void tell_seed(void)
{
    if (own_round >= 0) fprintf(stderr, "rank %d: thread %d was in the round of COLL_RANDOM=1,%d\n", rank, own_thread, own_round);
}

static int rounds, first_round;

/* Makes what all programs share, and reads how long they are from the environment, where that says so. */
static void begin_programs(int usual_rounds)
{
    OK(MPI_Type_contiguous(2, MPI_UINT64_T, &map_type));
    OK(MPI_Type_commit(&map_type));
    OK(MPI_Op_create(compose_all, 0, &compose));
    const char *asked = getenv("COLL_RANDOM");
    rounds = usual_rounds;
    if (asked) sscanf(asked, "%d,%d", &rounds, &first_round);
    CHECK(atexit(tell_seed) == 0, "nobody will say the seed");
}

/* The program of a thread: rounds on a communicator that no other thread uses. */
static void program(MPI_Comm world, int thread)
{
    own_thread = thread;
    for (int round = first_round; round < first_round + rounds; round++) {
        own_round = round;
        state = 88172645463325252ull + 977 * (unsigned)round + 1000003 * (uint64_t)thread;
        one_round(world);
    }
    own_round = -1;
}

static void end_programs(void)
{
    OK(MPI_Op_free(&compose));
    OK(MPI_Type_free(&map_type));
}

#endif
