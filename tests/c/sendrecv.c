// ranks: 1 2 5
// alone
/* MPI_Sendrecv and MPI_Sendrecv_replace round a ring, with MPI_PROC_NULL at the ends of a line, and to oneself.
 * MPI-5.0 sections 3.10, 3.11. */
#include "check.h"

static void ring(int length)
{
    int right = (rank + 1) % size, left = (rank + size - 1) % size, count = -1;
    unsigned char *out = check_guarded((size_t)length), *in = check_guarded((size_t)length);
    MPI_Status status;
    check_fill(out, (size_t)length, (unsigned)rank);
    OK(MPI_Sendrecv(out, length, MPI_BYTE, right, 3, in, length, MPI_BYTE, left, 3, MPI_COMM_WORLD, &status));
    EQUAL(status.MPI_SOURCE, left);
    EQUAL(status.MPI_TAG, 3);
    OK(MPI_Get_count(&status, MPI_BYTE, &count));
    EQUAL(count, length);
    check_filled(in, (size_t)length, (unsigned)left);
    OK(MPI_Sendrecv_replace(out, length, MPI_BYTE, right, 4, left, 4, MPI_COMM_WORLD, &status));
    EQUAL(status.MPI_SOURCE, left);
    check_filled(out, (size_t)length, (unsigned)left);
    check_free_guarded(out, (size_t)length);
    check_free_guarded(in, (size_t)length);
}

static void line(void)
{
    int right = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    int out = rank, in = -7, count = -1;
    MPI_Status status;
    OK(MPI_Sendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, MPI_COMM_WORLD, &status));
    OK(MPI_Get_count(&status, MPI_INT, &count));
    if (left == MPI_PROC_NULL) {
        EQUAL(in, -7);
        EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
        EQUAL(status.MPI_TAG, MPI_ANY_TAG);
        EQUAL(count, 0);
    } else {
        EQUAL(in, left);
        EQUAL(count, 1);
    }
}

static void proc_null(void)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    int value = 3;
    OK(MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
    OK(MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &statuses[0]));
    EQUAL(statuses[0].MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, statuses));
    EQUAL(statuses[1].MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(statuses[1].MPI_TAG, MPI_ANY_TAG);
    EQUAL(value, 3);
}

int main(int argc, char **argv)
{
    static const int lengths[] = {0, 1, 8, 40, 1000, 8192, 65536, 1 << 20, 3 << 20};
    check_start(&argc, &argv);
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++) ring(lengths[i]);
    line();
    proc_null();
    return check_end();
}
