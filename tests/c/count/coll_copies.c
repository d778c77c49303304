/* One collective function, ten times with long data and another root each time, for what the counters say of it
 * (`cargo xtask test --only methods`).
 *
 *   coll_copies FUNCTION ELEMENTS     bcast, reduce, allreduce, gather, scatter or alltoall of so many doubles, for each rank or in a block
 */
#include "../check.h"

static double *in, *out;

/* What the element of a rank is in a turn, and its sum over all ranks. */
static double given(int of, int turn, int at) { return 1000 * of + 10 * turn + at % 7; }
static double sum(int turn, int at) { return 500.0 * size * (size - 1) + size * given(0, turn, at); }

static void turn_of(const char *function, int count, int turn)
{
    int root = turn % size, is_root = rank == root, blocks = 1, first = 0, has_result = 1;
    for (int at = 0; at < count * size; at++) in[at] = given(rank, turn, at % count), out[at] = -1;
    if (!strcmp(function, "bcast")) {
        if (is_root) memcpy(out, in, (size_t)count * sizeof *in);
        OK(MPI_Bcast(out, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
        first = root;
    } else if (!strcmp(function, "gather")) {
        OK(MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
        blocks = size, has_result = is_root;
    } else if (!strcmp(function, "scatter")) {
        OK(MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
        first = root;
    } else if (!strcmp(function, "alltoall")) {
        OK(MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, MPI_COMM_WORLD));
        blocks = size;
    } else {
        if (!strcmp(function, "reduce")) OK(MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD));
        else OK(MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int at = 0; at < count && (is_root || *function == 'a'); at++)
            CHECK(out[at] == sum(turn, at), "%s, turn %d: %g at %d, expected %g", function, turn, out[at], at, sum(turn, at));
        return;
    }
    for (int at = 0; has_result && at < count * blocks; at++) {
        double expected = given(first + at / count, turn, at % count);
        CHECK(out[at] == expected, "%s, turn %d: %g at %d, expected %g", function, turn, out[at], at, expected);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (argc != 3) FAIL("which function, how many elements?");
    int count = atoi(argv[2]);
    in = calloc((size_t)(count * size), sizeof *in), out = calloc((size_t)(count * size), sizeof *out);
    for (int turn = 0; turn < 10; turn++) turn_of(argv[1], count, turn);
    free(in), free(out);
    return check_end();
}
