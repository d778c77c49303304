// ranks: 2 5 8
// timeout: 120
/* The same bits: sums of numbers of very different sizes, where each order of additions gives others. Blocking, nonblocking, persistent and
 * in-place forms give the same, run after run, whoever comes first. With the argument "print", rank 0 says what they are, for the
 * comparison of placements (`cargo xtask test --only bits`). MPI-5.0 §6.9.1, advice to implementors. */
#include "check.h"

#include <stdint.h>
#include <unistd.h>

enum { MOST = 40000, ROUNDS = 3 };
enum operation { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, OPERATIONS };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static const char *const names[] = {"reduce", "allreduce", "scan", "exscan", "reduce_scatter", "reduce_scatter_block"};
static double operands[MOST], in[MOST], out[MOST], first[MOST];
static int counts[64], per_rank;

/* A number between 0 and 1. */
static double draw(uint64_t *state)
{
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return (double)(*state >> 11) / (double)(1ull << 53);
}

static void call(enum operation which, enum form form, int in_place, int count, int root)
{
    int is_in_place = in_place && (which != REDUCE || rank == root);
    const void *send = is_in_place ? MPI_IN_PLACE : in;
    MPI_Comm c = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;
    memcpy(is_in_place ? out : in, operands, sizeof operands);
#define CALL(B, I, P, ...)                                                \
    do {                                                                  \
        if (form == BLOCKING) OK(MPI_##B(send, out, __VA_ARGS__, c));     \
        else if (form == NONBLOCKING) OK(MPI_##I(send, out, __VA_ARGS__, c, &r)); \
        else OK(MPI_##P(send, out, __VA_ARGS__, c, MPI_INFO_NULL, &r));   \
    } while (0)
    switch (which) {
    case REDUCE: CALL(Reduce, Ireduce, Reduce_init, count, MPI_DOUBLE, MPI_SUM, root); break;
    case ALLREDUCE: CALL(Allreduce, Iallreduce, Allreduce_init, count, MPI_DOUBLE, MPI_SUM); break;
    case SCAN: CALL(Scan, Iscan, Scan_init, count, MPI_DOUBLE, MPI_SUM); break;
    case EXSCAN: CALL(Exscan, Iexscan, Exscan_init, count, MPI_DOUBLE, MPI_SUM); break;
    case REDUCE_SCATTER: CALL(Reduce_scatter, Ireduce_scatter, Reduce_scatter_init, counts, MPI_DOUBLE, MPI_SUM); break;
    default: CALL(Reduce_scatter_block, Ireduce_scatter_block, Reduce_scatter_block_init, per_rank, MPI_DOUBLE, MPI_SUM);
    }
    if (form == PERSISTENT) OK(MPI_Start(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (r != MPI_REQUEST_NULL) OK(MPI_Request_free(&r));
}

/* How many numbers of the result this rank has. */
static int results(enum operation which, int count, int root)
{
    switch (which) {
    case REDUCE: return rank == root ? count : 0;
    case EXSCAN: return rank > 0 ? count : 0;
    case REDUCE_SCATTER: return counts[rank];
    case REDUCE_SCATTER_BLOCK: return per_rank;
    default: return count;
    }
}

/* The same for the same bits, and almost surely another for others. */
static uint64_t hash(const double *values, int n)
{
    uint64_t all = 14695981039346656037ull, bits;
    for (int i = 0; i < n; i++) memcpy(&bits, &values[i], 8), all = (all ^ bits) * 1099511628211ull;
    return all;
}

int main(int argc, char **argv)
{
    static const int lengths[] = {1, 7, 300, 5000, MOST};
    check_start(&argc, &argv);
    int prints = argc > 1 && !strcmp(argv[1], "print");
    uint64_t state = 88172645463325252ull + 1000003 * (uint64_t)rank, late = 977;
    for (int i = 0; i < MOST; i++) operands[i] = (draw(&state) - 0.5) * (double)(1ull << (int)(draw(&state) * 50));
    for (int which = 0; which < OPERATIONS; which++) {
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            int count = lengths[l], root = size / 2;
            per_rank = count / size;
            for (int r = 0; r < size; r++) counts[r] = count / size + (r < count % size);
            int n = results(which, count, root);
            for (int round = 0; round < ROUNDS; round++)
                for (int form = 0; form < FORMS; form++)
                    for (int in_place = 0; in_place < 2; in_place++) {
                        /* Another one comes late each time. */
                        if ((int)(draw(&late) * size) == rank && round > 0) usleep(200);
                        call(which, form, in_place, count, root);
                        int is_first = round + form + in_place == 0;
                        if (is_first) memcpy(first, out, (size_t)n * sizeof *out);
                        CHECK(!memcmp(first, out, (size_t)n * sizeof *out), "%s of %d, round %d, form %d, in place %d",
                              names[which], count, round, form, in_place);
                    }
            uint64_t mine = hash(first, n), all[64];
            OK(MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
            if (which == ALLREDUCE && rank == 0)
                for (int r = 1; r < size; r++) CHECK(all[r] == all[0], "rank %d has other bits than rank 0, %d elements", r, count);
            for (int r = 0; prints && rank == 0 && r < size; r++)
                printf("bits %s %d at %d: %016llx\n", names[which], count, r, (unsigned long long)all[r]);
        }
    }
    return check_end();
}
