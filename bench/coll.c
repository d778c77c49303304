/* coll.c: any number of ranks: Barrier, 8-byte Allreduce, 1 KiB round the ring, Bcast of 1 KiB from every root in
 * turn, Alltoall of 64 bytes to each, a communicator duplicated and freed.
 * Plain MPI. Output: lines "result NAME_RANKS VALUE us" from rank 0. Called by `cargo xtask bench`. */
#include "measure.h"

static int rank, size;
enum { EACH = 64, MOST = 1024 };
static char out[1024], in[1024], to_all[EACH * MOST], from_all[EACH * MOST];
static int turn;

static void barrier(void *unused)
{
    (void)unused;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void allreduce(void *unused)
{
    double mine = rank, sum = -1;
    (void)unused;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum != 0.5 * size * (size - 1)) measure_fail("the sum of MPI_Allreduce");
}

/* One message travels from rank to rank until it is home again. */
static void ring(void *unused)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    (void)unused;
    if (rank == 0) {
        MPI_Send(out, sizeof out, MPI_BYTE, next, 1, MPI_COMM_WORLD);
        MPI_Recv(in, sizeof in, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, sizeof in, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(in, sizeof in, MPI_BYTE, next, 1, MPI_COMM_WORLD);
    }
}

/* The root changes, so that no rank can run ahead of the others. */
static void bcast(void *unused)
{
    int root = turn++ % size;
    (void)unused;
    out[0] = rank == root ? (char)root : -1;
    MPI_Bcast(out, sizeof out, MPI_BYTE, root, MPI_COMM_WORLD);
    if (out[0] != (char)root) measure_fail("the bytes of MPI_Bcast");
}

static void alltoall(void *unused)
{
    (void)unused;
    to_all[EACH * ((rank + 1) % size)] = (char)rank;
    MPI_Alltoall(to_all, EACH, MPI_BYTE, from_all, EACH, MPI_BYTE, MPI_COMM_WORLD);
    int left = (rank + size - 1) % size;
    if (from_all[EACH * left] != (char)left) measure_fail("the bytes of MPI_Alltoall");
}

static void duplicate(void *unused)
{
    MPI_Comm copy;
    (void)unused;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
}

static void one(const char *name, measure_step step, double batch, int median)
{
    char label[40];
    double each = measure(step, NULL, batch, median);
    snprintf(label, sizeof label, "%s_%d", name, size);
    if (rank == 0) measure_report(label, each * 1e6, "us");
}

int main(int argc, char **argv)
{
    int cpus, median;
    double batch;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    cpus = argc > 1 ? atoi(argv[1]) : 1;
    median = size > cpus;
    batch = median ? 0.1 : 0.02;
    one("barrier", barrier, batch, median);
    one("allreduce", allreduce, batch, median);
    if (size > 2) one("ring", ring, batch, median);
    one("bcast", bcast, batch, median);
    if (size <= MOST) one("alltoall", alltoall, batch, median);
    one("dup", duplicate, batch, median);
    MPI_Finalize();
    return 0;
}
