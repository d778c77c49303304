// ranks: 2
// of memory
// only: posthaste
// env: POSTHASTE_YIELD_US=1000000000
// env: POSTHASTE_BOUNCE_BUFFER=1048576
// timeout: 60
// not over libfabric: long messages keep lists of what is under way
/* (A rank that falls asleep publishes what it waits for, which takes memory: so none falls asleep here. Nor do pairs try other sizes of their
 * buffers: what is new there would be seen for the first time.)
 * Messages take no memory from the heap once everything has been seen before: contiguous and derived types, eager,
 * medium and long, blocking, nonblocking, synchronous, persistent, unexpected, probed, to ourselves, and packing. The
 * program counts the calls of malloc and its like by defining them. */
#include "check.h"

#include <errno.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static volatile long taken;

void *malloc(size_t n) { taken++; return __libc_malloc(n); }
void *calloc(size_t n, size_t each) { taken++; return __libc_calloc(n, each); }
void *realloc(void *old, size_t n) { taken++; return __libc_realloc(old, n); }
void *memalign(size_t align, size_t n) { taken++; return __libc_memalign(align, n); }
void *aligned_alloc(size_t align, size_t n) { taken++; return __libc_memalign(align, n); }
int posix_memalign(void **at, size_t align, size_t n)
{
    taken++;
    *at = __libc_memalign(align, n);
    return *at ? 0 : ENOMEM;
}

enum { LONGEST = 1 << 20, ROUNDS = 40 };
static char out[4 * LONGEST], in[4 * LONGEST], packed[2 * LONGEST];

struct message {
    MPI_Datatype type;
    int count;
};

static void send_and_receive(struct message m)
{
    if (rank == 0) {
        OK(MPI_Send(out, m.count, m.type, 1, 1, MPI_COMM_WORLD));
        OK(MPI_Recv(in, m.count, m.type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Recv(in, m.count, m.type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(out, m.count, m.type, 0, 1, MPI_COMM_WORLD));
    }
}

static void nonblocking(struct message m)
{
    MPI_Request requests[2];
    OK(MPI_Irecv(in, m.count, m.type, 1 - rank, 2, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, m.count, m.type, 1 - rank, 2, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
}

static void one_by_one(struct message m)
{
    MPI_Request requests[2];
    int left = 2, ended, which[2];
    MPI_Status statuses[2];
    OK(MPI_Irecv(in, m.count, m.type, 1 - rank, 10, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, m.count, m.type, 1 - rank, 10, MPI_COMM_WORLD, &requests[1]));
    for (; left > 0; left -= ended) OK(MPI_Waitsome(2, requests, &ended, which, statuses));
}

static void synchronous(struct message m)
{
    if (rank == 0) OK(MPI_Ssend(out, m.count, m.type, 1, 3, MPI_COMM_WORLD));
    else OK(MPI_Recv(in, m.count, m.type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void persistent(struct message m)
{
    static MPI_Request kept[64][2];
    static struct message of[64];
    int i = 0;
    while (i < 64 && of[i].count > 0 && (of[i].type != m.type || of[i].count != m.count)) i++;
    if (of[i].count == 0) {
        of[i] = m;
        OK(MPI_Recv_init(in, m.count, m.type, 1 - rank, 4, MPI_COMM_WORLD, &kept[i][0]));
        OK(MPI_Send_init(out, m.count, m.type, 1 - rank, 4, MPI_COMM_WORLD, &kept[i][1]));
    }
    OK(MPI_Startall(2, kept[i]));
    OK(MPI_Waitall(2, kept[i], MPI_STATUSES_IGNORE));
}

/* The message is there before anybody asks for it: the token behind it says so. */
static void unexpected(struct message m)
{
    MPI_Request request;
    MPI_Status status;
    char token = 0;
    if (rank == 0) {
        OK(MPI_Isend(out, m.count, m.type, 1, 5, MPI_COMM_WORLD, &request));
        OK(MPI_Send(&token, 1, MPI_CHAR, 1, 6, MPI_COMM_WORLD));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Recv(&token, 1, MPI_CHAR, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Recv(&token, 1, MPI_CHAR, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status));
        OK(MPI_Recv(in, m.count, m.type, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Send(&token, 1, MPI_CHAR, 0, 6, MPI_COMM_WORLD));
    }
}

static void to_ourselves(struct message m)
{
    OK(MPI_Sendrecv(out, m.count, m.type, rank, 7, in, m.count, m.type, rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void packing(struct message m)
{
    int at = 0, from = 0;
    OK(MPI_Pack(out, m.count, m.type, packed, sizeof packed, &at, MPI_COMM_WORLD));
    OK(MPI_Unpack(packed, at, &from, in, m.count, m.type, MPI_COMM_WORLD));
}

/* How many messages arrive before they are asked for is chance; this makes sure that it was never more than now. */
static void flood(int bytes)
{
    enum { MANY = 8 };
    char token = 0;
    for (int from = 0; from < 2; from++) {
        for (int i = 0; i < MANY && rank == from; i++) OK(MPI_Send(out, bytes, MPI_BYTE, 1 - from, 8, MPI_COMM_WORLD));
        if (rank == from) OK(MPI_Send(&token, 1, MPI_CHAR, 1 - from, 9, MPI_COMM_WORLD));
        else OK(MPI_Recv(&token, 1, MPI_CHAR, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < MANY && rank != from; i++)
            OK(MPI_Recv(in, bytes, MPI_BYTE, from, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    /* Those to ourselves may be eager where others are not. */
    MPI_Request requests[MANY];
    int flag;
    for (int i = 0; i < MANY; i++) OK(MPI_Isend(out, bytes, MPI_BYTE, rank, 8, MPI_COMM_WORLD, &requests[i]));
    for (int i = 0; i < 2 * MANY; i++) OK(MPI_Iprobe(rank, 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    for (int i = 0; i < MANY; i++) OK(MPI_Recv(in, bytes, MPI_BYTE, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
}

static const struct {
    const char *name;
    void (*go)(struct message);
} ways[] = {{"blocking", send_and_receive}, {"nonblocking", nonblocking}, {"one by one", one_by_one}, {"synchronous", synchronous},
    {"persistent", persistent}, {"unexpected", unexpected}, {"to ourselves", to_ourselves}, {"packing", packing}};
enum { WAYS = sizeof ways / sizeof *ways, TYPES = 4, SIZES = 5 };

int main(int argc, char **argv)
{
    static const int sizes[SIZES] = {64, 2048, 12 << 10, 100 << 10, LONGEST};
    MPI_Datatype types[TYPES] = {MPI_BYTE};
    int bytes[TYPES] = {1, 16, 24, 16};
    long before = taken;
    void *proof = malloc(1);
    CHECK(taken == before + 1 && proof != NULL, "the counter does not count");
    free(proof);
    check_start(&argc, &argv);
    OK(MPI_Type_vector(2, 1, 2, MPI_DOUBLE, &types[1]));
    OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){0, 16}, (MPI_Datatype[]){MPI_DOUBLE, MPI_DOUBLE}, &types[2]));
    OK(MPI_Type_create_indexed_block(4, 1, (int[]){5, 1, 7, 0}, MPI_INT, &types[3]));
    for (int t = 1; t < TYPES; t++) OK(MPI_Type_commit(&types[t]));

    /* The first turn warms up: what it takes is kept. */
    for (int s = 0; s < SIZES; s++) flood(sizes[s] < 4096 ? sizes[s] : 1);
    for (int turn = 0; turn < 2; turn++)
        for (int way = 0; way < WAYS; way++)
            for (int t = 0; t < TYPES; t++)
                for (int s = 0; s < SIZES; s++) {
                    struct message m = {types[t], sizes[s] / bytes[t]};
                    long start = taken;
                    for (int i = 0; i < ROUNDS; i++) ways[way].go(m);
                    if (turn == 1 && taken != start)
                        FAIL("%s, type %d, %d bytes: %ld allocations in %d messages", ways[way].name, t, sizes[s],
                            taken - start, ROUNDS);
                }
    /* The last ways are local: nobody comes to the end, whose barrier takes memory at the others, while another counts. */
    send_and_receive((struct message){MPI_BYTE, 1});
    for (int t = 1; t < TYPES; t++) OK(MPI_Type_free(&types[t]));
    return check_end();
}
