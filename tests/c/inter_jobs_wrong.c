// ranks: 2 3
// only: posthaste
/* What can be wrong with MPI_Intercomm_create between jobs is an error at all ranks of both groups, and what is right works
 * afterwards: arguments, groups that share a process, a job that has ended. The jobs are those of different launchers. */
#include "bad_check.h"
#include "meeting_check.h"

#include <pthread.h>

static MPI_Comm all;
static int home, place; /* ranks of the first job, rank in `all` */

/* One of the two groups; MPI_COMM_NULL for who is not in it. */
static MPI_Comm group_of(int is_member)
{
    MPI_Comm group;
    OK(MPI_Comm_split(all, is_member ? 0 : MPI_UNDEFINED, place, &group));
    if (group != MPI_COMM_NULL) OK(MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN));
    return group;
}

struct call {
    MPI_Comm group;
    int other;
};

static void *refused(void *call)
{
    MPI_Comm made = MPI_COMM_WORLD;
    struct call *of = call;
    BAD(MPI_ERR_COMM, "", MPI_Intercomm_create, of->group, 0, all, of->other, 7, &made);
    CHECK(made == MPI_COMM_NULL, "the result of a wrong call");
    return NULL;
}

/* The last rank is in both groups, and calls for both. */
static void overlap(int n)
{
    MPI_Comm one = group_of(place == 0 || place == n - 1), other = group_of(place == 1 || place == n - 1);
    struct call calls[] = {{one, 1}, {other, 0}};
    pthread_t thread;
    int both = one != MPI_COMM_NULL && other != MPI_COMM_NULL;
    if (both) CHECK(pthread_create(&thread, NULL, refused, &calls[1]) == 0, "no thread");
    if (one != MPI_COMM_NULL)
        refused(&calls[0]);
    else if (other != MPI_COMM_NULL)
        refused(&calls[1]);
    if (both) pthread_join(thread, NULL);
    if (one != MPI_COMM_NULL) OK(MPI_Comm_disconnect(&one));
    if (other != MPI_COMM_NULL) OK(MPI_Comm_disconnect(&other));
}

/* Both jobs do the same. */
static void wrong(int away)
{
    MPI_Comm made = MPI_COMM_WORLD, inter;
    int n;
    OK(MPI_Comm_size(all, &n));
    int other = away ? 0 : home;
    /* At each rank by itself. */
    BAD(MPI_ERR_RANK, "local_leader", MPI_Intercomm_create, MPI_COMM_WORLD, size, all, other, 0, &made);
    BAD(MPI_ERR_TAG, "tag is -1", MPI_Intercomm_create, MPI_COMM_WORLD, 0, all, other, -1, &made);
    BAD(MPI_ERR_ARG, "newintercomm", MPI_Intercomm_create, MPI_COMM_WORLD, 0, all, other, 0, NULL);
    /* What only leaders look at. */
    BAD(MPI_ERR_COMM, "", MPI_Intercomm_create, MPI_COMM_WORLD, 0, MPI_COMM_NULL, other, 0, &made);
    BAD(MPI_ERR_RANK, "", MPI_Intercomm_create, MPI_COMM_WORLD, 0, all, n, 0, &made);
    BAD(MPI_ERR_RANK, "", MPI_Intercomm_create, MPI_COMM_WORLD, 0, all, -1, 0, &made);
    BAD(MPI_ERR_RANK, "", MPI_Intercomm_create, MPI_COMM_WORLD, 0, all, away ? home : 0, 0, &made);
    CHECK(made == MPI_COMM_NULL, "the result of a wrong call");
    overlap(n);
    OK(MPI_Intercomm_create(MPI_COMM_WORLD, 0, all, other, 0, &inter));
    use(inter, away);
    OK(MPI_Comm_disconnect(&inter));
}

/* The other job ends although its leader is waited for. */
static void lose(int away)
{
    MPI_Comm made = MPI_COMM_WORLD;
    int n;
    OK(MPI_Comm_size(all, &n));
    /* Nobody ends before all that stay have left the barrier. Who ends first may take the rest of its job along. */
    if (away) {
        for (int i = 0; i < home; i++) OK(MPI_Recv(NULL, 0, MPI_BYTE, i, 77, all, MPI_STATUS_IGNORE));
        _exit(9);
    }
    for (int i = home; i < n; i++) (void)MPI_Send(NULL, 0, MPI_BYTE, i, 77, all);
    BAD(MPI_ERR_PROC_ABORTED, "", MPI_Intercomm_create, MPI_COMM_WORLD, 0, all, home, 0, &made);
    CHECK(made == MPI_COMM_NULL, "the result of a call that has failed");
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    pid_t job = 0;
    int provided, status, away = argc > 2;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (away) {
        OK(MPI_Comm_connect(argv[2], MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else {
        if (rank == 0) {
            OK(MPI_Open_port(MPI_INFO_NULL, port));
            job = job_start("2", "away", port);
        }
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    }
    OK(MPI_Intercomm_merge(inter, away, &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(all, &place));
    if (away)
        OK(MPI_Comm_remote_size(inter, &home));
    else
        home = size;
    wrong(away);
    OK(MPI_Barrier(all));
    if (bad_failures) FAIL("%d of %d wrong calls", bad_failures, bad_calls);
    lose(away);
    if (bad_failures) FAIL("%d of %d wrong calls", bad_failures, bad_calls);
    if (rank == 0) {
        CHECK(waitpid(job, &status, 0) == job, "the job is gone");
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 9, "it ends with %#x", (unsigned)status);
        OK(MPI_Close_port(port));
    }
    return check_end();
}
