// ranks: 2 3
// only: posthaste
// of memory
/* MPI_Intercomm_create between jobs fails at one member, which cannot be reached by other jobs: it fails at all members of both
 * groups, and works as soon as that one can. Only the ranks 0 of the jobs have met. */
#include "bad_check.h"
#include "meeting_check.h"

#include <sys/resource.h>

/* This process gets no more descriptors, or as many as before. */
static void limit(int open)
{
    static struct rlimit before;
    struct rlimit none;
    if (!open) {
        OK(getrlimit(RLIMIT_NOFILE, &before));
        none = before;
        none.rlim_cur = 3;
        OK(setrlimit(RLIMIT_NOFILE, &none));
    } else {
        OK(setrlimit(RLIMIT_NOFILE, &before));
    }
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL, both = MPI_COMM_NULL, made = MPI_COMM_WORLD;
    pid_t job = 0;
    check_start(&argc, &argv);
    int away = argc > 2;
    if (rank == 0) {
        if (away) {
            OK(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        } else {
            OK(MPI_Open_port(MPI_INFO_NULL, port));
            job = job_start("2", "away", port);
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        }
        OK(MPI_Intercomm_merge(inter, away, &both));
        OK(MPI_Comm_set_errhandler(both, MPI_ERRORS_RETURN));
    }
    int fails = !away && rank == size - 1;
    if (fails) limit(0);
    BAD(MPI_ERR_OTHER, "", MPI_Intercomm_create, MPI_COMM_WORLD, 0, both, !away, 4, &made);
    if (fails) limit(1);
    CHECK(made == MPI_COMM_NULL, "the result of a call that has failed");
    if (bad_failures) FAIL("%d of %d wrong calls", bad_failures, bad_calls);
    OK(MPI_Intercomm_create(MPI_COMM_WORLD, 0, both, !away, 4, &made));
    use(made, away);
    OK(MPI_Comm_disconnect(&made));
    if (rank == 0) {
        OK(MPI_Comm_disconnect(&both));
        OK(MPI_Comm_disconnect(&inter));
        if (!away) {
            job_end(job);
            OK(MPI_Close_port(port));
        }
    }
    return check_end();
}
