/* Rank 1 is killed, and the others recover as programs do, while something is under way that must not take part in it:
 *
 *   window       one revokes and shrinks while another one makes windows
 *   spawn        processes are being started, by a group that loses a member meanwhile
 *   spawn_lost   they are asked for by a group that has lost a member: none is started
 *   partitioned  a partitioned send to the lost rank ends
 *   status       a receive from anybody that goes on is not over for MPI_Request_get_status */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

enum { VICTIM = 1 };

static const char *program;

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    return class;
}

static void is_lost(int code)
{
    int class = class_of(code);
    CHECK(class == MPI_ERR_PROC_ABORTED || class == MPIX_ERR_PROC_FAILED, "class %d: %s", class, check_text(code));
}

static void until_heard(MPI_Comm comm)
{
    for (int count = 0; count == 0;) {
        MPI_Group failed;
        OK(MPIX_Comm_get_failed(comm, &failed));
        OK(MPI_Group_size(failed, &count));
        OK(MPI_Group_free(&failed));
    }
}

static void window(MPI_Comm comm)
{
    MPI_Win win;
    int mine = 0, code;
    if (rank == 0) {
        do code = MPI_Win_create(&mine, sizeof mine, 1, MPI_INFO_NULL, comm, &win);
        while (code == MPI_SUCCESS);
        int class = class_of(code);
        CHECK(class == MPIX_ERR_REVOKED || class == MPI_ERR_PROC_ABORTED, "class %d: %s", class, check_text(code));
        until_heard(comm);
    } else {
        is_lost(MPI_Recv(&mine, 1, MPI_INT, VICTIM, 1, comm, MPI_STATUS_IGNORE));
        OK(MPIX_Comm_revoke(comm));
    }
}

static void spawn(MPI_Comm comm)
{
    enum { MANY = 2, UNTOUCHED = -7 };
    char *arguments[] = {"child", NULL};
    int codes[MANY] = {UNTOUCHED, UNTOUCHED};
    MPI_Comm children;
    is_lost(MPI_Comm_spawn(program, arguments, MANY, MPI_INFO_NULL, 0, comm, &children, codes));
    for (int at = 0; at < MANY; at++) EQUAL(class_of(codes[at]), MPI_ERR_SPAWN);
}

static void partitioned(MPI_Comm comm)
{
    int data[4] = {0};
    MPI_Request request;
    OK(MPI_Psend_init(data, 2, 2, MPI_INT, VICTIM, 5, comm, MPI_INFO_NULL, &request));
    until_heard(comm);
    OK(MPI_Start(&request));
    OK(MPI_Pready_range(0, 1, request));
    is_lost(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));
}

static void status(MPI_Comm comm)
{
    int data = 0, flag = -1, count = -1, index = -1, acknowledged = 0;
    until_heard(comm);
    MPI_Request request;
    OK(MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &request));
    REFUSED(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING);
    EQUAL(flag, 0);
    REFUSED(MPI_Request_get_status_any(1, &request, &index, &flag, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED_PENDING);
    REFUSED(MPI_Request_get_status_all(1, &request, &flag, MPI_STATUSES_IGNORE), MPIX_ERR_PROC_FAILED_PENDING);
    REFUSED(MPI_Request_get_status_some(1, &request, &count, &index, MPI_STATUSES_IGNORE), MPIX_ERR_PROC_FAILED_PENDING);
    OK(MPIX_Comm_ack_failed(comm, size, &acknowledged));
    EQUAL(acknowledged, 1);
    /* All have looked. */
    OK(MPIX_Comm_agree(comm, &acknowledged));
    int to = rank == 0 ? size - 1 : 0;
    OK(MPI_Send(&rank, 1, MPI_INT, to, 5, comm));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(data, to);
}

int main(int argc, char **argv)
{
    MPI_Comm parents, comm, left;
    int all = 0;
    program = argv[0];
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "child") == 0) usleep(700000);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_get_parent(&parents));
    CHECK(parents == MPI_COMM_NULL, "processes were started for nobody");
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    OK(MPI_Barrier(comm));
    if (rank == VICTIM) {
        if (strcmp(what, "spawn") == 0) usleep(200000);
        raise(SIGKILL);
    }
    if (strcmp(what, "window") == 0) window(comm);
    if (strcmp(what, "spawn_lost") == 0) until_heard(comm);
    if (strncmp(what, "spawn", 5) == 0) spawn(comm);
    if (strcmp(what, "partitioned") == 0) partitioned(comm);
    if (strcmp(what, "status") == 0) status(comm);
    OK(MPIX_Comm_shrink(comm, &left));
    OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
    /* What was started for nobody has ended before. */
    if (strcmp(what, "spawn") == 0) sleep(1);
    OK(MPI_Allreduce(&(int){1}, &all, 1, MPI_INT, MPI_SUM, left));
    EQUAL(all, size - 1);
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    OK(MPI_Comm_free(&left));
    return MPI_Finalize();
}
