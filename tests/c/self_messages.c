// ranks: 1 2
// alone
/* Messages to oneself: receive posted first, message unexpected, every length, MPI_COMM_SELF, truncation.
 * A send to oneself must not need a second thread as long as the receive is posted (MPI-5.0 section 3.5). */
#include "check.h"

static void both_ways(MPI_Comm comm, int me, int length)
{
    unsigned char *out = check_guarded((size_t)length), *in = check_guarded((size_t)length);
    MPI_Request requests[2];
    MPI_Status status;
    int count = -1;
    check_fill(out, (size_t)length, 1);
    OK(MPI_Irecv(in, length, MPI_BYTE, me, 1, comm, &requests[0]));
    OK(MPI_Send(out, length, MPI_BYTE, me, 1, comm));
    OK(MPI_Wait(&requests[0], &status));
    EQUAL(status.MPI_SOURCE, me);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    EQUAL(count, length);
    check_filled(in, (size_t)length, 1);
    memset(in, 0, (size_t)length);
    OK(MPI_Isend(out, length, MPI_BYTE, me, 2, comm, &requests[0]));
    OK(MPI_Irecv(in, length, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    check_filled(in, (size_t)length, 1);
    check_free_guarded(out, (size_t)length);
    check_free_guarded(in, (size_t)length);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 8, 40, 64, 4096, 8192, 65536, 1 << 20, 5 << 20};
    check_start(&argc, &argv);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        both_ways(MPI_COMM_SELF, 0, lengths[i]);
        both_ways(MPI_COMM_WORLD, rank, lengths[i]);
    }
    for (unsigned i = 5; i < 9; i++) {
        unsigned char *out = check_guarded((size_t)lengths[i]), *in = check_guarded(100);
        MPI_Request request;
        check_fill(out, (size_t)lengths[i], 9);
        OK(MPI_Isend(out, lengths[i], MPI_BYTE, 0, 5, MPI_COMM_SELF, &request));
        REFUSED(MPI_Recv(in, 100, MPI_BYTE, 0, 5, MPI_COMM_SELF, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        check_free_guarded(out, (size_t)lengths[i]);
        check_free_guarded(in, 100);
    }
    return check_end();
}
