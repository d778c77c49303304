/* sizes.c: any number of ranks: every collective operation with data, at several lengths, in rotating buffers and with rotating roots,
 * so that nothing lies in a cache because it did a moment ago, and no rank runs ahead. What arrives is looked at once before.
 * Plain MPI. Output: lines "result coll_NAME_BYTES_RANKS VALUE us" from rank 0; the bytes are those of a message of a rank, or of a
 * block. Called by `cargo xtask bench --only coll`. */
#include "measure.h"

enum { OPERATIONS = 9, LENGTHS = 5, POOL = 32 << 20, MOST = 16 << 20 };
static const char *const names[OPERATIONS] = {"bcast",     "reduce",   "allreduce",      "gather", "scatter",
                                              "allgather", "alltoall", "reduce_scatter", "scan"};
static const int lengths[LENGTHS] = {8, 1 << 10, 16 << 10, 256 << 10, 4 << 20};

static int rank, size, turn, operation, bytes, buffers;
static size_t in_bytes, out_bytes;
static char *in, *out;

/* How many blocks a rank gives and gets. */
static int blocks_in(int which) { return which == 4 || which == 6 || which == 7 ? size : 1; }
static int blocks_out(int which) { return which == 3 || which == 5 || which == 6 ? size : 1; }

static void step(void *unused)
{
    int at = turn % buffers, root = turn % size, count = bytes / 8;
    char *give = in + in_bytes * at, *get = out + out_bytes * at;
    (void)unused;
    turn++;
    switch (operation) {
    case 0: MPI_Bcast(give, bytes, MPI_BYTE, root, MPI_COMM_WORLD); break;
    case 1: MPI_Reduce(give, get, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD); break;
    case 2: MPI_Allreduce(give, get, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 3: MPI_Gather(give, bytes, MPI_BYTE, get, bytes, MPI_BYTE, root, MPI_COMM_WORLD); break;
    case 4: MPI_Scatter(give, bytes, MPI_BYTE, get, bytes, MPI_BYTE, root, MPI_COMM_WORLD); break;
    case 5: MPI_Allgather(give, bytes, MPI_BYTE, get, bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    case 6: MPI_Alltoall(give, bytes, MPI_BYTE, get, bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    case 7: MPI_Reduce_scatter_block(give, get, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    default: MPI_Scan(give, get, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* The last number of what a rank gives is its rank: what root 0, or everybody, gets in the end is known. */
static void look(void)
{
    double *give = (double *)in, *get = (double *)out, sum = 0.5 * size * (size - 1), own = 0.5 * rank * (rank + 1);
    size_t last = in_bytes / 8 - 1, end = (size_t)bytes / 8 - 1;
    for (size_t i = 0; i <= last; i++) give[i] = rank;
    turn = 0;
    step(NULL);
    double far = get[out_bytes / 8 - 1], here = get[end];
    int is_root = rank == 0, right = 1;
    switch (operation) {
    case 0: right = give[end] == 0; break;
    case 1: right = !is_root || here == sum; break;
    case 2: case 7: right = here == sum; break;
    case 3: right = !is_root || far == size - 1; break;
    case 4: right = here == 0; break;
    case 5: case 6: right = far == size - 1; break;
    default: right = here == own;
    }
    if (!right) measure_fail(names[operation]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int median = size > (argc > 1 ? atoi(argv[1]) : 1);
    for (operation = 0; operation < OPERATIONS; operation++) {
        for (int length = 0; length < LENGTHS; length++) {
            char label[64];
            bytes = lengths[length];
            in_bytes = (size_t)bytes * blocks_in(operation), out_bytes = (size_t)bytes * blocks_out(operation);
            size_t most = in_bytes > out_bytes ? in_bytes : out_bytes;
            if (most > MOST) continue;
            buffers = (int)(POOL / size / most) + 1;
            if (buffers > 16) buffers = 16;
            in = calloc(buffers, in_bytes), out = calloc(buffers, out_bytes);
            if (!in || !out) measure_fail("memory");
            look();
            double each = measure(step, NULL, median ? 0.04 : 0.01, median);
            snprintf(label, sizeof label, "coll_%s_%d_%d", names[operation], bytes, size);
            if (rank == 0) measure_report(label, each * 1e6, "us");
            free(in), free(out);
        }
    }
    MPI_Finalize();
    return 0;
}
