// ranks: 1
// only: posthaste
// alone
/* Handlers of requests, rule by rule (docs/handlers.md): attached, replaced, detached and asked for; who completes the
 * request and who gets the status; disabled and enabled; for every kind of request. */
#include "check.h"

#include <posthaste.h>
#include <stdatomic.h>
#include <unistd.h>

enum { ME = 0, UNTOUCHED = 4711 };

static atomic_int calls;
static int order[16];
static MPI_Comm S;

/* So many calls, no more: with a progress thread they may still be about to return. */
static void called(int wanted, int line)
{
    for (int tries = 0; calls < wanted && tries < 10000; tries++) usleep(1000);
    if (calls != wanted) FAIL("line %d: %d calls, expected %d", line, calls, wanted);
}
#define CALLED(wanted) called(wanted, __LINE__)

/* Only counts, and is detached. */
static void counts(MPI_Request request, void *extra_state)
{
    CHECK(request != MPI_REQUEST_NULL, "the handler is given no request");
    if (calls < 16) order[calls] = extra_state ? *(int *)extra_state : 0;
    calls++; /* last */
}

/* Completes its request. */
static void completes(MPI_Request request, void *extra_state)
{
    MPI_Status status;
    OK(MPI_Wait(&request, &status));
    if (extra_state) *(MPI_Status *)extra_state = status;
    calls++;
}

/* Completes its request by a test, and looks at its state before and after. */
static void tests(MPI_Request request, void *extra_state)
{
    int state, flag, *fine = extra_state;
    OK(Posthaste_Request_get_state(request, &state));
    EQUAL(state, POSTHASTE_FINISHED);
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    EQUAL(flag, 1);
    OK(Posthaste_Request_get_state(request, &state));
    *fine = state;
    calls++;
}

static int state_of(MPI_Request request)
{
    int state = -1;
    OK(Posthaste_Request_get_state(request, &state));
    return state;
}

static int has_handler(MPI_Request request)
{
    Posthaste_handler_function *handler = NULL;
    void *extra_state = &calls;
    OK(Posthaste_Request_get_handler(request, &handler, &extra_state));
    CHECK(handler || !extra_state, "there is a state without a handler");
    return handler != POSTHASTE_HANDLER_NULL;
}

static MPI_Request posted(int *place, int tag)
{
    MPI_Request request;
    OK(MPI_Irecv(place, 1, MPI_INT, ME, tag, S, &request));
    return request;
}

static void send(int value, int tag)
{
    OK(MPI_Send(&value, 1, MPI_INT, ME, tag, S));
}

static MPI_Status marked(void)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = status.MPI_TAG = UNTOUCHED;
    return status;
}

static void attached_and_asked_for(void)
{
    int got = 0, state = 5;
    Posthaste_handler_function *handler;
    void *extra_state;
    MPI_Request request = posted(&got, 1);
    EQUAL(has_handler(request), 0);
    OK(Posthaste_Request_attach(&request, counts, &state));
    OK(Posthaste_Request_get_handler(request, &handler, &extra_state));
    CHECK(handler == counts && extra_state == &state, "it is another handler");
    OK(Posthaste_Request_detach(&request));
    EQUAL(has_handler(request), 0);
    OK(Posthaste_Request_attach(&request, completes, NULL));
    OK(Posthaste_Request_attach(&request, counts, &state));
    OK(Posthaste_Request_attach(&request, POSTHASTE_HANDLER_NULL, NULL));
    calls = 0;
    send(7, 1);
    MPI_Status status;
    OK(MPI_Wait(&request, &status));
    CALLED(0);
    EQUAL(status.MPI_TAG, 1);
    EQUAL(got, 7);
}

/* A handler that returns: the wait gets the status. */
static void returns_and_is_detached(void)
{
    int got = 0, flag;
    MPI_Request request = posted(&got, 2);
    calls = 0;
    OK(Posthaste_Request_attach(&request, counts, NULL));
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
    EQUAL(flag, 0);
    EQUAL(state_of(request), POSTHASTE_ACTIVE);
    send(8, 2);
    MPI_Status status = marked();
    OK(MPI_Wait(&request, &status));
    CALLED(1);
    EQUAL(status.MPI_TAG, 2);
    CHECK(request == MPI_REQUEST_NULL, "the request is not null");
}

/* A handler that completes its request: whoever waits is told that it is over, and no status. */
static void completes_itself(void)
{
    int got = 0, flag = 0, indx = -1, fine = -1;
    for (int how = 0; how < 8; how++) {
        MPI_Status inside = marked(), outside = marked();
        MPI_Request request = posted(&got, 3), copy = request;
        calls = 0;
        if (how == 7) OK(Posthaste_Request_attach(&request, tests, &fine));
        else OK(Posthaste_Request_attach(&request, completes, &inside));
        send(9 + how, 3);
        switch (how) {
        case 0: OK(MPI_Wait(&request, &outside)); break;
        case 1:
            for (flag = 0; !flag;) OK(MPI_Test(&request, &flag, &outside));
            break;
        case 2:
            OK(MPI_Waitany(1, &request, &indx, &outside));
            EQUAL(indx, 0);
            break;
        case 3: OK(MPI_Waitall(1, &request, &outside)); break;
        case 4: OK(MPI_Waitsome(1, &request, &flag, &indx, &outside)); break;
        case 5:
            for (flag = 0; !flag;) OK(MPI_Testall(1, &request, &flag, &outside));
            break;
        case 6: /* completed long before anybody waits */
            while (!calls) OK(MPI_Iprobe(ME, 77, S, &flag, MPI_STATUS_IGNORE));
            EQUAL(state_of(request), POSTHASTE_NULL);
            OK(MPI_Wait(&request, &outside));
            break;
        case 7: OK(MPI_Wait(&request, &outside)); break;
        }
        CALLED(1);
        EQUAL(got, 9 + how);
        if (how < 7) EQUAL(inside.MPI_TAG, 3);
        else EQUAL(fine, POSTHASTE_NULL);
        EQUAL(outside.MPI_TAG, UNTOUCHED);
        EQUAL(outside.MPI_SOURCE, UNTOUCHED);
        CHECK(request == MPI_REQUEST_NULL, "the request is not null, way %d", how);
        REFUSED(MPI_Wait(&copy, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    }
}

/* The current handler of a finished request comes first; the new one at once, if the request is still finished. */
static void attached_to_what_is_finished(void)
{
    int got = 0, first = 1, second = 2, flag;
    MPI_Status status = marked();
    MPI_Request request = posted(&got, 4);
    calls = 0;
    OK(Posthaste_Handlers_disable());
    OK(Posthaste_Request_attach(&request, counts, &first));
    send(1, 4);
    while (state_of(request) != POSTHASTE_FINISHED) OK(MPI_Iprobe(ME, 77, S, &flag, MPI_STATUS_IGNORE));
    CALLED(0);
    OK(Posthaste_Handlers_enable());
    CALLED(1);
    OK(Posthaste_Request_attach(&request, counts, &second));
    CALLED(2);
    EQUAL(order[0], 1);
    EQUAL(order[1], 2);
    EQUAL(has_handler(request), 0);
    OK(MPI_Wait(&request, &status));
    EQUAL(status.MPI_TAG, 4);

    /* A short send is over when it is started. */
    int value = 3;
    MPI_Status inside = marked();
    OK(MPI_Irecv(&got, 1, MPI_INT, ME, 5, S, &request));
    MPI_Request sent;
    OK(MPI_Isend(&value, 1, MPI_INT, ME, 5, S, &sent));
    calls = 0;
    OK(Posthaste_Request_attach(&sent, completes, &inside));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    status = marked();
    OK(MPI_Wait(&sent, &status));
    CALLED(1);
    EQUAL(status.MPI_TAG, UNTOUCHED);
    CHECK(sent == MPI_REQUEST_NULL, "the send is not null");
}

static void persistent(void)
{
    int got = 0, flag;
    MPI_Request request;
    MPI_Status inside = marked(), outside;
    OK(MPI_Recv_init(&got, 1, MPI_INT, ME, 6, S, &request));
    EQUAL(state_of(request), POSTHASTE_INACTIVE);
    OK(Posthaste_Request_attach(&request, completes, &inside));
    EQUAL(state_of(request), POSTHASTE_INACTIVE);
    calls = 0;
    for (int round = 1; round <= 3; round++) {
        OK(MPI_Start(&request));
        EQUAL(state_of(request), POSTHASTE_ACTIVE);
        REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
        send(round, 6);
        outside = marked();
        OK(MPI_Wait(&request, &outside));
        CALLED(round);
        EQUAL(got, round);
        EQUAL(inside.MPI_TAG, 6);
        EQUAL(outside.MPI_TAG, UNTOUCHED);
        EQUAL(state_of(request), POSTHASTE_INACTIVE);
        EQUAL(has_handler(request), 1);
    }
    /* Detached by returning; without a handler the next starts are as ever. */
    OK(Posthaste_Request_attach(&request, counts, NULL));
    OK(MPI_Start(&request));
    send(9, 6);
    OK(MPI_Wait(&request, &outside));
    EQUAL(outside.MPI_TAG, 6);
    EQUAL(has_handler(request), 0);
    OK(MPI_Start(&request));
    send(10, 6);
    OK(MPI_Wait(&request, &outside));
    CALLED(4);
    /* Finished, and not completed: it cannot be started. */
    OK(MPI_Start(&request));
    send(11, 6);
    while (state_of(request) != POSTHASTE_FINISHED) OK(MPI_Iprobe(ME, 77, S, &flag, MPI_STATUS_IGNORE));
    REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
    CHECK(strstr(check_text(MPI_ERR_REQUEST), "a finished persistent request"), "%s", check_text(MPI_ERR_REQUEST));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Request_free(&request));

    /* A send, which is over at once. */
    OK(MPI_Send_init(&got, 1, MPI_INT, ME, 6, S, &request));
    OK(Posthaste_Request_attach(&request, completes, NULL));
    calls = 0;
    for (int round = 1; round <= 3; round++) {
        int place;
        MPI_Request in = posted(&place, 6);
        OK(MPI_Start(&request));
        OK(MPI_Wait(&in, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CALLED(round);
    }
    OK(MPI_Request_free(&request));
}

static void cancelled(void)
{
    int got = 0, flag = 0;
    MPI_Status inside = marked();
    MPI_Request request = posted(&got, 7);
    calls = 0;
    OK(Posthaste_Request_attach(&request, completes, &inside));
    OK(MPI_Cancel(&request));
    CALLED(1);
    OK(MPI_Test_cancelled(&inside, &flag));
    EQUAL(flag, 1);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void disabled(void)
{
    int got = 0, flag = 1, indx, value = 4;
    MPI_Status status = marked();
    MPI_Request request = posted(&got, 8), other;
    OK(Posthaste_Request_attach(&request, counts, NULL));
    calls = 0;
    OK(Posthaste_Handlers_disable());
    OK(Posthaste_Handlers_disable());
    OK(Posthaste_Handlers_are_disabled(&flag));
    EQUAL(flag, 1);
    for (int finished = 0; finished < 2; finished++) {
        OK(MPI_Test(&request, &flag, &status));
        EQUAL(flag, 0);
        REFUSED(MPI_Wait(&request, &status), MPI_ERR_PENDING);
        CHECK(strstr(check_text(MPI_ERR_PENDING), "guaranteed deadlock"), "%s", check_text(MPI_ERR_PENDING));
        REFUSED(MPI_Waitany(1, &request, &indx, &status), MPI_ERR_PENDING);
        REFUSED(MPI_Waitsome(1, &request, &flag, &indx, &status), MPI_ERR_PENDING);
        REFUSED(MPI_Waitall(1, &request, &status), MPI_ERR_PENDING);
        OK(MPI_Testall(1, &request, &flag, &status));
        EQUAL(flag, 0);
        CHECK(request != MPI_REQUEST_NULL && status.MPI_TAG == UNTOUCHED, "a refused wait has changed something");
        if (!finished) send(value, 8);
    }
    CALLED(0);
    EQUAL(state_of(request), POSTHASTE_FINISHED);
    /* Others go on, and a wait for one of several may end. */
    other = posted(&got, 9);
    send(5, 9);
    MPI_Request both[2] = {request, other};
    OK(MPI_Waitany(2, both, &indx, &status));
    EQUAL(indx, 1);
    OK(Posthaste_Handlers_enable());
    CALLED(0);
    OK(Posthaste_Handlers_enable());
    CALLED(1);
    REFUSED(Posthaste_Handlers_enable(), MPI_ERR_OTHER);
    OK(MPI_Wait(&request, &status));
    EQUAL(status.MPI_TAG, 8);
    /* Detached, it can be completed. */
    request = posted(&got, 8);
    OK(Posthaste_Request_attach(&request, counts, NULL));
    OK(Posthaste_Handlers_disable());
    send(6, 8);
    OK(MPI_Test(&request, &flag, &status));
    EQUAL(flag, 0);
    OK(Posthaste_Request_detach(&request));
    OK(MPI_Wait(&request, &status));
    OK(Posthaste_Handlers_enable());
    CALLED(1);
}

static int nothing_to_query(void *extra_state, MPI_Status *status)
{
    (void)extra_state;
    OK(MPI_Status_set_elements(status, MPI_INT, 3));
    OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = status->MPI_TAG = 42;
    return MPI_SUCCESS;
}

static int nothing_to_free(void *extra_state)
{
    ++*(int *)extra_state;
    return MPI_SUCCESS;
}

static int nothing_to_cancel(void *extra_state, int complete)
{
    (void)extra_state, (void)complete;
    return MPI_SUCCESS;
}

/* The same for requests of every kind: each handler is called once, and completes its request. */
static void every_kind(void)
{
    int data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, room[8], freed = 0, flag;
    char buffer[1000 + MPI_BSEND_OVERHEAD];
    MPI_Request request, in;
    MPI_Message message;
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Status status;
#define HANDLED(start, finish)                                          \
    do {                                                                \
        calls = 0;                                                      \
        status = marked();                                              \
        start;                                                          \
        OK(Posthaste_Request_attach(&request, completes, NULL));        \
        finish;                                                         \
        OK(MPI_Wait(&request, &status));                                \
        CALLED(1);                                                \
        CHECK(status.MPI_TAG == UNTOUCHED, "%s tells a status", #start); \
    } while (0)
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    HANDLED(OK(MPI_Ibsend(data, 1, MPI_INT, ME, 10, S, &request)), OK(MPI_Recv(room, 1, MPI_INT, ME, 10, S, MPI_STATUS_IGNORE)));
    HANDLED(OK(MPI_Issend(data, 1, MPI_INT, ME, 10, S, &request)), OK(MPI_Recv(room, 1, MPI_INT, ME, 10, S, MPI_STATUS_IGNORE)));
    in = posted(room, 10);
    HANDLED(OK(MPI_Irsend(data, 1, MPI_INT, ME, 10, S, &request)), OK(MPI_Wait(&in, MPI_STATUS_IGNORE)));
    send(1, 10);
    HANDLED(OK(MPI_Mprobe(ME, 10, S, &message, MPI_STATUS_IGNORE)); OK(MPI_Imrecv(room, 1, MPI_INT, &message, &request)), );
    HANDLED(OK(MPI_Ibarrier(S, &request)), );
    HANDLED(OK(MPI_Iallreduce(data, room, 8, MPI_INT, MPI_SUM, S, &request)), );
    EQUAL(room[7], 8);
    HANDLED(OK(MPI_Isendrecv(data, 1, MPI_INT, ME, 11, room, 1, MPI_INT, ME, 11, S, &request)), );
    HANDLED(OK(MPI_Comm_idup(S, &made, &request)), );
    CHECK(made != MPI_COMM_NULL, "no communicator was made");
    OK(MPI_Barrier(made));
    OK(MPI_Comm_free(&made));
    HANDLED(OK(MPI_Grequest_start(nothing_to_query, nothing_to_free, nothing_to_cancel, &freed, &request)),
        OK(MPI_Grequest_complete(request)); CALLED(1));
    EQUAL(freed, 1);
    HANDLED(OK(MPI_Irecv(room, 1, MPI_INT, MPI_PROC_NULL, 1, S, &request)), );
    OK(MPI_Buffer_detach(&buffer, &flag));

    /* Persistent ones: collective and partitioned, several starts. */
    OK(MPI_Allreduce_init(data, room, 8, MPI_INT, MPI_SUM, S, MPI_INFO_NULL, &request));
    OK(Posthaste_Request_attach(&request, completes, NULL));
    calls = 0;
    for (int round = 1; round <= 3; round++) {
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CALLED(round);
    }
    OK(MPI_Request_free(&request));
    MPI_Request parts[2];
    OK(MPI_Psend_init(data, 2, 4, MPI_INT, ME, 12, S, MPI_INFO_NULL, &parts[0]));
    OK(MPI_Precv_init(room, 2, 4, MPI_INT, ME, 12, S, MPI_INFO_NULL, &parts[1]));
    OK(Posthaste_Request_attach(&parts[0], completes, NULL));
    OK(Posthaste_Request_attach(&parts[1], completes, NULL));
    calls = 0;
    for (int round = 1; round <= 3; round++) {
        OK(MPI_Startall(2, parts));
        OK(MPI_Pready(1, parts[0]));
        OK(MPI_Pready(0, parts[0]));
        OK(MPI_Waitall(2, parts, MPI_STATUSES_IGNORE));
        CALLED(2 * round);
        EQUAL(room[7], 8);
    }
    OK(MPI_Request_free(&parts[0]));
    OK(MPI_Request_free(&parts[1]));
}

/* Any call is an opportunity, also one that does not wait. */
static void at_the_earliest_opportunity(void)
{
    int got = 0, value = 1, me;
    MPI_Request request = posted(&got, 13);
    calls = 0;
    OK(Posthaste_Request_attach(&request, completes, NULL));
    OK(MPI_Send(&value, 1, MPI_INT, ME, 13, S));
    for (int tries = 0; tries < 3; tries++) OK(MPI_Send(&value, 1, MPI_INT, ME, 14, S));
    for (int tries = 0; tries < 3; tries++) OK(MPI_Recv(&got, 1, MPI_INT, ME, 14, S, MPI_STATUS_IGNORE));
    OK(MPI_Comm_rank(S, &me));
    CALLED(1);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void refused(void)
{
    MPI_Request null = MPI_REQUEST_NULL, wild = (MPI_Request)(size_t)0x12345, other = (MPI_Request)MPI_COMM_SELF, freed;
    MPI_Request *bad[] = {&null, &wild, &other, &freed};
    Posthaste_handler_function *handler;
    void *extra_state;
    int got, state;
    freed = posted(&got, 15);
    MPI_Request copy = freed;
    calls = 0;
    OK(Posthaste_Request_attach(&copy, counts, NULL));
    OK(MPI_Cancel(&copy));
    OK(MPI_Request_free(&copy));
    for (int which = 0; which < 4; which++) {
        REFUSED(Posthaste_Request_attach(bad[which], counts, NULL), MPI_ERR_REQUEST);
        REFUSED(Posthaste_Request_detach(bad[which]), MPI_ERR_REQUEST);
        REFUSED(Posthaste_Request_get_handler(*bad[which], &handler, &extra_state), MPI_ERR_REQUEST);
        if (which) REFUSED(Posthaste_Request_get_state(*bad[which], &state), MPI_ERR_REQUEST);
    }
    EQUAL(state_of(null), POSTHASTE_NULL);
    REFUSED(Posthaste_Request_attach(NULL, counts, NULL), MPI_ERR_ARG);
    REFUSED(Posthaste_Request_get_handler(posted(&got, 16), NULL, &extra_state), MPI_ERR_ARG);
    send(1, 16);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    CHECK(Posthaste_is_there(), "the library has no handlers");
    OK(MPI_Comm_dup(MPI_COMM_SELF, &S));
    OK(MPI_Comm_set_errhandler(S, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    attached_and_asked_for();
    returns_and_is_detached();
    completes_itself();
    attached_to_what_is_finished();
    persistent();
    cancelled();
    disabled();
    every_kind();
    at_the_earliest_opportunity();
    refused();
    OK(MPI_Comm_free(&S));
    OK(MPI_Finalize());
    return 0;
}
