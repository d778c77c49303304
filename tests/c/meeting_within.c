// ranks: 2 5
// only: posthaste
/* Ranks of one job meet at a port of one of them: many at once, some that have given up, one whose port is closed; nothing stays of
 * all that. MPI-5.0 section 11.9. */
#include "meeting_check.h"
#include <dirent.h>

static char port[MPI_MAX_PORT_NAME];

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL, "the system does not show descriptors");
    int n = 0;
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static MPI_Info limited(const char *seconds)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "timeout", seconds));
    return info;
}

static MPI_Comm called(void)
{
    MPI_Comm inter;
    OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    return inter;
}

static MPI_Comm call(void)
{
    MPI_Comm inter;
    OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
    return inter;
}

/* All others call at once; each is who it says, and all meetings stand side by side. */
static void many(int rounds)
{
    MPI_Comm inter[8];
    for (int round = 0; round < rounds; round++) {
        int callers = rank == 0 ? size - 1 : 1, seen = 0;
        for (int i = 0; i < callers; i++) inter[i] = rank == 0 ? called() : call();
        for (int i = 0; i < callers; i++) {
            int who = -1;
            OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 3, &who, 1, MPI_INT, 0, 3, inter[i], MPI_STATUS_IGNORE));
            seen |= 1 << who;
            OK(MPI_Comm_disconnect(&inter[i]));
        }
        EQUAL(seen, rank == 0 ? (1 << size) - 2 : 1);
    }
}

/* Those that have given up, before and after they have tried a connection as well, are passed by. */
static void given_up(void)
{
    static const char *limits[] = {"0", "0.005", "0.1"};
    MPI_Comm made = MPI_COMM_WORLD;
    for (int i = 0; rank > 0 && i < 3; i++) {
        MPI_Info info = limited(limits[i]);
        REFUSED(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
        CHECK(made == MPI_COMM_NULL, "there is a communicator");
        OK(MPI_Info_free(&info));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    many(1);
    MPI_Info info = limited("0.1");
    if (rank == 0) REFUSED(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
    OK(MPI_Info_free(&info));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The owner asks again and again whether somebody has come: nobody who has is sent away. */
static void asked(void)
{
    MPI_Info now = limited("0");
    if (rank > 0) {
        MPI_Comm inter = call();
        OK(MPI_Comm_disconnect(&inter));
    }
    for (int left = rank == 0 ? size - 1 : 0; left > 0;) {
        MPI_Comm inter;
        int code = MPI_Comm_accept(port, now, 0, MPI_COMM_SELF, &inter);
        if (code == MPI_SUCCESS) {
            OK(MPI_Comm_disconnect(&inter));
            left--;
        } else {
            REFUSED(code, MPI_ERR_PORT);
        }
    }
    OK(MPI_Info_free(&now));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* The owner closes its port, soon or late, while others wait at it. */
static void closed(int after)
{
    MPI_Comm made = MPI_COMM_WORLD;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        usleep(after);
        OK(MPI_Close_port(port));
    } else {
        double since = MPI_Wtime();
        REFUSED(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
        CHECK(MPI_Wtime() - since < 5, "only after %g s", MPI_Wtime() - since);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void open_port(void)
{
    if (rank == 0) OK(MPI_Open_port(MPI_INFO_NULL, port));
    OK(MPI_Bcast(port, sizeof port, MPI_CHAR, 0, MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    open_port();
    many(3);
    given_up();
    int before = descriptors();
    many(50);
    given_up();
    asked();
    /* Who sleeps may get one for each process that it waits for; of fifty meetings nothing stays. */
    CHECK(descriptors() <= before + size, "%d descriptors, %d before", descriptors(), before);
    /* The name with another secret leads nowhere. */
    char wrong[MPI_MAX_PORT_NAME];
    memcpy(wrong, port, sizeof wrong);
    char *secret = strchr(strchr(wrong, '/') + 1, '/') + 1;
    *secret = *secret == '0' ? '1' : '0';
    MPI_Comm made;
    MPI_Info info = limited("0.2");
    if (rank == 1) REFUSED(MPI_Comm_connect(wrong, info, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
    if (rank == 0) REFUSED(MPI_Comm_accept(port, info, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
    OK(MPI_Info_free(&info));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    closed(100000);
    open_port();
    closed(0);
    return check_end();
}
