/* A stencil that loses ranks, shrinks, and gets the same result bit for bit.
 *
 *     mpicc stencil.c -o stencil
 *     mpiexec -continue-on-loss -n 4 ./stencil 1 37 3 95
 *
 * Heat spreads over a grid whose rows are shared out among the ranks. The arguments are pairs: this rank of the world kills
 * itself (SIGKILL) before that step.
 *
 * Every few steps each rank keeps its rows in its own memory and in that of the next rank, its keeper. MPIX_Comm_agree says
 * whether everybody has done that: all that are left get the same answer, so all go back to the same step later. When somebody is lost, whoever notices
 * revokes the communicator, so that nobody waits for somebody who has left the loop; MPIX_Comm_shrink makes one of those that
 * are left; and they put the grid together of what they keep. A rank and its keeper that are lost together are too much. */
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 96, COLUMNS = 64, STEPS = 200, EVERY = 20 };

typedef double Grid[ROWS][COLUMNS];

/* The rows of each rank of so many. */
static int first_row(int rank, int size) { return rank * ROWS / size; }

/* One step of the rows from `from` to `to`. */
static void step(Grid now, Grid next, int from, int to)
{
    for (int row = from; row < to; row++)
        for (int column = 0; column < COLUMNS; column++) {
            int edge = row == 0 || row == ROWS - 1 || column == 0 || column == COLUMNS - 1;
            next[row][column] = edge ? now[row][column]
                                     : 0.25 * (now[row - 1][column] + now[row + 1][column] + now[row][column - 1] + now[row][column + 1]);
        }
}

static void begin(Grid grid)
{
    memset(grid, 0, sizeof(Grid));
    for (int column = 0; column < COLUMNS; column++) grid[0][column] = 1.0 + column / 7.0;
}

/* What a rank keeps: its own rows and those of the rank before it, as they were at a step. Everything else is 0. */
struct Kept {
    int at;
    Grid rows;
    uint64_t known[ROWS];
};

static void keep(struct Kept *kept, Grid grid, int from, int to)
{
    memcpy(kept->rows[from], grid[from], (to - from) * sizeof grid[0]);
    for (int row = from; row < to; row++) kept->known[row] = 1;
}

/* Exchanges the rows at the edges with both neighbours. */
static int exchange(MPI_Comm comm, Grid grid, int rank, int size)
{
    int from = first_row(rank, size), to = first_row(rank + 1, size);
    int up = rank > 0 ? rank - 1 : MPI_PROC_NULL, down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
    int above = from > 0 ? from - 1 : 0, below = to < ROWS ? to : ROWS - 1;
    double nobody[COLUMNS];
    int code = MPI_Sendrecv(grid[from], COLUMNS, MPI_DOUBLE, up, 1, down == MPI_PROC_NULL ? nobody : grid[below], COLUMNS,
        MPI_DOUBLE, down, 1, comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    return MPI_Sendrecv(grid[to - 1], COLUMNS, MPI_DOUBLE, down, 2, up == MPI_PROC_NULL ? nobody : grid[above], COLUMNS,
        MPI_DOUBLE, up, 2, comm, MPI_STATUS_IGNORE);
}

/* Keeps the rows here and at the next rank. Whether everybody has. */
static int checkpoint(MPI_Comm comm, Grid grid, int at, int rank, int size, struct Kept *kept)
{
    static struct Kept next;
    int from = first_row(rank, size), to = first_row(rank + 1, size);
    int before = (rank + size - 1) % size, theirs = first_row(before, size), their_end = first_row(before + 1, size);
    static Grid received;
    memset(&next, 0, sizeof next);
    next.at = at;
    keep(&next, grid, from, to);
    int everybody = MPI_Sendrecv(grid[from], (to - from) * COLUMNS, MPI_DOUBLE, (rank + 1) % size, 3, received[theirs],
                        (their_end - theirs) * COLUMNS, MPI_DOUBLE, before, 3, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (everybody) keep(&next, received, theirs, their_end);
    /* Who has failed here does not keep others waiting. */
    if (!everybody) MPIX_Comm_revoke(comm);
    int code = MPIX_Comm_agree(comm, &everybody);
    if (everybody) *kept = next;
    return code == MPI_SUCCESS && everybody;
}

/* Puts the whole grid together, of the rows that each has. */
static int collect(MPI_Comm comm, struct Kept *kept, Grid grid)
{
    uint64_t known[ROWS];
    /* Bits, not sums: what two ranks have is the same. */
    int code = MPI_Allreduce(kept->rows, grid, ROWS * COLUMNS, MPI_UINT64_T, MPI_BOR, comm);
    if (code == MPI_SUCCESS) code = MPI_Allreduce(kept->known, known, ROWS, MPI_UINT64_T, MPI_BOR, comm);
    for (int row = 0; code == MPI_SUCCESS && row < ROWS; row++)
        if (!known[row]) {
            fprintf(stderr, "stencil: nobody has row %d: a rank and its keeper are both lost\n", row);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    return code;
}

/* A communicator of those that are left, who all have the grid as it was at the last checkpoint. */
static MPI_Comm recover(MPI_Comm comm, struct Kept *kept, Grid grid)
{
    for (;;) {
        MPI_Comm left;
        MPIX_Comm_revoke(comm);
        MPIX_Comm_shrink(comm, &left);
        if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
        comm = left;
        int fine = collect(comm, kept, grid) == MPI_SUCCESS;
        if (!fine) MPIX_Comm_revoke(comm);
        if (MPIX_Comm_agree(comm, &fine) == MPI_SUCCESS && fine) return comm;
    }
}

int main(int argc, char **argv)
{
    static Grid grid, next;
    static struct Kept kept, own;
    MPI_Comm comm = MPI_COMM_WORLD;
    int world_rank, world_size, rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &world_rank);
    MPI_Comm_size(comm, &world_size);
    rank = world_rank;
    size = world_size;
    begin(grid);
    keep(&kept, grid, 0, ROWS); /* the beginning, which everybody knows */
    for (int at = 0; at < STEPS;) {
        for (int pair = 1; pair + 1 < argc; pair += 2)
            if (atoi(argv[pair]) == world_rank && atoi(argv[pair + 1]) == at) raise(SIGKILL);
        int fine = at % EVERY != 0 || checkpoint(comm, grid, at, rank, size, &kept);
        if (fine && exchange(comm, grid, rank, size) != MPI_SUCCESS) {
            /* Each rank agrees once before it recovers, here or elsewhere: all take part in the same agreements. */
            fine = 0;
            MPIX_Comm_revoke(comm);
            MPIX_Comm_agree(comm, &fine);
        }
        if (fine) {
            int from = first_row(rank, size), to = first_row(rank + 1, size);
            step(grid, next, from, to);
            memcpy(grid[from], next[from], (to - from) * sizeof grid[0]);
            at++;
        }
        /* Nobody is done before all are: who is left behind needs the others. */
        if (fine && at == STEPS) {
            memset(&own, 0, sizeof own);
            keep(&own, grid, first_row(rank, size), first_row(rank + 1, size));
            fine = collect(comm, &own, next) == MPI_SUCCESS;
            if (!fine) MPIX_Comm_revoke(comm);
            fine = MPIX_Comm_agree(comm, &fine) == MPI_SUCCESS && fine;
        }
        if (!fine) {
            comm = recover(comm, &kept, grid);
            MPI_Comm_rank(comm, &rank);
            MPI_Comm_size(comm, &size);
            at = kept.at;
        }
    }
    int same = 1;
    if (rank == 0) {
        static Grid serial, scratch;
        begin(serial);
        for (int at = 0; at < STEPS; at++) {
            step(serial, scratch, 0, ROWS);
            memcpy(serial, scratch, sizeof serial);
        }
        same = memcmp(serial, next, sizeof serial) == 0;
        printf("stencil: %s after %d steps, on %d of %d ranks\n", same ? "the same bit for bit" : "DIFFERENT", STEPS, size, world_size);
    }
    MPI_Barrier(comm); /* nobody leaves before all know that they may */
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
    MPI_Finalize();
    return !same;
}
