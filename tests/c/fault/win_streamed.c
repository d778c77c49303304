/* Rank 1 is killed while long puts, gets and accumulates are under way in all directions, its own as well. The others hear of it within a second of
 * their waiting; what they have put, got and added at each other is whole, and what is left of the dead one's additions is of at most two of them.
 *
 * win_streamed FLAVOR [MICROSECONDS [locked]]: one of create, heap, allocate, shared and dynamic; when rank 1 is killed. With `locked` it does
 * nothing but accumulate while the others sleep, so that it dies with a lock of elements that it has; those from rank 3 on compute while ranks 0
 * and 2 want that lock: all ranks share a CPU, and whoever yields it is without it for long. */
#include "../win.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { VICTIM = 1, LONG = 1 << 17, MOST = 16 };

static struct window w;
static double *mine, *ones, *found;
/* How often this rank has added at each other, and whether one of the additions there has failed. */
static int added[MOST], has_failed[MOST], is_locked;

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

/* An error is the loss of rank 1, and says so. */
static int is_lost(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    if (code == MPI_SUCCESS) return 0;
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != MPI_ERR_PROC_ABORTED || !strstr(text, "rank 1 of the world")) FAIL("%s: %s", what, text);
    return 1;
}

/* What a get that is over has brought is what this rank has put there before. */
static void look(int target, double value)
{
    for (int i = 0; i < LONG; i++)
        CHECK(found[i] == value + i, "%s: element %d that is fetched from rank %d is %g, not %g", flavor_names[w.flavor], i, target, found[i], value + i);
}

/* A long put and a long accumulate at a target, with a flush for both or one for each; then a long get, too, of what has been put. */
static int stream(int target, double value)
{
    int only_adds = rank == VICTIM && is_locked;
    for (int i = 0; i < LONG && !only_adds; i++) mine[i] = value + i;
    MPI_Aint slot = place(&w, target, rank * LONG), sums = place(&w, target, (size + rank) * LONG);
    if (!only_adds && is_lost(MPI_Put(mine, LONG, MPI_DOUBLE, target, slot, LONG, MPI_DOUBLE, w.win), "MPI_Put")) return 0;
    int gets = (int)value % 2 && !only_adds;
    if ((int)value % 2 && is_lost(MPI_Win_flush(target, w.win), "MPI_Win_flush of a put")) return 0;
    double before = MPI_Wtime();
    if (gets && is_lost(MPI_Get(found, LONG, MPI_DOUBLE, target, slot, LONG, MPI_DOUBLE, w.win), "MPI_Get")) return 0;
    CHECK(rank == VICTIM || MPI_Wtime() - before < 1, "MPI_Get: heard too late, after %g s", MPI_Wtime() - before);
    double since = MPI_Wtime();
    int code = MPI_Accumulate(ones, LONG, MPI_DOUBLE, target, sums, LONG, MPI_DOUBLE, MPI_SUM, w.win);
    /* In mapped memory all is done in the call, under a lock that the dead one may have. */
    CHECK(rank == VICTIM || MPI_Wtime() - since < 1, "MPI_Accumulate: heard too late, after %g s", MPI_Wtime() - since);
    if (is_lost(code, "MPI_Accumulate") || is_lost(MPI_Win_flush(target, w.win), "MPI_Win_flush")) {
        has_failed[target] = 1;
        return 0;
    }
    added[target]++;
    if (gets) look(target, value);
    return 1;
}

/* What each other has put here last, and added in all. */
static void compare(int origin, int count, int is_whole, double last)
{
    const double *put = (const double *)(void *)w.base + (size_t)origin * LONG, *sum = put + (size_t)size * LONG;
    double least = sum[0], most = sum[0];
    for (int i = 0; i < LONG; i++) {
        if (origin != VICTIM) CHECK(put[i] == last + i, "%s: element %d of rank %d is %g, not %g", flavor_names[w.flavor], i, origin, put[i], last + i);
        if (sum[i] < least) least = sum[i];
        if (sum[i] > most) most = sum[i];
    }
    if (is_whole && origin != VICTIM) CHECK(least == count && most == count, "rank %d has added %d, there are %g to %g", origin, count, least, most);
    else CHECK(most - least <= 1, "of rank %d there are %g to %g", origin, least, most);
}

int main(int argc, char **argv)
{
    MPI_Request told;
    int round = 0, others[MOST] = {0}, wholes[MOST] = {0};
    check_start(&argc, &argv);
    CHECK(argc > 1 && size <= MOST, "win_streamed FLAVOR [MICROSECONDS [asleep]]");
    static const char *const names[FLAVORS] = {[CREATE] = "create", [HEAP] = "heap", [ALLOCATE] = "allocate", [SHARED] = "shared", [DYNAMIC] = "dynamic"};
    enum flavor flavor = CREATE;
    while (flavor < FLAVORS && !(names[flavor] && !strcmp(names[flavor], argv[1]))) flavor++;
    CHECK(flavor < FLAVORS, "there is no flavor %s", argv[1]);
    is_locked = argc > 3;
    w = make_window(flavor, 2 * size * LONG, sizeof(double));
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    mine = malloc(sizeof(double) * LONG);
    ones = malloc(sizeof(double) * LONG);
    found = malloc(sizeof(double) * LONG);
    for (int i = 0; i < LONG; i++) ones[i] = 1;
    OK(MPI_Win_lock_all(0, w.win));
    if (rank != VICTIM) OK(MPI_Irecv(NULL, 0, MPI_CHAR, VICTIM, 1, MPI_COMM_WORLD, &told));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == VICTIM) {
        const struct itimerval soon = {.it_value = {.tv_usec = argc > 2 ? atoi(argv[2]) : 50000}};
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    double began = MPI_Wtime();
    if (rank != VICTIM && is_locked) usleep(300000);
    while (rank > 2 && is_locked && MPI_Wtime() - began < 3) {}
    began = MPI_Wtime();
    for (int reaches = 1; rank == VICTIM || MPI_Wtime() - began < 0.3; round++) {
        for (int step = 1; step < size; step++) {
            int target = (rank + step) % size;
            if ((target != VICTIM || reaches) && !stream(target, round) && target == VICTIM) reaches = 0;
        }
    }
    double since = MPI_Wtime();
    CHECK(is_lost(MPI_Wait(&told, MPI_STATUS_IGNORE), "MPI_Wait"), "nothing is said of the loss");
    CHECK(MPI_Wtime() - since < 1, "heard too late, after %g s", MPI_Wtime() - since);
    for (int step = 1; step < size; step++) {
        int target = (rank + step) % size;
        if (target != VICTIM && !stream(target, 1000000 + rank)) CHECK(has_failed[target], "a put or a get at rank %d fails", target);
    }
    /* Nobody's puts and additions are under way any more. */
    for (int other = 0; other < size; other++) {
        if (other == VICTIM || other == rank) continue;
        int to[2] = {added[other], !has_failed[other]}, from[2];
        OK(MPI_Sendrecv(to, 2, MPI_INT, other, 2, from, 2, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        others[other] = from[0], wholes[other] = from[1];
    }
    OK(MPI_Win_sync(w.win));
    for (int other = 0; other < size; other++)
        if (other != rank) compare(other, others[other], wholes[other], 1000000 + other);
    since = MPI_Wtime();
    is_lost(MPI_Win_unlock_all(w.win), "MPI_Win_unlock_all");
    if (flavor == DYNAMIC) OK(MPI_Win_detach(w.win, w.base));
    is_lost(MPI_Win_free(&w.win), "MPI_Win_free");
    CHECK(MPI_Wtime() - since < 1, "heard too late, after %g s", MPI_Wtime() - since);
    printf("rank %d goes on after %d rounds\n", rank, round);
    fflush(stdout);
    return MPI_Finalize();
}
