// ranks: 1 2 3 4 5 7 8
// timeout: 120
/* Barrier, Bcast, Gather, Allgather for every root, short and long, contiguous and as vectors, in place; several
 * of them back to back on two communicators. MPI-5.0 sections 6.3 to 6.7. */
#include "check.h"

#include <time.h>

/* No rank leaves a barrier before the last has entered it. */
static void barriers(void)
{
    for (int late = 0; late < size; late++) {
        double entered, latest, left;
        if (rank == late) {
            struct timespec pause = {0, 3000000};
            nanosleep(&pause, NULL);
        }
        entered = MPI_Wtime();
        OK(MPI_Barrier(MPI_COMM_WORLD));
        left = MPI_Wtime();
        OK(MPI_Allreduce(&entered, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
        CHECK(left >= latest, "left at %f, the last one entered at %f", left, latest);
    }
}

static void bcast(int length, int root)
{
    unsigned char *buffer = check_guarded((size_t)length);
    if (rank == root) check_fill(buffer, (size_t)length, (unsigned)root);
    OK(MPI_Bcast(buffer, length, MPI_BYTE, root, MPI_COMM_WORLD));
    check_filled(buffer, (size_t)length, (unsigned)root);
    check_free_guarded(buffer, (size_t)length);
}

static void bcast_vector(int root)
{
    enum { ROWS = 700 };
    static int matrix[ROWS][3];
    MPI_Datatype column;
    OK(MPI_Type_vector(ROWS, 1, 3, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    for (int i = 0; i < ROWS; i++) for (int j = 0; j < 3; j++) matrix[i][j] = rank == root ? i * 3 + j : -1;
    OK(MPI_Bcast(&matrix[0][1], 1, column, root, MPI_COMM_WORLD));
    for (int i = 0; i < ROWS; i++) {
        EQUAL(matrix[i][1], i * 3 + 1);
        EQUAL(matrix[i][0], rank == root ? i * 3 : -1);
    }
    OK(MPI_Type_free(&column));
}

static void gather(int count, int root, int in_place)
{
    int *out = malloc((size_t)(count + 1) * sizeof *out);
    int *all = malloc((size_t)size * (size_t)(count + 1) * sizeof *all);
    for (int i = 0; i < count; i++) out[i] = rank * 10000 + i;
    memset(all, 0, (size_t)size * (size_t)(count + 1) * sizeof *all);
    if (in_place && rank == root) {
        memcpy(all + rank * count, out, (size_t)count * sizeof *out);
        OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, all, count, MPI_INT, root, MPI_COMM_WORLD));
    } else {
        OK(MPI_Gather(out, count, MPI_INT, rank == root ? all : NULL, count, MPI_INT, root, MPI_COMM_WORLD));
    }
    if (rank == root) for (int r = 0; r < size; r++) for (int i = 0; i < count; i++) EQUAL(all[r * count + i], r * 10000 + i);
    memset(all, 0, (size_t)size * (size_t)(count + 1) * sizeof *all);
    if (in_place) {
        memcpy(all + rank * count, out, (size_t)count * sizeof *out);
        OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, count, MPI_INT, MPI_COMM_WORLD));
    } else {
        OK(MPI_Allgather(out, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD));
    }
    for (int r = 0; r < size; r++) for (int i = 0; i < count; i++) EQUAL(all[r * count + i], r * 10000 + i);
    free(out);
    free(all);
}

/* Collective calls do not meet point-to-point messages, nor those of another communicator. */
static void apart(void)
{
    MPI_Comm copy;
    MPI_Request request;
    int right = (rank + 1) % size, left = (rank + size - 1) % size, got = -1, a, b;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request));
    for (int i = 0; i < 50; i++) {
        a = b = rank == i % size ? i : -1;
        OK(MPI_Bcast(&a, 1, MPI_INT, i % size, MPI_COMM_WORLD));
        OK(MPI_Bcast(&b, 1, MPI_INT, i % size, copy));
        EQUAL(a, i);
        EQUAL(b, i);
    }
    OK(MPI_Send(&rank, 1, MPI_INT, right, 3, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(got, left);
    OK(MPI_Comm_free(&copy));
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 8, 1000, 8192, 100000, 1 << 20};
    check_start(&argc, &argv);
    barriers();
    for (int root = 0; root < size; root++) {
        for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) bcast(lengths[i], root);
        bcast_vector(root);
        gather(1, root, 0);
        gather(1, root, 1);
        gather(0, root, 0);
        gather(5000, root, root % 2);
    }
    gather(40000, size - 1, 0);
    apart();
    return check_end();
}
