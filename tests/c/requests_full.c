// ranks: 2
// only: posthaste
// env: POSTHASTE_REQUESTS=64
/* A full table of requests: every call that needs one more says so, nothing that has arrived is lost, and all works
 * again once one request is over. */
#include "check.h"

enum { REQUESTS = 64, LONG = 300000, SHORT_TAG = 7, LONG_TAG = 8, GO = 9 };

static MPI_Request posted[REQUESTS];
static unsigned char *data;

#define FULL(call)                                                             \
    do {                                                                       \
        int result_ = (call);                                                    \
        REFUSED(result_, MPI_ERR_NO_MEM);                                        \
        const char *text_ = check_text(result_);                                 \
        CHECK(strstr(text_, "requests are in use") && strstr(text_, "POSTHASTE_REQUESTS"), "%s", text_); \
    } while (0)

static void fill(void)
{
    for (int i = 0; i < REQUESTS; i++) OK(MPI_Irecv(data, 1, MPI_BYTE, 0, 100 + i, MPI_COMM_WORLD, &posted[i]));
}

static int nothing(void *state, MPI_Status *status)
{
    (void)state, (void)status;
    return MPI_SUCCESS;
}

static int cancelled(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

/* Messages that need a request; their buffers stay untouched. */
static void sends(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    FULL(MPI_Isend(data, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    FULL(MPI_Issend(data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    FULL(MPI_Send(data, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
    FULL(MPI_Ssend(data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD));
    FULL(MPI_Send(data, LONG, MPI_BYTE, 0, 1, MPI_COMM_SELF));
    FULL(MPI_Sendrecv(data, 1, MPI_BYTE, 0, 1, data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

/* Persistent requests are in the table, too; one that finds no room when it is started stays inactive. */
static void persistent(void)
{
    MPI_Request two[2], rest[REQUESTS - 2];
    unsigned char own[3] = {1, 2, 3};
    int flag = 0;
    for (int i = 0; i < 2; i++) OK(MPI_Recv_init(&own[i], 1, MPI_BYTE, 0, 20, MPI_COMM_SELF, &two[i]));
    for (int i = 0; i < REQUESTS - 2; i++) OK(MPI_Irecv(data, 1, MPI_BYTE, 0, 30, MPI_COMM_SELF, &rest[i]));
    FULL(MPI_Start(&two[0]));
    FULL(MPI_Startall(2, two));
    OK(MPI_Test(&two[0], &flag, MPI_STATUS_IGNORE));
    CHECK(flag, "a request that was not started is active");
    for (int i = 0; i < 2; i++) {
        OK(MPI_Cancel(&rest[i]));
        OK(MPI_Wait(&rest[i], MPI_STATUS_IGNORE));
    }
    for (int turn = 0; turn < 2; turn++) {
        OK(MPI_Startall(2, two));
        for (int i = 0; i < 2; i++) OK(MPI_Send(&own[2], 1, MPI_BYTE, 0, 20, MPI_COMM_SELF));
        OK(MPI_Waitall(2, two, MPI_STATUSES_IGNORE));
        CHECK(own[0] == 3 && own[1] == 3);
    }
    for (int i = 0; i < 2; i++) OK(MPI_Request_free(&two[i]));
    for (int i = 2; i < REQUESTS - 2; i++) OK(MPI_Cancel(&rest[i]));
    OK(MPI_Waitall(REQUESTS - 4, rest + 2, MPI_STATUSES_IGNORE));
}

static void receives(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    OK(MPI_Probe(0, LONG_TAG, MPI_COMM_WORLD, &status));
    OK(MPI_Probe(0, SHORT_TAG, MPI_COMM_WORLD, &status));
    FULL(MPI_Irecv(data, 10, MPI_BYTE, 0, SHORT_TAG, MPI_COMM_WORLD, &request));
    FULL(MPI_Recv(data, LONG, MPI_BYTE, 0, LONG_TAG, MPI_COMM_WORLD, &status));
    FULL(MPI_Recv(data, 10, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    OK(MPI_Mprobe(0, LONG_TAG, MPI_COMM_WORLD, &message, &status));
    FULL(MPI_Imrecv(data, LONG, MPI_BYTE, &message, &request));
    FULL(MPI_Mrecv(data, LONG, MPI_BYTE, &message, &status));
    CHECK(message != MPI_MESSAGE_NULL, "the message is gone");
    /* With one request less it comes after all. */
    OK(MPI_Cancel(&posted[3]));
    OK(MPI_Wait(&posted[3], MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(data, LONG, MPI_BYTE, &message, &status));
    check_filled(data, LONG, LONG_TAG);
    OK(MPI_Recv(data, 10, MPI_BYTE, 0, SHORT_TAG, MPI_COMM_WORLD, &status));
    check_filled(data, 10, SHORT_TAG);
    OK(MPI_Irecv(data, 1, MPI_BYTE, 0, 100, MPI_COMM_WORLD, &posted[3]));
}

static void others(void)
{
    MPI_Request request = MPI_REQUEST_NULL, other = MPI_REQUEST_NULL;
    MPI_Comm copy;
    int sum = 0;
    /* Collective operations go beyond the limit, and leave nothing behind. */
    OK(MPI_Ibarrier(MPI_COMM_SELF, &request));
    FULL(MPI_Irecv(data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &other));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Iallreduce(&sum, &sum, 0, MPI_INT, MPI_SUM, MPI_COMM_SELF, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    OK(MPI_Comm_free(&copy));
    FULL(MPI_Irecv(data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &other));
    FULL(MPI_Isendrecv(data, 1, MPI_BYTE, 0, 1, data, 1, MPI_BYTE, 0, 1, MPI_COMM_SELF, &request));
    FULL(MPI_Grequest_start(nothing, NULL, cancelled, NULL, &request));
    FULL(MPI_Recv_init(data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    FULL(MPI_Ssend_init(data, 1, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    CHECK(request == MPI_REQUEST_NULL);
}

/* Buffered sends that find no room for a request give their part of the buffer back. */
static void buffered(void)
{
    enum { ROOM = LONG + MPI_BSEND_OVERHEAD };
    MPI_Request request = MPI_REQUEST_NULL;
    void *room = malloc(ROOM);
    int bytes = 0;
    OK(MPI_Buffer_attach(room, ROOM));
    for (int i = 0; i < 3; i++) {
        FULL(MPI_Bsend(data, LONG, MPI_BYTE, 0, 1, MPI_COMM_SELF));
        FULL(MPI_Ibsend(data, LONG, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request));
    }
    OK(MPI_Buffer_detach(&room, &bytes));
    EQUAL(bytes, ROOM);
    free(room);
}

/* What needs three starts nothing when there are two: the message is there for the next receive. */
static void nearly(void)
{
    MPI_Request request = MPI_REQUEST_NULL;
    unsigned char *own = malloc(1);
    int flag = 0;
    for (int i = 0; i < 2; i++) {
        OK(MPI_Cancel(&posted[i]));
        OK(MPI_Wait(&posted[i], MPI_STATUS_IGNORE));
    }
    FULL(MPI_Isendrecv_replace(own, 1, MPI_BYTE, 0, 1, 0, 2, MPI_COMM_SELF, &request));
    OK(MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag, "its message has left");
    OK(MPI_Send(own, 1, MPI_BYTE, 0, 2, MPI_COMM_SELF));
    OK(MPI_Iprobe(0, 2, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    CHECK(flag, "its receive is posted");
    OK(MPI_Recv(own, 1, MPI_BYTE, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    free(own);
    for (int i = 0; i < 2; i++) OK(MPI_Irecv(data, 1, MPI_BYTE, 0, 100 + i, MPI_COMM_WORLD, &posted[i]));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    data = malloc(LONG);
    if (rank == 0) {
        MPI_Request request;
        check_fill(data, LONG, LONG_TAG);
        OK(MPI_Isend(data, LONG, MPI_BYTE, 1, LONG_TAG, MPI_COMM_WORLD, &request));
        unsigned char *brief = malloc(10);
        check_fill(brief, 10, SHORT_TAG);
        OK(MPI_Send(brief, 10, MPI_BYTE, 1, SHORT_TAG, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < REQUESTS; i++) OK(MPI_Send(brief, 1, MPI_BYTE, 1, i == 3 ? 100 : 100 + i, MPI_COMM_WORLD));
    } else {
        for (int turn = 0; turn < 3; turn++) {
            persistent();
            fill();
            sends();
            others();
            nearly();
            buffered();
            if (turn == 2) break;
            for (int i = 0; i < REQUESTS; i++) OK(MPI_Cancel(&posted[i]));
            OK(MPI_Waitall(REQUESTS, posted, MPI_STATUSES_IGNORE));
        }
        receives();
        /* A short message needs none. */
        OK(MPI_Send(NULL, 0, MPI_BYTE, 0, GO, MPI_COMM_WORLD));
        OK(MPI_Waitall(REQUESTS, posted, MPI_STATUSES_IGNORE));
    }
    return check_end();
}
