// ranks: 2 3
// only: posthaste
/* Memory is attached and detached at random while operations of the others on it are under way: each of them is done in memory that
 * is attached, or refused as a whole; what is detached belongs to its owner alone from then on. Argument: a seed. MPI-5.0
 * section 12.2.4. */
#include "win.h"
#include <stdint.h>

enum { PIECES = 6, INTS = 24, TURNS = 400, MINE = -77 };

static uint64_t state, seed = 1;

static unsigned any(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static MPI_Win win;
static int memory[PIECES][INTS], is_attached[PIECES];
static MPI_Aint all[16 * PIECES];

/* What is not attached has only what this rank has written. */
static void look(void)
{
    int flag;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    for (int piece = 0; piece < PIECES; piece++)
        for (int at = 0; at < INTS && !is_attached[piece]; at++)
            CHECK(memory[piece][at] == MINE, "seed %lu: detached memory holds %d", (unsigned long)seed, memory[piece][at]);
}

static void change(void)
{
    int piece = (int)any(PIECES);
    if (is_attached[piece]) {
        OK(MPI_Win_detach(win, memory[piece]));
    } else {
        OK(MPI_Win_attach(win, memory[piece], sizeof memory[piece]));
    }
    is_attached[piece] = !is_attached[piece];
    for (int at = 0; at < INTS; at++) memory[piece][at] = is_attached[piece] ? 0 : MINE;
}

/* Some operations towards another rank, and their end: well, or refused because memory is not attached. */
static void access(void)
{
    int target = (rank + 1 + (int)any((unsigned)size - 1)) % size, values[INTS], old[8][INTS], class = MPI_SUCCESS;
    for (int at = 0; at < INTS; at++) values[at] = 1 + rank;
    unsigned operations = 1 + any(8);
    for (unsigned i = 0; i < operations; i++) {
        int first = (int)any(INTS), count = 1 + (int)any((unsigned)(INTS - first));
        MPI_Aint to = all[target * PIECES + (int)any(PIECES)] + 4 * first;
        switch (any(5)) {
        case 0: OK(MPI_Put(values, count, MPI_INT, target, to, count, MPI_INT, win)); break;
        case 1: OK(MPI_Get(old[i], count, MPI_INT, target, to, count, MPI_INT, win)); break;
        case 2: OK(MPI_Accumulate(values, count, MPI_INT, target, to, count, MPI_INT, MPI_SUM, win)); break;
        case 3: OK(MPI_Get_accumulate(values, count, MPI_INT, old[i], count, MPI_INT, target, to, count, MPI_INT, MPI_MAX, win)); break;
        default: OK(MPI_Fetch_and_op(values, old[i], MPI_INT, target, to, MPI_REPLACE, win)); break;
        }
        if (any(4) == 0) change();
    }
    int code = any(2) ? MPI_Win_flush(target, win) : MPI_Win_flush_all(win);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_RMA_RANGE) FAIL("seed %lu: %s", (unsigned long)seed, check_text(code));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (argc > 1) seed = strtoul(argv[1], NULL, 10);
    state = seed * 1000 + (uint64_t)rank;
    MPI_Aint own[PIECES];
    for (int piece = 0; piece < PIECES; piece++) OK(MPI_Get_address(memory[piece], &own[piece]));
    OK(MPI_Allgather(own, PIECES, MPI_AINT, all, PIECES, MPI_AINT, MPI_COMM_WORLD));
    for (int piece = 0; piece < PIECES; piece++)
        for (int at = 0; at < INTS; at++) memory[piece][at] = MINE;
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, win));
    for (int turn = 0; turn < TURNS; turn++) {
        if (any(2)) change();
        access();
        look();
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    return check_end();
}
