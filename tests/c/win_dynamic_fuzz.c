// ranks: 2 3
// only: posthaste
/* Memory is attached and detached at random while operations of the others on it are under way: each of them is done in memory that
 * is attached, or refused as a whole; what is detached belongs to its owner alone from then on. One piece stays attached, and has of each
 * rank what that has put there. One of the others is so long that accesses to it are under way for some time. Arguments: the first seed, and
 * how many. MPI-5.0 section 12.2.4. */
#include "win.h"
#include <stdint.h>

enum { PIECES = 7, LONG = PIECES - 1, INTS = 24, LEAST = 16 << 10, MOST = 150 << 10, TURNS = 150, SEEDS = 4, MINE = -77 };

static uint64_t state, seed;

static unsigned any(unsigned n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % n;
}

static MPI_Win win;
static int short_memory[LONG][INTS], long_memory[MOST], *memory[PIECES], length[PIECES], is_attached[PIECES];
/* What this rank puts into the long piece and gets from it. */
static int long_values[MOST], long_old[MOST];
static MPI_Aint all[16 * PIECES];
/* A counter and a word for each rank, in memory that stays attached. */
static int known[16][2];
static MPI_Aint all_known[16];
/* What this rank has there, at each rank. */
static int counted[16], written[16];
/* Epochs of this rank in which all was done, and in which something was refused. */
static int done, refused;

/* What is not attached has only what this rank has written; into what is attached nobody writes but numbers that are not negative. */
static void look(void)
{
    int flag;
    OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    for (int piece = 0; piece < PIECES; piece++) {
        for (int at = 0; at < length[piece]; at++) {
            int found = *(volatile int *)&memory[piece][at];
            if (is_attached[piece]) CHECK(found >= 0, "seed %lu: attached memory, piece %d, holds %d at %d", (unsigned long)seed, piece, found, at);
            else CHECK(found == MINE, "seed %lu: detached memory, piece %d, holds %d at %d", (unsigned long)seed, piece, found, at);
        }
    }
}

static void fill(int piece, int value)
{
    for (int at = 0; at < length[piece]; at++) memory[piece][at] = value;
}

static void change(void)
{
    int piece = (int)any(PIECES);
    if (is_attached[piece]) {
        OK(MPI_Win_detach(win, memory[piece]));
        fill(piece, MINE);
    } else {
        fill(piece, 0);
        OK(MPI_Win_attach(win, memory[piece], (MPI_Aint)sizeof(int) * length[piece]));
    }
    is_attached[piece] = !is_attached[piece];
}

/* A put or a get of half of the long piece or more; one get has all the room for what is fetched. How many elements that fetches. */
static int access_long(int target, int may_get)
{
    int quarter = length[LONG] / 4, first = (int)any((unsigned)quarter), count = length[LONG] - first - (int)any((unsigned)quarter);
    MPI_Aint to = all[target * PIECES + LONG] + (MPI_Aint)sizeof(int) * first;
    if (!may_get || any(2)) {
        OK(MPI_Put(long_values, count, MPI_INT, target, to, count, MPI_INT, win));
        return 0;
    }
    memset(long_old, 0, sizeof(int) * (size_t)count);
    OK(MPI_Get(long_old, count, MPI_INT, target, to, count, MPI_INT, win));
    return count;
}

/* Some operations towards another rank, and their end: well, or refused because memory is not attached. */
static void access(void)
{
    int target = (rank + 1 + (int)any((unsigned)size - 1)) % size, values[INTS], old[8 * INTS], class = MPI_SUCCESS, few = 1 + (int)any(3), was = -1;
    /* Where all go to one piece, all is done more often. */
    int got = 0, only_long = any(3) == 0;
    for (int at = 0; at < INTS; at++) values[at] = 1 + rank;
    memset(old, 0, sizeof old);
    unsigned operations = any(8), when = any(operations + 1);
    for (unsigned i = 0; i <= operations; i++) {
        if (i == when) {
            /* These are done whatever becomes of their neighbours. */
            MPI_Aint to = all_known[target] + (MPI_Aint)sizeof known[0] * rank;
            OK(MPI_Fetch_and_op(&few, &was, MPI_INT, target, to, MPI_SUM, win));
            OK(MPI_Put(&few, 1, MPI_INT, target, to + 4, 1, MPI_INT, win));
            continue;
        }
        int piece = only_long ? LONG : (int)any(PIECES), first = (int)any((unsigned)length[piece]), left = length[piece] - first;
        int count = 1 + (int)any((unsigned)(left < INTS ? left : INTS));
        MPI_Aint to = all[target * PIECES + piece] + (MPI_Aint)sizeof(int) * first;
        switch (piece == LONG && any(2) ? 5 : any(5)) {
        case 5: got += access_long(target, !got); break;
        case 0: OK(MPI_Put(values, count, MPI_INT, target, to, count, MPI_INT, win)); break;
        case 1: OK(MPI_Get(old + i * INTS, count, MPI_INT, target, to, count, MPI_INT, win)); break;
        case 2: OK(MPI_Accumulate(values, count, MPI_INT, target, to, count, MPI_INT, MPI_SUM, win)); break;
        case 3: OK(MPI_Get_accumulate(values, count, MPI_INT, old + i * INTS, count, MPI_INT, target, to, count, MPI_INT, MPI_MAX, win)); break;
        default: OK(MPI_Fetch_and_op(values, old + i * INTS, MPI_INT, target, to, MPI_REPLACE, win)); break;
        }
        if (any(4) == 0) change();
    }
    int code = any(2) ? MPI_Win_flush(target, win) : MPI_Win_flush_all(win);
    if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
    if (class != MPI_SUCCESS && class != MPI_ERR_RMA_RANGE) FAIL("seed %lu: %s", (unsigned long)seed, check_text(code));
    if (was != counted[target]) FAIL("seed %lu: the counter at %d was %d, not %d", (unsigned long)seed, target, was, counted[target]);
    counted[target] += few;
    written[target] = few;
    if (class != MPI_SUCCESS) {
        refused++;
        return;
    }
    if (operations > 0) done++;
    /* Nothing was read from memory that is not attached. */
    for (int i = 0; i < 8 * INTS; i++)
        CHECK(old[i] >= 0, "seed %lu: %d was fetched", (unsigned long)seed, old[i]);
    for (int i = 0; i < got; i++)
        CHECK(long_old[i] >= 0, "seed %lu: of %d elements that were fetched element %d is %d", (unsigned long)seed, got, i, long_old[i]);
}

/* What each rank says that it has put into the piece that stays is there. */
static void kept(void)
{
    int sums[16], words[16];
    OK(MPI_Alltoall(counted, 1, MPI_INT, sums, 1, MPI_INT, MPI_COMM_WORLD));
    OK(MPI_Alltoall(written, 1, MPI_INT, words, 1, MPI_INT, MPI_COMM_WORLD));
    for (int other = 0; other < size; other++)
        CHECK(known[other][0] == sums[other] && known[other][1] == words[other], "seed %lu: of rank %d there is %d, %d; it has put %d, %d",
              (unsigned long)seed, other, known[other][0], known[other][1], sums[other], words[other]);
}

static void random_epochs(void)
{
    state = seed * 1000 + (uint64_t)rank;
    for (int piece = 0; piece < PIECES; piece++) {
        is_attached[piece] = 0;
        length[piece] = piece == LONG ? LEAST + (int)(seed * 40503 % (MOST - LEAST)) : INTS;
        fill(piece, MINE);
    }
    memset(known, 0, sizeof known);
    memset(counted, 0, sizeof counted);
    memset(written, 0, sizeof written);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_attach(win, known, sizeof known));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    for (int turn = 0; turn < TURNS; turn++) {
        if (any(2)) change();
        access();
        look();
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    kept();
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    MPI_Aint own[PIECES], here;
    for (int piece = 0; piece < PIECES; piece++) {
        memory[piece] = piece == LONG ? long_memory : short_memory[piece];
        OK(MPI_Get_address(memory[piece], &own[piece]));
    }
    for (int at = 0; at < MOST; at++) long_values[at] = 1 + rank;
    OK(MPI_Get_address(known, &here));
    OK(MPI_Allgather(own, PIECES, MPI_AINT, all, PIECES, MPI_AINT, MPI_COMM_WORLD));
    OK(MPI_Allgather(&here, 1, MPI_AINT, all_known, 1, MPI_AINT, MPI_COMM_WORLD));
    uint64_t first = argc > 1 ? strtoul(argv[1], NULL, 10) : 1, seeds = argc > 2 ? strtoul(argv[2], NULL, 10) : SEEDS;
    for (seed = first; seed < first + seeds; seed++) random_epochs();
    CHECK(done > 0 && refused > 0, "%d epochs with operations ended well, in %d something was refused", done, refused);
    return check_end();
}
