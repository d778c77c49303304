/* heat.c: the two-dimensional heat equation on a grid that is divided among the ranks.
 *
 * Each rank owns a block and one line of its neighbours' cells around it (the halo). In every step the four edges
 * are exchanged: rows are contiguous, columns are a vector datatype; all by MPI_Isend, MPI_Irecv, MPI_Waitall.
 * Every tenth step the largest change anywhere is found by MPI_Allreduce.
 *
 * Usage: heat WIDTH HEIGHT STEPS FILE. FILE gets the whole field as raw doubles, row by row. The result does not
 * depend on the number of ranks, not in a single bit: every cell is computed by the same expression.
 * Plain MPI; `cargo xtask demo` runs it on 1 and on 4 ranks and compares, also with heat.rs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES };

struct block {
    int width, height; /* of the whole field, its fixed border included */
    int px, py;        /* the grid of processes */
    int x0, y0;        /* the first cell of this rank's block */
    int nx, ny;        /* its size */
    int neighbour[SIDES];
};

/* The temperature at the beginning: some discs and a ring in a cold field, a border of which one part is warm. */
static double initial(const struct block *b, int x, int y)
{
    long long w = b->width, h = b->height, unit = w < h ? w : h;
    static const int discs[5][4] = {{25, 30, 12, 100}, {70, 25, 8, 80}, {60, 70, 16, 90}, {20, 75, 6, 100}, {85, 60, 5, 70}};
    double value = 0.0;
    if (x == 0) return y * 3 > h && y * 3 < 2 * h ? 60.0 : 0.0;
    if (y == 0 || x == w - 1 || y == h - 1) return 0.0;
    for (int i = 0; i < 5; i++) {
        long long dx = 100 * x - discs[i][0] * w, dy = 100 * y - discs[i][1] * h, r = discs[i][2] * unit;
        long long square = dx * dx + dy * dy, hole = i == 2 ? r * r / 3 : -1;
        if (square < r * r && square > hole) value = discs[i][3];
    }
    return value;
}

/* The most nearly square grid of `size` processes. */
static void divide(struct block *b, int rank, int size)
{
    b->py = 1;
    for (int i = 1; i * i <= size; i++) if (size % i == 0) b->py = i;
    b->px = size / b->py;
    int cx = rank % b->px, cy = rank / b->px, inner_x = b->width - 2, inner_y = b->height - 2;
    b->x0 = 1 + (int)((long long)inner_x * cx / b->px);
    b->y0 = 1 + (int)((long long)inner_y * cy / b->py);
    b->nx = 1 + (int)((long long)inner_x * (cx + 1) / b->px) - b->x0;
    b->ny = 1 + (int)((long long)inner_y * (cy + 1) / b->py) - b->y0;
    b->neighbour[NORTH] = cy > 0 ? rank - b->px : MPI_PROC_NULL;
    b->neighbour[SOUTH] = cy < b->py - 1 ? rank + b->px : MPI_PROC_NULL;
    b->neighbour[WEST] = cx > 0 ? rank - 1 : MPI_PROC_NULL;
    b->neighbour[EAST] = cx < b->px - 1 ? rank + 1 : MPI_PROC_NULL;
}

static void exchange(const struct block *b, double *u, MPI_Datatype column)
{
    int stride = b->nx + 2;
    double *edge[SIDES] = {u + stride + 1, u + b->ny * stride + 1, u + stride + 1, u + stride + b->nx};
    double *halo[SIDES] = {u + 1, u + (b->ny + 1) * stride + 1, u + stride, u + stride + b->nx + 1};
    MPI_Request requests[2 * SIDES];
    for (int side = 0; side < SIDES; side++) {
        int row = side == NORTH || side == SOUTH;
        int opposite = side ^ 1, count = row ? b->nx : 1;
        MPI_Datatype type = row ? MPI_DOUBLE : column;
        /* The tag is the direction in which a message travels. */
        MPI_Irecv(halo[side], count, type, b->neighbour[side], opposite, MPI_COMM_WORLD, &requests[2 * side]);
        MPI_Isend(edge[side], count, type, b->neighbour[side], side, MPI_COMM_WORLD, &requests[2 * side + 1]);
    }
    MPI_Waitall(2 * SIDES, requests, MPI_STATUSES_IGNORE);
}

/* One step; gives the largest change of a cell. */
static double step(const struct block *b, const double *u, double *next)
{
    int stride = b->nx + 2;
    double largest = 0.0;
    for (int y = 1; y <= b->ny; y++) {
        for (int x = 1; x <= b->nx; x++) {
            const double *c = u + y * stride + x;
            double change = 0.2 * (((c[-stride] + c[stride]) + (c[-1] + c[1])) - 4.0 * c[0]);
            double size_of_change = change < 0.0 ? -change : change;
            next[y * stride + x] = c[0] + change;
            if (size_of_change > largest) largest = size_of_change;
        }
    }
    return largest;
}

/* Everybody's block goes to rank 0 as a vector and lands in its place in the whole field. */
static double *gather(const struct block *b, const double *u, int rank, int size)
{
    MPI_Datatype mine, theirs;
    MPI_Request request;
    double *whole = NULL;
    MPI_Type_vector(b->ny, b->nx, b->nx + 2, MPI_DOUBLE, &mine);
    MPI_Type_commit(&mine);
    MPI_Isend(u + b->nx + 3, 1, mine, 0, 9, MPI_COMM_WORLD, &request);
    if (rank == 0) {
        whole = malloc(sizeof(double) * (size_t)b->width * (size_t)b->height);
        for (int y = 0; y < b->height; y++) for (int x = 0; x < b->width; x++) whole[y * b->width + x] = initial(b, x, y);
        for (int r = 0; r < size; r++) {
            struct block other = *b;
            divide(&other, r, size);
            MPI_Type_vector(other.ny, other.nx, b->width, MPI_DOUBLE, &theirs);
            MPI_Type_commit(&theirs);
            MPI_Recv(whole + other.y0 * b->width + other.x0, 1, theirs, r, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Type_free(&theirs);
        }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Type_free(&mine);
    return whole;
}

static int save(const char *name, const double *whole, size_t cells)
{
    FILE *file = fopen(name, "wb");
    int good = file && fwrite(whole, sizeof *whole, cells, file) == cells;
    if (file && fclose(file) != 0) good = 0;
    if (!good) perror(name);
    return good;
}

int main(int argc, char **argv)
{
    int rank, size, steps;
    struct block b = {0};
    double residual = 0.0;
    MPI_Datatype column;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc != 5 || (b.width = atoi(argv[1])) < 3 + size || (b.height = atoi(argv[2])) < 3 + size || (steps = atoi(argv[3])) < 1) {
        if (rank == 0) fprintf(stderr, "usage: heat WIDTH HEIGHT STEPS FILE\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return 2;
    }
    divide(&b, rank, size);
    size_t cells = (size_t)(b.nx + 2) * (size_t)(b.ny + 2);
    double *u = malloc(cells * sizeof *u), *next = malloc(cells * sizeof *next);
    for (int y = 0; y < b.ny + 2; y++) {
        for (int x = 0; x < b.nx + 2; x++) u[y * (b.nx + 2) + x] = initial(&b, b.x0 + x - 1, b.y0 + y - 1);
    }
    memcpy(next, u, cells * sizeof *u);
    MPI_Type_vector(b.ny, 1, b.nx + 2, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);

    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int i = 1; i <= steps; i++) {
        exchange(&b, u, column);
        double largest = step(&b, u, next);
        double *swap = u;
        u = next;
        next = swap;
        if (i % 10 == 0 || i == steps) MPI_Allreduce(&largest, &residual, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
    double took = MPI_Wtime() - start, slowest = 0.0;
    MPI_Reduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);

    double *whole = gather(&b, u, rank, size);
    if (rank == 0) {
        if (!save(argv[4], whole, (size_t)b.width * (size_t)b.height)) MPI_Abort(MPI_COMM_WORLD, 3);
        printf("heat: grid %dx%d, us_per_step %.2f, residual %.17g\n", b.px, b.py, slowest / steps * 1e6, residual);
        free(whole);
    }
    MPI_Type_free(&column);
    free(u);
    free(next);
    MPI_Finalize();
    return 0;
}
