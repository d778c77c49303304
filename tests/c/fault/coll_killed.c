/* Ranks that are killed, or stopped for a second, inside collective functions: each of the 17 of chapter 6, the five of chapter 8, and the
 * 14 that there are between two groups; blocking, nonblocking and persistent in turns of four.
 *
 *   coll_killed kill FIRST LAST WHO FORM  in each function from FIRST on, before LAST, the first or the last rank of those that are left is
 *                                         killed by a timer, while all call it again and again; whoever is left gets an error that says so, and goes on
 *   coll_killed stop FIRST LAST WHO FORM  the same rank is stopped for a second each time, which only takes longer
 *
 * FORM, 0 to 2, says which form comes first. The data is short and long in turns, the root another rank each time. Who is told of no
 * error has the whole result. */
#include "../check.h"
#include <mpi-ext.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FUNCTIONS = 36, BETWEEN = 22, SHORT = 4, LONG = 20000, MOST = 64, STOPPED_ROUNDS = 48 };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static const char *const names[FUNCTIONS] = {
    "MPI_Barrier", "MPI_Bcast", "MPI_Gather", "MPI_Gatherv", "MPI_Scatter", "MPI_Scatterv", "MPI_Allgather", "MPI_Allgatherv",
    "MPI_Alltoall", "MPI_Alltoallv", "MPI_Alltoallw", "MPI_Reduce", "MPI_Allreduce", "MPI_Reduce_scatter",
    "MPI_Reduce_scatter_block", "MPI_Scan", "MPI_Exscan", "MPI_Neighbor_allgather", "MPI_Neighbor_allgatherv",
    "MPI_Neighbor_alltoall", "MPI_Neighbor_alltoallv", "MPI_Neighbor_alltoallw",
    "MPI_Barrier between groups", "MPI_Bcast between groups", "MPI_Gather between groups", "MPI_Gatherv between groups",
    "MPI_Scatter between groups", "MPI_Scatterv between groups", "MPI_Allgather between groups", "MPI_Allgatherv between groups",
    "MPI_Alltoall between groups", "MPI_Alltoallv between groups", "MPI_Alltoallw between groups", "MPI_Reduce between groups",
    "MPI_Allreduce between groups", "MPI_Reduce_scatter between groups", /* and MPI_Reduce_scatter_block in turns */};
static int first_form;
static int *in, *out, counts[MOST], places[MOST], bytes[MOST], me, n;
static MPI_Datatype types[MOST];
static volatile sig_atomic_t stopped;

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

/* Stops this process; a child makes it go on a second later. */
static void stop(int signal)
{
    (void)signal;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        struct timespec second = {1, 0};
        nanosleep(&second, NULL);
        kill(parent, SIGCONT);
        _exit(0);
    }
    if (child > 0) kill(parent, SIGSTOP), waitpid(child, NULL, 0);
    stopped = 1;
}

static void after(int us, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {us / 1000000, us % 1000000}};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0 && setitimer(ITIMER_REAL, &timer, NULL) == 0, "no timer");
}

static int class_of(int code)
{
    int class = MPI_SUCCESS;
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &class));
    return class;
}

/* The end of a nonblocking operation, if it has begun. */
static int ended(int code, MPI_Request *request)
{
    return code == MPI_SUCCESS ? MPI_Wait(request, MPI_STATUS_IGNORE) : code;
}

/* A persistent operation goes twice, if all goes well. */
static int repeated(int code, MPI_Request *request)
{
    for (int i = 0; i < 2 && code == MPI_SUCCESS; i++) code = ended(MPI_Start(request), request);
    if (*request != MPI_REQUEST_NULL) OK(MPI_Request_free(request));
    return code;
}

static enum form form_of(int function, int turn) { return (enum form)((first_form + function + turn / 4) % FORMS); }

/* One call of a function, of its nonblocking form and MPI_Wait, or of its persistent one; `ring` is the communicator in which neighbours
 * are two ranks on a ring. */
#define CALL(blocking, nonblocking, ...)                                                                         \
    switch (form_of(function, turn)) {                                                                           \
    case NONBLOCKING: return ended(MPI_##nonblocking(__VA_ARGS__, &request), &request);                          \
    case PERSISTENT: return repeated(MPI_##blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &request), &request);     \
    default: return MPI_##blocking(__VA_ARGS__);                                                                 \
    }
static int call(int function, int turn, MPI_Comm comm, MPI_Comm ring)
{
    int count = turn % 4 == 3 ? LONG / n : SHORT, root = turn % n;
    MPI_Request request = MPI_REQUEST_NULL;
    for (int r = 0; r < n; r++) counts[r] = count, places[r] = r * count, bytes[r] = r * count * 4, types[r] = MPI_INT;
    MPI_Aint at[2] = {0, 4 * count};
    switch (function) {
    case 0: CALL(Barrier, Ibarrier, comm);
    case 1: CALL(Bcast, Ibcast, out, count * n, MPI_INT, root, comm);
    case 2: CALL(Gather, Igather, in, count, MPI_INT, out, count, MPI_INT, root, comm);
    case 3: CALL(Gatherv, Igatherv, in, count, MPI_INT, out, counts, places, MPI_INT, root, comm);
    case 4: CALL(Scatter, Iscatter, in, count, MPI_INT, out, count, MPI_INT, root, comm);
    case 5: CALL(Scatterv, Iscatterv, in, counts, places, MPI_INT, out, count, MPI_INT, root, comm);
    case 6: CALL(Allgather, Iallgather, in, count, MPI_INT, out, count, MPI_INT, comm);
    case 7: CALL(Allgatherv, Iallgatherv, in, count, MPI_INT, out, counts, places, MPI_INT, comm);
    case 8: CALL(Alltoall, Ialltoall, in, count, MPI_INT, out, count, MPI_INT, comm);
    case 9: CALL(Alltoallv, Ialltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, comm);
    case 10: CALL(Alltoallw, Ialltoallw, in, counts, bytes, types, out, counts, bytes, types, comm);
    case 11: CALL(Reduce, Ireduce, in, out, count * n, MPI_INT, MPI_SUM, root, comm);
    case 12: CALL(Allreduce, Iallreduce, in, out, count * n, MPI_INT, MPI_SUM, comm);
    case 13: CALL(Reduce_scatter, Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, comm);
    case 14: CALL(Reduce_scatter_block, Ireduce_scatter_block, in, out, count, MPI_INT, MPI_SUM, comm);
    case 15: CALL(Scan, Iscan, in, out, count * n, MPI_INT, MPI_SUM, comm);
    case 16: CALL(Exscan, Iexscan, in, out, count * n, MPI_INT, MPI_SUM, comm);
    case 17: CALL(Neighbor_allgather, Ineighbor_allgather, in, count, MPI_INT, out, count, MPI_INT, ring);
    case 18: CALL(Neighbor_allgatherv, Ineighbor_allgatherv, in, count, MPI_INT, out, counts, places, MPI_INT, ring);
    case 19: CALL(Neighbor_alltoall, Ineighbor_alltoall, in, count, MPI_INT, out, count, MPI_INT, ring);
    case 20:
        CALL(Neighbor_alltoallv, Ineighbor_alltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, ring);
    default: CALL(Neighbor_alltoallw, Ineighbor_alltoallw, in, counts, at, types, out, counts, at, types, ring);
    }
}

static int has_result(int function, int root)
{
    switch (function) {
    case 0: return 0;
    case 2: case 3: case 11: return me == root;
    case 16: return me > 0;
    default: return 1;
    }
}

/* What every element of a result is: everybody gives ones. */
static int element(int function)
{
    if (function >= 11 && function <= 14) return n;
    return function == 15 ? me + 1 : function == 16 ? me : 1;
}

/* The same call; the first and the last element of each block of a result are looked at, if it succeeds. */
static int checked(int function, int turn, MPI_Comm comm, MPI_Comm ring)
{
    int count = turn % 4 == 3 ? LONG / n : SHORT, root = turn % n;
    int blocks = function == 4 || function == 5 || function == 13 || function == 14 ? 1 : function >= 17 ? 2 : n;
    for (int at = 0; at < blocks; at++) out[at * count] = out[at * count + count - 1] = function == 1 && me == root;
    int code = call(function, turn, comm, ring);
    if (code != MPI_SUCCESS || !has_result(function, root)) return code;
    for (int at = 0; at < 2 * blocks; at++) {
        int got = out[at / 2 * count + at % 2 * (count - 1)];
        CHECK(got == element(function), "%s, turn %d, root %d of %d: success, and %d in block %d where %d belongs",
              names[function], turn, root, n, got, at / 2, element(function));
    }
    return code;
}

/* What a call between two groups leaves at this rank: so many blocks of so many elements, each of this value. */
struct part {
    int blocks, length, value;
};

/* One call between the first half of the ranks, and the others; the first or the second group has the root in turns. */
static int call_between(int function, int turn, MPI_Comm inter, struct part part, int here, int there, int is_high)
{
    int count = part.length, n_root = (turn & 1) == is_high ? here : there, root = turn / 2 % n_root, place;
    MPI_Request request = MPI_REQUEST_NULL;
    OK(MPI_Comm_rank(inter, &place));
    if ((turn & 1) == is_high) root = place == root ? MPI_ROOT : MPI_PROC_NULL;
    for (int r = 0; r < there; r++) counts[r] = count, places[r] = r * count, bytes[r] = r * count * 4, types[r] = MPI_INT;
    switch (function) {
    case BETWEEN: CALL(Barrier, Ibarrier, inter);
    case BETWEEN + 1: CALL(Bcast, Ibcast, root == MPI_ROOT ? in : out, count, MPI_INT, root, inter);
    case BETWEEN + 2: CALL(Gather, Igather, in, count, MPI_INT, out, count, MPI_INT, root, inter);
    case BETWEEN + 3: CALL(Gatherv, Igatherv, in, count, MPI_INT, out, counts, places, MPI_INT, root, inter);
    case BETWEEN + 4: CALL(Scatter, Iscatter, in, count, MPI_INT, out, count, MPI_INT, root, inter);
    case BETWEEN + 5: CALL(Scatterv, Iscatterv, in, counts, places, MPI_INT, out, count, MPI_INT, root, inter);
    case BETWEEN + 6: CALL(Allgather, Iallgather, in, count, MPI_INT, out, count, MPI_INT, inter);
    case BETWEEN + 7: CALL(Allgatherv, Iallgatherv, in, count, MPI_INT, out, counts, places, MPI_INT, inter);
    case BETWEEN + 8: CALL(Alltoall, Ialltoall, in, count, MPI_INT, out, count, MPI_INT, inter);
    case BETWEEN + 9: CALL(Alltoallv, Ialltoallv, in, counts, places, MPI_INT, out, counts, places, MPI_INT, inter);
    case BETWEEN + 10: CALL(Alltoallw, Ialltoallw, in, counts, bytes, types, out, counts, bytes, types, inter);
    case BETWEEN + 11: CALL(Reduce, Ireduce, in, out, count, MPI_INT, MPI_SUM, root, inter);
    case BETWEEN + 12: CALL(Allreduce, Iallreduce, in, out, count, MPI_INT, MPI_SUM, inter);
    default:
        for (int r = 0; r < here; r++) counts[r] = count;
        if (turn & 2) CALL(Reduce_scatter_block, Ireduce_scatter_block, in, out, count, MPI_INT, MPI_SUM, inter);
        CALL(Reduce_scatter, Ireduce_scatter, in, out, counts, MPI_INT, MPI_SUM, inter);
    }
}

static struct part part_of(int function, int turn, int here, int there, int is_high)
{
    int count = turn % 4 == 3 ? LONG / (here * there) : SHORT, has_root = (turn & 1) == is_high;
    int is_root = has_root && turn / 2 % here == (is_high ? me - n / 2 : me);
    switch (function - BETWEEN) {
    case 0: return (struct part){0, count, 1};
    case 1: case 4: case 5: return (struct part){!has_root, count, 1};
    case 2: case 3: return (struct part){is_root ? there : 0, count, 1};
    case 11: return (struct part){is_root, count, there};
    case 12: return (struct part){1, count, there};
    case 13: return (struct part){1, count * there, there};
    default: return (struct part){there, count, 1};
    }
}

static int checked_between(int function, int turn, MPI_Comm inter)
{
    int is_high = me >= n / 2, here = is_high ? n - n / 2 : n / 2, there = n - here;
    struct part part = part_of(function, turn, here, there, is_high);
    for (int at = 0; at < part.blocks; at++) out[at * part.length] = out[(at + 1) * part.length - 1] = 0;
    int code = call_between(function, turn, inter, part, here, there, is_high);
    if (code != MPI_SUCCESS) return code;
    for (int at = 0; at < 2 * part.blocks; at++) {
        int got = out[at / 2 * part.length + at % 2 * (part.length - 1)];
        CHECK(got == part.value, "%s, turn %d of %d ranks: success, and %d in block %d where %d belongs", names[function], turn, n, got,
              at / 2, part.value);
    }
    return code;
}

/* A communicator of those that are left, in which everybody has heard from everybody. */
static MPI_Comm settled(MPI_Comm comm)
{
    for (;;) {
        MPI_Comm next;
        OK(MPIX_Comm_shrink(comm, &next));
        int fine = MPI_Barrier(next) == MPI_SUCCESS;
        if (!fine) OK(MPIX_Comm_revoke(next));
        if (MPIX_Comm_agree(next, &fine) == MPI_SUCCESS && fine) return next;
        comm = next;
    }
}

/* What the function needs besides: a ring, or an intercommunicator of two halves. */
static MPI_Comm other_of(int function, MPI_Comm comm)
{
    MPI_Comm other, half;
    int is_high = me >= n / 2;
    if (function < BETWEEN) {
        OK(MPI_Cart_create(comm, 1, &n, (int[]){1}, 0, &other));
    } else {
        OK(MPI_Comm_split(comm, is_high, 0, &half));
        OK(MPI_Intercomm_create(half, 0, comm, is_high ? 0 : n / 2, 1, &other));
        OK(MPI_Comm_free(&half));
    }
    OK(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    return other;
}

static int called(int function, int turn, MPI_Comm comm, MPI_Comm other)
{
    return function < BETWEEN ? checked(function, turn, comm, other) : checked_between(function, turn, other);
}

static MPI_Comm killed_in(int function, MPI_Comm comm, int victim)
{
    MPI_Comm other = other_of(function, comm);
    int code = MPI_SUCCESS;
    OK(MPI_Barrier(comm));
    if (me == victim) after(500 + 700 * (function % 4), die);
    for (int turn = 0; code == MPI_SUCCESS; turn++) code = called(function, turn, comm, other);
    int class = class_of(code);
    CHECK(class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_REVOKED, "%s: class %d, \"%s\"", names[function], class,
          check_text(code));
    /* Who waits for who has been told hears it, too. */
    OK(MPIX_Comm_revoke(comm));
    OK(MPIX_Comm_revoke(other));
    return settled(comm);
}

static void stopped_in(int function, MPI_Comm comm, int victim)
{
    MPI_Comm other = other_of(function, comm);
    int over = 0;
    OK(MPI_Barrier(comm));
    stopped = 0;
    double start = MPI_Wtime();
    if (me == victim) after(500 + 700 * (function % 4), stop);
    for (int turn = 0; !over; turn++) {
        OK(called(function, turn, comm, other));
        if (turn % STOPPED_ROUNDS == 0) {
            over = me == victim && stopped;
            OK(MPI_Allreduce(MPI_IN_PLACE, &over, 1, MPI_INT, MPI_MAX, comm));
        }
    }
    double took = MPI_Wtime() - start;
    CHECK(took > 0.9 && took < 20, "%s took %g s", names[function], took);
    OK(MPI_Comm_free(&other));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    if (argc != 6) FAIL("what, which functions, who, which form?");
    int kills = !strcmp(argv[1], "kill"), first = atoi(argv[2]), last = atoi(argv[3]), is_first = !strcmp(argv[4], "first");
    first_form = atoi(argv[5]);
    in = calloc(LONG + SHORT * MOST, sizeof *in), out = calloc(LONG + SHORT * MOST, sizeof *out);
    for (int at = 0; at < LONG + SHORT * MOST; at++) in[at] = 1;
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int function = first; function < last; function++) {
        OK(MPI_Comm_rank(comm, &me));
        OK(MPI_Comm_size(comm, &n));
        int victim = is_first ? 0 : n - 1;
        if (kills) comm = killed_in(function, comm, victim);
        else stopped_in(function, comm, victim);
        if (me == n / 2) printf("%s: the others go on\n", names[function]);
        fflush(stdout);
    }
    OK(MPI_Comm_size(comm, &n));
    EQUAL(n, size - (kills ? last - first : 0));
    int sum = 0;
    OK(MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, n);
    MPI_Finalize();
    return 0;
}
