// ranks: 4 1
// timeout: 90
/* Torture by threads: in each rank three threads send to all ranks in all modes and lengths, three receive on
 * communicators of their own with wildcards, exact receives, probes and cancels, and two take the messages of a common
 * communicator by matched probes, at the same time. Some sends are asked back at once. Every message says what it is;
 * each (sender, tag) must come whole, once and in order, and one that was asked back comes or is cancelled, never both. The seed is printed; `torture SEED SECONDS` does it again. MPI-5.0 sections 3.5, 3.8, 11.6. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

enum { PRODUCERS = 3, SHARERS = 2, TAGS = 3, DOUBT = TAGS, END = 99, LONGEST = 200000, WINDOW = 4, MOST_RANKS = 4 };

/* The front of a message. */
struct front {
    int source, producer, tag, length;
    /* Number of the message among those of this producer to this receiver with this tag on this communicator. */
    int64_t number;
};

/* What the last message of a producer says behind its front: how many came before it, by tag. */
struct farewell {
    struct front front;
    int64_t sent[TAGS];
    /* How many were asked back in vain, and the sum of their numbers. */
    int64_t doubtful, doubtful_sum;
};

/* What has come from a producer. */
struct account {
    int64_t got[TAGS], doubtful, doubtful_sum, last_doubtful;
};

static MPI_Comm comms[PRODUCERS], common;
static double deadline;
static unsigned long long seed;
static atomic_long messages, cancelled, sends_cancelled;
/* Numbers of the messages on the common communicator, by sender: how many came, their sum, and how many were sent. */
static atomic_llong came[MOST_RANKS][PRODUCERS], sum[MOST_RANKS][PRODUCERS], sent[MOST_RANKS][PRODUCERS];

static int below(uint64_t *dice, int n)
{
    *dice ^= *dice << 13;
    *dice ^= *dice >> 7;
    *dice ^= *dice << 17;
    return (int)((*dice >> 16) % (uint64_t)n);
}

static uint64_t dice_of(int thread)
{
    return ((seed + 1) * 0x9E3779B97F4A7C15u + (uint64_t)(rank * 100 + thread) * 0xBF58476D1CE4E5B9u) | 1;
}

static unsigned body(const struct front *front, int at)
{
    return ((unsigned)front->number * 2654435761u + (unsigned)(front->source * 31 + front->producer * 7 + front->tag)) ^ (unsigned)at * 40503u;
}

static void fill(unsigned char *data, const struct front *front)
{
    memcpy(data, front, sizeof *front);
    for (int at = sizeof *front; at + 4 <= front->length; at += 4) {
        unsigned word = body(front, at);
        memcpy(data + at, &word, 4);
    }
}

/* The message that lies at `data` is what its status and its front say. */
static struct front checked(const unsigned char *data, MPI_Status *status)
{
    struct front front;
    int length = -1;
    memcpy(&front, data, sizeof front);
    OK(MPI_Get_count(status, MPI_BYTE, &length));
    CHECK(length == front.length && status->MPI_SOURCE == front.source && status->MPI_TAG == front.tag,
          "%d bytes from %d with tag %d say they are %d bytes from %d with tag %d", length, status->MPI_SOURCE,
          status->MPI_TAG, front.length, front.source, front.tag);
    for (int at = sizeof front; front.tag != END && at + 4 <= length; at += 4) {
        unsigned word, right = body(&front, at);
        memcpy(&word, data + at, 4);
        CHECK(word == right, "message %lld of %d.%d, tag %d: the word at %d of %d is %x, not %x", (long long)front.number,
              front.source, front.producer, front.tag, at, length, word, right);
    }
    atomic_fetch_add(&messages, 1);
    return front;
}

/* Messages under way of a producer. */
struct window {
    MPI_Request requests[WINDOW];
    unsigned char *data[WINDOW];
};

static void send_one(struct window *window, const struct front *front, int to, MPI_Comm comm, int mode, uint64_t *dice)
{
    int slot = MPI_UNDEFINED, flag;
    OK(MPI_Testany(WINDOW, window->requests, &slot, &flag, MPI_STATUS_IGNORE));
    for (int i = 0; i < WINDOW && (slot == MPI_UNDEFINED || !flag); i++)
        if (window->requests[i] == MPI_REQUEST_NULL) slot = i, flag = 1;
    if (slot == MPI_UNDEFINED) OK(MPI_Waitany(WINDOW, window->requests, &slot, MPI_STATUS_IGNORE));
    unsigned char *data = window->data[slot];
    fill(data, front);
    switch (mode) {
    case 0: OK(MPI_Send(data, front->length, MPI_BYTE, to, front->tag, comm)); break;
    case 1: OK(MPI_Ssend(data, front->length, MPI_BYTE, to, front->tag, comm)); break;
    case 2: OK(MPI_Issend(data, front->length, MPI_BYTE, to, front->tag, comm, &window->requests[slot])); break;
    default: OK(MPI_Isend(data, front->length, MPI_BYTE, to, front->tag, comm, &window->requests[slot]));
    }
    if (below(dice, 50) == 0) OK(MPI_Waitall(WINDOW, window->requests, MPI_STATUSES_IGNORE));
}

/* A message that is asked back at once. Returns whether it left all the same. */
static int ask_back(const struct front *front, unsigned char *data, int to, MPI_Comm comm, int synchronous)
{
    MPI_Request request;
    MPI_Status status;
    int flag;
    fill(data, front);
    if (synchronous) OK(MPI_Issend(data, front->length, MPI_BYTE, to, DOUBT, comm, &request));
    else OK(MPI_Isend(data, front->length, MPI_BYTE, to, DOUBT, comm, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    if (flag) atomic_fetch_add(&sends_cancelled, 1);
    return !flag;
}

static void *produce(void *which)
{
    static const int lengths[] = {24, 28, 56, 60, 1000, 4064, 4068, 9000, 20000, LONGEST};
    int me = (int)(long)which;
    int64_t own[MOST_RANKS][TAGS] = {{0}}, shared[MOST_RANKS] = {0};
    int64_t asked_back[MOST_RANKS] = {0}, doubtful[MOST_RANKS] = {0}, doubtful_sum[MOST_RANKS] = {0};
    unsigned char *wanted_back = malloc(LONGEST);
    uint64_t dice = dice_of(me);
    struct window window;
    for (int i = 0; i < WINDOW; i++) window.requests[i] = MPI_REQUEST_NULL, window.data[i] = malloc(LONGEST);
    for (int turn = 1; MPI_Wtime() < deadline; turn++) {
        int to = below(&dice, size), share = below(&dice, 3) == 0;
        struct front front = {rank, me, share ? me : below(&dice, TAGS), lengths[below(&dice, 10)], 0};
        if (front.length == LONGEST && below(&dice, 4)) front.length = 40;
        if (below(&dice, 12) == 0) {
            front.tag = DOUBT, front.number = asked_back[to]++;
            if (ask_back(&front, wanted_back, to, comms[me], below(&dice, 2)))
                doubtful[to]++, doubtful_sum[to] += front.number;
            continue;
        }
        front.number = share ? shared[to]++ : own[to][front.tag]++;
        /* Now and then a synchronous one, so that nobody is far ahead of its receivers. */
        send_one(&window, &front, to, share ? common : comms[me], turn % 8 == 0 ? 1 : below(&dice, 4), &dice);
    }
    OK(MPI_Waitall(WINDOW, window.requests, MPI_STATUSES_IGNORE));
    for (int to = 0; to < size; to++) {
        struct farewell bye = {{rank, me, END, sizeof bye, 0}, {0}, doubtful[to], doubtful_sum[to]};
        memcpy(bye.sent, own[to], sizeof bye.sent);
        OK(MPI_Send(&bye, sizeof bye, MPI_BYTE, to, END, comms[me]));
        bye.sent[0] = shared[to];
        for (int i = 0; i < SHARERS; i++) OK(MPI_Send(&bye, sizeof bye, MPI_BYTE, to, END, common));
    }
    for (int i = 0; i < WINDOW; i++) free(window.data[i]);
    free(wanted_back);
    return NULL;
}

/* Notes a message on a communicator with one receiver; returns 1 for the last of a sender. */
static int note(struct account *accounts, const unsigned char *data, MPI_Status *status)
{
    struct front front = checked(data, status);
    struct account *account = &accounts[front.source];
    struct farewell bye;
    if (front.tag == DOUBT) {
        CHECK(account->doubtful == 0 || front.number > account->last_doubtful, "message %lld of %d.%d, asked back, came after %lld",
              (long long)front.number, front.source, front.producer, (long long)account->last_doubtful);
        account->last_doubtful = front.number;
        account->doubtful++;
        account->doubtful_sum += front.number;
        return 0;
    }
    if (front.tag != END) {
        CHECK(front.number == account->got[front.tag], "message %lld of %d.%d, tag %d, came in the place of %lld",
              (long long)front.number, front.source, front.producer, front.tag, (long long)account->got[front.tag]);
        account->got[front.tag]++;
        return 0;
    }
    memcpy(&bye, data, sizeof bye);
    for (int tag = 0; tag < TAGS; tag++) EQUAL(account->got[tag], bye.sent[tag]);
    EQUAL(account->doubtful, bye.doubtful);
    EQUAL(account->doubtful_sum, bye.doubtful_sum);
    return 1;
}

/* Posts receives, waits for some, takes the others back; what has come is noted in the order of the receives. */
static int by_window(MPI_Comm comm, unsigned char **data, struct account *got, uint64_t *dice)
{
    int from = below(dice, 2) ? MPI_ANY_SOURCE : below(dice, size), tag = below(dice, 2) ? MPI_ANY_TAG : below(dice, TAGS);
    int ended = 0, tries = below(dice, 20), flag, index;
    MPI_Request requests[WINDOW], copies[WINDOW];
    MPI_Status statuses[WINDOW];
    for (int i = 0; i < WINDOW; i++) OK(MPI_Irecv(data[i], LONGEST, MPI_BYTE, from, tag, comm, &requests[i]));
    memcpy(copies, requests, sizeof copies);
    for (int i = 0; i < tries; i++) OK(MPI_Request_get_status(requests[below(dice, WINDOW)], &flag, MPI_STATUS_IGNORE));
    /* Only a receive of anything is certain to get something. */
    if (from == MPI_ANY_SOURCE && tag == MPI_ANY_TAG && below(dice, 2)) {
        OK(MPI_Waitany(1, requests, &index, &statuses[0]));
        EQUAL(index, 0);
    } else {
        OK(MPI_Cancel(&requests[0]));
        OK(MPI_Wait(&requests[0], &statuses[0]));
    }
    for (int i = 1; i < WINDOW; i++) OK(MPI_Cancel(&requests[i]));
    OK(MPI_Waitall(WINDOW - 1, requests + 1, statuses + 1));
    for (int i = 0; i < WINDOW; i++) {
        OK(MPI_Test_cancelled(&statuses[i], &flag));
        if (flag) atomic_fetch_add(&cancelled, 1);
        else ended += note(got, data[i], &statuses[i]);
    }
    return ended;
}

static void *consume(void *which)
{
    int me = (int)(long)which, ended = 0, flag, length;
    struct account got[MOST_RANKS] = {{{0}, 0, 0, 0}};
    uint64_t dice = dice_of(10 + me);
    unsigned char *data[WINDOW];
    MPI_Comm comm = comms[me];
    for (int i = 0; i < WINDOW; i++) data[i] = malloc(LONGEST);
    while (ended < size) {
        MPI_Message message;
        MPI_Status status;
        int way = below(&dice, 6);
        if (way == 0) {
            ended += by_window(comm, data, got, &dice);
            continue;
        }
        if (way == 1) {
            OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
            OK(MPI_Get_count(&status, MPI_BYTE, &length));
            if (status.MPI_TAG == DOUBT) {
                /* One that was asked back may be gone by now: a probe is no match. */
                OK(MPI_Improbe(status.MPI_SOURCE, DOUBT, comm, &flag, &message, &status));
                if (!flag) continue;
                OK(MPI_Mrecv(data[0], LONGEST, MPI_BYTE, &message, &status));
            } else OK(MPI_Recv(data[0], length, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status));
        } else if (way == 2) {
            OK(MPI_Iprobe(below(&dice, size), below(&dice, TAGS), comm, &flag, &status));
            if (!flag) continue;
            OK(MPI_Recv(data[0], LONGEST, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm, &status));
        } else if (way == 3) {
            OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status));
            OK(MPI_Mrecv(data[0], LONGEST, MPI_BYTE, &message, &status));
        } else {
            OK(MPI_Recv(data[0], LONGEST, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status));
        }
        ended += note(got, data[0], &status);
    }
    for (int i = 0; i < WINDOW; i++) free(data[i]);
    return NULL;
}

/* One of several that take messages from the same communicator; each sees rising numbers. */
static void *share(void *which)
{
    int64_t last[MOST_RANKS][PRODUCERS];
    int ended = 0, flag;
    uint64_t dice = dice_of(20 + (int)(long)which);
    unsigned char *data = malloc(LONGEST);
    memset(last, 0xff, sizeof last);
    while (ended < size * PRODUCERS) {
        MPI_Message message;
        MPI_Request request;
        MPI_Status status;
        if (below(&dice, 2)) {
            OK(MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, common, &message, &status));
            OK(MPI_Imrecv(data, LONGEST, MPI_BYTE, &message, &request));
            OK(MPI_Wait(&request, &status));
        } else {
            OK(MPI_Improbe(below(&dice, size), MPI_ANY_TAG, common, &flag, &message, &status));
            if (!flag) continue;
            OK(MPI_Mrecv(data, LONGEST, MPI_BYTE, &message, &status));
        }
        struct front front = checked(data, &status);
        if (front.tag == END) {
            struct farewell bye;
            memcpy(&bye, data, sizeof bye);
            atomic_store(&sent[front.source][front.producer], bye.sent[0]);
            ended++;
            continue;
        }
        CHECK(front.number > last[front.source][front.producer], "message %lld of %d.%d came after %lld",
              (long long)front.number, front.source, front.producer, (long long)last[front.source][front.producer]);
        last[front.source][front.producer] = front.number;
        atomic_fetch_add(&came[front.source][front.producer], 1);
        atomic_fetch_add(&sum[front.source][front.producer], front.number);
    }
    free(data);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2 * PRODUCERS + SHARERS];
    int provided, n = 0;
    double seconds = argc > 2 ? atof(argv[2]) : 3;
    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    EQUAL(provided, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size <= MOST_RANKS, "%d ranks", size);
    if (rank == 0) {
        seed = argc > 1 ? strtoull(argv[1], NULL, 10) : (unsigned long long)time(NULL);
        printf("torture %llu\n", seed);
    }
    OK(MPI_Bcast(&seed, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD));
    for (int i = 0; i < PRODUCERS; i++) OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &common));
    deadline = MPI_Wtime() + seconds;
    for (long i = 0; i < PRODUCERS; i++) {
        pthread_create(&threads[n++], NULL, consume, (void *)i);
        pthread_create(&threads[n++], NULL, produce, (void *)i);
    }
    for (long i = 0; i < SHARERS; i++) pthread_create(&threads[n++], NULL, share, (void *)i);
    while (n > 0) pthread_join(threads[--n], NULL);
    for (int from = 0; from < size; from++)
        for (int p = 0; p < PRODUCERS; p++) {
            long long all = sent[from][p];
            EQUAL(came[from][p], all);
            EQUAL(sum[from][p], all * (all - 1) / 2);
        }
    /* Under a tool that makes everything slow there may be too few for each to have happened. */
    int few = messages < 200;
    CHECK(messages > 0 && (few || (cancelled > 0 && sends_cancelled > 0)), "%ld messages, %ld receives and %ld sends cancelled", messages,
          cancelled, sends_cancelled);
    if (rank == 0)
        printf("rank 0 received %ld messages, %ld receives and %ld sends were cancelled\n", messages, cancelled, sends_cancelled);
    for (int i = 0; i < PRODUCERS; i++) OK(MPI_Comm_free(&comms[i]));
    OK(MPI_Comm_free(&common));
    OK(MPI_Finalize());
    return 0;
}
