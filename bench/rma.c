/* rma.c: one-sided communication on a window of MPI_Win_allocate. Rank 0 accesses the memory of rank 1: put, get, fetch-and-op
 * and compare-and-swap of 8 bytes, each with its flush, beside the bare steps of the processor with their fence, while the line is its
 * own and where rank 1 has written it last; the same on a created window; long puts beside memcpy; an accumulate beside the loop that
 * does the same by hand; many puts and one flush. All ranks: fences, post-start-complete-wait round the ring, locks, and a counter that
 * all draw from. `rma over`: what is measured over a network. Plain MPI. Output: lines "result NAME_RANKS VALUE UNIT" from rank 0.
 * Called by `cargo xtask bench`. */
#include "measure.h"
#include <stdatomic.h>
#include <stdint.h>

enum { LONG = 1 << 20, DOUBLES = 1024, MANY = 1000, TICKETS = 20000, STREAM = 16 };
/* Lines that rank 1 writes and rank 0 then changes, and how far they are apart: no prefetcher brings one with another. */
enum { LINES = 64, APART = 256, FAR_TURNS = 400 };

static int rank, size, bytes;
static MPI_Win win;
static char *memory, data[LONG];
/* The memory of rank 1 as loads and stores reach it, and a word of each rank by which they take turns. */
static char *bare;
static _Atomic int64_t *turns[2];
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

/* What MPI_Compare_and_swap has left in the window. */
static int64_t swapped;

static void compare_and_swap(void *unused)
{
    int64_t next = swapped + 1, old = -1;
    (void)unused;
    if (rank != 0) return;
    MPI_Compare_and_swap(&next, &swapped, &old, MPI_INT64_T, 1, 8, win);
    MPI_Win_flush(1, win);
    if (old != swapped) measure_fail("what MPI_Compare_and_swap has found");
    swapped = next;
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

static _Atomic int64_t *bare_word(int at)
{
    return (_Atomic int64_t *)(void *)(bare + at);
}

static void bare_put(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    atomic_store_explicit(bare_word(0), 7, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

static void bare_get(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    *(volatile int64_t *)(void *)data = atomic_load_explicit(bare_word(0), memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
}

static void bare_fetch_and_op(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    *(volatile int64_t *)(void *)data = atomic_fetch_add(bare_word(0), 1);
    atomic_thread_fence(memory_order_seq_cst);
}

static void bare_compare_and_swap(void *unused)
{
    int64_t old = swapped;
    (void)unused;
    if (rank != 0) return;
    if (!atomic_compare_exchange_strong(bare_word(8), &old, swapped + 1)) measure_fail("what a compare-and-swap has found");
    atomic_thread_fence(memory_order_seq_cst);
    swapped++;
}

static void bare_copy(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    memcpy(bare, data, (size_t)bytes);
    __asm__ volatile("" : : "r"(bare) : "memory");
    atomic_thread_fence(memory_order_seq_cst);
}

static void stream(void *unused)
{
    (void)unused;
    if (rank != 0) return;
    for (int i = 0; i < STREAM; i++) MPI_Put(data, LONG, MPI_BYTE, 1, 0, LONG, MPI_BYTE, win);
    MPI_Win_flush(1, win);
}

/* One operation on a line of rank 1's memory, by MPI or bare. */
static void far_put(int at, int is_bare)
{
    int64_t value = 7;
    if (is_bare) {
        atomic_store_explicit(bare_word(at), value, memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        return;
    }
    MPI_Put(&value, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(1, win);
}

static void far_get(int at, int is_bare)
{
    int64_t value;
    if (is_bare) {
        *(volatile int64_t *)(void *)data = atomic_load_explicit(bare_word(at), memory_order_relaxed);
        atomic_thread_fence(memory_order_seq_cst);
        return;
    }
    MPI_Get(&value, 1, MPI_INT64_T, 1, at, 1, MPI_INT64_T, win);
    MPI_Win_flush(1, win);
}

static void far_fetch_and_op(int at, int is_bare)
{
    int64_t one = 1, old;
    if (is_bare) {
        *(volatile int64_t *)(void *)data = atomic_fetch_add(bare_word(at), one);
        atomic_thread_fence(memory_order_seq_cst);
        return;
    }
    MPI_Fetch_and_op(&one, &old, MPI_INT64_T, 1, at, MPI_SUM, win);
    MPI_Win_flush(1, win);
}

/* What a compare-and-swap finds in each line. */
static int64_t far_value;

static void far_compare_and_swap(int at, int is_bare)
{
    int64_t next = far_value + 1, old = -1;
    if (is_bare) {
        old = far_value;
        if (!atomic_compare_exchange_strong(bare_word(at), &old, next)) measure_fail("what a compare-and-swap there has found");
        atomic_thread_fence(memory_order_seq_cst);
        return;
    }
    MPI_Compare_and_swap(&next, &far_value, &old, MPI_INT64_T, 1, at, win);
    MPI_Win_flush(1, win);
    if (old != far_value) measure_fail("what MPI_Compare_and_swap has found there");
}

/* Seconds for one operation on a line that rank 1 has just written: the best turn, of the same turns for both. */
static void written_far(void (*step)(int, int), double best[2])
{
    int64_t turn = 0;
    best[0] = best[1] = 1e9;
    atomic_store(turns[rank], 0);
    memset(memory, 0, LINES * APART);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 * FAR_TURNS; i++) {
        turn++;
        if (rank == 1) {
            for (int line = 0; line < LINES; line++) atomic_fetch_add((_Atomic int64_t *)(void *)(memory + line * APART), 1);
            atomic_store(turns[1], turn);
            while (atomic_load(turns[0]) != turn) {}
        } else {
            while (atomic_load(turns[1]) != turn) {}
            far_value = 2 * turn - 1; /* both have added one in each turn, if it is that which is measured */
            double start = MPI_Wtime();
            for (int line = 0; line < LINES; line++) step(line * 37 % LINES * APART, i % 2);
            double each = (MPI_Wtime() - start) / LINES;
            if (each < best[i % 2]) best[i % 2] = each;
            atomic_store(turns[0], turn);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
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
    char label[80];
    snprintf(label, sizeof label, "rma_%s_%d", name, size);
    if (rank == 0) measure_report(label, value, unit);
}

/* All draw tickets until there are none: the time of one. Then they draw for a while, in which ranks that share a CPU have many turns: how
 * much more the luckiest rank gets than the unluckiest. */
static void contended(double seconds)
{
    int64_t one = 1, none = 0, ticket = 0;
    double drawn = 0, least, most, start, end, first, last;
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
    }
    /* From the first that began to the last that ended: a rank that has no CPU at the barrier may begin late. */
    end = MPI_Wtime();
    MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    report("contended", (last - first) / TICKETS * 1e6, "us");
    MPI_Fetch_and_op(&none, &ticket, MPI_INT64_T, 0, 0, MPI_NO_OP, win);
    MPI_Win_flush(0, win);
    if (ticket != TICKETS + size) measure_fail("the number of tickets");
    MPI_Barrier(MPI_COMM_WORLD);
    for (start = MPI_Wtime(); MPI_Wtime() - start < seconds; drawn++) {
        MPI_Fetch_and_op(&one, &ticket, MPI_INT64_T, 0, 0, MPI_SUM, win);
        MPI_Win_flush(0, win);
    }
    MPI_Allreduce(&drawn, &least, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&drawn, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    report("unfair", most / (least > 0 ? least : 1), "x");
}

/* What is over at once where memory is mapped; `kind` goes before the names. */
static void short_ones(const char *kind, double batch, int median)
{
    const struct { const char *name; measure_step step; } steps[] = {
        {"fetch_and_op", fetch_and_op}, {"compare_and_swap", compare_and_swap}, {"put_8", put}, {"get_8", get}, {"lock", lock},
    };
    char name[60];
    bytes = 8;
    swapped = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int is_lock = steps[i].step == lock;
        if (is_lock && !*kind) continue; /* all ranks do that */
        if (!is_lock) MPI_Win_lock_all(0, win);
        snprintf(name, sizeof name, "%s%s", kind, steps[i].name);
        report(name, measure(steps[i].step, NULL, batch, median) * 1e6, "us");
        if (!is_lock) MPI_Win_unlock_all(win);
    }
}

/* The bare steps on memory that is mapped by both, and what a window takes beyond them. */
static void beside_bare(double batch, int median)
{
    const struct { const char *name; measure_step step, bare; void (*far)(int, int); } steps[] = {
        {"put", put, bare_put, far_put}, {"get", get, bare_get, far_get},
        {"fetch_and_op", fetch_and_op, bare_fetch_and_op, far_fetch_and_op},
        {"compare_and_swap", compare_and_swap, bare_compare_and_swap, far_compare_and_swap},
    };
    char name[60], *theirs;
    MPI_Win outer = win;
    MPI_Aint length;
    int unit;
    MPI_Win_allocate_shared(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, LONG);
    MPI_Win_shared_query(win, 1, &length, &unit, &bare);
    for (int i = 0; i < 2; i++) {
        MPI_Win_shared_query(win, i, &length, &unit, &theirs);
        turns[i] = (_Atomic int64_t *)(void *)(theirs + LONG - 4096);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    bytes = 8;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        double both[2];
        memset(memory, 0, 64);
        swapped = 0;
        MPI_Barrier(MPI_COMM_WORLD);
        double alone = measure(steps[i].bare, NULL, batch, median);
        memset(memory, 0, 64);
        MPI_Barrier(MPI_COMM_WORLD);
        swapped = 0;
        double of_window = measure(steps[i].step, NULL, batch, median);
        snprintf(name, sizeof name, "bare_%s", steps[i].name);
        report(name, alone * 1e6, "us");
        snprintf(name, sizeof name, "more_%s", steps[i].name);
        report(name, (of_window - alone) * 1e9, "ns");
        written_far(steps[i].far, both);
        snprintf(name, sizeof name, "far_%s", steps[i].name);
        report(name, both[0] * 1e6, "us");
        snprintf(name, sizeof name, "bare_far_%s", steps[i].name);
        report(name, both[1] * 1e6, "us");
    }
    for (bytes = 65536; bytes <= LONG; bytes *= 16) {
        snprintf(name, sizeof name, "memcpy_%d", bytes);
        report(name, measure(bare_copy, NULL, batch, median) * 1e6, "us");
        snprintf(name, sizeof name, "put_%d", bytes);
        report(name, measure(put, NULL, batch, median) * 1e6, "us");
    }
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    win = outer;
}

/* The same operations on memory that the program has allocated. */
static void created(double batch, int median)
{
    MPI_Win outer = win;
    char *own;
    MPI_Alloc_mem(LONG, MPI_INFO_NULL, &own);
    memset(own, 0, LONG);
    MPI_Win_create(own, LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    short_ones("created_", batch, median);
    MPI_Win_free(&win);
    MPI_Free_mem(own);
    win = outer;
}

/* What goes over a network: one put, many, long ones. */
static void over(double batch)
{
    MPI_Win_lock_all(0, win);
    bytes = 8;
    report("put_8", measure(put, NULL, batch, 0) * 1e6, "us");
    report("get_8", measure(get, NULL, batch, 0) * 1e6, "us");
    report("fetch_and_op", measure(fetch_and_op, NULL, batch, 0) * 1e6, "us");
    for (bytes = 65536; bytes <= LONG; bytes *= 16) {
        char name[32];
        snprintf(name, sizeof name, "put_%d", (int)bytes);
        report(name, measure(put, NULL, batch, 0) * 1e6, "us");
        snprintf(name, sizeof name, "get_%d", (int)bytes);
        report(name, measure(get, NULL, batch, 0) * 1e6, "us");
    }
    bytes = 8;
    report("puts_1000", measure(many_puts, NULL, batch, 0) * 1e6, "us");
    report("stream_1048576", 1e-9 * STREAM * LONG / measure(stream, NULL, batch, 0), "GB/s");
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv)
{
    int median, next, last, is_over = argc > 1 && strcmp(argv[1], "over") == 0;
    double batch;
    MPI_Group all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    median = !is_over && size > (argc > 1 ? atoi(argv[1]) : 1);
    batch = median ? 0.1 : 0.02;
    next = (rank + 1) % size, last = (rank + size - 1) % size;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &last, &before);
    MPI_Group_incl(all, 1, &next, &after);
    MPI_Win_allocate(LONG, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, LONG);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is_over) {
        over(batch);
        MPI_Group_free(&all), MPI_Group_free(&before), MPI_Group_free(&after);
        MPI_Win_free(&win);
        MPI_Finalize();
        return 0;
    }
    if (size == 2) {
        char *outer = memory;
        short_ones("", batch, median);
        beside_bare(batch, median);
        memory = outer;
        created(batch, median);
        MPI_Win_lock_all(0, win);
        report("puts_1000", measure(many_puts, NULL, batch, median) * 1e6, "us");
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
    contended(median ? 1.0 : 0.2);
    MPI_Group_free(&all), MPI_Group_free(&before), MPI_Group_free(&after);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
