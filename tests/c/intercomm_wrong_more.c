// ranks: 2 5
// only: posthaste
/* Every argument of collective operations on an intercommunicator wrong in turn, blocking, nonblocking and persistent, with int and
 * MPI_Count, where intercomm_wrong.c and bad_coll.c leave something out: who is a root, which buffers are without MPI_IN_PLACE, whose
 * size the arrays have. Then the same forms with nonsense in all that does not count. MPI-5.0 sections 6.2.2, 6.2.3 and 6.5 to 6.13. */
#include "bad_check.h"
#include "groups_check.h"

enum { MOST = 8, NOTHING = -7 };

/* Counts and places: all right, and with the last one wrong that counts, for each rank of the other group or of the own one. */
static int ones[MOST], offs[MOST], minus[MOST], minus_here[MOST];
static MPI_Count cones[MOST], cminus[MOST], cminus_here[MOST];
static MPI_Aint aoffs[MOST];
static MPI_Datatype uncommitted, ints[MOST], none[MOST], late[MOST];
static char last[40], last_here[40];
static int roots[5];
static int *s, *d;
static MPI_Request r;
#define I MPI_INT
#define N MPI_INFO_NULL

static void create(void)
{
    make_groups();
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    for (int i = 0; i < MOST; i++) {
        ones[i] = 1, offs[i] = i, ints[i] = MPI_INT, none[i] = late[i] = MPI_INT;
        minus[i] = i == remote_size - 1 ? -1 : 1, minus_here[i] = i == local_size - 1 ? -1 : 1;
        cones[i] = 1, aoffs[i] = i, cminus[i] = minus[i], cminus_here[i] = minus_here[i];
    }
    none[remote_size - 1] = MPI_DATATYPE_NULL, late[remote_size - 1] = uncommitted;
    snprintf(last, sizeof last, "-1 for rank %d", remote_size - 1);
    snprintf(last_here, sizeof last_here, "-1 for rank %d", local_size - 1);
    const int wrong[] = {-1, -9, remote_size, MPI_ROOT, MPI_PROC_NULL};
    memcpy(roots, wrong, sizeof roots);
}

/* MPI_ROOT and MPI_PROC_NULL are roots of intercommunicators alone. */
#define ROOT(F, ...)                                                                           \
    for (int i_ = 0; i_ < 5; i_++) {                                                           \
        int root = roots[i_];                                                                  \
        MPI_Comm k = i_ < 3 ? inter : half;                                                    \
        BAD(MPI_ERR_ROOT, "root is ", F, __VA_ARGS__);                                         \
    }

/* One buffer with a count and a type, which `n`, `t` and `b` stand for, what it is called, and what is wrong with it. */
#define BUFFER(name, F, ...)                                                                   \
    do {                                                                                       \
        int *b = s, n = 1;                                                                     \
        MPI_Datatype t = MPI_INT;                                                              \
        n = -1;                                                                                \
        BAD(MPI_ERR_COUNT, "count is -1,", F, __VA_ARGS__);                                    \
        n = 1, b = NULL;                                                                       \
        BAD(MPI_ERR_BUFFER, name " is NULL", F, __VA_ARGS__);                                  \
        b = MPI_IN_PLACE;                                                                      \
        BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, __VA_ARGS__);                                   \
        b = s, t = MPI_DATATYPE_NULL;                                                          \
        BAD(MPI_ERR_TYPE, "datatype", F, __VA_ARGS__);                                         \
        t = uncommitted;                                                                       \
        BAD(MPI_ERR_TYPE, "commit", F, __VA_ARGS__);                                           \
    } while (0)

/* The arrays of counts and of places in turn, `c` and `a`, and the buffer that they describe. */
#define ARRAYS(C, D, F, ...)                                                                \
    BAD(MPI_ERR_COUNT, last, F, __VA_ARGS__);                                                  \
    c = NULL;                                                                                  \
    BAD(MPI_ERR_ARG, "counts is NULL", F, __VA_ARGS__);                                        \
    c = C, a = NULL;                                                                           \
    BAD(MPI_ERR_ARG, "displs is NULL", F, __VA_ARGS__);                                        \
    a = D, b = NULL;                                                                           \
    BAD(MPI_ERR_BUFFER, "buffer is NULL", F, __VA_ARGS__);                                     \
    b = MPI_IN_PLACE;                                                                          \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, __VA_ARGS__)

/* A buffer in blocks. C, M and D are right counts, wrong ones and places for the form. */
#define BLOCKS(T, C, M, A, D, F, ...)                                                          \
    do {                                                                                       \
        int *b = s;                                                                            \
        MPI_Datatype t = MPI_INT;                                                              \
        const T *c = M;                                                                        \
        const A *a = D;                                                                        \
        ARRAYS(C, D, F, __VA_ARGS__);                                                       \
        b = s, t = MPI_DATATYPE_NULL;                                                          \
        BAD(MPI_ERR_TYPE, "datatype", F, __VA_ARGS__);                                         \
        t = uncommitted;                                                                       \
        BAD(MPI_ERR_TYPE, "commit", F, __VA_ARGS__);                                           \
    } while (0)

/* The same with an array of types, too. */
#define TYPED(T, C, M, A, D, F, ...)                                                           \
    do {                                                                                       \
        int *b = s;                                                                            \
        const MPI_Datatype *t = ints;                                                          \
        const T *c = M;                                                                        \
        const A *a = D;                                                                        \
        ARRAYS(C, D, F, __VA_ARGS__);                                                       \
        b = s, t = NULL;                                                                       \
        BAD(MPI_ERR_ARG, "datatypes is NULL", F, __VA_ARGS__);                                 \
        t = none;                                                                              \
        BAD(MPI_ERR_TYPE, "datatype", F, __VA_ARGS__);                                         \
        t = late;                                                                              \
        BAD(MPI_ERR_TYPE, "commit", F, __VA_ARGS__);                                           \
    } while (0)

/* For this macro all six forms of an operation: with int and with MPI_Count, blocking, nonblocking and persistent. */
#define SIX(M, name, lower)                                                                    \
    M(MPI_##name); M(MPI_##name##_c); M(MPI_I##lower, &r); M(MPI_I##lower##_c, &r);            \
    M(MPI_##name##_init, N, &r); M(MPI_##name##_init_c, N, &r)
#define SIX_V(M, name, lower)                                                                  \
    M(MPI_##name, int, ones, minus, int, offs); M(MPI_##name##_c, MPI_Count, cones, cminus, MPI_Aint, aoffs); \
    M(MPI_I##lower, int, ones, minus, int, offs, &r);                                          \
    M(MPI_I##lower##_c, MPI_Count, cones, cminus, MPI_Aint, aoffs, &r);                        \
    M(MPI_##name##_init, int, ones, minus, int, offs, N, &r);                                  \
    M(MPI_##name##_init_c, MPI_Count, cones, cminus, MPI_Aint, aoffs, N, &r)

/* Who is told something by rank 0 of the other group, and who tells. */
#define BCAST(F, ...)                                                                          \
    ROOT(F, s, 1, I, root, k, ##__VA_ARGS__);                                                  \
    BUFFER("buffer", F, b, n, t, 0, inter, ##__VA_ARGS__);                                     \
    BUFFER("buffer", F, b, n, t, MPI_ROOT, inter, ##__VA_ARGS__)
/* Who gives to rank 0 of the other group, and who gets. */
#define GATHER(F, ...)                                                                         \
    ROOT(F, s, 1, I, d, 1, I, root, k, ##__VA_ARGS__);                                         \
    BUFFER("sendbuf", F, b, n, t, d, 1, I, 0, inter, ##__VA_ARGS__);                           \
    BUFFER("recvbuf", F, d, 1, I, b, n, t, MPI_ROOT, inter, ##__VA_ARGS__)
#define SCATTER(F, ...)                                                                        \
    ROOT(F, s, 1, I, d, 1, I, root, k, ##__VA_ARGS__);                                         \
    BUFFER("sendbuf", F, b, n, t, d, 1, I, MPI_ROOT, inter, ##__VA_ARGS__);                    \
    BUFFER("recvbuf", F, d, 1, I, b, n, t, 0, inter, ##__VA_ARGS__)
#define GATHERV(F, T, C, M, A, D, ...)                                                         \
    ROOT(F, s, 1, I, d, C, D, I, root, k, ##__VA_ARGS__);                                      \
    BUFFER("sendbuf", F, b, n, t, d, C, D, I, 0, inter, ##__VA_ARGS__);                        \
    BLOCKS(T, C, M, A, D, F, d, 1, I, b, c, a, t, MPI_ROOT, inter, ##__VA_ARGS__)
#define SCATTERV(F, T, C, M, A, D, ...)                                                        \
    ROOT(F, s, C, D, I, d, 1, I, root, k, ##__VA_ARGS__);                                      \
    BUFFER("recvbuf", F, s, C, D, I, b, n, t, 0, inter, ##__VA_ARGS__);                        \
    BLOCKS(T, C, M, A, D, F, b, c, a, t, d, 1, I, MPI_ROOT, inter, ##__VA_ARGS__)
/* Everybody gives and gets. */
#define ALL(F, ...)                                                                            \
    BUFFER("sendbuf", F, b, n, t, d, 1, I, inter, ##__VA_ARGS__);                              \
    BUFFER("recvbuf", F, d, 1, I, b, n, t, inter, ##__VA_ARGS__)
#define ALLGATHERV(F, T, C, M, A, D, ...)                                                      \
    BUFFER("sendbuf", F, b, n, t, d, C, D, I, inter, ##__VA_ARGS__);                           \
    BLOCKS(T, C, M, A, D, F, d, 1, I, b, c, a, t, inter, ##__VA_ARGS__)
#define ALLTOALLV(F, T, C, M, A, D, ...)                                                       \
    BLOCKS(T, C, M, A, D, F, b, c, a, t, d, C, D, I, inter, ##__VA_ARGS__);                    \
    BLOCKS(T, C, M, A, D, F, d, C, D, I, b, c, a, t, inter, ##__VA_ARGS__)
#define ALLTOALLW(F, T, C, M, A, D, ...)                                                       \
    TYPED(T, C, M, A, D, F, b, c, a, t, d, C, D, ints, inter, ##__VA_ARGS__);                  \
    TYPED(T, C, M, A, D, F, d, C, D, ints, b, c, a, t, inter, ##__VA_ARGS__)

static void movement(void)
{
    SIX(BCAST, Bcast, bcast);
    SIX(GATHER, Gather, gather);
    SIX(SCATTER, Scatter, scatter);
    SIX(ALL, Allgather, allgather);
    SIX(ALL, Alltoall, alltoall);
    SIX_V(GATHERV, Gatherv, gatherv);
    SIX_V(SCATTERV, Scatterv, scatterv);
    SIX_V(ALLGATHERV, Allgatherv, allgatherv);
    SIX_V(ALLTOALLV, Alltoallv, alltoallv);
    SIX_V(ALLTOALLW, Alltoallw, alltoallw);
}

/* A type and an operation, `t` and `o`, which do not fit together or are none. */
#define FITS(F, ...)                                                                           \
    do {                                                                                       \
        MPI_Datatype t = MPI_DATATYPE_NULL;                                                    \
        MPI_Op o = MPI_SUM;                                                                    \
        BAD(MPI_ERR_TYPE, "datatype", F, __VA_ARGS__);                                         \
        t = uncommitted, o = bad_live_op;                                                      \
        BAD(MPI_ERR_TYPE, "commit", F, __VA_ARGS__);                                           \
        t = MPI_INT, o = MPI_OP_NULL;                                                          \
        BAD(MPI_ERR_OP, "op is ", F, __VA_ARGS__);                                             \
        o = MPI_MINLOC;                                                                        \
        BAD(MPI_ERR_OP, "MPI_MINLOC", F, __VA_ARGS__);                                         \
        t = MPI_DOUBLE, o = MPI_BAND;                                                          \
        BAD(MPI_ERR_OP, "MPI_BAND", F, __VA_ARGS__);                                           \
        t = MPI_INT, o = MPI_REPLACE;                                                          \
        BAD(MPI_ERR_OP, "MPI_REPLACE", F, __VA_ARGS__);                                        \
    } while (0)

#define REDUCE(F, ...)                                                                         \
    ROOT(F, s, d, 1, I, MPI_SUM, root, k, ##__VA_ARGS__);                                      \
    FITS(F, s, d, 1, t, o, 0, inter, ##__VA_ARGS__);                                           \
    FITS(F, s, d, 1, t, o, MPI_ROOT, inter, ##__VA_ARGS__);                                    \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, d, -1, I, MPI_SUM, 0, inter, ##__VA_ARGS__);       \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, d, -1, I, MPI_SUM, MPI_ROOT, inter, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "sendbuf is NULL", F, NULL, d, 1, I, MPI_SUM, 0, inter, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, MPI_IN_PLACE, d, 1, I, MPI_SUM, 0, inter, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "recvbuf is NULL", F, s, NULL, 1, I, MPI_SUM, MPI_ROOT, inter, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, s, MPI_IN_PLACE, 1, I, MPI_SUM, MPI_ROOT, inter, ##__VA_ARGS__)
#define TWO_BUFFERS(F, C, ...)                                                                 \
    FITS(F, s, d, C, t, o, inter, ##__VA_ARGS__);                                              \
    BAD(MPI_ERR_BUFFER, "NULL", F, NULL, d, C, I, MPI_SUM, inter, ##__VA_ARGS__);               \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, MPI_IN_PLACE, d, C, I, MPI_SUM, inter, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "NULL", F, s, NULL, C, I, MPI_SUM, inter, ##__VA_ARGS__);               \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, s, MPI_IN_PLACE, C, I, MPI_SUM, inter, ##__VA_ARGS__)
#define ALLREDUCE(F, ...)                                                                      \
    TWO_BUFFERS(F, 1, ##__VA_ARGS__);                                                          \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, d, -1, I, MPI_SUM, inter, ##__VA_ARGS__)
/* There is a count for each rank of the own group: each gets a part of what the other group gives. */
#define REDUCE_SCATTER(F, C, M, ...)                                                           \
    TWO_BUFFERS(F, C, ##__VA_ARGS__);                                                          \
    BAD(MPI_ERR_COUNT, last_here, F, s, d, M, I, MPI_SUM, inter, ##__VA_ARGS__);                \
    BAD(MPI_ERR_ARG, "counts is NULL", F, s, d, NULL, I, MPI_SUM, inter, ##__VA_ARGS__)
/* Between two groups there is no rank before another one. MPI-5.0 section 6.11. */
#define SCAN(F, ...) BAD(MPI_ERR_COMM, "comm is ", F, s, d, 1, I, MPI_SUM, inter, ##__VA_ARGS__)

static void reductions(void)
{
    SIX(REDUCE, Reduce, reduce);
    SIX(ALLREDUCE, Allreduce, allreduce);
    SIX(ALLREDUCE, Reduce_scatter_block, reduce_scatter_block);
    SIX(SCAN, Scan, scan);
    SIX(SCAN, Exscan, exscan);
    REDUCE_SCATTER(MPI_Reduce_scatter, ones, minus_here);
    REDUCE_SCATTER(MPI_Reduce_scatter_c, cones, cminus_here);
    REDUCE_SCATTER(MPI_Ireduce_scatter, ones, minus_here, &r);
    REDUCE_SCATTER(MPI_Ireduce_scatter_c, cones, cminus_here, &r);
    REDUCE_SCATTER(MPI_Reduce_scatter_init, ones, minus_here, N, &r);
    REDUCE_SCATTER(MPI_Reduce_scatter_init_c, cones, cminus_here, N, &r);
}

/* No place for a request, a wrong info object, and neighbours, which only a communicator with a topology has. */
static void requests_and_hints(void)
{
    int wrong_infos = 0;
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL) {
        BAD(MPI_ERR_INFO, "info is ", MPI_Scatterv_init, s, ones, offs, I, d, 1, I, MPI_ROOT, inter, w, &r);
        BAD(MPI_ERR_INFO, "info is ", MPI_Alltoallw_init_c, s, cones, aoffs, ints, d, cones, aoffs, ints, inter, w, &r);
        BAD(MPI_ERR_INFO, "info is ", MPI_Reduce_scatter_init, s, d, ones, I, MPI_SUM, inter, w, &r);
        wrong_infos++;
    }
    CHECK(wrong_infos > 0, "there is no wrong info object");
#define NO_REQUEST(F, ...) BAD(MPI_ERR_ARG, "request is NULL", F, __VA_ARGS__, NULL)
    NO_REQUEST(MPI_Ibarrier, inter);
    NO_REQUEST(MPI_Ibcast, s, 1, I, MPI_ROOT, inter);
    NO_REQUEST(MPI_Igather, s, 1, I, d, 1, I, 0, inter);
    NO_REQUEST(MPI_Iscatterv, s, ones, offs, I, d, 1, I, MPI_PROC_NULL, inter);
    NO_REQUEST(MPI_Iallgatherv_c, s, 1, I, d, cones, aoffs, I, inter);
    NO_REQUEST(MPI_Ialltoall, s, 1, I, d, 1, I, inter);
    NO_REQUEST(MPI_Ireduce_scatter_block, s, d, 1, I, MPI_SUM, inter);
    NO_REQUEST(MPI_Barrier_init, inter, N);
    NO_REQUEST(MPI_Reduce_init, s, d, 1, I, MPI_SUM, MPI_PROC_NULL, inter, N);
    NO_REQUEST(MPI_Alltoallv_init, s, ones, offs, I, d, ones, offs, I, inter, N);
    BAD(MPI_ERR_COMM, "intercommunicator", MPI_Neighbor_alltoall, s, 1, I, d, 1, I, inter);
    BAD(MPI_ERR_COMM, "intercommunicator", MPI_Ineighbor_allgather, s, 1, I, d, 1, I, inter, &r);
}

/* What rank `from` of a group, the right one or the left one, gives as its element i. */
static int value(int is_right, int from, int i)
{
    return 1000 * (1 + is_right) + 100 * from + i;
}

/* Ends the operation under way, if there is one, for the second time, too, if it is persistent. */
static void over(int is_persistent)
{
    for (int time = 0; time < (is_persistent ? 2 : 1); time++) {
        if (is_persistent) OK(MPI_Start(&r));
        if (r != MPI_REQUEST_NULL) OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
    if (is_persistent) OK(MPI_Request_free(&r));
}

/* The six forms, with one list of arguments for int and one for MPI_Count; after each the results are looked at. */
#define ARGS(...) __VA_ARGS__
#define GOOD(results, name, lower, args, args_c)                                               \
    OK(MPI_##name(ARGS args)); results;                                                        \
    OK(MPI_##name##_c(ARGS args_c)); results;                                                  \
    OK(MPI_I##lower(ARGS args, &r)); over(0); results;                                         \
    OK(MPI_I##lower##_c(ARGS args_c, &r)); over(0); results;                                   \
    OK(MPI_##name##_init(ARGS args, N, &r)); over(1); results;                                 \
    OK(MPI_##name##_init_c(ARGS args_c, N, &r)); over(1); results

/* The first `n` elements of d are there, and nothing behind them. */
#define ARE(n, expected)                                                                       \
    do {                                                                                       \
        for (int e = 0; e < (n); e++) EQUAL(d[e], expected);                                   \
        for (int e = (n); e < 2 * MOST; e++) EQUAL(d[e], NOTHING);                             \
        for (int e = 0; e < 2 * MOST; e++) d[e] = NOTHING;                                     \
    } while (0)

/* An operation whose root is the last rank of a group. All the rest of that group gives nonsense, and so do all for what is not
 * theirs. */
static void to_or_from(int root_is_right)
{
    enum { ROOT_HERE, NOT_ROOT, OTHER } role = right != root_is_right ? OTHER : mine == local_size - 1 ? ROOT_HERE : NOT_ROOT;
    int root = role == OTHER ? remote_size - 1 : role == ROOT_HERE ? MPI_ROOT : MPI_PROC_NULL;
    int is_root = role == ROOT_HERE, is_other = role == OTHER;
    /* The arrays are as long as the other group. */
    int counts[MOST], places[MOST];
    MPI_Count ccounts[MOST];
    MPI_Aint aplaces[MOST];
    for (int i = 0; i < MOST; i++) ccounts[i] = counts[i] = i < remote_size ? 1 : -1, aplaces[i] = places[i] = i;
    /* What somebody gives who is the root, and who is in the other group: b, n, t, c, a. */
    int *rb = is_root ? s : NULL, *ob = is_other ? s : NULL, rn = is_root ? 1 : -1, on = is_other ? 1 : -1;
    int *rd = is_root ? d : NULL, *od = is_other ? d : NULL;
    MPI_Datatype rt = is_root ? I : MPI_DATATYPE_NULL, ot = is_other ? I : MPI_DATATYPE_NULL;
    MPI_Datatype bt = role == NOT_ROOT ? MPI_DATATYPE_NULL : I;
    MPI_Op op = role == NOT_ROOT ? MPI_OP_NULL : MPI_SUM;
    int *c = is_root ? counts : NULL, *a = is_root ? places : NULL, both = role == NOT_ROOT ? -1 : 1;
    MPI_Count *cc = is_root ? ccounts : NULL;
    MPI_Aint *aa = is_root ? aplaces : NULL;
    int sum = 0;
    for (int i = 0; i < remote_size; i++) sum += value(!right, i, 0);
    for (int i = 0; i < 2 * MOST; i++) s[i] = value(right, mine, i), d[i] = NOTHING;
    int gets_one = is_other ? 1 : 0, gets_all = is_root ? remote_size : 0;

    int *told = is_root ? s : od;
    GOOD(ARE(gets_one, value(!right, remote_size - 1, 0)), Bcast, bcast, (told, both, bt, root, inter), (told, both, bt, root, inter));
    GOOD(ARE(gets_all, value(!right, e, 0)), Gather, gather, (ob, on, ot, rd, rn, rt, root, inter), (ob, on, ot, rd, rn, rt, root, inter));
    GOOD(ARE(gets_all, value(!right, e, 0)), Gatherv, gatherv, (ob, on, ot, rd, c, a, rt, root, inter),
         (ob, on, ot, rd, cc, aa, rt, root, inter));
    GOOD(ARE(gets_one, value(!right, remote_size - 1, mine)), Scatter, scatter, (rb, rn, rt, od, on, ot, root, inter),
         (rb, rn, rt, od, on, ot, root, inter));
    GOOD(ARE(gets_one, value(!right, remote_size - 1, mine)), Scatterv, scatterv, (rb, c, a, rt, od, on, ot, root, inter),
         (rb, cc, aa, rt, od, on, ot, root, inter));
    GOOD(ARE(is_root, sum), Reduce, reduce, (ob, rd, both, bt, op, root, inter), (ob, rd, both, bt, op, root, inter));
}

/* All give and get; the arrays have nonsense behind what counts. */
static void among_all(void)
{
    int counts[MOST], places[MOST], bytes[MOST], shares[MOST], sum = 0;
    MPI_Count ccounts[MOST], cshares[MOST];
    MPI_Aint aplaces[MOST], abytes[MOST];
    MPI_Datatype types[MOST];
    for (int i = 0; i < MOST; i++) {
        ccounts[i] = counts[i] = i < remote_size ? 1 : -1, aplaces[i] = places[i] = i, abytes[i] = bytes[i] = i * (int)sizeof(int);
        types[i] = i < remote_size ? I : MPI_DATATYPE_NULL;
        /* All ranks of a group get as much together as those of the other one. */
        cshares[i] = shares[i] = i < local_size ? remote_size : -1;
    }
    for (int i = 0; i < 2 * MOST; i++) s[i] = value(right, mine, i), d[i] = NOTHING;
    for (int i = 0; i < remote_size; i++) sum += value(!right, i, 0);
    GOOD(ARE(remote_size, value(!right, e, 0)), Allgather, allgather, (s, 1, I, d, 1, I, inter), (s, 1, I, d, 1, I, inter));
    GOOD(ARE(remote_size, value(!right, e, 0)), Allgatherv, allgatherv, (s, 1, I, d, counts, places, I, inter),
         (s, 1, I, d, ccounts, aplaces, I, inter));
    GOOD(ARE(remote_size, value(!right, e, mine)), Alltoall, alltoall, (s, 1, I, d, 1, I, inter), (s, 1, I, d, 1, I, inter));
    GOOD(ARE(remote_size, value(!right, e, mine)), Alltoallv, alltoallv, (s, counts, places, I, d, counts, places, I, inter),
         (s, ccounts, aplaces, I, d, ccounts, aplaces, I, inter));
    GOOD(ARE(remote_size, value(!right, e, mine)), Alltoallw, alltoallw, (s, counts, bytes, types, d, counts, bytes, types, inter),
         (s, ccounts, abytes, types, d, ccounts, abytes, types, inter));
    GOOD(ARE(1, sum), Allreduce, allreduce, (s, d, 1, I, MPI_SUM, inter), (s, d, 1, I, MPI_SUM, inter));
    GOOD(ARE(remote_size, sum + remote_size * (mine * remote_size + e)), Reduce_scatter, reduce_scatter, (s, d, shares, I, MPI_SUM, inter),
         (s, d, cshares, I, MPI_SUM, inter));
    GOOD(ARE(remote_size, sum + remote_size * (mine * remote_size + e)), Reduce_scatter_block, reduce_scatter_block,
         (s, d, remote_size, I, MPI_SUM, inter), (s, d, remote_size, I, MPI_SUM, inter));
}

/* Who gets more than there is place for says so; nobody hangs. */
static void too_much(void)
{
    int is_root = right && mine == 0, root = !right ? 0 : is_root ? MPI_ROOT : MPI_PROC_NULL;
    if (right) OK(MPI_Scatter(s, 2, I, NULL, 0, I, root, inter));
    else BAD(MPI_ERR_TRUNCATE, "8 bytes", MPI_Scatter, NULL, 0, I, d, 1, I, root, inter);
    if (is_root) BAD(MPI_ERR_TRUNCATE, "bytes", MPI_Gather, NULL, 0, I, d, 1, I, root, inter);
    else OK(MPI_Gather(s, 2, I, NULL, 0, I, root, inter));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    create();
    s = (int *)check_guarded(2 * MOST * sizeof(int)), d = (int *)check_guarded(2 * MOST * sizeof(int));
    check_fill(s, 2 * MOST * sizeof(int), 1);
    check_fill(d, 2 * MOST * sizeof(int), 2);
    movement();
    bad_still_works();
    reductions();
    requests_and_hints();
    bad_still_works();
    check_filled(s, 2 * MOST * sizeof(int), 1);
    check_filled(d, 2 * MOST * sizeof(int), 2);
    to_or_from(0);
    to_or_from(1);
    among_all();
    too_much();
    among_all();
    check_free_guarded((unsigned char *)s, 2 * MOST * sizeof(int));
    check_free_guarded((unsigned char *)d, 2 * MOST * sizeof(int));
    OK(MPI_Type_free(&uncommitted));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
    return bad_end();
}
