/* windows.c: two ranks, so many accesses of 8 bytes to a window that both have mapped, each with its flush, and as many of 8 KiB
 * by another function. Run under callgrind by `cargo xtask test`, which counts the instructions of the calls. Usage: windows
 * COUNT. */
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    enum { DOUBLES = 1024 };
    static double operands[DOUBLES];
    int64_t *memory, value = 1, expected = 0, old = 0;
    int rank, count = argc > 1 ? atoi(argv[1]) : 1000;
    MPI_Win win;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(8 * DOUBLES, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; rank == 0 && i < count; i++) {
        MPI_Put(&value, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, win);
        MPI_Win_flush(1, win);
        MPI_Get(&old, 1, MPI_INT64_T, 1, 1, 1, MPI_INT64_T, win);
        MPI_Win_flush_local(1, win);
        MPI_Accumulate(&value, 1, MPI_INT64_T, 1, 2, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Fetch_and_op(&value, &old, MPI_INT64_T, 1, 3, MPI_SUM, win);
        expected = i;
        value = i + 1;
        MPI_Compare_and_swap(&value, &expected, &old, MPI_INT64_T, 1, 4, win);
        value = 1;
        MPI_Accumulate_c(operands, DOUBLES, MPI_DOUBLE, 1, 0, DOUBLES, MPI_DOUBLE, MPI_SUM, win);
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
