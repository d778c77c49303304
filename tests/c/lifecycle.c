// ranks: 1 3
// alone
/* The calls that are legal before MPI_Init and after MPI_Finalize (MPI-5.0 section 11.4.1), MPI_Init_thread and
 * its answers, and MPI_Finalize while messages to oneself are long done. */
#include "check.h"

static void legal_at_any_time(void)
{
    int a = -1, b = -1, length = -1, class = -1;
    char text[MPI_MAX_ERROR_STRING], version[MPI_MAX_LIBRARY_VERSION_STRING];
    OK(MPI_Get_version(&a, &b));
    CHECK(a >= 4);
    OK(MPI_Get_library_version(version, &length));
    CHECK(length > 0);
    OK(MPI_Error_string(MPI_ERR_TRUNCATE, text, &length));
    CHECK(length > 0 && (int)strlen(text) == length);
    OK(MPI_Error_class(MPI_ERR_TAG, &class));
    EQUAL(class, MPI_ERR_TAG);
}

int main(int argc, char **argv)
{
    int flag = -1, provided = -1, level = -1;
    OK(MPI_Initialized(&flag));
    EQUAL(flag, 0);
    OK(MPI_Finalized(&flag));
    EQUAL(flag, 0);
    legal_at_any_time();
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "provided %d", provided);
    OK(MPI_Query_thread(&level));
    EQUAL(level, provided);
    OK(MPI_Is_thread_main(&flag));
    EQUAL(flag, 1);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Initialized(&flag));
    EQUAL(flag, 1);
    legal_at_any_time();
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Finalize());
    OK(MPI_Initialized(&flag));
    EQUAL(flag, 1);
    OK(MPI_Finalized(&flag));
    EQUAL(flag, 1);
    legal_at_any_time();
    return 0;
}
