// ranks: 1 2 3
// only: posthaste
/* Handlers and continuations of requests of one-sided communication, in windows of every flavor: of operations that succeed, and of those that the target refuses.
 * docs/handlers.md; MPI-5.0 section 12.3.5. */
#include "win.h"

#include <posthaste.h>

enum { KINDS = 4, UNTOUCHED = 4711 };

static int next, calls, data[2], got[2];
static struct window w;

static void completes(MPI_Request request, void *extra_state)
{
    MPI_Status status;
    *(int *)extra_state = MPI_Wait(&request, &status);
    CHECK(request == MPI_REQUEST_NULL, "the request is not over");
    calls++;
}

static void counts(MPI_Request request, void *extra_state)
{
    int state;
    OK(Posthaste_Request_get_state(request, &state));
    EQUAL(state, POSTHASTE_FINISHED);
    *(int *)extra_state = MPI_SUCCESS;
    calls++;
}

static int continues(int code, void *extra_state)
{
    *(int *)extra_state = code;
    calls++;
    return MPI_SUCCESS;
}

/* An operation of each kind at this displacement. */
static MPI_Request start(int kind, MPI_Aint at)
{
    MPI_Request made = MPI_REQUEST_NULL;
    data[0] = 40 + kind, got[0] = got[1] = -1;
    switch (kind) {
    case 0: OK(MPI_Rput(data, 1, MPI_INT, next, at, 1, MPI_INT, w.win, &made)); break;
    case 1: OK(MPI_Rget(got, 1, MPI_INT, next, at, 1, MPI_INT, w.win, &made)); break;
    case 2: OK(MPI_Raccumulate(data, 1, MPI_INT, next, at, 1, MPI_INT, MPI_REPLACE, w.win, &made)); break;
    default: OK(MPI_Rget_accumulate(data, 1, MPI_INT, got, 1, MPI_INT, next, at, 1, MPI_INT, MPI_SUM, w.win, &made));
    }
    return made;
}

/* What it has done: after the put of 40 and its get, the accumulate makes it 42, the last one reads that and adds 43. */
static void done(int kind)
{
    int found = -1;
    OK(MPI_Win_flush(next, w.win));
    OK(MPI_Get(&found, 1, MPI_INT, next, place(&w, next, rank), 1, MPI_INT, w.win));
    OK(MPI_Win_flush(next, w.win));
    EQUAL(found, kind < 2 ? 40 : kind == 2 ? 42 : 85);
    EQUAL(got[0], kind == 1 ? 40 : kind == 3 ? 42 : -1);
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

static void succeed(void)
{
    MPI_Request all, request;
    int code;
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &all));
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Status status;
        memset(&status, 0, sizeof status);
        status.MPI_TAG = UNTOUCHED;
        calls = 0, code = -1;
        request = start(kind, place(&w, next, rank));
        OK(Posthaste_Request_attach(&request, completes, &code));
        OK(MPI_Wait(&request, &status));
        CHECK(calls == 1 && code == MPI_SUCCESS && request == MPI_REQUEST_NULL, "kind %d: %d calls, code %d", kind, calls, code);
        EQUAL(status.MPI_TAG, UNTOUCHED);
        done(kind);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        calls = 0, code = -1;
        request = start(kind, place(&w, next, rank));
        OK(Posthaste_Request_attach(&request, counts, &code));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(calls == 1 && code == MPI_SUCCESS, "kind %d: %d calls, code %d", kind, calls, code);
        done(kind);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        calls = 0, code = -1;
        OK(MPI_Start(&all));
        request = start(kind, place(&w, next, rank));
        OK(MPIX_Continue(&request, continues, &code, 0, MPI_STATUS_IGNORE, all));
        CHECK(request == MPI_REQUEST_NULL, "the request was not taken");
        OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
        CHECK(calls == 1 && code == MPI_SUCCESS, "kind %d: %d calls, code %d", kind, calls, code);
        done(kind);
    }
    /* Several together, at different elements. */
    MPI_Request four[KINDS];
    int old[2] = {-1, -1};
    calls = 0, code = -1;
    OK(MPI_Start(&all));
    data[0] = 7, data[1] = 8;
    OK(MPI_Rput(data, 1, MPI_INT, next, place(&w, next, rank), 1, MPI_INT, w.win, &four[0]));
    OK(MPI_Rget(old, 1, MPI_INT, next, place(&w, next, size), 1, MPI_INT, w.win, &four[1]));
    OK(MPI_Rget_accumulate(NULL, 0, MPI_INT, old + 1, 1, MPI_INT, next, place(&w, next, size), 1, MPI_INT, MPI_NO_OP, w.win, &four[2]));
    four[3] = MPI_REQUEST_NULL;
    OK(MPIX_Continueall(KINDS, four, continues, &code, 0, MPI_STATUSES_IGNORE, all));
    OK(MPI_Wait(&all, MPI_STATUS_IGNORE));
    CHECK(calls == 1 && code == MPI_SUCCESS && old[0] == 0 && old[1] == 0, "%d calls, code %d: %d, %d", calls, code, old[0], old[1]);
    OK(MPI_Request_free(&all));
}

/* In a dynamic window, where nothing is attached. */
static void fail(void)
{
    const MPI_Aint nowhere = place(&w, next, 1 << 26);
    MPI_Request all, told, request;
    int code, other;
    void *failed[2] = {NULL, NULL};
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &all));
    OK(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &told));
    /* Only what has a result waits for the target's word. */
    for (int kind = 1; kind < KINDS; kind += 2) {
        calls = 0, code = -1;
        request = start(kind, nowhere);
        OK(Posthaste_Request_attach(&request, completes, &code));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(calls == 1 && request == MPI_REQUEST_NULL, "kind %d: %d calls", kind, calls);
        EQUAL(class_of(code), MPI_ERR_RMA_RANGE);
        /* Who only looks leaves the error to the wait. */
        calls = 0;
        request = start(kind, nowhere);
        OK(Posthaste_Request_attach(&request, counts, &code));
        REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
        CHECK(calls == 1 && request == MPI_REQUEST_NULL, "kind %d: %d calls", kind, calls);
        /* A continuation is not called, and its number is told; or it is called with the code. */
        calls = 0, code = other = -1;
        OK(MPI_Start(&all));
        request = start(kind, nowhere);
        OK(MPIX_Continue(&request, continues, &code, 0, MPI_STATUS_IGNORE, all));
        request = start(1, place(&w, next, rank));
        OK(MPIX_Continue(&request, continues, &other, 0, MPI_STATUS_IGNORE, all));
        REFUSED(MPI_Wait(&all, MPI_STATUS_IGNORE), MPI_ERR_RMA_RANGE);
        CHECK(calls == 1 && code == -1 && other == MPI_SUCCESS, "kind %d: %d calls, codes %d, %d", kind, calls, code, other);
        int many = 2;
        OK(MPIX_Continue_get_failed(all, &many, failed));
        CHECK(many == 1 && failed[0] == &code, "kind %d: %d have failed", kind, many);
        calls = 0, code = -1;
        OK(MPI_Start(&told));
        request = start(kind, nowhere);
        OK(MPIX_Continue(&request, continues, &code, MPIX_CONT_INVOKE_FAILED, MPI_STATUS_IGNORE, told));
        OK(MPI_Wait(&told, MPI_STATUS_IGNORE));
        EQUAL(calls, 1);
        EQUAL(class_of(code), MPI_ERR_RMA_RANGE);
        EQUAL(got[0], -1);
    }
    OK(MPI_Request_free(&all));
    OK(MPI_Request_free(&told));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (rank + 1) % size;
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        w = make_window(flavor, size + 1, sizeof(int));
        OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, w.win));
        succeed();
        if (flavor == DYNAMIC) fail();
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        free_window(&w);
    }
    return check_end();
}
