/* copies.c: long messages between two ranks, for the comparison with a bare copy pipeline (`raw copy`) and of the ways
 * that settings force.
 * Plain MPI. Usage: copies [one_way|window|rotating|both] SIZE... [...]
 * one_way: messages there and back, half the time of a turn. window: 16 messages one way from different places and an
 * answer, the time of one message. rotating: as one_way, from and into places that no cache holds together, one after the
 * other. both: each rank sends and receives at the same time, the time of both.
 * Each side sends from one buffer and receives into another one.
 * Output: lines "result oneway_SIZE|window_SIZE|rotating_SIZE|both_SIZE VALUE us" from rank 0. Called by
 * `cargo xtask bench`. */
#include "measure.h"

enum { WINDOW = 16, LARGEST = 16 << 20, FEWEST = 4 };

struct messages {
    char *out, *in;
    int size;
    /* Places, and messages so far that went there. */
    size_t places, turns;
};

static int rank, peer;

static void there_and_back(void *what)
{
    struct messages *m = what;
    size_t at = m->turns++ % m->places * (size_t)m->size;
    if (rank == 0) MPI_Send(m->out + at, m->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(m->in + at, m->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(m->out + at, m->size, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
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
    m->turns += WINDOW;
}

static void both_at_once(void *what)
{
    struct messages *m = what;
    MPI_Request requests[2];
    MPI_Irecv(m->in, m->size, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(m->out, m->size, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    m->turns++;
}

/* How messages go: the word, the name of the result, a step, messages one after the other in it, and the places of all. */
struct how {
    const char *word, *name;
    measure_step step;
    int messages;
    size_t places;
};

static const struct how hows[] = {
    {"one_way", "oneway", there_and_back, 2, 1},
    {"window", "window", window, WINDOW, WINDOW},
    {"rotating", "rotating", there_and_back, 2, 0},
    {"both", "both", both_at_once, 1, 1},
};

static size_t places(const struct how *how, int size)
{
    size_t rotating = measure_beyond_caches() / (size_t)size;
    return how->places ? how->places : rotating > FEWEST ? rotating : FEWEST;
}

/* Both ranks send the same bytes: what was measured must have arrived. */
static void measure_one(struct messages *m, const struct how *how)
{
    char name[40];
    m->places = places(how, m->size), m->turns = 0;
    memset(m->in, 0, m->places * (size_t)m->size);
    double step = measure(how->step, m, 0.01, 0);
    size_t used = m->turns < m->places ? m->turns : m->places;
    if ((rank == 1 || how->step != window) && memcmp(m->in, m->out, used * (size_t)m->size) != 0) {
        measure_fail("the bytes that arrived are not those that were sent");
    }
    snprintf(name, sizeof name, "%s_%d", how->name, m->size);
    if (rank == 0) measure_report(name, step / how->messages * 1e6, "us");
}

/* Does what the words say, or only says how many bytes of a buffer that takes. */
static size_t all_words(int argc, char **argv, struct messages *m)
{
    size_t room = 0;
    const struct how *how = hows;
    for (int i = 1; i < argc; i++) {
        const struct how *named = NULL;
        for (size_t k = 0; k < sizeof hows / sizeof *hows; k++) {
            if (strcmp(argv[i], hows[k].word) == 0) named = &hows[k];
        }
        if (named != NULL) {
            how = named;
            continue;
        }
        int size = atoi(argv[i]);
        if (size <= 0 || size > LARGEST) measure_fail(argv[i]);
        size_t takes = (size_t)size * places(how, size);
        if (takes > room) room = takes;
        if (m != NULL) {
            m->size = size;
            measure_one(m, how);
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
