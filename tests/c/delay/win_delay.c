/* How long a target that calls nothing delays its origins: rank 1 computes for a second, sleeps for one, and computes with a look at
 * MPI every two milliseconds, while rank 0 accesses its memory again and again, at once and after pauses, and takes the time of each access.
 *
 * win_delay MEMORY MICROSECONDS [ACCESS ...]: the 99th percentile of each access in the best of a few rounds is at most that; on a machine
 * that is busy with other things, at most twice what a bare thread in the target takes in one of the rounds to answer by a socket; and where
 * a thread has to run beside a target that computes, before Linux 6.12, at most a turn of that. MEMORY is allocate, shared, created (of
 * memory from malloc), heap (of memory from MPI_Alloc_mem), beside (the same at the target, from malloc at the origin) or dynamic; without a
 * name all accesses are done. */
#include "../check.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum { ORIGIN, TARGET, ELEMENTS = 1024, MOST = 8192, SAMPLES = 200000, ROUNDS = 8 };
static const double SECONDS = 0.15; /* of an access in a round, at least */
static const double AWAY = 1.0;     /* seconds that the target is away in a round, at least */
static const double TURN = 8000;    /* microseconds that a program computes before older kernels let another thread run on its CPU */

static const char *const accesses[] = {"put", "get", "long_put", "fetch_and_op", "compare_and_swap", "get_accumulate", "put_64k", "get_64k", "lock", 0};
enum { PUT_64K = 6, GET_64K, LOCK, ACCESSES };
enum { BARE = -1 }; /* no access, but a question to the bare thread */
static const char *const aways[] = {"computes", "sleeps", "looks in", 0};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double times[SAMPLES];

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int line = -1;

static void *answers(void *unused)
{
    char byte;
    while (read(line, &byte, 1) == 1) CHECK(write(line, &byte, 1) == 1, "an answer");
    return unused;
}

/* A connection between the ranks, and in the target a thread that answers whatever comes by it. */
static void connect_both(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    pthread_t thread;
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == TARGET) {
        CHECK(bind(listener, (struct sockaddr *)&at, sizeof at) == 0 && listen(listener, 1) == 0, "no socket");
        CHECK(getsockname(listener, (struct sockaddr *)&at, &length) == 0, "no name");
    }
    OK(MPI_Bcast(&at.sin_port, sizeof at.sin_port, MPI_BYTE, TARGET, MPI_COMM_WORLD));
    line = rank == TARGET ? accept(listener, NULL, NULL) : listener;
    if (rank == ORIGIN) CHECK(connect(line, (struct sockaddr *)&at, sizeof at) == 0, "no connection");
    CHECK(setsockopt(line, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0, "no option");
    if (rank == TARGET) CHECK(pthread_create(&thread, NULL, answers, NULL) == 0, "no thread");
}

static void access_once(int what, MPI_Win win, MPI_Aint at)
{
    static double data[MOST], found[MOST];
    static long one = 1, old;
    char byte = 0;
    switch (what) {
    case BARE:
        CHECK(write(line, &byte, 1) == 1 && read(line, &byte, 1) == 1, "an answer");
        return;
    case 0: OK(MPI_Put(data, 1, MPI_DOUBLE, TARGET, at, 1, MPI_DOUBLE, win)); break;
    case 1: OK(MPI_Get(data, 1, MPI_DOUBLE, TARGET, at, 1, MPI_DOUBLE, win)); break;
    case 2: OK(MPI_Put(data, ELEMENTS, MPI_DOUBLE, TARGET, at, ELEMENTS, MPI_DOUBLE, win)); break;
    case 3: OK(MPI_Fetch_and_op(&one, &old, MPI_LONG, TARGET, at, MPI_SUM, win)); break;
    case 4: OK(MPI_Compare_and_swap(&one, &one, &old, MPI_LONG, TARGET, at, win)); break;
    case 5:
        OK(MPI_Get_accumulate(data, ELEMENTS, MPI_DOUBLE, found, ELEMENTS, MPI_DOUBLE, TARGET, at, ELEMENTS, MPI_DOUBLE, MPI_MAX, win));
        break;
    case PUT_64K: OK(MPI_Put(data, MOST, MPI_DOUBLE, TARGET, at, MOST, MPI_DOUBLE, win)); break;
    case GET_64K: OK(MPI_Get(found, MOST, MPI_DOUBLE, TARGET, at, MOST, MPI_DOUBLE, win)); break;
    default:
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, TARGET, 0, win));
        OK(MPI_Win_unlock(TARGET, win));
        return;
    }
    OK(MPI_Win_flush(TARGET, win));
}

/* The 99th percentile in microseconds, and the longest. */
static double percentile(int what, int pauses, double seconds, MPI_Win win, MPI_Aint at, double *longest)
{
    int count = 0;
    int locks = what != BARE && what != LOCK;
    if (locks) OK(MPI_Win_lock(MPI_LOCK_SHARED, TARGET, MPI_MODE_NOCHECK, win));
    for (double end = now() + seconds; now() < end && count < SAMPLES;) {
        if (pauses) usleep(700);
        double began = now();
        access_once(what, win, at);
        times[count++] = now() - began;
    }
    if (locks) OK(MPI_Win_unlock(TARGET, win));
    qsort(times, (size_t)count, sizeof times[0], by_value);
    *longest = 1e6 * times[count - 1];
    return 1e6 * times[count * 99 / 100];
}

/* Away until so much time is over. */
static void away(int how, double seconds)
{
    static volatile double sum;
    int flag;
    double end = now() + seconds, look = now() + 0.002;
    if (how == 1) usleep((useconds_t)(1e6 * seconds));
    while (now() < end) {
        for (int i = 0; i < 1000; i++) sum += 1.0 / (1 + i);
        if (how != 2 || now() < look) continue;
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        look = now() + 0.002;
    }
}

static int is_wanted(const char *access, char **wanted)
{
    if (!*wanted) return 1;
    for (; *wanted; wanted++)
        if (!strcmp(*wanted, access)) return 1;
    return 0;
}

static MPI_Win make(const char *memory, MPI_Aint *at)
{
    const MPI_Aint bytes = MOST * sizeof(double);
    MPI_Aint here = 0;
    MPI_Win win;
    void *base;
    *at = 0;
    if (!strcmp(memory, "allocate")) {
        OK(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    } else if (!strcmp(memory, "shared")) {
        OK(MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    } else if (!strcmp(memory, "heap") || (rank == TARGET && !strcmp(memory, "beside"))) {
        OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &base));
        OK(MPI_Win_create(base, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else if (!strcmp(memory, "created") || !strcmp(memory, "beside")) {
        base = calloc(1, (size_t)bytes);
        OK(MPI_Win_create(base, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else {
        base = calloc(1, (size_t)bytes);
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        OK(MPI_Win_attach(win, base, bytes));
        OK(MPI_Get_address(base, &here));
        OK(MPI_Sendrecv(&here, 1, MPI_AINT, 1 - rank, 0, at, 1, MPI_AINT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    return win;
}

/* Whether a program that computes keeps its CPU to itself for a turn, whatever wakes up there. */
static int has_turns(void)
{
    struct utsname system;
    int major = 0, minor = 0;
    CHECK(uname(&system) == 0 && sscanf(system.release, "%d.%d", &major, &minor) == 2, "no version of the system");
    return major < 6 || (major == 6 && minor < 12);
}

/* All accesses in the time of one absence of the target, again those that were late: how many are late in every round. */
static int measure(const char *memory, double bound, char **wanted, int how, int pauses, MPI_Win win, MPI_Aint at)
{
    double best[ACCESSES], longest[ACCESSES] = {0}, bare = 0, most, turn = how == 1 || bound < 1000 || !has_turns() ? 0 : TURN;
    int is_left[ACCESSES], left = 0;
    /* Behind a program that looks in itself the thread that serves looks in every two milliseconds only. */
    if (!strcmp(aways[how], "looks in") && bound >= 1000) bound += 1500;
    for (int what = 0; what < ACCESSES; what++) best[what] = 1e9, left += is_left[what] = is_wanted(accesses[what], wanted);
    for (int round = 0; round < ROUNDS && left; round++) {
        double seconds = (left + 1) * SECONDS < AWAY ? AWAY / (left + 1) : SECONDS;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == TARGET) {
            away(how, (left + 1) * seconds + 0.1);
        } else {
            usleep(30000); /* the target has gone */
            double other = percentile(BARE, pauses, seconds, win, at, &most);
            if (other > bare) bare = other;
            for (int what = left = 0; what < ACCESSES; what++) {
                if (!is_left[what]) continue;
                double found = percentile(what, pauses, seconds, win, at, &most);
                if (found < best[what]) longest[what] = most, best[what] = found;
                left += is_left[what] = best[what] > bound && best[what] > 2 * bare && best[what] > turn;
            }
        }
        OK(MPI_Bcast(&left, 1, MPI_INT, ORIGIN, MPI_COMM_WORLD));
    }
    for (int what = 0; rank == ORIGIN && what < ACCESSES; what++) {
        if (!is_wanted(accesses[what], wanted)) continue;
        printf("%s, target %s: %s%s 99%% within %.1f us, all within %.1f us, a bare answer %.1f us\n", memory, aways[how],
               accesses[what], pauses ? " after a pause" : "", best[what], longest[what], bare);
        if (is_left[what]) printf("late: target %s: %s%s\n", aways[how], accesses[what], pauses ? " after a pause" : "");
    }
    fflush(stdout);
    return left;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(argc >= 3 && size == 2, "win_delay MEMORY MICROSECONDS [ACCESS ...], with two ranks");
    double bound = atof(argv[2]);
    MPI_Aint at;
    MPI_Win win = make(argv[1], &at);
    int late = 0;
    connect_both();
    for (int how = 0; aways[how]; how++)
        for (int pauses = 0; pauses < 2; pauses++) late += measure(argv[1], bound, argv + 3, how, pauses, win, at);
    OK(MPI_Win_free(&win));
    shutdown(line, SHUT_RDWR);
    CHECK(rank != ORIGIN || !late, "%d kinds of accesses take longer than %g us", late, bound);
    return check_end();
}
