// ranks: 1 2 3
// only: posthaste
// alone
/* Every argument of every collective operation wrong in turn, blocking, nonblocking and persistent, with int and
 * MPI_Count. MPI-5.0 chapter 6. Each process finds its mistake alone, before any message: nobody waits for it. */
#include "bad_check.h"

enum { MOST = 3 };
static int *s, *d, ones[MOST] = {1, 1, 1}, offs[MOST + 1] = {0, 1, 2, 3}, minus[MOST] = {1, 1, -1};
static MPI_Count cones[MOST] = {1, 1, 1}, cminus[MOST] = {1, 1, -1}, cwide[MOST] = {(MPI_Count)1 << 62, 0, 0};
static MPI_Aint aoffs[MOST + 1] = {0, 1, 2, 3};
static MPI_Datatype uncommitted, ints[MOST], late[MOST];
static MPI_Request r;
static char last[40];
#define W MPI_COMM_WORLD
#define N MPI_INFO_NULL
/* Of arrays whose last element is wrong: one element for each rank of W, and for the only one of MPI_COMM_SELF. */
#define LAST(A) (A) + MOST - size
#define ONLY(A) (A) + MOST - 1

/* The four wrong arguments that all of them share. */
#define COMM(F, ...) EACH(BAD_COMM, MPI_Comm, c) BAD(MPI_ERR_COMM, "comm is ", F, __VA_ARGS__)
#define TYPE(F, ...) EACH(BAD_TYPE, MPI_Datatype, t) BAD(MPI_ERR_TYPE, "datatype", F, __VA_ARGS__)
#define OPER(F, ...) EACH(BAD_OP, MPI_Op, o) BAD(MPI_ERR_OP, "op is ", F, __VA_ARGS__)
#define ROOT(F, ...)                                                                 \
    do {                                                                             \
        int root = -1;                                                               \
        BAD(MPI_ERR_ROOT, "root is -1,", F, __VA_ARGS__);                            \
        root = size;                                                                 \
        BAD(MPI_ERR_ROOT, "root is ", F, __VA_ARGS__);                               \
        root = MPI_PROC_NULL;                                                        \
        BAD(MPI_ERR_ROOT, "root is ", F, __VA_ARGS__);                               \
    } while (0)

#define BCAST(F, ...)                                                                \
    COMM(F, s, 1, MPI_INT, 0, c, ##__VA_ARGS__);                                     \
    TYPE(F, s, 1, t, 0, W, ##__VA_ARGS__);                                           \
    ROOT(F, s, 1, MPI_INT, root, W, ##__VA_ARGS__);                                  \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, -1, MPI_INT, 0, W, ##__VA_ARGS__);      \
    BAD(MPI_ERR_BUFFER, "buffer is NULL", F, NULL, 1, MPI_INT, 0, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, MPI_IN_PLACE, 1, MPI_INT, 0, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, uncommitted, 0, W, ##__VA_ARGS__)

/* Gather and scatter: at a root both buffers count. */
#define ROOTED(F, ...)                                                                         \
    COMM(F, s, 1, MPI_INT, d, 1, MPI_INT, 0, c, ##__VA_ARGS__);                                \
    TYPE(F, s, 1, t, d, 1, t, rank, W, ##__VA_ARGS__);                                         \
    ROOT(F, s, 1, MPI_INT, d, 1, MPI_INT, root, W, ##__VA_ARGS__);                             \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, -1, MPI_INT, d, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, 1, MPI_INT, d, -1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "sendbuf is NULL", F, NULL, 1, MPI_INT, d, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "recvbuf is NULL", F, s, 1, MPI_INT, NULL, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, uncommitted, d, 1, MPI_INT, rank, W, ##__VA_ARGS__);  \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, MPI_INT, d, 1, uncommitted, rank, W, ##__VA_ARGS__)

#define ALL(F, ...)                                                                            \
    COMM(F, s, 1, MPI_INT, d, 1, MPI_INT, c, ##__VA_ARGS__);                                   \
    TYPE(F, s, 1, t, d, 1, MPI_INT, W, ##__VA_ARGS__);                                         \
    TYPE(F, s, 1, MPI_INT, d, 1, t, W, ##__VA_ARGS__);                                         \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, -1, MPI_INT, d, 1, MPI_INT, W, ##__VA_ARGS__);     \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, 1, MPI_INT, d, -1, MPI_INT, W, ##__VA_ARGS__);     \
    BAD(MPI_ERR_BUFFER, "sendbuf is NULL", F, NULL, 1, MPI_INT, d, 1, MPI_INT, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "recvbuf is NULL", F, s, 1, MPI_INT, NULL, 1, MPI_INT, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, s, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, uncommitted, d, 1, MPI_INT, W, ##__VA_ARGS__);        \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, MPI_INT, d, 1, uncommitted, W, ##__VA_ARGS__)

#define GATHERV(F, C, M, D, ...)                                                               \
    COMM(F, s, 1, MPI_INT, d, C, D, MPI_INT, 0, c, ##__VA_ARGS__);                             \
    TYPE(F, s, 1, t, d, C, D, MPI_INT, rank, W, ##__VA_ARGS__);                                \
    TYPE(F, s, 1, MPI_INT, d, C, D, t, rank, W, ##__VA_ARGS__);                                \
    ROOT(F, s, 1, MPI_INT, d, C, D, MPI_INT, root, W, ##__VA_ARGS__);                          \
    BAD(MPI_ERR_COUNT, "-1", F, s, -1, MPI_INT, d, C, D, MPI_INT, rank, W, ##__VA_ARGS__);      \
    BAD(MPI_ERR_COUNT, "counts is -1 for rank 0", F, s, 1, MPI_INT, d, ONLY(M), D, MPI_INT, 0, MPI_COMM_SELF, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, last, F, s, 1, MPI_INT, d, LAST(M), D, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_ARG, "NULL", F, s, 1, MPI_INT, d, NULL, D, MPI_INT, rank, W, ##__VA_ARGS__);    \
    BAD(MPI_ERR_ARG, "displs is NULL", F, s, 1, MPI_INT, d, C, NULL, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "sendbuf is NULL", F, NULL, 1, MPI_INT, d, C, D, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "NULL", F, s, 1, MPI_INT, NULL, C, D, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, uncommitted, d, C, D, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, MPI_INT, d, C, D, uncommitted, rank, W, ##__VA_ARGS__)

#define SCATTERV(F, C, M, D, ...)                                                              \
    COMM(F, s, C, D, MPI_INT, d, 1, MPI_INT, 0, c, ##__VA_ARGS__);                             \
    TYPE(F, s, C, D, t, d, 1, MPI_INT, rank, W, ##__VA_ARGS__);                                \
    TYPE(F, s, C, D, MPI_INT, d, 1, t, rank, W, ##__VA_ARGS__);                                \
    ROOT(F, s, C, D, MPI_INT, d, 1, MPI_INT, root, W, ##__VA_ARGS__);                          \
    BAD(MPI_ERR_COUNT, "-1", F, s, C, D, MPI_INT, d, -1, MPI_INT, rank, W, ##__VA_ARGS__);      \
    BAD(MPI_ERR_COUNT, "counts is -1 for rank 0", F, s, ONLY(M), D, MPI_INT, d, 1, MPI_INT, 0, MPI_COMM_SELF, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, last, F, s, LAST(M), D, MPI_INT, d, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_ARG, "NULL", F, s, NULL, D, MPI_INT, d, 1, MPI_INT, rank, W, ##__VA_ARGS__);    \
    BAD(MPI_ERR_ARG, "displs is NULL", F, s, C, NULL, MPI_INT, d, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "NULL", F, NULL, C, D, MPI_INT, d, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "recvbuf is NULL", F, s, C, D, MPI_INT, NULL, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, C, D, uncommitted, d, 1, MPI_INT, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, C, D, MPI_INT, d, 1, uncommitted, rank, W, ##__VA_ARGS__)

#define ALLGATHERV(F, C, M, D, ...)                                                            \
    COMM(F, s, 1, MPI_INT, d, C, D, MPI_INT, c, ##__VA_ARGS__);                                \
    TYPE(F, s, 1, t, d, C, D, MPI_INT, W, ##__VA_ARGS__);                                      \
    TYPE(F, s, 1, MPI_INT, d, C, D, t, W, ##__VA_ARGS__);                                      \
    BAD(MPI_ERR_COUNT, "-1", F, s, -1, MPI_INT, d, C, D, MPI_INT, W, ##__VA_ARGS__);            \
    BAD(MPI_ERR_COUNT, "counts is -1 for rank 0", F, s, 1, MPI_INT, d, ONLY(M), D, MPI_INT, MPI_COMM_SELF, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, last, F, s, 1, MPI_INT, d, LAST(M), D, MPI_INT, W, ##__VA_ARGS__);       \
    BAD(MPI_ERR_ARG, "NULL", F, s, 1, MPI_INT, d, NULL, D, MPI_INT, W, ##__VA_ARGS__);          \
    BAD(MPI_ERR_ARG, "displs is NULL", F, s, 1, MPI_INT, d, C, NULL, MPI_INT, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "sendbuf is NULL", F, NULL, 1, MPI_INT, d, C, D, MPI_INT, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "NULL", F, s, 1, MPI_INT, NULL, C, D, MPI_INT, W, ##__VA_ARGS__);       \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, uncommitted, d, C, D, MPI_INT, W, ##__VA_ARGS__);      \
    BAD(MPI_ERR_TYPE, "commit", F, s, 1, MPI_INT, d, C, D, uncommitted, W, ##__VA_ARGS__)

#define ALLTOALLV(F, C, M, D, T, L, says, ...)                                                 \
    COMM(F, s, C, D, T, d, C, D, T, c, ##__VA_ARGS__);                                         \
    BAD(MPI_ERR_COUNT, "counts is -1 for rank 0", F, s, ONLY(M), D, T, d, C, D, T, MPI_COMM_SELF, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, "counts is -1 for rank 0", F, s, C, D, T, d, ONLY(M), D, T, MPI_COMM_SELF, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, last, F, s, LAST(M), D, T, d, C, D, T, W, ##__VA_ARGS__);                \
    BAD(MPI_ERR_COUNT, last, F, s, C, D, T, d, LAST(M), D, T, W, ##__VA_ARGS__);                \
    BAD(MPI_ERR_ARG, "NULL", F, s, NULL, D, T, d, C, D, T, W, ##__VA_ARGS__);                   \
    BAD(MPI_ERR_ARG, "NULL", F, s, C, NULL, T, d, C, D, T, W, ##__VA_ARGS__);                   \
    BAD(MPI_ERR_ARG, "NULL", F, s, C, D, T, d, NULL, D, T, W, ##__VA_ARGS__);                   \
    BAD(MPI_ERR_ARG, "NULL", F, s, C, D, T, d, C, NULL, T, W, ##__VA_ARGS__);                   \
    BAD(MPI_ERR_TYPE, says, F, s, C, D, L, d, C, D, T, W, ##__VA_ARGS__);                       \
    BAD(MPI_ERR_TYPE, says, F, s, C, D, T, d, C, D, L, W, ##__VA_ARGS__)

/* Blocks of types of their own: each is looked at where it lies. */
#define BLOCKS(F, C, M, D, ...)                                                                \
    BAD(MPI_ERR_BUFFER, "buffer is NULL for 1", F, NULL, C, D, ints, d, C, D, ints, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "buffer is NULL for 1", F, s, C, D, ints, NULL, C, D, ints, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "buffer is NULL for 1", F, s, C, D, ints, NULL, C, D + 1, ints, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, s, C, D, ints, MPI_IN_PLACE, C, D, ints, W, ##__VA_ARGS__)

#define WIDE_BLOCKS(F, ...)                                                                    \
    BAD(MPI_ERR_COUNT, "63 bits", F, s, cwide, aoffs, ints, d, cones, aoffs, ints, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, "63 bits", F, s, cones, aoffs, ints, d, cwide, aoffs, ints, W, ##__VA_ARGS__)

/* Operations on types that they are not for, too. */
#define REDUCE(F, ...)                                                                         \
    REDUCE_SENT(F, ##__VA_ARGS__);                                                             \
    REDUCE_RECEIVED(F, ##__VA_ARGS__)

#define REDUCE_RECEIVED(F, ...)                                                                \
    BAD(MPI_ERR_BUFFER, "recvbuf is NULL", F, s, NULL, 1, MPI_INT, MPI_SUM, W, ##__VA_ARGS__);  \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, s, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, W, ##__VA_ARGS__)

#define REDUCE_SENT(F, ...)                                                                    \
    COMM(F, s, d, 1, MPI_INT, MPI_SUM, c, ##__VA_ARGS__);                                      \
    TYPE(F, s, d, 1, t, MPI_SUM, W, ##__VA_ARGS__);                                            \
    OPER(F, s, d, 1, MPI_INT, o, W, ##__VA_ARGS__);                                            \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, d, -1, MPI_INT, MPI_SUM, W, ##__VA_ARGS__);        \
    BAD(MPI_ERR_BUFFER, "sendbuf is NULL", F, NULL, d, 1, MPI_INT, MPI_SUM, W, ##__VA_ARGS__);  \
    BAD(MPI_ERR_TYPE, "commit", F, s, d, 1, uncommitted, bad_live_op, W, ##__VA_ARGS__);        \
    BAD(MPI_ERR_OP, "MPI_BAND", F, s, d, 1, MPI_DOUBLE, MPI_BAND, W, ##__VA_ARGS__);            \
    BAD(MPI_ERR_OP, "MPI_MINLOC", F, s, d, 1, MPI_INT, MPI_MINLOC, W, ##__VA_ARGS__);           \
    BAD(MPI_ERR_OP, "MPI_SUM", F, s, d, 1, MPI_2INT, MPI_SUM, W, ##__VA_ARGS__);                \
    BAD(MPI_ERR_OP, "MPI_SUM", F, s, d, 1, late[0], MPI_SUM, W, ##__VA_ARGS__)

#define REDUCE_TO_ROOT(F, ...)                                                                 \
    COMM(F, s, d, 1, MPI_INT, MPI_SUM, 0, c, ##__VA_ARGS__);                                   \
    TYPE(F, s, d, 1, t, MPI_SUM, 0, W, ##__VA_ARGS__);                                         \
    OPER(F, s, d, 1, MPI_INT, o, 0, W, ##__VA_ARGS__);                                         \
    ROOT(F, s, d, 1, MPI_INT, MPI_SUM, root, W, ##__VA_ARGS__);                                \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, d, -1, MPI_INT, MPI_SUM, 0, W, ##__VA_ARGS__);     \
    BAD(MPI_ERR_BUFFER, "sendbuf is NULL", F, NULL, d, 1, MPI_INT, MPI_SUM, 0, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_BUFFER, "recvbuf is NULL", F, s, NULL, 1, MPI_INT, MPI_SUM, rank, W, ##__VA_ARGS__); \
    BAD(MPI_ERR_TYPE, "commit", F, s, d, 1, uncommitted, bad_live_op, 0, W, ##__VA_ARGS__);     \
    BAD(MPI_ERR_OP, "MPI_BAND", F, s, d, 1, MPI_DOUBLE, MPI_BAND, 0, W, ##__VA_ARGS__)

#define REDUCE_SCATTER(F, C, M, ...)                                                           \
    COMM(F, s, d, C, MPI_INT, MPI_SUM, c, ##__VA_ARGS__);                                      \
    TYPE(F, s, d, C, t, MPI_SUM, W, ##__VA_ARGS__);                                            \
    OPER(F, s, d, C, MPI_INT, o, W, ##__VA_ARGS__);                                            \
    BAD(MPI_ERR_COUNT, "counts is -1 for rank 0", F, s, d, ONLY(M), MPI_INT, MPI_SUM, MPI_COMM_SELF, ##__VA_ARGS__); \
    BAD(MPI_ERR_COUNT, last, F, s, d, LAST(M), MPI_INT, MPI_SUM, W, ##__VA_ARGS__);             \
    BAD(MPI_ERR_ARG, "NULL", F, s, d, NULL, MPI_INT, MPI_SUM, W, ##__VA_ARGS__);                \
    BAD(MPI_ERR_BUFFER, "NULL", F, NULL, d, C, MPI_INT, MPI_SUM, W, ##__VA_ARGS__);             \
    BAD(MPI_ERR_BUFFER, "NULL", F, s, NULL, C, MPI_INT, MPI_SUM, W, ##__VA_ARGS__);             \
    BAD(MPI_ERR_TYPE, "commit", F, s, d, C, uncommitted, bad_live_op, W, ##__VA_ARGS__);        \
    BAD(MPI_ERR_OP, "MPI_BAND", F, s, d, C, MPI_DOUBLE, MPI_BAND, W, ##__VA_ARGS__)

/* A macro for all six forms of an operation. */
#define FORMS(M, name)                                                               \
    M(MPI_##name); M(MPI_##name##_c);                                                \
    M(MPI_I##name, &r); M(MPI_I##name##_c, &r)
#define INIT(M, name) M(MPI_##name##_init, N, &r); M(MPI_##name##_init_c, N, &r)
#define FORMS_V(M, name, lower)                                                      \
    M(MPI_##name, ones, minus, offs); M(MPI_##name##_c, cones, cminus, aoffs);       \
    M(MPI_I##lower, ones, minus, offs, &r); M(MPI_I##lower##_c, cones, cminus, aoffs, &r); \
    M(MPI_##name##_init, ones, minus, offs, N, &r); M(MPI_##name##_init_c, cones, cminus, aoffs, N, &r)
#define FORMS_R(M, name, lower)                                                      \
    M(MPI_##name, ones, minus); M(MPI_##name##_c, cones, cminus);                    \
    M(MPI_I##lower, ones, minus, &r); M(MPI_I##lower##_c, cones, cminus, &r);        \
    M(MPI_##name##_init, ones, minus, N, &r); M(MPI_##name##_init_c, cones, cminus, N, &r)
#define SIX(M, name, lower)                                                          \
    M(MPI_##name); M(MPI_##name##_c); M(MPI_I##lower, &r); M(MPI_I##lower##_c, &r); INIT(M, name)
#define SIX_W(name, lower, T, L, says)                                               \
    ALLTOALLV(MPI_##name, ones, minus, offs, T, L, says);                            \
    ALLTOALLV(MPI_I##lower, ones, minus, offs, T, L, says, &r);                      \
    ALLTOALLV(MPI_##name##_init, ones, minus, offs, T, L, says, N, &r);              \
    ALLTOALLV(MPI_##name##_c, cones, cminus, aoffs, T, L, says);                     \
    ALLTOALLV(MPI_I##lower##_c, cones, cminus, aoffs, T, L, says, &r);               \
    ALLTOALLV(MPI_##name##_init_c, cones, cminus, aoffs, T, L, says, N, &r)

static void movement(void)
{
    COMM(MPI_Barrier, c);
    COMM(MPI_Ibarrier, c, &r);
    COMM(MPI_Barrier_init, c, N, &r);
    SIX(BCAST, Bcast, bcast);
    SIX(ROOTED, Gather, gather);
    SIX(ROOTED, Scatter, scatter);
    SIX(ALL, Allgather, allgather);
    SIX(ALL, Alltoall, alltoall);
    FORMS_V(GATHERV, Gatherv, gatherv);
    FORMS_V(SCATTERV, Scatterv, scatterv);
    FORMS_V(ALLGATHERV, Allgatherv, allgatherv);
    SIX_W(Alltoallv, alltoallv, MPI_INT, uncommitted, "commit");
    SIX_W(Alltoallw, alltoallw, ints, LAST(late), "commit");
    FORMS_V(BLOCKS, Alltoallw, alltoallw);
    WIDE_BLOCKS(MPI_Alltoallw_c);
    WIDE_BLOCKS(MPI_Ialltoallw_c, &r);
    WIDE_BLOCKS(MPI_Alltoallw_init_c, N, &r);
}

static void reductions(void)
{
    SIX(REDUCE, Allreduce, allreduce);
    SIX(REDUCE, Scan, scan);
    SIX(REDUCE_SENT, Exscan, exscan);
    /* What rank 0 would receive is not looked at. */
    if (rank > 0) {
        SIX(REDUCE_RECEIVED, Exscan, exscan);
    }
    SIX(REDUCE, Reduce_scatter_block, reduce_scatter_block);
    SIX(REDUCE_TO_ROOT, Reduce, reduce);
    FORMS_R(REDUCE_SCATTER, Reduce_scatter, reduce_scatter);
    /* The operations of one-sided communication are for it alone. */
    BAD(MPI_ERR_OP, "MPI_REPLACE", MPI_Allreduce, s, d, 1, MPI_INT, MPI_REPLACE, W);
    BAD(MPI_ERR_OP, "MPI_NO_OP", MPI_Allreduce, s, d, 1, MPI_INT, MPI_NO_OP, W);
}

static void requests_and_hints(void)
{
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL) {
        BAD(MPI_ERR_INFO, "info is ", MPI_Barrier_init, W, w, &r);
        BAD(MPI_ERR_INFO, "info is ", MPI_Bcast_init, s, 1, MPI_INT, 0, W, w, &r);
        BAD(MPI_ERR_INFO, "info is ", MPI_Allreduce_init_c, s, d, 1, MPI_INT, MPI_SUM, W, w, &r);
        BAD(MPI_ERR_INFO, "info is ", MPI_Alltoallw_init, s, ones, offs, ints, d, ones, offs, ints, W, w, &r);
    }
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Ibarrier, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Ibcast, s, 1, MPI_INT, 0, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Iallreduce, s, d, 1, MPI_INT, MPI_SUM, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Igather, s, 1, MPI_INT, d, 1, MPI_INT, 0, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Ialltoall, s, 1, MPI_INT, d, 1, MPI_INT, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Iscan, s, d, 1, MPI_INT, MPI_SUM, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Barrier_init, W, N, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Allgather_init, s, 1, MPI_INT, d, 1, MPI_INT, W, N, NULL);
}

#define LOCAL(F)                                                                     \
    TYPE(F, s, d, 1, t, MPI_SUM);                                                    \
    OPER(F, s, d, 1, MPI_INT, o);                                                    \
    BAD(MPI_ERR_COUNT, "count is -1,", F, s, d, -1, MPI_INT, MPI_SUM);               \
    BAD(MPI_ERR_BUFFER, "inbuf is NULL", F, NULL, d, 1, MPI_INT, MPI_SUM);           \
    BAD(MPI_ERR_BUFFER, "inoutbuf is NULL", F, s, NULL, 1, MPI_INT, MPI_SUM);        \
    BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", F, MPI_IN_PLACE, d, 1, MPI_INT, MPI_SUM);    \
    BAD(MPI_ERR_BUFFER, "inbuf is at 0x", F, d, d, 1, MPI_INT, MPI_SUM);             \
    BAD(MPI_ERR_BUFFER, "both have the bytes", F, d, d + 1, 2, MPI_INT, MPI_SUM);    \
    OK(F(d, d, 0, MPI_INT, MPI_SUM));                                                \
    BAD(MPI_ERR_TYPE, "commit", F, s, d, 1, uncommitted, bad_live_op);               \
    BAD(MPI_ERR_OP, "MPI_BAND", F, s, d, 1, MPI_DOUBLE, MPI_BAND)

static void many(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    (void)in, (void)inout, (void)count, (void)type;
}

static void operations(void)
{
    MPI_Op made, sum = MPI_SUM;
    int commute;
    LOCAL(MPI_Reduce_local);
    LOCAL(MPI_Reduce_local_c);
    BAD(MPI_ERR_ARG, "user_fn is NULL", MPI_Op_create, NULL, 1, &made);
    BAD(MPI_ERR_ARG, "op is NULL", MPI_Op_create, bad_reduction, 1, NULL);
    BAD(MPI_ERR_ARG, "user_fn is NULL", MPI_Op_create_c, NULL, 1, &made);
    BAD(MPI_ERR_ARG, "op is NULL", MPI_Op_create_c, many, 1, NULL);
    EACH(BAD_OP, MPI_Op, o) {
        MPI_Op copy = o;
        BAD(MPI_ERR_OP, "op is ", MPI_Op_free, &copy);
        BAD(MPI_ERR_OP, "op is ", MPI_Op_commutative, o, &commute);
    }
    BAD(MPI_ERR_OP, "the predefined MPI_SUM", MPI_Op_free, &sum);
    BAD(MPI_ERR_ARG, "op is NULL", MPI_Op_free, NULL);
    BAD(MPI_ERR_ARG, "commute is NULL", MPI_Op_commutative, MPI_SUM, NULL);
}

/* Counts that do not fit together: the receiver's error, and nobody hangs. */
static void mismatched(void)
{
    int big[4] = {1, 2, 3, 4}, *small = (int *)check_guarded(2 * sizeof(int));
    if (size == 2) {
        if (rank == 0) OK(MPI_Bcast(big, 4, MPI_INT, 0, W));
        else BAD(MPI_ERR_TRUNCATE, "16 bytes", MPI_Bcast, small, 2, MPI_INT, 0, W);
        if (rank == 1) OK(MPI_Gather(big, 4, MPI_INT, NULL, 0, MPI_INT, 0, W));
        else BAD(MPI_ERR_TRUNCATE, "16 bytes", MPI_Gather, MPI_IN_PLACE, 0, MPI_INT, small, 1, MPI_INT, 0, W);
    }
    /* MPI_IN_PLACE is for the root alone. */
    if (size > 1) {
        int other = (rank + 1) % size;
        BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Gather, MPI_IN_PLACE, 1, MPI_INT, d, 1, MPI_INT, other, W);
        BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Scatter, s, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, other, W);
        BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Reduce, MPI_IN_PLACE, d, 1, MPI_INT, MPI_SUM, other, W);
        BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Gatherv, MPI_IN_PLACE, 1, MPI_INT, d, ones, offs, MPI_INT, other, W);
        BAD(MPI_ERR_BUFFER, "MPI_IN_PLACE", MPI_Scatterv, s, ones, offs, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, other, W);
        /* What is not the root has one block. */
        BAD(MPI_ERR_COUNT, "count is -1,", MPI_Gatherv, s, -1, MPI_INT, NULL, NULL, NULL, MPI_DATATYPE_NULL, other, W);
        BAD(MPI_ERR_COUNT, "count is -1,", MPI_Scatterv, NULL, NULL, NULL, MPI_DATATYPE_NULL, d, -1, MPI_INT, other, W);
        BAD(MPI_ERR_TYPE, "commit", MPI_Gatherv, s, 1, uncommitted, NULL, NULL, NULL, MPI_DATATYPE_NULL, other, W);
        BAD(MPI_ERR_TYPE, "commit", MPI_Scatterv, NULL, NULL, NULL, MPI_DATATYPE_NULL, d, 1, uncommitted, other, W);
    }
    check_free_guarded((unsigned char *)small, 2 * sizeof(int));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    s = (int *)check_guarded(64), d = (int *)check_guarded(64);
    check_fill(s, 64, 1);
    check_fill(d, 64, 2);
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    OK(MPI_Type_contiguous(2, MPI_INT, &late[0]));
    OK(MPI_Type_commit(&late[0]));
    ints[0] = ints[1] = ints[2] = MPI_INT;
    late[1] = late[0], late[2] = uncommitted;
    snprintf(last, sizeof last, "counts is -1 for rank %d", size - 1);
    movement();
    bad_still_works();
    reductions();
    bad_still_works();
    requests_and_hints();
    operations();
    check_filled(s, 64, 1);
    check_filled(d, 64, 2);
    check_free_guarded((unsigned char *)s, 64);
    check_free_guarded((unsigned char *)d, 64);
    s = d = ones;
    mismatched();
    OK(MPI_Type_free(&uncommitted));
    OK(MPI_Type_free(&late[0]));
    return bad_end();
}
