/* copies.c: long messages between two ranks, for the comparison with a bare copy pipeline (`raw copy`) and of the ways
 * that settings force.
 * Plain MPI. Usage: copies [one_way] [SIZE]... [window] [SIZE]...
 * one_way: messages there and back, half the time of a turn. window: 16 messages one way from different places and an
 * answer, the time of one message. Each side sends from one buffer and receives into another one.
 * Output: lines "result oneway_SIZE|window_SIZE VALUE us" from rank 0. Called by `cargo xtask bench`. */
#include "measure.h"

enum { WINDOW = 16, LARGEST = 4 << 20 };

struct messages {
    char *out, *in;
    int size;
};

static int rank, peer;

static void there_and_back(void *what)
{
    struct messages *m = what;
    if (rank == 0) MPI_Send(m->out, m->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(m->in, m->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(m->out, m->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
}

static void window(void *what)
{
    struct messages *m = what;
    MPI_Request requests[WINDOW];
    char token = 0;
    for (int i = 0; i < WINDOW; i++) {
        size_t at = (size_t)i * (size_t)m->size;
        if (rank == 0) MPI_Isend(m->out + at, m->size, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[i]);
        else MPI_Irecv(m->in + at, m->size, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) MPI_Recv(&token, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else MPI_Send(&token, 1, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
}

/* Both ranks send the same bytes: what was measured must have arrived. */
static void measure_one(struct messages *m, int in_window)
{
    size_t all = (size_t)m->size * (in_window ? WINDOW : 1);
    char name[40];
    memset(m->in, 0, all);
    double step = measure(in_window ? window : there_and_back, m, 0.01, 0);
    if ((rank == 1 || !in_window) && memcmp(m->in, m->out, all) != 0) {
        measure_fail("the bytes that arrived are not those that were sent");
    }
    snprintf(name, sizeof name, "%s_%d", in_window ? "window" : "oneway", m->size);
    if (rank == 0) measure_report(name, step / (in_window ? WINDOW : 2) * 1e6, "us");
}

/* Does what the words say, or only says how many bytes of a buffer that takes. */
static size_t all_words(int argc, char **argv, struct messages *m)
{
    size_t room = 0;
    int in_window = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "one_way") == 0) in_window = 0;
        else if (strcmp(argv[i], "window") == 0) in_window = 1;
        else {
            int size = atoi(argv[i]);
            size_t takes = (size_t)size * (in_window ? WINDOW : 1);
            if (size <= 0 || size > LARGEST) measure_fail(argv[i]);
            if (takes > room) room = takes;
            if (m != NULL) {
                m->size = size;
                measure_one(m, in_window);
            }
        }
    }
    return room;
}

int main(int argc, char **argv)
{
    int size;
    size_t room;
    struct messages m;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) measure_fail("copies needs 2 ranks");
    peer = 1 - rank;
    room = (all_words(argc, argv, NULL) + 4095) / 4096 * 4096;
    m.out = aligned_alloc(4096, room);
    m.in = aligned_alloc(4096, room);
    if (m.out == NULL || m.in == NULL) measure_fail("no memory");
    for (size_t i = 0; i < room; i++) m.out[i] = (char)(i * 31 + i / 251 + 7);
    memset(m.in, 0, room);
    all_words(argc, argv, &m);
    free(m.out);
    free(m.in);
    MPI_Finalize();
    return 0;
}
