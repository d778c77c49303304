// ranks: 2
// alone
// only: posthaste
/* New processes that have sessions: beside MPI_Init they meet their parents; without it nobody comes, and the call that started them
 * says so. MPI-5.0 sections 11.3 and 11.8. */
#include "check.h"

#include <unistd.h>

static void session(void)
{
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
    OK(MPI_Session_finalize(&session));
}

static int spawn(char *own, char *what, int count, MPI_Comm *inter)
{
    char *arguments[] = {what, NULL};
    return MPI_Comm_spawn(own, arguments, count, MPI_INFO_NULL, 0, MPI_COMM_WORLD, inter, MPI_ERRCODES_IGNORE);
}

int main(int argc, char **argv)
{
    static char own[4096];
    MPI_Comm inter;
    const char *number = getenv("PMI_RANK");
    int first = number == NULL || atoi(number) == 0;
    if (argc > 1) {
        session();
        if (!strcmp(argv[1], "none") || (!strcmp(argv[1], "one") && !first)) return 0;
        check_start(&argc, &argv);
        OK(MPI_Comm_get_parent(&inter));
        CHECK(inter != MPI_COMM_NULL, "no parents");
        session();
        OK(MPI_Barrier(inter));
        OK(MPI_Comm_disconnect(&inter));
        return check_end();
    }
    check_start(&argc, &argv);
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    OK(spawn(own, "all", 2, &inter));
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_disconnect(&inter));
    char *wrong[] = {"none", "one"};
    for (int i = 0; i < 2; i++) {
        int code = spawn(own, wrong[i], 2, &inter);
        REFUSED(code, MPI_ERR_SPAWN);
        CHECK(strstr(check_text(code), "without connecting to its parents"), "%s", check_text(code));
        CHECK(inter == MPI_COMM_NULL, "a communicator with nobody");
    }
    OK(spawn(own, "all", 1, &inter));
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_disconnect(&inter));
    return check_end();
}
