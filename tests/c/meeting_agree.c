// ranks: 1
// only: posthaste
/* Two jobs meet, agree and part; they meet again, and one dies: the other one's agreement ends, and who has parted is no loss. */
#include "meeting_check.h"
#include <mpi-ext.h>

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int status, bits, class;
    check_start(&argc, &argv);
    int high = argc > 2;
    pid_t job = 0;
    if (high) {
        snprintf(port, sizeof port, "%s", argv[2]);
    } else {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        job = job_start("1", "client", port);
    }
    for (int round = 0; round < 3; round++) {
        MPI_Comm inter, twin;
        if (high)
            OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        else
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        if (high && round == 2) _exit(9);
        bits = high ? 6 : 3;
        int code = MPIX_Comm_agree(inter, &bits);
        if (round == 2) {
            CHECK(code != MPI_SUCCESS, "nobody is left to agree with");
            OK(MPI_Error_class(code, &class));
            EQUAL(class, MPIX_ERR_PROC_FAILED);
            break;
        }
        OK(code);
        EQUAL(bits, high ? 3 : 6);
        OK(MPI_Comm_disconnect(&inter));
        /* What comes next says nothing to who has parted. */
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
        OK(MPI_Comm_free(&twin));
    }
    CHECK(waitpid(job, &status, 0) == job, "the job is gone");
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9, "it ends with %#x", (unsigned)status);
    OK(MPI_Close_port(port));
    return check_end();
}
