/* rma.c: one-sided communication on a window of MPI_Win_allocate. Rank 0 accesses the memory of rank 1: put, get, fetch-and-op
 * and compare-and-swap of 8 bytes, each with its flush; long puts; an accumulate beside the loop that does the same by hand;
 * many puts and one flush. All ranks: fences, post-start-complete-wait round the ring, locks, and a counter that all draw
 * from. Plain MPI. Output: lines "result NAME_RANKS VALUE UNIT" from rank 0. Called by `cargo xtask bench`. */
#include "measure.h"
#include <stdint.h>

enum { LONG = 1 << 20, DOUBLES = 1024, MANY = 1000, TICKETS = 20000 };

static int rank, size, bytes;
static MPI_Win win;
static char *memory, data[LONG];
static double operands[DOUBLES], sums[DOUBLES];
static MPI_Group before, after;

static void put(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    MPI_Put(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void get(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    MPI_Get(data, bytes, MPI_BYTE, 1, 0, bytes, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void many_puts(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    for (int i = 0; i < MANY; i++) MPI_Put(data + 8 * i, 8, MPI_BYTE, 1, 8 * i, 8, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

static void fetch_and_op(void *unused)
{
    int64_t one = 1, old;
    (void)unused;
    if (rank != 0) return;
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void compare_and_swap(void *unused)
{
    static int64_t now;
    int64_t next = now + 1, old = -1;
    (void)unused;
    if (rank != 0) return;
    MPI_Compare_and_swap(&next, &now, &old, MPI_INT64_T, 1, 8, win);
    MPI_Win_flush(1, win);
    if (old != now) measure_fail("what MPI_Compare_and_swap has found");
    now = next;
}

static void accumulate(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    MPI_Accumulate(operands, DOUBLES, MPI_DOUBLE, 1, 0, DOUBLES, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

static void by_hand(void *unused)
{
    volatile double *to = sums;
    (void)unused;
    for (int i = 0; i < DOUBLES; i++) to[i] += operands[i];
}

static void fence(void *unused)
{
    (void)unused;
    MPI_Put(data, 8, MPI_BYTE, (rank + 1) % size, 0, 8, MPI_BYTE, win);
    MPI_Win_fence(0, win);
}

static void post_start(void *unused)
{
    (void)unused;
    MPI_Win_post(before, 0, win);
    MPI_Win_start(after, 0, win);
    MPI_Put(data, 8, MPI_BYTE, (rank + 1) % size, 0, 8, MPI_BYTE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
}

static void lock(void *unused)
{
    (void)unused;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, (rank + 1) % size, 0, win);
    MPI_Put(data, 8, MPI_BYTE, (rank + 1) % size, 0, 8, MPI_BYTE, win);
    MPI_Win_unlock((rank + 1) % size, win);
}

static void report(const char *name, double value, const char *unit)
{
    char label[60];
    snprintf(label, sizeof label, "rma_%s_%d", name, size);
    if (rank == 0) measure_report(label, value, unit);
}

/* All draw tickets until there are none: the time of one, and how much more the luckiest rank gets than the unluckiest. */
static void contended(int fair)
{
    int64_t one = 1, none = 0, ticket = 0;
    double drawn = 0, least, most, start;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(memory, 0, 64);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (;;) {
        MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
        if (ticket >= TICKETS) break;
        drawn++;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    report("contended", (MPI_Wtime() - start) / TICKETS * 1e6, "us");
    MPI_Fetch_and_op(&none, &ticket, MPI_INT64_T, 0, 0, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    if (ticket != TICKETS + size) measure_fail("the number of tickets");
    MPI_Allreduce(&drawn, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&drawn, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    /* Ranks that share a CPU draw as many as they can in their turn. */
    if (fair) report("unfair", most / (least > 0 ? least : 1), "x");
}

int main(int argc, char **argv)
{
    int median, next, last;
    double batch;
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    median = size > (argc > 1 ? atoi(argv[1]) : 1);
    batch = median ? 0.1 : 0.02;
    next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &last, &before);
    MPI_Group_incl(all, 1, &next, &after);
    MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, LONG);
    MPI_Barrier(MPI_COMM_WORLD);
    if (size == 2) {
        const struct { const char *name; measure_step step; int bytes; } steps[] = {
            {"fetch_and_op", fetch_and_op, 8}, {"compare_and_swap", compare_and_swap, 8}, {"put_8", put, 8},
            {"get_8", get, 8}, {"put_65536", put, 65536}, {"put_1048576", put, LONG}, {"puts_1000", many_puts, 8},
        };
        MPI_Win_lock_all(0, win);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            bytes = steps[i].bytes;
            report(steps[i].name, measure(steps[i].step, NULL, batch, median) * 1e6, "us");
        }
        memset(data, 0, sizeof data);
        bytes = DOUBLES * sizeof(double);
        put(NULL);
        report("accumulate_8192", measure(accumulate, NULL, batch, median) * 1e6, "us");
        report("by_hand_8192", measure(by_hand, NULL, batch, median) * 1e6, "us");
        MPI_Win_unlock_all(win);
    }
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    report("fence", measure(fence, NULL, batch, median) * 1e6, "us");
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    report("post_start", measure(post_start, NULL, batch, median) * 1e6, "us");
    report("lock", measure(lock, NULL, batch, median) * 1e6, "us");
    MPI_Barrier(MPI_COMM_WORLD);
    contended(!median);
    MPI_Group_free(&all), MPI_Group_free(&before), MPI_Group_free(&after);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
