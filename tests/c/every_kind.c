// ranks: 2 3
// timeout: 120
// Requests of every kind in one call that completes one, some or all of them, from several threads at once, while other
// threads end the generalized ones (MPI-5.0 §3.7.5, §3.9, §3.10, §4.2, §13.2).

#include "check.h"
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 3, WAYS = 6, PARTS = 3, KINDS = 14, LONG = 40000 };
enum { SEND, RECV, LONG_SEND, LONG_RECV, BOTH, PERSISTENT_SEND, PERSISTENT_RECV, PARTS_OUT, PARTS_IN, BARRIER, REDUCE,
       AGAIN, GENERAL, FLUSH };

typedef struct {
    MPI_Comm comm;
    int number;
    int words[8];
    int parts_out[PARTS], parts_in[PARTS];
    int *out, *in;
    char buffer[4096];
    MPI_Request requests[KINDS];
} work_t;

static int query(void *state, MPI_Status *status) {
    (void)state;
    OK(MPI_Status_set_elements(status, MPI_INT, 6));
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 4;
    OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}

static int nothing(void *state) {
    (void)state;
    return MPI_SUCCESS;
}

static int not_cancelled(void *state, int complete) {
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void *ends_it(void *request) {
    usleep(2000);
    OK(MPI_Grequest_complete(*(MPI_Request *)request));
    return NULL;
}

static void prepare(work_t *work, int to, int from) {
    MPI_Request *r = work->requests;
    for (int at = 0; at < KINDS; at++) r[at] = MPI_REQUEST_NULL;
    OK(MPI_Send_init(&work->words[0], 1, MPI_INT, to, 3, work->comm, &r[PERSISTENT_SEND]));
    OK(MPI_Recv_init(&work->words[1], 1, MPI_INT, from, 3, work->comm, &r[PERSISTENT_RECV]));
    OK(MPI_Psend_init(work->parts_out, PARTS, 1, MPI_INT, to, 4, work->comm, MPI_INFO_NULL, &r[PARTS_OUT]));
    OK(MPI_Precv_init(work->parts_in, PARTS, 1, MPI_INT, from, 4, work->comm, MPI_INFO_NULL, &r[PARTS_IN]));
    OK(MPI_Allreduce_init(&work->words[2], &work->words[3], 1, MPI_INT, MPI_SUM, work->comm, MPI_INFO_NULL, &r[AGAIN]));
}

static int persists(int kind) {
    return kind == PERSISTENT_SEND || kind == PERSISTENT_RECV || kind == PARTS_OUT || kind == PARTS_IN || kind == AGAIN;
}

// What the end of one request reports.
static void ended(work_t *work, int kind, const MPI_Status *status, int from) {
    int count = -1;
    if (persists(kind))
        CHECK(work->requests[kind] != MPI_REQUEST_NULL, "kind %d is gone", kind);
    else
        CHECK(work->requests[kind] == MPI_REQUEST_NULL, "kind %d is still there", kind);
    OK(MPI_Get_count(status, MPI_INT, &count));
    switch (kind) {
    case RECV: case PERSISTENT_RECV: case BOTH: EQUAL(count, 1); EQUAL(status->MPI_SOURCE, from); break;
    case LONG_RECV: EQUAL(count, LONG); EQUAL(status->MPI_TAG, 2); break;
    case PARTS_IN: EQUAL(count, PARTS); EQUAL(status->MPI_SOURCE, from); EQUAL(status->MPI_TAG, 4); break;
    case GENERAL: EQUAL(count, 6); EQUAL(status->MPI_SOURCE, 5); EQUAL(status->MPI_TAG, 4); break;
    default: EQUAL(count, 0);
    }
}

static void completes(work_t *work, int way, int from) {
    MPI_Request *r = work->requests;
    MPI_Status statuses[KINDS];
    int seen[KINDS] = {0}, left = KINDS, flag, at, count, indices[KINDS];
    switch (way) {
    case 0: case 1:
        while (left > 0) {
            if (way == 0) {
                OK(MPI_Waitany(KINDS, r, &at, statuses));
            } else {
                for (flag = 0; !flag;) OK(MPI_Testany(KINDS, r, &at, &flag, statuses));
            }
            CHECK(at >= 0 && at < KINDS && !seen[at], "%d ends again", at);
            seen[at] = 1;
            left--;
            ended(work, at, statuses, from);
        }
        OK(MPI_Waitany(KINDS, r, &at, statuses));
        EQUAL(at, MPI_UNDEFINED);
        break;
    case 2: case 3:
        while (left > 0) {
            if (way == 2)
                OK(MPI_Waitsome(KINDS, r, &count, indices, statuses));
            else
                OK(MPI_Testsome(KINDS, r, &count, indices, statuses));
            CHECK(count >= (way == 2) && count <= left, "%d of %d end", count, left);
            for (int i = 0; i < count; i++) {
                CHECK(!seen[indices[i]], "%d ends again", indices[i]);
                seen[indices[i]] = 1;
                ended(work, indices[i], &statuses[i], from);
            }
            left -= count;
        }
        OK(MPI_Testsome(KINDS, r, &count, indices, statuses));
        EQUAL(count, MPI_UNDEFINED);
        break;
    case 4: OK(MPI_Waitall(KINDS, r, statuses)); break;
    default:
        for (flag = 0; !flag;) OK(MPI_Testall(KINDS, r, &flag, statuses));
    }
    if (way >= 4)
        for (at = 0; at < KINDS; at++) ended(work, at, &statuses[at], from);
}

static void *works(void *argument) {
    work_t *work = argument;
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request *r = work->requests;
    prepare(work, to, from);
    for (int way = 0; way < WAYS; way++) {
        pthread_t thread;
        int base = 100 * way + work->number, got[2] = {-1, -1}, sent = base + rank, one = 1, all = 0, buffered = base;
        for (int i = 0; i < LONG; i++) work->out[i] = base + i, work->in[i] = -1;
        work->words[0] = base + 7;
        work->words[1] = -1;
        work->words[2] = rank;
        for (int i = 0; i < PARTS; i++) work->parts_out[i] = base + i, work->parts_in[i] = -1;
        OK(MPI_Startall(5, (MPI_Request[]){r[PERSISTENT_SEND], r[PERSISTENT_RECV], r[PARTS_OUT], r[PARTS_IN], r[AGAIN]}));
        OK(MPI_Irecv(work->in, LONG, MPI_INT, from, 2, work->comm, &r[LONG_RECV]));
        OK(MPI_Irecv(&got[0], 1, MPI_INT, from, 1, work->comm, &r[RECV]));
        OK(MPI_Isendrecv(&sent, 1, MPI_INT, to, 5, &got[1], 1, MPI_INT, from, 5, work->comm, &r[BOTH]));
        OK(MPI_Isend(work->out, LONG, MPI_INT, to, 2, work->comm, &r[LONG_SEND]));
        OK(MPI_Issend(&sent, 1, MPI_INT, to, 1, work->comm, &r[SEND]));
        OK(MPI_Ibarrier(work->comm, &r[BARRIER]));
        OK(MPI_Iallreduce(&one, &all, 1, MPI_INT, MPI_SUM, work->comm, &r[REDUCE]));
        OK(MPI_Comm_attach_buffer(work->comm, work->buffer, sizeof work->buffer));
        OK(MPI_Bsend(&buffered, 1, MPI_INT, to, 6, work->comm));
        OK(MPI_Comm_iflush_buffer(work->comm, &r[FLUSH]));
        OK(MPI_Grequest_start(query, nothing, not_cancelled, NULL, &r[GENERAL]));
        MPI_Request general = r[GENERAL];
        CHECK(pthread_create(&thread, NULL, ends_it, &general) == 0, "a thread");
        OK(MPI_Pready_range(0, PARTS - 1, r[PARTS_OUT]));
        completes(work, way, from);
        pthread_join(thread, NULL);
        EQUAL(got[0], base + from);
        EQUAL(got[1], base + from);
        EQUAL(all, size);
        EQUAL(work->words[1], base + 7);
        EQUAL(work->words[3], size * (size - 1) / 2);
        for (int i = 0; i < PARTS; i++) EQUAL(work->parts_in[i], base + i);
        for (int i = 0; i < LONG; i++)
            if (work->in[i] != base + i) EQUAL(work->in[i], base + i);
        OK(MPI_Recv(&buffered, 1, MPI_INT, from, 6, work->comm, MPI_STATUS_IGNORE));
        EQUAL(buffered, base);
        void *address;
        int bytes;
        OK(MPI_Comm_detach_buffer(work->comm, &address, &bytes));
    }
    for (int at = 0; at < KINDS; at++)
        if (persists(at)) OK(MPI_Request_free(&r[at]));
    return NULL;
}

int main(int argc, char **argv) {
    static work_t work[THREADS];
    pthread_t threads[THREADS];
    int provided;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (int at = 0; at < THREADS; at++) {
        work[at].number = 10 * at;
        work[at].out = malloc(LONG * sizeof(int));
        work[at].in = malloc(LONG * sizeof(int));
        OK(MPI_Comm_dup(MPI_COMM_WORLD, &work[at].comm));
    }
    works(&work[0]);
    for (int at = 1; at < THREADS; at++)
        CHECK(pthread_create(&threads[at], NULL, works, &work[at]) == 0, "a thread");
    works(&work[0]);
    for (int at = 1; at < THREADS; at++) pthread_join(threads[at], NULL);
    for (int at = 0; at < THREADS; at++) {
        free(work[at].out);
        free(work[at].in);
        OK(MPI_Comm_free(&work[at].comm));
    }
    OK(MPI_Finalize());
    return 0;
}
