// ranks: 1
// only: posthaste
/* What a handler does to its own request, and to others: it replaces itself, detaches itself, frees, cancels and starts its
 * request, attaches itself anew, asks for itself, disables handlers. Each message has its call, and nothing is lost. */
#include "check.h"

#include <posthaste.h>

enum { TAG = 1, OTHER = 2 };

static int calls, seconds, got, value = 7;
static MPI_Comm S;

static void second(MPI_Request request, void *extra_state)
{
    (void)request;
    EQUAL(*(int *)extra_state, 7);
    seconds++;
}

/* The new one is due when this one has returned, for the request is still finished. */
static void replaces(MPI_Request request, void *extra_state)
{
    Posthaste_handler_function *handler;
    void *state;
    calls++;
    OK(Posthaste_Request_get_handler(request, &handler, &state));
    CHECK(handler == replaces && state == extra_state, "it is asked for another handler");
    OK(Posthaste_Request_attach(&request, second, extra_state));
    EQUAL(seconds, 0); /* not inside this one */
    OK(Posthaste_Request_get_handler(request, &handler, &state));
    CHECK(handler == second, "it is not replaced");
}

static void completes_and_replaces(MPI_Request request, void *extra_state)
{
    calls++;
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (request != MPI_REQUEST_NULL) OK(Posthaste_Request_attach(&request, second, extra_state));
}

static void detaches(MPI_Request request, void *extra_state)
{
    Posthaste_handler_function *handler;
    void *state;
    (void)extra_state;
    calls++;
    OK(Posthaste_Request_detach(&request));
    OK(Posthaste_Request_detach(&request)); /* again: there is none */
    OK(Posthaste_Request_get_handler(request, &handler, &state));
    CHECK(handler == POSTHASTE_HANDLER_NULL && state == NULL, "it is still attached");
}

static void frees(MPI_Request request, void *extra_state)
{
    (void)extra_state;
    calls++;
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL, "a freed request is not null");
}

static void cancels(MPI_Request request, void *extra_state)
{
    MPI_Status status;
    int flag = -1;
    (void)extra_state;
    calls++;
    OK(MPI_Cancel(&request)); /* too late */
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    EQUAL(flag, 0);
}

/* Starts its request before it has completed it, which is an error, and then three times more, each time with a message that is
 * there before it returns. */
static void starts(MPI_Request request, void *extra_state)
{
    static int depth;
    (void)extra_state;
    EQUAL(depth++, 0); /* not inside itself */
    REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (++calls < 4) {
        OK(MPI_Start(&request));
        OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, S));
    }
    depth--;
}

/* Attaches itself to the request of the next message. */
static void goes_on(MPI_Request request, void *extra_state)
{
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (++calls == 100) return;
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, TAG, S, extra_state));
    OK(Posthaste_Request_attach(extra_state, goes_on, extra_state));
    OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, S));
}

/* This one goes on; the next one has to wait. */
static void disables(MPI_Request request, void *extra_state)
{
    MPI_Request *other = extra_state;
    int flag = -1, state = -1;
    calls++;
    OK(Posthaste_Handlers_disable());
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, OTHER, S, other));
    OK(Posthaste_Request_attach(other, second, &value));
    OK(MPI_Send(&value, 1, MPI_INT, 0, OTHER, S));
    while (state != POSTHASTE_FINISHED) {
        OK(MPI_Iprobe(0, 99, S, &flag, MPI_STATUS_IGNORE));
        OK(Posthaste_Request_get_state(*other, &state));
    }
    EQUAL(seconds, 0);
    REFUSED(MPI_Wait(other, MPI_STATUS_IGNORE), MPI_ERR_PENDING);
    OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE)); /* its own, which runs already */
    EQUAL(flag, 1);
    OK(Posthaste_Handlers_enable()); /* that runs it */
    EQUAL(seconds, 1);
}

static MPI_Request with(Posthaste_handler_function *handler, void *extra_state)
{
    MPI_Request request;
    calls = seconds = got = 0;
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, TAG, S, &request));
    OK(Posthaste_Request_attach(&request, handler, extra_state));
    OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, S));
    return request;
}

static void of_ordinary_requests(void)
{
    MPI_Status status;
    MPI_Request request = with(replaces, &value), other;
    OK(MPI_Wait(&request, &status));
    EQUAL(calls + 10 * seconds, 11);
    EQUAL(status.MPI_TAG, TAG); /* none of the two has completed it */
    request = with(completes_and_replaces, &value);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(calls + 10 * seconds, 1); /* there was nothing any more to attach to */
    request = with(detaches, NULL);
    OK(MPI_Wait(&request, &status));
    EQUAL(calls, 1);
    EQUAL(status.MPI_TAG, TAG);
    request = with(cancels, NULL);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(calls, 1);
    request = with(frees, NULL);
    for (int flag; calls == 0;) OK(MPI_Iprobe(0, 99, S, &flag, MPI_STATUS_IGNORE));
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    EQUAL(got, value);
    request = with(goes_on, &other);
    for (int flag; calls < 100;) OK(MPI_Iprobe(0, 99, S, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    request = with(disables, &other);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&other, &status));
    EQUAL(status.MPI_TAG, OTHER);
}

static MPI_Request persistent_with(Posthaste_handler_function *handler, void *extra_state)
{
    MPI_Request request;
    calls = seconds = 0;
    OK(MPI_Recv_init(&got, 1, MPI_INT, 0, TAG, S, &request));
    OK(Posthaste_Request_attach(&request, handler, extra_state));
    OK(MPI_Start(&request));
    OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, S));
    return request;
}

static void of_persistent_requests(void)
{
    MPI_Status status;
    MPI_Request request = persistent_with(starts, NULL);
    for (int flag; calls < 4;) OK(MPI_Iprobe(0, 99, S, &flag, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(calls, 4);
    OK(MPI_Request_free(&request));
    /* Replaced while it was inactive again: the new one is for the next message. */
    request = persistent_with(completes_and_replaces, &value);
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(calls + 10 * seconds, 1);
    OK(MPI_Start(&request));
    OK(MPI_Send(&value, 1, MPI_INT, 0, TAG, S));
    OK(MPI_Wait(&request, &status));
    EQUAL(calls + 10 * seconds, 11);
    EQUAL(status.MPI_TAG, TAG);
    OK(MPI_Request_free(&request));
    request = persistent_with(frees, NULL);
    for (int flag; calls == 0;) OK(MPI_Iprobe(0, 99, S, &flag, MPI_STATUS_IGNORE));
    REFUSED(MPI_Start(&request), MPI_ERR_REQUEST);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &S));
    OK(MPI_Comm_set_errhandler(S, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    of_ordinary_requests();
    of_persistent_requests();
    OK(MPI_Comm_free(&S));
    OK(MPI_Finalize());
    return 0;
}
