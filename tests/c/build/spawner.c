/* Starts two processes of itself in a folder (argv[2]) on a host (argv[3]), and does with them what argv[1] says:
 *   meet    greets them and parts from them
 *   miss    the same after it has asked for a program that is not there, and has looked at the error codes
 *   hold    holds on to them until somebody ends this job, or until argv[4], a file, is there; then rank 0 calls MPI_Abort
 *   lose    the first of them kills itself, which is an error of what waits for it here
 *   never   starts a program that never comes to MPI_Init, in no folder and on no host */
#include "../check.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

enum { CHILDREN = 2 };

static void sum_of(MPI_Comm all, int members)
{
    int place = -1, sum = -1;
    OK(MPI_Comm_rank(all, &place));
    OK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all));
    EQUAL(sum, members * (members - 1) / 2);
}

static void child(char **argv, MPI_Comm parent)
{
    char folder[PATH_MAX], wanted[PATH_MAX];
    int parents = 0, word = -1;
    EQUAL(size, CHILDREN);
    CHECK(getcwd(folder, sizeof folder) && realpath(argv[2], wanted), "no directory");
    CHECK(!strcmp(folder, wanted), "in %s, not in %s", folder, wanted);
    OK(MPI_Comm_remote_size(parent, &parents));
    if (argv[1][0] != 'm') {
        OK(MPI_Barrier(parent));
        if (rank == 0 && !strcmp(argv[1], "lose")) {
            OK(MPI_Recv(&word, 1, MPI_INT, 0, 4, parent, MPI_STATUS_IGNORE));
            raise(SIGKILL);
        }
        for (;;) pause();
    }
    MPI_Comm all;
    OK(MPI_Bcast(&word, 1, MPI_INT, 0, parent));
    EQUAL(word, 4711);
    OK(MPI_Send(&rank, 1, MPI_INT, 0, 3, parent));
    OK(MPI_Intercomm_merge(parent, 1, &all));
    sum_of(all, parents + CHILDREN);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(&parent));
}

static void greet(MPI_Comm children)
{
    MPI_Comm all;
    int word = 4711, greeting = -1;
    OK(MPI_Bcast(&word, 1, MPI_INT, rank ? MPI_PROC_NULL : MPI_ROOT, children));
    for (int other = 0; rank == 0 && other < CHILDREN; other++) {
        OK(MPI_Recv(&greeting, 1, MPI_INT, other, 3, children, MPI_STATUS_IGNORE));
        EQUAL(greeting, other);
    }
    OK(MPI_Intercomm_merge(children, 0, &all));
    sum_of(all, size + CHILDREN);
    OK(MPI_Comm_free(&all));
    OK(MPI_Comm_disconnect(&children));
}

static void missing(MPI_Info info)
{
    MPI_Comm children;
    int codes[CHILDREN] = {MPI_SUCCESS, MPI_SUCCESS};
    REFUSED(MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, CHILDREN, info, 0, MPI_COMM_WORLD, &children, codes), MPI_ERR_SPAWN);
    for (int at = 0; at < CHILDREN; at++) REFUSED(codes[at], MPI_ERR_SPAWN);
    EQUAL(children == MPI_COMM_NULL, 1);
}

static void never(void)
{
    MPI_Comm children;
    int codes[CHILDREN];
    REFUSED(MPI_Comm_spawn("true", MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes), MPI_ERR_SPAWN);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) puts("they have not come");
}

int main(int argc, char **argv)
{
    char own[PATH_MAX];
    int codes[CHILDREN] = {-1, -1}, others = -1;
    MPI_Comm parent, children;
    MPI_Info info;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        child(argv, parent);
        return check_end();
    }
    if (argc > 1 && !strcmp(argv[1], "never")) {
        never();
        return check_end();
    }
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(n > 0 && argc > 3, "no program, or no arguments");
    own[n] = 0;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "wdir", argv[2]));
    OK(MPI_Info_set(info, "host", argv[3]));
    if (!strcmp(argv[1], "miss")) missing(info);
    OK(MPI_Comm_spawn(own, argv + 1, CHILDREN, info, size - 1, MPI_COMM_WORLD, &children, codes));
    OK(MPI_Info_free(&info));
    for (int at = 0; at < CHILDREN; at++) EQUAL(codes[at], MPI_SUCCESS);
    OK(MPI_Comm_remote_size(children, &others));
    EQUAL(others, CHILDREN);
    if (argv[1][0] == 'm') {
        greet(children);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) puts("they have met and parted");
        return check_end();
    }
    OK(MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN));
    OK(MPI_Barrier(children));
    if (!strcmp(argv[1], "lose")) {
        /* All are out of the barrier. */
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) OK(MPI_Send(&size, 1, MPI_INT, 0, 4, children));
        REFUSED(MPI_Recv(&others, 1, MPI_INT, 0, 3, children, MPI_STATUS_IGNORE), MPI_ERR_PROC_ABORTED);
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) puts("they are lost");
        return check_end();
    }
    if (rank == 0) {
        puts("they hold");
        fflush(stdout);
    }
    while (argc < 5 || access(argv[4], F_OK)) usleep(10000);
    if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    for (;;) pause();
}
