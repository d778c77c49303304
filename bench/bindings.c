/* bindings.c: what a call of each binding takes, in turns in one process: the library of the standard ABI, the one of MPICH's ABI, and the
 * routines of Fortran by mpif.h and by mpi_f08. Built as a library for each, with what `BINDING` says, and once with PROGRAM as what loads
 * them.
 *
 * A rank sends itself 8 bytes: a receive, a send and a wait, so that nothing depends on another process. And it waits for 64 requests that
 * are none, which takes little more than what the binding does with their handles. Usage: bindings LIBRARY... prints "result
 * binding_NAME NS ns" and "result binding_waitall_NAME NS ns" for each: nanoseconds for each call more than the first library takes, the
 * median of many turns. */
#if defined(PROGRAM)
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 401, ROUNDS = 400, CALLS = 3, MOST = 4, KINDS = 2 };

struct binding {
    const char *name;
    void (*begin)(void);
    void (*rounds[KINDS])(int count);
    void (*end)(void);
};

/* How the results are called, and how many calls are in a round. */
static const struct {
    const char *prefix;
    int calls;
} kinds[KINDS] = {{"", CALLS}, {"waitall_", 1}};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct binding **bindings, int count, int kind)
{
    static double more[MOST][TURNS];
    for (int turn = -20; turn < TURNS; turn++) {
        double took[MOST];
        for (int k = 0; k < count; k++) {
            /* Each comes first as often as the others. */
            int i = (k + turn + 20) % count;
            double start = now();
            bindings[i]->rounds[kind](ROUNDS);
            took[i] = (now() - start) / (ROUNDS * kinds[kind].calls);
        }
        if (turn < 0) continue;
        more[0][turn] = took[0];
        for (int i = 1; i < count; i++) more[i][turn] = took[i] - took[0];
    }
    for (int i = 0; i < count; i++) {
        qsort(more[i], TURNS, sizeof more[i][0], ascending);
        printf("result binding_%s%s %.2f ns\n", kinds[kind].prefix, bindings[i]->name, more[i][TURNS / 2]);
    }
}

int main(int argc, char **argv)
{
    const struct binding *bindings[MOST];
    int count = argc - 1;
    if (count < 2 || count > MOST) return 2;
    for (int i = 0; i < count; i++) {
        void *library = dlopen(argv[i + 1], RTLD_NOW | RTLD_LOCAL);
        bindings[i] = library ? dlsym(library, "binding") : NULL;
        if (!bindings[i]) {
            fprintf(stderr, "%s: %s\n", argv[i + 1], dlerror());
            return 1;
        }
    }
    for (int i = 0; i < count; i++) bindings[i]->begin();
    for (int kind = 0; kind < KINDS; kind++) measure(bindings, count, kind);
    for (int i = 0; i < count; i++) bindings[i]->end();
    return 0;
}
#else
#include <mpi.h>
#include <stddef.h>

enum { REQUESTS = 64 };

static void begin(void)
{
    int is_there;
    MPI_Initialized(&is_there);
    if (!is_there) MPI_Init(NULL, NULL);
}

static void end(void)
{
    int is_over;
    MPI_Finalized(&is_over);
    if (!is_over) MPI_Finalize();
}

#if defined(F08)
/* bindings_f08.f90. */
void messages(int count);
void waits(int count);
#elif defined(FORTRAN)
void mpi_irecv_(void *, int *, int *, int *, int *, int *, int *, int *);
void mpi_send_(void *, int *, int *, int *, int *, int *, int *);
void mpi_wait_(int *, int *, int *);
void mpi_waitall_(int *, int *, int *, int *);

static char out[8], in[8];

/* As a compiler of Fortran calls them. */
static void messages(int count)
{
    int length = 8, zero = 0, tag = 1, type = MPI_Type_c2f(MPI_BYTE), comm = MPI_Comm_c2f(MPI_COMM_SELF), request, error, status[8];
    for (int i = 0; i < count; i++) {
        mpi_irecv_(in, &length, &type, &zero, &tag, &comm, &request, &error);
        mpi_send_(out, &length, &type, &zero, &tag, &comm, &error);
        mpi_wait_(&request, status, &error);
    }
}

static void waits(int count)
{
    static int requests[REQUESTS], statuses[REQUESTS][8];
    int length = REQUESTS, error;
    for (int i = 0; i < REQUESTS; i++) requests[i] = MPI_Request_c2f(MPI_REQUEST_NULL);
    for (int i = 0; i < count; i++) mpi_waitall_(&length, requests, statuses[0], &error);
}
#else
static char out[8], in[8];

static void messages(int count)
{
    MPI_Status status;
    MPI_Request request;
    for (int i = 0; i < count; i++) {
        MPI_Irecv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request);
        MPI_Send(out, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF);
        MPI_Wait(&request, &status);
    }
}

static void waits(int count)
{
    static MPI_Request requests[REQUESTS];
    static MPI_Status statuses[REQUESTS];
    for (int i = 0; i < REQUESTS; i++) requests[i] = MPI_REQUEST_NULL;
    for (int i = 0; i < count; i++) MPI_Waitall(REQUESTS, requests, statuses);
}
#endif

const struct {
    const char *name;
    void (*begin)(void);
    void (*rounds[2])(int count);
    void (*end)(void);
} binding = {BINDING, begin, {messages, waits}, end};
#endif
