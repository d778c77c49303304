// ranks: 64
// cpus: 2
// timeout: 180
// only: posthaste
// of memory
/* Collective operations of 64 ranks on 2 CPUs: how often the ranks give a CPU away or lose it, voluntarily or not, all together. Where
 * all wait for all that is once or twice for each rank: it says what it has to say, and sleeps until everything is there. Where a rank
 * only gets something or only gives something it is less, for it runs ahead. Other programs take CPUs away, too, and then ranks wait
 * for those that lost theirs: what counts is the best of some blocks, and with the first one that is good enough an operation has
 * passed. */
#include "check.h"

#include <sys/resource.h>

enum { BLOCKS = 60, ROUNDS = 40 };
enum operation { BARRIER, BCAST, ALLREDUCE, REDUCE, ALLGATHER, ALLTOALL, OPERATIONS };
static const char *const names[OPERATIONS] = {"MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Reduce", "MPI_Allgather", "MPI_Alltoall"};
/* Most switches for each rank and operation: about half as many again as in the best of 24 blocks where something else runs, too. A
 * dissemination barrier has 3.2 in the best of 60 blocks, a ring for MPI_Allgather 15, MPI_Bcast with a barrier behind it 2, and
 * MPI_Allreduce in place of MPI_Reduce 1. */
static const double most[OPERATIONS] = {2.6, 1, 3, 0.6, 3, 4};
static double *in, *out;

static long long switches(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw + used.ru_nivcsw;
}

/* With another root each time nobody runs ahead by more than a turn. */
static void call(enum operation operation, int root)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    switch (operation) {
    case BARRIER: OK(MPI_Barrier(world)); break;
    case BCAST: OK(MPI_Bcast(in, 1, MPI_DOUBLE, root, world)); break;
    case ALLREDUCE: OK(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, world)); break;
    case REDUCE: OK(MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, root, world)); break;
    case ALLGATHER: OK(MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, world)); break;
    default: OK(MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, world));
    }
}

/* The switches in a block of rounds, for each rank and operation. */
static double block(enum operation operation)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    long long before = switches(), mine, all = 0;
    for (int i = 0; i < ROUNDS; i++) call(operation, i % size);
    mine = switches() - before;
    OK(MPI_Allreduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    return (double)all / ROUNDS / size;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    in = calloc((size_t)size, sizeof *in), out = calloc((size_t)size, sizeof *out);
    for (int which = 0; which < OPERATIONS; which++) {
        double least = 1e9;
        int blocks = 0;
        /* All ranks know the same figures, and end together. */
        while (blocks < BLOCKS && least > most[which]) {
            double each = block((enum operation)which);
            if (each < least) least = each;
            blocks++;
        }
        if (rank > 0) continue;
        CHECK(least <= most[which], "%s: %.2f switches for each rank and operation in the best of %d blocks, expected %.2f at most",
              names[which], least, blocks, most[which]);
    }
    free(in), free(out);
    return check_end();
}
