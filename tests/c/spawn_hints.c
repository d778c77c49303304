// ranks: 1 2
// only: posthaste
// says: the info key map_by has no effect with the value "socket", expected slot, node or ppr:N:node
/* Hints for processes that are started: several variables in one, hints in a file, and those of other launchers. MPI-5.0 section
 * 11.8.4. */
#include "meeting_check.h"

static char own[4096];

/* A new process: its arguments are its working directory, and what its two variables should be. */
static void child(char **argv, MPI_Comm parent)
{
    const char *names[] = {"SPAWN_HINTS_A", "SPAWN_HINTS_B"};
    char folder[4096];
    CHECK(getcwd(folder, sizeof folder), "no directory");
    CHECK(!strcmp(argv[1], "-") || !strcmp(folder, argv[1]), "in %s, not in %s", folder, argv[1]);
    for (int i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);
        CHECK(value && !strcmp(value, argv[2 + i]), "%s is %s, expected %s", names[i], value ? value : "not set", argv[2 + i]);
    }
    OK(MPI_Comm_disconnect(&parent));
}

static int start(MPI_Info info, char *folder, char *a, char *b)
{
    MPI_Comm inter;
    int codes[2] = {-1, -1};
    char *arguments[] = {folder, a, b, NULL};
    int root = size - 1, code = MPI_Comm_spawn(own, arguments, 2, rank == root ? info : MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes);
    for (int i = 0; i < 2; i++) EQUAL(codes[i], code == MPI_SUCCESS ? MPI_SUCCESS : MPI_ERR_SPAWN);
    if (code == MPI_SUCCESS) OK(MPI_Comm_disconnect(&inter));
    return code;
}

/* The file as the root leaves it. */
static void leave(const char *path, const char *text)
{
    if (rank != size - 1) return;
    FILE *file = fopen(path, "w");
    CHECK(file, "no file %s", path);
    fputs(text, file);
    fclose(file);
}

static void refused(MPI_Info info, const char *says)
{
    int code = start(info, "-", "", "");
    REFUSED(code, MPI_ERR_INFO_VALUE);
    CHECK(strstr(check_text(code), says), "%s", check_text(code));
}

int main(int argc, char **argv)
{
    MPI_Comm parent;
    MPI_Info info;
    char path[64], says[128];
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        child(argv, parent);
        return check_end();
    }
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(n > 0, "no program");
    OK(MPI_Info_create(&info));

    /* As Open MPI writes variables. */
    OK(MPI_Info_set(info, "env", "SPAWN_HINTS_A=1\nSPAWN_HINTS_B=two words"));
    OK(start(info, "-", "1", "two words"));
    OK(MPI_Info_set(info, "env", "SPAWN_HINTS_A=1=2\n\nSPAWN_HINTS_B=\n"));
    OK(start(info, "-", "1=2", ""));

    /* In a file; what the program says itself goes first. */
    int pid = getpid();
    OK(MPI_Bcast(&pid, 1, MPI_INT, size - 1, MPI_COMM_WORLD));
    snprintf(path, sizeof path, "/tmp/spawn_hints.%d", pid);
    leave(path, "# Of the test.\nwdir = /\n\n  env=SPAWN_HINTS_A=3\nenv = SPAWN_HINTS_B=four words  \r\n");
    OK(MPI_Info_set(info, "file", path));
    OK(MPI_Info_delete(info, "env"));
    OK(start(info, "/", "3", "four words"));
    OK(MPI_Info_set(info, "wdir", "/usr"));
    OK(start(info, "/usr", "3", "four words"));
    OK(MPI_Info_set(info, "env", "SPAWN_HINTS_A=5\nSPAWN_HINTS_B=6"));
    OK(start(info, "/usr", "5", "6"));

    /* Files that are none. */
    leave(path, "wdir = /\nnothing\n");
    snprintf(says, sizeof says, "line 2 of file=%s", path);
    refused(info, says);
    if (rank == size - 1) unlink(path);
    snprintf(says, sizeof says, "file=%s, expected a file (No such file", path);
    refused(info, says);
    OK(MPI_Info_delete(info, "file"));

    /* Words of other launchers; one of them is not followed here. */
    OK(MPI_Info_set(info, "add-host", "localhost"));
    OK(MPI_Info_set(info, "npernode", "1"));
    OK(MPI_Info_set(info, "map_by", "node"));
    OK(start(info, "/usr", "5", "6"));
    OK(MPI_Info_set(info, "map_by", "socket"));
    OK(start(info, "/usr", "5", "6"));
    OK(MPI_Info_delete(info, "npernode"));
    OK(MPI_Info_set(info, "ppn", "some"));
    REFUSED(start(info, "/usr", "5", "6"), MPI_ERR_SPAWN);
    OK(MPI_Info_free(&info));
    return check_end();
}
