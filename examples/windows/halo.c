/* A field in rows, divided among the ranks: in every step each puts its first and its last row into the windows
 * of its neighbours. Once with fences, once with post, start, complete and wait among neighbours only; both become
 * what one rank alone makes of the field, to the last bit. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NX = 60, NY = 50, STEPS = 40 };

static int rank, size;

/* Makes the next values of some rows, which lie between two others. */
static void step(double *to, const double *from, int rows)
{
    for (int y = 1; y <= rows; y++) {
        for (int x = 1; x < NX - 1; x++) {
            const double *at = from + y * NX + x;
            to[y * NX + x] = 0.25 * at[0] + 0.2 * (at[-1] + at[1]) + 0.175 * (at[-NX] + at[NX]);
        }
        to[y * NX] = from[y * NX];
        to[y * NX + NX - 1] = from[y * NX + NX - 1];
    }
}

/* The first of the rows of a rank; row 0 of the field and the one behind the last stay as they are. */
static int first_row(int of)
{
    return 1 + NY * of / size;
}

static double start_value(int row, int x)
{
    return row == 0 ? 100.0 : (double)(row * 7919 % 101) / (x + 3);
}

/* Where the rows of a rank begin in its window. It has two fields of them, each with a row before and one behind,
 * and the steps go from one to the other, so that who is ahead puts into the one that nobody computes with. */
static MPI_Aint place(int rows, int field, int row)
{
    return ((MPI_Aint)field * (rows + 2) + row) * NX;
}

static void exchange(const double *field, int now, MPI_Win win)
{
    int rows = first_row(rank + 1) - first_row(rank);
    if (rank > 0) {
        int theirs = first_row(rank) - first_row(rank - 1);
        MPI_Put(field + NX, NX, MPI_DOUBLE, rank - 1, place(theirs, now, theirs + 1), NX, MPI_DOUBLE, win);
    }
    if (rank < size - 1) {
        int theirs = first_row(rank + 2) - first_row(rank + 1);
        MPI_Put(field + rows * NX, NX, MPI_DOUBLE, rank + 1, place(theirs, now, 0), NX, MPI_DOUBLE, win);
    }
}

static void run(int with_fences, const double *expected)
{
    int rows = first_row(rank + 1) - first_row(rank), neighbours[2], count = 0;
    double *memory;
    MPI_Win win;
    MPI_Group all, near;
    MPI_Win_allocate(2 * place(rows, 1, 0) * (MPI_Aint)sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &memory, &win);
    for (int field = 0; field < 2; field++)
        for (int y = 0; y < rows + 2; y++)
            for (int x = 0; x < NX; x++)
                memory[place(rows, field, y) + x] = start_value(first_row(rank) - 1 + y, x);
    if (rank > 0) neighbours[count++] = rank - 1;
    if (rank < size - 1) neighbours[count++] = rank + 1;
    MPI_Win_get_group(win, &all);
    MPI_Group_incl(all, count, neighbours, &near);

    if (with_fences) MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    for (int now = 0; now < STEPS; now++) {
        double *from = memory + place(rows, now % 2, 0), *to = memory + place(rows, 1 - now % 2, 0);
        if (with_fences) {
            exchange(from, now % 2, win);
            MPI_Win_fence(now == STEPS - 1 ? MPI_MODE_NOSUCCEED : 0, win);
        } else {
            MPI_Win_post(near, 0, win);
            MPI_Win_start(near, 0, win);
            exchange(from, now % 2, win);
            MPI_Win_complete(win);
            MPI_Win_wait(win);
        }
        step(to, from, rows);
    }
    const char *way = with_fences ? "fences" : "post and start";
    if (memcmp(memory + place(rows, STEPS % 2, 1), expected + first_row(rank) * NX, (size_t)rows * NX * sizeof(double))) {
        fprintf(stderr, "rank %d: with %s its rows differ from those of a serial run\n", rank, way);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("halo: %d steps with %s on %d ranks are those of a serial run\n", STEPS, way, size);
    MPI_Group_free(&near);
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    double *serial[2];
    for (int field = 0; field < 2; field++) {
        serial[field] = malloc((NY + 2) * NX * sizeof(double));
        for (int y = 0; y < NY + 2; y++)
            for (int x = 0; x < NX; x++) serial[field][y * NX + x] = start_value(y, x);
    }
    for (int now = 0; now < STEPS; now++) step(serial[1 - now % 2], serial[now % 2], NY);
    run(1, serial[STEPS % 2]);
    run(0, serial[STEPS % 2]);
    free(serial[0]);
    free(serial[1]);
    return MPI_Finalize();
}
