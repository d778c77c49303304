// ranks: 2
// only: posthaste
/* Which calls are an opportunity for a handler to run: every one that blocks, whatever it waits for, and every one that changes a
 * request. Rank 0 blocks until rank 1 does its part, which that does when it has heard from a handler of rank 0. */
#include "check.h"

#include <posthaste.h>

enum { GO = 1, ASK, ANSWER, PART, LAST = 23, LONG = 5000000 /* more than a bounce buffer holds: its send waits for its receive */ };

static MPI_Comm W;
static MPI_Win win;
static char *room, *attached;
static int question, asked, word;

static void answers(MPI_Request request, void *extra_state)
{
    (void)extra_state;
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    asked++;
    OK(MPI_Send(&question, 1, MPI_INT, 1, ANSWER, W));
}


static void send(int count)
{
    OK(MPI_Send(room, count, MPI_BYTE, 1 - rank, PART, W));
}

static void receive(int count)
{
    OK(MPI_Recv(room, count, MPI_BYTE, 1 - rank, PART, W, MPI_STATUS_IGNORE));
}

/* Calls that are the same on both sides. */
static void together(int which)
{
    int sums[2] = {0, 0};
    MPI_Comm made;
    MPI_Win other;
    switch (which) {
    case 0: OK(MPI_Barrier(W)); break;
    case 1: OK(MPI_Allreduce(&rank, sums, 1, MPI_INT, MPI_SUM, W)); break;
    case 2: OK(MPI_Alltoall(sums, 1, MPI_INT, room, 1, MPI_INT, W)); break;
    case 3: OK(MPI_Bcast(sums, 1, MPI_INT, 1, W)); break;
    case 4: OK(MPI_Gather(&rank, 1, MPI_INT, room, 1, MPI_INT, 0, W)); break;
    case 5: OK(MPI_Reduce(&rank, sums, 1, MPI_INT, MPI_SUM, 0, W)); break;
    case 6:
        OK(MPI_Comm_split(W, 0, rank, &made));
        OK(MPI_Comm_free(&made));
        break;
    case 7:
        OK(MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, W, &other));
        OK(MPI_Win_free(&other));
        break;
    default:
        OK(MPI_Win_fence(0, win));
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    }
}

static void wait_for_access(void)
{
    MPI_Group all, other;
    int target = 1 - rank;
    OK(MPI_Comm_group(W, &all));
    OK(MPI_Group_incl(all, 1, &target, &other));
    if (rank == 0) {
        OK(MPI_Win_post(other, 0, win));
        OK(MPI_Win_wait(win));
    } else {
        OK(MPI_Win_start(other, 0, win));
        OK(MPI_Win_complete(win));
    }
    OK(MPI_Group_free(&all));
    OK(MPI_Group_free(&other));
}

/* Rank 0 blocks. */
static void blocks(int which)
{
    int indx, count;
    void *back;
    MPI_Request request;
    MPI_Message message;
    switch (which) {
    case 9: return receive(4);
    case 10: return receive(LONG);
    case 11: OK(MPI_Ssend(room, 4, MPI_BYTE, 1, PART, W)); break;
    case 12: return send(LONG);
    case 13:
        OK(MPI_Sendrecv(room, 4, MPI_BYTE, 1, PART, room + LONG, 4, MPI_BYTE, 1, PART, W, MPI_STATUS_IGNORE));
        break;
    case 14:
        OK(MPI_Probe(1, PART, W, MPI_STATUS_IGNORE));
        return receive(4);
    case 15:
        OK(MPI_Mprobe(1, PART, W, &message, MPI_STATUS_IGNORE));
        OK(MPI_Mrecv(room, 4, MPI_BYTE, &message, MPI_STATUS_IGNORE));
        break;
    case 16: case 17: case 18:
        OK(MPI_Irecv(room, 4, MPI_BYTE, 1, PART, W, &request));
        if (which == 16) OK(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
        if (which == 17) OK(MPI_Waitany(1, &request, &indx, MPI_STATUS_IGNORE));
        if (which == 18) OK(MPI_Waitsome(1, &request, &count, &indx, MPI_STATUSES_IGNORE));
        break;
    case 19:
        OK(MPI_Buffer_attach(attached, LONG + MPI_BSEND_OVERHEAD));
        OK(MPI_Bsend(room, LONG, MPI_BYTE, 1, PART, W));
        OK(MPI_Buffer_detach(&back, &count)); /* until it is delivered */
        break;
    case 20:
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
        OK(MPI_Win_unlock(1, win));
        break;
    case 21: return wait_for_access();
    case 22:
        OK(MPI_Irecv(room, 4, MPI_BYTE, 1, PART, W, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default: together(which);
    }
}

/* Rank 1 does what lets it go on. */
static void lets_go(int which)
{
    switch (which) {
    case 10: return send(LONG);
    case 11: return receive(4);
    case 12: case 19: return receive(LONG);
    case 13:
        send(4);
        return receive(4);
    case 9: case 14: case 15: case 16: case 17: case 18: case 22: return send(4);
    case 20: OK(MPI_Win_unlock(1, win)); break;
    case 21: return wait_for_access();
    default: together(which);
    }
}

static void counts(MPI_Request request, void *extra_state)
{
    (void)extra_state;
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    asked++;
}

static int nothing(void *extra_state)
{
    (void)extra_state;
    return MPI_SUCCESS;
}

static int queried(void *extra_state, MPI_Status *status)
{
    (void)extra_state, (void)status;
    return MPI_SUCCESS;
}

static int cancelled(void *extra_state, int complete)
{
    (void)extra_state, (void)complete;
    return MPI_SUCCESS;
}

/* A call that changes a request runs the handlers that are due by that before it returns. */
static void updates(void)
{
    MPI_Request request;
    asked = 0;
    OK(MPI_Recv_init(room, 1, MPI_INT, MPI_PROC_NULL, PART, W, &request));
    OK(Posthaste_Request_attach(&request, counts, NULL));
    OK(MPI_Start(&request));
    EQUAL(asked, 1);
    OK(MPI_Startall(1, &request));
    EQUAL(asked, 2);
    OK(MPI_Request_free(&request));
    OK(MPI_Irecv(room, 1, MPI_INT, 1, PART, W, &request));
    OK(Posthaste_Request_attach(&request, counts, NULL));
    OK(MPI_Cancel(&request));
    EQUAL(asked, 3);
    OK(MPI_Grequest_start(queried, nothing, cancelled, NULL, &request));
    OK(Posthaste_Request_attach(&request, counts, NULL));
    OK(MPI_Grequest_complete(request));
    EQUAL(asked, 4);
    OK(MPI_Irecv(room, 1, MPI_INT, MPI_PROC_NULL, PART, W, &request));
    OK(Posthaste_Request_attach(&request, counts, NULL));
    EQUAL(asked, 5);
    OK(Posthaste_Handlers_disable());
    OK(MPI_Irecv(room, 1, MPI_INT, MPI_PROC_NULL, PART, W, &request));
    OK(Posthaste_Request_attach(&request, counts, NULL));
    EQUAL(asked, 5);
    OK(Posthaste_Handlers_enable());
    EQUAL(asked, 6);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &W));
    OK(MPI_Comm_rank(W, &rank));
    OK(MPI_Comm_size(W, &size));
    room = calloc(2, LONG), attached = malloc(LONG + MPI_BSEND_OVERHEAD);
    OK(MPI_Win_create(&word, sizeof word, 1, MPI_INFO_NULL, W, &win));
    for (int which = 0; which < LAST; which++) {
        MPI_Request request;
        int answer;
        if (which == 20 && rank == 1) OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
        OK(MPI_Barrier(W));
        if (rank == 0) {
            OK(MPI_Irecv(&question, 1, MPI_INT, 1, ASK, W, &request));
            OK(Posthaste_Request_attach(&request, answers, NULL));
            OK(MPI_Send(&which, 1, MPI_INT, 1, GO, W)); /* the last call before the one that blocks */
            blocks(which);
            EQUAL(asked, which + 1);
        } else {
            OK(MPI_Recv(&answer, 1, MPI_INT, 0, GO, W, MPI_STATUS_IGNORE));
            OK(MPI_Send(&which, 1, MPI_INT, 0, ASK, W));
            OK(MPI_Recv(&answer, 1, MPI_INT, 0, ANSWER, W, MPI_STATUS_IGNORE));
            EQUAL(answer, which);
            lets_go(which);
        }
    }
    if (rank == 0) updates();
    OK(MPI_Win_free(&win));
    OK(MPI_Comm_free(&W));
    free(room), free(attached);
    OK(MPI_Finalize());
    return 0;
}
