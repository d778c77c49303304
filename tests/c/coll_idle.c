// ranks: 8
// cpus: 2
// only: posthaste
/* Eight ranks on two CPUs, of which one comes half a second late to a collective operation: each of those that wait for it leaves the
 * CPUs to others, for short data and for long data. What counts is the least of some tries, each with another rank that comes late;
 * usually the first one is enough. */
#include "check.h"

#include <sys/resource.h>
#include <unistd.h>

enum { TRIES = 3, LATE = 500000, SHORT = 1, LONG = 5000, LENGTHS = 2 };
enum operation { BARRIER, BCAST, ALLREDUCE, ALLTOALL, ALLGATHER, OPERATIONS };
/* Most CPU time of a rank that waits, as a part of the time that it waits. */
static const double most = 0.1;
static const char *const names[OPERATIONS] = {"MPI_Barrier", "MPI_Bcast", "MPI_Allreduce", "MPI_Alltoall", "MPI_Allgather"};
static double *in, *out;

static double cpu_time(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + 1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void call(enum operation operation, int n, int late)
{
    const MPI_Comm world = MPI_COMM_WORLD;
    switch (operation) {
    case BARRIER: OK(MPI_Barrier(world)); break;
    case BCAST: OK(MPI_Bcast(rank == late ? in : out, n, MPI_DOUBLE, late, world)); break;
    case ALLREDUCE: OK(MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, world)); break;
    case ALLTOALL: OK(MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, world)); break;
    default: OK(MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, world));
    }
}

/* The largest part of its waiting time that a rank was on a CPU. Rank `late` comes when the others wait already. */
static double busiest(enum operation operation, int n, int late)
{
    double part = 0, all;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == late) usleep(LATE);
    double cpu = cpu_time(), start = MPI_Wtime();
    call(operation, n, late);
    double waited = MPI_Wtime() - start;
    cpu = cpu_time() - cpu;
    if (rank != late) {
        CHECK(waited > 0.5e-6 * LATE, "%s: rank %d did not wait for rank %d", names[operation], rank, late);
        part = cpu / waited;
    }
    OK(MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return all;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    in = calloc((size_t)size * LONG, sizeof *in), out = calloc((size_t)size * LONG, sizeof *out);
    for (int which = 0; which < OPERATIONS; which++) {
        for (int length = 0; length < (which == BARRIER ? 1 : LENGTHS); length++) {
            int n = length == 0 ? SHORT : LONG;
            double least = 1e9;
            /* All ranks know the same figures, and end together. */
            for (int try = 0; try < TRIES && least > most; try++) {
                double part = busiest((enum operation)which, n, (which + 3 * try) % size);
                if (part < least) least = part;
            }
            if (rank > 0) continue;
            CHECK(least <= most, "%s, %d elements: a rank is on a CPU for %.1f %% of the time that it waits, expected %.0f %% at most",
                  names[which], n, 100 * least, 100 * most);
        }
    }
    free(in), free(out);
    return check_end();
}
