/* Rank 1 is killed inside epochs of several windows; the epochs of the others end within a second, with an error that names
 * it wherever they need it, and nobody waits for a lock that it held. */
#include "../check.h"
#include <signal.h>
#include <unistd.h>

enum { VICTIM = 1, KINDS = 6 };

/* `may`: what packets do without the dead, mapped memory cannot, or the other way round. */
static void ends(int code, int may, double since, const char *what)
{
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    double took = MPI_Wtime() - since;
    if (took > 1.0) FAIL("%s: heard too late, after %g s", what, took);
    if (code == MPI_SUCCESS && may) return;
    if (code == MPI_SUCCESS) FAIL("%s: no error", what);
    MPI_Error_class(code, &class);
    MPI_Error_string(code, text, &length);
    if (class != MPI_ERR_PROC_ABORTED || !strstr(text, "rank 1 of the world")) FAIL("%s: %s", what, text);
}

int main(int argc, char **argv)
{
    MPI_Win wins[KINDS];
    MPI_Group world, victim, others;
    int *base[KINDS], one = 1, got = 0, dead = VICTIM;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &dead, &victim));
    OK(MPI_Group_excl(world, 1, &dead, &others));
    for (int i = 0; i < KINDS; i++) {
        OK(MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base[i], &wins[i]));
        OK(MPI_Win_set_errhandler(wins[i], MPI_ERRORS_RETURN));
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == VICTIM) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, wins[0]));
        OK(MPI_Win_post(others, 0, wins[2]));
    } else {
        OK(MPI_Win_post(victim, 0, wins[1]));
        OK(MPI_Win_start(victim, 0, wins[2]));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, 0, wins[3]));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == VICTIM) {
        usleep(100000);
        kill(getpid(), SIGKILL);
    }
    double since = MPI_Wtime() + 0.1;
    /* Who does not wait for the dead itself may not have heard of it yet. */
    ends(MPI_Win_fence(0, wins[4]), rank > 0, since, "MPI_Win_fence");
    since = MPI_Wtime();
    ends(MPI_Win_wait(wins[1]), 0, since, "MPI_Win_wait");
    ends(MPI_Accumulate(&one, 1, MPI_INT, VICTIM, 0, 1, MPI_INT, MPI_SUM, wins[2]), 1, since, "MPI_Accumulate");
    ends(MPI_Win_complete(wins[2]), 1, since, "MPI_Win_complete");
    ends(MPI_Get(&got, 1, MPI_INT, VICTIM, 3, 1, MPI_INT, wins[3]), 1, since, "MPI_Get");
    ends(MPI_Win_unlock(VICTIM, wins[3]), 1, since, "MPI_Win_unlock");
    ends(MPI_Win_start(victim, 0, wins[5]), 0, since, "MPI_Win_start");
    since = MPI_Wtime();
    /* In mapped memory nobody can tell whose lock it is; the owner of a queue can. */
    int code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, wins[0]);
    ends(code, 1, since, "MPI_Win_lock");
    if (code == MPI_SUCCESS) {
        OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, wins[0]));
        OK(MPI_Win_unlock(0, wins[0]));
    }
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    return MPI_Finalize();
}
