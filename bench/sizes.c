/* sizes.c: any number of ranks: every collective operation with data, at several lengths, in rotating buffers and with rotating roots,
 * so that nothing lies in a cache because it did a moment ago, and no rank runs ahead. What arrives is looked at before, for each root:
 * the first number, one in the middle and the last one of every block. Of short messages also how long single operations take, and
 * what is left of the time where one rank after the other comes late. Plain MPI. Output: lines "result coll_NAME_BYTES_RANKS VALUE us"
 * from rank 0; the bytes are those of a message of a rank, or of a block. Behind them may stand what is reported: _p50 and _p99, the
 * median of single operations and the longest of a hundred, or _late. Called by `cargo xtask bench --only coll`. */
#include "measure.h"

enum { OPERATIONS = 9, LENGTHS = 5, POOL = 32 << 20, MOST = 16 << 20, SHORT = 16 << 10, SINGLES = 1000, LATE_US = 100 };
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

/* What rank `from` gives at a place of a block. */
static double given(int from, int block, size_t place) { return 3 * from + 7 * block + (double)(place % 11) + turn; }

/* What all ranks up to `last` give there, together. */
static double summed(int last, int block, size_t place)
{
    double sum = 0;
    for (int from = 0; from <= last; from++) sum += given(from, block, place);
    return sum;
}

/* What has to be at a place of a block here; nothing is known of what nobody writes. */
static int is_right(int root, int block, size_t place, double given_back, double got)
{
    switch (operation) {
    case 0: return given_back == given(root, 0, place);
    case 1: return rank != root || got == summed(size - 1, 0, place);
    case 2: return got == summed(size - 1, 0, place);
    case 3: return rank != root || got == given(block, 0, place);
    case 4: return got == given(root, rank, place);
    case 5: return got == given(block, 0, place);
    case 6: return got == given(block, rank, place);
    case 7: return got == summed(size - 1, rank, place);
    default: return got == summed(rank, 0, place);
    }
}

/* Each root once. */
static void look(void)
{
    size_t n = (size_t)bytes / 8, places[] = {0, n / 2, n - 1};
    for (turn = 0; turn < size;) {
        int root = turn % size, at = turn % buffers, now = turn;
        double *give = (double *)(in + in_bytes * at), *get = (double *)(out + out_bytes * at);
        for (int k = 0; k < 3; k++) {
            for (int b = 0; b < blocks_in(operation); b++) {
                int is_given = operation > 0 || rank == root;
                give[b * n + places[k]] = is_given ? given(rank, b, places[k]) : -1;
            }
            for (int b = 0; b < blocks_out(operation); b++) get[b * n + places[k]] = -1;
        }
        step(NULL);
        turn = now;
        for (int k = 0; k < 3; k++)
            for (int b = 0; b < blocks_out(operation); b++)
                if (!is_right(root, b, places[k], give[places[k]], get[b * n + places[k]])) measure_fail(names[operation]);
        turn++;
    }
    turn = 0;
}

/* One operation, before which one rank after the other computes for a while. */
static void late(void *unused)
{
    if (turn % size == rank)
        for (double start = MPI_Wtime(); MPI_Wtime() - start < LATE_US * 1e-6;) {}
    step(unused);
}

static void report(const char *what, double seconds)
{
    char label[64];
    snprintf(label, sizeof label, "coll_%s_%d_%d%s", names[operation], bytes, size, what);
    if (rank == 0) measure_report(label, seconds * 1e6, "us");
}

static void singles(void)
{
    static double times[SINGLES];
    for (int i = 0; i < SINGLES; i++) {
        double start = MPI_Wtime();
        step(NULL);
        times[i] = MPI_Wtime() - start;
    }
    qsort(times, SINGLES, sizeof *times, measure_by_value);
    report("_p50", times[SINGLES / 2]);
    report("_p99", times[SINGLES / 100 * 99]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int median = size > (argc > 1 ? atoi(argv[1]) : 1);
    for (operation = 0; operation < OPERATIONS; operation++) {
        for (int length = 0; length < LENGTHS; length++) {
            bytes = lengths[length];
            in_bytes = (size_t)bytes * blocks_in(operation), out_bytes = (size_t)bytes * blocks_out(operation);
            size_t most = in_bytes > out_bytes ? in_bytes : out_bytes;
            if (most > MOST) continue;
            buffers = (int)(POOL / size / most) + 1;
            if (buffers > 16) buffers = 16;
            in = calloc(buffers, in_bytes), out = calloc(buffers, out_bytes);
            if (!in || !out) measure_fail("memory");
            look();
            report("", measure(step, NULL, median ? 0.04 : 0.01, median));
            if (bytes <= SHORT) {
                singles();
                report("_late", measure(late, NULL, median ? 0.04 : 0.01, median) - LATE_US * 1e-6);
            }
            free(in), free(out);
        }
    }
    MPI_Finalize();
    return 0;
}
