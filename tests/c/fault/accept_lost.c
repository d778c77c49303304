/* A call that waits for another job at a port, while a member of its communicator is killed, or revokes the communicator: it ends at
 * all members that are left, and they go on; in the end they meet by the same call. MPI-5.0 section 11.9, and ULFM. Four ranks, of
 * which the first three are the communicator and the last one is the other job.
 *
 *   accept_lost CALL FATE
 *
 * CALL is accept, where the root has a port that nobody knows, or connect, where the last rank has a port at which it does not accept.
 * FATE is
 *
 *   member     another member than the root is killed, in the call
 *   absent     the same, which does not come to the call
 *   root       the root is killed, in the call
 *   revoked    a member that does not come to the call revokes the communicator
 *   thread     another thread of a member that is in the call revokes it
 *   both       a member that does not come revokes the communicator, and is killed
 *   before     a member is killed before all others come, who have heard of it */
#include "killed.h"
#include <pthread.h>

enum { MEMBERS = 3, OTHER = 3, MEMBER = 1 };

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

static void *revoke_later(void *comm)
{
    usleep(LATER_MS * 1000);
    OK(MPIX_Comm_revoke(*(MPI_Comm *)comm));
    return NULL;
}

static int meet(int accepts, const char *port, int root, MPI_Comm comm, MPI_Comm *inter)
{
    return accepts ? MPI_Comm_accept(port, MPI_INFO_NULL, root, comm, inter) : MPI_Comm_connect(port, MPI_INFO_NULL, root, comm, inter);
}

/* Says something to the other side, and parts. */
static void part(MPI_Comm inter, int others)
{
    int n = -1, sum = -1;
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    OK(MPI_Comm_remote_size(inter, &n));
    EQUAL(n, others);
    OK(MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, inter));
    EQUAL(sum, others);
    OK(MPI_Comm_disconnect(&inter));
}

/* The last rank. Nobody connects to its port, nor accepts it, before a word of the first member that is left. */
static void other(int accepts, int kills)
{
    char port[MPI_MAX_PORT_NAME] = "", theirs[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    OK(MPI_Open_port(MPI_INFO_NULL, port));
    for (int to = 0; to < MEMBERS; to++) OK(MPI_Send(port, sizeof port, MPI_CHAR, to, 1, MPI_COMM_WORLD));
    /* Not from the lost one, whoever that is. */
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(theirs, sizeof theirs, MPI_CHAR, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request));
    for (int code = MPIX_ERR_PROC_FAILED_PENDING; code != MPI_SUCCESS;) {
        code = MPI_Wait(&request, &status);
        CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED_PENDING, "%s", check_text(code));
        if (code != MPI_SUCCESS) OK(MPIX_Comm_failure_ack(MPI_COMM_WORLD));
    }
    OK(meet(!accepts, accepts ? theirs : port, 0, MPI_COMM_SELF, &inter));
    part(inter, MEMBERS - kills);
    OK(MPI_Close_port(port));
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME] = "", theirs[MPI_MAX_PORT_NAME] = "";
    MPI_Comm comm, left, inter = MPI_COMM_WORLD;
    if (argc != 3) FAIL("two arguments are expected");
    int threads = !strcmp(argv[2], "thread"), given;
    OK(MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    EQUAL(size, MEMBERS + 1);
    int accepts = !strcmp(argv[1], "accept");
    const char *fate = argv[2];
    int revokes = !strcmp(fate, "revoked") || !strcmp(fate, "both") || threads, kills = strcmp(fate, "revoked") && !threads;
    int root = 0, victim = strcmp(fate, "root") ? MEMBER : root, absent = strcmp(fate, "root") && strcmp(fate, "member") && !threads;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == OTHER ? MPI_UNDEFINED : 0, rank, &comm));
    if (rank == OTHER) {
        other(accepts, kills);
        printf("rank %d goes on\n", rank);
        fflush(stdout);
        return MPI_Finalize();
    }
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Recv(theirs, sizeof theirs, MPI_CHAR, OTHER, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Barrier(comm));
    if (rank == victim && absent) {
        if (strcmp(fate, "before")) usleep(LATER_MS * 1000);
        if (revokes) OK(MPIX_Comm_revoke(comm));
        if (!strcmp(fate, "both")) usleep(LATER_MS * 1000);
        if (kills) die(0);
        REFUSED(meet(accepts, theirs, root, comm, &inter), MPIX_ERR_REVOKED);
    } else {
        pthread_t thread;
        if (rank == victim && threads) CHECK(pthread_create(&thread, NULL, revoke_later, &comm) == 0, "no thread");
        else if (rank == victim) die_later();
        if (!strcmp(fate, "before")) until_lost(comm);
        if (accepts && rank == root) OK(MPI_Open_port(MPI_INFO_NULL, port));
        double since = MPI_Wtime();
        int code = meet(accepts, accepts ? port : theirs, root, comm, &inter), class = class_of(code);
        /* Who has heard of the loss before may have revoked it already. */
        CHECK(class == MPIX_ERR_REVOKED || (class == MPIX_ERR_PROC_FAILED && kills), "class %d: %s", class, check_text(code));
        CHECK(MPI_Wtime() - since < 10, "heard too late, after %g s", MPI_Wtime() - since);
        CHECK(inter == MPI_COMM_NULL, "there is a communicator");
        if (accepts && rank == root) OK(MPI_Close_port(port));
        if (rank == victim && threads) pthread_join(thread, NULL);
    }

    /* Those that are left meet the other one. */
    OK(MPIX_Comm_revoke(comm));
    OK(MPIX_Comm_shrink(comm, &left));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
    int n = -1, me = -1;
    OK(MPI_Comm_size(left, &n));
    OK(MPI_Comm_rank(left, &me));
    EQUAL(n, MEMBERS - kills);
    if (me == 0) {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        OK(MPI_Send(port, sizeof port, MPI_CHAR, OTHER, 2, MPI_COMM_WORLD));
    }
    OK(meet(accepts, accepts ? port : theirs, 0, left, &inter));
    part(inter, 1);
    if (me == 0) OK(MPI_Close_port(port));
    OK(MPI_Comm_free(&left));
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    return MPI_Finalize();
}
