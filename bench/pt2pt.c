/* pt2pt.c: two ranks: one-way latency, message rate, windowed bandwidth, CPU time of a waiting rank. Further ranks
 * only stand by.
 * `rotating` goes through buffers that no cache holds, and looks at all that arrived before and after.
 * Plain MPI. Usage: pt2pt [multiple] [posted] [latency] [bandwidth] [rate] [rotating] [idle]   (default: all but idle)
 * What is measured behind `multiple` or `posted` is measured with MPI_THREAD_MULTIPLE, or while a receive from any source
 * is posted that nothing matches.
 * Output: lines "result NAME VALUE UNIT" from rank 0. Called by `cargo xtask bench`. */
#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int rank, peer;

struct transfer {
    char *out, *in;
    size_t size, span; /* span > size: the buffers rotate through so many bytes */
    size_t at;
};

static void ping_pong(void *what)
{
    struct transfer *t = what;
    char *out = t->out + t->at, *in = t->in + t->at;
    if (rank > 1) return;
    if (rank == 0) {
        MPI_Send(out, (int)t->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in, (int)t->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, (int)t->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, (int)t->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
    t->at += t->size;
    if (t->at + t->size > t->span) t->at = 0;
}

enum { WINDOW = 64, BULK_WINDOW = 16 };

struct window {
    char *buffer;
    size_t size;
    int count;
};

static void window(void *what)
{
    struct window *w = what;
    MPI_Request requests[WINDOW];
    char token = 0;
    if (rank > 1) return;
    for (int i = 0; i < w->count; i++) {
        char *at = w->buffer + (size_t)i * w->size;
        if (rank == 0) MPI_Isend(at, (int)w->size, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[i]);
        else MPI_Irecv(at, (int)w->size, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(w->count, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(&token, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(&token, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
}

/* Rank 0's bytes come back unchanged through rank 1: a wrong copy must not win. */
static void check_content(struct transfer *t)
{
    if (rank > 1) return;
    for (size_t i = 0; i < t->size; i++) t->out[i] = (char)(i * 31 + i / 251 + 7);
    if (rank == 1) memset(t->out, 0, t->size);
    memset(t->in, 0, t->size);
    if (rank == 0) {
        MPI_Send(t->out, (int)t->size, MPI_BYTE, peer, 4, MPI_COMM_WORLD);
        MPI_Recv(t->in, (int)t->size, MPI_BYTE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (memcmp(t->in, t->out, t->size) != 0) measure_fail("the bytes that came back are not those that were sent");
    } else {
        MPI_Recv(t->in, (int)t->size, MPI_BYTE, peer, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(t->in, (int)t->size, MPI_BYTE, peer, 4, MPI_COMM_WORLD);
    }
}

static const size_t sizes[] = {8, 1024, 16384, 65536, 1048576, 4194304};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void latency(char *out, char *in)
{
    for (int i = 0; i < SIZES; i++) {
        struct transfer t = {out, in, sizes[i], sizes[i], 0};
        char name[40];
        check_content(&t);
        double one_way = measure(ping_pong, &t, 0.02, 0) / 2;
        if (rank != 0) continue;
        snprintf(name, sizeof name, "latency_%zu", sizes[i]);
        measure_report(name, one_way * 1e6, "us");
        snprintf(name, sizeof name, "oneway_%zu", sizes[i]);
        if (sizes[i] >= 16384) measure_report(name, sizes[i] / one_way * 1e-9, "GB/s");
    }
}

/* Once through all places, not timed: both ranks send the same bytes. */
static void check_places(struct transfer *t)
{
    memset(t->in, 0, t->span);
    t->at = 0;
    do ping_pong(t);
    while (t->at != 0);
    if (rank < 2 && memcmp(t->in, t->out, t->span) != 0) measure_fail("the bytes that arrived are not those that were sent");
}

static void rotating(char *out, char *in, size_t span)
{
    static const size_t lengths[] = {65536, 262144, 1048576, 4194304};
    for (size_t i = 0; i < span; i++) out[i] = (char)(i * 31 + i / 251 + 7);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct transfer t = {out, in, lengths[i], span, 0};
        char name[40];
        check_places(&t);
        double one_way = measure(ping_pong, &t, 0.04, 0) / 2;
        check_places(&t);
        snprintf(name, sizeof name, "rotating_%zu", lengths[i]);
        if (rank == 0) measure_report(name, lengths[i] / one_way * 1e-9, "GB/s");
    }
}

static void bandwidth(char *buffer)
{
    for (int i = 0; i < SIZES; i++) {
        struct window w = {buffer, sizes[i], BULK_WINDOW};
        char name[40];
        if (sizes[i] < 65536) continue;
        double each = measure(window, &w, 0.02, 0) / BULK_WINDOW;
        snprintf(name, sizeof name, "window_%zu", sizes[i]);
        if (rank == 0) measure_report(name, sizes[i] / each * 1e-9, "GB/s");
    }
}

static void rate(char *buffer)
{
    struct window w = {buffer, 8, WINDOW};
    double each = measure(window, &w, 0.02, 0) / WINDOW;
    if (rank == 0) measure_report("rate_8", 1e-6 / each, "M/s");
}

static double cpu_seconds(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + 1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Rank 1 waits one second in MPI_Recv for a rank that is outside MPI; then how long until it is awake? */
static void idle(void)
{
    double used = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        struct timespec second = {1, 0};
        nanosleep(&second, NULL);
        double sent = MPI_Wtime();
        MPI_Send(&sent, 1, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD);
        MPI_Recv(NULL, 0, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        double answered = MPI_Wtime(); /* before anything is printed */
        MPI_Recv(&used, 1, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        measure_report("idle_cpu", used * 100, "%");
        measure_report("wake_up", (answered - sent) * 1e6, "us");
    } else {
        double before = cpu_seconds(), sent;
        MPI_Recv(&sent, 1, MPI_DOUBLE, peer, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(NULL, 0, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD);
        used = cpu_seconds() - before;
        MPI_Send(&used, 1, MPI_DOUBLE, peer, 6, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int size;
    char *out, *in;
    int multiple = argc > 1 && strcmp(argv[1], "multiple") == 0, level;
    MPI_Request never = MPI_REQUEST_NULL;
    cpu_set_t mine;
    MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "pt2pt needs 2 ranks, not %d\n", size);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    peer = 1 - rank;
    size_t span = measure_beyond_caches();
    out = aligned_alloc(4096, span);
    in = aligned_alloc(4096, span);
    if (out == NULL || in == NULL) measure_fail("no memory");
    memset(out, 1, span);
    memset(in, 2, span);
    sched_getaffinity(0, sizeof mine, &mine);
    if (rank == 0) measure_report("cpus_of_rank_0", CPU_COUNT(&mine), "cpus");
    for (int i = 1 + multiple; i < (argc > 1 ? argc : 5); i++) {
        static const char *const usual[] = {"", "latency", "rate", "bandwidth", "rotating"};
        const char *what = argc > 1 ? argv[i] : usual[i];
        if (strcmp(what, "posted") == 0) {
            MPI_Irecv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &never);
        } else if (strcmp(what, "latency") == 0) latency(out, in);
        else if (strcmp(what, "rate") == 0) rate(out);
        else if (strcmp(what, "bandwidth") == 0) bandwidth(rank == 0 ? out : in);
        else if (strcmp(what, "rotating") == 0) rotating(out, in, span);
        else if (strcmp(what, "idle") == 0) idle();
        else measure_fail(what);
    }
    if (never != MPI_REQUEST_NULL) {
        MPI_Cancel(&never);
        MPI_Wait(&never, MPI_STATUS_IGNORE);
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
