// ranks: 1 2 3
/* Memory that comes and goes in a dynamic window: pieces side by side, which one access may reach, memory attached again at the same address, pieces of no
 * bytes, and what is not attached any more. MPI-5.0 section 12.2.4. */
#include "win.h"

enum { PIECES = 8, INTS = 16 };

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Win win;
    MPI_Aint mine[PIECES], *all = malloc(sizeof(MPI_Aint) * PIECES * (size_t)size);
    int *memory = calloc(PIECES * INTS, sizeof(int)), next = (rank + 1) % size, before = (rank + size - 1) % size;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < PIECES; i++) {
            OK(MPI_Win_attach(win, memory + i * INTS, INTS * sizeof(int)));
            OK(MPI_Get_address(memory + i * INTS, &mine[i]));
        }
        OK(MPI_Allgather(mine, PIECES, MPI_AINT, all, PIECES, MPI_AINT, MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, win));
        for (int i = 0; i < PIECES; i++) {
            int values[INTS];
            for (int at = 0; at < INTS; at++) values[at] = 1000 * turn + 100 * rank + 10 * i + at;
            OK(MPI_Put(values, INTS, MPI_INT, next, all[next * PIECES + i], INTS, MPI_INT, win));
            OK(MPI_Win_flush_local(next, win));
        }
        int ones[PIECES * INTS], found[PIECES * INTS];
        for (int at = 0; at < PIECES * INTS; at++) ones[at] = 1;
        OK(MPI_Accumulate(ones, PIECES * INTS, MPI_INT, next, all[next * PIECES], PIECES * INTS, MPI_INT, MPI_SUM, win));
        OK(MPI_Win_flush(next, win));
        OK(MPI_Get(found, PIECES * INTS, MPI_INT, next, all[next * PIECES], PIECES * INTS, MPI_INT, win));
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int at = 0; at < PIECES * INTS; at++) EQUAL(found[at], 1 + 1000 * turn + 100 * rank + 10 * (at / INTS) + at % INTS);
        for (int i = 0; i < PIECES; i++) {
            for (int at = 0; at < INTS; at++) EQUAL(memory[i * INTS + at], 1 + 1000 * turn + 100 * before + 10 * i + at);
            OK(MPI_Win_detach(win, memory + i * INTS));
        }
        OK(MPI_Barrier(MPI_COMM_WORLD));
        int value = -1;
        OK(MPI_Win_lock_all(0, win));
        OK(MPI_Put(&value, 1, MPI_INT, next, all[next * PIECES + turn], 1, MPI_INT, win));
        REFUSED(MPI_Win_flush(next, win), MPI_ERR_RMA_RANGE);
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int i = 0; i < PIECES * INTS; i++) CHECK(memory[i] != -1, "element %d", i);
    }
    OK(MPI_Win_free(&win));
    free(memory), free(all);
    return check_end();
}
