// ranks: 1
// timeout: 300
// only: posthaste
/* Two jobs meet and part a thousand times at one port: neither memory nor descriptors grow. The last time who accepts is late, so that
 * the other one calls further addresses of the port, if it has any: nothing stays of those calls. */
#include "meeting_check.h"

#include <dirent.h>

enum { ROUNDS = 1000, SETTLED = 200, LATE_MS = 2500 };

static int descriptors(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL, "no /proc");
    while (readdir(folder)) count++;
    closedir(folder);
    return count;
}

static long resident(void)
{
    long pages = -1;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%*d %ld", &pages) == 1, "no /proc");
    fclose(file);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    check_start(&argc, &argv);
    int high = argc > 2, open = 0;
    long memory = 0;
    pid_t job = 0;
    if (high) {
        snprintf(port, sizeof port, "%s", argv[2]);
    } else {
        OK(MPI_Open_port(MPI_INFO_NULL, port));
        job = job_start("1", "client", port);
    }
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm inter;
        int theirs = -1;
        if (!high && round == ROUNDS - 1) usleep(LATE_MS * 1000);
        /* Each has slept before it counts: it may need a descriptor for that. */
        if (round == high) usleep(100000);
        if (high)
            OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        else
            OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
        OK(MPI_Sendrecv(&round, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
        EQUAL(theirs, round);
        OK(MPI_Comm_disconnect(&inter));
        if (round == SETTLED) {
            open = descriptors();
            memory = resident();
        }
    }
    EQUAL(descriptors(), open);
    CHECK(resident() - memory < 2048, "%ld KiB more than after %d rounds", resident() - memory, SETTLED);
    if (!high) {
        job_end(job);
        OK(MPI_Close_port(port));
    }
    return check_end();
}
