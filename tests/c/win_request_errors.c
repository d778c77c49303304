// ranks: 2 3
/* What goes wrong with an operation that has a request is raised on its window when the request is completed, not on a
 * communicator. MPI-5.0 sections 9.3, 12.6. */
#include "win.h"

static int called, code_seen;
static MPI_Win raised;

static void note(MPI_Win *win, int *code, ...)
{
    called++;
    raised = *win;
    code_seen = *code;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    struct window w = make_window(DYNAMIC, 4, sizeof(int));
    MPI_Errhandler handler;
    MPI_Request request;
    int got = 0, class = MPI_SUCCESS, next = (rank + 1) % size;
    OK(MPI_Win_create_errhandler(note, &handler));
    OK(MPI_Win_set_errhandler(w.win, handler));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, next, 0, w.win));
    /* The last elements of this access are attached nowhere. */
    OK(MPI_Rget(&got, 1, MPI_INT, next, place(&w, next, 1 << 28), 1, MPI_INT, w.win, &request));
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(code != MPI_SUCCESS && called == 1 && raised == w.win && code_seen == code, "%d calls", called);
    OK(MPI_Error_class(code, &class));
    EQUAL(class, MPI_ERR_RMA_RANGE);
    OK(MPI_Rget(&got, 1, MPI_INT, next, place(&w, next, 1), 1, MPI_INT, w.win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(called, 1);
    OK(MPI_Win_unlock(next, w.win));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free_window(&w);
    return check_end();
}
