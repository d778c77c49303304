// ranks: 2 4
// timeout: 120
/* Messages of one pair do not overtake each other, whatever their length, with wildcards and without
 * (MPI-5.0 section 3.5); tags select; many receives are posted at once; many messages are unexpected. */
#include "check.h"

enum { COUNT = 400 };

static int length_of(int i)
{
    static const int lengths[] = {4, 40, 20000, 8, 70000, 1000, 300000, 16, 4096, 64};
    return lengths[i % 10];
}

/* All with one tag, each of another length: they must arrive in the order in which they were sent. */
static void in_order(int source, int tag)
{
    static unsigned char buffer[300000];
    MPI_Status status;
    int count;
    if (rank == 0) {
        for (int i = 0; i < COUNT; i++) {
            check_fill(buffer, (size_t)length_of(i), (unsigned)i);
            OK(MPI_Send(buffer, length_of(i), MPI_BYTE, 1, 5, MPI_COMM_WORLD));
        }
    } else if (rank == 1) {
        for (int i = 0; i < COUNT; i++) {
            OK(MPI_Recv(buffer, sizeof buffer, MPI_BYTE, source, tag, MPI_COMM_WORLD, &status));
            OK(MPI_Get_count(&status, MPI_BYTE, &count));
            EQUAL(count, length_of(i));
            check_filled(buffer, (size_t)count, (unsigned)i);
        }
    }
}

/* Receives posted with mixed patterns match in the order of posting. */
static void posted_in_order(void)
{
    int values[COUNT];
    MPI_Request requests[COUNT];
    MPI_Status statuses[COUNT];
    if (rank == 1) {
        for (int i = 0; i < COUNT; i++) {
            int source = i % 3 == 0 ? MPI_ANY_SOURCE : 0, tag = i % 4 == 1 ? MPI_ANY_TAG : 9;
            OK(MPI_Irecv(&values[i], 1, MPI_INT, source, tag, MPI_COMM_WORLD, &requests[i]));
        }
        OK(MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD));
        OK(MPI_Waitall(COUNT, requests, statuses));
        for (int i = 0; i < COUNT; i++) {
            EQUAL(values[i], i);
            EQUAL(statuses[i].MPI_SOURCE, 0);
            EQUAL(statuses[i].MPI_TAG, 9);
        }
    } else if (rank == 0) {
        OK(MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < COUNT; i++) OK(MPI_Send(&i, 1, MPI_INT, 1, 9, MPI_COMM_WORLD));
    }
}

/* Received in the reverse order of their tags, so that nearly all of them are unexpected. */
static void backwards(void)
{
    int value;
    if (rank == 0) {
        for (int i = 0; i < COUNT; i++) OK(MPI_Send(&i, 1, MPI_INT, 1, 100 + i, MPI_COMM_WORLD));
    } else if (rank == 1) {
        for (int i = COUNT - 1; i >= 0; i--) {
            value = -1;
            OK(MPI_Recv(&value, 1, MPI_INT, 0, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            EQUAL(value, i);
        }
    }
}

/* Sends that complete in any order: all of them started before any receive is. */
static void all_started(void)
{
    enum { MANY = 40, LENGTH = 100000 };
    unsigned char *buffers = malloc((size_t)MANY * LENGTH);
    MPI_Request requests[MANY];
    if (rank == 0) {
        for (int i = 0; i < MANY; i++) {
            check_fill(buffers + (size_t)i * LENGTH, LENGTH, (unsigned)i);
            OK(MPI_Isend(buffers + (size_t)i * LENGTH, LENGTH, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]));
        }
        OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    } else if (rank == 1) {
        for (int k = 0; k < MANY; k++) {
            int i = (k * 7) % MANY; /* 7 and 40 have no common factor: each once */
            OK(MPI_Irecv(buffers + (size_t)i * LENGTH, LENGTH, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[k]));
        }
        OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < MANY; i++) check_filled(buffers + (size_t)i * LENGTH, LENGTH, (unsigned)i);
    }
    free(buffers);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    in_order(0, 5);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    in_order(MPI_ANY_SOURCE, 5);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    in_order(MPI_ANY_SOURCE, MPI_ANY_TAG);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    posted_in_order();
    backwards();
    all_started();
    return check_end();
}
