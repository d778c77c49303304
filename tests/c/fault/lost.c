/* lost.c: rank 1 is killed, and nobody but the others finds out (its launcher sees a shell that goes on). What is under way
 * towards or from it must end with an error that names it, later operations with it at once, and the others must still
 * reach each other. For the fault tests over every method. Usage: lost WHAT, with at least 3 ranks; prints what was reported to it.
 *
 * WHAT: recv, any: a receive from it, from anybody   send: a long message that it never receives
 *       read, written: a long message from, to it is half-way   flood: short messages that it does not receive
 *       test: a receive from it, tested once a millisecond
 *       idle: nothing is under way   collective: a barrier of all
 *       stranger: a receive from it, and nobody has ever talked to it */
#include "../check.h"
#include <signal.h>
#include <time.h>

enum { LONG = 64 << 20, SHORT = 512 };

static char *buffer;
static double begin;
static int unknown;

static void pause_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

static int is(const char *what, const char *name)
{
    return strcmp(what, name) == 0;
}

/* Rank 1 dies: what it does before. */
static void victim(const char *what)
{
    MPI_Request request;
    int flag;
    if (is(what, "read")) OK(MPI_Isend(buffer, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    if (is(what, "written")) OK(MPI_Irecv(buffer, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    if (is(what, "read") || is(what, "written")) {
        for (int i = 0; i < 5; i++) OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    } else {
        pause_ms(200);
    }
    raise(SIGKILL);
}

/* What is reported to rank 0: the class, and a sentence that names rank 1. */
static int reported(const char *what)
{
    MPI_Status status;
    if (is(what, "recv") || is(what, "stranger")) return MPI_Recv(buffer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
    if (is(what, "any")) return MPI_Recv(buffer, 1, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &status);
    if (is(what, "read")) return MPI_Recv(buffer, LONG, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &status);
    if (is(what, "send") || is(what, "written")) return MPI_Send(buffer, LONG, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    if (is(what, "collective")) return MPI_Barrier(MPI_COMM_WORLD);
    if (is(what, "test")) {
        MPI_Request request;
        int flag = 0, code = MPI_Irecv(buffer, 1, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request);
        for (; code == MPI_SUCCESS && !flag; pause_ms(1)) code = MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        return code;
    }
    if (is(what, "idle")) pause_ms(1000);
    for (;;) {
        int code = MPI_Send(buffer, SHORT, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        if (code != MPI_SUCCESS) return code;
        if (MPI_Wtime() - begin > 60) FAIL("messages to a rank that is dead are sent for ever");
        if (is(what, "idle")) pause_ms(10);
    }
}

/* The error names rank 1 and says that it is gone. */
static void check_reported(int code)
{
    int class;
    OK(MPI_Error_class(code, &class));
    /* Of one that never answered nobody knows that it ever was there. */
    int expected = class == MPI_ERR_PROC_ABORTED || (unknown && class == MPI_ERR_OTHER);
    if (!expected || !strstr(check_text(code), "rank 1"))
        FAIL("an error of class %d, \"%s\"", class, check_text(code));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "recv";
    check_start(&argc, &argv);
    if (size < 3) FAIL("needs 3 ranks");
    buffer = calloc(LONG, 1);
    unknown = is(what, "stranger");
    /* Everybody has talked to everybody. */
    for (int i = 0; i < 3 && !unknown; i++) OK(MPI_Alltoall(MPI_IN_PLACE, 64, MPI_BYTE, buffer, 64, MPI_BYTE, MPI_COMM_WORLD));
    begin = MPI_Wtime();
    if (rank == 1) victim(what);
    if (rank == 0) {
        int code = reported(what);
        double took = MPI_Wtime() - begin;
        check_reported(code);
        printf("reported after %.1f s: %s\n", took, check_text(code));
        double again = MPI_Wtime();
        check_reported(MPI_Send(buffer, LONG, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        check_reported(MPI_Recv(buffer, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (MPI_Wtime() - again > 1) FAIL("later operations took %.1f s to fail", MPI_Wtime() - again);
    } else if (is(what, "collective")) {
        MPI_Barrier(MPI_COMM_WORLD); /* may fail here, too */
    }
    /* The others go on. */
    if (rank == 0) {
        OK(MPI_Send(buffer, 1 << 20, MPI_BYTE, size - 1, 3, MPI_COMM_WORLD));
        OK(MPI_Recv(buffer, 1 << 20, MPI_BYTE, size - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else if (rank == size - 1) {
        OK(MPI_Recv(buffer, 1 << 20, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(buffer, 1 << 20, MPI_BYTE, 0, 3, MPI_COMM_WORLD));
    }
    if (rank != 0) MPI_Recv(buffer, 1, MPI_BYTE, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("the others go on\n");
    fflush(stdout);
    /* MPI_Finalize would wait for all. */
    MPI_Abort(MPI_COMM_WORLD, 3);
}
