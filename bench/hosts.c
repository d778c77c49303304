/* hosts.c: any number of ranks on several hosts: collective operations at several lengths, with rotating roots. What arrives is looked at
 * once before. Plain MPI. Output: lines "result hosts_NAME_BYTES_HOSTS VALUE us" from rank 0; the bytes are those of a message of a rank,
 * or of a block. Called by `cargo xtask bench --only hosts` with the number of hosts. */
#include "measure.h"

enum { BARRIER, BCAST, ALLREDUCE, ALLGATHER, ALLTOALL, OPERATIONS, LENGTHS = 5 };
static const char *const names[OPERATIONS] = {"barrier", "bcast", "allreduce", "allgather", "alltoall"};
static const int lengths[LENGTHS] = {8, 1 << 10, 16 << 10, 128 << 10, 1 << 20};

static int rank, size, turn, operation, bytes;
static double *in, *out;

static void step(void *unused)
{
    int root = turn++ % size;
    (void)unused;
    switch (operation) {
    case BARRIER: MPI_Barrier(MPI_COMM_WORLD); break;
    case BCAST: MPI_Bcast(in, bytes, MPI_BYTE, root, MPI_COMM_WORLD); break;
    case ALLREDUCE: MPI_Allreduce(in, out, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case ALLGATHER: MPI_Allgather(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD); break;
    default: MPI_Alltoall(in, bytes, MPI_BYTE, out, bytes, MPI_BYTE, MPI_COMM_WORLD);
    }
}

/* What rank `from` gives in the place of `to`. */
static double given(int from, int to) { return 1000.0 * from + to; }

static void look(void)
{
    int words = bytes / 8, wrong = 0;
    for (int to = 0; to < size; to++) {
        for (int i = 0; i < words; i++) in[(size_t)to * words + i] = given(rank, operation == ALLTOALL ? to : 0) + i;
    }
    turn = 0;
    step(NULL);
    for (int from = 0; from < size; from++) {
        for (int i = 0; i < words; i++) {
            double sum = 1000.0 * size * (size - 1) / 2 + (double)i * size, *got = out + (size_t)from * words;
            switch (operation) {
            case BCAST: wrong |= in[i] != given(0, 0) + i; break;
            case ALLREDUCE: wrong |= out[i] != sum; break;
            case ALLGATHER: wrong |= got[i] != given(from, 0) + i; break;
            case ALLTOALL: wrong |= got[i] != given(from, rank) + i; break;
            }
        }
    }
    if (wrong) measure_fail(names[operation]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    size_t most = (size_t)size * lengths[LENGTHS - 1];
    in = calloc(1, most), out = calloc(1, most);
    if (!in || !out) measure_fail("memory");
    for (operation = 0; operation < OPERATIONS; operation++) {
        for (int length = 0; length < (operation == BARRIER ? 1 : LENGTHS); length++) {
            char label[64];
            bytes = lengths[length];
            look();
            double each = measure(step, NULL, 0.05, 1);
            snprintf(label, sizeof label, "hosts_%s_%d_%s", names[operation], bytes, argc > 1 ? argv[1] : "1");
            if (rank == 0) measure_report(label, each * 1e6, "us");
        }
    }
    MPI_Finalize();
    return 0;
}
