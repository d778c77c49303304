// ranks: 1 2 4 6
/* Graphs of which each rank describes a part: its own edges, or any. Weights, none, the empty list of them; several edges
 * between two ranks, edges of a rank to itself, ranks without edges; lists that are cut; duplicates. MPI-5.0 sections 8.5.4
 * and 8.5.5. */
#include "check.h"

enum { ROOM = 64 };
#define W MPI_COMM_WORLD

/* What a rank should find. */
struct ends {
    int count, ranks[ROOM], weights[ROOM];
};

static void add(struct ends *ends, int other, int weight)
{
    ends->ranks[ends->count] = other;
    ends->weights[ends->count++] = weight;
}

static int by_both(const void *left, const void *right)
{
    const int *a = left, *b = right;
    return a[0] != b[0] ? a[0] - b[0] : a[1] - b[1];
}

/* The same edges, whatever the order. */
static void same(const struct ends *wanted, const int *ranks, const int *weights, int weighted)
{
    int one[ROOM][2], other[ROOM][2];
    for (int i = 0; i < wanted->count; i++) {
        one[i][0] = wanted->ranks[i], one[i][1] = weighted ? wanted->weights[i] : 0;
        other[i][0] = ranks[i], other[i][1] = weighted ? weights[i] : 0;
    }
    qsort(one, wanted->count, sizeof *one, by_both);
    qsort(other, wanted->count, sizeof *other, by_both);
    for (int i = 0; i < wanted->count; i++) {
        EQUAL(other[i][0], one[i][0]);
        EQUAL(other[i][1], one[i][1]);
    }
}

static void check(MPI_Comm comm, const struct ends *in, const struct ends *out, int weighted)
{
    int kind = -1, indegree = -1, outdegree = -1, has = -1, ranks[2][ROOM], weights[2][ROOM], first[2][ROOM];
    OK(MPI_Topo_test(comm, &kind));
    EQUAL(kind, MPI_DIST_GRAPH);
    OK(MPI_Dist_graph_neighbors_count(comm, &indegree, &outdegree, &has));
    EQUAL(indegree, in->count);
    EQUAL(outdegree, out->count);
    EQUAL(!has, !weighted);
    memset(ranks, -1, sizeof ranks);
    memset(weights, -1, sizeof weights);
    OK(MPI_Dist_graph_neighbors(comm, indegree, ranks[0], weights[0], outdegree, ranks[1], weights[1]));
    same(in, ranks[0], weights[0], weighted);
    same(out, ranks[1], weights[1], weighted);
    EQUAL(ranks[0][indegree], -1);
    EQUAL(weights[1][outdegree], -1);
    if (!weighted) EQUAL(weights[0][0], -1);
    /* Without weights, and with less room than there are edges. */
    memset(first, -1, sizeof first);
    OK(MPI_Dist_graph_neighbors(comm, 1, first[0], MPI_UNWEIGHTED, ROOM, first[1], MPI_UNWEIGHTED));
    for (int i = 0; i < ROOM; i++) {
        EQUAL(first[0][i], i < 1 ? ranks[0][i] : -1);
        EQUAL(first[1][i], ranks[1][i]);
    }
    OK(MPI_Dist_graph_neighbors(comm, 0, NULL, NULL, 0, NULL, NULL));
}

/* A communicator has these edges, and so have its duplicates. */
static void check_all(MPI_Comm comm, const struct ends *in, const struct ends *out, int weighted)
{
    MPI_Comm other, another;
    MPI_Request request;
    int n, r;
    OK(MPI_Comm_size(comm, &n));
    OK(MPI_Comm_rank(comm, &r));
    EQUAL(n, size);
    check(comm, in, out, weighted);
    OK(MPI_Comm_dup(comm, &other));
    OK(MPI_Comm_idup(comm, &another, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&comm));
    check(other, in, out, weighted);
    check(another, in, out, weighted);
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_free(&another));
}

/* Each rank names its own edges: two to the next rank, one to itself, one to rank 0. */
static void adjacent(void)
{
    MPI_Comm comm;
    MPI_Info info;
    struct ends in = {0}, out = {0};
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    add(&out, next, 10 + rank);
    add(&out, rank, 1000);
    add(&out, next, 20 + rank);
    add(&out, 0, 30 + rank);
    add(&in, rank, 1000);
    add(&in, before, 10 + before);
    add(&in, before, 20 + before);
    for (int other = 0; rank == 0 && other < size; other++) add(&in, other, 30 + other);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "a hint", "that nobody knows"));
    OK(MPI_Dist_graph_create_adjacent(W, in.count, in.ranks, in.weights, out.count, out.ranks, out.weights, info, 0, &comm));
    check_all(comm, &in, &out, 1);
    OK(MPI_Dist_graph_create_adjacent(W, in.count, in.ranks, MPI_UNWEIGHTED, out.count, out.ranks, MPI_UNWEIGHTED, info, 1, &comm));
    check_all(comm, &in, &out, 0);
    OK(MPI_Info_free(&info));
    /* Here the order is as it was given. */
    int got[2][ROOM], weights[2][ROOM];
    OK(MPI_Dist_graph_create_adjacent(W, in.count, in.ranks, in.weights, out.count, out.ranks, out.weights, MPI_INFO_NULL, 0, &comm));
    OK(MPI_Dist_graph_neighbors(comm, in.count, got[0], weights[0], out.count, got[1], weights[1]));
    for (int i = 0; i < in.count; i++) {
        EQUAL(got[0][i], in.ranks[i]);
        EQUAL(weights[0][i], in.weights[i]);
    }
    for (int i = 0; i < out.count; i++) {
        EQUAL(got[1][i], out.ranks[i]);
        EQUAL(weights[1][i], out.weights[i]);
    }
    OK(MPI_Comm_free(&comm));
    /* No edges. */
    struct ends none = {0};
    OK(MPI_Dist_graph_create_adjacent(W, 0, NULL, MPI_WEIGHTS_EMPTY, 0, NULL, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm));
    check_all(comm, &none, &none, 1);
    OK(MPI_Dist_graph_create_adjacent(W, 0, NULL, MPI_UNWEIGHTED, 0, NULL, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    check_all(comm, &none, &none, 0);
}

/* Each rank names, for each source i, edges to the first ranks, and one more from the last rank to itself. */
static void distributed(int weighted)
{
    MPI_Comm comm;
    struct ends in = {0}, out = {0};
    int sources[ROOM], degrees[ROOM], destinations[ROOM], weights[ROOM], n = 0, m = 0;
    for (int who = 0; who < size; who++) {
        for (int from = 0; from <= size; from++) {
            int source = from < size ? (from + who) % size : size - 1;
            int degree = from < size ? (who + from) % 3 : 1;
            if (who == rank) sources[n] = source, degrees[n++] = degree;
            for (int i = 0; i < degree; i++) {
                int destination = from < size ? i % size : size - 1, weight = 100 * who + 10 * from + i;
                if (who == rank) destinations[m] = destination, weights[m++] = weight;
                if (source == rank) add(&out, destination, weight);
                if (destination == rank) add(&in, source, weight);
            }
        }
    }
    OK(MPI_Dist_graph_create(W, n, sources, degrees, destinations, weighted ? weights : MPI_UNWEIGHTED, MPI_INFO_NULL, weighted, &comm));
    check_all(comm, &in, &out, weighted);
    /* Rank 0 names the ring, the others nothing. */
    in.count = out.count = 0;
    for (int i = 0; i < size; i++) sources[i] = i, degrees[i] = 1, destinations[i] = (i + 1) % size, weights[i] = i;
    add(&out, (rank + 1) % size, rank);
    add(&in, (rank + size - 1) % size, (rank + size - 1) % size);
    const int *own = rank == 0 ? weights : MPI_WEIGHTS_EMPTY;
    n = rank == 0 ? size : 0;
    OK(MPI_Dist_graph_create(W, n, n ? sources : NULL, n ? degrees : NULL, n ? destinations : NULL,
                             weighted ? own : MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm));
    check_all(comm, &in, &out, weighted);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    adjacent();
    distributed(0);
    distributed(1);
    return check_end();
}
