// ranks: 1 2 4
// only: posthaste
/* Every argument of the neighbourhood collectives wrong in turn, in every form: found by each rank alone, before any message.
 * What nobody touches may be anything. MPI-5.0 sections 8.6 to 8.8. */
#include "check.h"

enum { N = 2, MANY = 64 };
#define NONE MPI_DATATYPE_NULL

static int a[MANY], b[MANY], ones[8], offsets[8], minus[8];
static MPI_Count ones_c[8], minus_c[8], wide_c[8];
static MPI_Aint far[8], steps[8];
static MPI_Datatype ints[8], none[8], open[8], uncommitted;
static MPI_Request r;

/* Refused in each form; the arguments end with the communicator. */
#define WRONG(class, f, c, ...)                                                       \
    do {                                                                              \
        REFUSED(MPI_Neighbor_##f##c(__VA_ARGS__), class);                             \
        REFUSED(MPI_Ineighbor_##f##c(__VA_ARGS__, &r), class);                        \
        REFUSED(MPI_Neighbor_##f##_init##c(__VA_ARGS__, MPI_INFO_NULL, &r), class);   \
    } while (0)

/* And with counts of either width. */
#define BOTH(class, f, ...)              \
    do {                                 \
        WRONG(class, f, , __VA_ARGS__);  \
        WRONG(class, f, _c, __VA_ARGS__); \
    } while (0)

/* Right in each form. */
#define RIGHT(f, c, ...)                                                   \
    do {                                                                   \
        OK(MPI_Neighbor_##f##c(__VA_ARGS__));                              \
        OK(MPI_Ineighbor_##f##c(__VA_ARGS__, &r));                         \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                               \
        OK(MPI_Neighbor_##f##_init##c(__VA_ARGS__, MPI_INFO_NULL, &r));    \
        OK(MPI_Start(&r));                                                 \
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));                               \
        OK(MPI_Request_free(&r));                                          \
    } while (0)

/* Without an operation that could be done on the communicator. */
static void on(MPI_Comm comm, int class)
{
    BOTH(class, allgather, a, 1, MPI_INT, b, 1, MPI_INT, comm);
    BOTH(class, alltoall, a, 1, MPI_INT, b, 1, MPI_INT, comm);
    WRONG(class, allgatherv, , a, 1, MPI_INT, b, ones, offsets, MPI_INT, comm);
    WRONG(class, allgatherv, _c, a, 1, MPI_INT, b, ones_c, far, MPI_INT, comm);
    WRONG(class, alltoallv, , a, ones, offsets, MPI_INT, b, ones, offsets, MPI_INT, comm);
    WRONG(class, alltoallv, _c, a, ones_c, far, MPI_INT, b, ones_c, far, MPI_INT, comm);
    WRONG(class, alltoallw, , a, ones, far, ints, b, ones, far, ints, comm);
    WRONG(class, alltoallw, _c, a, ones_c, far, ints, b, ones_c, far, ints, comm);
}

/* Operations with one count for all blocks. */
#define PLAIN(f)                                                            \
    do {                                                                    \
        BOTH(MPI_ERR_COUNT, f, a, -1, MPI_INT, b, 1, MPI_INT, comm);        \
        BOTH(MPI_ERR_COUNT, f, a, 1, MPI_INT, b, -1, MPI_INT, comm);        \
        BOTH(MPI_ERR_TYPE, f, a, 1, NONE, b, 1, MPI_INT, comm);             \
        BOTH(MPI_ERR_TYPE, f, a, 1, MPI_INT, b, 1, uncommitted, comm);      \
        BOTH(MPI_ERR_BUFFER, f, NULL, 1, MPI_INT, b, 1, MPI_INT, comm);     \
        BOTH(MPI_ERR_BUFFER, f, a, 1, MPI_INT, NULL, 1, MPI_INT, comm);     \
        BOTH(MPI_ERR_BUFFER, f, MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, comm); \
        BOTH(MPI_ERR_BUFFER, f, a, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm); \
        BOTH(MPI_ERR_BUFFER, f, a, 1, MPI_INT, a, 1, MPI_INT, comm);        \
    } while (0)

/* Those with lists; `c` is the width of counts, with its lists. */
#define LISTS(c, ONES, MINUS, OFFSETS)                                                                       \
    do {                                                                                                     \
        WRONG(MPI_ERR_COUNT, allgatherv, c, a, -1, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm);                \
        WRONG(MPI_ERR_TYPE, allgatherv, c, a, 1, NONE, b, ONES, OFFSETS, MPI_INT, comm);                     \
        WRONG(MPI_ERR_BUFFER, allgatherv, c, NULL, 1, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm);             \
        WRONG(MPI_ERR_BUFFER, allgatherv, c, MPI_IN_PLACE, 1, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm);     \
        WRONG(MPI_ERR_BUFFER, allgatherv, c, a, 1, MPI_INT, NULL, ONES, OFFSETS, MPI_INT, comm);             \
        WRONG(MPI_ERR_BUFFER, allgatherv, c, a, 1, MPI_INT, a, ONES, OFFSETS, MPI_INT, comm);                \
        WRONG(MPI_ERR_COUNT, allgatherv, c, a, 1, MPI_INT, b, MINUS, OFFSETS, MPI_INT, comm);                \
        WRONG(MPI_ERR_ARG, allgatherv, c, a, 1, MPI_INT, b, NULL, OFFSETS, MPI_INT, comm);                   \
        WRONG(MPI_ERR_ARG, allgatherv, c, a, 1, MPI_INT, b, ONES, NULL, MPI_INT, comm);                      \
        WRONG(MPI_ERR_TYPE, allgatherv, c, a, 1, MPI_INT, b, ONES, OFFSETS, uncommitted, comm);              \
        WRONG(MPI_ERR_COUNT, alltoallv, c, a, MINUS, OFFSETS, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm);     \
        WRONG(MPI_ERR_COUNT, alltoallv, c, a, ONES, OFFSETS, MPI_INT, b, MINUS, OFFSETS, MPI_INT, comm);     \
        WRONG(MPI_ERR_ARG, alltoallv, c, a, NULL, OFFSETS, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm);        \
        WRONG(MPI_ERR_ARG, alltoallv, c, a, ONES, NULL, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm);           \
        WRONG(MPI_ERR_ARG, alltoallv, c, a, ONES, OFFSETS, MPI_INT, b, NULL, OFFSETS, MPI_INT, comm);        \
        WRONG(MPI_ERR_ARG, alltoallv, c, a, ONES, OFFSETS, MPI_INT, b, ONES, NULL, MPI_INT, comm);           \
        WRONG(MPI_ERR_TYPE, alltoallv, c, a, ONES, OFFSETS, NONE, b, ONES, OFFSETS, MPI_INT, comm);          \
        WRONG(MPI_ERR_TYPE, alltoallv, c, a, ONES, OFFSETS, MPI_INT, b, ONES, OFFSETS, uncommitted, comm);   \
        WRONG(MPI_ERR_BUFFER, alltoallv, c, NULL, ONES, OFFSETS, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm);  \
        WRONG(MPI_ERR_BUFFER, alltoallv, c, MPI_IN_PLACE, ONES, OFFSETS, MPI_INT, b, ONES, OFFSETS, MPI_INT, comm); \
        WRONG(MPI_ERR_BUFFER, alltoallv, c, a, ONES, OFFSETS, MPI_INT, a, ONES, OFFSETS, MPI_INT, comm);     \
        WRONG(MPI_ERR_COUNT, alltoallw, c, a, MINUS, far, ints, b, ONES, far, ints, comm);                   \
        WRONG(MPI_ERR_COUNT, alltoallw, c, a, ONES, far, ints, b, MINUS, far, ints, comm);                   \
        WRONG(MPI_ERR_ARG, alltoallw, c, a, NULL, far, ints, b, ONES, far, ints, comm);                      \
        WRONG(MPI_ERR_ARG, alltoallw, c, a, ONES, NULL, ints, b, ONES, far, ints, comm);                     \
        WRONG(MPI_ERR_ARG, alltoallw, c, a, ONES, far, NULL, b, ONES, far, ints, comm);                      \
        WRONG(MPI_ERR_ARG, alltoallw, c, a, ONES, far, ints, b, NULL, far, ints, comm);                      \
        WRONG(MPI_ERR_ARG, alltoallw, c, a, ONES, far, ints, b, ONES, NULL, ints, comm);                     \
        WRONG(MPI_ERR_ARG, alltoallw, c, a, ONES, far, ints, b, ONES, far, NULL, comm);                      \
        WRONG(MPI_ERR_TYPE, alltoallw, c, a, ONES, far, none, b, ONES, far, ints, comm);                     \
        WRONG(MPI_ERR_TYPE, alltoallw, c, a, ONES, far, ints, b, ONES, far, open, comm);                     \
        WRONG(MPI_ERR_BUFFER, alltoallw, c, MPI_IN_PLACE, ONES, far, ints, b, ONES, far, ints, comm);        \
        WRONG(MPI_ERR_BUFFER, alltoallw, c, a, ONES, far, ints, MPI_IN_PLACE, ONES, far, ints, comm);        \
        WRONG(MPI_ERR_BUFFER, alltoallw, c, a, ONES, far, ints, a, ONES, far, ints, comm);                   \
        WRONG(MPI_ERR_BUFFER, alltoallw, c, NULL, ONES, far, ints, b, ONES, far, ints, comm);                \
        WRONG(MPI_ERR_BUFFER, alltoallw, c, a, ONES, far, ints, NULL, ONES, far, ints, comm);                \
        WRONG(MPI_ERR_BUFFER, alltoallw, c, a, ONES, far, ints, NULL, ONES, steps, ints, comm);              \
    } while (0)

/* A request or hints that cannot be. */
#define REST(f, c, ...)                                                                       \
    do {                                                                                      \
        REFUSED(MPI_Ineighbor_##f##c(__VA_ARGS__, comm, NULL), MPI_ERR_ARG);                  \
        REFUSED(MPI_Neighbor_##f##_init##c(__VA_ARGS__, comm, MPI_INFO_NULL, NULL), MPI_ERR_ARG); \
        REFUSED(MPI_Neighbor_##f##_init##c(__VA_ARGS__, comm, freed, &r), MPI_ERR_INFO);      \
    } while (0)

static void arguments(MPI_Comm comm)
{
    MPI_Info info, freed;
    OK(MPI_Info_create(&info));
    freed = info;
    OK(MPI_Info_free(&info));
    PLAIN(allgather);
    PLAIN(alltoall);
    LISTS(, ones, minus, offsets);
    LISTS(_c, ones_c, minus_c, far);
    WRONG(MPI_ERR_COUNT, alltoallw, _c, a, wide_c, far, ints, b, ones_c, far, ints, comm);
    WRONG(MPI_ERR_COUNT, alltoallw, _c, a, ones_c, far, ints, b, wide_c, far, ints, comm);
    REST(allgather, , a, 1, MPI_INT, b, 1, MPI_INT);
    REST(allgather, _c, a, 1, MPI_INT, b, 1, MPI_INT);
    REST(alltoall, , a, 1, MPI_INT, b, 1, MPI_INT);
    REST(alltoall, _c, a, 1, MPI_INT, b, 1, MPI_INT);
    REST(allgatherv, , a, 1, MPI_INT, b, ones, offsets, MPI_INT);
    REST(allgatherv, _c, a, 1, MPI_INT, b, ones_c, far, MPI_INT);
    REST(alltoallv, , a, ones, offsets, MPI_INT, b, ones, offsets, MPI_INT);
    REST(alltoallv, _c, a, ones_c, far, MPI_INT, b, ones_c, far, MPI_INT);
    REST(alltoallw, , a, ones, far, ints, b, ones, far, ints);
    REST(alltoallw, _c, a, ones_c, far, ints, b, ones_c, far, ints);
}

/* The sentences name what is there and what should be. */
static void says(int code, const char *wanted)
{
    CHECK(strstr(check_text(code), wanted), "%s", check_text(code));
}

/* Without anybody there a buffer has no bytes, and may be NULL. */
#define EMPTY(f)                                                            \
    do {                                                                    \
        b[0] = -1;                                                          \
        RIGHT(f, , from, 1, MPI_INT, to, 1, MPI_INT, graph);                \
        EQUAL(b[0], in ? 7 : -1);                                           \
        b[0] = -1;                                                          \
        RIGHT(f, _c, from, 1, MPI_INT, to, 1, MPI_INT, graph);              \
        EQUAL(b[0], in ? 7 : -1);                                           \
        BOTH(MPI_ERR_COUNT, f, from, -1, MPI_INT, to, 1, MPI_INT, graph);   \
        BOTH(MPI_ERR_COUNT, f, from, 1, MPI_INT, to, -1, MPI_INT, graph);   \
        BOTH(MPI_ERR_TYPE, f, from, 1, uncommitted, to, 1, MPI_INT, graph); \
        BOTH(MPI_ERR_TYPE, f, from, 1, MPI_INT, to, 1, NONE, graph);        \
        BOTH(MPI_ERR_BUFFER, f, MPI_IN_PLACE, 1, MPI_INT, to, 1, MPI_INT, graph); \
        BOTH(MPI_ERR_BUFFER, f, from, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, graph); \
        RIGHT(f, , NULL, 1, MPI_INT, NULL, 1, MPI_INT, line);               \
        RIGHT(f, _c, NULL, 1, MPI_INT, NULL, 1, MPI_INT, line);             \
        RIGHT(f, , a, 1, MPI_INT, a, 1, MPI_INT, line);                     \
    } while (0)

static void nobody(void)
{
    /* Rank 0 sends to rank 1 if there is one; a line of one place has MPI_PROC_NULL at both ends. */
    const int out = rank == 0 && size > 1, in = rank == 1, first = 0, second = 1, open_ended = 0;
    int *from = out ? a : NULL, *to = in ? b : NULL;
    MPI_Comm graph, line;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, &first, MPI_UNWEIGHTED, out, &second, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                      0, &graph));
    OK(MPI_Cart_create(MPI_COMM_SELF, 1, (int[]){1}, &open_ended, 0, &line));
    a[0] = 7;
    EMPTY(allgather);
    EMPTY(alltoall);
    b[0] = -1;
    RIGHT(allgatherv, , from, 1, MPI_INT, to, ones, offsets, MPI_INT, graph);
    RIGHT(allgatherv, _c, from, 1, MPI_INT, to, ones_c, far, MPI_INT, graph);
    EQUAL(b[0], in ? 7 : -1);
    RIGHT(allgatherv, , NULL, 1, MPI_INT, NULL, ones, offsets, MPI_INT, line);
    RIGHT(allgatherv, _c, NULL, 1, MPI_INT, NULL, ones_c, far, MPI_INT, line);
    RIGHT(alltoallv, , NULL, ones, offsets, MPI_INT, NULL, ones, offsets, MPI_INT, line);
    RIGHT(alltoallv, _c, NULL, ones_c, far, MPI_INT, NULL, ones_c, far, MPI_INT, line);
    RIGHT(alltoallv, , a, ones, offsets, MPI_INT, a, ones, offsets, MPI_INT, line);
    RIGHT(alltoallw, , NULL, ones, far, none, NULL, ones, far, none, line);
    RIGHT(alltoallw, _c, NULL, ones_c, far, none, NULL, ones_c, far, none, line);
    RIGHT(alltoallw, , a, ones, far, ints, a, ones, far, ints, line);
    WRONG(MPI_ERR_COUNT, alltoallv, , NULL, minus, offsets, MPI_INT, NULL, ones, offsets, MPI_INT, line);
    WRONG(MPI_ERR_TYPE, alltoallw, , NULL, ones, far, ints, NULL, ones, far, open, line);
    WRONG(MPI_ERR_BUFFER, alltoallv, , MPI_IN_PLACE, ones, offsets, MPI_INT, NULL, ones, offsets, MPI_INT, line);
    WRONG(MPI_ERR_BUFFER, alltoallw, , NULL, ones, far, ints, MPI_IN_PLACE, ones, far, ints, line);
    EQUAL(a[0], 7);
    OK(MPI_Comm_free(&line));
    OK(MPI_Comm_free(&graph));
}

int main(int argc, char **argv)
{
    MPI_Comm grid, graph, half, inter;
    int ends[8], edges[8], ring = 1;
    check_start(&argc, &argv);
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    for (int i = 0; i < 8; i++) {
        ones[i] = ones_c[i] = 1, minus[i] = minus_c[i] = -1;
        wide_c[i] = (MPI_Count)1 << 62, steps[i] = 8;
        ints[i] = MPI_INT, none[i] = NONE, open[i] = uncommitted;
    }
    on(MPI_COMM_NULL, MPI_ERR_COMM);
    on(MPI_COMM_WORLD, MPI_ERR_TOPOLOGY);
    says(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD),
         "comm is a communicator without a topology, expected a communicator with a topology");
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &grid));
    arguments(grid);
    if (size > 1) {
        /* Node 0 leads to node 1, but not back. */
        for (int i = 0; i < size; i++) ends[i] = 1, edges[i] = 1;
        OK(MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &graph));
        on(graph, MPI_ERR_TOPOLOGY);
        says(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, graph), "a graph that is not symmetric");
        OK(MPI_Comm_free(&graph));
        OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
        OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter));
        on(inter, MPI_ERR_COMM);
        OK(MPI_Comm_free(&inter));
        OK(MPI_Comm_free(&half));
    }
    OK(MPI_Comm_free(&grid));
    nobody();
    /* An edge of a rank to itself with one end only: nothing can go along it. */
    int self = 0;
    OK(MPI_Dist_graph_create_adjacent(MPI_COMM_SELF, 1, &self, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph));
    on(graph, MPI_ERR_TOPOLOGY);
    says(MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, graph), "a graph where rank 0 has 1 edges from itself");
    OK(MPI_Comm_free(&graph));
    OK(MPI_Type_free(&uncommitted));
    return check_end();
}
