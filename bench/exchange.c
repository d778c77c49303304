/* exchange.c: any number of ranks: each sends to all others and receives from them at once, nonblocking, at two lengths. What arrives
 * is looked at before and after what is timed. With CPUS also fresh data, which each rank writes first, as programs do: what another
 * core has just written is slower to fetch than what all have read since.
 * Plain MPI. Usage: exchange CPUS | exchange alone | exchange beside MINE OTHER
 * CPUS: the best batch, or the median one where ranks outnumber the CPUs. alone: the mean of a second. beside: the same while another
 * job does so, too, which is given both names the other way round: each job makes its file, and begins when it sees the other's.
 * Output: lines "result exchange_BYTES_RANKS|exchange_fresh_BYTES_RANKS|alone_BYTES|beside_BYTES VALUE us" from rank 0. Called by
 * `cargo xtask bench`. */
#include "measure.h"

#include <time.h>
#include <unistd.h>

enum { LENGTHS = 2, LONGEST = 1 << 20, MOST = 64, BATCH = 32, PATIENCE_MS = 30000 };
static const int lengths[LENGTHS] = {64 << 10, LONGEST};
static const double seconds = 1;

static int rank, size, bytes;
static char *in, *out;

static void step(void *unused)
{
    MPI_Request requests[2 * MOST];
    int n = 0;
    (void)unused;
    for (int i = 1; i < size; i++) {
        int from = (rank + size - i) % size;
        MPI_Irecv(in + (size_t)from * bytes, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[n++]);
    }
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size;
        MPI_Isend(out + (size_t)to * bytes, bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[n++]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
}

static void fresh_step(void *unused)
{
    static unsigned char value;
    memset(out, value++, (size_t)size * bytes);
    step(unused);
}

static char given(int from, int to, int i) { return (char)(i * 31 + i / 251 + 7 * from + 13 * to + 1); }

/* One exchange that is not timed, of which every byte is looked at. */
static void look(void)
{
    for (int to = 0; to < size; to++)
        for (int i = 0; i < bytes; i++) out[(size_t)to * bytes + i] = given(rank, to, i);
    memset(in, 0, (size_t)size * bytes);
    step(NULL);
    for (int from = 0; from < size; from++)
        for (int i = 0; i < bytes && from != rank; i++)
            if (in[(size_t)from * bytes + i] != given(from, rank, i)) measure_fail("the bytes of an exchange");
}

/* Seconds of a step in the mean: a short batch may have the CPUs to itself, and would not show what a share of them comes to. */
static double mean(void)
{
    double start = MPI_Wtime(), took;
    long steps = 0;
    do {
        for (int i = 0; i < BATCH; i++) step(NULL);
        steps += BATCH;
        took = MPI_Wtime() - start;
        MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    } while (took < seconds);
    return took / steps;
}

/* Waits until the other job is at the same length, too. */
static void meet(const char *mine, const char *other)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", mine, bytes);
    FILE *file = fopen(name, "w");
    if (file == NULL || fclose(file) != 0) measure_fail(name);
    snprintf(name, sizeof name, "%s.%d", other, bytes);
    for (int ms = 0; access(name, F_OK) != 0; ms++) {
        if (ms > PATIENCE_MS) measure_fail("the other job has not come");
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *how = argc > 1 ? argv[1] : "1";
    int cpus = atoi(how), meets = strcmp(how, "beside") == 0, median = size > cpus;
    if (size > MOST || (meets && argc != 4)) measure_fail("the arguments");
    in = aligned_alloc(4096, (size_t)size * LONGEST), out = aligned_alloc(4096, (size_t)size * LONGEST);
    if (!in || !out) measure_fail("memory");
    for (int length = 0; length < LENGTHS; length++) {
        bytes = lengths[length];
        for (int fresh = 0; fresh <= (cpus > 0); fresh++) {
            char name[64];
            look();
            if (meets && rank == 0) meet(argv[2], argv[3]);
            MPI_Barrier(MPI_COMM_WORLD);
            double each = cpus > 0 ? measure(fresh ? fresh_step : step, NULL, median ? 0.1 : 0.02, median) : mean();
            look();
            if (cpus > 0) snprintf(name, sizeof name, "exchange_%s%d_%d", fresh ? "fresh_" : "", bytes, size);
            else snprintf(name, sizeof name, "%s_%d", how, bytes);
            if (rank == 0) measure_report(name, each * 1e6, "us");
        }
    }
    free(in), free(out);
    MPI_Finalize();
    return 0;
}
