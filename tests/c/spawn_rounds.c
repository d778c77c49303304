// ranks: 1
// alone
// timeout: 1800
// only: posthaste
/* Processes are started, talked to and let go, 30 times or as often as SPAWN_ROUNDS says: neither descriptors nor memory grow, here
 * and in the launcher, beyond the few bytes by which those that were there are remembered. */
#include "check.h"

#include <dirent.h>
#include <unistd.h>

/* A few descriptors come and go with the last job. */
enum { SETTLED = 10, A_ROUND = 160, FREE = 2 << 20, LAST_JOB = 4 };

typedef struct {
    int descriptors;
    long memory;
} Holdings;

static Holdings holdings(int pid)
{
    Holdings found = {0, -1};
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", pid);
    DIR *folder = opendir(path);
    CHECK(folder != NULL, "no %s", path);
    while (readdir(folder)) found.descriptors++;
    closedir(folder);
    snprintf(path, sizeof path, "/proc/%d/statm", pid);
    FILE *file = fopen(path, "r");
    CHECK(file && fscanf(file, "%*d %ld", &found.memory) == 1, "no %s", path);
    fclose(file);
    found.memory *= sysconf(_SC_PAGESIZE);
    return found;
}

/* The launcher has not yet noticed all ends when the parents go on. */
static void settle(int pid, int wanted)
{
    for (int tries = 0; tries < 2000 && holdings(pid).descriptors > wanted; tries++) usleep(10000);
}

int main(int argc, char **argv)
{
    static char own[4096];
    const char *wanted = getenv("SPAWN_ROUNDS");
    int rounds = wanted ? atoi(wanted) : 30, launched = getenv("PMI_FD") != NULL;
    int watched[] = {getpid(), getppid()}, count = launched ? 2 : 1;
    Holdings before[2];
    check_start(&argc, &argv);
    MPI_Comm inter;
    OK(MPI_Comm_get_parent(&inter));
    if (inter != MPI_COMM_NULL) {
        int word;
        OK(MPI_Recv(&word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
        OK(MPI_Send(&word, 1, MPI_INT, 0, 0, inter));
        OK(MPI_Comm_disconnect(&inter));
        return check_end();
    }
    CHECK(readlink("/proc/self/exe", own, sizeof own - 1) > 0, "no program");
    for (int round = 0; round < rounds; round++) {
        int word = -1;
        OK(MPI_Comm_spawn(own, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
        OK(MPI_Sendrecv(&round, 1, MPI_INT, 0, 0, &word, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
        EQUAL(word, round);
        OK(MPI_Comm_disconnect(&inter));
        if (round == SETTLED)
            for (int i = 0; i < count; i++) {
                if (i == 1) sleep(1);
                before[i] = holdings(watched[i]);
            }
    }
    for (int i = 0; i < count; i++) {
        settle(watched[i], before[i].descriptors + LAST_JOB);
        Holdings after = holdings(watched[i]);
        const char *whose = i == 0 ? "the parent" : "the launcher";
        CHECK(after.descriptors <= before[i].descriptors + LAST_JOB, "%s has %d descriptors, and had %d", whose, after.descriptors, before[i].descriptors);
        long more = after.memory - before[i].memory, room = FREE + (long)rounds * A_ROUND;
        if (wanted) printf("%s: %ld KiB more after %d rounds\n", whose, more / 1024, rounds);
        CHECK(more <= room, "%s has %ld KiB more, expected %ld at most", whose, more / 1024, room / 1024);
    }
    return check_end();
}
