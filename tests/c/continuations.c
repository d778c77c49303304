// ranks: 1 2
// only: posthaste
/* MPIX_Continue as the forum's working group proposes it: one and several operations, before and after the start of the
 * continuation request, polled for, a few in each test, failed ones and their error codes, persistent operations, and a
 * continuation of a continuation request. */
#include "check.h"

#include <posthaste.h>
#include <stdatomic.h>

static atomic_int calls;
static int codes[8], peer;
/* A progress thread completes operations, too: what has arrived may become due a little later, while it is at that. */
static int behind_the_back;
static MPI_Comm S;

static int counts(int rc, void *data)
{
    codes[calls % 8] = rc;
    if (data) ++*(int *)data;
    calls++;
    return MPI_SUCCESS;
}

static int refuses(int rc, void *data)
{
    (void)data;
    calls++;
    return rc == MPI_SUCCESS ? MPI_ERR_OTHER : rc;
}

static MPI_Request starts(int *place, int tag)
{
    MPI_Request request;
    OK(MPI_Irecv(place, 1, MPI_INT, peer, tag, S, &request));
    return request;
}

static void exchange(int value, int tag)
{
    OK(MPI_Send(&value, 1, MPI_INT, peer, tag, S));
}

static MPI_Request continuation_request(int flags, int max_poll, const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_Request made;
    if (key) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPIX_Continue_init(flags, max_poll, info, &made));
    if (key) OK(MPI_Info_free(&info));
    return made;
}

static void one_and_several(void)
{
    int got[3] = {0}, flag, state = 0;
    MPI_Request all = continuation_request(0, 0, NULL, NULL), operations[3];
    MPI_Status statuses[3];
    OK(MPI_Start(&all));
    OK(MPI_Test(&all, &flag, MPI_STATUS_IGNORE));
    EQUAL(flag, 1); /* nothing was registered */
    OK(MPI_Start(&all));
    calls = 0;
    operations[0] = starts(&got[0], 1);
    OK(MPIX_Continue(&operations[0], counts, &state, 0, &statuses[0], all));
    CHECK(operations[0] == MPI_REQUEST_NULL, "the request was not taken");
    OK(MPI_Test(&all, &flag, MPI_STATUS_IGNORE));
    EQUAL(flag, 0);
    OK(MPI_Barrier(S));
    exchange(7, 1);
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    EQUAL(calls, 1);
    EQUAL(state, 1);
    EQUAL(got[0], 7);
    EQUAL(codes[0], MPI_SUCCESS);
    EQUAL(statuses[0].MPI_TAG, 1);
    EQUAL(statuses[0].MPI_ERROR, MPI_SUCCESS);
    OK(MPI_Start(&all));
    for (int at = 0; at < 3; at++) operations[at] = starts(&got[at], 2 + at);
    OK(MPIX_Continueall(3, operations, counts, &state, MPIX_CONT_REQUESTS_FREE, statuses, all));
    for (int at = 2; at >= 0; at--) exchange(at, 2 + at);
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    EQUAL(calls, 2);
    for (int at = 0; at < 3; at++) EQUAL(statuses[at].MPI_TAG, 2 + at);
    /* Nothing at all, and nothing any more. */
    OK(MPI_Start(&all));
    operations[0] = MPI_REQUEST_NULL;
    OK(MPIX_Continue(&operations[0], counts, NULL, 0, MPI_STATUS_IGNORE, all));
    OK(MPIX_Continueall(0, NULL, counts, NULL, 0, MPI_STATUSES_IGNORE, all));
    EQUAL(calls, 4);
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&all));
}

/* Registered before the start, they run with it. */
static void started_later(void)
{
    int got = 0;
    MPI_Request all = continuation_request(0, 0, NULL, NULL), operation = starts(&got, 5);
    calls = 0;
    OK(MPIX_Continue(&operation, counts, NULL, 0, MPI_STATUS_IGNORE, all));
    exchange(1, 5);
    OK(MPI_Barrier(S));
    int flag, other = 0;
    MPI_Request last = starts(&other, 6);
    exchange(1, 6);
    OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
    EQUAL(calls, 0);
    OK(MPI_Start(&all));
    if (!behind_the_back) EQUAL(calls, 1);
    do OK(MPI_Test(&all, &flag, MPI_STATUS_IGNORE));
    while (behind_the_back && !flag);
    EQUAL(flag, 1);
    EQUAL(calls, 1);
    OK(MPI_Request_free(&all));
}

/* Polled for: in tests of the continuation request and nowhere else, so many in each. */
static void polled(int by_key)
{
    enum { MANY = 5 };
    int got[MANY], flag;
    MPI_Request all = by_key ? continuation_request(0, 2, "mpi_continue_poll_only", "true")
                             : continuation_request(MPIX_CONT_POLL_ONLY, 2, NULL, NULL);
    OK(MPI_Start(&all));
    calls = 0;
    for (int at = 0; at < MANY; at++) {
        MPI_Request operation = starts(&got[at], 7);
        OK(MPIX_Continue(&operation, counts, NULL, 0, MPI_STATUS_IGNORE, all));
    }
    for (int at = 0; at < MANY; at++) exchange(at, 7);
    int other = 0;
    MPI_Request last = starts(&other, 8);
    exchange(1, 8);
    OK(MPI_Wait(&last, MPI_STATUS_IGNORE));
    EQUAL(calls, 0);
    for (int round = 1, before = 0; before < MANY; round += calls > before, before = calls) {
        OK(MPI_Test(&all, &flag, MPI_STATUS_IGNORE));
        EQUAL(flag, calls == MANY);
        if (behind_the_back)
            CHECK(calls <= before + 2, "more than two ran in one test");
        else
            EQUAL(calls, round < 3 ? 2 * round : MANY);
    }
    /* A wait runs them all, alone and among others. */
    for (int among = 0; among < 3; among++) {
        int indx;
        OK(MPI_Start(&all));
        calls = 0;
        for (int at = 0; at < MANY; at++) {
            MPI_Request operation = starts(&got[at], 9);
            OK(MPIX_Continue(&operation, counts, NULL, 0, MPI_STATUS_IGNORE, all));
        }
        for (int at = 0; at < MANY; at++) exchange(at, 9);
        if (among == 0) OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
        if (among == 1) OK(MPI_Waitall(1, &all, MPI_STATUSES_IGNORE));
        if (among == 2) OK(MPI_Waitany(1, &all, &indx, MPI_STATUS_IGNORE));
        EQUAL(calls, MANY);
    }
    OK(MPI_Request_free(&all));
}

/* What is over already runs inside of MPIX_Continue, unless that is deferred. */
static void over_already(void)
{
    for (int deferred = 0; deferred < 3; deferred++) {
        int value = 1, got, flag;
        MPI_Request all = deferred == 1 ? continuation_request(0, 0, "mpi_continue_enqueue_complete", "true")
                                        : continuation_request(0, 0, NULL, NULL);
        MPI_Request in = starts(&got, 10), out;
        OK(MPI_Isend(&value, 1, MPI_INT, peer, 10, S, &out));
        OK(MPI_Wait(&in, MPI_STATUS_IGNORE));
        OK(MPI_Start(&all));
        calls = 0;
        OK(MPI_Request_get_status(out, &flag, MPI_STATUS_IGNORE));
        OK(MPIX_Continue(&out, counts, NULL, deferred == 2 ? MPIX_CONT_DEFER_COMPLETE : 0, MPI_STATUS_IGNORE, all));
        if (flag) EQUAL(calls, deferred == 0);
        OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
        EQUAL(calls, 1);
        OK(MPI_Request_free(&all));
    }
}

static void failed(void)
{
    int small = 0, two[2] = {1, 2}, count = 4, code, class;
    void *which[4];
    MPI_Status status;
    MPI_Request all = continuation_request(0, 0, NULL, NULL), operation = starts(&small, 11);
    OK(MPI_Start(&all));
    calls = 0;
    OK(MPIX_Continue(&operation, counts, &small, 0, &status, all));
    OK(MPI_Send(two, 2, MPI_INT, peer, 11, S)); /* too long */
    code = MPI_Wait(&all, MPI_STATUS_IGNORE);
    OK(MPI_Error_class(code, &class));
    EQUAL(class, MPI_ERR_TRUNCATE);
    EQUAL(calls, 0);
    EQUAL(status.MPI_ERROR, code);
    OK(MPIX_Continue_get_failed(all, &count, which));
    EQUAL(count, 1);
    CHECK(which[0] == &small, "another one failed");
    count = 4;
    OK(MPIX_Continue_get_failed(all, &count, which));
    EQUAL(count, 0);
    /* Called all the same, and told the code. */
    OK(MPI_Start(&all));
    operation = starts(&small, 11);
    OK(MPIX_Continue(&operation, counts, NULL, MPIX_CONT_INVOKE_FAILED, &status, all));
    OK(MPI_Send(two, 2, MPI_INT, peer, 11, S));
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    EQUAL(calls, 1);
    OK(MPI_Error_class(codes[0], &class));
    EQUAL(class, MPI_ERR_TRUNCATE);
    /* Failed because it says so; the others run. */
    OK(MPI_Start(&all));
    operation = starts(&small, 12);
    OK(MPIX_Continue(&operation, refuses, two, 0, MPI_STATUS_IGNORE, all));
    operation = starts(&small, 12);
    OK(MPIX_Continue(&operation, counts, NULL, 0, MPI_STATUS_IGNORE, all));
    exchange(1, 12);
    exchange(2, 12);
    REFUSED(MPI_Wait(&all, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    EQUAL(calls, 3);
    OK(MPI_Request_free(&all));
}

/* A persistent operation stays the program's; a continuation request is an operation itself. */
static void of_every_kind(void)
{
    int got = 0;
    MPI_Request all = continuation_request(0, 0, NULL, NULL), inner = continuation_request(0, 0, NULL, NULL), operation;
    MPI_Request kept;
    OK(MPI_Recv_init(&got, 1, MPI_INT, peer, 13, S, &kept));
    calls = 0;
    for (int round = 1; round <= 3; round++) {
        OK(MPI_Start(&all));
        OK(MPI_Start(&kept));
        OK(MPIX_Continue(&kept, counts, NULL, 0, MPI_STATUS_IGNORE, all));
        CHECK(kept != MPI_REQUEST_NULL, "a persistent request was taken");
        exchange(round, 13);
        OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
        EQUAL(calls, round);
    }
    OK(MPI_Request_free(&kept));
    calls = 0;
    OK(MPI_Start(&all));
    OK(MPI_Ibarrier(S, &operation));
    OK(MPIX_Continue(&operation, counts, NULL, 0, MPI_STATUS_IGNORE, all));
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    EQUAL(calls, 1);
    OK(MPI_Start(&all));
    OK(MPI_Start(&inner));
    operation = starts(&got, 14);
    OK(MPIX_Continue(&operation, counts, NULL, 0, MPI_STATUS_IGNORE, inner));
    OK(MPIX_Continue(&inner, counts, NULL, 0, MPI_STATUS_IGNORE, all));
    exchange(1, 14);
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    EQUAL(calls, 3);
    OK(MPI_Request_free(&inner));
    OK(MPI_Request_free(&all));
}

static void refused(void)
{
    int got, count = 1;
    void *which;
    MPI_Info info;
    MPI_Request all, other = starts(&got, 15), kept = other, null = MPI_REQUEST_NULL;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_continue_thread", "none"));
    REFUSED(MPIX_Continue_init(0, 0, info, &all), MPI_ERR_INFO_VALUE);
    OK(MPI_Info_free(&info));
    REFUSED(MPIX_Continue_init(1 << 20, 0, MPI_INFO_NULL, &all), MPI_ERR_ARG);
    REFUSED(MPIX_Continue_init(0, -1, MPI_INFO_NULL, &all), MPI_ERR_ARG);
    REFUSED(MPIX_Continue_init(0, 0, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    all = continuation_request(0, 0, NULL, NULL);
    REFUSED(MPIX_Continue(&other, NULL, NULL, 0, MPI_STATUS_IGNORE, all), MPI_ERR_ARG);
    REFUSED(MPIX_Continue(&other, counts, NULL, 1 << 20, MPI_STATUS_IGNORE, all), MPI_ERR_ARG);
    REFUSED(MPIX_Continue(NULL, counts, NULL, 0, MPI_STATUS_IGNORE, all), MPI_ERR_ARG);
    REFUSED(MPIX_Continue(&other, counts, NULL, 0, MPI_STATUS_IGNORE, null), MPI_ERR_REQUEST);
    REFUSED(MPIX_Continue(&other, counts, NULL, 0, MPI_STATUS_IGNORE, other), MPI_ERR_REQUEST);
    REFUSED(MPIX_Continue(&all, counts, NULL, 0, MPI_STATUS_IGNORE, all), MPI_ERR_REQUEST);
    REFUSED(MPIX_Continue_get_failed(other, &count, &which), MPI_ERR_REQUEST);
    /* Nothing was given away. */
    CHECK(other == kept, "a refused request was taken");
    exchange(1, 15);
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    REFUSED(MPIX_Continue(&kept, counts, NULL, 0, MPI_STATUS_IGNORE, all), MPI_ERR_REQUEST);
    /* A wait that cannot end, because handlers are disabled. */
    OK(MPI_Start(&all));
    other = starts(&got, 16);
    calls = 0;
    OK(MPIX_Continue(&other, counts, NULL, 0, MPI_STATUS_IGNORE, all));
    OK(Posthaste_Handlers_disable());
    REFUSED(MPI_Wait(&all, MPI_STATUS_IGNORE), MPI_ERR_PENDING);
    OK(MPI_Barrier(S));
    exchange(1, 16);
    REFUSED(MPI_Wait(&all, MPI_STATUS_IGNORE), MPI_ERR_PENDING);
    OK(Posthaste_Handlers_enable());
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    EQUAL(calls, 1);
    OK(MPI_Request_free(&all));
}

int main(int argc, char **argv)
{
    int wanted = getenv("POSTHASTE_TEST_MULTIPLE") ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, provided;
    OK(MPI_Init_thread(&argc, &argv, wanted, &provided));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &S));
    OK(MPI_Comm_rank(S, &rank));
    OK(MPI_Comm_size(S, &size));
    peer = (rank + 1) % size;
    behind_the_back = getenv("POSTHASTE_PROGRESS_THREAD") != NULL;
    OK(MPI_Comm_set_errhandler(S, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    one_and_several();
    started_later();
    polled(0);
    polled(1);
    over_already();
    failed();
    of_every_kind();
    refused();
    OK(MPI_Comm_free(&S));
    OK(MPI_Finalize());
    return 0;
}
