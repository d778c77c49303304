/* Two jobs that have disconnected are independent: what ends one does not end the other (MPI-5.0 section 11.10.4).
 *
 *   child_killed  a process of the job that was started
 *   child_aborts  the same calls MPI_Abort
 *   parent_killed a process of the job that has started it
 *   connected     a process of the job that was started, which has not disconnected: it ends all */
#include "../check.h"
#include <signal.h>
#include <unistd.h>

enum { CHILDREN = 2, CODE = 5 };

static void goes_on(const char *which)
{
    int all = 0;
    sleep(1);
    OK(MPI_Allreduce(&(int){1}, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(all, size);
    printf("rank %d of the %s goes on\n", rank, which);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    MPI_Comm parents, children;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_get_parent(&parents));
    const char *what = argv[1];
    int is_child = parents != MPI_COMM_NULL;
    if (!is_child) OK(MPI_Comm_spawn(argv[0], (char *[]){argv[1], NULL}, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE));
    if (strcmp(what, "connected") != 0) OK(MPI_Comm_disconnect(is_child ? &parents : &children));
    usleep(200000);
    int ends = rank == size - 1 && is_child == (strcmp(what, "parent_killed") != 0);
    if (ends && strcmp(what, "child_aborts") == 0) MPI_Abort(MPI_COMM_WORLD, CODE);
    if (ends) raise(SIGKILL);
    goes_on(is_child ? "children" : "parents");
    return MPI_Finalize();
}
