/* What those that are left do when ranks are killed at each step of surviving. Arguments: when they are killed (before the
 * communicator is "revoked", inside an agreement, "agree", inside "shrink"ing, or while others receive from "any"body), and a
 * seed, which chooses who is killed and after how many looks. Whatever happens, all that are left have to see the same. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

enum { ROUNDS = 2, LOOKS = 30 };

static unsigned state;

/* The same number at all ranks. */
static unsigned draw(unsigned below)
{
    state = state * 1103515245u + 12345u;
    return state / 65536u % below;
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* A communicator of those that are left, in which everybody has heard from everybody. */
static MPI_Comm settled(MPI_Comm comm)
{
    for (;;) {
        MPI_Comm next;
        OK(MPIX_Comm_shrink(comm, &next));
        int fine = MPI_Barrier(next) == MPI_SUCCESS;
        if (!fine) OK(MPIX_Comm_revoke(next));
        int code = MPIX_Comm_agree(next, &fine);
        CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED, "agree: class %d", class_of(code));
        if (comm != MPI_COMM_WORLD) OK(MPI_Comm_free(&comm));
        if (code == MPI_SUCCESS && fine) return next;
        comm = next;
    }
}

/* All have seen the same. */
static void same(MPI_Comm comm, int seen, const char *what)
{
    int pair[2] = {seen, -seen}, most[2];
    OK(MPI_Allreduce(pair, most, 2, MPI_INT, MPI_MAX, comm));
    CHECK(most[0] == -most[1], "%s: %d, and others from %d to %d", what, seen, -most[1], most[0]);
}

/* Looks a few times whether the request is over, and dies. */
static void look_and_die(MPI_Request request, unsigned looks)
{
    for (int over = 0; looks > 0 && !over; looks--) MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    die();
}

/* Everybody waits for somebody who says nothing. Who waits for a lost one revokes. */
static MPI_Comm revoked(MPI_Comm comm, int me, int n, int dies)
{
    int word, flag = 0, code;
    if (dies) die();
    code = MPI_Recv(&word, 1, MPI_INT, (me + n - 1) % n, 9, comm, MPI_STATUS_IGNORE);
    int class = class_of(code);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "receive: class %d", class);
    OK(MPIX_Comm_revoke(comm));
    OK(MPIX_Comm_is_revoked(comm, &flag));
    EQUAL(flag, 1);
    REFUSED(MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 9, comm), MPIX_ERR_REVOKED);
    REFUSED(MPI_Barrier(comm), MPIX_ERR_REVOKED);
    return settled(comm);
}

static void wait_until_all_are_known(MPI_Comm comm, int victims)
{
    for (int known = 0; known < victims;) {
        MPI_Group failed;
        OK(MPIX_Comm_get_failed(comm, &failed));
        OK(MPI_Group_size(failed, &known));
        OK(MPI_Group_free(&failed));
    }
}

static MPI_Comm agreed(MPI_Comm comm, int me, int victims, int dies, unsigned looks)
{
    MPI_Request request;
    int flag = ~(1 << me), code;
    OK(MPIX_Comm_iagree(comm, &flag, &request));
    if (dies) look_and_die(request, looks);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    int class = class_of(code);
    CHECK(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED, "agree: class %d", class);
    CHECK(!(flag & 1 << me), "the bit of rank %d is set in %x", me, flag);
    /* What all know and have acknowledged is no error. */
    int again = 6 + me % 2, acked, known;
    wait_until_all_are_known(comm, victims);
    OK(MPIX_Comm_ack_failed(comm, victims, &acked));
    EQUAL(acked, victims);
    OK(MPIX_Comm_agree(comm, &again));
    CHECK(again == 6 || again == 7, "agreed on %d", again);
    MPI_Group failed;
    OK(MPIX_Comm_failure_get_acked(comm, &failed));
    OK(MPI_Group_size(failed, &known));
    EQUAL(known, victims);
    OK(MPI_Group_free(&failed));
    comm = settled(comm);
    same(comm, flag, "the bits");
    same(comm, class, "the outcome");
    return comm;
}

static MPI_Comm shrunk(MPI_Comm comm, int dies, unsigned looks)
{
    MPI_Comm next;
    MPI_Request request;
    int left;
    OK(MPIX_Comm_ishrink(comm, &next, &request));
    if (dies) look_and_die(request, looks);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_size(next, &left));
    next = settled(next);
    same(next, left, "the size");
    return next;
}

/* Receives from anybody say that somebody is lost, and go on when that is acknowledged. */
static MPI_Comm any(MPI_Comm comm, int me, int n, int victims, const int *is_victim)
{
    int word = me, got = -1, kept = -1, over, next = me, all = 1;
    MPI_Request request, persistent;
    MPI_Message message;
    MPI_Status status;
    if (is_victim[me]) die();
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &request));
    REFUSED(MPI_Wait(&request, &status), MPIX_ERR_PROC_FAILED_PENDING);
    CHECK(request != MPI_REQUEST_NULL, "the request is gone");
    REFUSED(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, MPI_STATUS_IGNORE), MPIX_ERR_PROC_FAILED);
    OK(MPI_Recv_init(&kept, 1, MPI_INT, MPI_ANY_SOURCE, 8, comm, &persistent));
    OK(MPI_Start(&persistent));
    REFUSED(MPI_Wait(&persistent, &status), MPIX_ERR_PROC_FAILED_PENDING);
    REFUSED(MPI_Iprobe(MPI_ANY_SOURCE, 6, comm, &over, &status), MPIX_ERR_PROC_FAILED);
    REFUSED(MPI_Improbe(MPI_ANY_SOURCE, 6, comm, &over, &message, &status), MPIX_ERR_PROC_FAILED);
    wait_until_all_are_known(comm, victims);
    OK(MPIX_Comm_failure_ack(comm));
    OK(MPI_Iprobe(MPI_ANY_SOURCE, 6, comm, &over, &status));
    EQUAL(over, 0);
    OK(MPI_Test(&request, &over, MPI_STATUS_IGNORE)); /* no error any more */
    OK(MPIX_Comm_agree(comm, &all)); /* nobody sends before all have seen the error */
    do next = (next + 1) % n; while (is_victim[next]);
    OK(MPI_Send(&word, 1, MPI_INT, next, 5, comm));
    OK(MPI_Send(&word, 1, MPI_INT, next, 8, comm));
    OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&persistent));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(kept, got);
    CHECK(got >= 0 && got < n && !is_victim[got], "a word of rank %d", got);
    return settled(comm);
}

/* Everybody talks to everybody: over a network nobody hears of the end of one with whom it has no connection. And nobody dies before
 * all have done so, for what somebody has sent over a connection that is not yet made dies with it; so who still waits in the
 * barrier may hear of a loss. */
static void all_have_talked(void)
{
    int n;
    OK(MPI_Comm_size(MPI_COMM_WORLD, &n));
    for (int step = 1; step < n; step++) {
        int to = (rank + step) % n, from = (rank + n - step) % n, word = step, theirs = -1;
        OK(MPI_Sendrecv(&word, 1, MPI_INT, to, step, &theirs, 1, MPI_INT, from, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(theirs, step);
    }
    int code = MPI_Barrier(MPI_COMM_WORLD);
    CHECK(code == MPI_SUCCESS || class_of(code) == MPIX_ERR_PROC_FAILED, "barrier: %s", check_text(code));
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    OK(MPI_Init(&argc, &argv));
    if (argc != 3) FAIL("two arguments are expected");
    state = (unsigned)atoi(argv[2]);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    all_have_talked();
    for (int round = 0; round < ROUNDS; round++) {
        int me, n, is_victim[64] = {0}, victims = 0;
        OK(MPI_Comm_rank(comm, &me));
        OK(MPI_Comm_size(comm, &n));
        for (unsigned count = 1 + draw(n > 4 ? 2 : 1); count > 0; count--) {
            unsigned victim = draw(n);
            victims += !is_victim[victim];
            is_victim[victim] = 1;
        }
        unsigned looks = draw(LOOKS);
        switch (argv[1][1]) {
        case 'e': comm = revoked(comm, me, n, is_victim[me]); break;
        case 'g': comm = agreed(comm, me, victims, is_victim[me], looks); break;
        case 'h': comm = shrunk(comm, is_victim[me], looks); break;
        default: comm = any(comm, me, n, victims, is_victim); break;
        }
        int left;
        OK(MPI_Comm_size(comm, &left));
        EQUAL(left, n - victims);
    }
    OK(MPI_Comm_size(comm, &size));
    printf("rank %d goes on, one of %d\n", rank, size);
    fflush(stdout);
    return MPI_Finalize();
}
