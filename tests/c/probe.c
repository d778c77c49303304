// ranks: 2 3
/* MPI_Probe and MPI_Iprobe: source, tag and length are seen, nothing is consumed, and the message that was seen
 * is the one that is received. MPI-5.0 section 3.8. */
#include "check.h"

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 40, 1000, 8192, 100000, 3000000};
    check_start(&argc, &argv);
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        int length = lengths[k], count = -1, flag = 0;
        unsigned char *buffer = check_guarded((size_t)length);
        MPI_Status status, again;
        if (rank == size - 1) {
            check_fill(buffer, (size_t)length, k);
            OK(MPI_Send(buffer, length, MPI_BYTE, 0, 30 + (int)k, MPI_COMM_WORLD));
        } else if (rank == 0) {
            if (k % 2) {
                OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            } else {
                while (!flag) OK(MPI_Iprobe(MPI_ANY_SOURCE, 30 + (int)k, MPI_COMM_WORLD, &flag, &status));
            }
            EQUAL(status.MPI_SOURCE, size - 1);
            EQUAL(status.MPI_TAG, 30 + (int)k);
            OK(MPI_Get_count(&status, MPI_BYTE, &count));
            EQUAL(count, length);
            /* Another tag finds nothing; a second look finds the same message. */
            OK(MPI_Iprobe(size - 1, 29, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            EQUAL(flag, 0);
            OK(MPI_Iprobe(size - 1, 30 + (int)k, MPI_COMM_WORLD, &flag, &again));
            EQUAL(flag, 1);
            EQUAL(again.MPI_SOURCE, size - 1);
            OK(MPI_Recv(buffer, length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, &again));
            check_filled(buffer, (size_t)length, k);
            OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
            EQUAL(flag, 0);
        }
        check_free_guarded(buffer, (size_t)length);
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    /* A probe of MPI_PROC_NULL returns at once. */
    MPI_Status status;
    int flag = 0, count = -1;
    OK(MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status));
    EQUAL(flag, 1);
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(status.MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    EQUAL(count, 0);
    OK(MPI_Probe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status));
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    return check_end();
}
