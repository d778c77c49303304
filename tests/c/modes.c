// ranks: 2 4
/* modes.c: what a program may rely on in each mode of sending: send-receive under one request, requests freed while
 * they are active, MPI_PROC_NULL everywhere, room in the attached buffer, synchronous and persistent sends.
 * MPI-5.0 sections 3.4 to 3.11. */
#include "check.h"

enum { LONG = 300000 };

static int peer, out[LONG], in[LONG];
static MPI_Comm w;

static void fill(int seed)
{
    for (int i = 0; i < LONG; i++) out[i] = i * 7 + seed, in[i] = -1;
}

static void arrived(const int *place, int n, int seed)
{
    for (int i = 0; i < n; i++) EQUAL(place[i], i * 7 + seed);
}

/* The same of what comes while we do something else. */
static void comes(const int *place, int n, int seed)
{
    int flag, missing = 0;
    for (double until = MPI_Wtime() + 30; missing < n && MPI_Wtime() < until;) {
        OK(MPI_Iprobe(MPI_ANY_SOURCE, 99, w, &flag, MPI_STATUS_IGNORE));
        while (missing < n && place[missing] == missing * 7 + seed) missing++;
    }
    arrived(place, n, seed);
}

/* Everybody talks to the neighbour at the same time; in both lengths, contiguous and with gaps. */
static void both_at_once(void)
{
    MPI_Request r;
    MPI_Status st;
    MPI_Datatype gaps;
    int count, flag = 0;
    OK(MPI_Type_vector(LONG / 2, 1, 2, MPI_INT, &gaps));
    OK(MPI_Type_commit(&gaps));
    for (int n = 1; n <= LONG; n *= n < LONG ? LONG : 2) {
        fill(rank);
        OK(MPI_Isendrecv(out, n, MPI_INT, peer, 1, in, n, MPI_INT, peer, 1, w, &r));
        OK(MPI_Wait(&r, &st));
        OK(MPI_Get_count(&st, MPI_INT, &count));
        CHECK(count == n && st.MPI_SOURCE == peer && st.MPI_TAG == 1 && r == MPI_REQUEST_NULL);
        arrived(in, n, peer);
        OK(MPI_Isendrecv_replace(out, n, MPI_INT, peer, 1, peer, 1, w, &r));
        for (flag = 0; !flag;) OK(MPI_Test(&r, &flag, &st));
        arrived(out, n, peer);
        OK(MPI_Sendrecv_replace(out, n, MPI_INT, peer, 1, MPI_ANY_SOURCE, MPI_ANY_TAG, w, &st));
        arrived(out, n, rank);
        CHECK(st.MPI_SOURCE == peer && st.MPI_TAG == 1);
    }
    fill(rank);
    OK(MPI_Isendrecv_replace(out, 1, gaps, peer, 1, peer, 1, w, &r));
    OK(MPI_Wait(&r, &st));
    for (int i = 0; i < LONG; i++) EQUAL(out[i], i * 7 + (i % 2 ? rank : peer));
    /* One side only. */
    fill(rank);
    int to = rank % 2 ? MPI_PROC_NULL : peer, from = rank % 2 ? peer : MPI_PROC_NULL;
    OK(MPI_Isendrecv(out, 5, MPI_INT, to, 2, in, 5, MPI_INT, from, 2, w, &r));
    OK(MPI_Wait(&r, &st));
    EQUAL(st.MPI_SOURCE, from);
    if (rank % 2) arrived(in, 5, peer);
    else EQUAL(in[0], -1);
    OK(MPI_Sendrecv_replace(out, 5, MPI_INT, to, 3, from, 3, w, &st));
    arrived(out, 5, rank % 2 ? peer : rank);
    OK(MPI_Isendrecv_replace(out, 5, MPI_INT, MPI_PROC_NULL, 3, MPI_PROC_NULL, 3, w, &r));
    OK(MPI_Wait(&r, &st));
    EQUAL(st.MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Type_free(&gaps));
}

/* A request that is freed goes on by itself; freeing waits for nobody. */
static void freed_while_active(void)
{
    MPI_Request r, persistent;
    static int small[4], later;
    /* Both sides free before either has anything to match. */
    for (int form = 0; form < 2; form++) {
        fill(rank);
        if (rank % 2 == 0) {
            if (form) OK(MPI_Isendrecv_replace(out, LONG, MPI_INT, peer, 4, peer, 4, w, &r));
            else OK(MPI_Isendrecv(out, LONG, MPI_INT, peer, 4, in, LONG, MPI_INT, peer, 4, w, &r));
            OK(MPI_Request_free(&r));
            CHECK(r == MPI_REQUEST_NULL);
        }
        OK(MPI_Barrier(w));
        if (rank % 2) {
            OK(MPI_Sendrecv(out, LONG, MPI_INT, peer, 4, in, LONG, MPI_INT, peer, 4, w, MPI_STATUS_IGNORE));
            arrived(in, LONG, peer);
            OK(MPI_Ssend(&rank, 1, MPI_INT, peer, 5, w));
        } else {
            OK(MPI_Recv(&later, 1, MPI_INT, peer, 5, w, MPI_STATUS_IGNORE));
            comes(form ? out : in, LONG, peer); /* that the peer's send has ended does not say that its data is here */
        }
    }
    /* Sends, long and synchronous. */
    fill(rank);
    if (rank % 2 == 0) {
        OK(MPI_Isend(out, LONG, MPI_INT, peer, 6, w, &r));
        OK(MPI_Request_free(&r));
        OK(MPI_Issend(out, 4, MPI_INT, peer, 6, w, &r));
        OK(MPI_Request_free(&r));
        OK(MPI_Ssend_init(out, 8, MPI_INT, peer, 6, w, &persistent));
        OK(MPI_Start(&persistent));
        OK(MPI_Request_free(&persistent));
        CHECK(persistent == MPI_REQUEST_NULL);
        OK(MPI_Recv(&later, 1, MPI_INT, peer, 7, w, MPI_STATUS_IGNORE));
    } else {
        static const int lengths[] = {LONG, 4, 8};
        for (int i = 0; i < 3; i++) {
            OK(MPI_Recv(in, lengths[i], MPI_INT, peer, 6, w, MPI_STATUS_IGNORE));
            arrived(in, lengths[i], peer);
        }
        OK(MPI_Send(&later, 1, MPI_INT, peer, 7, w));
    }
    /* Receives; a message that comes later says that they are over. */
    if (rank % 2 == 0) {
        OK(MPI_Irecv(&small[0], 1, MPI_INT, peer, 8, w, &r));
        OK(MPI_Request_free(&r));
        OK(MPI_Recv_init(&small[1], 1, MPI_INT, MPI_ANY_SOURCE, 8, w, &persistent));
        OK(MPI_Start(&persistent));
        OK(MPI_Request_free(&persistent));
        OK(MPI_Barrier(w));
        OK(MPI_Recv(&small[2], 1, MPI_INT, peer, 8, w, MPI_STATUS_IGNORE));
        for (int i = 0; i < 3; i++) EQUAL(small[i], 40 + i);
    } else {
        OK(MPI_Barrier(w));
        for (int i = 0; i < 3; i++) {
            later = 40 + i;
            OK(MPI_Send(&later, 1, MPI_INT, peer, 8, w));
        }
    }
    OK(MPI_Barrier(w));
}

static void is_from_nobody(const MPI_Status *st)
{
    int count = -1;
    OK(MPI_Get_count(st, MPI_INT, &count));
    CHECK(st->MPI_SOURCE == MPI_PROC_NULL && st->MPI_TAG == MPI_ANY_TAG && count == 0, "%d %d %d", st->MPI_SOURCE, st->MPI_TAG, count);
}

static void nobody(void)
{
    MPI_Request r[9];
    MPI_Status st[9];
    MPI_Message message;
    int flag = 0, n = MPI_PROC_NULL;
    out[0] = 5, in[0] = -1;
    OK(MPI_Send(out, 1, MPI_INT, n, 1, w));
    OK(MPI_Ssend(out, 1, MPI_INT, n, 1, w));
    OK(MPI_Rsend(out, 1, MPI_INT, n, 1, w));
    OK(MPI_Recv(in, 1, MPI_INT, n, MPI_ANY_TAG, w, &st[0]));
    is_from_nobody(&st[0]);
    OK(MPI_Probe(n, 1, w, &st[0]));
    is_from_nobody(&st[0]);
    OK(MPI_Iprobe(n, 1, w, &flag, &st[0]));
    EQUAL(flag, 1);
    is_from_nobody(&st[0]);
    flag = 0;
    OK(MPI_Improbe(n, 1, w, &flag, &message, &st[0]));
    CHECK(flag == 1 && message == MPI_MESSAGE_NO_PROC);
    OK(MPI_Imrecv(in, 1, MPI_INT, &message, &r[0]));
    OK(MPI_Wait(&r[0], &st[0]));
    is_from_nobody(&st[0]);
    OK(MPI_Isend(out, 1, MPI_INT, n, 1, w, &r[0]));
    OK(MPI_Issend(out, 1, MPI_INT, n, 1, w, &r[1]));
    OK(MPI_Irsend(out, 1, MPI_INT, n, 1, w, &r[2]));
    OK(MPI_Irecv(in, 1, MPI_INT, n, 1, w, &r[3]));
    OK(MPI_Send_init(out, 1, MPI_INT, n, 1, w, &r[4]));
    OK(MPI_Ssend_init(out, 1, MPI_INT, n, 1, w, &r[5]));
    OK(MPI_Rsend_init(out, 1, MPI_INT, n, 1, w, &r[6]));
    OK(MPI_Recv_init(in, 1, MPI_INT, n, 1, w, &r[7]));
    OK(MPI_Isendrecv(out, 1, MPI_INT, n, 1, in, 1, MPI_INT, n, 1, w, &r[8]));
    for (int i = 0; i < 3; i++) {
        OK(MPI_Startall(4, &r[4]));
        OK(MPI_Waitall(9, r, st));
        if (i == 0) is_from_nobody(&st[3]), is_from_nobody(&st[8]);
        is_from_nobody(&st[7]);
    }
    for (int i = 4; i < 8; i++) OK(MPI_Request_free(&r[i]));
    EQUAL(in[0], -1);
}

/* The attached buffer holds what it was made for, to the byte, and its places are used again. */
static void room(void)
{
    static const int lengths[] = {200000, LONG, 250000};
    int size_all = 0, found_size = 0, pack = 0, got;
    void *found;
    MPI_Request r[2];
    MPI_Status st;
    for (int i = 0; i < 3; i++) {
        OK(MPI_Pack_size(lengths[i], MPI_INT, w, &pack));
        size_all += pack + MPI_BSEND_OVERHEAD;
    }
    unsigned char *buffer = check_guarded((size_t)size_all);
    OK(MPI_Buffer_attach(buffer, size_all));
    for (int round = 0; round < 3; round++) {
        fill(rank);
        for (int i = 0; i < 3; i++) {
            if (i < 2) OK(MPI_Bsend(out, lengths[i], MPI_INT, peer, 10 + i, w));
            else OK(MPI_Ibsend(out, lengths[i], MPI_INT, peer, 10 + i, w, &r[0]));
        }
        OK(MPI_Wait(&r[0], &st));
        REFUSED(MPI_Bsend(out, lengths[2], MPI_INT, peer, 13, w), MPI_ERR_BUFFER);
        OK(MPI_Barrier(w));
        /* Any order; the place of the one in the middle is free when it has left. */
        OK(MPI_Recv(in, LONG, MPI_INT, peer, 11, w, &st));
        OK(MPI_Get_count(&st, MPI_INT, &got));
        EQUAL(got, lengths[1]);
        arrived(in, got, peer);
        OK(MPI_Barrier(w));
        OK(MPI_Bsend_init(out, lengths[1], MPI_INT, peer, 14, w, &r[1]));
        for (int again = 0; again < 2; again++) {
            int code = MPI_ERR_BUFFER;
            /* The peer has it all, but we may not have heard yet. */
            while (code != MPI_SUCCESS) {
                code = MPI_Start(&r[1]);
                if (code != MPI_SUCCESS) REFUSED(code, MPI_ERR_BUFFER);
            }
            OK(MPI_Wait(&r[1], &st));
            OK(MPI_Recv(in, LONG, MPI_INT, peer, 14, w, &st));
            arrived(in, lengths[1], peer);
        }
        OK(MPI_Request_free(&r[1]));
        for (int i = 0; i < 3; i += 2) {
            OK(MPI_Recv(in, LONG, MPI_INT, peer, 10 + i, w, &st));
            OK(MPI_Get_count(&st, MPI_INT, &got));
            EQUAL(got, lengths[i]);
            arrived(in, got, peer);
        }
        OK(MPI_Buffer_flush());
    }
    OK(MPI_Bsend(out, LONG, MPI_INT, MPI_PROC_NULL, 1, w));
    OK(MPI_Buffer_detach(&found, &found_size));
    CHECK(found == buffer && found_size == size_all);
    check_free_guarded(buffer, (size_t)size_all);
}

/* A synchronous send is over only when its receive has begun; in every form. */
static void synchronous(void)
{
    for (int n = 1; n <= LONG; n *= n < LONG ? LONG : 2) {
        for (int form = 0; form < 2; form++) {
            MPI_Request r;
            int flag;
            fill(rank);
            if (rank % 2 == 0) {
                if (form) OK(MPI_Ssend_init(out, n, MPI_INT, peer, 20, w, &r));
                for (int i = 0; i < 2; i++) {
                    if (form) OK(MPI_Start(&r));
                    else OK(MPI_Issend(out, n, MPI_INT, peer, 20, w, &r));
                    OK(MPI_Barrier(w));
                    for (int k = 0; k < 100; k++) {
                        OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
                        CHECK(!flag, "a synchronous send of %d is over before its receive", n);
                        OK(MPI_Request_get_status(r, &flag, MPI_STATUS_IGNORE));
                        CHECK(!flag);
                    }
                    OK(MPI_Barrier(w));
                    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
                }
                if (form) OK(MPI_Request_free(&r));
            } else {
                for (int i = 0; i < 2; i++) {
                    OK(MPI_Barrier(w));
                    OK(MPI_Barrier(w));
                    OK(MPI_Recv(in, n, MPI_INT, peer, 20, w, MPI_STATUS_IGNORE));
                    arrived(in, n, peer);
                }
            }
        }
    }
}

/* Lists of null and inactive requests, and such among active ones, in every call that looks or waits. */
static void lists(void)
{
    MPI_Request idle, list[4], none[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status st[4];
    int index, flag, count, indices[4], value = 3, got = -1;
    OK(MPI_Recv_init(&got, 1, MPI_INT, peer, 30, w, &idle));
    for (int form = 0; form < 2; form++) {
        if (form) none[1] = idle;
        flag = 0, index = 5;
        OK(MPI_Request_get_status_any(2, none, &index, &flag, st));
        CHECK(flag == 1 && index == MPI_UNDEFINED && st[0].MPI_SOURCE == MPI_ANY_SOURCE);
        flag = 0;
        OK(MPI_Request_get_status_all(2, none, &flag, st));
        CHECK(flag == 1 && st[1].MPI_TAG == MPI_ANY_TAG);
        OK(MPI_Request_get_status_some(2, none, &count, indices, st));
        EQUAL(count, MPI_UNDEFINED);
        flag = 0;
        OK(MPI_Request_get_status(none[form], &flag, st));
        CHECK(flag == 1 && st[0].MPI_SOURCE == MPI_ANY_SOURCE);
        flag = 0;
        OK(MPI_Testany(2, none, &index, &flag, st));
        CHECK(flag == 1 && index == MPI_UNDEFINED);
        OK(MPI_Waitsome(2, none, &count, indices, st));
        EQUAL(count, MPI_UNDEFINED);
        OK(MPI_Waitall(2, none, st));
        CHECK(st[1].MPI_SOURCE == MPI_ANY_SOURCE && none[1] == (form ? idle : MPI_REQUEST_NULL));
    }
    OK(MPI_Request_get_status_any(0, NULL, &index, &flag, st));
    CHECK(flag == 1 && index == MPI_UNDEFINED);
    OK(MPI_Request_get_status_all(0, NULL, &flag, MPI_STATUSES_IGNORE));
    EQUAL(flag, 1);
    OK(MPI_Request_get_status_some(0, NULL, &count, indices, MPI_STATUSES_IGNORE));
    EQUAL(count, MPI_UNDEFINED);
    OK(MPI_Testsome(0, NULL, &count, indices, MPI_STATUSES_IGNORE));
    EQUAL(count, MPI_UNDEFINED);
    OK(MPI_Startall(0, NULL));
    /* A look leaves the request as it is, however often. */
    list[0] = MPI_REQUEST_NULL, list[1] = idle;
    OK(MPI_Irecv(&got, 1, MPI_INT, peer, 31, w, &list[2]));
    OK(MPI_Isend(&value, 1, MPI_INT, peer, 31, w, &list[3]));
    for (int i = 0; i < 3; i++) {
        MPI_Request before = list[2];
        for (flag = 0; !flag;) OK(MPI_Request_get_status_all(4, list, &flag, st));
        CHECK(st[2].MPI_SOURCE == peer && st[2].MPI_TAG == 31 && st[0].MPI_SOURCE == MPI_ANY_SOURCE);
        OK(MPI_Request_get_status_some(4, list, &count, indices, st));
        CHECK(count == 2 && indices[0] == 2 && indices[1] == 3);
        OK(MPI_Request_get_status_any(4, list, &index, &flag, MPI_STATUS_IGNORE));
        CHECK(flag == 1 && (index == 2 || index == 3));
        CHECK(list[2] == before);
    }
    OK(MPI_Testsome(4, list, &count, indices, st));
    EQUAL(count, 2);
    CHECK(list[2] == MPI_REQUEST_NULL && list[3] == MPI_REQUEST_NULL && list[1] == idle);
    EQUAL(got, 3);
    OK(MPI_Request_free(&idle));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    w = MPI_COMM_WORLD;
    peer = rank ^ 1;
    both_at_once();
    freed_while_active();
    nobody();
    room();
    synchronous();
    lists();
    return check_end();
}
