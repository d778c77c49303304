/* beside.c: posthaste.h in every language, without a warning, and what becomes of a program that uses it with another library
 * of the standard ABI. Built and run by `cargo xtask test` (part `headers`). */
#include <posthaste.h>

static int calls = 0;

static void counts(MPI_Request request, void *extra_state)
{
    (void)request;
    (void)extra_state;
    calls++;
}

static int continues(int rc, void *data)
{
    (void)data;
    calls++;
    return rc;
}

int main(int argc, char **argv)
{
    int value = 1, got = 0, code, state = -1, flag = -1, failed = 0;
    MPI_Request request, all;
    Posthaste_handler_function *handler = POSTHASTE_HANDLER_NULL;
    void *extra_state = &value;
    MPI_Init(&argc, &argv);
    printf("beside: handlers are %s\n", Posthaste_is_there() ? "there" : "not there");
    MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
    code = Posthaste_Request_attach(&request, counts, &value);
    if (code != MPI_SUCCESS) {
        printf("beside: refused with %s\n", code == MPI_ERR_UNSUPPORTED_OPERATION ? "the right error" : "another error");
        MPI_Finalize();
        return 0;
    }
    Posthaste_Request_get_handler(request, &handler, &extra_state);
    Posthaste_Request_get_state(request, &state);
    Posthaste_Handlers_disable();
    Posthaste_Handlers_are_disabled(&flag);
    Posthaste_Handlers_enable();
    Posthaste_Request_detach(&request);
    MPIX_Continue_init(0, 0, MPI_INFO_NULL, &all);
    MPI_Start(&all);
    MPIX_Continue(&request, continues, &value, 0, MPI_STATUS_IGNORE, all);
    MPIX_Continueall(0, NULL, continues, &value, 0, MPI_STATUSES_IGNORE, all);
    MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    MPI_Wait(&all, MPI_STATUS_IGNORE);
    MPIX_Continue_get_failed(all, &failed, &extra_state);
    MPI_Request_free(&all);
    printf("beside: %d calls, state %d, %s\n", calls, state, handler == counts && flag == 1 && !failed ? "fine" : "wrong");
    MPI_Finalize();
    return 0;
}
