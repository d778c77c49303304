/* Losses on intercommunicators: one of the other group is killed, of a job that was spawned or of one that was met; then one of the
 * first group. Who is left in both groups revokes, agrees, shrinks the intercommunicator and the merged one, and goes on.
 *
 *   inter_lost spawned            three ranks start three
 *   inter_lost met                three ranks meet a job of three ranks
 *   inter_lost peer PORT          that job
 */
#include "../meeting_check.h"
#include <mpi-ext.h>

enum { VICTIM = 1 };

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

/* What is left of a communicator that has lost members of this group or of the other one. */
static MPI_Comm shrunk(MPI_Comm comm)
{
    MPI_Comm left;
    int flag = 0, code;
    OK(MPIX_Comm_revoke(comm));
    OK(MPIX_Comm_is_revoked(comm, &flag));
    EQUAL(flag, 1);
    REFUSED(MPI_Barrier(comm), MPIX_ERR_REVOKED);
    /* As long as somebody is lost whom not all have acknowledged; the bits are right all the same. */
    do {
        flag = rank == 0 ? 7 : 5;
        code = MPIX_Comm_agree(comm, &flag);
        CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED, "agree: %s", check_text(code));
        EQUAL(flag, 5);
        OK(MPIX_Comm_failure_ack(comm));
    } while (code != MPI_SUCCESS);
    OK(MPIX_Comm_shrink(comm, &left));
    OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
    return left;
}

/* Who is known to be lost, of both groups. */
static void lost(MPI_Comm comm, int wanted)
{
    MPI_Group group;
    int count = -1;
    OK(MPIX_Comm_get_failed(comm, &group));
    OK(MPI_Group_size(group, &count));
    EQUAL(count, wanted);
    OK(MPI_Group_free(&group));
}

/* Waits for somebody who is killed, or hears of it from one who has. */
static void hear(MPI_Comm comm, int from)
{
    int word;
    int code = MPI_Recv(&word, 1, MPI_INT, from, 9, comm, MPI_STATUS_IGNORE), class = class_of(code);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "receive: %s", check_text(code));
}

static void survive(MPI_Comm inter, int high)
{
    MPI_Comm all, left, again, whole;
    int local = -1, remote = -1, n = -1, sum = -1, place = -1;
    use(inter, high);
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Intercomm_merge(inter, high, &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    OK(MPI_Barrier(all));

    /* One of the second group. */
    if (high && rank == VICTIM) raise(SIGKILL);
    if (high) hear(all, size + VICTIM);
    else hear(inter, VICTIM);
    left = shrunk(inter);
    lost(inter, 1);
    OK(MPI_Comm_size(left, &local));
    OK(MPI_Comm_remote_size(left, &remote));
    EQUAL(local, high ? size - 1 : size);
    EQUAL(remote, high ? size : size - 1);
    use(left, high);
    whole = shrunk(all);
    OK(MPI_Comm_size(whole, &n));
    EQUAL(n, 2 * size - 1);
    OK(MPI_Comm_rank(whole, &place));
    OK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, whole));
    EQUAL(sum, n * (n - 1) / 2);

    /* One of the first group. */
    OK(MPI_Barrier(whole));
    if (!high && rank == VICTIM) raise(SIGKILL);
    if (high) hear(left, VICTIM);
    else hear(whole, VICTIM);
    again = shrunk(left);
    OK(MPI_Comm_size(again, &local));
    OK(MPI_Comm_remote_size(again, &remote));
    EQUAL(local, size - 1);
    EQUAL(remote, size - 1);
    use(again, high);
    OK(MPI_Comm_free(&all));
    all = shrunk(whole);
    OK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_MIN, all));
    EQUAL(sum, 0);
    printf("rank %d of the %s group goes on\n", rank, high ? "second" : "first");
    fflush(stdout);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_free(&whole));
    OK(MPI_Comm_free(&again));
    OK(MPI_Comm_free(&left));
    OK(MPI_Comm_free(&inter));
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", *arguments[] = {"child", NULL};
    MPI_Comm inter;
    pid_t job = 0;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&inter));
    if (inter != MPI_COMM_NULL) {
        survive(inter, 1);
    } else if (!strcmp(argv[1], "spawned")) {
        OK(MPI_Comm_spawn(argv[0], arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
        survive(inter, 0);
    } else if (!strcmp(argv[1], "met")) {
        if (rank == 0) {
            OK(MPI_Open_port(MPI_INFO_NULL, port));
            job = job_start_with("-continue-on-loss", "3", "peer", port);
        }
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        survive(inter, 0);
    } else {
        OK(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
        survive(inter, 1);
    }
    if (job) {
        /* It has lost a rank. */
        int status = -1;
        CHECK(waitpid(job, &status, 0) == job, "the job is gone");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 128 + SIGKILL, "the other job ends with status %#x", (unsigned)status);
    }
    return MPI_Finalize();
}
