// ranks: 1
// only: posthaste
/* Handlers where several threads call: a wait and a test on another thread wait for the handler that runs, and get the status
 * only if it returns without completing the request; detaching and replacing wait for it, too; two threads attach to one
 * request at once; a thread waits while another one has disabled handlers. */
#include "handlers_check.h"

static MPI_Comm S;
static atomic_int begun, may_return, over, calls;
static int completes_itself;

/* Runs until it is let go, and takes its request or leaves it. */
static void slow(MPI_Request request, void *extra_state)
{
    (void)extra_state;
    atomic_fetch_add(&calls, 1);
    atomic_store(&begun, 1);
    await(&may_return, 1, "the way back");
    if (completes_itself) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void counts(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
    atomic_fetch_add(&calls, 1);
}

/* What another thread does while the handler runs. */
enum deed { WAITS, TESTS, TESTS_ALL, DETACHES, REPLACES, FREES, DEEDS };
struct other {
    enum deed deed;
    MPI_Request request;
    MPI_Status status;
};

static void *others(void *argument)
{
    struct other *other = argument;
    int flag = 0;
    await(&begun, 1, "the handler");
    switch (other->deed) {
    case WAITS: OK(MPI_Wait(&other->request, &other->status)); break;
    case TESTS:
        OK(MPI_Test(&other->request, &flag, &other->status));
        EQUAL(flag, 1);
        break;
    case TESTS_ALL:
        OK(MPI_Testall(1, &other->request, &flag, &other->status));
        EQUAL(flag, 1);
        break;
    case DETACHES: OK(Posthaste_Request_detach(&other->request)); break;
    case REPLACES: OK(Posthaste_Request_attach(&other->request, counts, NULL)); break;
    default: OK(MPI_Request_free(&other->request)); break;
    }
    atomic_store(&over, 1);
    return NULL;
}

static void *lets_go(void *nothing)
{
    (void)nothing;
    await(&begun, 1, "the handler");
    usleep(50000);
    EQUAL(atomic_load(&over), 0); /* the other one still waits for the handler */
    atomic_store(&may_return, 1);
    return NULL;
}

static void while_it_runs(enum deed deed, int completes)
{
    int got = 0, value = 5, flag;
    pthread_t one, two;
    MPI_Request request;
    atomic_store(&begun, 0), atomic_store(&may_return, 0), atomic_store(&over, 0), atomic_store(&calls, 0);
    completes_itself = completes;
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 3, S, &request));
    struct other other = {deed, request, marked()};
    OK(Posthaste_Request_attach(&request, slow, NULL));
    pthread_create(&one, NULL, others, &other);
    pthread_create(&two, NULL, lets_go, NULL);
    OK(MPI_Send(&value, 1, MPI_INT, 0, 3, S));
    /* Runs it, here or on the thread that is inside. */
    while (!atomic_load(&over)) OK(MPI_Iprobe(0, 99, S, &flag, MPI_STATUS_IGNORE));
    pthread_join(one, NULL), pthread_join(two, NULL);
    if (deed == REPLACES && !completes) EQUAL(atomic_load(&calls), 2);
    else EQUAL(atomic_load(&calls), 1);
    if (deed <= TESTS_ALL) {
        EQUAL(other.status.MPI_TAG, completes ? 4711 : 3);
        CHECK(other.request == MPI_REQUEST_NULL, "the request is not null");
    } else if (deed != FREES) {
        OK(MPI_Wait(&request, &other.status));
        EQUAL(other.status.MPI_TAG, completes ? 4711 : 3);
    }
    EQUAL(got, 5);
}

/* Two threads attach and detach while messages come: each message has one call at most, and no request is lost. */
enum { MESSAGES = 300 };
static MPI_Request contended;
static atomic_int round_of;

static void *attaches(void *nothing)
{
    (void)nothing;
    for (int round = 1; round <= MESSAGES; round++) {
        await(&round_of, round, "the round");
        /* The message may have been taken by now: then the handle is stale. */
        for (int tries = 0; tries < 20; tries++) {
            MPI_Request request = contended;
            int code = tries % 3 == 2 ? Posthaste_Request_detach(&request) : Posthaste_Request_attach(&request, counts, NULL);
            if (code != MPI_SUCCESS) REFUSED(code, MPI_ERR_REQUEST);
        }
    }
    return NULL;
}

static void from_two_threads(void)
{
    pthread_t threads[2];
    int got = 0;
    for (int at = 0; at < 2; at++) pthread_create(&threads[at], NULL, attaches, NULL);
    for (int round = 1; round <= MESSAGES; round++) {
        MPI_Request request;
        MPI_Status status = marked();
        OK(MPI_Irecv(&got, 1, MPI_INT, 0, 4, S, &request));
        contended = request;
        atomic_store(&round_of, round);
        OK(MPI_Send(&round, 1, MPI_INT, 0, 4, S));
        OK(MPI_Wait(&request, &status));
        EQUAL(status.MPI_TAG, 4);
        EQUAL(got, round);
    }
    for (int at = 0; at < 2; at++) pthread_join(threads[at], NULL);
}

static void *waits_for_it(void *argument)
{
    OK(MPI_Wait(argument, MPI_STATUS_IGNORE));
    atomic_store(&over, 1);
    return NULL;
}

/* Of another thread a wait is no guaranteed deadlock: it goes on when handlers are enabled. */
static void disabled_by_another(void)
{
    int got = 0, value = 1, flag;
    pthread_t thread;
    MPI_Request request;
    atomic_store(&over, 0), atomic_store(&calls, 0);
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 5, S, &request));
    OK(Posthaste_Request_attach(&request, counts, NULL));
    OK(Posthaste_Handlers_disable());
    OK(MPI_Send(&value, 1, MPI_INT, 0, 5, S));
    pthread_create(&thread, NULL, waits_for_it, &request);
    for (int tries = 0; tries < 50; tries++) {
        OK(MPI_Iprobe(0, 99, S, &flag, MPI_STATUS_IGNORE));
        usleep(1000);
    }
    EQUAL(atomic_load(&over) + atomic_load(&calls), 0);
    OK(Posthaste_Handlers_enable());
    pthread_join(thread, NULL);
    EQUAL(atomic_load(&calls), 1);
}

/* Many threads, each with its own requests and one handler for all. A handler that has completed its request may still run when
 * the wait of another thread is over: so its counters outlive the threads, and are right when all threads have ended. */
enum { THREADS = 4, EACH = 200 };
static atomic_int own[THREADS][8];

static void completes(MPI_Request request, void *extra_state)
{
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    atomic_fetch_add((atomic_int *)extra_state, 1);
}

static void *exchanges(void *argument)
{
    size_t mine = (size_t)argument;
    int tag = 10 + (int)mine, got[8];
    MPI_Request requests[8];
    for (int round = 0; round < EACH; round++) {
        for (int at = 0; at < 8; at++) {
            OK(MPI_Irecv(&got[at], 1, MPI_INT, 0, tag, S, &requests[at]));
            OK(Posthaste_Request_attach(&requests[at], completes, &own[mine][at]));
        }
        for (int at = 0; at < 8; at++) OK(MPI_Send(&at, 1, MPI_INT, 0, tag, S));
        OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
        for (int at = 0; at < 8; at++) EQUAL(got[at], at);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &S));
    OK(MPI_Comm_set_errhandler(S, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (int completes_it = 0; completes_it < 2; completes_it++)
        for (int deed = WAITS; deed < DEEDS; deed++)
            if (!completes_it || deed <= TESTS_ALL) while_it_runs(deed, completes_it);
    from_two_threads();
    disabled_by_another();
    pthread_t threads[THREADS];
    for (size_t at = 0; at < THREADS; at++) pthread_create(&threads[at], NULL, exchanges, (void *)at);
    for (size_t at = 0; at < THREADS; at++) pthread_join(threads[at], NULL);
    for (int thread = 0; thread < THREADS; thread++)
        for (int at = 0; at < 8; at++) EQUAL(atomic_load(&own[thread][at]), EACH);
    OK(MPI_Comm_free(&S));
    OK(MPI_Finalize());
    return 0;
}
