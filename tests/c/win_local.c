// ranks: 2 4
// env: POSTHASTE_MAP_WINDOWS=0
// env: POSTHASTE_WINDOW_TRANSPORT=0
// MPI_Win_flush_local completes operations with requests at the origin, too (MPI-5.0 §12.5.4): what was read is there, and what was
// to be written may be changed, though nobody has waited for the request.
#include "check.h"

enum { LEN = 50000 };

int main(int argc, char **argv)
{
    int size, *base;
    int *into = malloc(LEN * sizeof *into), *from = malloc(LEN * sizeof *from);
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(2 * LEN * sizeof *base, sizeof *base, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < LEN; i++) base[i] = rank * LEN + i, base[LEN + i] = -1;
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    int target = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Request requests[2];
    MPI_Rget(into, LEN, MPI_INT, target, 0, LEN, MPI_INT, win, &requests[0]);
    MPI_Win_flush_local(target, win);
    for (int i = 0; i < LEN; i++) CHECK(into[i] == target * LEN + i);
    for (int i = 0; i < LEN; i++) from[i] = rank + i;
    MPI_Rput(from, LEN, MPI_INT, target, LEN, LEN, MPI_INT, win, &requests[1]);
    MPI_Win_flush_local_all(win);
    for (int i = 0; i < LEN; i++) from[i] = -2;
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
    for (int i = 0; i < LEN; i++) CHECK(base[LEN + i] == before + i);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    free(into);
    free(from);
    MPI_Finalize();
    return 0;
}
