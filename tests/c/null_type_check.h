/* null_type_check.h: messages of no elements and no datatype in every form of sending and receiving, and such blocks in
 * collective operations. The test that includes it says what comes of a call: ALLOWED; STRICT is defined where none of
 * them is allowed. */
#include "check.h"

static void blocking(int peer, MPI_Comm comm)
{
    MPI_Status status;
    int count = -1;
    char buffer[4 * MPI_BSEND_OVERHEAD];
    OK(MPI_Buffer_attach(buffer, sizeof buffer));
    if (rank == 0) {
        ALLOWED(MPI_Send(NOTHING, peer, 1, comm));
        ALLOWED(MPI_Send_c(NOTHING, peer, 1, comm));
        ALLOWED(MPI_Ssend(NOTHING, peer, 1, comm));
        ALLOWED(MPI_Bsend(NOTHING, peer, 1, comm));
        ALLOWED(MPI_Bsend_c(NOTHING, peer, 1, comm));
#ifndef STRICT
        OK(MPI_Send(NULL, 0, MPI_INT, peer, 1, comm));
#endif
    } else {
        for (int i = 0; i < 5; i++) ALLOWED(MPI_Recv(NOTHING, peer, 1, comm, &status));
#ifndef STRICT
        OK(MPI_Get_count(&status, MPI_INT, &count));
        EQUAL(count, 0);
        OK(MPI_Recv_c(NOTHING, peer, 1, comm, &status));
#endif
    }
    (void)count;
    int size_of_buffer;
    void *address;
    OK(MPI_Buffer_detach(&address, &size_of_buffer));
    ALLOWED(MPI_Sendrecv(NOTHING, peer, 2, NOTHING, peer, 2, comm, &status));
    ALLOWED(MPI_Sendrecv_replace(NOTHING, peer, 2, peer, 2, comm, &status));
}

static void nonblocking(int peer, MPI_Comm comm)
{
    MPI_Request requests[8];
    for (int i = 0; i < 8; i++) requests[i] = MPI_REQUEST_NULL;
    ALLOWED(MPI_Irecv(NOTHING, peer, 3, comm, &requests[0]));
    ALLOWED(MPI_Irecv_c(NOTHING, peer, 3, comm, &requests[1]));
    ALLOWED(MPI_Isend(NOTHING, peer, 3, comm, &requests[2]));
    ALLOWED(MPI_Issend(NOTHING, peer, 3, comm, &requests[3]));
    ALLOWED(MPI_Isendrecv(NOTHING, peer, 4, NOTHING, peer, 4, comm, &requests[4]));
    ALLOWED(MPI_Isendrecv_replace(NOTHING, peer, 5, peer, 5, comm, &requests[5]));
    OK(MPI_Waitall(8, requests, MPI_STATUSES_IGNORE));
}

static void persistent(int peer, MPI_Comm comm)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    ALLOWED(MPI_Recv_init(NOTHING, peer, 6, comm, &requests[0]));
    ALLOWED(MPI_Send_init(NOTHING, peer, 6, comm, &requests[1]));
#ifndef STRICT
    for (int turn = 0; turn < 3; turn++) {
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
#endif
}

static void partitioned(int peer, MPI_Comm comm)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    ALLOWED(MPI_Precv_init(NULL, 3, 0, MPI_DATATYPE_NULL, peer, 7, comm, MPI_INFO_NULL, &requests[0]));
    ALLOWED(MPI_Psend_init(NULL, 3, 0, MPI_DATATYPE_NULL, peer, 7, comm, MPI_INFO_NULL, &requests[1]));
#ifndef STRICT
    OK(MPI_Startall(2, requests));
    OK(MPI_Pready_range(0, 2, requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
#endif
}

static void matched(int peer, MPI_Comm comm)
{
    MPI_Message message;
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank == 0) {
        OK(MPI_Send(NULL, 0, MPI_INT, peer, 8, comm));
        OK(MPI_Send(NULL, 0, MPI_INT, peer, 8, comm));
        return;
    }
    OK(MPI_Mprobe(peer, 8, comm, &message, MPI_STATUS_IGNORE));
    ALLOWED(MPI_Mrecv(NOTHING, &message, MPI_STATUS_IGNORE));
#ifdef STRICT
    OK(MPI_Mrecv(NULL, 0, MPI_INT, &message, MPI_STATUS_IGNORE));
#endif
    OK(MPI_Mprobe(peer, 8, comm, &message, MPI_STATUS_IGNORE));
    ALLOWED(MPI_Imrecv(NOTHING, &message, &request));
#ifdef STRICT
    OK(MPI_Imrecv(NULL, 0, MPI_INT, &message, &request));
#endif
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* In every form. */
#define EMPTY(F, f, c, ...)                                                     \
    do {                                                                        \
        MPI_Request request_ = MPI_REQUEST_NULL;                                \
        ALLOWED(MPI_##F##c(__VA_ARGS__));                                       \
        ALLOWED(MPI_I##f##c(__VA_ARGS__, &request_));                           \
        OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                             \
        ALLOWED(MPI_##F##_init##c(__VA_ARGS__, MPI_INFO_NULL, &request_));      \
        if (request_ == MPI_REQUEST_NULL) break;                                \
        OK(MPI_Start(&request_));                                               \
        OK(MPI_Wait(&request_, MPI_STATUS_IGNORE));                             \
        OK(MPI_Request_free(&request_));                                        \
    } while (0)

#ifdef STRICT
#define GOT(wanted) EQUAL(got, -1)
#else
#define GOT(wanted) EQUAL(got, wanted); got = -1
#endif

static void all_to_all(int peer)
{
    /* An element to itself and none to the other. */
    int own[2] = {rank == 0, rank == 1}, none[2] = {0, 0}, ones[2] = {1, 1}, places[2] = {0, 0}, sent = 7 + rank, got = -1;
    MPI_Count own_c[2] = {rank == 0, rank == 1};
    MPI_Aint bytes[2] = {0, 0};
    MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}, null[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
    types[rank] = MPI_INT;
    (void)peer;
    EMPTY(Alltoallw, alltoallw, , &sent, own, places, types, &got, own, places, types, MPI_COMM_WORLD);
    GOT(7 + rank);
    EMPTY(Alltoallw, alltoallw, _c, &sent, own_c, bytes, types, &got, own_c, bytes, types, MPI_COMM_WORLD);
    GOT(7 + rank);
    EMPTY(Alltoallw, alltoallw, , MPI_IN_PLACE, NULL, NULL, NULL, &got, own, places, types, MPI_COMM_WORLD);
    EMPTY(Alltoallw, alltoallw, , NULL, none, places, null, NULL, none, places, null, MPI_COMM_WORLD);
    REFUSED(MPI_Alltoallw(&sent, ones, places, types, &got, own, places, types, MPI_COMM_WORLD), MPI_ERR_TYPE);
    REFUSED(MPI_Alltoallw(&sent, own, places, types, &got, ones, places, types, MPI_COMM_WORLD), MPI_ERR_TYPE);

    /* On a ring both neighbours are the other: an element goes up and comes in from below. */
    MPI_Comm ring, line;
    int up[2] = {0, 1}, below[2] = {1, 0};
    MPI_Datatype up_types[2] = {MPI_DATATYPE_NULL, MPI_INT}, below_types[2] = {MPI_INT, MPI_DATATYPE_NULL};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){1}, 0, &ring));
    EMPTY(Neighbor_alltoallw, neighbor_alltoallw, , &sent, up, bytes, up_types, &got, below, bytes, below_types, ring);
    GOT(7 + peer);
    REFUSED(MPI_Neighbor_alltoallw(&sent, ones, bytes, up_types, &got, below, bytes, below_types, ring), MPI_ERR_TYPE);
    OK(MPI_Comm_free(&ring));

    /* On a line one of them is MPI_PROC_NULL, whose count does not count. */
    MPI_Datatype line_types[2] = {rank == 0 ? MPI_DATATYPE_NULL : MPI_INT, rank == 0 ? MPI_INT : MPI_DATATYPE_NULL};
    MPI_Count ones_c[2] = {1, 1};
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, (int[]){0}, 0, &line));
    EMPTY(Neighbor_alltoallw, neighbor_alltoallw, , &sent, ones, bytes, line_types, &got, ones, bytes, line_types, line);
    GOT(7 + peer);
    EMPTY(Neighbor_alltoallw, neighbor_alltoallw, _c, &sent, ones_c, bytes, line_types, &got, ones_c, bytes, line_types, line);
    GOT(7 + peer);
    OK(MPI_Comm_free(&line));
}

int main(int argc, char **argv)
{
    int value = 0;
    MPI_Comm copy;
    MPI_Request request;
    check_start(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    blocking(1 - rank, MPI_COMM_WORLD);
    nonblocking(1 - rank, copy);
    persistent(1 - rank, MPI_COMM_WORLD);
    partitioned(1 - rank, copy);
    matched(1 - rank, MPI_COMM_WORLD);
    all_to_all(1 - rank);
    ALLOWED(MPI_Send(NOTHING, MPI_PROC_NULL, 9, copy));
    /* Elements need a type. */
    REFUSED(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 1 - rank, 9, copy), MPI_ERR_TYPE);
    REFUSED(MPI_Irecv(&value, 1, MPI_DATATYPE_NULL, 1 - rank, 9, copy, &request), MPI_ERR_TYPE);
    REFUSED(MPI_Send(&value, -1, MPI_DATATYPE_NULL, 1 - rank, 9, copy), MPI_ERR_COUNT);
    OK(MPI_Comm_free(&copy));
    return check_end();
}
