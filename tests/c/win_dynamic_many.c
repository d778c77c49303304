// ranks: 2 3
/* More pieces than a member tells the others on its node, with gaps between them: all are reached, gaps are not. MPI-5.0 section 12.2.4. */
#include "win.h"

enum { PIECES = 300, INTS = 8 };

static int memory[PIECES][2 * INTS];

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Win win;
    MPI_Aint here, *all = malloc((size_t)size * sizeof *all);
    int next = (rank + 1) % size, before = (rank + size - 1) % size, values[2 * INTS], found[2 * INTS];
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    /* From the last to the first, so that others find them all the time in order. */
    for (int piece = PIECES; piece-- > 0;) OK(MPI_Win_attach(win, memory[piece], INTS * sizeof(int)));
    OK(MPI_Get_address(memory, &here));
    OK(MPI_Allgather(&here, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int piece = 0; piece < PIECES; piece++) {
        MPI_Aint to = all[next] + piece * (MPI_Aint)sizeof memory[0];
        for (int at = 0; at < 2 * INTS; at++) values[at] = 100 * piece + 10000 * rank + at;
        OK(MPI_Put(values, INTS, MPI_INT, next, to, INTS, MPI_INT, win));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Get(found, INTS, MPI_INT, next, to, INTS, MPI_INT, win));
        OK(MPI_Win_flush(next, win));
        CHECK(memcmp(values, found, sizeof(int) * INTS) == 0, "piece %d", piece);
        if (piece % 50 == 0) {
            OK(MPI_Put(values, 2 * INTS, MPI_INT, next, to, 2 * INTS, MPI_INT, win));
            REFUSED(MPI_Win_flush(next, win), MPI_ERR_RMA_RANGE);
        }
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int piece = 0; piece < PIECES; piece++) {
        EQUAL(memory[piece][0], 100 * piece + 10000 * before);
        EQUAL(memory[piece][INTS], 0);
        OK(MPI_Win_detach(win, memory[piece]));
    }
    OK(MPI_Win_free(&win));
    free(all);
    return check_end();
}
