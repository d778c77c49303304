// ranks: 2 4
/* shortcuts.c: blocking receives and probes that may take a short message straight from where it arrives give the
 * same answers as the general way: posted receives have what is theirs, synchronous sends hear of their match, a
 * probed message stays, wildcards meet every sender. MPI-5.0 §3.4, §3.5, §3.8 to §3.10. */
#include "check.h"

static int token;

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static void signal_to(int other) { OK(MPI_Send(&token, 1, MPI_INT, other, 99, WORLD)); }
static void hear(int other) { OK(MPI_Recv(&token, 1, MPI_INT, other, 99, WORLD, IGNORE)); }

static void send(int value, int dest, int tag) { OK(MPI_Send(&value, 1, MPI_INT, dest, tag, WORLD)); }

/* A receive that was posted first has the first message, whatever either asks for. */
static void posted_first(void)
{
    int sources[] = {0, MPI_ANY_SOURCE}, tags[] = {5, MPI_ANY_TAG};
    for (int way = 0; way < 16; way++) {
        int first = 0, second = 0, other = 0;
        MPI_Request posted, unrelated;
        if (rank == 0) {
            hear(1);
            send(1, 1, 5);
            send(2, 1, 5);
            send(3, 1, 6);
        } else if (rank == 1) {
            OK(MPI_Irecv(&other, 1, MPI_INT, 0, 6, WORLD, &unrelated));
            OK(MPI_Irecv(&first, 1, MPI_INT, sources[way & 1], tags[way >> 1 & 1], WORLD, &posted));
            signal_to(0);
            OK(MPI_Recv(&second, 1, MPI_INT, sources[way >> 2 & 1], tags[way >> 3 & 1], WORLD, IGNORE));
            OK(MPI_Wait(&posted, IGNORE));
            OK(MPI_Wait(&unrelated, IGNORE));
            EQUAL(first, 1);
            EQUAL(second, 2);
            EQUAL(other, 3);
        }
    }
}

/* What a posted receive is to have is not for a probe. */
static void probes_skip_what_is_posted(void)
{
    for (int way = 0; way < 3; way++) {
        int mine = 0, value = 0;
        if (rank == 0) {
            hear(1);
            send(1, 1, 5);
            send(2, 1, 6);
        } else if (rank == 1) {
            MPI_Request posted;
            MPI_Status status;
            MPI_Message message = MPI_MESSAGE_NULL;
            int there = 0;
            OK(MPI_Irecv(&mine, 1, MPI_INT, 0, 5, WORLD, &posted));
            signal_to(0);
            if (way == 0) OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status));
            if (way == 1) OK(MPI_Mprobe(0, MPI_ANY_TAG, WORLD, &message, &status));
            while (way == 2 && !there) OK(MPI_Iprobe(0, MPI_ANY_TAG, WORLD, &there, &status));
            EQUAL(status.MPI_TAG, 6);
            EQUAL(status.MPI_SOURCE, 0);
            if (way == 1) OK(MPI_Mrecv(&value, 1, MPI_INT, &message, IGNORE));
            else OK(MPI_Recv(&value, 1, MPI_INT, 0, 6, WORLD, IGNORE));
            OK(MPI_Wait(&posted, IGNORE));
            EQUAL(mine, 1);
            EQUAL(value, 2);
            CHECK(message == MPI_MESSAGE_NULL, "it is another message");
        }
    }
}

/* A probed message stays, and a receive that is too short for it says so. */
static void probed_stays(void)
{
    int values[2] = {7, 8};
    if (rank == 0) {
        OK(MPI_Send(values, 2, MPI_INT, 1, 5, WORLD));
        send(9, 1, 5);
    } else if (rank == 1) {
        MPI_Status status;
        int count = 0, got = 0;
        for (int i = 0; i < 3; i++) {
            OK(MPI_Probe(i == 1 ? MPI_ANY_SOURCE : 0, 5, WORLD, &status));
            OK(MPI_Get_count(&status, MPI_INT, &count));
            EQUAL(count, 2);
        }
        REFUSED(MPI_Recv(&got, 1, MPI_INT, 0, 5, WORLD, IGNORE), MPI_ERR_TRUNCATE);
        OK(MPI_Recv(&got, 1, MPI_INT, 0, 5, WORLD, IGNORE));
        EQUAL(got, 9);
    }
}

/* A synchronous send is over once its receive has begun, not when it was probed. */
static void synchronous(void)
{
    int value = 4, flag = 1;
    if (rank == 0) {
        MPI_Request request;
        OK(MPI_Issend(&value, 1, MPI_INT, 1, 5, WORLD, &request));
        hear(1);
        OK(MPI_Test(&request, &flag, IGNORE));
        EQUAL(flag, 0);
        signal_to(1);
        OK(MPI_Wait(&request, IGNORE));
        for (int i = 0; i < 100; i++) {
            OK(MPI_Ssend(&i, 1, MPI_INT, 1, 5, WORLD));
            OK(MPI_Recv(&value, 1, MPI_INT, 1, 6, WORLD, IGNORE));
            EQUAL(value, i + 1);
        }
    } else if (rank == 1) {
        MPI_Message message;
        OK(MPI_Mprobe(MPI_ANY_SOURCE, 5, WORLD, &message, IGNORE));
        signal_to(0);
        hear(0);
        OK(MPI_Mrecv(&value, 1, MPI_INT, &message, IGNORE));
        EQUAL(value, 4);
        for (int i = 0; i < 100; i++) {
            OK(MPI_Recv(&value, 1, MPI_INT, i & 1 ? 0 : MPI_ANY_SOURCE, 5, WORLD, IGNORE));
            EQUAL(value, i);
            value++;
            OK(MPI_Ssend(&value, 1, MPI_INT, 0, 6, WORLD));
        }
    }
}

/* A wildcard meets all senders, ourselves among them; each sender's messages stay in order. */
static void from_all(void)
{
    enum { EACH = 50 };
    if (rank != 0) {
        for (int i = 0; i < EACH; i++) send(i, 0, 5);
    } else {
        int next[64] = {0}, own = 0, value;
        MPI_Request request;
        MPI_Status status;
        OK(MPI_Isend(&own, 1, MPI_INT, 0, 5, WORLD, &request));
        for (int i = 0; i < EACH * (size - 1) + 1; i++) {
            if (i % 3 == 0) OK(MPI_Probe(MPI_ANY_SOURCE, 5, WORLD, &status));
            OK(MPI_Recv(&value, 1, MPI_INT, i % 3 == 0 ? status.MPI_SOURCE : MPI_ANY_SOURCE, 5, WORLD, &status));
            EQUAL(value, next[status.MPI_SOURCE]++);
        }
        OK(MPI_Wait(&request, IGNORE));
        EQUAL(next[0], 1);
        for (int i = 1; i < size; i++) EQUAL(next[i], EACH);
    }
    OK(MPI_Barrier(WORLD));
}

/* Exchanges: short, long, with ourselves and with nobody. */
static void exchanges(void)
{
    static int out[100000], in[100000];
    MPI_Status status;
    for (int count = 1; count <= 100000; count *= 10) {
        for (int i = 0; i < count; i++) out[i] = rank + i;
        int to = (rank + 1) % size, from = (rank + size - 1) % size;
        OK(MPI_Sendrecv(out, count, MPI_INT, to, 3, in, count, MPI_INT, from, 3, WORLD, &status));
        EQUAL(status.MPI_SOURCE, from);
        EQUAL(in[0], from);
        EQUAL(in[count - 1], from + count - 1);
        OK(MPI_Sendrecv(out, count, MPI_INT, rank, 4, in, count, MPI_INT, MPI_ANY_SOURCE, 4, WORLD, &status));
        EQUAL(status.MPI_SOURCE, rank);
        EQUAL(in[count - 1], rank + count - 1);
        OK(MPI_Sendrecv(out, count, MPI_INT, MPI_PROC_NULL, 3, in, count, MPI_INT, MPI_PROC_NULL, 3, WORLD, &status));
        EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    }
}

/* Persistent messages to and from anybody, ourselves and nobody, started together. */
static void persistent(void)
{
    int out[3] = {0}, in[3], to[3] = {(rank + 1) % size, rank, MPI_PROC_NULL};
    int from[3] = {MPI_ANY_SOURCE, rank, MPI_PROC_NULL};
    MPI_Request requests[6];
    MPI_Status statuses[6];
    for (int i = 0; i < 3; i++) {
        OK(MPI_Recv_init(&in[i], 1, MPI_INT, from[i], 10 + i, WORLD, &requests[i]));
        if (i == 0) OK(MPI_Ssend_init(&out[i], 1, MPI_INT, to[i], 10 + i, WORLD, &requests[3 + i]));
        else OK(MPI_Send_init(&out[i], 1, MPI_INT, to[i], 10 + i, WORLD, &requests[3 + i]));
    }
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < 3; i++) out[i] = 100 * turn + 10 * rank + i;
        OK(MPI_Startall(6, requests));
        OK(MPI_Waitall(6, requests, statuses));
        int left = (rank + size - 1) % size;
        EQUAL(in[0], 100 * turn + 10 * left);
        EQUAL(statuses[0].MPI_SOURCE, left);
        EQUAL(in[1], 100 * turn + 10 * rank + 1);
        EQUAL(statuses[2].MPI_SOURCE, MPI_PROC_NULL);
        /* Inactive now: a wait has nothing to wait for. */
        OK(MPI_Waitall(6, requests, statuses));
        EQUAL(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
    }
    for (int i = 0; i < 6; i++) MPI_Request_free(&requests[i]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    posted_first();
    probes_skip_what_is_posted();
    probed_stays();
    synchronous();
    OK(MPI_Barrier(WORLD));
    from_all();
    exchanges();
    persistent();
    return check_end();
}
