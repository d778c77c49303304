// ranks: 6 8 12
// hosts in turns: 2
// only: posthaste
/* Grids and graphs whose ranks may be reordered, on hosts that ranks were dealt out to in turns: fewer neighbours are on
 * different hosts, everybody still finds them, and the map functions say the same. MPI-5.0 section 8.5. */
#include "check.h"

/* The host of each rank of the world, as the rank of its first process. */
static int *host_of;

static void find_hosts(void)
{
    MPI_Comm host;
    int first = rank;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    OK(MPI_Bcast(&first, 1, MPI_INT, 0, host));
    OK(MPI_Comm_free(&host));
    host_of = malloc(size * sizeof *host_of);
    OK(MPI_Allgather(&first, 1, MPI_INT, host_of, 1, MPI_INT, MPI_COMM_WORLD));
    EQUAL(host_of[0], 0);
    EQUAL(host_of[1], 1);
    EQUAL(host_of[size - 1], (size - 1) % 2);
}

static int world_rank(MPI_Comm comm, int r)
{
    MPI_Group group, world;
    int translated = -1;
    OK(MPI_Comm_group(comm, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_translate_ranks(group, 1, &r, world, &translated));
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    return translated;
}

/* How many edges lead to another host. Every neighbour sends who it is, and is who it should be. */
static int between_hosts(MPI_Comm comm, int n, const int *neighbors)
{
    int me = -1, sum = 0, count = 0, got[16];
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, comm));
    for (int i = 0; i < n; i++) {
        if (neighbors[i] == MPI_PROC_NULL) continue;
        EQUAL(got[i], neighbors[i]);
        count += host_of[world_rank(comm, neighbors[i])] != host_of[rank];
    }
    OK(MPI_Allreduce(&count, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

static int grid(int ndims, const int *dims, const int *periods, int reorder)
{
    int places = 1, mapped = -5, me = -1, neighbors[16];
    for (int d = 0; d < ndims; d++) places *= dims[d];
    MPI_Comm cart;
    OK(MPI_Cart_create(MPI_COMM_WORLD, ndims, dims, periods, reorder, &cart));
    OK(MPI_Cart_map(MPI_COMM_WORLD, ndims, dims, periods, &mapped));
    /* The same ranks have a place, in whatever order. */
    EQUAL(cart == MPI_COMM_NULL, rank >= places);
    EQUAL(mapped == MPI_UNDEFINED, rank >= places);
    if (cart == MPI_COMM_NULL) return -1;
    OK(MPI_Comm_rank(cart, &me));
    EQUAL(me, reorder ? mapped : rank);
    if (rank == 0) EQUAL(me, 0);
    for (int d = 0; d < ndims; d++) OK(MPI_Cart_shift(cart, d, 1, &neighbors[2 * d], &neighbors[2 * d + 1]));
    int sum = between_hosts(cart, 2 * ndims, neighbors);
    OK(MPI_Comm_free(&cart));
    return sum;
}

/* A ring of so many nodes. */
static int ring(int nodes, int reorder)
{
    int *ends = malloc(nodes * sizeof *ends), *edges = malloc(2 * nodes * sizeof *edges), mapped = -5, me = -1;
    for (int node = 0; node < nodes; node++) {
        edges[2 * node] = (node + nodes - 1) % nodes;
        edges[2 * node + 1] = (node + 1) % nodes;
        ends[node] = 2 * node + 2;
    }
    MPI_Comm graph;
    OK(MPI_Graph_create(MPI_COMM_WORLD, nodes, ends, edges, reorder, &graph));
    OK(MPI_Graph_map(MPI_COMM_WORLD, nodes, ends, edges, &mapped));
    EQUAL(graph == MPI_COMM_NULL, rank >= nodes);
    EQUAL(mapped == MPI_UNDEFINED, rank >= nodes);
    int sum = -1;
    if (graph != MPI_COMM_NULL) {
        OK(MPI_Comm_rank(graph, &me));
        EQUAL(me, reorder ? mapped : rank);
        sum = between_hosts(graph, 2, edges + 2 * me);
        OK(MPI_Comm_free(&graph));
    }
    free(ends);
    free(edges);
    return sum;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    find_hosts();
    /* A line: every neighbour was on the other host, afterwards there is one border. */
    int line = size, round = 1, open = 0;
    EQUAL(grid(1, &line, &open, 0), 2 * (size - 1));
    EQUAL(grid(1, &line, &open, 1), 2);
    EQUAL(grid(1, &line, &round, 1), 4);
    /* Planes: columns are on one host, or halves of columns. */
    int plane[2] = {size / 2, 2}, periods[2] = {0, 0};
    EQUAL(grid(2, plane, periods, 0), size);
    EQUAL(grid(2, plane, periods, 1), size % 4 == 0 ? 4 : size);
    /* The last rank has no place. */
    int fewer = size - 1, kept = grid(1, &fewer, &open, 0), reordered = grid(1, &fewer, &open, 1);
    if (rank < fewer) {
        EQUAL(kept, 2 * (fewer - 1));
        EQUAL(reordered, 2);
    }
    EQUAL(ring(size, 0), 2 * size);
    EQUAL(ring(size, 1), 4);
    kept = ring(size - 1, 0), reordered = ring(size - 1, 1);
    if (rank < size - 1) CHECK(reordered == 4 && kept > 4, "%d, then %d", kept, reordered);
    free(host_of);
    return check_end();
}
