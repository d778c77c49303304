// ranks: 1 2 3
// only: posthaste
/* The function of a reduction operation calls local functions of MPI, while handlers are attached, of which one is due: it is
 * not called inside the operation, which the library is busy with. MPI-5.0 section 6.9.5. */
#include "check.h"

#include <posthaste.h>

#ifndef LEVEL
#define LEVEL MPI_THREAD_SINGLE
#endif

static int calls, inside, handled;

static void adds(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int flag, bytes, own, ranks, *left = in, *right = inout;
    MPI_Aint low, extent;
    calls++;
    inside = 1;
    OK(MPI_Initialized(&flag));
    OK(MPI_Type_size(*type, &bytes));
    OK(MPI_Type_get_extent(*type, &low, &extent));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &own));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &ranks));
    EQUAL(bytes, (int)sizeof(int));
    EQUAL(own, rank);
    EQUAL(ranks, size);
    for (int at = 0; at < *length; at++) {
        int sum = left[at];
        OK(MPI_Reduce_local(&right[at], &sum, 1, MPI_INT, MPI_SUM));
        right[at] = sum;
    }
    inside = 0;
}

static void counts(MPI_Request request, void *extra_state)
{
    (void)request, (void)extra_state;
    EQUAL(inside, 0);
    handled++;
}

static void reduces(MPI_Op op)
{
    int numbers[4] = {1, 2, 3, rank}, sums[4], all = size * (size - 1) / 2;
    MPI_Request request;
    for (int turn = 0; turn < 3; turn++) {
        memset(sums, 0, sizeof sums);
        if (turn == 0) OK(MPI_Allreduce(numbers, sums, 4, MPI_INT, op, MPI_COMM_WORLD));
        if (turn == 1) OK(MPI_Iallreduce(numbers, sums, 4, MPI_INT, op, MPI_COMM_WORLD, &request));
        if (turn == 1) OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (turn == 2) OK(MPI_Scan(numbers, sums, 4, MPI_INT, op, MPI_COMM_WORLD));
        EQUAL(sums[1], turn == 2 ? 2 * (rank + 1) : 2 * size);
        if (turn < 2) EQUAL(sums[3], all);
    }
    memcpy(sums, numbers, sizeof sums);
    OK(MPI_Reduce_local(numbers, sums, 4, MPI_INT, op));
    EQUAL(sums[2], 6);
}

int main(int argc, char **argv)
{
    int level, got = 0, word = 5;
    MPI_Op op;
    MPI_Request open, due;
    OK(MPI_Init_thread(&argc, &argv, LEVEL, &level));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Op_create(adds, 1, &op));
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 7, MPI_COMM_SELF, &open));
    OK(Posthaste_Request_attach(&open, counts, NULL)); /* from now on calls look for handlers */
    reduces(op);
    OK(Posthaste_Handlers_disable());
    OK(MPI_Irecv(&word, 0, MPI_INT, 0, 8, MPI_COMM_SELF, &due));
    OK(Posthaste_Request_attach(&due, counts, NULL));
    OK(MPI_Send(&word, 0, MPI_INT, 0, 8, MPI_COMM_SELF));
    reduces(op);
    OK(Posthaste_Handlers_enable());
    OK(MPI_Wait(&due, MPI_STATUS_IGNORE));
    EQUAL(handled, 1);
    OK(MPI_Send(&word, 1, MPI_INT, 0, 7, MPI_COMM_SELF));
    OK(MPI_Wait(&open, MPI_STATUS_IGNORE));
    EQUAL(handled, 2);
    EQUAL(got, 5);
    CHECK(size == 1 || calls > 0, "%d calls of the function", calls);
    OK(MPI_Op_free(&op));
    return check_end();
}
