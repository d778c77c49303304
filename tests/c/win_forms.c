// ranks: 1 2
/* The forms with large counts do what the others do. MPI-5.0 sections 12.2, 12.3. */
#include "win.h"

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int next = (rank + 1) % size, data[4] = {1, 2, 3, 4}, got[4] = {0}, old[4], local[16] = {0}, *base;
    MPI_Win wins[3];
    MPI_Request request;
    int made = 2;
    OK(MPI_Win_create_c(local, sizeof local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &wins[0]));
    OK(MPI_Win_allocate_c(sizeof local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wins[1]));
    if (can_make(SHARED))
        OK(MPI_Win_allocate_shared_c(sizeof local, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &wins[made++]));
    for (int i = 0; i < made; i++) {
        MPI_Win win = wins[i];
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, win));
        OK(MPI_Put_c(data, 4, MPI_INT, next, 0, 4, MPI_INT, win));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Accumulate_c(data, 4, MPI_INT, next, 0, 4, MPI_INT, MPI_PROD, win));
        OK(MPI_Get_accumulate_c(data, 4, MPI_INT, old, 4, MPI_INT, next, 0, 4, MPI_INT, MPI_SUM, win));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Get_c(got, 4, MPI_INT, next, 0, 4, MPI_INT, win));
        OK(MPI_Win_flush(next, win));
        for (int at = 0; at < 4; at++) {
            EQUAL(old[at], data[at] * data[at]);
            EQUAL(got[at], data[at] * data[at] + data[at]);
        }
        OK(MPI_Rput_c(data, 4, MPI_INT, next, 8, 4, MPI_INT, win, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Raccumulate_c(data, 4, MPI_INT, next, 8, 4, MPI_INT, MPI_SUM, win, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Rget_accumulate_c(NULL, 0, MPI_INT, old, 4, MPI_INT, next, 8, 4, MPI_INT, MPI_NO_OP, win, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Rget_c(got, 4, MPI_INT, next, 8, 4, MPI_INT, win, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int at = 0; at < 4; at++) {
            EQUAL(old[at], 2 * data[at]);
            EQUAL(got[at], 2 * data[at]);
        }
        OK(MPI_Win_unlock(next, win));
        OK(MPI_Win_free(&wins[i]));
    }
    return check_end();
}
