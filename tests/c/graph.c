// ranks: 1 2 4 6
/* Graphs that every rank describes whole: nodes and edges as they were given, several edges between two nodes, edges of a
 * node to itself, fewer nodes than ranks, none, duplicates. MPI-5.0 sections 8.5.3, 8.5.5 and 8.5.8. */
#include "check.h"

static int kind(MPI_Comm comm)
{
    int status = -1;
    OK(MPI_Topo_test(comm, &status));
    return status;
}

/* The graph of a communicator is this one. */
static void check(MPI_Comm comm, int nodes, const int *ends, const int *edges)
{
    int got_nodes = -1, got_edges = -1, all = nodes ? ends[nodes - 1] : 0, got_ends[8], got[64], at = 0;
    EQUAL(kind(comm), MPI_GRAPH);
    OK(MPI_Graphdims_get(comm, &got_nodes, &got_edges));
    EQUAL(got_nodes, nodes);
    EQUAL(got_edges, all);
    memset(got, -1, sizeof got);
    OK(MPI_Graph_get(comm, nodes, all, got_ends, got));
    for (int i = 0; i < nodes; i++) EQUAL(got_ends[i], ends[i]);
    for (int i = 0; i < all; i++) EQUAL(got[i], edges[i]);
    EQUAL(got[all], -1);
    for (int node = 0; node < nodes; node++) {
        int count = -1;
        OK(MPI_Graph_neighbors_count(comm, node, &count));
        EQUAL(count, ends[node] - at);
        memset(got, -1, sizeof got);
        OK(MPI_Graph_neighbors(comm, node, count, got));
        for (int i = 0; i < count; i++) EQUAL(got[i], edges[at + i]);
        EQUAL(got[count], -1);
        at = ends[node];
    }
}

/* Node i leads to all nodes below it, twice to node 0, and once to itself; it needs no edge back. */
static int describe(int nodes, int *ends, int *edges)
{
    int at = 0;
    for (int node = 0; node < nodes; node++) {
        for (int below = node; below >= 0; below--) edges[at++] = below;
        edges[at++] = 0;
        ends[node] = at;
    }
    return at;
}

static void all_nodes(int nodes)
{
    int ends[8], edges[64], place = -5, n = -1, r = -1;
    describe(nodes, ends, edges);
    MPI_Comm graph, other;
    OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, ends, edges, &place));
    if (rank < nodes) CHECK(place >= 0 && place < nodes, "%d", place);
    else EQUAL(place, MPI_UNDEFINED);
    for (int reorder = 0; reorder < 2; reorder++) {
        OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, ends, edges, reorder, &graph));
        EQUAL(graph == MPI_COMM_NULL, rank >= nodes);
        if (graph == MPI_COMM_NULL) continue;
        OK(MPI_Comm_size(graph, &n));
        EQUAL(n, nodes);
        OK(MPI_Comm_rank(graph, &r));
        CHECK(r >= 0 && r < nodes, "%d", r);
        check(graph, nodes, ends, edges);
        /* A duplicate has the graph, a split has none. */
        OK(MPI_Comm_dup(graph, &other));
        check(other, nodes, ends, edges);
        OK(MPI_Comm_free(&other));
        MPI_Request request;
        OK(MPI_Comm_idup(graph, &other, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Comm_free(&graph));
        check(other, nodes, ends, edges);
        OK(MPI_Comm_split(other, 0, 0, &graph));
        EQUAL(kind(graph), MPI_UNDEFINED);
        OK(MPI_Comm_free(&graph));
        OK(MPI_Comm_free(&other));
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    all_nodes(size);
    if (size > 1) all_nodes(size - 1);
    all_nodes(1);
    /* Nodes without edges, and no nodes. */
    int ends[8] = {0, 0, 0, 0, 0, 0, 0, 0}, place = -5;
    MPI_Comm graph = MPI_COMM_WORLD;
    OK(MPI_Graph_create(MPI_COMM_WORLD, size, ends, NULL, 0, &graph));
    check(graph, size, ends, ends);
    OK(MPI_Comm_free(&graph));
    graph = MPI_COMM_WORLD;
    OK(MPI_Graph_create(MPI_COMM_WORLD, 0, NULL, NULL, 0, &graph));
    EQUAL(graph == MPI_COMM_NULL, 1);
    OK(MPI_Graph_map(MPI_COMM_WORLD, 0, NULL, NULL, &place));
    EQUAL(place, MPI_UNDEFINED);
    return check_end();
}
