// ranks: 64
// cpus: 2
// timeout: 180
// only: posthaste
// of memory
// says: switches
/* Collective operations of 64 ranks on 2 CPUs: how often the ranks give a CPU away or lose it, voluntarily or not, all together. About as
 * often as there are ranks in each operation: each has to run once, and those that others wait for twice. The least of some blocks
 * counts, for other programs take CPUs away, too. */
#include "check.h"

#include <sys/resource.h>

enum { BLOCKS = 6, ROUNDS = 40, OPERATIONS = 3 };
/* Most switches for each rank and operation. */
static const double most[OPERATIONS] = {4, 2, 4};
static const char *const names[OPERATIONS] = {"MPI_Barrier", "MPI_Bcast", "MPI_Allreduce"};

static long long switches(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_nvcsw + used.ru_nivcsw;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int which = 0; which < OPERATIONS; which++) {
        double least = 1e9;
        for (int block = 0; block < BLOCKS; block++) {
            double word = rank, sum;
            OK(MPI_Barrier(MPI_COMM_WORLD));
            long long before = switches(), mine, all = 0;
            for (int i = 0; i < ROUNDS; i++) {
                if (which == 0) OK(MPI_Barrier(MPI_COMM_WORLD));
                if (which == 1) {
                    /* Who is told something need not tell anybody: with another root each time nobody runs ahead. */
                    OK(MPI_Bcast(&word, 1, MPI_DOUBLE, i % size, MPI_COMM_WORLD));
                }
                if (which == 2) OK(MPI_Allreduce(&word, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
            }
            mine = switches() - before;
            OK(MPI_Reduce(&mine, &all, 1, MPI_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
            double each = (double)all / ROUNDS / size;
            if (rank == 0 && each < least) least = each;
        }
        if (rank > 0) continue;
        printf("%s: %.2f switches for each rank and operation\n", names[which], least);
        CHECK(least <= most[which], "%s: %.2f", names[which], least);
    }
    return check_end();
}
