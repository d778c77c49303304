// ranks: 2
// only: posthaste
/* Memory in which messages are buffered automatically serves the next ones, also those of a persistent request: a long
 * message does not cost a page fault for each of its pages. MPI-5.0 section 3.6. */
#define _DEFAULT_SOURCE
#include "check.h"

#include <sys/resource.h>
#include <unistd.h>

/* Longer than what the C library keeps when it is freed. */
enum { LENGTH = 40 << 20, ROUNDS = 6 };

static long faults(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) FAIL("getrusage fails");
    return usage.ru_minflt;
}

int main(int argc, char **argv)
{
    char *data = malloc(LENGTH);
    MPI_Request request;
    void *attached = NULL;
    int length = -1;
    long pages = LENGTH / sysconf(_SC_PAGESIZE), before = 0, first;
    check_start(&argc, &argv);
    check_fill((unsigned char *)data, LENGTH, 1);
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    OK(MPI_Bsend_init(data, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
    first = faults();
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            if (round == 1) before = faults();
            if (round % 2) {
                OK(MPI_Bsend(data, LENGTH, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
            } else {
                OK(MPI_Start(&request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
            OK(MPI_Buffer_flush());
        } else {
            memset(data, 0, LENGTH);
            OK(MPI_Recv(data, LENGTH, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            check_filled((unsigned char *)data, LENGTH, 1);
        }
    }
    if (rank == 0) {
        long all = faults() - before;
        CHECK(before - first >= pages / 2 || pages < 1000, "the first message took %ld faults", before - first);
        CHECK(all < pages, "%d messages of %ld pages took %ld page faults", ROUNDS - 1, pages, all);
    }
    OK(MPI_Request_free(&request));
    OK(MPI_Buffer_detach(&attached, &length));
    CHECK(attached == MPI_BUFFER_AUTOMATIC, "another buffer was attached");
    free(data);
    return check_end();
}
