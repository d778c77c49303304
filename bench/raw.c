/* raw.c: what the machine itself allows, without any message-passing library.
 *
 * Two processes, each pinned to its own CPU, share one anonymous mapping:
 *   handoff   two flags in two cache lines, flipped in turn: one-way time of a cache line
 *   memcpy    one process copies a private buffer to another
 *   copy      both processes copy at once through a small ring that stays in the cache
 *   slots     one producer writes 64-byte slots, one consumer reads them
 * or a TCP connection over the loopback interface:
 *   sockets   8 bytes there and back, spinning on the socket or sleeping in epoll; long messages one way
 * Every number is the best of several batches, as in the programs it is compared with.
 * Output: lines "result NAME VALUE UNIT". Called by `cargo xtask bench`.
 */
#define _GNU_SOURCE
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, SLOTS = 256, RING = 1 << 20, BATCHES = 20 };

struct line {
    _Alignas(LINE) _Atomic uint64_t word;
    char rest[LINE - 8];
};

struct shared {
    struct line ping, pong, produced[SLOTS], consumed, filled, drained;
    _Alignas(4096) unsigned char ring[RING];
};

static struct shared *shared;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static inline void await(struct line *line, uint64_t value)
{
    while (atomic_load_explicit(&line->word, memory_order_acquire) != value) relax();
}

static inline void publish(struct line *line, uint64_t value)
{
    atomic_store_explicit(&line->word, value, memory_order_release);
}

static void pin(int which)
{
    cpu_set_t usable, one;
    sched_getaffinity(0, sizeof usable, &usable);
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &usable) || seen++ != which) continue;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0) return;
    }
    fprintf(stderr, "raw: CPU number %d of the usable ones can't be had; two CPUs are needed\n", which);
    exit(2);
}

/* Forks; the child plays side 1, the parent side 0. Returns in the parent when both are done. */
static void both(void (*side)(int))
{
    cpu_set_t before;
    sched_getaffinity(0, sizeof before, &before);
    memset(shared, 0, sizeof *shared);
    pid_t child = fork();
    if (child < 0) {
        perror("raw: fork");
        exit(2);
    }
    if (child == 0) {
        pin(1);
        side(1);
        _exit(0);
    }
    pin(0);
    side(0);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "raw: the second process ended with status %d\n", status);
        exit(2);
    }
    sched_setaffinity(0, sizeof before, &before);
}

static void handoff(int side)
{
    enum { TURNS = 20000 };
    double best = 1e9;
    uint64_t turn = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now();
        for (int i = 0; i < TURNS; i++) {
            turn++;
            if (side == 0) {
                publish(&shared->ping, turn);
                while (atomic_load_explicit(&shared->pong.word, memory_order_acquire) != turn) {}
            } else {
                while (atomic_load_explicit(&shared->ping.word, memory_order_acquire) != turn) {}
                publish(&shared->pong, turn);
            }
        }
        double one_way = (now() - start) / TURNS / 2;
        if (one_way < best) best = one_way;
    }
    if (side == 0) printf("result handoff %.5f us\n", best * 1e6);
}

static void slots(int side)
{
    enum { COUNT = 1 << 20, REPORT = SLOTS / 8 };
    double best = 1e9;
    uint64_t next = 1, consumed = 0, sum = 0;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now();
        for (int i = 0; i < COUNT; i++, next++) {
            struct line *slot = &shared->produced[next % SLOTS];
            if (side == 0) {
                while (next - consumed > SLOTS) {
                    consumed = atomic_load_explicit(&shared->consumed.word, memory_order_acquire);
                }
                memcpy(slot->rest, &next, 8);
                publish(slot, next);
            } else {
                uint64_t value;
                while (atomic_load_explicit(&slot->word, memory_order_acquire) != next) {}
                memcpy(&value, slot->rest, 8);
                sum += value;
                if (next % REPORT == 0) publish(&shared->consumed, next);
            }
        }
        if (side == 0) {
            while (atomic_load_explicit(&shared->consumed.word, memory_order_acquire) != next - 1) {}
        }
        double each = (now() - start) / COUNT;
        if (each < best) best = each;
    }
    if (side == 1 && sum != (next - 1) * next / 2) _exit(3);
    if (side == 0) printf("result slots %.2f M/s\n", 1e-6 / best);
}

static size_t copy_size, copy_chunk, copy_cells;
static double copy_best;
static unsigned char *private_buffer;

/* One message through the ring: the sender fills cells while the receiver drains them. */
static void through_ring(int sender, uint64_t *cell)
{
    for (size_t at = 0; at < copy_size; at += copy_chunk, (*cell)++) {
        size_t length = copy_size - at < copy_chunk ? copy_size - at : copy_chunk;
        unsigned char *place = shared->ring + *cell % copy_cells * copy_chunk;
        if (sender) {
            while (*cell >= copy_cells + atomic_load_explicit(&shared->drained.word, memory_order_acquire)) relax();
            memcpy(place, private_buffer + at, length);
            publish(&shared->filled, *cell + 1);
        } else {
            while (atomic_load_explicit(&shared->filled.word, memory_order_acquire) <= *cell) relax();
            memcpy(private_buffer + at, place, length);
            publish(&shared->drained, *cell + 1);
        }
    }
}

static void copy(int side)
{
    int turns = (int)((4u << 20) / copy_size);
    if (turns > 100) turns = 100;
    uint64_t cell = 0;
    copy_best = 1e9;
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now();
        for (int i = 0; i < turns; i++) {
            through_ring(side == 0, &cell);
            through_ring(side == 1, &cell);
        }
        double one_way = (now() - start) / turns / 2;
        if (batch > 0 && one_way < copy_best) copy_best = one_way;
    }
}

static const size_t sizes[] = {16384, 65536, 262144, 1048576, 4194304};

static void copies(void)
{
    private_buffer = aligned_alloc(4096, sizes[4]);
    memset(private_buffer, 1, sizes[4]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double best = 1e9;
        size_t best_chunk = 0;
        copy_size = sizes[i];
        for (copy_chunk = 2048; copy_chunk <= 65536 && copy_chunk <= copy_size; copy_chunk *= 2) {
            copy_cells = 262144 / copy_chunk < 16 ? 262144 / copy_chunk : 16;
            both(copy);
            if (copy_best < best) {
                best = copy_best;
                best_chunk = copy_chunk;
            }
        }
        printf("result copy_%zu %.3f GB/s\n", copy_size, copy_size / best * 1e-9);
        fprintf(stderr, "raw: %zu bytes go fastest in chunks of %zu\n", copy_size, best_chunk);
    }
}

static int ends[2], asleep;
static size_t stream_size;

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static void connect_ends(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (listener < 0 || ends[0] < 0 || bind(listener, (void *)&address, length) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (void *)&address, &length) != 0 || connect(ends[0], (void *)&address, length) != 0 ||
        (ends[1] = accept(listener, NULL, NULL)) < 0) {
        fail("raw: a TCP connection");
    }
    for (int i = 0; i < 2; i++) setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    close(listener);
}

static void put_all(int end, size_t n)
{
    for (unsigned char *at = private_buffer; n > 0;) {
        ssize_t now = send(end, at, n, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (now > 0) at += now, n -= (size_t)now;
    }
}

static void get_all(int end, int set, size_t n)
{
    for (unsigned char *at = private_buffer; n > 0;) {
        struct epoll_event event;
        if (asleep) epoll_wait(set, &event, 1, -1);
        ssize_t now = recv(end, at, n, MSG_DONTWAIT);
        if (now == 0) _exit(3);
        if (now > 0) at += now, n -= (size_t)now;
    }
}

/* The side sends `there` bytes and gets `back`, or the other way round; best time of a turn. */
static double socket_turns(int side, int turns, size_t there, size_t back)
{
    int end = ends[side], set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    double best = 1e9;
    epoll_ctl(set, EPOLL_CTL_ADD, end, &event);
    for (int batch = 0; batch < BATCHES; batch++) {
        double start = now();
        for (int i = 0; i < turns; i++) {
            if (side == 0) put_all(end, there);
            else get_all(end, set, there);
            if (i + 1 < turns && back == 1) continue; /* one answer to all of them */
            if (side == 0) get_all(end, set, back);
            else put_all(end, back);
        }
        double each = (now() - start) / turns;
        if (each < best) best = each;
    }
    close(set);
    return best;
}

static void socket_latency(int side)
{
    double best = socket_turns(side, asleep ? 500 : 2000, 8, 8) / 2;
    if (side == 0) printf("result %s %.3f us\n", asleep ? "socket_asleep" : "socket_8", best * 1e6);
}

static void socket_stream(int side)
{
    double best = socket_turns(side, (int)((64u << 20) / stream_size), stream_size, 1);
    if (side == 0) printf("result socket_%zu %.3f GB/s\n", stream_size, stream_size / best * 1e-9);
}

static void sockets(void)
{
    private_buffer = aligned_alloc(4096, sizes[4]);
    memset(private_buffer, 1, sizes[4]);
    connect_ends();
    both(socket_latency);
    asleep = 1;
    both(socket_latency);
    asleep = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        stream_size = sizes[i];
        both(socket_stream);
    }
}

static void memcpys(void)
{
    unsigned char *from = aligned_alloc(4096, sizes[4]), *to = aligned_alloc(4096, sizes[4]);
    memset(from, 1, sizes[4]);
    memset(to, 2, sizes[4]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = sizes[i];
        int turns = (int)((8u << 20) / size);
        double best = 1e9;
        for (int batch = 0; batch < BATCHES; batch++) {
            double start = now();
            for (int k = 0; k < turns; k++) {
                memcpy(to, from, size);
                __asm__ volatile("" : : "r"(to) : "memory");
            }
            double each = (now() - start) / turns;
            if (each < best) best = each;
        }
        printf("result memcpy_%zu %.3f GB/s\n", size, size / best * 1e-9);
    }
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "all";
    int all = strcmp(what, "all") == 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("raw: mmap");
        return 2;
    }
    if (all || strcmp(what, "handoff") == 0) both(handoff);
    if (all || strcmp(what, "slots") == 0) both(slots);
    if (all || strcmp(what, "memcpy") == 0) memcpys();
    if (all || strcmp(what, "copy") == 0) copies();
    if (strcmp(what, "sockets") == 0) sockets();
    return 0;
}
