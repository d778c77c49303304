// ranks: 1 2
// only: posthaste
/* A handler for every function that makes a request: it is called once for each message, or each start, and completes the request.
 * `cargo xtask test` (part `conformance`) fails when a function is missing here. */
#include "check.h"

#include <posthaste.h>
/* MPICH's own library, with which its compiler links, has not all of them. */
#if __has_include(<mpi-ext.h>) && !defined(MPICH_VERSION)
#include <mpi-ext.h>
#define SURVIVES 1
#endif

enum { TAG = 1, UNTOUCHED = 4711 };

static int calls, data[16] = {1, 2, 3, 4}, room[64], ones[2] = {1, 1}, places[2] = {0, 1};
static MPI_Aint places_in_bytes[2] = {0, 4};
static MPI_Datatype ints[2];
static MPI_Comm S, W, ring;
static MPI_Request request, in;

static void completes(MPI_Request handled, void *extra_state)
{
    MPI_Status status;
    (void)extra_state;
    OK(MPI_Wait(&handled, &status));
    calls++;
}

static MPI_Status marked(void)
{
    MPI_Status status;
    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = status.MPI_TAG = UNTOUCHED;
    return status;
}

/* The request ends by its handler, and whoever waits is told nothing but that. */
static void handled(const char *call)
{
    MPI_Status status = marked();
    OK(MPI_Wait(&request, &status));
    if (calls != 1) FAIL("%s: the handler was called %d times", call, calls);
    if (status.MPI_TAG != UNTOUCHED) FAIL("%s: the wait tells a status", call);
    calls = 0;
}

static void attached(const char *call, int code)
{
    if (code != MPI_SUCCESS) FAIL("%s gives \"%s\"", call, check_text(code));
    calls = 0;
    OK(Posthaste_Request_attach(&request, completes, NULL));
}

/* The call has made a request. */
#define ONCE(call)               \
    do {                         \
        attached(#call, (call)); \
        handled(#call);          \
        CHECK(request == MPI_REQUEST_NULL, "%s: it is not null", #call); \
    } while (0)

/* The call has made a persistent request: of each start. What stands in `before` and `after` is done around it. */
#define EACH_START(call, before, after)                    \
    do {                                                   \
        attached(#call, (call));                           \
        for (int round = 0; round < 3; round++) {          \
            before;                                        \
            OK(MPI_Start(&request));                       \
            handled(#call);                                \
            after;                                         \
        }                                                  \
        OK(MPI_Request_free(&request));                    \
    } while (0)

static void receive(void)
{
    OK(MPI_Irecv(room, 1, MPI_INT, 0, TAG, S, &in));
}

static void received(void)
{
    OK(MPI_Wait(&in, MPI_STATUS_IGNORE));
}

static void sent(void)
{
    OK(MPI_Send(data, 1, MPI_INT, 0, TAG, S));
}

static void point_to_point(void)
{
    MPI_Message message;
    receive();
    ONCE(MPI_Isend(data, 1, MPI_INT, 0, TAG, S, &request));
    received();
    receive();
    ONCE(MPI_Ibsend(data, 1, MPI_INT, 0, TAG, S, &request));
    received();
    receive();
    ONCE(MPI_Issend(data, 1, MPI_INT, 0, TAG, S, &request));
    received();
    receive();
    ONCE(MPI_Irsend(data, 1, MPI_INT, 0, TAG, S, &request));
    received();
    sent();
    ONCE(MPI_Irecv(room, 1, MPI_INT, 0, TAG, S, &request));
    sent();
    OK(MPI_Mprobe(0, TAG, S, &message, MPI_STATUS_IGNORE));
    ONCE(MPI_Imrecv(room, 1, MPI_INT, &message, &request));
    ONCE(MPI_Isendrecv(data, 1, MPI_INT, 0, TAG, room, 1, MPI_INT, 0, TAG, S, &request));
    ONCE(MPI_Isendrecv_replace(room, 1, MPI_INT, 0, TAG, 0, TAG, S, &request));
    EACH_START(MPI_Send_init(data, 1, MPI_INT, 0, TAG, S, &request), receive(), received());
    EACH_START(MPI_Bsend_init(data, 1, MPI_INT, 0, TAG, S, &request), receive(), received());
    EACH_START(MPI_Ssend_init(data, 1, MPI_INT, 0, TAG, S, &request), receive(), received());
    EACH_START(MPI_Rsend_init(data, 1, MPI_INT, 0, TAG, S, &request), receive(), received());
    EACH_START(MPI_Recv_init(room, 1, MPI_INT, 0, TAG, S, &request), sent(), );
    ONCE(MPI_Buffer_iflush(&request));
    ONCE(MPI_Comm_iflush_buffer(S, &request));
}

static void partitioned(void)
{
    MPI_Request other;
    OK(MPI_Psend_init(data, 2, 2, MPI_INT, 0, TAG, S, MPI_INFO_NULL, &other));
    EACH_START(MPI_Precv_init(room, 2, 2, MPI_INT, 0, TAG, S, MPI_INFO_NULL, &request),
        OK(MPI_Start(&other)); OK(MPI_Pready_range(0, 1, other)), OK(MPI_Wait(&other, MPI_STATUS_IGNORE)));
    OK(MPI_Request_free(&other));
    OK(MPI_Precv_init(room, 2, 2, MPI_INT, 0, TAG, S, MPI_INFO_NULL, &other));
    attached("MPI_Psend_init", MPI_Psend_init(data, 2, 2, MPI_INT, 0, TAG, S, MPI_INFO_NULL, &request));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Start(&other));
        OK(MPI_Start(&request));
        OK(MPI_Pready(1, request));
        OK(MPI_Pready(0, request));
        handled("MPI_Psend_init");
        OK(MPI_Wait(&other, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&request));
    OK(MPI_Request_free(&other));
}

/* The same arguments for both forms of a collective operation. */
#define COLLECTIVE(I, P, ...)                                                     \
    do {                                                                          \
        ONCE(I(__VA_ARGS__, &request));                                           \
        EACH_START(P(__VA_ARGS__, MPI_INFO_NULL, &request), , );                  \
    } while (0)

static void collective(void)
{
    COLLECTIVE(MPI_Ibarrier, MPI_Barrier_init, W);
    COLLECTIVE(MPI_Ibcast, MPI_Bcast_init, room, 1, MPI_INT, 0, W);
    COLLECTIVE(MPI_Igather, MPI_Gather_init, data, 1, MPI_INT, room, 1, MPI_INT, 0, W);
    COLLECTIVE(MPI_Igatherv, MPI_Gatherv_init, data, 1, MPI_INT, room, ones, places, MPI_INT, 0, W);
    COLLECTIVE(MPI_Iscatter, MPI_Scatter_init, data, 1, MPI_INT, room, 1, MPI_INT, 0, W);
    COLLECTIVE(MPI_Iscatterv, MPI_Scatterv_init, data, ones, places, MPI_INT, room, 1, MPI_INT, 0, W);
    COLLECTIVE(MPI_Iallgather, MPI_Allgather_init, data, 1, MPI_INT, room, 1, MPI_INT, W);
    COLLECTIVE(MPI_Iallgatherv, MPI_Allgatherv_init, data, 1, MPI_INT, room, ones, places, MPI_INT, W);
    COLLECTIVE(MPI_Ialltoall, MPI_Alltoall_init, data, 1, MPI_INT, room, 1, MPI_INT, W);
    COLLECTIVE(MPI_Ialltoallv, MPI_Alltoallv_init, data, ones, places, MPI_INT, room, ones, places, MPI_INT, W);
    COLLECTIVE(MPI_Ialltoallw, MPI_Alltoallw_init, data, ones, places, ints, room, ones, places, ints, W);
    COLLECTIVE(MPI_Ireduce, MPI_Reduce_init, data, room, 2, MPI_INT, MPI_SUM, 0, W);
    COLLECTIVE(MPI_Iallreduce, MPI_Allreduce_init, data, room, 2, MPI_INT, MPI_SUM, W);
    COLLECTIVE(MPI_Ireduce_scatter, MPI_Reduce_scatter_init, data, room, ones, MPI_INT, MPI_SUM, W);
    COLLECTIVE(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init, data, room, 1, MPI_INT, MPI_SUM, W);
    COLLECTIVE(MPI_Iscan, MPI_Scan_init, data, room, 2, MPI_INT, MPI_SUM, W);
    COLLECTIVE(MPI_Iexscan, MPI_Exscan_init, data, room, 2, MPI_INT, MPI_SUM, W);
    COLLECTIVE(MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init, data, 1, MPI_INT, room, 1, MPI_INT, ring);
    COLLECTIVE(MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init, data, 1, MPI_INT, room, ones, places, MPI_INT, ring);
    COLLECTIVE(MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init, data, 1, MPI_INT, room, 1, MPI_INT, ring);
    COLLECTIVE(MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init, data, ones, places, MPI_INT, room, ones, places, MPI_INT,
        ring);
    COLLECTIVE(MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init, data, ones, places_in_bytes, ints, room, ones,
        places_in_bytes, ints, ring);
}

static void communicators(void)
{
    MPI_Comm made[2];
    ONCE(MPI_Comm_idup(W, &made[0], &request));
    ONCE(MPI_Comm_idup_with_info(W, MPI_INFO_NULL, &made[1], &request));
    for (int at = 0; at < 2; at++) {
        OK(MPI_Barrier(made[at]));
        OK(MPI_Comm_free(&made[at]));
    }
}

/* Of members that may end meanwhile. */
static void surviving(void)
{
#if defined(SURVIVES)
    MPI_Comm made;
    int flag = 1;
    ONCE(MPIX_Comm_iagree(W, &flag, &request));
    ONCE(MPIX_Comm_ishrink(W, &made, &request));
    OK(MPI_Barrier(made));
    OK(MPI_Comm_free(&made));
#endif
}

static void windows(void)
{
    MPI_Win win;
    int target = (rank + 1) % size;
    OK(MPI_Win_create(room, sizeof room, sizeof *room, MPI_INFO_NULL, W, &win));
    OK(MPI_Win_lock_all(0, win));
    ONCE(MPI_Rput(data, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request));
    ONCE(MPI_Rget(data + 8, 1, MPI_INT, target, 0, 1, MPI_INT, win, &request));
    ONCE(MPI_Raccumulate(data, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, win, &request));
    ONCE(MPI_Rget_accumulate(data, 1, MPI_INT, data + 8, 1, MPI_INT, target, 1, 1, MPI_INT, MPI_SUM, win, &request));
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
}

static int queried(void *extra_state, MPI_Status *status)
{
    (void)extra_state;
    OK(MPI_Status_set_elements(status, MPI_INT, 1));
    OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int freed(void *extra_state)
{
    (void)extra_state;
    return MPI_SUCCESS;
}

static int cancelled(void *extra_state, int complete)
{
    (void)extra_state, (void)complete;
    return MPI_SUCCESS;
}

/* Those that somebody else ends: the program, and other requests. */
static void others(void)
{
    attached("MPI_Grequest_start", MPI_Grequest_start(queried, freed, cancelled, NULL, &request));
    OK(MPI_Grequest_complete(request));
    handled("MPI_Grequest_complete");
    EACH_START(MPIX_Continue_init(0, 0, MPI_INFO_NULL, &request), , );
}

static void sessions(void)
{
    static char buffer[1000 + MPI_BSEND_OVERHEAD];
    int size_of_it;
    void *back;
    MPI_Session session;
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    OK(MPI_Session_attach_buffer(session, buffer, sizeof buffer));
    ONCE(MPI_Session_iflush_buffer(session, &request));
    OK(MPI_Session_detach_buffer(session, &back, &size_of_it));
    OK(MPI_Session_finalize(&session));
}

int main(int argc, char **argv)
{
    static char buffer[1000 + MPI_BSEND_OVERHEAD], own[1000 + MPI_BSEND_OVERHEAD];
    int flag, round = 1;
    void *back;
    OK(MPI_Init(&argc, &argv));
    ints[0] = ints[1] = MPI_INT;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &S));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &W));
    OK(MPI_Comm_rank(W, &rank));
    OK(MPI_Comm_size(W, &size));
    OK(MPI_Cart_create(W, 1, &size, &round, 0, &ring));
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    OK(MPI_Comm_attach_buffer(S, own, sizeof own));
    point_to_point();
    partitioned();
    collective();
    communicators();
    surviving();
    windows();
    others();
    sessions();
    OK(MPI_Comm_detach_buffer(S, &back, &flag));
    OK(MPI_Buffer_detach(&back, &flag));
    OK(MPI_Comm_free(&ring));
    OK(MPI_Comm_free(&W));
    OK(MPI_Comm_free(&S));
    OK(MPI_Finalize());
    return 0;
}
