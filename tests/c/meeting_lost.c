// ranks: 1 2
// only: posthaste
/* The other job dies: before its turn, while it connects, and while it is connected. What waits for it ends with an error, and
 * the next job is met. */
#include "meeting_check.h"

static char port[MPI_MAX_PORT_NAME];
static MPI_Comm inter;

/* The job that dies. */
static void die(const char *when)
{
    int word = 0;
    if (!strcmp(when, "connected")) {
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
        EQUAL(word, 17);
        _exit(9);
    }
    /* It stands at the port until its time is over; `waiting` is stopped in the middle. */
    MPI_Info soon;
    OK(MPI_Info_create(&soon));
    OK(MPI_Info_set(soon, "timeout", "0.2"));
    REFUSED(MPI_Comm_connect(port, soon, 0, MPI_COMM_WORLD, &inter), MPI_ERR_PORT);
    _exit(9);
}

int main(int argc, char **argv)
{
    int status, word = 17, class;
    check_start(&argc, &argv);
    if (argc > 2) {
        snprintf(port, sizeof port, "%s", argv[2]);
        die(argv[1]);
    }
    pid_t job = 0;
    if (rank == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        /* Nobody accepts while it waits. */
        job = job_start("1", "waiting", port);
        CHECK(waitpid(job, &status, 0) == job, "the job is gone");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9, "it ends with %#x", (unsigned)status);
        job = job_start("1", "connected", port);
    }
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Send(&word, 1, MPI_INT, 0, 0, inter));
        int code = MPI_Recv(&word, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        CHECK(code != MPI_SUCCESS, "a message of a dead process");
        OK(MPI_Error_class(code, &class));
        EQUAL(class, MPI_ERR_PROC_ABORTED);
        CHECK(strstr(check_text(code), "of job"), "it says \"%s\"", check_text(code));
        CHECK(waitpid(job, &status, 0) == job, "the job is gone");
        OK(MPI_Close_port(port));
    }
    return check_end();
}
