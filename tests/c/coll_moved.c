// ranks: 1 2 3 4 7
/* Calls of collective operations that are repeated with buffers that lie elsewhere, at each rank in its own way: results are right,
 * nothing else is written, and buffers that share a byte are refused although the same call went well between others. MPI-5.0
 * sections 2.3 and 6.2 to 6.11. */
#include "check.h"

enum { OPERATIONS = 10, COUNTS = 6, ARENA = 1 << 18, ROUNDS = 150, GUARD = -77 };

/* The longest ones are combined as they come, and go in blocks. */
static const int counts[COUNTS] = {1, 2, 5, 90, 300, 8000};
static int arena[ARENA];
static unsigned shared = 1, own;

static unsigned next(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static int given(int from, int at) { return 1000 * from + at; }

static int summed(int ranks, int at)
{
    int sum = 0;
    for (int from = 0; from < ranks; from++) sum += given(from, at);
    return sum;
}

static int call(int operation, int *send, int *recv, int count, int root)
{
    switch (operation) {
    case 0: return MPI_Bcast(rank == root ? send : recv, count, MPI_INT, root, MPI_COMM_WORLD);
    case 1: return MPI_Reduce(send, recv, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
    case 2: return MPI_Allreduce(send, recv, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    case 3: return MPI_Gather(send, count, MPI_INT, recv, count, MPI_INT, root, MPI_COMM_WORLD);
    case 4: return MPI_Scatter(send, count, MPI_INT, recv, count, MPI_INT, root, MPI_COMM_WORLD);
    case 5: return MPI_Allgather(send, count, MPI_INT, recv, count, MPI_INT, MPI_COMM_WORLD);
    case 6: return MPI_Alltoall(send, count, MPI_INT, recv, count, MPI_INT, MPI_COMM_WORLD);
    case 7: return MPI_Reduce_scatter_block(send, recv, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    case 8: return MPI_Scan(send, recv, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    default: return MPI_Exscan(send, recv, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* Elements that a rank gives and gets; 0 where it does neither. */
static int gives(int operation, int count, int root)
{
    if (operation == 0) return rank == root ? count : 0;
    if (operation == 4) return rank == root ? count * size : 0;
    return operation == 6 || operation == 7 ? count * size : count;
}

static int gets(int operation, int count, int root)
{
    switch (operation) {
    case 0: return rank == root ? 0 : count;
    case 1: return rank == root ? count : 0;
    case 3: return rank == root ? count * size : 0;
    case 5: case 6: return count * size;
    case 9: return rank ? count : 0;
    default: return count;
    }
}

static int wanted(int operation, int count, int root, int at)
{
    int block = at / count, within = at % count;
    switch (operation) {
    case 0: return given(root, at);
    case 1: case 2: return summed(size, at);
    case 3: case 5: return given(block, within);
    case 4: return given(root, rank * count + at);
    case 6: return given(block, rank * count + within);
    case 7: return summed(size, rank * count + at);
    case 8: return summed(rank + 1, at);
    default: return summed(rank, at);
    }
}

static void one(int operation, int count, int root)
{
    int out = gives(operation, count, root), in = gets(operation, count, root);
    int a = next(&own, ARENA - out - in), b = next(&own, ARENA - out - in), low = a < b ? a : b, high = a < b ? b : a;
    int is_first = next(&own, 2), send = is_first ? low : high + in, recv = is_first ? high + out : low;
    /* What does not count may lie anywhere. */
    if (out == 0) send = next(&own, ARENA);
    if (in == 0) recv = next(&own, ARENA);
    for (int i = 0; i < ARENA; i++) arena[i] = GUARD;
    for (int i = 0; i < out; i++) arena[send + i] = given(rank, i);
    OK(call(operation, arena + send, arena + recv, count, root));
    for (int i = 0; i < ARENA; i++) {
        int is_in = i >= recv && i < recv + in, is_out = i >= send && i < send + out;
        int value = is_in ? wanted(operation, count, root, i - recv) : is_out ? given(rank, i - send) : GUARD;
        CHECK(arena[i] == value, "operation %d, count %d, root %d: word %d is %d, not %d; sent from %d, received at %d",
              operation, count, root, i, arena[i], value, send, recv);
    }
}

/* The result takes the place of what is given. */
static void in_place(int count)
{
    int at = next(&own, ARENA - count);
    for (int i = 0; i < ARENA; i++) arena[i] = GUARD;
    for (int i = 0; i < count; i++) arena[at + i] = given(rank, i);
    OK(MPI_Allreduce(MPI_IN_PLACE, arena + at, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < ARENA; i++) {
        int value = i >= at && i < at + count ? summed(size, i - at) : GUARD;
        CHECK(arena[i] == value, "in place, count %d: word %d is %d, not %d", count, i, arena[i], value);
    }
}

static void refused(int operation, int count)
{
    int in = gets(operation, count, 0), out = gives(operation, count, 0), class;
    for (int shift = -(in - 1); shift < out; shift += 1 + (out + in) / 40) {
        int code = call(operation, arena + ARENA / 2, arena + ARENA / 2 + shift, count, 0);
        MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_BUFFER, "operation %d, count %d: buffers %d words apart gave class %d", operation, count, shift,
              class);
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    own = 100 + rank;
    for (int round = 0; round < ROUNDS; round++) {
        int operation = next(&shared, OPERATIONS), count = counts[next(&shared, COUNTS)], root = next(&shared, size);
        for (int again = next(&shared, 4); again >= 0; again--) one(operation, count, root);
        in_place(count);
    }
    for (int operation = 2; operation < 9; operation++) {
        if (operation == 4 || operation == 3) continue;
        for (int k = 0; k < COUNTS; k++) {
            one(operation, counts[k], 0);
            refused(operation, counts[k]);
        }
    }
    return check_end();
}
