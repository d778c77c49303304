// ranks: 1 2
// only: posthaste
/* Every argument of the functions that start processes wrong in turn: at each rank by itself, and at the root, which all ranks
 * hear of. MPI-5.0 section 11.8. */
#include "bad_check.h"

static MPI_Comm made;
static int codes[4];

static void one(char *own)
{
    MPI_Comm inter;
    BAD(MPI_ERR_ARG, "intercomm is NULL", MPI_Comm_spawn, own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, NULL, codes);
    EACH(BAD_COMM, MPI_Comm, w)
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_spawn, own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, w, &made, codes);
    const int roots[] = {-2, -1, size, 1 << 30};
    for (int i = 0; i < 4; i++)
        BAD(MPI_ERR_ROOT, "root is ", MPI_Comm_spawn, own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, roots[i], MPI_COMM_WORLD, &made, codes);
    if (size > 1) {
        OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, !rank, 0, &inter));
        OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_spawn, own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, inter, &made, codes);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_spawn_multiple, 1, &own, MPI_ARGVS_NULL, codes, &bad_live_info, 0, inter, &made, codes);
        OK(MPI_Comm_free(&inter));
    }
    char *latin[] = {"caf\xe9", NULL}, *lines[] = {"two\nlines", NULL};
    BAD(MPI_ERR_ARG, "argv is \"caf", MPI_Comm_spawn, own, latin, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made, codes);
    BAD(MPI_ERR_ARG, "command is \"caf", MPI_Comm_spawn, latin[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made, codes);
    BAD(MPI_ERR_SPAWN, "line end", MPI_Comm_spawn, own, lines, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &made, codes);
    codes[0] = -1; /* It was the launcher's affair. */
    for (int root = 0; root < size; root++) {
        BAD(MPI_ERR_ARG, "command is NULL", MPI_Comm_spawn, NULL, MPI_ARGV_NULL, 1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "maxprocs is 0", MPI_Comm_spawn, own, MPI_ARGV_NULL, 0, MPI_INFO_NULL, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "maxprocs is -1", MPI_Comm_spawn, own, MPI_ARGV_NULL, -1, MPI_INFO_NULL, root, MPI_COMM_WORLD, &made, codes);
        EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL)
            BAD(MPI_ERR_INFO, "info is ", MPI_Comm_spawn, own, MPI_ARGV_NULL, 1, w, root, MPI_COMM_WORLD, &made, codes);
    }
    CHECK(made == MPI_COMM_NULL, "the result of a wrong call");
}

static void several(char *own)
{
    char *commands[] = {own, own}, *half[] = {own, NULL};
    const int counts[] = {1, 1}, none[] = {1, 0}, negative[] = {-5, 1};
    MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
    BAD(MPI_ERR_ARG, "intercomm is NULL", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, counts, infos, 0, MPI_COMM_SELF, NULL, codes);
    EACH(BAD_COMM, MPI_Comm, w)
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, counts, infos, 0, w, &made, codes);
    for (int root = -1; root <= size; root += size + 1)
        BAD(MPI_ERR_ROOT, "root is ", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, counts, infos, root, MPI_COMM_WORLD, &made, codes);
    for (int root = 0; root < size; root++) {
        BAD(MPI_ERR_ARG, "count is 0", MPI_Comm_spawn_multiple, 0, commands, MPI_ARGVS_NULL, counts, infos, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "count is -3", MPI_Comm_spawn_multiple, -3, commands, MPI_ARGVS_NULL, counts, infos, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "array_of_commands is NULL", MPI_Comm_spawn_multiple, 2, NULL, MPI_ARGVS_NULL, counts, infos, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "array_of_commands is NULL", MPI_Comm_spawn_multiple, 2, half, MPI_ARGVS_NULL, counts, infos, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "array_of_maxprocs is NULL", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, NULL, infos, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "maxprocs is 0", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, none, infos, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "maxprocs is -5", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, negative, infos, root, MPI_COMM_WORLD, &made, codes);
        BAD(MPI_ERR_ARG, "array_of_info is NULL", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, counts, NULL, root, MPI_COMM_WORLD, &made, codes);
        EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL) {
            MPI_Info wrong[] = {MPI_INFO_NULL, w};
            BAD(MPI_ERR_INFO, "info is ", MPI_Comm_spawn_multiple, 2, commands, MPI_ARGVS_NULL, counts, wrong, root, MPI_COMM_WORLD, &made, codes);
        }
    }
    CHECK(made == MPI_COMM_NULL, "the result of a wrong call");
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    made = MPI_COMM_WORLD;
    for (int i = 0; i < 4; i++) codes[i] = -1;
    one(argv[0]);
    several(argv[0]);
    BAD(MPI_ERR_ARG, "parent is NULL", MPI_Comm_get_parent, NULL);
    /* Nobody knows how many codes a wrong call has. */
    for (int i = 0; i < 4; i++) EQUAL(codes[i], -1);
    return bad_end();
}
