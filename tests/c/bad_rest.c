// ranks: 1 2
// only: posthaste
// alone
/* Wrong arguments that the tests of one chapter leave out because every function has them: a request with no place
 * to go, hints that are none, the datatype of the other side, results that nobody wants. MPI-5.0. */
#include "bad_check.h"

static int s[2], d[2], ones[2] = {1, 1}, offs[2] = {0, 1};
static MPI_Count cones[2] = {1, 1};
static MPI_Aint aoffs[2] = {0, 1};
static MPI_Datatype t, types[2];
static MPI_Request r;
#define W MPI_COMM_WORLD
#define S MPI_COMM_SELF
#define I MPI_INT
#define N MPI_INFO_NULL

/* The nonblocking and the persistent form of a collective operation without a place for the request. */
#define NO_REQUEST(lower, upper, ...)                                                  \
    do {                                                                               \
        BAD(MPI_ERR_ARG, "request is NULL", MPI_I##lower, __VA_ARGS__, NULL);          \
        BAD(MPI_ERR_ARG, "request is NULL", MPI_##upper, __VA_ARGS__, N, NULL);        \
    } while (0)
/* The persistent form with hints that are none. */
#define NO_HINTS(upper, ...)                                                           \
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL)                                \
        BAD(MPI_ERR_INFO, "info is ", MPI_##upper, __VA_ARGS__, w, &r)
#define BOTH(lower, upper, ...) NO_REQUEST(lower, upper, __VA_ARGS__); NO_HINTS(upper, __VA_ARGS__)
#define PLAIN(lower, upper, ...)                                                       \
    BOTH(lower, upper##_init, __VA_ARGS__); BOTH(lower##_c, upper##_init_c, __VA_ARGS__)

static void requests_and_hints(void)
{
    PLAIN(bcast, Bcast, s, 1, I, 0, W);
    PLAIN(gather, Gather, s, 1, I, d, 1, I, 0, W);
    PLAIN(scatter, Scatter, s, 1, I, d, 1, I, 0, W);
    PLAIN(allgather, Allgather, s, 1, I, d, 1, I, W);
    PLAIN(alltoall, Alltoall, s, 1, I, d, 1, I, W);
    PLAIN(allreduce, Allreduce, s, d, 1, I, MPI_SUM, W);
    PLAIN(reduce, Reduce, s, d, 1, I, MPI_SUM, 0, W);
    PLAIN(scan, Scan, s, d, 1, I, MPI_SUM, W);
    PLAIN(exscan, Exscan, s, d, 1, I, MPI_SUM, W);
    PLAIN(reduce_scatter_block, Reduce_scatter_block, s, d, 1, I, MPI_SUM, W);
    BOTH(barrier, Barrier_init, W);
    BOTH(gatherv, Gatherv_init, s, 1, I, d, ones, offs, I, 0, W);
    BOTH(gatherv_c, Gatherv_init_c, s, 1, I, d, cones, aoffs, I, 0, W);
    BOTH(scatterv, Scatterv_init, s, ones, offs, I, d, 1, I, 0, W);
    BOTH(scatterv_c, Scatterv_init_c, s, cones, aoffs, I, d, 1, I, 0, W);
    BOTH(allgatherv, Allgatherv_init, s, 1, I, d, ones, offs, I, W);
    BOTH(allgatherv_c, Allgatherv_init_c, s, 1, I, d, cones, aoffs, I, W);
    BOTH(alltoallv, Alltoallv_init, s, ones, offs, I, d, ones, offs, I, W);
    BOTH(alltoallv_c, Alltoallv_init_c, s, cones, aoffs, I, d, cones, aoffs, I, W);
    BOTH(alltoallw, Alltoallw_init, s, ones, offs, types, d, ones, offs, types, W);
    BOTH(alltoallw_c, Alltoallw_init_c, s, cones, aoffs, types, d, cones, aoffs, types, W);
    BOTH(reduce_scatter, Reduce_scatter_init, s, d, ones, I, MPI_SUM, W);
    BOTH(reduce_scatter_c, Reduce_scatter_init_c, s, d, cones, I, MPI_SUM, W);
    MPI_Comm made;
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Comm_idup, S, &made, NULL);
    CHECK(made == MPI_COMM_NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Comm_idup_with_info, S, N, &made, NULL);
    CHECK(made == MPI_COMM_NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Bsend_init_c, s, 1, I, 0, 1, S, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Send_init_c, s, 1, I, 0, 1, S, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Ssend_init_c, s, 1, I, 0, 1, S, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Rsend_init_c, s, 1, I, 0, 1, S, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Recv_init_c, s, 1, I, 0, 1, S, NULL);
}

/* Of the two datatypes of an operation the one that has a single count. */
static void other_types(void)
{
    EACH(BAD_TYPE, MPI_Datatype, w) {
        BAD(MPI_ERR_TYPE, "type is ", MPI_Gather, s, 1, w, d, 1, I, rank, W);
        BAD(MPI_ERR_TYPE, "type is ", MPI_Scatter, s, 1, I, d, 1, w, rank, W);
        BAD(MPI_ERR_TYPE, "type is ", MPI_Gatherv, s, 1, w, d, ones, offs, I, rank, W);
        BAD(MPI_ERR_TYPE, "type is ", MPI_Gatherv_c, s, 1, w, d, cones, aoffs, I, rank, W);
        BAD(MPI_ERR_TYPE, "type is ", MPI_Scatterv, s, ones, offs, I, d, 1, w, rank, W);
        BAD(MPI_ERR_TYPE, "type is ", MPI_Scatterv_c, s, cones, aoffs, I, d, 1, w, rank, W);
        BAD(MPI_ERR_TYPE, "type is ", MPI_Allgatherv, s, 1, w, d, ones, offs, I, W);
        BAD(MPI_ERR_TYPE, "type is ", MPI_Allgatherv_c, s, 1, w, d, cones, aoffs, I, W);
    }
}

/* Nothing leaves, but what is wrong is wrong all the same. */
static void to_and_from_nobody(void)
{
    enum { NOBODY = MPI_PROC_NULL };
    MPI_Status status;
    MPI_Message message;
    int flag;
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Send, s, 1, I, NOBODY, -5, W);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Ssend, s, 1, I, NOBODY, -5, W);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Rsend, s, 1, I, NOBODY, -5, W);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Bsend, s, 1, I, NOBODY, -5, W);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Isend, s, 1, I, NOBODY, -5, W, &r);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Issend, s, 1, I, NOBODY, -5, W, &r);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Send_init, s, 1, I, NOBODY, -5, W, &r);
    BAD(MPI_ERR_TAG, "tag is ", MPI_Send, s, 1, I, NOBODY, MPI_ANY_TAG, W);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Recv, d, 1, I, NOBODY, -5, W, &status);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Irecv, d, 1, I, NOBODY, -5, W, &r);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Recv_init, d, 1, I, NOBODY, -5, W, &r);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Probe, NOBODY, -5, W, &status);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Iprobe, NOBODY, -5, W, &flag, &status);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Mprobe, NOBODY, -5, W, &message, &status);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Improbe, NOBODY, -5, W, &flag, &message, &status);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Sendrecv, s, 1, I, NOBODY, -5, d, 1, I, NOBODY, 1, W, &status);
    BAD(MPI_ERR_TAG, "tag is -5,", MPI_Sendrecv, s, 1, I, NOBODY, 1, d, 1, I, NOBODY, -5, W, &status);
    OK(MPI_Send(s, 1, I, NOBODY, 1, W));
    OK(MPI_Recv(d, 1, I, NOBODY, MPI_ANY_TAG, W, &status));
}

/* A constructor with no place for what it makes. */
static void new_types(void)
{
    int two[2] = {1, 1}, sizes[2] = {4, 4}, parts[2] = {2, 2}, starts[2] = {0, 1};
    MPI_Count ctwo[2] = {1, 1}, csizes[2] = {4, 4}, cparts[2] = {2, 2}, cstarts[2] = {0, 1}, czero[2] = {4, 0};
    MPI_Aint atwo[2] = {0, 8};
    const char *says = "newtype is NULL";
    BAD(MPI_ERR_ARG, says, MPI_Type_indexed_c, 2, ctwo, ctwo, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_hindexed, 2, two, atwo, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_hindexed_c, 2, ctwo, ctwo, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_indexed_block, 2, 1, two, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_indexed_block_c, 2, 1, ctwo, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_hindexed_block, 2, 1, atwo, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_hindexed_block_c, 2, 1, ctwo, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_struct, 2, two, atwo, types, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_struct_c, 2, ctwo, ctwo, types, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_subarray, 2, sizes, parts, starts, MPI_ORDER_C, I, NULL);
    BAD(MPI_ERR_ARG, says, MPI_Type_create_subarray_c, 2, csizes, cparts, cstarts, MPI_ORDER_C, I, NULL);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_subarray_c, -1, csizes, cparts, cstarts, MPI_ORDER_C, I, &t);
    BAD(MPI_ERR_ARG, "0", MPI_Type_create_subarray_c, 2, czero, cparts, cstarts, MPI_ORDER_C, I, &t);
    BAD(MPI_ERR_ARG, "4", MPI_Type_create_subarray_c, 2, csizes, cparts, csizes, MPI_ORDER_C, I, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_subarray_c, 2, NULL, cparts, cstarts, MPI_ORDER_C, I, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_subarray_c, 2, csizes, NULL, cstarts, MPI_ORDER_C, I, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_subarray_c, 2, csizes, cparts, NULL, MPI_ORDER_C, I, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_struct_c, 2, NULL, ctwo, types, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_struct_c, 2, ctwo, NULL, types, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_hindexed_c, 2, NULL, ctwo, I, &t);
}

static void queries_of_types(void)
{
    int a, b, c, ints[8];
    MPI_Count e, f, g, counts[8];
    MPI_Aint aints[8];
    MPI_Datatype parts[8], live = bad_live_type;
    BAD(MPI_ERR_ARG, "lb is NULL", MPI_Type_get_extent_c, I, NULL, &e);
    BAD(MPI_ERR_ARG, "lb is NULL", MPI_Type_get_extent_x, I, NULL, &e);
    BAD(MPI_ERR_ARG, "true_lb is NULL", MPI_Type_get_true_extent_c, I, NULL, &e);
    BAD(MPI_ERR_ARG, "true_lb is NULL", MPI_Type_get_true_extent_x, I, NULL, &e);
    BAD(MPI_ERR_ARG, "num_addresses is NULL", MPI_Type_get_envelope, I, &a, NULL, &b, &c);
    BAD(MPI_ERR_ARG, "num_datatypes is NULL", MPI_Type_get_envelope, I, &a, &b, NULL, &c);
    BAD(MPI_ERR_ARG, "num_integers is NULL", MPI_Type_get_envelope_c, I, NULL, &e, &f, &g, &c);
    BAD(MPI_ERR_ARG, "num_addresses is NULL", MPI_Type_get_envelope_c, I, &e, NULL, &f, &g, &c);
    BAD(MPI_ERR_ARG, "num_large_counts is NULL", MPI_Type_get_envelope_c, I, &e, &f, NULL, &g, &c);
    BAD(MPI_ERR_ARG, "num_datatypes is NULL", MPI_Type_get_envelope_c, I, &e, &f, &g, NULL, &c);
    BAD(MPI_ERR_ARG, "max_addresses is -1", MPI_Type_get_contents, live, 8, -1, 8, ints, aints, parts);
    BAD(MPI_ERR_ARG, "max_addresses is -1", MPI_Type_get_contents_c, live, 8, -1, 8, 8, ints, aints, counts, parts);
    BAD(MPI_ERR_ARG, "max_large_counts is -1", MPI_Type_get_contents_c, live, 8, 8, -1, 8, ints, aints, counts, parts);
    BAD(MPI_ERR_ARG, "max_datatypes is 0", MPI_Type_get_contents_c, live, 8, 8, 8, 0, ints, aints, counts, parts);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_get_contents_c, live, 8, 8, 8, 8, NULL, aints, counts, parts);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_get_contents_c, live, 8, 8, 8, 8, ints, aints, counts, NULL);
}

static void attributes(void)
{
    int key, flag;
    void *value;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Keyval_create, MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, NULL, NULL);
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Keyval_free, NULL);
    BAD(MPI_ERR_ARG, "attribute_val is NULL", MPI_Attr_get, S, key, NULL, &flag);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Attr_get, S, key, &value, NULL);
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    BAD(MPI_ERR_ARG, "attribute_val is NULL", MPI_Type_get_attr, I, key, NULL, &flag);
    OK(MPI_Type_free_keyval(&key));
}

static void memory(void)
{
    void *base, *inside;
    int own;
    OK(MPI_Alloc_mem(100, N, &base));
    inside = (char *)base + 8;
    BAD(MPI_ERR_BASE, "base is ", MPI_Free_mem, inside);
    BAD(MPI_ERR_BASE, "base is ", MPI_Free_mem, &own);
    BAD(MPI_ERR_BASE, "base is ", MPI_Free_mem, (void *)1);
    memset(base, 1, 100);
    OK(MPI_Free_mem(base));
    BAD(MPI_ERR_BASE, "base is ", MPI_Free_mem, base);
    OK(MPI_Free_mem(NULL));
    OK(MPI_Alloc_mem(0, N, &base));
    OK(MPI_Free_mem(base));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    types[0] = types[1] = MPI_INT;
    requests_and_hints();
    other_types();
    to_and_from_nobody();
    new_types();
    queries_of_types();
    attributes();
    memory();
    return bad_end();
}
