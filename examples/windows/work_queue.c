/* A queue of work that needs no master: a counter in a window of rank 0, from which every rank takes the next
 * items by fetch-and-op. A rank with long items takes fewer of them.
 *
 * Each item is noted where it belongs, on rank item % size, by an accumulate; at the end every item has been done
 * once. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ITEMS = 1000, CHUNK = 16 };

static int rank, size;

/* The work: items take different times. */
static double work(int item)
{
    double x = item;
    for (int i = 0; i < 50 * (item % 17); i++) x = x * 0.5 + 1.0;
    return x;
}

int main(int argc, char **argv)
{
    int *notes;
    MPI_Win queue, done;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    int *next, here = (ITEMS + size - 1 - rank) / size;
    MPI_Win_allocate(rank == 0 ? sizeof *next : 0, sizeof *next, MPI_INFO_NULL, MPI_COMM_WORLD, &next, &queue);
    MPI_Win_allocate(here * (MPI_Aint)sizeof *notes, sizeof *notes, MPI_INFO_NULL, MPI_COMM_WORLD, &notes, &done);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, queue);
    if (rank == 0) *next = 0;
    MPI_Win_unlock(rank, queue);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, done);
    for (int i = 0; i < here; i++) notes[i] = 0;
    MPI_Win_unlock(rank, done);
    MPI_Barrier(MPI_COMM_WORLD);

    const int chunk = CHUNK, one = 1;
    int mine = 0, first;
    double sum = 0;
    MPI_Win_lock_all(0, queue);
    MPI_Win_lock_all(0, done);
    for (;;) {
        MPI_Fetch_and_op(&chunk, &first, MPI_INT, 0, 0, MPI_SUM, queue);
        MPI_Win_flush(0, queue);
        if (first >= ITEMS) break;
        for (int item = first; item < first + CHUNK && item < ITEMS; item++, mine++) {
            sum += work(item);
            MPI_Accumulate(&one, 1, MPI_INT, item % size, item / size, 1, MPI_INT, MPI_SUM, done);
        }
    }
    MPI_Win_unlock_all(done);
    MPI_Win_unlock_all(queue);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, done);
    for (int i = 0; i < here; i++) {
        if (notes[i] == 1) continue;
        fprintf(stderr, "rank %d: item %d was done %d times\n", rank, i * size + rank, notes[i]);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Win_unlock(rank, done);
    double all_sums;
    int all;
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&sum, &all_sums, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0 && all != ITEMS) {
        fprintf(stderr, "%d items were done, %d were there\n", all, ITEMS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (rank == 0) printf("work queue: %d items by %d ranks, sum %.0f\n", all, size, all_sums);
    MPI_Win_free(&done);
    MPI_Win_free(&queue);
    return MPI_Finalize();
}
