/* agree.c: MPIX_Comm_agree of the forum's text on fault tolerance, and the Allreduce of as many bytes. The function is looked for
 * when the program runs: not every library has it. */
#define _GNU_SOURCE
#include "measure.h"

#include <dlfcn.h>

static int (*agree)(MPI_Comm, int *);

static void agree_once(void *nothing)
{
    int flag = -1;
    (void)nothing;
    if (agree(MPI_COMM_WORLD, &flag) != MPI_SUCCESS || flag != -1) measure_fail("agreement");
}

static void reduce_once(void *nothing)
{
    int flag = -1, all;
    (void)nothing;
    MPI_Allreduce(&flag, &all, 1, MPI_INT, MPI_BAND, MPI_COMM_WORLD);
    if (all != -1) measure_fail("Allreduce");
}

int main(int argc, char **argv)
{
    int rank, size;
    char name[32];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int crowded = argc > 1 && size > atoi(argv[1]);
    double reduced = measure(reduce_once, NULL, 0.01, crowded) * 1e6;
    snprintf(name, sizeof name, "agree_reduced_%d", size);
    if (rank == 0) measure_report(name, reduced, "us");
    agree = (int (*)(MPI_Comm, int *))dlsym(RTLD_DEFAULT, "MPIX_Comm_agree");
    if (agree) {
        double agreed = measure(agree_once, NULL, 0.01, crowded) * 1e6;
        snprintf(name, sizeof name, "agree_%d", size);
        if (rank == 0) measure_report(name, agreed, "us");
    }
    MPI_Finalize();
    return 0;
}
