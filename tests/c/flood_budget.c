// ranks: 4
// env: POSTHASTE_UNEXPECTED_BYTES=1048576
// env: POSTHASTE_BOUNCE_BUFFER=small
// env: POSTHASTE_TCP_BUFFER=65536
// says: rank 0 of the world has not received yet what rank
// only: posthaste
// timeout: 180
// not over libfabric: libfabric takes megabytes of its own for each peer
/* Three ranks start 1,000,000 sends of 64 bytes and 2 KiB to rank 0, which receives none of them: its memory stays within
 * the budget for each sender. What comes behind the flood is found all the same, by tag, on another communicator, by
 * probes, and in collective operations; then everything is received in order, and is whole. */
#include "check.h"

enum { COUNT = 333334, SHORT = 16, LONG = 512, MANY = 1 << 20 };

static unsigned *numbers;

static int length(int i)
{
    return i % 16 == 3 ? LONG : SHORT;
}

/* Memory of this process, in bytes. */
static long resident(void)
{
    long pages = 0, unused;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &unused, &pages) != 2) FAIL("no /proc/self/statm");
    fclose(file);
    return pages * 4096;
}

/* What TCP brings after the sender has been throttled: all that the system keeps on both sides, where its buffers
 * are not set. In memory a message of 64 bytes takes less than three times what it takes on the wire. Systems may allow more
 * than all of the flood; then half of it is still too much. */
static long under_way(void)
{
    long most = 0, bytes = 0;
    const long all = COUNT / 16l * (15 * 200 + 2200);
#ifdef BUFFERS_OF_THE_SYSTEM
    const char *limits[] = {"/proc/sys/net/ipv4/tcp_rmem", "/proc/sys/net/ipv4/tcp_wmem"};
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(limits[i], "r");
        if (!file || fscanf(file, "%*d %*d %ld", &bytes) != 1) FAIL("no %s", limits[i]);
        fclose(file);
        most += 3 * bytes;
    }
#endif
    (void)bytes;
    return most < all / 2 ? most : all / 2;
}

static void within_budget(long before, const char *when)
{
    /* The budget of three senders, and what is under way: a ring of each, spare buffers, bounce buffers. */
    long grown = resident() - before, most = 3l * (MANY + under_way()) + (6l << 20);
    CHECK(grown <= most, "%s: %ld bytes more than before, at most %ld expected", when, grown, most);
}

static void flood(MPI_Comm other)
{
    MPI_Request *requests = malloc((COUNT + 2) * sizeof *requests);
    int tail[2] = {rank * 10 + 2, rank * 10 + 3}, sum = 0;
    for (int i = 0; i < COUNT; i++)
        OK(MPI_Isend(numbers + i, length(i), MPI_UNSIGNED, 0, 1, MPI_COMM_WORLD, &requests[i]));
    OK(MPI_Isend(&tail[0], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[COUNT]));
    OK(MPI_Isend(&tail[1], 1, MPI_INT, 0, 1, other, &requests[COUNT + 1]));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other));
    EQUAL(sum, 6);
    OK(MPI_Waitall(COUNT + 2, requests, MPI_STATUSES_IGNORE));
    free(requests);
}

static void behind(MPI_Comm other)
{
    int got, sum = 0, flag = 0;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    OK(MPI_Recv(&got, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &status));
    EQUAL(got, 22);
    while (!flag) OK(MPI_Iprobe(1, 2, MPI_COMM_WORLD, &flag, &status));
    EQUAL(status.MPI_SOURCE, 1);
    OK(MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status));
    OK(MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EQUAL(got, status.MPI_SOURCE * 10 + 2);
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 1, other, &message, &status));
    OK(MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
    EQUAL(got, status.MPI_SOURCE * 10 + 3);
    OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, other));
    EQUAL(sum, 6);
    OK(MPI_Wait(&request, &status));
    EQUAL(got, status.MPI_SOURCE * 10 + 2);
    for (int i = 0; i < 2; i++) {
        OK(MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, other, &status));
        EQUAL(got, status.MPI_SOURCE * 10 + 3);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm other;
    static unsigned into[LONG];
    check_start(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    numbers = malloc((COUNT + LONG) * sizeof *numbers);
    for (unsigned i = 0; i < COUNT + LONG; i++) numbers[i] = i * 2654435761u;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank != 0) {
        flood(other);
    } else {
        long before = resident();
        double start = MPI_Wtime();
        int flag;
        while (MPI_Wtime() < start + 4)
            OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        within_budget(before, "under the flood");
        behind(other);
        within_budget(before, "after what came behind it");
        fprintf(stderr, "behind after %.2f s, %ld bytes more\n", MPI_Wtime() - start, resident() - before);
        for (int i = 0; i < COUNT; i++) {
            for (int from = 1; from < size; from++) {
                int count;
                MPI_Status status;
                OK(MPI_Recv(into, LONG, MPI_UNSIGNED, from, 1, MPI_COMM_WORLD, &status));
                OK(MPI_Get_count(&status, MPI_UNSIGNED, &count));
                EQUAL(count, length(i));
                if (memcmp(into, numbers + i, sizeof *into * (size_t)count)) FAIL("message %d of rank %d is another", i, from);
            }
        }
        within_budget(before, "at the end");
        fprintf(stderr, "all after %.2f s\n", MPI_Wtime() - start);
    }
    free(numbers);
    OK(MPI_Comm_free(&other));
    return check_end();
}
