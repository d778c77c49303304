/* Sessions without MPI_Init, of which rank 1 is killed. Who is left makes a communicator of a group without it, goes on, finalizes its
 * session, opens another one and goes on. MPI-5.0 sections 11.3 and 7.4.2.
 *
 *   session_lost before       it is killed before it makes a communicator with the others
 *   session_lost collective   while others are inside collective operations on a communicator of the session
 *   session_lost waiting      while all others are asleep in one
 *   session_lost shrunk       as collective; who is left shrinks the communicator, too, and takes its group
 *   session_lost between      when it has finalized its session, and before it opens another one */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { VICTIM = 1, LONG = 20000 };

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

/* Opens a session, and says who is in its world. */
static MPI_Session begin(MPI_Group *world)
{
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", world));
    OK(MPI_Group_rank(*world, &rank));
    OK(MPI_Group_size(*world, &size));
    return session;
}

/* Nobody gets a communicator with the lost one. */
static void refused(MPI_Group world, const char *tag)
{
    MPI_Comm comm;
    int code = MPI_Comm_create_from_group(world, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED, "%s: class %d: %s", tag, class_of(code), check_text(code));
    EQUAL(comm == MPI_COMM_NULL, 1);
}

/* A communicator is good for everything among `n` processes. */
static void good(MPI_Comm comm, int n)
{
    enum { ROUNDS = 20 };
    int me = -1, members = -1, sum = -1, all = 1;
    static int out[LONG], in[LONG];
    OK(MPI_Comm_rank(comm, &me));
    OK(MPI_Comm_size(comm, &members));
    EQUAL(members, n);
    for (int round = 0; round < ROUNDS; round++) {
        int count = round % 2 ? LONG : 1, right = (me + 1) % n, left = (me + n - 1) % n;
        for (int i = 0; i < count; i++) out[i] = me + i + round;
        OK(MPI_Sendrecv(out, count, MPI_INT, right, round, in, count, MPI_INT, left, round, comm, MPI_STATUS_IGNORE));
        for (int i = 0; i < count; i += 97) EQUAL(in[i], left + i + round);
        OK(MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm));
        EQUAL(sum, n * (n - 1) / 2);
    }
    OK(MPI_Barrier(comm));
    OK(MPIX_Comm_agree(comm, &all));
    EQUAL(all, 1);
}

static void go_on(MPI_Group group, const char *tag)
{
    MPI_Comm comm, twin;
    int n = -1;
    OK(MPI_Group_size(group, &n));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    good(comm, n);
    OK(MPI_Comm_dup(comm, &twin));
    good(twin, n);
    OK(MPI_Comm_free(&twin));
    OK(MPI_Comm_free(&comm));
}

static int call(MPI_Comm comm, int turn)
{
    static int out[LONG], in[LONG];
    int count = turn % 8 < 4 ? 1 : LONG / size;
    switch (turn % 4) {
    case 0: return MPI_Barrier(comm);
    case 1: return MPI_Bcast(out, count, MPI_INT, turn / 4 % size, comm);
    case 2: return MPI_Allreduce(out, in, count, MPI_INT, MPI_SUM, comm);
    default: return MPI_Allgather(out, count, MPI_INT, in, count, MPI_INT, comm);
    }
}

/* Those who are left of `comm`, as it says itself. */
static MPI_Group left_of(MPI_Comm comm)
{
    MPI_Group all, failed, left;
    int flag = 1, code;
    OK(MPIX_Comm_revoke(comm));
    code = MPIX_Comm_agree(comm, &flag);
    CHECK(class_of(code) == MPIX_ERR_PROC_FAILED, "agree: class %d: %s", class_of(code), check_text(code));
    OK(MPIX_Comm_get_failed(comm, &failed));
    OK(MPI_Comm_group(comm, &all));
    OK(MPI_Group_difference(all, failed, &left));
    OK(MPI_Group_free(&failed));
    OK(MPI_Group_free(&all));
    return left;
}

/* All make a communicator of the session, and one is lost from it; its group without the lost one. */
static MPI_Group lose(MPI_Group world, const char *mode)
{
    MPI_Comm comm, less;
    MPI_Group left;
    int code = MPI_SUCCESS, waits = !strcmp(mode, "waiting");
    OK(MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    good(comm, size);
    if (rank == VICTIM && waits) {
        usleep(200000);
        die(0);
    }
    if (rank == VICTIM) {
        struct sigaction action = {.sa_handler = die};
        struct itimerval timer = {.it_value = {0, 50000}};
        CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0, "no timer");
    }
    for (int turn = 0; code == MPI_SUCCESS; turn++) code = call(comm, turn);
    CHECK(rank != VICTIM, "rank %d is left", rank);
    int class = class_of(code);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "class %d: %s", class, check_text(code));
    left = left_of(comm);
    if (!strcmp(mode, "shrunk")) {
        OK(MPIX_Comm_shrink(comm, &less));
        OK(MPI_Comm_set_errhandler(less, MPI_ERRORS_RETURN));
        good(less, size - 1);
        OK(MPI_Group_free(&left));
        OK(MPI_Comm_group(less, &left));
        OK(MPI_Comm_free(&less));
    }
    OK(MPI_Comm_free(&comm));
    return left;
}

int main(int argc, char **argv)
{
    MPI_Group world, left, lost;
    MPI_Session session, other;
    if (argc != 2) FAIL("a mode is expected");
    const char *mode = argv[1];
    session = begin(&world);
    if (!strcmp(mode, "before")) {
        if (rank == VICTIM) die(0);
        refused(world, "with the lost one");
        OK(MPI_Group_excl(world, 1, &(int){VICTIM}, &left));
    } else if (!strcmp(mode, "between")) {
        go_on(world, "all");
        OK(MPI_Group_free(&world));
        OK(MPI_Session_finalize(&session));
        if (rank == VICTIM) die(0);
        session = begin(&world);
        refused(world, "with the lost one");
        OK(MPI_Group_excl(world, 1, &(int){VICTIM}, &left));
    } else {
        left = lose(world, mode);
    }
    OK(MPI_Group_difference(world, left, &lost));
    int n = -1, place = -1, first = 0;
    OK(MPI_Group_size(lost, &n));
    EQUAL(n, 1);
    OK(MPI_Group_translate_ranks(lost, 1, &first, world, &place));
    EQUAL(place, VICTIM);
    go_on(left, "left");
    refused(world, "all once more");
    go_on(left, "left");
    OK(MPI_Group_free(&lost));
    OK(MPI_Group_free(&left));
    OK(MPI_Group_free(&world));
    OK(MPI_Session_finalize(&session));

    /* Sessions that begin when all have ended, and one beside the other. */
    for (int round = 0; round < 2; round++) {
        session = begin(&world);
        OK(MPI_Group_excl(world, 1, &(int){VICTIM}, &left));
        go_on(left, "later");
        refused(world, "all later");
        OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &other));
        OK(MPI_Group_free(&world));
        OK(MPI_Session_finalize(&session));
        go_on(left, "beside");
        OK(MPI_Group_free(&left));
        OK(MPI_Session_finalize(&other));
    }
    printf("rank %d goes on\n", rank);
    return 0;
}
