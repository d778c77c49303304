/* Rank 1 is killed inside epochs of several windows; the epochs of the others end within a second, with an error that names
 * it wherever they need it, and nobody waits for a lock that it held. */
#include "../check.h"
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { VICTIM = 1, KINDS = 8, BYTES = 64, PAGE = 4096 };

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

/* Who is left frees a window while rank 0 still writes to it: its memory must not have become anybody else's; neither if it is
 * the program's, `own`, which is freed right afterwards. Who needs rank 0 for the barrier comes later. */
static void freed_early(MPI_Win win, char *own)
{
    char mine[BYTES], *memory;
    int length = own ? PAGE : BYTES;
    int code;
    memset(mine, 'x', sizeof mine);
    if (rank == 0) {
        usleep(50000);
        for (int other = 2; other < size; other++) {
            OK(MPI_Put(mine, BYTES, MPI_CHAR, other, 0, BYTES, MPI_CHAR, win));
            OK(MPI_Win_flush_local(other, win));
            OK(MPI_Send(NULL, 0, MPI_CHAR, other, 9, MPI_COMM_WORLD));
        }
        code = MPI_Win_unlock_all(win);
        ends(code, 1, MPI_Wtime(), "MPI_Win_unlock_all");
    }
    /* What goes wrong is the window's, not the process's, also when it is gone. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL);
    code = MPI_Win_free(&win);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    ends(code, 1, MPI_Wtime(), "MPI_Win_free");
    if (own) OK(MPI_Free_mem(own));
    if (rank == 0) return;
    OK(MPI_Alloc_mem(length, MPI_INFO_NULL, &memory));
    memset(memory, 'm', length);
    OK(MPI_Recv(NULL, 0, MPI_CHAR, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < length; i++) CHECK(memory[i] == 'm', "byte %d is %c", i, memory[i]);
    OK(MPI_Free_mem(memory));
}

static void die(int signal)
{
    (void)signal;
    kill(getpid(), SIGKILL);
}

/* Comes to a fence to which nobody else comes for a while, and is killed there. */
static void killed_in_fence(MPI_Win win)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 100000}};
    signal(SIGALRM, die);
    setitimer(ITIMER_REAL, &soon, NULL);
    MPI_Win_fence(0, win);
    for (;;) pause();
}

int main(int argc, char **argv)
{
    MPI_Win wins[KINDS], created;
    MPI_Group world, victim, others, first, last_two;
    MPI_Comm near;
    char *own;
    int *base[KINDS], one = 1, got = 0, dead = VICTIM, together;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
    OK(MPI_Comm_size(near, &together));
    OK(MPI_Comm_free(&near));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &dead, &victim));
    OK(MPI_Group_excl(world, 1, &dead, &others));
    OK(MPI_Group_incl(world, 1, (const int[]){0}, &first));
    OK(MPI_Group_incl(world, size > 2 ? 2 : 1, (const int[]){VICTIM, 2}, &last_two));
    for (int i = 0; i < KINDS; i++) {
        OK(MPI_Win_allocate(BYTES, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base[i], &wins[i]));
        OK(MPI_Win_set_errhandler(wins[i], MPI_ERRORS_RETURN));
    }
    OK(MPI_Alloc_mem(PAGE, MPI_INFO_NULL, &own));
    OK(MPI_Win_create(own, PAGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &created));
    OK(MPI_Win_set_errhandler(created, MPI_ERRORS_RETURN));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == VICTIM) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, wins[0]));
        OK(MPI_Win_post(others, 0, wins[2]));
    } else {
        OK(MPI_Win_post(victim, 0, wins[1]));
        OK(MPI_Win_start(victim, 0, wins[2]));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, VICTIM, 0, wins[3]));
        if (rank == 0) OK(MPI_Win_lock_all(0, wins[6]));
        if (rank == 0) OK(MPI_Win_lock_all(0, created));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == VICTIM) killed_in_fence(wins[7]);
    double since = MPI_Wtime() + 0.1;
    /* Who does not wait for the dead itself may not have heard of it yet; on one node rank 0 waits for all. */
    int may = rank > 0 || together < size;
    ends(MPI_Win_fence(0, wins[4]), may, since, "MPI_Win_fence");
    since = MPI_Wtime();
    ends(MPI_Win_wait(wins[1]), 0, since, "MPI_Win_wait");
    ends(MPI_Accumulate(&one, 1, MPI_INT, VICTIM, 0, 1, MPI_INT, MPI_SUM, wins[2]), 1, since, "MPI_Accumulate");
    ends(MPI_Win_complete(wins[2]), 1, since, "MPI_Win_complete");
    ends(MPI_Get(&got, 1, MPI_INT, VICTIM, 3, 1, MPI_INT, wins[3]), 1, since, "MPI_Get");
    ends(MPI_Win_unlock(VICTIM, wins[3]), 1, since, "MPI_Win_unlock");
    /* Rank 0 cannot start; the target that has posted hears that nothing comes, or, in mapped memory, of the loss. */
    if (rank == 2) OK(MPI_Win_post(first, 0, wins[5]));
    ends(MPI_Win_start(rank == 0 ? last_two : victim, 0, wins[5]), 0, since, "MPI_Win_start");
    if (rank == 2) ends(MPI_Win_wait(wins[5]), 1, since, "MPI_Win_wait after a start that fails");
    since = MPI_Wtime();
    /* In mapped memory nobody can tell whose lock it is; the owner of a queue can. */
    int code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, wins[0]);
    ends(code, 1, since, "MPI_Win_lock");
    if (code == MPI_SUCCESS) {
        OK(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, wins[0]));
        OK(MPI_Win_unlock(0, wins[0]));
    }
    /* The dead has come to the first of these fences, and not to the second. */
    usleep(200000);
    since = MPI_Wtime();
    code = MPI_Win_fence(0, wins[7]);
    ends(code, 1, since, "MPI_Win_fence, in which the dead was");
    if (code == MPI_SUCCESS) OK(MPI_Put(&one, 1, MPI_INT, 0, rank, 1, MPI_INT, wins[7]));
    ends(MPI_Win_fence(0, wins[7]), may, since, "MPI_Win_fence after that");
    /* A fence that fails ends its epoch, too: another one may begin with those that are left. */
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, wins[7]));
    OK(MPI_Win_unlock(0, wins[7]));
    freed_early(wins[6], NULL);
    freed_early(created, own);
    printf("rank %d goes on\n", rank);
    fflush(stdout);
    return MPI_Finalize();
}
