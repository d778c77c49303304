// ranks: 1 2 3
// only: posthaste
/* Processes are started from within a program: one command and several, with any root, hints, arguments and errors.
 * MPI-5.0 section 11.8. */
#include "meeting_check.h"

static char own[4096];

static MPI_Info hint(const char *key, const char *value)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, key, value));
    return info;
}

static void child(int argc, char **argv, MPI_Comm parent)
{
    MPI_Comm again;
    OK(MPI_Comm_get_parent(&again));
    CHECK(again == parent, "another handle");
    char name[MPI_MAX_OBJECT_NAME];
    int named;
    OK(MPI_Comm_get_name(parent, name, &named));
    CHECK(!strcmp(name, "MPI_COMM_PARENT"), "the parents are called \"%s\"", name);
    int parents, *number, flag = 0;
    OK(MPI_Comm_remote_size(parent, &parents));
    if (!strcmp(argv[1], "alone")) {
        CHECK(argc == 3 && !strcmp(argv[2], "two words"), "%d arguments, the last is %s", argc, argv[argc - 1]);
        EQUAL(size, 2);
    } else {
        /* Of several commands the second one has an empty argument, and starts in another directory. */
        OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag));
        CHECK(flag, "no MPI_APPNUM");
        EQUAL(*number, rank == 0 ? 0 : 1);
        EQUAL(size, 3);
        char folder[4096];
        CHECK(getcwd(folder, sizeof folder), "no directory");
        EQUAL(!strcmp(folder, "/"), rank > 0);
        EQUAL(argc, rank == 0 ? 2 : 3);
    }
    use(parent, 1);
    OK(MPI_Comm_disconnect(&parent));
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL, "the parents are still there");
}

int main(int argc, char **argv)
{
    MPI_Comm parent, inter = MPI_COMM_WORLD;
    check_start(&argc, &argv);
    OK(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL) {
        child(argc, argv, parent);
        return check_end();
    }
    ssize_t n = readlink("/proc/self/exe", own, sizeof own - 1);
    CHECK(n > 0, "no program");
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    int root = size - 1, *universe, flag = 0, codes[3] = {-1, -1, -1};
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag));
    if (flag) CHECK(*universe >= size, "a universe of %d", *universe);

    /* One command. Only the root's arguments count. */
    char *arguments[] = {"alone", "two words", NULL};
    int me = rank == root;
    OK(MPI_Comm_spawn(me ? own : NULL, me ? arguments : NULL, me ? 2 : -1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes));
    EQUAL(codes[0], MPI_SUCCESS);
    EQUAL(codes[1], MPI_SUCCESS);
    EQUAL(codes[2], -1);
    use(inter, 0);
    OK(MPI_Comm_disconnect(&inter));

    /* Several. */
    char *commands[] = {own, own}, *first[] = {"several", NULL}, *second[] = {"several", "", NULL}, **all[] = {first, second};
    int counts[] = {1, 2};
    MPI_Info infos[] = {MPI_INFO_NULL, hint("wdir", "/")};
    OK(MPI_Comm_spawn_multiple(2, commands, all, counts, infos, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
    use(inter, 0);
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Info_free(&infos[1]));

    /* Two of three will do. */
    MPI_Info two = hint("soft", "2");
    OK(MPI_Comm_spawn(own, arguments, 3, two, root, MPI_COMM_WORLD, &inter, codes));
    EQUAL(codes[0], MPI_SUCCESS);
    EQUAL(codes[1], MPI_SUCCESS);
    EQUAL(codes[2], MPI_ERR_SPAWN);
    use(inter, 0);
    OK(MPI_Comm_disconnect(&inter));

    /* And two of very many; there is a code for each. */
    enum { MANY = 10000 };
    static int many[MANY];
    OK(MPI_Comm_spawn(own, arguments, MANY, two, root, MPI_COMM_WORLD, &inter, many));
    for (int i = 0; i < MANY; i++) EQUAL(many[i], i < 2 ? MPI_SUCCESS : MPI_ERR_SPAWN);
    use(inter, 0);
    OK(MPI_Comm_disconnect(&inter));
    OK(MPI_Info_free(&two));

    /* What cannot be started is an error at all ranks, which have a code for each process, and says why. */
    char *none = "/no/such/program", *mixed[] = {own, none};
    codes[0] = codes[1] = codes[2] = -1;
    REFUSED(MPI_Comm_spawn(none, MPI_ARGV_NULL, me ? 2 : -1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
    CHECK(inter == MPI_COMM_NULL, "a communicator with nobody");
    EQUAL(codes[0], MPI_ERR_SPAWN);
    EQUAL(codes[1], MPI_ERR_SPAWN);
    EQUAL(codes[2], -1);
    infos[1] = MPI_INFO_NULL;
    REFUSED(MPI_Comm_spawn_multiple(2, mixed, MPI_ARGVS_NULL, counts, infos, root, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
    EQUAL(codes[2], MPI_ERR_SPAWN);
    int code = MPI_Comm_spawn(none, MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes);
    CHECK(strstr(check_text(code), "there is no program \"/no/such/program\""), "%s", check_text(code));
    REFUSED(MPI_Comm_spawn("true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
    REFUSED(MPI_Comm_spawn(own, MPI_ARGV_NULL, 0, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes), MPI_ERR_ARG);
    REFUSED(MPI_Comm_spawn(NULL, MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes), MPI_ERR_ARG);
    REFUSED(MPI_Comm_spawn(own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter, codes), MPI_ERR_ROOT);
    REFUSED(MPI_Comm_spawn_multiple(0, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_WORLD, &inter, codes), MPI_ERR_ARG);
    MPI_Info nowhere = hint("wdir", "/no/such/folder");
    REFUSED(MPI_Comm_spawn(own, arguments, 2, nowhere, root, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
    OK(MPI_Info_free(&nowhere));

    /* And afterwards all is as before. */
    OK(MPI_Comm_spawn(own, arguments, 2, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes));
    use(inter, 0);
    OK(MPI_Comm_disconnect(&inter));
    return check_end();
}
