// ranks: 1 2
// only: posthaste
// alone
/* Every argument of every function of posthaste.h wrong in turn: null, stale, freed and foreign requests, handlers that are
 * attached twice, enabled too often, waited for while they are disabled. Each has its class and its sentence, and nothing is
 * lost. */
#include "bad_check.h"

#include <posthaste.h>

static MPI_Comm S;
static MPI_Status st;
static int calls, got;

static void counts(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
    calls++;
}

static int continues(int rc, void *data)
{
    (void)data;
    calls++;
    return rc;
}

static MPI_Request posted(void)
{
    MPI_Request made;
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 1, S, &made));
    return made;
}

static void serve(int value)
{
    OK(MPI_Send(&value, 1, MPI_INT, 0, 1, S));
}

static void requests(void)
{
    Posthaste_handler_function *handler = counts;
    void *state = &got;
    int where = -1;
    MPI_Request null = MPI_REQUEST_NULL;
    EACH(BAD_REQUEST, MPI_Request, w) {
        BAD(MPI_ERR_REQUEST, "request is ", Posthaste_Request_attach, &w, counts, NULL);
        BAD(MPI_ERR_REQUEST, "request is ", Posthaste_Request_attach, &w, POSTHASTE_HANDLER_NULL, NULL);
        BAD(MPI_ERR_REQUEST, "request is ", Posthaste_Request_detach, &w);
        BAD(MPI_ERR_REQUEST, "request is ", Posthaste_Request_get_handler, w, &handler, &state);
        BAD(MPI_ERR_REQUEST, "request is ", Posthaste_Request_watch, w);
        if (w != MPI_REQUEST_NULL) BAD(MPI_ERR_REQUEST, "request is ", Posthaste_Request_get_state, w, &where);
    }
    BAD(MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL, expected a request", Posthaste_Request_attach, &null, counts, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", Posthaste_Request_attach, NULL, counts, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", Posthaste_Request_detach, NULL);
    MPI_Request r = posted(), stale = r;
    BAD(MPI_ERR_ARG, "handler is NULL", Posthaste_Request_get_handler, r, NULL, &state);
    BAD(MPI_ERR_ARG, "extra_state is NULL", Posthaste_Request_get_handler, r, &handler, NULL);
    BAD(MPI_ERR_ARG, "state is NULL", Posthaste_Request_get_state, r, NULL);
    BAD(MPI_ERR_ARG, "flag is NULL", Posthaste_Handlers_are_disabled, NULL);
    BAD(MPI_ERR_ARG, "fd is NULL", Posthaste_Get_fd, NULL);
    CHECK(handler == counts && state == &got && where == -1, "a refused call has written something");
    serve(5);
    OK(MPI_Wait(&r, &st));
    BAD(MPI_ERR_REQUEST, "request is ", Posthaste_Request_attach, &stale, counts, NULL);
    BAD(MPI_ERR_REQUEST, "that was freed", Posthaste_Request_detach, &stale);
    EQUAL(calls, 0);
    EQUAL(got, 5);
}

/* Attached twice, the second one counts; detached twice, nothing is left to be detached. */
static void twice(void)
{
    MPI_Request r = posted();
    OK(Posthaste_Request_attach(&r, counts, NULL));
    OK(Posthaste_Request_attach(&r, counts, NULL));
    serve(6);
    OK(MPI_Wait(&r, &st));
    EQUAL(calls, 1);
    EQUAL(st.MPI_TAG, 1);
    r = posted();
    OK(Posthaste_Request_attach(&r, counts, NULL));
    OK(Posthaste_Request_detach(&r));
    OK(Posthaste_Request_detach(&r));
    serve(7);
    OK(MPI_Wait(&r, &st));
    EQUAL(calls, 1);
    EQUAL(got, 7);
}

static void disabled(void)
{
    int indx, count;
    MPI_Request r = posted(), kept;
    OK(Posthaste_Request_attach(&r, counts, NULL));
    BAD(MPI_ERR_OTHER, "enabled by a thread that has not disabled them", Posthaste_Handlers_enable);
    OK(Posthaste_Handlers_disable());
    kept = r;
    for (int finished = 0; finished < 2; finished++) {
        BAD(MPI_ERR_PENDING, "guaranteed deadlock", MPI_Wait, &r, &st);
        BAD(MPI_ERR_PENDING, "guaranteed deadlock", MPI_Waitall, 1, &r, &st);
        BAD(MPI_ERR_PENDING, "guaranteed deadlock", MPI_Waitany, 1, &r, &indx, &st);
        BAD(MPI_ERR_PENDING, "guaranteed deadlock", MPI_Waitsome, 1, &r, &count, &indx, &st);
        if (!finished) serve(8);
    }
    CHECK(r == kept, "a refused wait has taken the request");
    OK(Posthaste_Handlers_enable());
    BAD(MPI_ERR_OTHER, "enabled by a thread that has not disabled them", Posthaste_Handlers_enable);
    OK(MPI_Wait(&r, &st));
    EQUAL(calls, 2);
    EQUAL(got, 8);
}

static void started_twice(void)
{
    MPI_Request r;
    OK(MPI_Recv_init(&got, 1, MPI_INT, 0, 1, S, &r));
    OK(Posthaste_Request_attach(&r, counts, NULL));
    OK(MPI_Start(&r));
    BAD(MPI_ERR_REQUEST, "an active persistent request", MPI_Start, &r);
    serve(9);
    for (int state = 0, flag; state != POSTHASTE_FINISHED;) {
        OK(MPI_Iprobe(0, 9, S, &flag, MPI_STATUS_IGNORE));
        OK(Posthaste_Request_get_state(r, &state));
    }
    BAD(MPI_ERR_REQUEST, "a finished persistent request", MPI_Start, &r);
    OK(MPI_Wait(&r, &st));
    OK(MPI_Request_free(&r));
    EQUAL(calls, 3);
    EQUAL(got, 9);
}

static void continuations(void)
{
    MPI_Request all, r = posted(), kept = r, null = MPI_REQUEST_NULL;
    MPI_Info info;
    int count = 1, negative = -1;
    void *which;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_continue_poll_only", "perhaps"));
    BAD(MPI_ERR_INFO_VALUE, "mpi_continue_poll_only = perhaps, expected true or false", MPIX_Continue_init, 0, 0, info, &all);
    OK(MPI_Info_delete(info, "mpi_continue_poll_only"));
    OK(MPI_Info_set(info, "mpi_continue_max_poll", "many"));
    BAD(MPI_ERR_INFO_VALUE, "mpi_continue_max_poll = many, expected a number", MPIX_Continue_init, 0, 0, info, &all);
    OK(MPI_Info_free(&info));
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL)
        if (w != MPI_INFO_ENV) BAD(MPI_ERR_INFO, "info is ", MPIX_Continue_init, 0, 0, w, &all);
    BAD(MPI_ERR_ARG, "flags is 1024", MPIX_Continue_init, 1024, 0, MPI_INFO_NULL, &all);
    BAD(MPI_ERR_ARG, "max_poll is -1", MPIX_Continue_init, 0, -1, MPI_INFO_NULL, &all);
    BAD(MPI_ERR_ARG, "cont_req is NULL", MPIX_Continue_init, 0, 0, MPI_INFO_NULL, NULL);
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &all));
    OK(MPI_Start(&all));
    EACH_NOT_NULL(BAD_REQUEST, MPI_Request, w, MPI_REQUEST_NULL)
        BAD(MPI_ERR_REQUEST, "request is ", MPIX_Continue, &w, continues, NULL, 0, MPI_STATUS_IGNORE, all);
    EACH(BAD_REQUEST, MPI_Request, w) {
        BAD(MPI_ERR_REQUEST, " is ", MPIX_Continue, &r, continues, NULL, 0, MPI_STATUS_IGNORE, w);
        BAD(MPI_ERR_REQUEST, " is ", MPIX_Continue_get_failed, w, &count, &which);
    }
    BAD(MPI_ERR_REQUEST, "cont_req is MPI_REQUEST_NULL, expected a continuation request", MPIX_Continue, &r, continues, NULL, 0,
        MPI_STATUS_IGNORE, null);
    BAD(MPI_ERR_REQUEST, "which is another request", MPIX_Continue, &r, continues, NULL, 0, MPI_STATUS_IGNORE, r);
    BAD(MPI_ERR_REQUEST, "the continuation request itself", MPIX_Continue, &all, continues, NULL, 0, MPI_STATUS_IGNORE, all);
    BAD(MPI_ERR_ARG, "cb is NULL", MPIX_Continue, &r, NULL, NULL, 0, MPI_STATUS_IGNORE, all);
    BAD(MPI_ERR_ARG, "flags is 1024", MPIX_Continue, &r, continues, NULL, 1024, MPI_STATUS_IGNORE, all);
    BAD(MPI_ERR_ARG, "request is NULL", MPIX_Continue, NULL, continues, NULL, 0, MPI_STATUS_IGNORE, all);
    BAD(MPI_ERR_ARG, "array_of_requests is NULL", MPIX_Continueall, 1, NULL, continues, NULL, 0, MPI_STATUSES_IGNORE, all);
    BAD(MPI_ERR_COUNT, "count is -1", MPIX_Continueall, -1, &r, continues, NULL, 0, MPI_STATUSES_IGNORE, all);
    BAD(MPI_ERR_ARG, "count is NULL", MPIX_Continue_get_failed, all, NULL, &which);
    BAD(MPI_ERR_COUNT, "count is -1", MPIX_Continue_get_failed, all, &negative, &which);
    CHECK(r == kept, "a refused request was given away");
    EQUAL(calls, 3);
    MPI_Request twice[2] = {r, r};
    BAD(MPI_ERR_REQUEST, "for the second time", MPIX_Continueall, 2, twice, continues, NULL, 0, MPI_STATUSES_IGNORE, all);
    CHECK(twice[0] == r && twice[1] == r, "a refused request was given away");
    /* All of it has left the two requests as they were. What is given away is the program's no more. */
    OK(MPIX_Continue(&r, continues, NULL, 0, MPI_STATUS_IGNORE, all));
    BAD(MPI_ERR_REQUEST, "a continuation that has not run", MPIX_Continue, &kept, continues, NULL, 0, MPI_STATUS_IGNORE, all);
    BAD(MPI_ERR_REQUEST, "a continuation that has not run", Posthaste_Request_attach, &kept, counts, NULL);
    BAD(MPI_ERR_REQUEST, "a continuation that has not run", Posthaste_Request_detach, &kept);
    BAD(MPI_ERR_REQUEST, "a continuation that has not run", MPI_Request_free, &kept);
    serve(10);
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    EQUAL(calls, 4);
    EQUAL(got, 10);
    MPI_Request stale = all;
    OK(MPI_Request_free(&all));
    BAD(MPI_ERR_REQUEST, " is ", MPIX_Continue, &null, continues, NULL, 0, MPI_STATUS_IGNORE, stale);
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &S));
    OK(MPI_Comm_set_errhandler(S, MPI_ERRORS_RETURN));
    requests();
    twice();
    disabled();
    started_twice();
    continuations();
    OK(MPI_Comm_free(&S));
    return bad_end();
}
