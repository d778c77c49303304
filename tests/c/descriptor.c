// ranks: 2
// only: posthaste
// env: POSTHASTE_PROGRESS_THREAD=1
/* The descriptor for event loops can be read when a request that is watched has finished, of whatever kind, also if that
 * was so already; and a rank that sleeps on it uses hardly any of the processor. */
#include "check.h"

#include <poll.h>
#include <posthaste.h>
#include <sys/resource.h>
#include <unistd.h>

enum { DATA = 1, GO = 2, NEVER = 3 };

static int fd = -1;

static int readable(int milliseconds)
{
    struct pollfd watched = {.fd = fd, .events = POLLIN};
    int found = poll(&watched, 1, milliseconds);
    CHECK(found >= 0, "poll fails");
    return found;
}

/* Waits for a request in an event loop. */
static MPI_Status loop(MPI_Request *request)
{
    int flag = 0;
    MPI_Status status;
    OK(Posthaste_Request_watch(*request));
    do {
        CHECK(readable(20000), "nothing finishes");
        OK(Posthaste_Drain_fd());
        OK(MPI_Test(request, &flag, &status));
    } while (!flag);
    return status;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double processor(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

static int query(void *extra_state, MPI_Status *status)
{
    (void)extra_state;
    MPI_Status_set_elements(status, MPI_INT, 3);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int nothing(void *extra_state)
{
    (void)extra_state;
    return MPI_SUCCESS;
}

static int not_cancelled(void *extra_state, int complete)
{
    (void)extra_state, (void)complete;
    return MPI_SUCCESS;
}

/* The kinds of requests, one after the other. */
static void kinds(void)
{
    int other = 1 - rank, got = -1, sum = 0, count = -1;
    static int field[300000];
    MPI_Request request;
    MPI_Status status;

    OK(MPI_Irecv(&got, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, &request));
    OK(MPI_Send(&rank, 1, MPI_INT, other, DATA, MPI_COMM_WORLD));
    status = loop(&request);
    EQUAL(status.MPI_SOURCE, other);
    EQUAL(got, other);

    if (rank == 0) {
        OK(MPI_Isend(field, 300000, MPI_INT, other, DATA, MPI_COMM_WORLD, &request));
    } else {
        OK(MPI_Irecv(field, 300000, MPI_INT, other, DATA, MPI_COMM_WORLD, &request));
    }
    loop(&request);

    OK(MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    loop(&request);
    EQUAL(sum, 1);

    OK(MPI_Recv_init(&got, 1, MPI_INT, other, DATA, MPI_COMM_WORLD, &request));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&request));
        int word = 10 * rank + round;
        OK(MPI_Send(&word, 1, MPI_INT, other, DATA, MPI_COMM_WORLD));
        loop(&request);
        EQUAL(got, 10 * other + round);
    }
    OK(MPI_Request_free(&request));

    OK(MPI_Grequest_start(query, nothing, not_cancelled, NULL, &request));
    OK(Posthaste_Request_watch(request));
    OK(MPI_Grequest_complete(request));
    status = loop(&request);
    OK(MPI_Get_elements(&status, MPI_INT, &count));
    EQUAL(count, 3);

    /* One that is over from the start, and one that is cancelled. */
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_PROC_NULL, DATA, MPI_COMM_WORLD, &request));
    loop(&request);
    OK(MPI_Irecv(&got, 1, MPI_INT, other, NEVER, MPI_COMM_WORLD, &request));
    OK(Posthaste_Request_watch(request));
    OK(MPI_Cancel(&request));
    loop(&request);
    request = MPI_REQUEST_NULL;
    REFUSED(Posthaste_Request_watch(request), MPI_ERR_REQUEST);
}

/* Rank 1 sends after two seconds, while rank 0 sleeps in poll. */
static void idle(void)
{
    int word = 5;
    MPI_Request request;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(Posthaste_Drain_fd());
    if (rank == 1) {
        sleep(2);
        OK(MPI_Send(&word, 1, MPI_INT, 0, GO, MPI_COMM_WORLD));
        return;
    }
    OK(MPI_Irecv(&word, 1, MPI_INT, 1, GO, MPI_COMM_WORLD, &request));
    double before = processor();
    loop(&request);
    double used = processor() - before;
    CHECK(used < 0.2, "%.0f ms of processor time in 2 s of sleep", used * 1e3);
}

int main(int argc, char **argv)
{
    int again = -1;
    check_start(&argc, &argv);
    OK(Posthaste_Get_fd(&fd));
    OK(Posthaste_Get_fd(&again));
    EQUAL(again, fd);
    EQUAL(readable(0), 0);
    kinds();
    idle();
    return check_end();
}
