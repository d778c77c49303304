// ranks: 1 3
// only: posthaste
/* Jobs with different settings merge: what decides how a collective operation goes is agreed on, so no member waits for a message
 * that another one does not send. MPI-5.0 section 7.6.2, 11.8. */
#include "check.h"
#include <unistd.h>

enum { LONG = 1 << 15, CHILDREN = 2 };

static void all_alike(MPI_Comm all)
{
    int rank, n;
    OK(MPI_Comm_rank(all, &rank));
    OK(MPI_Comm_size(all, &n));
    int *own = malloc((size_t)LONG * (size_t)n * sizeof *own), *got = malloc((size_t)LONG * (size_t)n * sizeof *got);
    CHECK(own && got, "no memory");
    for (int count = 1; count <= LONG; count *= 32) {
        for (int i = 0; i < count; i++) own[i] = rank + i;
        OK(MPI_Allreduce(own, got, count, MPI_INT, MPI_SUM, all));
        for (int i = 0; i < count; i++) EQUAL(got[i], n * (n - 1) / 2 + n * i);
        OK(MPI_Reduce(own, got, count, MPI_INT, MPI_MAX, n - 1, all));
        if (rank == n - 1)
            for (int i = 0; i < count; i++) EQUAL(got[i], n - 1 + i);
        OK(MPI_Bcast(own, count, MPI_INT, n - 1, all));
        for (int i = 0; i < count; i++) EQUAL(own[i], n - 1 + i);
        for (int i = 0; i < count * n; i++) own[i] = rank * 1000 + i / count;
        OK(MPI_Alltoall(own, count, MPI_INT, got, count, MPI_INT, all));
        for (int i = 0; i < count * n; i++) EQUAL(got[i], i / count * 1000 + rank);
        OK(MPI_Reduce_scatter_block(own, got, count, MPI_INT, MPI_SUM, all));
        for (int i = 0; i < count; i++) EQUAL(got[i], 1000 * n * (n - 1) / 2 + n * rank);
        OK(MPI_Gather(own, count, MPI_INT, got, count, MPI_INT, 0, all));
        if (rank == 0)
            for (int i = 0; i < count * n; i++) EQUAL(got[i], i / count * 1000);
        OK(MPI_Barrier(all));
    }
    free(own), free(got);
}

int main(int argc, char **argv)
{
    MPI_Comm inter, all;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&inter));
    int child = inter != MPI_COMM_NULL;
    if (!child) {
        const char *settings[] = {"POSTHASTE_REPRODUCIBLE=1", "POSTHASTE_CHECK_TYPES=1", "POSTHASTE_REPRODUCIBLE=1\nPOSTHASTE_CHECK_TYPES=1"};
        char program[4096] = "";
        CHECK(readlink("/proc/self/exe", program, sizeof program - 1) > 0, "no program");
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            MPI_Info info;
            OK(MPI_Info_create(&info));
            OK(MPI_Info_set(info, "env", settings[i]));
            OK(MPI_Comm_spawn(program, MPI_ARGV_NULL, CHILDREN, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
            OK(MPI_Info_free(&info));
            OK(MPI_Intercomm_merge(inter, i % 2 == 1, &all));
            all_alike(all);
            OK(MPI_Comm_free(&all));
            OK(MPI_Comm_disconnect(&inter));
        }
        all_alike(MPI_COMM_WORLD);
    } else {
        int odd = getenv("POSTHASTE_CHECK_TYPES") && !getenv("POSTHASTE_REPRODUCIBLE");
        OK(MPI_Intercomm_merge(inter, !odd, &all));
        all_alike(all);
        OK(MPI_Comm_free(&all));
        OK(MPI_Comm_disconnect(&inter));
    }
    return check_end();
}
