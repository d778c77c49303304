/* raw.c: what the machine itself allows, without any message-passing library.
 *
 * Two processes, each pinned to its own CPU, share one anonymous mapping:
 *   handoff   two flags in two cache lines, flipped in turn: one-way time of a cache line
 *   memcpy    one process copies a private buffer to another
 *   copy      both processes copy at once through a ring of slots; the best size of ring and slot, and the best
 *             kind of store, for messages there and back and for windows of messages one way
 *   slots     one producer writes 64-byte slots, one consumer reads them
 * or a TCP connection over the loopback interface:
 *   sockets   8 bytes there and back, spinning on the socket or sleeping in epoll; long messages one way
 * and, with one of them asleep:
 *   wake      how long until a process that has slept on a futex for a second has answered
 * Every number is the best of several batches, as in the programs it is compared with, at the hand-off that is wanted
 * (apart.h); without such a batch the line begins with "away". `usual` is the median of what the hand-off is within two seconds.
 * Usage: raw [all | usual | handoff | slots | memcpy | copy [one_way] [SIZE]... [window] [SIZE]... | sockets | wake]
 * Output: lines "result NAME VALUE UNIT"; those of `copy` go on with "ring BYTES slot BYTES stores KIND".
 * Called by `cargo xtask bench`.
 */
#define _GNU_SOURCE
#include "apart.h"

#include <linux/futex.h>
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
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

enum { LINE = 64, SLOTS = 256, BATCHES = 20 };
static const double NONE = 1e9;
enum { LARGEST_RING = 4 << 20, SMALLEST_SLOT = 2 << 10, MOST_SLOTS = LARGEST_RING / SMALLEST_SLOT };

struct line {
    _Alignas(LINE) _Atomic uint64_t word;
    char rest[LINE - 8];
};

/* What one side sends through. Slots are numbered from the start on and never anew: `filled` has the number of what
 * is in a slot, `drained` how many have been emptied. Both in pairs of lines, because processors fetch pairs. */
struct way {
    struct {
        _Alignas(2 * LINE) struct line line;
    } filled[MOST_SLOTS], drained;
    _Alignas(4096) unsigned char ring[LARGEST_RING];
};

struct shared {
    struct line ping, pong, produced[SLOTS], consumed;
    struct way ways[2];
    struct apart_flags apart;
};

static struct shared *shared;
/* Whether batches count only at the hand-off that is wanted. */
static int are_apart;

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
        apart_begin(are_apart ? &shared->apart : NULL, 1);
        side(1);
        _exit(0);
    }
    pin(0);
    apart_begin(are_apart ? &shared->apart : NULL, 0);
    side(0);
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "raw: the second process ended with status %d\n", status);
        exit(2);
    }
    sched_setaffinity(0, sizeof before, &before);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void usual(int side)
{
    enum { LOOKS = 41 };
    const struct timespec between = {0, 50000000};
    double looks[LOOKS];
    apart_begin(&shared->apart, side);
    for (int i = 0; i < LOOKS; i++) {
        looks[i] = apart_look();
        nanosleep(&between, NULL);
    }
    qsort(looks, LOOKS, sizeof *looks, by_value);
    if (side == 0) printf("result usual %.5f us\n", looks[LOOKS / 2]);
}

/* The best of some batches, seconds of a turn, and how many there were so far. */
struct batches {
    double best, before, start;
    int begun;
};

/* Begins another one, if there is to be one: so many, and as many again while none has counted. */
static int next_batch(struct batches *b, int wanted)
{
    if (b->begun == 0) {
        b->best = NONE;
        apart_wait();
    } else if (b->begun % wanted == 0 && !apart_again(b->best == NONE)) {
        return 0;
    }
    b->begun++;
    b->before = apart_look();
    b->start = apart_now();
    return 1;
}

static void end_batch(struct batches *b, int turns)
{
    double each = (apart_now() - b->start) / turns;
    if (apart_counts(b->before, apart_look()) && each < b->best) b->best = each;
}

/* A result, if there is one. */
static const char *word_of(double best)
{
    return best == NONE ? "away" : "result";
}

static void handoff(int side)
{
    enum { TURNS = 20000 };
    struct batches b = {0};
    uint64_t turn = 0;
    while (next_batch(&b, BATCHES)) {
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
        end_batch(&b, 2 * TURNS);
    }
    if (side == 0) printf("%s handoff %.5f us\n", word_of(b.best), b.best * 1e6);
}

static void slots(int side)
{
    enum { COUNT = 1 << 20, REPORT = SLOTS / 8 };
    struct batches b = {0};
    uint64_t next = 1, consumed = 0, sum = 0;
    while (next_batch(&b, BATCHES)) {
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
        end_batch(&b, COUNT);
    }
    if (side == 1 && sum != (next - 1) * next / 2) _exit(3);
    if (side == 0) printf("%s slots %.2f M/s\n", word_of(b.best), 1e-6 / b.best);
}

static const size_t sizes[] = {16384, 65536, 262144, 1048576, 4194304};
static const size_t rings[] = {128 << 10, 1 << 20, 2 << 20, 4 << 20};
static const size_t longest_slots[] = {2 << 10, 8 << 10, 32 << 10};
enum {
    SIZES = sizeof sizes / sizeof *sizes,
    RINGS = sizeof rings / sizeof *rings,
    SLOT_SIZES = sizeof longest_slots / sizeof *longest_slots,
    BULK_WINDOW = 16
};

static void fail(const char *what)
{
    perror(what);
    exit(2);
}

static unsigned char *pages(size_t size, int value)
{
    unsigned char *memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (memory == NULL) fail("raw: memory");
    memset(memory, value, size);
    return memory;
}

/* Stores that go past the caches, for the side that fills a slot. */
static void stream(unsigned char *to, const unsigned char *from, size_t n)
{
#if defined(__x86_64__)
    for (; n >= LINE; n -= LINE, to += LINE, from += LINE) {
        __m128i a = _mm_loadu_si128((const void *)from), b = _mm_loadu_si128((const void *)(from + 16));
        __m128i c = _mm_loadu_si128((const void *)(from + 32)), d = _mm_loadu_si128((const void *)(from + 48));
        _mm_stream_si128((void *)to, a);
        _mm_stream_si128((void *)(to + 16), b);
        _mm_stream_si128((void *)(to + 32), c);
        _mm_stream_si128((void *)(to + 48), d);
    }
    _mm_sfence();
#endif
    memcpy(to, from, n);
}

/* By the string instruction, which fetches another core's lines in its own way on some processors. */
static void string(unsigned char *to, const unsigned char *from, size_t n)
{
#if defined(__x86_64__)
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
#else
    memcpy(to, from, n);
#endif
}

enum stores { PLAIN, STREAMING, STRING, KINDS_OF_STORES };

static const char *const stores_names[] = {"plain", "streaming", "string"};

static void copy_by(enum stores stores, int fills, unsigned char *to, const unsigned char *from, size_t n)
{
    if (stores == STRING) string(to, from, n);
    else if (stores == STREAMING && fills) stream(to, from, n);
    else memcpy(to, from, n);
}

/* How messages go through a ring, and how fast that was. */
struct pipeline {
    size_t ring, slot;
    enum stores stores;
    double seconds;
};

/* Where a side is in each way; each way has a ring of its own, as it must where both may send at once. */
struct place {
    uint64_t next[2], drained;
};

static void send_through(const struct pipeline *p, int side, struct place *at, const unsigned char *from, size_t n)
{
    struct way *way = &shared->ways[side];
    size_t slots = p->ring / p->slot;
    for (size_t done = 0; done < n; done += p->slot) {
        size_t part = n - done < p->slot ? n - done : p->slot;
        uint64_t number = at->next[side]++;
        unsigned char *slot = way->ring + number % slots * p->slot;
        while (number - at->drained >= slots) {
            at->drained = atomic_load_explicit(&way->drained.line.word, memory_order_acquire);
        }
        copy_by(p->stores, 1, slot, from + done, part);
        publish(&way->filled[number % slots].line, number + 1);
    }
}

static void receive_through(const struct pipeline *p, int side, struct place *at, unsigned char *to, size_t n)
{
    struct way *way = &shared->ways[1 - side];
    size_t slots = p->ring / p->slot;
    for (size_t done = 0; done < n; done += p->slot) {
        size_t part = n - done < p->slot ? n - done : p->slot;
        uint64_t number = at->next[1 - side]++;
        await(&way->filled[number % slots].line, number + 1);
        copy_by(p->stores, 0, to + done, way->ring + number % slots * p->slot, part);
        publish(&way->drained.line, number + 1);
    }
}

static size_t copy_size;
static int copy_window;

/* One pipeline in batches. A turn is a message there and back, or a window of messages and an answer. Before a side
 * sends the first message of another pipeline it has received the last one of this, so all slots are empty. */
static void run_pipeline(struct pipeline *p, int side, struct place *at, const unsigned char *out, unsigned char *in)
{
    size_t n = copy_size, all = copy_window ? n * BULK_WINDOW : n;
    int batches = copy_window ? BATCHES / 2 : BATCHES, turns = (int)((2u << 20) / all);
    if (turns < 2) turns = copy_window ? 1 : 2;
    if (turns > 100) turns = 100;
    memset(in, 0, all);
    struct batches b = {0};
    while (next_batch(&b, batches)) {
        for (int i = 0; i < turns; i++) {
            for (int way = 0; way < 2; way++) {
                size_t length = copy_window && way == 1 ? 1 : all;
                for (size_t done = 0; done < length; done += n) {
                    size_t message = length - done < n ? length - done : n;
                    if (way == side) send_through(p, side, at, out + done, message);
                    else receive_through(p, side, at, in + done, message);
                }
            }
        }
        end_batch(&b, turns * (copy_window ? BULK_WINDOW : 2));
    }
    p->seconds = b.best;
    if (memcmp(in, out, copy_window && side == 0 ? 1 : all) != 0) {
        fprintf(stderr, "raw: the bytes that came through the ring are not those that were sent\n");
        _exit(3);
    }
}

/* All pipelines for one size; the best is the limit. */
static void copy(int side)
{
    size_t all = copy_window ? copy_size * BULK_WINDOW : copy_size;
    unsigned char *out = pages(all, 0), *in = pages(all, 0);
    struct pipeline best = {.seconds = NONE};
    struct place at = {0};
    for (size_t i = 0; i < all; i++) out[i] = (unsigned char)(i * 31 + i / 251 + 7);
    for (int ring = 0; ring < RINGS; ring++) {
        for (int longest = 0; longest < SLOT_SIZES; longest++) {
            size_t slot = copy_size < longest_slots[longest] ? copy_size : longest_slots[longest];
            if (longest > 0 && copy_size <= longest_slots[longest - 1]) continue; /* that was the same */
            for (int stores = PLAIN; stores < KINDS_OF_STORES; stores++) {
                struct pipeline one = {rings[ring], slot, stores, 0};
                run_pipeline(&one, side, &at, out, in);
                if (one.seconds < best.seconds) best = one;
            }
        }
    }
    if (side == 0) {
        printf("%s %s_%zu %.3f GB/s ring %zu slot %zu stores %s\n", word_of(best.seconds),
               copy_window ? "stream" : "copy", copy_size, copy_size / best.seconds * 1e-9, best.ring, best.slot,
               stores_names[best.stores]);
    }
    free(out);
    free(in);
}

/* The words are sizes, and before them how messages of these sizes go. */
static void copies(int count, char **words)
{
    for (int i = 0; i < count; i++) {
        copy_size = strtoul(words[i], NULL, 10);
        if (strcmp(words[i], "window") == 0) copy_window = 1;
        else if (strcmp(words[i], "one_way") == 0) copy_window = 0;
        else if (copy_size >= SMALLEST_SLOT) both(copy);
        else {
            fprintf(stderr, "raw: %s is neither one_way nor window nor a size of %d or more\n", words[i], SMALLEST_SLOT);
            exit(2);
        }
    }
}

static void usual_copies(void)
{
    for (int i = 0; i < SIZES; i++) {
        copy_size = sizes[i];
        both(copy);
    }
}

static unsigned char *private_buffer;
static int ends[2], asleep;
static size_t stream_size;

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
    struct batches b = {0};
    epoll_ctl(set, EPOLL_CTL_ADD, end, &event);
    while (next_batch(&b, BATCHES)) {
        for (int i = 0; i < turns; i++) {
            if (side == 0) put_all(end, there);
            else get_all(end, set, there);
            if (i + 1 < turns && back == 1) continue; /* one answer to all of them */
            if (side == 0) get_all(end, set, back);
            else put_all(end, back);
        }
        end_batch(&b, turns);
    }
    close(set);
    return b.best;
}

static void socket_latency(int side)
{
    double turn = socket_turns(side, asleep ? 500 : 2000, 8, 8);
    if (side != 0) return;
    printf("%s %s %.3f us\n", word_of(turn), asleep ? "socket_asleep" : "socket_8", turn / 2 * 1e6);
    if (!asleep) printf("%s socket_turn_8 %.3f us\n", word_of(turn), turn * 1e6);
}

/* Long data there and back, halved, and long data that is answered by a word. */
static void socket_long(int side)
{
    static const size_t lengths[] = {65536, 1 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        double back = socket_turns(side, 200, lengths[i], lengths[i]), word = socket_turns(side, 200, lengths[i], 8);
        if (side != 0) continue;
        printf("%s socket_oneway_%zu %.3f us\n", word_of(back), lengths[i], back / 2 * 1e6);
        printf("%s socket_turn_%zu %.3f us\n", word_of(word), lengths[i], word * 1e6);
    }
}

static void socket_stream(int side)
{
    double best = socket_turns(side, (int)((64u << 20) / stream_size), stream_size, 1);
    if (side == 0) printf("%s socket_%zu %.3f GB/s\n", word_of(best), stream_size, stream_size / best * 1e-9);
}

static void sockets(void)
{
    private_buffer = pages(sizes[SIZES - 1], 1);
    connect_ends();
    both(socket_latency);
    asleep = 1;
    both(socket_latency);
    asleep = 0;
    both(socket_long);
    for (int i = 0; i < SIZES; i++) {
        stream_size = sizes[i];
        both(socket_stream);
    }
}

static void memcpys(void)
{
    static const size_t lengths[] = {65536, 1 << 20, 4 << 20, 16 << 20};
    unsigned char *from = pages(16 << 20, 1), *to = pages(16 << 20, 2);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t size = lengths[i];
        int turns = (int)((16u << 20) / size);
        double best = 1e9;
        for (int batch = 0; batch < BATCHES; batch++) {
            double start = apart_now();
            for (int k = 0; k < turns; k++) {
                memcpy(to, from, size);
                __asm__ volatile("" : : "r"(to) : "memory");
            }
            double each = (apart_now() - start) / turns;
            if (each < best) best = each;
        }
        printf("result memcpy_%zu %.3f GB/s\n", size, size / best * 1e-9);
    }
    free(from);
    free(to);
}

/* One wake-up, as in pt2pt.c: the one who wakes spins for the answer. */
static void wake(int side)
{
    uint32_t *word = (uint32_t *)&shared->ping.word; /* its lower half */
    if (side == 1) {
        while (atomic_load(&shared->ping.word) == 0) syscall(SYS_futex, word, FUTEX_WAIT, 0, NULL, NULL, 0);
        publish(&shared->pong, 1);
        return;
    }
    struct timespec second = {1, 0};
    nanosleep(&second, NULL);
    double start = apart_now();
    atomic_store(&shared->ping.word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
    await(&shared->pong, 1);
    printf("result futex_wake %.3f us\n", (apart_now() - start) * 1e6);
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
    are_apart = apart_is_wanted();
    if (strcmp(what, "usual") == 0) both(usual);
    if (all || strcmp(what, "handoff") == 0) both(handoff);
    if (all || strcmp(what, "slots") == 0) both(slots);
    if (all || strcmp(what, "memcpy") == 0) memcpys();
    if (all) usual_copies();
    if (strcmp(what, "copy") == 0) copies(argc - 2, argv + 2);
    if (strcmp(what, "sockets") == 0) sockets();
    if (strcmp(what, "wake") == 0) both(wake);
    return 0;
}
