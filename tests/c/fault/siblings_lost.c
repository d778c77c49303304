/* Losses in another job of the same mpiexec: two parents start the job A and the job B, and a process of A is killed, or all of it. What
 * parents and who is left of A do with each other fails, for those who need the lost one; parents and B go on together, and so do
 * who is left of A and the parents.
 *
 *   siblings_lost apart          A and B know nothing of each other
 *   siblings_lost merged         A, B and the parents are in one communicator, too
 *   siblings_lost met            A accepts B at a port of its own
 *   siblings_lost MODE all       all processes of A are killed
 *   siblings_lost MODE parent    the second parent is killed, instead of one of A
 *
 * The jobs are started with the letter A or B, and the same arguments. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <unistd.h>

enum { EACH = 2, VICTIM = 1 };

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

/* Works on communicators and intercommunicators that have lost nobody. */
static void good(MPI_Comm comm)
{
    enum { ROUNDS = 10, LONG = 1 << 16 };
    static int out[LONG], in[LONG];
    int inter, others = -1, me = -1, sum = -1, all = 5;
    OK(MPI_Comm_test_inter(comm, &inter));
    OK(inter ? MPI_Comm_remote_size(comm, &others) : MPI_Comm_size(comm, &others));
    OK(MPI_Comm_rank(comm, &me));
    for (int round = 0; round < ROUNDS; round++) {
        OK(MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comm));
        EQUAL(sum, others);
        if (me > 0) continue;
        MPI_Request request;
        for (int i = 0; i < LONG; i++) out[i] = i + round;
        OK(MPI_Irecv(in, LONG, MPI_INT, 0, round, comm, &request));
        OK(MPI_Send(out, LONG, MPI_INT, 0, round, comm));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int i = 0; i < LONG; i += 97) EQUAL(in[i], i + round);
    }
    OK(MPIX_Comm_agree(comm, &all));
    EQUAL(all, 5);
}

/* Of a loss, or from one who has heard of it. */
static void hears(int code, const char *what)
{
    int class = class_of(code);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "%s: class %d: %s", what, class, check_text(code));
}

/* Hears of the loss by a collective operation on `comm`. */
static void lost(MPI_Comm comm, const char *what)
{
    int code;
    do code = MPI_Barrier(comm);
    while (code == MPI_SUCCESS);
    hears(code, what);
    OK(MPIX_Comm_revoke(comm));
}

/* What is left of a communicator, which has lost `failed` members. */
static MPI_Comm shrunk(MPI_Comm comm, int failed)
{
    MPI_Comm left;
    MPI_Group group;
    int count = -1;
    OK(MPIX_Comm_shrink(comm, &left));
    OK(MPI_Comm_set_errhandler(left, MPI_ERRORS_RETURN));
    OK(MPIX_Comm_get_failed(comm, &group));
    OK(MPI_Group_size(group, &count));
    EQUAL(count, failed);
    OK(MPI_Group_free(&group));
    good(left);
    return left;
}

/* The same where all of the other group may be lost: then nobody can be left in an intercommunicator of two groups. */
static void shrinks_or_not(MPI_Comm *comm, int failed)
{
    if (failed < EACH) {
        MPI_Comm left = shrunk(*comm, failed);
        OK(MPI_Comm_free(&left));
    } else {
        MPI_Comm left;
        int code = MPIX_Comm_shrink(*comm, &left);
        CHECK(code != MPI_SUCCESS, "an intercommunicator without one of its groups");
    }
    OK(MPI_Comm_free(comm));
}

static MPI_Comm start(char *program, char *letter, char **argv, MPI_Comm comm)
{
    char *arguments[] = {letter, argv[1], argv[2], NULL};
    MPI_Comm inter;
    OK(MPI_Comm_spawn(program, arguments, EACH, MPI_INFO_NULL, 0, comm, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    return inter;
}

/* One communicator of the parents, A and B: `with_a` and `with_b` are what parents have, or what A or B has with them. */
static MPI_Comm merge(char job, MPI_Comm with_a, MPI_Comm with_b)
{
    MPI_Comm near = MPI_COMM_WORLD, grown, all;
    if (job != 'B') {
        OK(MPI_Intercomm_merge(with_a, job == 'A', &near));
        OK(MPI_Comm_set_errhandler(near, MPI_ERRORS_RETURN));
    }
    OK(MPI_Intercomm_create(near, 0, with_b, 0, 3, &grown));
    OK(MPI_Intercomm_merge(grown, job == 'B', &all));
    OK(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN));
    OK(MPI_Comm_free(&grown));
    if (job != 'B') OK(MPI_Comm_free(&near));
    return all;
}

/* A accepts B; the first parent carries the name of the port. */
static MPI_Comm introduce(char job, MPI_Comm with_a, MPI_Comm with_b)
{
    char port[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter = MPI_COMM_NULL;
    if (job == 'A') {
        if (rank == 0) {
            OK(MPI_Open_port(MPI_INFO_NULL, port));
            OK(MPI_Send(port, sizeof port, MPI_CHAR, 0, 1, with_a));
        }
        OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else if (job == 'B') {
        if (rank == 0) OK(MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, with_b, MPI_STATUS_IGNORE));
        OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter));
    } else if (rank == 0) {
        OK(MPI_Recv(port, sizeof port, MPI_CHAR, 0, 1, with_a, MPI_STATUS_IGNORE));
        OK(MPI_Send(port, sizeof port, MPI_CHAR, 0, 1, with_b));
    }
    if (inter != MPI_COMM_NULL) OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    return inter;
}

int main(int argc, char **argv)
{
    MPI_Comm parent, with_a, with_b, whole = MPI_COMM_NULL;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    char job = 'P';
    if (parent != MPI_COMM_NULL) {
        job = argv[1][0];
        argv++;
        argc--;
        OK(MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN));
    }
    if (argc < 2) FAIL("a mode is expected");
    char *mode = argv[1], *who = argc > 2 ? argv[2] : "", *given[] = {NULL, mode, who};
    int all_of_a = !strcmp(who, "all"), of_parents = !strcmp(who, "parent"), failed = all_of_a ? EACH : 1;
    with_a = with_b = parent;
    if (job == 'P') {
        with_a = start(argv[0], "A", given, MPI_COMM_WORLD);
        with_b = start(argv[0], "B", given, MPI_COMM_WORLD);
    }
    int merges = !strcmp(mode, "merged"), meets = !strcmp(mode, "met");
    if (merges) whole = merge(job, with_a, with_b);
    if (meets) whole = introduce(job, with_a, with_b);
    /* All are there. */
    if (job != 'B') good(with_a);
    if (job != 'A') good(with_b);
    if (whole != MPI_COMM_NULL) good(whole);

    if (job == (of_parents ? 'P' : 'A') && (rank == VICTIM || all_of_a)) die();

    /* A and the parents have lost somebody: an intercommunicator and, in the job itself, the world. */
    if (job != 'B') {
        lost(with_a, "between A and the parents");
        shrinks_or_not(&with_a, failed);
    }
    if (job == (of_parents ? 'P' : 'A')) {
        MPI_Comm left;
        lost(MPI_COMM_WORLD, "its own world");
        left = shrunk(MPI_COMM_WORLD, 1);
        OK(MPI_Comm_free(&left));
    } else {
        good(MPI_COMM_WORLD);
    }
    /* B and the parents. */
    if (job != 'A' && of_parents) {
        lost(with_b, "between B and the parents");
        shrinks_or_not(&with_b, failed);
    } else if (job != 'A') {
        good(with_b);
    }
    /* B hears of it where it is connected with A. */
    if (whole != MPI_COMM_NULL && merges) {
        MPI_Comm left;
        lost(whole, "one of all");
        left = shrunk(whole, failed);
        int n = -1;
        OK(MPI_Comm_size(left, &n));
        EQUAL(n, 3 * EACH - failed);
        OK(MPI_Comm_free(&left));
        OK(MPI_Comm_free(&whole));
    } else if (whole != MPI_COMM_NULL && !of_parents) {
        if (job == 'B') {
            int word, code = MPI_Recv(&word, 1, MPI_INT, VICTIM, 9, whole, MPI_STATUS_IGNORE);
            hears(code, "a receive from A");
        }
        lost(whole, "between A and B");
        shrinks_or_not(&whole, failed);
    } else if (whole != MPI_COMM_NULL) {
        good(whole);
        OK(MPI_Comm_disconnect(&whole));
    }
    /* Who has lost nobody in it parts as ever. */
    if (job != 'A' && !of_parents) {
        good(with_b);
        OK(MPI_Comm_disconnect(&with_b));
    }
    printf("rank %d of %c goes on\n", rank, job);
    fflush(stdout);
    return MPI_Finalize();
}
