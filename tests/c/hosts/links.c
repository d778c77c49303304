/* Two ranks whose links may fail: `long SECONDS`, long messages of several lengths both ways; `short SECONDS`, a stream of
 * short ones of which each has to come in its turn; `window SECONDS`, puts, gets and sums of both ranks in each other's window; `speed MIB`,
 * how fast so many MiB go one way. Every byte is looked at.
 * Rank 0 says when it has begun, and what it has found in the end. */
#include "../check.h"

enum { MOST = 1 << 21 };

static unsigned word(unsigned round, unsigned at) { return (round * 2654435761u) ^ (at * 40503u); }

static void go_long(double seconds)
{
    static const int lengths[] = {1 << 18, MOST, 20000, 1 << 16, 700001};
    unsigned *out = malloc(MOST * sizeof *out), *in = malloc(MOST * sizeof *in);
    double begin = MPI_Wtime();
    int go_on = 1, other = 1 - rank;
    unsigned round = 0;
    for (; go_on; round++) {
        int n = lengths[round % 5];
        for (int i = 0; i < n; i++) out[i] = word(2 * round + rank, i), in[i] = 0;
        OK(MPI_Sendrecv(out, n, MPI_UNSIGNED, other, 0, in, n, MPI_UNSIGNED, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < n; i++) {
            unsigned wanted = word(2 * round + other, i);
            CHECK(in[i] == wanted, "round %u, word %d of %d is %u, expected %u", round, i, n, in[i], wanted);
        }
        if (rank == 0 && round == 5) printf("begun\n"), fflush(stdout);
        go_on = MPI_Wtime() - begin < seconds;
        OK(MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    if (rank == 0) printf("%u rounds are right\n", round);
    free(out);
    free(in);
}

static void go_short(double seconds)
{
    enum { BATCH = 500, WORDS = 1500 };
    static unsigned words[WORDS];
    double begin = MPI_Wtime();
    unsigned n = 0;
    for (int go_on = 1; go_on;) {
        for (unsigned end = n + BATCH; n < end; n++) {
            int length = n % 7 ? 2 : WORDS;
            if (rank == 0) {
                words[0] = n, words[length - 1] = ~n;
                OK(MPI_Send(words, length, MPI_UNSIGNED, 1, 0, MPI_COMM_WORLD));
            } else {
                OK(MPI_Recv(words, WORDS, MPI_UNSIGNED, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                CHECK(words[0] == n && words[length - 1] == ~n, "message %u came instead of message %u", words[0], n);
            }
        }
        if (rank == 0 && n == 2 * BATCH) printf("begun\n"), fflush(stdout);
        go_on = MPI_Wtime() - begin < seconds;
        OK(MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    if (rank == 0) printf("%u messages are right\n", n);
}

/* A counter that both add to, an array to which both add, and a part for each, which is written and read back in lengths of one packet and
 * of many. */
static void go_window(double seconds)
{
    enum { COUNTER = 0, SUMS = 1, SUM_WORDS = 5000, PART = SUMS + SUM_WORDS, PART_WORDS = 300000 };
    static const int lengths[] = {1, 700, PART_WORDS, 20000};
    static long ones[SUM_WORDS], out[PART_WORDS], in[PART_WORDS];
    long *memory, old, rounds = 0;
    int other = 1 - rank;
    MPI_Win win;
    OK(MPI_Win_allocate((PART + 2 * PART_WORDS) * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, (PART + 2 * PART_WORDS) * sizeof *memory);
    for (int i = 0; i < SUM_WORDS; i++) ones[i] = 1;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    double begin = MPI_Wtime();
    for (int go_on = 1; go_on; rounds++) {
        int n = lengths[rounds % 4];
        MPI_Aint part = PART + rank * PART_WORDS;
        for (int i = 0; i < n; i++) out[i] = (long)word(2 * rounds + rank, i), in[i] = -1;
        OK(MPI_Put(out, n, MPI_LONG, other, part, n, MPI_LONG, win));
        for (int to = 0; to < 2; to++) {
            OK(MPI_Fetch_and_op(ones, &old, MPI_LONG, to, COUNTER, MPI_SUM, win));
            OK(MPI_Accumulate(ones, SUM_WORDS, MPI_LONG, to, SUMS, SUM_WORDS, MPI_LONG, MPI_SUM, win));
        }
        OK(MPI_Win_flush_all(win));
        CHECK(old >= rounds, "a counter of %ld after %ld rounds", old, rounds);
        OK(MPI_Get(in, n, MPI_LONG, other, part, n, MPI_LONG, win));
        OK(MPI_Win_flush(other, win));
        CHECK(memcmp(in, out, n * sizeof *in) == 0, "round %ld: what was put is not what is got", rounds);
        if (rank == 0 && rounds == 3) printf("begun\n"), fflush(stdout);
        go_on = MPI_Wtime() - begin < seconds;
        OK(MPI_Bcast(&go_on, 1, MPI_INT, 0, MPI_COMM_WORLD));
    }
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    for (int i = 0; i < SUMS + SUM_WORDS; i++) CHECK(memory[i] == 2 * rounds, "word %d is %ld after %ld rounds", i, memory[i], rounds);
    OK(MPI_Win_unlock(rank, win));
    OK(MPI_Win_free(&win));
    if (rank == 0) printf("%ld rounds are right\n", rounds);
}

static void measure(int mib)
{
    enum { CHUNK = 8 };
    char *buffer = calloc(CHUNK << 20, 1), done = 0;
    double begin = 0;
    for (int round = -1; round < mib / CHUNK; round++) {
        if (round == 0) begin = MPI_Wtime();
        if (rank == 0) OK(MPI_Send(buffer, CHUNK << 20, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
        else OK(MPI_Recv(buffer, CHUNK << 20, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    if (rank == 1) OK(MPI_Send(&done, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD));
    else OK(MPI_Recv(&done, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 0) printf("speed %.1f MiB/s\n", mib / (MPI_Wtime() - begin));
    free(buffer);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    EQUAL(size, 2);
    const char *what = argc > 1 ? argv[1] : "long";
    double n = argc > 2 ? atof(argv[2]) : 1;
    if (!strcmp(what, "long")) go_long(n);
    else if (!strcmp(what, "short")) go_short(n);
    else if (!strcmp(what, "window")) go_window(n);
    else if (!strcmp(what, "speed")) measure((int)n);
    else FAIL("\"%s\" is none of long, short, window, speed", what);
    OK(MPI_Finalize());
    return 0;
}
