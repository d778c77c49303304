// ranks: 1 2 4
// only: posthaste
/* Send and receive buffers of collective operations that share bytes are refused, in every operation and form, by a
 * sentence that says where they are; buffers that share none never are: at one address with types that interleave, at
 * MPI_BOTTOM, of no elements, or where only one of them counts. MPI-5.0 sections 2.3 and 6.2. Each process finds its
 * mistake alone, before any message. */
#include "check.h"

enum { N = 4, MANY = 300000 };

static int *a, *b, ones[8], offsets[8], far[8], steps[8];
static MPI_Datatype ints[8], evens[8], odds[8], even, odd;
static MPI_Request r;
static const char *remedy = "MPI_IN_PLACE as sendbuf";
#define W MPI_COMM_WORLD

static void aliased(int code, const char *call, int line)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int class = MPI_SUCCESS, length;
    if (code == MPI_SUCCESS) FAIL("line %d: %s succeeds", line, call);
    OK(MPI_Error_class(code, &class));
    OK(MPI_Error_string(code, text, &length));
    CHECK(class == MPI_ERR_BUFFER, "line %d: %s: %s", line, call, text);
    CHECK(strstr(text, "sendbuf is at 0x") && strstr(text, "recvbuf at 0x") && strstr(text, "both have the bytes at 0x"),
          "line %d: %s: %s", line, call, text);
    CHECK(strstr(text, "expected buffers that share no byte"), "line %d: %s: %s", line, call, text);
    if (remedy) CHECK(strstr(text, remedy), "line %d: %s: %s", line, call, text);
    else CHECK(!strstr(text, "MPI_IN_PLACE"), "line %d: %s: %s", line, call, text);
}

#define ALIASED(call) aliased(call, #call, __LINE__)

/* Refused in each form. */
#define WRONG(F, f, ...)                                       \
    do {                                                       \
        ALIASED(MPI_##F(__VA_ARGS__));                         \
        ALIASED(MPI_I##f(__VA_ARGS__, &r));                    \
        ALIASED(MPI_##F##_init(__VA_ARGS__, MPI_INFO_NULL, &r)); \
    } while (0)

/* Right in each form. */
#define RIGHT(F, f, ...)                                       \
    do {                                                       \
        OK(MPI_##F(__VA_ARGS__));                              \
        OK(MPI_I##f(__VA_ARGS__, &r));                         \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                   \
        OK(MPI_##F##_init(__VA_ARGS__, MPI_INFO_NULL, &r));    \
        OK(MPI_Start(&r));                                     \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                   \
        OK(MPI_Request_free(&r));                              \
    } while (0)

/* One address for both, or ranges that overlap a little. */
static void shared(MPI_Comm comm)
{
    for (int i = 0; i < 2; i++) {
        int *recv = i == 0 ? a : a + N - 1;
        WRONG(Allgather, allgather, a, N, MPI_INT, recv, N, MPI_INT, comm);
        WRONG(Allgatherv, allgatherv, a, N, MPI_INT, recv, ones, offsets, MPI_INT, comm);
        WRONG(Alltoall, alltoall, a, N, MPI_INT, recv, N, MPI_INT, comm);
        WRONG(Alltoallv, alltoallv, a, steps, offsets, MPI_INT, recv, steps, offsets, MPI_INT, comm);
        WRONG(Alltoallw, alltoallw, a, steps, far, ints, recv, steps, far, ints, comm);
        WRONG(Allreduce, allreduce, a, recv, N, MPI_INT, MPI_SUM, comm);
        WRONG(Reduce_scatter_block, reduce_scatter_block, a, recv, N, MPI_INT, MPI_SUM, comm);
        WRONG(Reduce_scatter, reduce_scatter, a, recv, steps, MPI_INT, MPI_SUM, comm);
    }
}

static void refused(void)
{
    MPI_Comm self = MPI_COMM_SELF;
    shared(W);
    WRONG(Scan, scan, a, a + 1, N, MPI_INT, MPI_SUM, W);
    if (rank > 0) WRONG(Exscan, exscan, a, a, N, MPI_INT, MPI_SUM, W);
    WRONG(Gather, gather, a + rank * N, N, MPI_INT, a, N, MPI_INT, rank, W);
    WRONG(Gatherv, gatherv, a + rank, 1, MPI_INT, a, ones, offsets, MPI_INT, rank, W);
    WRONG(Reduce, reduce, a, a, N, MPI_INT, MPI_SUM, rank, W);
    /* The large counts are the same. */
    ALIASED(MPI_Allreduce_c(a, a, N, MPI_INT, MPI_SUM, W));
    /* The sender's own place in the result. */
    WRONG(Allgather, allgather, a + rank * N, N, MPI_INT, a, N, MPI_INT, W);
    /* Types with gaps that do share bytes, few and many. */
    WRONG(Allreduce, allreduce, a, a, 3, MPI_2INT, MPI_MAXLOC, W);
    WRONG(Allgather, allgather, a, 3, even, a, 3, even, W);
    WRONG(Allgather, allgather, a, MANY, even, a, MANY, even, self);
    WRONG(Allgather, allgather, a, 3, even, a + 1, 3, odd, W);
    remedy = "MPI_IN_PLACE as recvbuf";
    WRONG(Scatter, scatter, a, N, MPI_INT, a + rank * N, N, MPI_INT, rank, W);
    WRONG(Scatterv, scatterv, a, ones, offsets, MPI_INT, a + rank, 1, MPI_INT, rank, W);
    remedy = "MPI_IN_PLACE as sendbuf";
}

/* Sends at the even integers, receives at the odd ones, all at one address. */
static void interleaved(void)
{
    for (int i = 0; i < 2 * N * size; i++) a[i] = i % 2 ? -1 : rank * 100 + i / 2;
    RIGHT(Alltoall, alltoall, a, N, even, a, N, odd, W);
    for (int i = 0; i < N * size; i++) {
        EQUAL(a[2 * i + 1], i / N * 100 + rank * N + i % N);
        EQUAL(a[2 * i], rank * 100 + i);
    }
    RIGHT(Allgather, allgather, a, N, even, a, N, odd, W);
    for (int i = 0; i < N * size; i++) EQUAL(a[2 * i + 1], i / N * 100 + i % N);
    RIGHT(Alltoallw, alltoallw, a, ones, far, evens, a, ones, far, odds, W);
    for (int i = 0; i < size; i++) EQUAL(a[2 * N * i + 1], i * 100 + rank * N);
    a[2 * MANY - 2] = 77;
    RIGHT(Allgather, allgather, a, MANY, even, a, MANY, odd, MPI_COMM_SELF);
    EQUAL(a[2 * MANY - 1], 77);
    /* The block of each rank is sent from one half and received into the other; empty blocks may lie anywhere. */
    int none[8] = {0}, sent[8], received[8];
    for (int i = 0; i < size; i++) sent[i] = 2 * i * N, received[i] = (2 * i + 1) * N;
    for (int i = 0; i < 2 * N * size; i++) a[i] = rank * 1000 + i;
    RIGHT(Alltoallv, alltoallv, a, steps, sent, MPI_INT, a, steps, received, MPI_INT, W);
    for (int i = 0; i < size; i++)
        for (int k = 0; k < N; k++) EQUAL(a[received[i] + k], i * 1000 + sent[rank] + k);
    RIGHT(Alltoallv, alltoallv, a, none, sent, MPI_INT, a, none, sent, MPI_INT, W);
    RIGHT(Allreduce, allreduce, a, a, 0, MPI_INT, MPI_SUM, W);
    RIGHT(Alltoall, alltoall, a, 0, MPI_INT, a, 0, MPI_INT, W);
}

/* Both buffers are MPI_BOTTOM; the types say where they are. */
static void bottom(void)
{
    MPI_Aint from, to;
    MPI_Datatype here, there;
    OK(MPI_Get_address(a, &from));
    OK(MPI_Get_address(b, &to));
    OK(MPI_Type_create_hindexed_block(1, 1, &from, MPI_INT, &here));
    OK(MPI_Type_create_hindexed_block(1, size, &to, MPI_INT, &there));
    OK(MPI_Type_commit(&here));
    OK(MPI_Type_commit(&there));
    a[0] = 7 + rank;
    RIGHT(Gather, gather, MPI_BOTTOM, 1, here, b, 1, MPI_INT, 0, W);
    if (rank == 0) EQUAL(b[size - 1], 6 + size);
    RIGHT(Alltoallw, alltoallw, a, &size, far, ints, MPI_BOTTOM, ones, far, &there, MPI_COMM_SELF);
    EQUAL(b[0], 7 + rank);
    /* Or the displacements do. */
    b[0] = 0;
    OK(MPI_Alltoallw_c(MPI_BOTTOM, &(MPI_Count){1}, &from, ints, MPI_BOTTOM, &(MPI_Count){1}, &to, ints, MPI_COMM_SELF));
    EQUAL(b[0], 7 + rank);
    WRONG(Allgather, allgather, MPI_BOTTOM, 1, here, a, 1, MPI_INT, W);
    OK(MPI_Type_free(&here));
    OK(MPI_Type_free(&there));
}

/* What does not count at a rank may be anything. */
static void insignificant(void)
{
    for (int i = 0; i < N; i++) a[i] = rank + i;
    RIGHT(Gather, gather, a, N, MPI_INT, (rank == 0 ? b : a), N, MPI_INT, 0, W);
    RIGHT(Gatherv, gatherv, a, 1, MPI_INT, (rank == 0 ? b : a), ones, offsets, MPI_INT, 0, W);
    RIGHT(Scatter, scatter, (rank == 0 ? b : a), N, MPI_INT, a, N, MPI_INT, 0, W);
    RIGHT(Scatterv, scatterv, (rank == 0 ? b : a), ones, offsets, MPI_INT, a, 1, MPI_INT, 0, W);
    for (int i = 0; i < N; i++) a[i] = rank + i;
    RIGHT(Reduce, reduce, a, (rank == 0 ? b : a), N, MPI_INT, MPI_SUM, 0, W);
    if (rank == 0) EQUAL(b[1], size + size * (size - 1) / 2);
    RIGHT(Exscan, exscan, a, (rank == 0 ? a : b), N, MPI_INT, MPI_SUM, W);
    if (rank > 0) EQUAL(b[0], rank * (rank - 1) / 2);
    OK(MPI_Allreduce(MPI_IN_PLACE, a, N, MPI_INT, MPI_SUM, W));
}

/* Between two groups both buffers count in operations of all with all, and nothing is in place. */
static void between(void)
{
    MPI_Comm half, inter;
    if (size == 1) return;
    OK(MPI_Comm_split(W, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, W, 1 - rank % 2, 5, &inter));
    remedy = NULL;
    shared(inter);
    remedy = "MPI_IN_PLACE as sendbuf";
    int root = rank % 2 ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    RIGHT(Gather, gather, a, N, MPI_INT, a, N, MPI_INT, root, inter);
    RIGHT(Reduce, reduce, a, a, N, MPI_INT, MPI_SUM, root, inter);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    a = calloc(2 * MANY, sizeof *a);
    b = calloc(2 * MANY, sizeof *b);
    OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &even));
    OK(MPI_Type_create_hindexed_block(1, 1, &(MPI_Aint){sizeof(int)}, MPI_INT, &ints[0]));
    OK(MPI_Type_create_resized(ints[0], 0, 2 * sizeof(int), &odd));
    OK(MPI_Type_free(&ints[0]));
    OK(MPI_Type_commit(&even));
    OK(MPI_Type_commit(&odd));
    for (int i = 0; i < 8; i++) {
        ones[i] = 1, steps[i] = N, offsets[i] = i, far[i] = i * N * 2 * (int)sizeof(int);
        ints[i] = MPI_INT, evens[i] = even, odds[i] = odd;
    }
    refused();
    interleaved();
    bottom();
    insignificant();
    between();
    OK(MPI_Type_free(&even));
    OK(MPI_Type_free(&odd));
    free(a);
    free(b);
    return check_end();
}
