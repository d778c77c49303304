// ranks: 2 3 5 8
// timeout: 120
/* Random programs of collective operations on random nested communicators and on intercommunicators, blocking and nonblocking
 * mixed, several under way on each, ranks out of step; all results against what a naive implementation by point-to-point
 * messages gives, which runs meanwhile. Operands are affine maps, whose composition does not commute. MPI-5.0 chapter 6. */
#include "check.h"

#include <stdint.h>
#include <unistd.h>

enum { ROUNDS = 6, STEPS = 24, LEVELS = 3, UNDER_WAY = 5 };
enum operation { BARRIER, BCAST, ALLGATHER, ALLTOALL, ALLREDUCE, GATHER, SCATTER, REDUCE, SCAN, EXSCAN, REDUCE_SCATTER, ALLTOALLV, OPERATIONS };

typedef struct { uint64_t a, b; } map;

/* An operation, its operands, and what everybody has given. */
struct task {
    enum operation operation;
    /* Elements of a block, and of all that a rank gives. */
    int n, me, root, count, length;
    map *in, *out, *all;
    MPI_Request request;
};

static MPI_Datatype map_type;
static MPI_Op compose;
static uint64_t state;

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

/* How many elements rank `from` has for rank `to` where blocks differ. */
static int block(const struct task *t, int from, int to)
{
    return (from + to) % (t->count + 1);
}

static void start(struct task *t, MPI_Comm comm, int blocking)
{
#define CALL(F, I, ...) OK(blocking ? F(__VA_ARGS__) : I(__VA_ARGS__, &t->request)); break
    int counts[4][64];
    map *in = t->in, *out = t->out;
    for (int r = 0; r < t->n; r++) {
        counts[0][r] = block(t, t->me, r), counts[2][r] = block(t, r, t->me);
        counts[1][r] = counts[3][r] = r * t->count;
    }
    t->request = MPI_REQUEST_NULL;
    switch (t->operation) {
    case BARRIER: CALL(MPI_Barrier, MPI_Ibarrier, comm);
    case BCAST:
        if (t->me == t->root) memcpy(out, in, (size_t)t->count * sizeof *in);
        CALL(MPI_Bcast, MPI_Ibcast, out, t->count, map_type, t->root, comm);
    case GATHER: CALL(MPI_Gather, MPI_Igather, in, t->count, map_type, out, t->count, map_type, t->root, comm);
    case SCATTER: CALL(MPI_Scatter, MPI_Iscatter, in, t->count, map_type, out, t->count, map_type, t->root, comm);
    case ALLGATHER: CALL(MPI_Allgather, MPI_Iallgather, in, t->count, map_type, out, t->count, map_type, comm);
    case ALLTOALL: CALL(MPI_Alltoall, MPI_Ialltoall, in, t->count, map_type, out, t->count, map_type, comm);
    case REDUCE: CALL(MPI_Reduce, MPI_Ireduce, in, out, t->count, map_type, compose, t->root, comm);
    case ALLREDUCE: CALL(MPI_Allreduce, MPI_Iallreduce, in, out, t->count, map_type, compose, comm);
    case SCAN: CALL(MPI_Scan, MPI_Iscan, in, out, t->count, map_type, compose, comm);
    case EXSCAN: CALL(MPI_Exscan, MPI_Iexscan, in, out, t->count, map_type, compose, comm);
    case REDUCE_SCATTER:
        CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, in, out, t->count, map_type, compose, comm);
    default:
        /* The lists must stay as they are until a nonblocking operation is over, so this one never is. */
        OK(MPI_Alltoallv(in, counts[0], counts[1], map_type, out, counts[2], counts[3], map_type, comm));
    }
}

/* The composition of what ranks first to last have given as element i. */
static map folded(const struct task *t, int first, int last, int i)
{
    map value = t->all[first * t->length + i];
    for (int r = first + 1; r <= last; r++) value = composed(value, t->all[r * t->length + i]);
    return value;
}

static void finish(struct task *t)
{
    int n = t->n, count = t->count, me = t->me, is_root = me == t->root;
    OK(MPI_Wait(&t->request, MPI_STATUS_IGNORE));
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
        if (t->operation == SCAN) IS(i, folded(t, 0, me, i));
        if (t->operation == EXSCAN && me > 0) IS(i, folded(t, 0, me - 1, i));
        if (t->operation == REDUCE_SCATTER) IS(i, folded(t, 0, n - 1, me * count + i));
        for (int r = 0; r < n; r++) {
            if (t->operation == ALLGATHER || (t->operation == GATHER && is_root)) IS(r * count + i, GAVE(r, i));
            if (t->operation == ALLTOALL) IS(r * count + i, GAVE(r, me * count + i));
            if (t->operation == ALLTOALLV && i < block(t, r, me)) IS(r * count + i, GAVE(r, me * count + i));
        }
    }
    free(t->in), free(t->out), free(t->all);
    memset(t, 0, sizeof *t);
}

static void prepare(struct task *t, MPI_Comm comm, int inter, unsigned operation, unsigned root, int count)
{
    OK(MPI_Comm_rank(comm, &t->me));
    if (inter) OK(MPI_Comm_remote_size(comm, &t->n));
    else OK(MPI_Comm_size(comm, &t->n));
    /* Between two groups only those whose result says nothing of an own rank in the other one's order. */
    t->operation = (enum operation)(inter ? (operation % 2 ? ALLGATHER : ALLREDUCE) : operation);
    t->root = (int)root % t->n;
    t->count = count;
    t->length = inter ? count : t->n * count;
    t->in = malloc((size_t)t->length * sizeof(map)), t->out = calloc((size_t)(t->n * count), sizeof(map));
    t->all = malloc((size_t)(t->length * t->n) * sizeof(map));
    for (size_t i = 0; i < (size_t)t->length; i++) t->in[i] = (map){2 * i + 3 + (uint64_t)rank, i * 17 + 1000003 * (uint64_t)rank};
}

static void one_round(void)
{
    static const int counts[] = {1, 1, 2, 5, 40, 200, 900};
    MPI_Comm comms[LEVELS + 1], shadows[LEVELS + 1], half;
    struct task tasks[UNDER_WAY] = {0};
    int comms_used = 0, half_rank;
    /* Each communicator is split from the one before, in another order; of one rank there may be any number. */
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[comms_used++]));
    while (comms_used < LEVELS) {
        int bits = (int)draw(1 << 16), reverse = (int)draw(2);
        OK(MPI_Comm_split(comms[comms_used - 1], bits >> rank & 1, reverse ? -rank : rank, &comms[comms_used]));
        comms_used++;
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, (int)draw(2) ? rank : -rank, &half));
    OK(MPI_Comm_rank(half, &half_rank));
    /* The leaders are the lowest of each order. */
    int leader, others = 0;
    OK(MPI_Allreduce(&(int){half_rank == 0 && rank % 2 == 0 ? rank : 0}, &leader, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    OK(MPI_Allreduce(&(int){half_rank == 0 && rank % 2 == 1 ? rank : 0}, &others, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? leader : others, 3, &comms[comms_used++]));
    for (int level = 0; level < comms_used; level++) OK(MPI_Comm_dup(comms[level], &shadows[level]));

    for (int step = 0; step < STEPS; step++) {
        int level = (int)draw((unsigned)comms_used), at = (int)draw(UNDER_WAY), blocking = draw(3) == 0;
        unsigned operation = draw(OPERATIONS), root = draw(64), late = draw(16), early_naive = draw(2);
        int count = counts[draw(sizeof counts / sizeof *counts)];
        struct task *t = &tasks[at];
        if (t->in) finish(t);
        prepare(t, comms[level], level == LEVELS, operation, root, count);
        if ((int)late == rank) usleep(300);
        if (early_naive) naive(t, shadows[level]);
        start(t, comms[level], blocking);
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

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    OK(MPI_Type_contiguous(2, MPI_UINT64_T, &map_type));
    OK(MPI_Type_commit(&map_type));
    OK(MPI_Op_create(compose_all, 0, &compose));
    for (int round = 0; round < ROUNDS; round++) {
        state = 88172645463325252ull + 977 * (unsigned)round;
        one_round();
    }
    OK(MPI_Op_free(&compose));
    OK(MPI_Type_free(&map_type));
    return check_end();
}
