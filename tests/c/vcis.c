// ranks: 2 3
// timeout: 120
// Communicators of a process with several threads go through VCIs of their own. What belongs to several of them is
// completed by one call, and a call that waits in one advances the others (MPI-5.0 §3.5, §3.7, §11.6).

#include "check.h"
#include <pthread.h>

enum { COMMS = 10, LONG = 300000 };

static MPI_Comm comms[COMMS];
static int *out, *in;

// A message under way in one VCI needs this process while it waits in another.
static void waits_elsewhere(MPI_Comm first, MPI_Comm second) {
    int word = 0;
    MPI_Request request;
    if (rank == 0) {
        for (int at = 0; at < LONG; at++) out[at] = at;
        OK(MPI_Isend(out, LONG, MPI_INT, 1, 1, first, &request));
        OK(MPI_Recv(&word, 1, MPI_INT, 1, 2, second, MPI_STATUS_IGNORE));
        EQUAL(word, 77);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Isend(out, LONG, MPI_INT, 1, 3, first, &request));
        int flag = 0; // the same, for who only tests
        MPI_Request other;
        OK(MPI_Irecv(&word, 1, MPI_INT, 1, 4, second, &other));
        while (!flag) OK(MPI_Test(&other, &flag, MPI_STATUS_IGNORE));
        EQUAL(word, 78);
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Isend(out, LONG, MPI_INT, 1, 5, first, &request));
        for (flag = 0; !flag;) OK(MPI_Iprobe(1, 6, second, &flag, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&word, 1, MPI_INT, 1, 6, second, MPI_STATUS_IGNORE));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else if (rank == 1) {
        for (int turn = 0; turn < 3; turn++) {
            memset(in, 0, LONG * sizeof *in);
            OK(MPI_Recv(in, LONG, MPI_INT, 0, 1 + 2 * turn, first, MPI_STATUS_IGNORE));
            for (int at = 0; at < LONG; at++)
                if (in[at] != at) EQUAL(in[at], at);
            word = 77 + turn;
            OK(MPI_Send(&word, 1, MPI_INT, 0, 2 + 2 * turn, second));
        }
    }
}

// Requests of all communicators, completed together in every way.
static void completes_together(void) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int way = 0; way < 7; way++) {
        MPI_Request requests[2 * COMMS];
        MPI_Status statuses[2 * COMMS];
        int words[COMMS], sent[COMMS];
        for (int at = 0; at < COMMS; at++) {
            words[at] = -1;
            sent[at] = 1000 * way + 100 * rank + at;
            OK(MPI_Irecv(&words[at], 1, MPI_INT, from, way, comms[at], &requests[at]));
        }
        for (int at = 0; at < COMMS; at++)
            OK(MPI_Issend(&sent[at], 1, MPI_INT, to, way, comms[at], &requests[COMMS + at]));
        int done = 0, flag = 0, index, indices[2 * COMMS];
        switch (way) {
        case 0: OK(MPI_Waitall(2 * COMMS, requests, statuses)); break;
        case 1:
            for (; done < 2 * COMMS; done++) {
                OK(MPI_Waitany(2 * COMMS, requests, &index, &statuses[0]));
                if (index < COMMS) EQUAL(statuses[0].MPI_SOURCE, from);
            }
            break;
        case 2:
            while (done < 2 * COMMS) {
                OK(MPI_Waitsome(2 * COMMS, requests, &index, indices, statuses));
                done += index;
            }
            break;
        case 3:
            while (!flag) OK(MPI_Testall(2 * COMMS, requests, &flag, statuses));
            break;
        case 4:
            while (done < 2 * COMMS) {
                OK(MPI_Testany(2 * COMMS, requests, &index, &flag, &statuses[0]));
                done += flag;
            }
            break;
        case 5:
            while (done < 2 * COMMS) {
                OK(MPI_Testsome(2 * COMMS, requests, &index, indices, statuses));
                done += index;
            }
            break;
        case 6:
            while (!flag) OK(MPI_Request_get_status_all(2 * COMMS, requests, &flag, statuses));
            OK(MPI_Waitall(2 * COMMS, requests, MPI_STATUSES_IGNORE));
            break;
        }
        for (int at = 0; at < COMMS; at++) {
            EQUAL(words[at], 1000 * way + 100 * from + at);
            CHECK(requests[at] == MPI_REQUEST_NULL && requests[COMMS + at] == MPI_REQUEST_NULL, "way %d", way);
        }
        OK(MPI_Barrier(comms[way]));
    }
}

// Every kind of request lives in the VCI of its communicator.
static void kinds(MPI_Comm comm, MPI_Comm other) {
    int to = (rank + 1) % size, from = (rank + size - 1) % size, word = rank, got = -1, flag;
    MPI_Status status;
    MPI_Request pair[2], both, flush;
    OK(MPI_Send_init(&word, 1, MPI_INT, to, 1, comm, &pair[0]));
    OK(MPI_Recv_init(&got, 1, MPI_INT, from, 1, comm, &pair[1]));
    for (int turn = 0; turn < 3; turn++) {
        got = -1;
        OK(MPI_Startall(2, pair));
        OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
        EQUAL(got, from);
    }
    OK(MPI_Request_free(&pair[0]));
    OK(MPI_Request_free(&pair[1]));
    OK(MPI_Isendrecv(&word, 1, MPI_INT, to, 2, &got, 1, MPI_INT, MPI_PROC_NULL, 2, comm, &both));
    OK(MPI_Wait(&both, &status));
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    OK(MPI_Recv(&got, 1, MPI_INT, from, 2, comm, &status));
    OK(MPI_Isendrecv(&word, 1, MPI_INT, to, 3, &got, 1, MPI_INT, from, 3, comm, &both));
    OK(MPI_Wait(&both, &status));
    EQUAL(got, from);
    OK(MPI_Psend_init(out, 4, 100, MPI_INT, to, 4, comm, MPI_INFO_NULL, &pair[0]));
    OK(MPI_Precv_init(in, 2, 200, MPI_INT, from, 4, comm, MPI_INFO_NULL, &pair[1]));
    for (int at = 0; at < 400; at++) out[at] = 10 * rank + at, in[at] = -1;
    OK(MPI_Startall(2, pair));
    OK(MPI_Pready_range(0, 3, pair[0]));
    OK(MPI_Waitall(2, pair, MPI_STATUSES_IGNORE));
    for (int at = 0; at < 400; at++) EQUAL(in[at], 10 * from + at);
    OK(MPI_Request_free(&pair[0]));
    OK(MPI_Request_free(&pair[1]));
    // Sends that are over at once beside receives that are not.
    MPI_Request mixed[4];
    int words[2] = {-1, -1}, index;
    for (int way = 0; way < 3; way++) {
        for (int at = 0; at < 2; at++) OK(MPI_Irecv(&words[at], 1, MPI_INT, from, 20 + at, comm, &mixed[2 * at]));
        for (int at = 0; at < 2; at++) OK(MPI_Isend(&word, 1, MPI_INT, to, 20 + at, comm, &mixed[2 * at + 1]));
        if (way == 0) OK(MPI_Waitall(4, mixed, MPI_STATUSES_IGNORE));
        for (int left = way == 1 ? 4 : 0; left > 0; left--) OK(MPI_Waitany(4, mixed, &index, MPI_STATUS_IGNORE));
        for (flag = way != 2; !flag;) OK(MPI_Testall(4, mixed, &flag, MPI_STATUSES_IGNORE));
        for (int at = 0; at < 4; at++) CHECK(mixed[at] == MPI_REQUEST_NULL, "request %d, way %d", at, way);
        EQUAL(words[0], from);
        EQUAL(words[1], from);
        OK(MPI_Isend(&word, 1, MPI_INT, to, 22, comm, &mixed[0]));
        OK(MPI_Wait(&mixed[0], MPI_STATUS_IGNORE));
        OK(MPI_Recv(&words[0], 1, MPI_INT, from, 22, comm, MPI_STATUS_IGNORE));
    }
    // One buffer, messages in two VCIs.
    static char room[2 * LONG * sizeof(int)];
    OK(MPI_Buffer_attach(room, sizeof room));
    OK(MPI_Bsend(out, LONG / 2, MPI_INT, to, 5, comm));
    OK(MPI_Bsend(out, LONG / 2, MPI_INT, to, 5, other));
    OK(MPI_Buffer_iflush(&flush));
    OK(MPI_Recv(in, LONG, MPI_INT, from, 5, other, &status));
    OK(MPI_Recv(in, LONG, MPI_INT, from, 5, comm, &status));
    OK(MPI_Wait(&flush, MPI_STATUS_IGNORE));
    void *base;
    int bytes;
    OK(MPI_Buffer_detach(&base, &bytes));
    EQUAL(bytes, (int)sizeof room);
    MPI_Message message;
    OK(MPI_Send(&word, 1, MPI_INT, to, 6, comm));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 6, comm, &message, &status));
    OK(MPI_Mrecv(&got, 1, MPI_INT, &message, &status));
    EQUAL(got, from);
    OK(MPI_Irecv(&got, 1, MPI_INT, from, 7, comm, &both));
    OK(MPI_Cancel(&both));
    OK(MPI_Wait(&both, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    EQUAL(flag, 1);
    MPI_Comm third;
    OK(MPI_Comm_idup(comm, &third, &both));
    OK(MPI_Wait(&both, MPI_STATUS_IGNORE));
    int sum = 0;
    OK(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, third));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Comm_free(&third));
}

// Threads on communicators of their own.
static void *talks(void *of) {
    MPI_Comm comm = *(MPI_Comm *)of;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int turn = 0; turn < 300; turn++) {
        int word = turn, got = -1, sum = 0;
        OK(MPI_Sendrecv(&word, 1, MPI_INT, to, turn, &got, 1, MPI_INT, from, turn, comm, MPI_STATUS_IGNORE));
        EQUAL(got, turn);
        if (turn % 50 == 0) {
            OK(MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm));
            EQUAL(sum, turn * size);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    out = malloc(LONG * sizeof *out), in = malloc(LONG * sizeof *in);
    for (int at = 0; at < COMMS; at++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[at]));
    waits_elsewhere(comms[0], comms[1]);
    waits_elsewhere(MPI_COMM_WORLD, comms[2]);
    waits_elsewhere(comms[3], MPI_COMM_WORLD);
    completes_together();
    kinds(comms[4], comms[5]);
    kinds(comms[6], MPI_COMM_WORLD);
    pthread_t threads[COMMS];
    for (int at = 0; at < COMMS; at++) EQUAL(pthread_create(&threads[at], NULL, talks, &comms[at]), 0);
    for (int at = 0; at < COMMS; at++) EQUAL(pthread_join(threads[at], NULL), 0);
    for (int at = 0; at < COMMS; at++) OK(MPI_Comm_free(&comms[at]));
    OK(MPI_Finalize());
    free(out), free(in);
    return 0;
}
