// ranks: 1
// only: posthaste
// env: POSTHASTE_HANDLER_DEPTH=4
/* Handlers that wait run others inside themselves, as deep as the setting allows and no deeper; those beyond run when one
 * of them returns, and none is lost. */
#include "check.h"

#include <posthaste.h>

enum { MANY = 40 };

static int depth, deepest, calls;

static void waits(MPI_Request request, void *extra_state)
{
    int value = 1, got = 0;
    depth++, calls++;
    if (depth > deepest) deepest = depth;
    OK(MPI_Sendrecv(&value, 1, MPI_INT, 0, 2, &got, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    *(int *)extra_state += 1;
    depth--;
}

int main(int argc, char **argv)
{
    MPI_Request requests[MANY];
    int got[MANY], done[MANY] = {0};
    OK(MPI_Init(&argc, &argv));
    OK(Posthaste_Handlers_disable());
    for (int at = 0; at < MANY; at++) {
        OK(MPI_Irecv(&got[at], 1, MPI_INT, 0, 1, MPI_COMM_SELF, &requests[at]));
        OK(Posthaste_Request_attach(&requests[at], waits, &done[at]));
    }
    for (int at = 0; at < MANY; at++) OK(MPI_Send(&at, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    int state = POSTHASTE_ACTIVE, flag;
    while (state != POSTHASTE_FINISHED) {
        OK(MPI_Iprobe(0, 9, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        OK(Posthaste_Request_get_state(requests[MANY - 1], &state));
    }
    OK(Posthaste_Handlers_enable());
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    EQUAL(calls, MANY);
    EQUAL(deepest, 4);
    for (int at = 0; at < MANY; at++) {
        EQUAL(done[at], 1);
        EQUAL(got[at], at);
    }
    OK(MPI_Finalize());
    return 0;
}
