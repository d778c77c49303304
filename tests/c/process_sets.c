// ranks: 1
// only: posthaste
/* Process sets of programs, of nodes, and those that the user names with `mpiexec -pset` and who spawns with the hint `pset`.
 * MPI-5.0 section 11.3.2. */
#include "meeting_check.h"

static int is_listed(MPI_Session session, const char *wanted)
{
    int count, found = 0;
    OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &count));
    for (int n = 0; n < count; n++) {
        char name[MPI_MAX_PSET_NAME_LEN];
        int length = sizeof name;
        OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, n, &length, name));
        found += !strcmp(name, wanted);
    }
    return found;
}

/* The set has these ranks of the world, and is listed where it has this one. */
static void has(MPI_Session session, const char *name, int members, const int *ranks)
{
    MPI_Group group, all;
    int found = -1, place, mine = 0;
    OK(MPI_Group_from_session_pset(session, name, &group));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    OK(MPI_Group_size(group, &found));
    EQUAL(found, members);
    for (int i = 0; i < members; i++) {
        OK(MPI_Group_translate_ranks(group, 1, &i, all, &place));
        EQUAL(place, ranks[i]);
        mine |= place == rank;
    }
    EQUAL(is_listed(session, name), mine);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&all));
}

static int member(int spawned)
{
    MPI_Session session;
    MPI_Group group, ocean, ice;
    MPI_Comm comm, inter;
    int sum = -1, remote = -1;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
    OK(MPI_Group_rank(group, &rank));
    OK(MPI_Group_size(group, &size));
    OK(MPI_Group_free(&group));
    EQUAL(size, 3);
    has(session, "ocean", 2, (int[]){0, 1});
    has(session, "ice", 1, (int[]){2});
    has(session, "edge", 2, (int[]){0, 2});
    has(session, "mpix://PROGRAM/0", spawned ? 1 : 2, (int[]){0, 1});
    has(session, "mpix://PROGRAM/1", 1, spawned ? (int[]){1} : (int[]){2});
    has(session, "mpix://NODE/0", 3, (int[]){0, 1, 2});
    REFUSED(MPI_Group_from_session_pset(session, "land", &group), MPI_ERR_ARG);
    /* Communicators out of them. */
    OK(MPI_Group_from_session_pset(session, "ocean", &ocean));
    OK(MPI_Group_from_session_pset(session, "ice", &ice));
    OK(MPI_Comm_create_from_group(rank < 2 ? ocean : ice, "solver", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    int one = 1;
    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    EQUAL(sum, rank < 2 ? 2 : 1);
    OK(MPI_Intercomm_create_from_groups(rank < 2 ? ocean : ice, 0, rank < 2 ? ice : ocean, 0, "both", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
    OK(MPI_Comm_remote_size(inter, &remote));
    EQUAL(remote, rank < 2 ? 1 : 2);
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Group_free(&ocean));
    OK(MPI_Group_free(&ice));
    OK(MPI_Session_finalize(&session));
    return 0;
}

static pid_t launch(char **arguments)
{
    static char launcher[4096], link[64];
    pid_t pid;
    snprintf(link, sizeof link, "/proc/%d/exe", getppid());
    CHECK(readlink(link, launcher, sizeof launcher - 1) > 0, "no launcher");
    arguments[0] = launcher;
    fflush(NULL);
    int failed = posix_spawn(&pid, launcher, NULL, NULL, arguments, environ);
    CHECK(failed == 0, "starting %s: %s", launcher, strerror(failed));
    return pid;
}

int main(int argc, char **argv)
{
    static char own[4096];
    MPI_Comm parent, inter;
    if (argc > 1 && !strcmp(argv[1], "session")) return member(0);
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        member(1);
        OK(MPI_Comm_disconnect(&parent));
        return check_end();
    }
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    char *job[] = {NULL, "-pset", "edge=0,2", "-n", "2", "-pset", "ocean", own, "session", ":", "-n", "1", "-pset=ice", own, "session", NULL};
    job_end(launch(job));
    char *wrong[] = {NULL, "-pset", "edge=0,3", "-n", "3", own, "session", NULL};
    int status = 0;
    pid_t pid = launch(wrong);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 1, "status %#x", (unsigned)status);

    char *commands[] = {own, own, own}, *sets[] = {"ocean,edge", "ocean", "ice,edge"};
    int counts[] = {1, 1, 1};
    MPI_Info infos[3];
    for (int i = 0; i < 3; i++) {
        OK(MPI_Info_create(&infos[i]));
        OK(MPI_Info_set(infos[i], "pset", sets[i]));
    }
    OK(MPI_Comm_spawn_multiple(3, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
    OK(MPI_Comm_disconnect(&inter));
    for (int i = 0; i < 3; i++) OK(MPI_Info_free(&infos[i]));
    return check_end();
}
