// ranks: 2
// timeout: 180
/* The matrix of point-to-point messages: mode x form of the send x form of the receive x posted first or unexpected x
 * exact or wildcard x layouts of both sides x sizes around the limits of the protocols. All of the receiver's memory
 * is compared, between and around the blocks too. `cargo xtask test --only paths` runs it by each protocol, proved by the
 * counters. MPI-5.0 sections 3.2 to 3.9. */
#include "check.h"

static const int sizes[] = {0,    1,    31,   32,   33,    4055,  4056,  4057,   4063,   4064,   4065,   4095,   4096,
                            4097, 8191, 8192, 8193, 16383, 16384, 16385, 131071, 131072, 131073, 262143, 262144, 262145};
/* From here on the layouts are used in turn. */
enum { SIZES = sizeof sizes / sizeof *sizes, LONG = 20000, MOST = 262145, SHIFTS = 251, SPAN = 2 * MOST + 100000 };

enum mode { STANDARD, SYNCHRONOUS, BUFFERED, READY, MODES };
enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
/* How a message is received: with a receive of that form, or after a matched probe. */
enum receive { RECV, IRECV, RECV_INIT, MRECV, IMRECV, RECEIVES };
enum layout { WHOLE, STRIDED, MIXED, LAYOUTS };

/* The runs of a message in memory, and the datatype that names them. */
struct place {
    MPI_Datatype type;
    int count, runs;
    int *at, *length;
};

struct message {
    enum mode mode;
    enum form form;
    enum receive receive;
    int posted, any_source, any_tag, tag, shift, length;
    const struct place *from, *to;
};

static unsigned char *noise, *memory, *attached, *untouched;
enum { ATTACHED = 8 << 20 };

static void add(struct place *place, int at, int length)
{
    if (length == 0) return;
    place->at[place->runs] = at;
    place->length[place->runs++] = length;
}

/* A vector of single bytes, every other one. */
static void strided(struct place *place, int length)
{
    OK(MPI_Type_vector(length, 1, 2, MPI_BYTE, &place->type));
    for (int i = 0; i < length; i++) add(place, 2 * i, 1);
}

/* A struct: some bytes, a vector of blocks of 7 bytes, some more bytes; of a short message only the last. */
static void mixed(struct place *place, int length)
{
    int front = length / 3, blocks = length / 21, rest = length - front - 7 * blocks, first = blocks ? 0 : 2;
    int lengths[3] = {front, 1, rest};
    MPI_Aint at[3] = {4, 4 + front + 9, 4 + front + 9 + 12 * blocks + 3};
    MPI_Datatype types[3] = {MPI_BYTE, MPI_DATATYPE_NULL, MPI_BYTE};
    if (!blocks) lengths[2] = length;
    OK(MPI_Type_vector(blocks, 7, 12, MPI_BYTE, &types[1]));
    OK(MPI_Type_create_struct(3 - first, lengths + first, at + first, types + first, &place->type));
    OK(MPI_Type_free(&types[1]));
    if (blocks) add(place, 4, front);
    for (int i = 0; i < blocks; i++) add(place, (int)at[1] + 12 * i, 7);
    add(place, (int)at[2], lengths[2]);
}

static struct place place_of(enum layout layout, int length)
{
    struct place place = {MPI_BYTE, layout == WHOLE ? length : 1, 0, NULL, NULL};
    place.at = malloc(sizeof(int) * (size_t)(length + 1));
    place.length = malloc(sizeof(int) * (size_t)(length + 1));
    if (layout == WHOLE) add(&place, 0, length);
    if (layout == STRIDED) strided(&place, length);
    if (layout == MIXED) mixed(&place, length);
    if (layout != WHOLE) OK(MPI_Type_commit(&place.type));
    return place;
}

static void forget(struct place *place)
{
    if (place->type != MPI_BYTE) OK(MPI_Type_free(&place->type));
    free(place->at);
    free(place->length);
}

typedef int starter(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

static void send(const struct message *m)
{
    static starter *const nonblocking[MODES] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
    static starter *const persistent[MODES] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
    int (*const blocking[MODES])(const void *, int, MPI_Datatype, int, int, MPI_Comm) = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
    const void *data = noise + m->shift;
    MPI_Request request;
    if (m->posted) OK(MPI_Recv(NULL, 0, MPI_BYTE, 1, m->tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    switch (m->form) {
    case BLOCKING:
        OK(blocking[m->mode](data, m->from->count, m->from->type, 1, m->tag, MPI_COMM_WORLD));
        break;
    case NONBLOCKING:
        OK(nonblocking[m->mode](data, m->from->count, m->from->type, 1, m->tag, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(request == MPI_REQUEST_NULL);
        break;
    default:
        OK(persistent[m->mode](data, m->from->count, m->from->type, 1, m->tag, MPI_COMM_WORLD, &request));
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(request != MPI_REQUEST_NULL);
        OK(MPI_Request_free(&request));
    }
    if (m->mode == BUFFERED && m->length > LONG) {
        void *back;
        int room;
        OK(MPI_Buffer_detach(&back, &room));
        CHECK(back == attached && room == ATTACHED, "%p of %d bytes", back, room);
        OK(MPI_Buffer_attach(attached, ATTACHED));
    }
}

static void tell_posted(const struct message *m)
{
    if (m->posted) OK(MPI_Send(NULL, 0, MPI_BYTE, 0, m->tag, MPI_COMM_WORLD));
}

/* Takes the message out of the queue; blocking or not. */
static MPI_Message matched(const struct message *m, int source, int tag)
{
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    int found = 0, bytes = -1;
    if (m->receive == MRECV) OK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, &status));
    else while (!found) OK(MPI_Improbe(source, tag, MPI_COMM_WORLD, &found, &message, &status));
    OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
    EQUAL(bytes, m->length);
    return message;
}

static void receive(const struct message *m)
{
    int source = m->any_source ? MPI_ANY_SOURCE : 0, tag = m->any_tag ? MPI_ANY_TAG : m->tag, bytes = -1;
    void *into = memory + CHECK_GUARD;
    const struct place *to = m->to;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Message message;
    MPI_Status status;
    memset(&status, 0x55, sizeof status);
    if (!m->posted && m->receive < MRECV) {
        OK(MPI_Probe(source, tag, MPI_COMM_WORLD, &status));
        OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
        EQUAL(bytes, m->length);
    }
    switch (m->receive) {
    case RECV:
        tell_posted(m);
        OK(MPI_Recv(into, to->count, to->type, source, tag, MPI_COMM_WORLD, &status));
        break;
    case IRECV:
        OK(MPI_Irecv(into, to->count, to->type, source, tag, MPI_COMM_WORLD, &request));
        tell_posted(m);
        OK(MPI_Wait(&request, &status));
        break;
    case RECV_INIT:
        OK(MPI_Recv_init(into, to->count, to->type, source, tag, MPI_COMM_WORLD, &request));
        OK(MPI_Start(&request));
        tell_posted(m);
        OK(MPI_Wait(&request, &status));
        OK(MPI_Request_free(&request));
        break;
    case MRECV:
        message = matched(m, source, tag);
        OK(MPI_Mrecv(into, to->count, to->type, &message, &status));
        break;
    default:
        message = matched(m, source, tag);
        OK(MPI_Imrecv(into, to->count, to->type, &message, &request));
        OK(MPI_Wait(&request, &status));
    }
    CHECK(request == MPI_REQUEST_NULL);
    EQUAL(status.MPI_SOURCE, 0);
    EQUAL(status.MPI_TAG, m->tag);
    OK(MPI_Get_elements(&status, to->type, &bytes));
    EQUAL(bytes, m->length);
}

/* Compares what arrived with what was sent, and sets it back to the guard byte: then all of the memory holds that. */
static void compare(const struct message *m)
{
    int from = 0, skip = 0;
    for (int run = 0; run < m->to->runs; run++) {
        unsigned char *got = memory + CHECK_GUARD + m->to->at[run];
        for (int i = 0; i < m->to->length[run]; i++) {
            int sent = noise[m->shift + m->from->at[from] + skip];
            CHECK(got[i] == sent, "the byte at %d is %d, sent was %d", m->to->at[run] + i, got[i], sent);
            got[i] = CHECK_GUARD_BYTE;
            if (++skip == m->from->length[from]) {
                from++;
                skip = 0;
            }
        }
    }
    size_t span = 2 * CHECK_GUARD + (m->to->runs ? (size_t)m->to->at[m->to->runs - 1] + (size_t)m->to->length[m->to->runs - 1] : 0);
    CHECK(memcmp(memory, untouched, span) == 0, "a byte between or around the blocks was changed");
}

static const char *now;

static void fail_where(void)
{
    if (now) fprintf(stderr, "rank %d: %s\n", rank, now);
}

static void one(const struct message *m, int layout)
{
    static char text[200];
    snprintf(text, sizeof text, "mode %d form %d receive %d posted %d any source %d any tag %d layouts %d length %d",
             m->mode, m->form, m->receive, m->posted, m->any_source, m->any_tag, layout, m->length);
    now = text;
    if (rank == 0) {
        send(m);
    } else {
        receive(m);
        compare(m);
    }
    now = NULL;
}

/* All combinations for one size. */
static void all_of(int length)
{
    static int number;
    struct place places[LAYOUTS];
    struct message m = {.length = length};
    for (int layout = 0; layout < LAYOUTS; layout++) places[layout] = place_of(layout, length);
    for (int mode = 0; mode < MODES; mode++)
        for (int form = 0; form < FORMS; form++)
            for (int receive = 0; receive < RECEIVES; receive++)
                for (int choice = 0; choice < 8; choice++) {
                    m.mode = mode, m.form = form, m.receive = receive;
                    m.posted = choice & 1, m.any_source = choice >> 1 & 1, m.any_tag = choice >> 2;
                    /* Matched probes are for messages that are there, ready mode for receives that are. */
                    if (m.posted && receive >= MRECV) continue;
                    if (mode == READY && (!m.posted || receive == RECV)) continue;
                    for (int layouts = 0; layouts < LAYOUTS * LAYOUTS; layouts++) {
                        int layout = length > LONG ? number % (LAYOUTS * LAYOUTS) : layouts;
                        m.from = &places[layout / LAYOUTS], m.to = &places[layout % LAYOUTS];
                        m.tag = ++number % 30000;
                        m.shift = number % SHIFTS;
                        one(&m, layout);
                        if (length > LONG) break;
                    }
                }
    for (int layout = 0; layout < LAYOUTS; layout++) forget(&places[layout]);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    atexit(fail_where);
    noise = malloc(SPAN), memory = malloc(SPAN), untouched = malloc(SPAN), attached = malloc(ATTACHED);
    for (int i = 0; i < SPAN; i++) noise[i] = (unsigned char)((unsigned)i * 2654435761u >> 23);
    memset(memory, CHECK_GUARD_BYTE, SPAN);
    memset(untouched, CHECK_GUARD_BYTE, SPAN);
    OK(MPI_Buffer_attach(attached, ATTACHED));
    for (int i = 0; i < SIZES; i++) all_of(sizes[i]);
    CHECK(memcmp(memory, untouched, SPAN) == 0, "memory far behind the buffers was changed");
    for (int i = 0; i < SPAN; i++) CHECK(noise[i] == (unsigned char)((unsigned)i * 2654435761u >> 23), "byte %d of the sender's memory was changed", i);
    OK(MPI_Buffer_detach(&attached, &(int){0}));
    return check_end();
}
