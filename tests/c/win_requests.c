// ranks: 1 2 3
/* Operations with requests: they end by any wait or test, also after the target has gone on, and a flush completes them
 * at the target. MPI-5.0 section 12.3.5. */
#include "win.h"

enum { MOST = 50, LONG = 30000 };

static void all_kinds(enum flavor flavor)
{
    struct window w = make_window(flavor, 4 * MOST, sizeof(int));
    int next = (rank + 1) % size, values[MOST], old[MOST], got[MOST], index, flag;
    MPI_Request requests[3 * MOST];
    MPI_Status statuses[3 * MOST];
    OK(MPI_Win_lock_all(0, w.win));
    for (int i = 0; i < MOST; i++) {
        values[i] = 1000 * rank + i;
        OK(MPI_Rput(&values[i], 1, MPI_INT, next, place(&w, next, i), 1, MPI_INT, w.win, &requests[3 * i]));
        OK(MPI_Raccumulate(&values[i], 1, MPI_INT, next, place(&w, next, MOST + i), 1, MPI_INT, MPI_SUM, w.win,
                           &requests[3 * i + 1]));
        OK(MPI_Rget_accumulate(&values[i], 1, MPI_INT, &old[i], 1, MPI_INT, next, place(&w, next, 2 * MOST + i), 1,
                               MPI_INT, MPI_REPLACE, w.win, &requests[3 * i + 2]));
    }
    OK(MPI_Waitany(3 * MOST, requests, &index, &statuses[0]));
    OK(MPI_Waitall(3 * MOST, requests, statuses));
    OK(MPI_Win_flush(next, w.win));
    for (int i = 0; i < MOST; i++) {
        EQUAL(old[i], 0);
        OK(MPI_Rget_c(&got[i], 1, MPI_INT, next, place(&w, next, i), 1, MPI_INT, w.win, &requests[i]));
    }
    for (int i = 0; i < MOST; i++) {
        do OK(MPI_Test(&requests[i], &flag, &statuses[0]));
        while (!flag);
        EQUAL(got[i], values[i]);
    }
    OK(MPI_Rget(got, MOST, MPI_INT, next, place(&w, next, MOST), MOST, MPI_INT, w.win, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    for (int i = 0; i < MOST; i++) EQUAL(got[i], values[i]);
    OK(MPI_Rput(got, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, w.win, &requests[0]));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock_all(w.win));
    free_window(&w);
}

/* Long ones of several pieces, and one whose request is freed. */
static void long_ones(enum flavor flavor)
{
    struct window w = make_window(flavor, 2 * LONG, sizeof(double));
    int next = (rank + 1) % size;
    double *data = malloc(LONG * sizeof(double)), *got = malloc(LONG * sizeof(double));
    MPI_Datatype gaps;
    MPI_Request request;
    OK(MPI_Type_vector(LONG / 100, 50, 100, MPI_DOUBLE, &gaps));
    OK(MPI_Type_commit(&gaps));
    for (int i = 0; i < LONG; i++) data[i] = rank + i * 0.5;
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, w.win));
    OK(MPI_Rput(data, LONG, MPI_DOUBLE, next, place(&w, next, 0), LONG, MPI_DOUBLE, w.win, &request));
    OK(MPI_Request_free(&request));
    OK(MPI_Win_flush(next, w.win));
    OK(MPI_Raccumulate(data, 1, gaps, next, place(&w, next, 0), 1, gaps, MPI_SUM, w.win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_flush(next, w.win));
    OK(MPI_Rget(got, LONG, MPI_DOUBLE, next, place(&w, next, 0), LONG, MPI_DOUBLE, w.win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Win_unlock(next, w.win));
    for (int i = 0; i < LONG; i++) {
        double wanted = (rank + i * 0.5) * (i % 100 < 50 ? 2 : 1);
        if (got[i] != wanted) FAIL("%s: element %d is %g, not %g", flavor_names[flavor], i, got[i], wanted);
    }
    OK(MPI_Type_free(&gaps));
    free_window(&w);
    free(data), free(got);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        all_kinds(flavor);
        long_ones(flavor);
    }
    return check_end();
}
