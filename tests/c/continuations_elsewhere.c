// ranks: 2
// only: posthaste
// env: POSTHASTE_PROGRESS_THREAD=1
/* Continuations whose operations end on the progress thread while the thread of the program waits in another communicator, and so
 * in another VCI, or in several: it runs them, and what it waits for comes of them. Those of a continuation request that has been
 * freed run in a call of the program as well, also when the program asked that only tests run them. */
#include "handlers_check.h"

enum { TURNS = 6, PAUSE = 30000 };

static MPI_Comm here, there;
static pthread_t program;
static atomic_int runs;

static int sends_on(int rc, void *data)
{
    int word = 7;
    (void)data;
    EQUAL(rc, MPI_SUCCESS);
    CHECK(pthread_equal(pthread_self(), program), "a continuation runs on another thread");
    runs++;
    OK(MPI_Send(&word, 1, MPI_INT, rank, 2, there));
    return MPI_SUCCESS;
}

static int counts(int rc, void *data)
{
    (void)data;
    EQUAL(rc, MPI_SUCCESS);
    CHECK(pthread_equal(pthread_self(), program), "a continuation runs on another thread");
    runs++;
    return MPI_SUCCESS;
}

/* What this thread waits for is sent by a continuation, of a message that comes when it sleeps. */
static void waits(int among)
{
    int got = 0, other = 0;
    MPI_Request all, operation, requests[2];
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &all));
    OK(MPI_Start(&all));
    OK(MPI_Irecv(&got, 1, MPI_INT, 1, 1, here, &operation));
    OK(MPIX_Continue(&operation, sends_on, NULL, 0, MPI_STATUS_IGNORE, all));
    OK(MPI_Send(NULL, 0, MPI_INT, 1, 3, here));
    if (among) {
        OK(MPI_Irecv(&other, 1, MPI_INT, 0, 2, there, &requests[0]));
        OK(MPI_Irecv(NULL, 0, MPI_INT, 1, 4, here, &requests[1]));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    } else {
        OK(MPI_Recv(&other, 1, MPI_INT, 0, 2, there, MPI_STATUS_IGNORE));
    }
    EQUAL(other, 7);
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&all));
}

static void freed(int flags)
{
    int got = 0, before = runs, flag;
    MPI_Request all, operation;
    OK(MPIX_Continue_init(flags, 0, MPI_INFO_NULL, &all));
    OK(MPI_Start(&all));
    OK(MPI_Irecv(&got, 1, MPI_INT, 1, 1, here, &operation));
    OK(MPIX_Continue(&operation, counts, NULL, 0, MPI_STATUS_IGNORE, all));
    OK(MPI_Request_free(&all));
    OK(MPI_Send(NULL, 0, MPI_INT, 1, 3, here));
    usleep(4 * PAUSE); /* the progress thread finds the message meanwhile */
    EQUAL(runs, before);
    for (int tries = 0; runs == before; tries++) {
        if (tries > 20000) FAIL("the continuation does not run");
        OK(MPI_Iprobe(1, 5, here, &flag, MPI_STATUS_IGNORE));
        usleep(1000);
    }
    EQUAL(got, 1);
}

static void answers(int among)
{
    int word = 1;
    OK(MPI_Recv(NULL, 0, MPI_INT, 0, 3, here, MPI_STATUS_IGNORE));
    usleep(PAUSE);
    OK(MPI_Send(&word, 1, MPI_INT, 0, 1, here));
    if (among) OK(MPI_Send(NULL, 0, MPI_INT, 0, 4, here));
}

int main(int argc, char **argv)
{
    int level;
    program = pthread_self();
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &here));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &there));
    for (int turn = 0; turn < TURNS; turn++) {
        if (rank == 0) waits(turn % 2);
        else answers(turn % 2);
    }
    for (int turn = 0; turn < 2; turn++) {
        if (rank == 0) freed(turn ? MPIX_CONT_POLL_ONLY : 0);
        else answers(0);
    }
    OK(MPI_Comm_free(&here));
    OK(MPI_Comm_free(&there));
    return check_end();
}
