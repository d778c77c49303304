// ranks: 2 4
/* partitioned.c: partitioned communication in pairs of ranks (MPI-5.0 chapter 4): differing partitions on both sides,
 * ready in any order and from several threads, starting again, all ways of waiting. */
#include "check.h"

#include <pthread.h>

static int peer, sends;

enum { MOST = 24 * 4096 };
static int out[MOST], in[MOST];

static int value(int at, int round)
{
    return at * 3 + round * 1000003;
}

static void fill(int n, int round)
{
    for (int i = 0; i < n; i++) out[i] = value(i, round), in[i] = -1;
}

static void wait_for(MPI_Request request, int partition)
{
    int flag = 0;
    while (!flag) OK(MPI_Parrived(request, partition, &flag));
}

/* Every mix of partitions. */
static void differing(int partitions_out, int partitions_in, int per_unit)
{
    int n = 24 * per_unit, mine = sends ? partitions_out : partitions_in, count;
    MPI_Request r;
    MPI_Status st;
    if (sends) OK(MPI_Psend_init(out, mine, n / mine, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    else OK(MPI_Precv_init(in, mine, n / mine, MPI_INT, peer, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
    for (int round = 0; round < 3; round++) {
        fill(n, round);
        OK(MPI_Start(&r));
        for (int i = 0; sends && i < mine; i++) OK(MPI_Pready((i * 5 + 3) % mine, r));
        for (int i = 0; !sends && round && i < mine; i++) {
            wait_for(r, i);
            for (int k = i * (n / mine); k < (i + 1) * (n / mine); k++) EQUAL(in[k], value(k, round));
        }
        OK(MPI_Wait(&r, &st));
        CHECK(r != MPI_REQUEST_NULL);
        if (sends) continue;
        OK(MPI_Get_count(&st, MPI_INT, &count));
        EQUAL(count, n);
        CHECK(st.MPI_SOURCE == peer && st.MPI_TAG == 5, "from %d with tag %d", st.MPI_SOURCE, st.MPI_TAG);
        for (int k = 0; k < n; k++) EQUAL(in[k], value(k, round));
    }
    OK(MPI_Request_free(&r));
    CHECK(r == MPI_REQUEST_NULL);
}

/* Four threads make their partitions ready; on the other side four threads wait for theirs. */
enum { THREADS = 4, EACH = 6 };
static MPI_Request shared;

static void *work(void *which)
{
    int me = (int)(long)which, n = MOST / (THREADS * EACH);
    for (int i = 0; i < EACH; i++) {
        int p = i * THREADS + me;
        if (sends) {
            for (int k = p * n; k < (p + 1) * n; k++) out[k] = value(k, 9);
            OK(MPI_Pready(p, shared));
        } else {
            wait_for(shared, p);
            for (int k = p * n; k < (p + 1) * n; k++) EQUAL(in[k], value(k, 9));
        }
    }
    return NULL;
}

static void threads(void)
{
    int parts = THREADS * EACH, n = MOST / parts;
    pthread_t all[THREADS];
    if (sends) OK(MPI_Psend_init(out, parts, n, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &shared));
    else OK(MPI_Precv_init(in, parts, n, MPI_INT, peer, 6, MPI_COMM_WORLD, MPI_INFO_NULL, &shared));
    for (int round = 0; round < 20; round++) {
        memset(in, 0, sizeof in);
        memset(out, 0, sizeof out);
        OK(MPI_Start(&shared));
        for (int t = 0; t < THREADS; t++) pthread_create(&all[t], NULL, work, (void *)(long)t);
        for (int t = 0; t < THREADS; t++) pthread_join(all[t], NULL);
        OK(MPI_Wait(&shared, MPI_STATUS_IGNORE));
    }
    OK(MPI_Request_free(&shared));
}

/* Elements with gaps on either side, which partitions of the other side cut anywhere. */
static void gaps(void)
{
    enum { PAIRS = 60 };
    MPI_Datatype pair, wide;
    MPI_Request r;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &pair));
    OK(MPI_Type_create_resized(pair, 0, 4 * sizeof(int), &wide));
    OK(MPI_Type_commit(&wide));
    for (int cut = 0; cut < 3; cut++) {
        int parts_out = cut == 1 ? 8 : 3, plain_out = cut == 2;
        fill(4 * PAIRS, cut);
        /* 120 numbers: 60 pairs, or 120 in one piece. */
        if (sends && plain_out) OK(MPI_Psend_init(out, 8, 15, MPI_INT, peer, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        else if (sends && parts_out == 8) OK(MPI_Psend_init(out, 20, 3, wide, peer, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        else if (sends) OK(MPI_Psend_init(out, 3, 20, wide, peer, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        else OK(MPI_Precv_init(in, 5, PAIRS / 5, wide, peer, 8, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        OK(MPI_Start(&r));
        if (sends) OK(MPI_Pready_range(0, plain_out ? 7 : parts_out == 8 ? 19 : 2, r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        for (int k = 0; !sends && k < 4 * PAIRS; k++)
            EQUAL(in[k], k % 2 ? -1 : plain_out ? value(k / 2, cut) : value(k, cut));
        OK(MPI_Request_free(&r));
    }
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&wide));
}

/* Partitioned operations match only each other, and in the order of their initialisation. */
static void matching(void)
{
    MPI_Request r[4];
    int list[] = {1, 0}, plain = -1, flag, n = 8;
    fill(4 * n, 2);
    if (sends) {
        for (int i = 0; i < 3; i++)
            OK(MPI_Psend_init(out + i * n, 2, n / 2, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
        OK(MPI_Startall(3, r));
        for (int i = 2; i >= 0; i--) OK(MPI_Pready_list(2, list, r[i]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
        plain = 77;
        OK(MPI_Send(&plain, 1, MPI_INT, peer, 9, MPI_COMM_WORLD));
    } else {
        OK(MPI_Irecv(&plain, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r[3]));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Test(&r[3], &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "an ordinary receive got %d", plain);
        OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag, "a probe sees a partitioned message");
        OK(MPI_Barrier(MPI_COMM_WORLD));
        /* Initialised late, and started in another order than initialised. */
        for (int i = 0; i < 3; i++)
            OK(MPI_Precv_init(in + i * n, 1, n, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[i]));
        for (int i = 2; i >= 0; i--) OK(MPI_Start(&r[i]));
        OK(MPI_Waitall(3, r, MPI_STATUSES_IGNORE));
        for (int k = 0; k < 3 * n; k++) EQUAL(in[k], value(k, 2));
        OK(MPI_Wait(&r[3], MPI_STATUS_IGNORE));
        EQUAL(plain, 77);
    }
    for (int i = 0; i < 3; i++) OK(MPI_Request_free(&r[i]));
}

/* Nothing to send, and nobody to send it to. */
static void nothing(void)
{
    MPI_Request r[3];
    MPI_Status st;
    int flag = 0, count = -1;
    for (int parts = 0; parts < 2; parts++) {
        if (sends) OK(MPI_Psend_init(out, 4 * parts, 0, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
        else OK(MPI_Precv_init(in, 3 * parts, 0, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
        for (int round = 0; round < 2; round++) {
            OK(MPI_Start(&r[0]));
            if (sends && parts) OK(MPI_Pready_range(0, 3, r[0]));
            if (!sends && parts) wait_for(r[0], 2);
            OK(MPI_Wait(&r[0], &st));
            if (sends) continue;
            OK(MPI_Get_count(&st, MPI_INT, &count));
            EQUAL(count, 0);
        }
        OK(MPI_Request_free(&r[0]));
    }
    OK(MPI_Psend_init(out, 2, 3, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    OK(MPI_Precv_init(in, 2, 3, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    fill(6, 0);
    for (int round = 0; round < 2; round++) {
        OK(MPI_Startall(2, r));
        OK(MPI_Pready_range(0, 1, r[0]));
        wait_for(r[1], 1);
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        OK(MPI_Wait(&r[1], &st));
        OK(MPI_Get_count(&st, MPI_INT, &count));
        CHECK(st.MPI_SOURCE == MPI_PROC_NULL && st.MPI_TAG == MPI_ANY_TAG && count == 0, "%d %d %d", st.MPI_SOURCE, st.MPI_TAG, count);
        EQUAL(in[0], -1);
    }
    /* Inactive: a test is true at once. */
    OK(MPI_Test(&r[0], &flag, &st));
    CHECK(flag && st.MPI_SOURCE == MPI_ANY_SOURCE);
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

/* Every function that waits, with an ordinary message beside. */
static void ways_of_waiting(void)
{
    enum { N = 6000 };
    for (int way = 0; way < 8; way++) {
        MPI_Request r[2];
        MPI_Status st[2];
        int flag = 0, indx = -1, done = 0, indices[2], one = way;
        fill(4 * N, way);
        if (sends) OK(MPI_Psend_init(out, 4, N, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
        else OK(MPI_Precv_init(in, 2, 2 * N, MPI_INT, peer, 4, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
        OK(MPI_Start(&r[0]));
        if (sends) OK(MPI_Isend(&one, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &r[1]));
        else OK(MPI_Irecv(&one, 1, MPI_INT, peer, 4, MPI_COMM_WORLD, &r[1]));
        if (sends) OK(MPI_Pready_range(0, 3, r[0]));
        switch (way) {
        case 0: OK(MPI_Waitall(2, r, st)); break;
        case 1: while (!flag) OK(MPI_Testall(2, r, &flag, st)); break;
        case 2: for (int i = 0; i < 2; i++) { OK(MPI_Waitany(2, r, &indx, st)); CHECK(indx == 0 || indx == 1); } break;
        case 3: while (done < 2) { OK(MPI_Testany(2, r, &indx, &flag, st)); done += indx != MPI_UNDEFINED; } break;
        case 4: while (done < 2) { OK(MPI_Waitsome(2, r, &indx, indices, st)); done += indx; } break;
        case 5: while (done < 2) { OK(MPI_Testsome(2, r, &indx, indices, st)); done += indx; } break;
        case 6: OK(MPI_Wait(&r[0], st)); OK(MPI_Wait(&r[1], st)); break;
        case 7:
            while (!flag) OK(MPI_Request_get_status(r[0], &flag, st));
            flag = 0;
            while (!flag) OK(MPI_Test(&r[0], &flag, st));
            OK(MPI_Wait(&r[1], st));
        }
        CHECK(r[0] != MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL, "way %d", way);
        OK(MPI_Waitany(2, r, &indx, st));
        EQUAL(indx, MPI_UNDEFINED);
        EQUAL(one, way);
        for (int k = 0; !sends && k < 4 * N; k++) EQUAL(in[k], value(k, way));
        OK(MPI_Request_free(&r[0]));
    }
}

/* Long partitions reach a receiver that waits for something else meanwhile. */
static void progress(void)
{
    MPI_Request r;
    int token = 1;
    fill(MOST, 4);
    if (sends) {
        OK(MPI_Psend_init(out, 2, MOST / 2, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        OK(MPI_Start(&r));
        OK(MPI_Pready(1, r));
        OK(MPI_Pready(0, r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        OK(MPI_Send(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD));
    } else {
        OK(MPI_Precv_init(in, 3, MOST / 3, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &r));
        OK(MPI_Start(&r));
        OK(MPI_Recv(&token, 1, MPI_INT, peer, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        for (int k = 0; k < MOST; k++) EQUAL(in[k], value(k, 4));
    }
    OK(MPI_Request_free(&r));
}

/* A rank and itself; on another communicator, which is freed before the start. */
static void to_myself(void)
{
    MPI_Request r[2];
    MPI_Comm comm;
    fill(20000, 1);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Precv_init(in, 5, 4000, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &r[0]));
    OK(MPI_Psend_init(out, 4, 5000, MPI_INT, 0, 1, comm, MPI_INFO_NULL, &r[1]));
    OK(MPI_Comm_free(&comm));
    for (int round = 0; round < 3; round++) {
        OK(MPI_Startall(2, r));
        for (int p = 3; p >= 0; p--) OK(MPI_Pready(p, r[1]));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        for (int k = 0; k < 20000; k++) EQUAL(in[k], value(k, 1));
        fill(20000, 1);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

int main(int argc, char **argv)
{
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    peer = rank ^ 1;
    for (int turn = 0; turn < 2; turn++) {
        sends = (rank + turn) % 2 == 0;
        for (int length = 1; length <= 4096; length *= 64) {
            static const int counts[] = {1, 3, 8, 24};
            for (int a = 0; a < 4; a++)
                for (int b = 0; b < 4; b++) differing(counts[a], counts[b], length);
        }
        threads();
        gaps();
        matching();
        nothing();
        ways_of_waiting();
        progress();
        to_myself();
    }
    return check_end();
}
