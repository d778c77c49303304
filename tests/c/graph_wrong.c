// ranks: 1 4
// only: posthaste
/* Every argument of the functions for graphs wrong in turn. MPI-5.0 section 8.5. */
#include "check.h"

#define W MPI_COMM_WORLD

static int ends[8], edges[8], out[8], x, y, z;

/* Each rank has one edge, to itself. */
static void describe(void)
{
    for (int i = 0; i < size; i++) ends[i] = i + 1, edges[i] = i;
}

static void graphs(MPI_Comm cart)
{
    MPI_Comm comm = W;
    int bad[8];
    REFUSED(MPI_Graph_create(MPI_COMM_NULL, size, ends, edges, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Graph_create(W, -1, ends, edges, 0, &comm), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL, "a communicator was made");
    REFUSED(MPI_Graph_create(W, size, NULL, edges, 0, &comm), MPI_ERR_ARG);
    REFUSED(MPI_Graph_create(W, size, ends, NULL, 0, &comm), MPI_ERR_ARG);
    REFUSED(MPI_Graph_create(W, size, ends, edges, 0, NULL), MPI_ERR_ARG);
    ends[size] = size;
    REFUSED(MPI_Graph_create(W, size + 1, ends, edges, 0, &comm), MPI_ERR_ARG);
    REFUSED(MPI_Graph_map(W, size + 1, ends, edges, &x), MPI_ERR_ARG);
    memcpy(bad, ends, sizeof bad);
    bad[0] = -1;
    REFUSED(MPI_Graph_create(W, size, bad, edges, 0, &comm), MPI_ERR_ARG);
    bad[0] = 2, bad[1] = 1;
    if (size > 1) REFUSED(MPI_Graph_create(W, size, bad, edges, 0, &comm), MPI_ERR_ARG);
    memcpy(bad, edges, sizeof bad);
    for (int wrong = -1; wrong <= size; wrong += size + 1) {
        bad[0] = wrong;
        REFUSED(MPI_Graph_create(W, size, ends, bad, 0, &comm), MPI_ERR_ARG);
        REFUSED(MPI_Graph_map(W, size, ends, bad, &x), MPI_ERR_ARG);
    }
    REFUSED(MPI_Graph_map(MPI_COMM_NULL, size, ends, edges, &x), MPI_ERR_COMM);
    REFUSED(MPI_Graph_map(W, size, ends, edges, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Graph_map(W, -1, ends, edges, &x), MPI_ERR_ARG);

    MPI_Comm others[] = {W, cart};
    for (int i = 0; i < 2; i++) {
        REFUSED(MPI_Graphdims_get(others[i], &x, &y), MPI_ERR_TOPOLOGY);
        REFUSED(MPI_Graph_get(others[i], 8, 8, out, out), MPI_ERR_TOPOLOGY);
        REFUSED(MPI_Graph_neighbors_count(others[i], 0, &x), MPI_ERR_TOPOLOGY);
        REFUSED(MPI_Graph_neighbors(others[i], 0, 8, out), MPI_ERR_TOPOLOGY);
    }
    OK(MPI_Graph_create(W, size, ends, edges, 0, &comm));
    REFUSED(MPI_Graphdims_get(MPI_COMM_NULL, &x, &y), MPI_ERR_COMM);
    REFUSED(MPI_Graphdims_get(comm, NULL, &y), MPI_ERR_ARG);
    REFUSED(MPI_Graphdims_get(comm, &x, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Graph_get(MPI_COMM_NULL, size, size, out, out), MPI_ERR_COMM);
    REFUSED(MPI_Graph_get(comm, size - 1, size, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Graph_get(comm, size, size - 1, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Graph_get(comm, -1, size, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Graph_get(comm, size, size, NULL, out), MPI_ERR_ARG);
    REFUSED(MPI_Graph_get(comm, size, size, out, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Graph_neighbors_count(MPI_COMM_NULL, 0, &x), MPI_ERR_COMM);
    REFUSED(MPI_Graph_neighbors_count(comm, size, &x), MPI_ERR_RANK);
    REFUSED(MPI_Graph_neighbors_count(comm, MPI_PROC_NULL, &x), MPI_ERR_RANK);
    REFUSED(MPI_Graph_neighbors_count(comm, 0, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Graph_neighbors(MPI_COMM_NULL, 0, 1, out), MPI_ERR_COMM);
    REFUSED(MPI_Graph_neighbors(comm, -1, 1, out), MPI_ERR_RANK);
    REFUSED(MPI_Graph_neighbors(comm, 0, 0, out), MPI_ERR_ARG);
    REFUSED(MPI_Graph_neighbors(comm, 0, 1, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Cartdim_get(comm, &x), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Dist_graph_neighbors_count(comm, &x, &y, &z), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Dist_graph_neighbors(comm, 1, out, out, 1, out, out), MPI_ERR_TOPOLOGY);
    OK(MPI_Comm_free(&comm));
}

#define ADJACENT(in, from, fromweights, outdegree, to, toweights) \
    MPI_Dist_graph_create_adjacent(W, in, from, fromweights, outdegree, to, toweights, MPI_INFO_NULL, 0, &comm)
#define DISTRIBUTED(n, from, degrees, to, weights) \
    MPI_Dist_graph_create(W, n, from, degrees, to, weights, MPI_INFO_NULL, 0, &comm)

static void dist_graphs(MPI_Comm cart)
{
    MPI_Comm comm = W;
    MPI_Info freed, info;
    int me[2] = {rank, rank}, bad[2] = {rank, size}, one[2] = {1, 1}, less[2] = {1, -1};
    OK(MPI_Info_create(&info));
    freed = info;
    OK(MPI_Info_free(&info));
    REFUSED(MPI_Dist_graph_create_adjacent(W, 1, me, one, 1, me, one, freed, 0, &comm), MPI_ERR_INFO);
    REFUSED(MPI_Dist_graph_create(W, 1, me, one, me, one, freed, 0, &comm), MPI_ERR_INFO);
    REFUSED(MPI_Dist_graph_create_adjacent(MPI_COMM_NULL, 1, me, one, 1, me, one, MPI_INFO_NULL, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Dist_graph_create_adjacent(W, 1, me, one, 1, me, one, MPI_INFO_NULL, 0, NULL), MPI_ERR_ARG);
    REFUSED(ADJACENT(-1, me, one, 1, me, one), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL, "a communicator was made");
    REFUSED(ADJACENT(1, me, one, -1, me, one), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, NULL, one, 1, me, one), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, me, NULL, 1, me, one), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, me, one, 1, NULL, one), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, me, one, 1, me, NULL), MPI_ERR_ARG);
    REFUSED(ADJACENT(2, bad, one, 2, me, one), MPI_ERR_RANK);
    REFUSED(ADJACENT(2, me, one, 2, bad, one), MPI_ERR_RANK);
    bad[1] = MPI_PROC_NULL;
    REFUSED(ADJACENT(2, bad, one, 2, me, one), MPI_ERR_RANK);
    REFUSED(ADJACENT(2, me, less, 2, me, one), MPI_ERR_ARG);
    REFUSED(ADJACENT(2, me, one, 2, me, less), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, me, MPI_UNWEIGHTED, 1, me, one), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, me, one, 1, me, MPI_UNWEIGHTED), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, me, MPI_WEIGHTS_EMPTY, 1, me, one), MPI_ERR_ARG);
    REFUSED(ADJACENT(1, me, one, 1, me, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);

    REFUSED(MPI_Dist_graph_create(MPI_COMM_NULL, 1, me, one, me, one, MPI_INFO_NULL, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Dist_graph_create(W, 1, me, one, me, one, MPI_INFO_NULL, 0, NULL), MPI_ERR_ARG);
    REFUSED(DISTRIBUTED(-1, me, one, me, one), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL, "a communicator was made");
    REFUSED(DISTRIBUTED(1, NULL, one, me, one), MPI_ERR_ARG);
    REFUSED(DISTRIBUTED(1, me, NULL, me, one), MPI_ERR_ARG);
    REFUSED(DISTRIBUTED(1, me, one, NULL, one), MPI_ERR_ARG);
    REFUSED(DISTRIBUTED(1, me, one, me, NULL), MPI_ERR_ARG);
    REFUSED(DISTRIBUTED(2, bad, one, me, one), MPI_ERR_RANK);
    REFUSED(DISTRIBUTED(2, me, one, bad, one), MPI_ERR_RANK);
    REFUSED(DISTRIBUTED(2, me, less, me, one), MPI_ERR_ARG);
    REFUSED(DISTRIBUTED(2, me, one, me, less), MPI_ERR_ARG);
    REFUSED(DISTRIBUTED(1, me, one, me, MPI_WEIGHTS_EMPTY), MPI_ERR_ARG);
    /* Weights at some ranks only: every rank gets the error. */
    if (size > 1) REFUSED(DISTRIBUTED(1, me, one, me, rank == 1 ? one : MPI_UNWEIGHTED), MPI_ERR_ARG);
    CHECK(comm == MPI_COMM_NULL, "a communicator was made");

    MPI_Comm others[] = {W, cart};
    for (int i = 0; i < 2; i++) {
        REFUSED(MPI_Dist_graph_neighbors_count(others[i], &x, &y, &z), MPI_ERR_TOPOLOGY);
        REFUSED(MPI_Dist_graph_neighbors(others[i], 1, out, out, 1, out, out), MPI_ERR_TOPOLOGY);
    }
    OK(ADJACENT(1, me, one, 1, me, one));
    REFUSED(MPI_Dist_graph_neighbors_count(MPI_COMM_NULL, &x, &y, &z), MPI_ERR_COMM);
    REFUSED(MPI_Dist_graph_neighbors_count(comm, NULL, &y, &z), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors_count(comm, &x, NULL, &z), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors_count(comm, &x, &y, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors(MPI_COMM_NULL, 1, out, out, 1, out, out), MPI_ERR_COMM);
    REFUSED(MPI_Dist_graph_neighbors(comm, -1, out, out, 1, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors(comm, 1, out, out, -1, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors(comm, 1, NULL, out, 1, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors(comm, 1, out, NULL, 1, out, out), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors(comm, 1, out, out, 1, NULL, out), MPI_ERR_ARG);
    REFUSED(MPI_Dist_graph_neighbors(comm, 1, out, out, 1, out, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Graphdims_get(comm, &x, &y), MPI_ERR_TOPOLOGY);
    REFUSED(MPI_Cart_sub(comm, one, &comm), MPI_ERR_TOPOLOGY);
}

/* No topology on an intercommunicator. */
static void between_groups(void)
{
    MPI_Comm half, inter, comm = W;
    int one = 1, zero = 0;
    OK(MPI_Comm_split(W, rank % 2, 0, &half));
    OK(MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN));
    OK(MPI_Intercomm_create(half, 0, W, 1 - rank % 2, 3, &inter));
    REFUSED(MPI_Cart_create(inter, 1, &one, &zero, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Graph_create(inter, 1, &zero, NULL, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Graph_map(inter, 1, &zero, NULL, &x), MPI_ERR_COMM);
    REFUSED(MPI_Dist_graph_create_adjacent(inter, 1, &zero, &one, 1, &zero, &one, MPI_INFO_NULL, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Dist_graph_create(inter, 1, &zero, &one, &zero, &one, MPI_INFO_NULL, 0, &comm), MPI_ERR_COMM);
    OK(MPI_Topo_test(inter, &x));
    EQUAL(x, MPI_UNDEFINED);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

int main(int argc, char **argv)
{
    MPI_Comm cart;
    check_start(&argc, &argv);
    describe();
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &size, 0, &cart));
    graphs(cart);
    dist_graphs(cart);
    if (size > 1) between_groups();
    return check_end();
}
