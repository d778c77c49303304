// ranks: 1
// only: posthaste
/* The error handler that a job is spawned with is its own: those that its processes spawn begin with the default, and programs that
 * they start find no word of it. MPI-5.0 sections 9.3 and 11.8.4. */
#include "check.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    static char own[4096];
    char *second[] = {"second", NULL};
    MPI_Comm parent, inter;
    MPI_Errhandler found;
    MPI_Info info = MPI_INFO_NULL;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(!getenv("POSTHASTE_INITIAL_ERRHANDLER"), "the variable is still there");
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    OK(MPI_Comm_get_parent(&parent));
    if (parent == MPI_COMM_NULL) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_return"));
    }
    if (argc == 1) {
        CHECK(found == (parent == MPI_COMM_NULL ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN), "the handler of a spawned job");
        OK(MPI_Comm_spawn(own, parent == MPI_COMM_NULL ? MPI_ARGV_NULL : second, 1, info, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
        OK(MPI_Comm_disconnect(&inter));
    } else {
        CHECK(found == MPI_ERRORS_ARE_FATAL, "the handler of a job that a spawned one spawns");
    }
    if (info != MPI_INFO_NULL) OK(MPI_Info_free(&info));
    if (parent != MPI_COMM_NULL) OK(MPI_Comm_disconnect(&parent));
    return check_end();
}
