// ranks: 2 3
// timeout: 120
/* Every size around a limit, blocking and nonblocking, receive posted first or message unexpected, exact and
 * wildcard receives, longer receive buffers; guard bytes stay intact. MPI-5.0 sections 3.2, 3.7. */
#include "check.h"

static const int sizes[] = {0, 1, 7, 8, 39, 40, 41, 63, 64, 65, 1023, 1024, 4095, 4096, 4097, 8191, 8192, 8193, 16384,
                            32768, 65535, 65536, 65537, 262144, 1048576, 5 << 20};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Long messages only in some of the combinations, so that the test stays short. */
static void one(int length, int slack, int blocking_send, int blocking_receive, int unexpected, int wildcard, int tag)
{
    unsigned char *buffer = check_guarded((size_t)(length + slack));
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    int token = 0, count = -1;
    unsigned seed = (unsigned)(length + tag);
    if (rank == 0) {
        check_fill(buffer, (size_t)length, seed);
        if (!unexpected) OK(MPI_Recv(&token, 0, MPI_INT, 1, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (blocking_send) OK(MPI_Send(buffer, length, MPI_BYTE, 1, tag, MPI_COMM_WORLD));
        else OK(MPI_Isend(buffer, length, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request));
        if (unexpected && !blocking_send) OK(MPI_Send(&token, 0, MPI_INT, 1, 1001, MPI_COMM_WORLD));
        if (!blocking_send) OK(MPI_Wait(&request, &status));
        CHECK(request == MPI_REQUEST_NULL);
        check_filled(buffer, (size_t)length, seed);
    } else if (rank == 1) {
        int source = wildcard ? MPI_ANY_SOURCE : 0, want = wildcard ? MPI_ANY_TAG : tag;
        memset(&status, 0x55, sizeof status);
        /* The token overtakes nothing: it is matched by its own tag, the message waits as an unexpected one. */
        if (unexpected && !blocking_send) OK(MPI_Recv(&token, 0, MPI_INT, 0, 1001, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        if (blocking_receive && (unexpected || blocking_send)) {
            if (!unexpected) OK(MPI_Send(&token, 0, MPI_INT, 0, 1000, MPI_COMM_WORLD));
            OK(MPI_Recv(buffer, length + slack, MPI_BYTE, source, want, MPI_COMM_WORLD, &status));
        } else {
            OK(MPI_Irecv(buffer, length + slack, MPI_BYTE, source, want, MPI_COMM_WORLD, &request));
            if (!unexpected) OK(MPI_Send(&token, 0, MPI_INT, 0, 1000, MPI_COMM_WORLD));
            OK(MPI_Wait(&request, &status));
            CHECK(request == MPI_REQUEST_NULL);
        }
        EQUAL(status.MPI_SOURCE, 0);
        EQUAL(status.MPI_TAG, tag);
        OK(MPI_Get_count(&status, MPI_BYTE, &count));
        EQUAL(count, length);
        check_filled(buffer, (size_t)length, seed);
        for (int i = 0; i < slack; i++) EQUAL(buffer[length + i], CHECK_GUARD_BYTE);
    }
    check_free_guarded(buffer, (size_t)(length + slack));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int i = 0; i < SIZES; i++) {
        for (int shape = 0; shape < 32; shape++) {
            int slack = shape & 1 ? 100 : 0;
            if (sizes[i] > 300000 && shape % 5 != 0) continue;
            one(sizes[i], slack, !(shape & 2), !(shape & 4), shape & 8, shape & 16, 7 + shape);
        }
    }
    return check_end();
}
