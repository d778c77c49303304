// ranks: 2 4
// only: posthaste
// timeout: 120
/* MPI_Cancel of sends: what nobody has matched is taken back and never seen, whatever its mode and length; what was
 * matched goes on; either way the request completes, and Test_cancelled says which. Then a race: ranks send and cancel at
 * random while rank 0 receives, and both sides agree on what was sent. */
#include "check.h"

enum { LONG = 300000, RACE = 400 };

static char data[LONG], into[LONG];

static int cancelled(MPI_Request *request)
{
    int flag = -1;
    MPI_Status status;
    OK(MPI_Wait(request, &status));
    CHECK(*request == MPI_REQUEST_NULL, "the request is still there");
    OK(MPI_Test_cancelled(&status, &flag));
    return flag;
}

/* Starts a send of this mode: 0 standard, 1 synchronous. */
static void start(int mode, int length, int tag, MPI_Request *request)
{
    if (mode) OK(MPI_Issend(data, length, MPI_CHAR, 0, tag, MPI_COMM_WORLD, request));
    else OK(MPI_Isend(data, length, MPI_CHAR, 0, tag, MPI_COMM_WORLD, request));
}

static const int lengths[] = {0, 8, 3000, 6000, 40000, LONG};

/* Nobody receives: everything that is not buffered already is taken back. */
static void unmatched(void)
{
    for (int mode = 0; mode < 2; mode++) {
        for (int l = 0; l < 6; l++) {
            int gone = -1;
            if (rank == 1) {
                MPI_Request request;
                start(mode, lengths[l], 5, &request);
                OK(MPI_Cancel(&request));
                CHECK(request != MPI_REQUEST_NULL, "MPI_Cancel freed the request");
                OK(MPI_Cancel(&request));
                gone = cancelled(&request);
                /* How much leaves at once depends on the method: 16 KiB in shared memory, 256 KiB over TCP. */
                CHECK(gone || (mode == 0 && lengths[l] < LONG), "mode %d, %d bytes: not cancelled", mode, lengths[l]);
                OK(MPI_Send(&gone, 1, MPI_INT, 0, 6, MPI_COMM_WORLD));
                OK(MPI_Recv(NULL, 0, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            } else if (rank == 0) {
                int flag;
                OK(MPI_Recv(&gone, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                OK(MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                /* A message that is throttled at its sender is found a moment later. */
                while (!gone && !flag) OK(MPI_Iprobe(1, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
                CHECK(flag == !gone, "mode %d, %d bytes: cancelled is %d, found is %d", mode, lengths[l], gone, flag);
                if (!gone) OK(MPI_Recv(into, LONG, MPI_CHAR, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                OK(MPI_Send(NULL, 0, MPI_INT, 1, 7, MPI_COMM_WORLD));
            }
        }
    }
}

/* Matched before: the cancellation comes too late. */
static void matched(void)
{
    for (int mode = 0; mode < 2; mode++) {
        for (int l = 0; l < 6; l++) {
            MPI_Status status;
            int count;
            if (rank == 1) {
                MPI_Request request;
                check_fill(data, (size_t)lengths[l], (unsigned)l);
                OK(MPI_Recv(NULL, 0, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                start(mode, lengths[l], 5, &request);
                OK(MPI_Send(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD));
                OK(MPI_Recv(NULL, 0, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                OK(MPI_Cancel(&request));
                EQUAL(cancelled(&request), 0);
            } else if (rank == 0) {
                MPI_Request request;
                OK(MPI_Irecv(into, LONG, MPI_CHAR, 1, 5, MPI_COMM_WORLD, &request));
                OK(MPI_Send(NULL, 0, MPI_INT, 1, 7, MPI_COMM_WORLD));
                OK(MPI_Recv(NULL, 0, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                OK(MPI_Send(NULL, 0, MPI_INT, 1, 7, MPI_COMM_WORLD));
                OK(MPI_Wait(&request, &status));
                OK(MPI_Get_count(&status, MPI_CHAR, &count));
                EQUAL(count, lengths[l]);
                check_filled(into, (size_t)count, (unsigned)l);
            }
        }
    }
}

/* A persistent send is inactive after its cancellation and can be started again. */
static void persistent(void)
{
    if (rank == 1) {
        MPI_Request request;
        OK(MPI_Ssend_init(data, 100, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &request));
        for (int round = 0; round < 4; round++) {
            MPI_Status status;
            int flag, over = 0;
            OK(MPI_Start(&request));
            if (round < 3) OK(MPI_Cancel(&request));
            else OK(MPI_Send(NULL, 0, MPI_CHAR, 0, 9, MPI_COMM_WORLD));
            while (!over) OK(MPI_Test(&request, &over, &status));
            OK(MPI_Test_cancelled(&status, &flag));
            EQUAL(flag, round < 3);
        }
        OK(MPI_Request_free(&request));
        /* Nobody asks for this one any more. */
        OK(MPI_Issend(data, LONG, MPI_CHAR, 0, 8, MPI_COMM_WORLD, &request));
        OK(MPI_Cancel(&request));
        OK(MPI_Request_free(&request));
        OK(MPI_Send(NULL, 0, MPI_CHAR, 0, 9, MPI_COMM_WORLD));
    } else if (rank == 0) {
        int flag;
        OK(MPI_Recv(NULL, 0, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(into, 100, MPI_CHAR, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Recv(NULL, 0, MPI_CHAR, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Iprobe(1, 8, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        EQUAL(flag, 0);
    }
}

static unsigned dice = 12345;

static unsigned roll(unsigned n)
{
    dice = dice * 1664525u + 1013904223u;
    return (dice >> 8) % n;
}

/* Sends and cancels at random; says at the end how many of each number were sent. */
static void race_sender(void)
{
    static int sent[RACE];
    MPI_Request requests[RACE];
    dice += (unsigned)rank;
    for (int i = 0; i < RACE; i++) {
        start((int)roll(2), lengths[roll(6)], 1000 + i, &requests[i]);
        sent[i] = 1;
        if (roll(3) == 0) {
            int which = i - (int)roll(i < 8 ? (unsigned)i + 1 : 8);
            if (requests[which] == MPI_REQUEST_NULL) continue;
            OK(MPI_Cancel(&requests[which]));
            if (roll(2)) sent[which] = !cancelled(&requests[which]);
        }
    }
    for (int i = 0; i < RACE; i++)
        if (requests[i] != MPI_REQUEST_NULL) sent[i] = !cancelled(&requests[i]);
    OK(MPI_Send(sent, RACE, MPI_INT, 0, 10, MPI_COMM_WORLD));
}

static void race_receiver(void)
{
    int (*got)[RACE] = calloc((size_t)size, sizeof *got);
    int (*sent)[RACE] = calloc((size_t)size, sizeof *sent);
    int ended = 1, cancels = 0;
    while (ended < size) {
        MPI_Status status;
        OK(MPI_Recv(into, LONG, MPI_CHAR, roll(2) ? MPI_ANY_SOURCE : 1 + (int)roll((unsigned)size - 1), MPI_ANY_TAG,
                    MPI_COMM_WORLD, &status));
        if (status.MPI_TAG != 10) {
            got[status.MPI_SOURCE][status.MPI_TAG - 1000]++;
            continue;
        }
        /* Everything from there has come before: it can have no more. A receive from there would never end. */
        memcpy(sent[status.MPI_SOURCE], into, sizeof *sent);
        ended++;
        if (ended < size) {
            for (;;) {
                OK(MPI_Recv(into, LONG, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
                if (status.MPI_TAG != 10) {
                    got[status.MPI_SOURCE][status.MPI_TAG - 1000]++;
                } else {
                    memcpy(sent[status.MPI_SOURCE], into, sizeof *sent);
                    if (++ended == size) break;
                }
            }
        }
    }
    for (int from = 1; from < size; from++) {
        for (int i = 0; i < RACE; i++) {
            CHECK(got[from][i] == sent[from][i], "message %d of rank %d: sent %d, came %d times", i, from, sent[from][i], got[from][i]);
            cancels += !sent[from][i];
        }
    }
    fprintf(stderr, "%d cancelled\n", cancels);
    free(got);
    free(sent);
}

/* Of a message to ourselves the answer is there at once. */
static void to_ourselves(void)
{
    for (int i = 0; i < 6; i++) {
        MPI_Request request;
        MPI_Status status;
        int flag;
        OK(MPI_Issend(data, lengths[i], MPI_CHAR, 0, 5, MPI_COMM_SELF, &request));
        OK(MPI_Cancel(&request));
        OK(MPI_Request_get_status(request, &flag, &status));
        CHECK(flag, "it is not over");
        OK(MPI_Test_cancelled(&status, &flag));
        CHECK(flag, "it was not cancelled");
        OK(MPI_Request_free(&request));
        OK(MPI_Iprobe(0, 5, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "the message is still there");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unmatched();
    matched();
    persistent();
    to_ourselves();
    for (int round = 0; round < 5; round++) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0) race_receiver();
        else race_sender();
    }
    return check_end();
}
