// ranks: 1 2
// only: posthaste
// alone
/* Every argument of every point-to-point function wrong in turn. MPI-5.0 chapter 3 and section 9.4. */
#include "bad_check.h"

enum { ROOM = 64 };
static unsigned char *buf;
static MPI_Datatype uncommitted;
static MPI_Request r;
static MPI_Status st;
#define W MPI_COMM_WORLD

/* A send of any mode; the further arguments come after the communicator. */
#define SEND(F, ...)                                                                          \
    do {                                                                                      \
        BAD(MPI_ERR_COUNT, "count is -1,", F, buf, -1, MPI_INT, rank, 1, W, ##__VA_ARGS__);    \
        BAD(MPI_ERR_BUFFER, "buf is NULL", F, NULL, 1, MPI_INT, rank, 1, W, ##__VA_ARGS__);    \
        BAD(MPI_ERR_BUFFER, "buf is MPI_IN_PLACE", F, MPI_IN_PLACE, 1, MPI_INT, rank, 1, W, ##__VA_ARGS__); \
        BAD(MPI_ERR_TYPE, "commit", F, buf, 1, uncommitted, rank, 1, W, ##__VA_ARGS__);        \
        EACH(BAD_TYPE, MPI_Datatype, type)                                                    \
            BAD(MPI_ERR_TYPE, "datatype", F, buf, 1, type, rank, 1, W, ##__VA_ARGS__);         \
        BAD(MPI_ERR_RANK, "dest is -99,", F, buf, 1, MPI_INT, -99, 1, W, ##__VA_ARGS__);       \
        BAD(MPI_ERR_RANK, "dest is ", F, buf, 1, MPI_INT, size, 1, W, ##__VA_ARGS__);          \
        BAD(MPI_ERR_RANK, "dest is ", F, buf, 1, MPI_INT, INT32_MAX, 1, W, ##__VA_ARGS__);     \
        BAD(MPI_ERR_RANK, "dest is ", F, buf, 1, MPI_INT, MPI_ANY_SOURCE, 1, W, ##__VA_ARGS__); \
        BAD(MPI_ERR_RANK, "dest is ", F, buf, 1, MPI_INT, MPI_ROOT, 1, W, ##__VA_ARGS__);      \
        BAD(MPI_ERR_TAG, "tag is -5,", F, buf, 1, MPI_INT, rank, -5, W, ##__VA_ARGS__);        \
        BAD(MPI_ERR_TAG, "tag is ", F, buf, 1, MPI_INT, rank, MPI_ANY_TAG, W, ##__VA_ARGS__);  \
        EACH(BAD_COMM, MPI_Comm, comm)                                                        \
            BAD(MPI_ERR_COMM, "comm is ", F, buf, 1, MPI_INT, rank, 1, comm, ##__VA_ARGS__);   \
    } while (0)

#define RECV(F, ...)                                                                          \
    do {                                                                                      \
        BAD(MPI_ERR_COUNT, "count is -1,", F, buf, -1, MPI_INT, rank, 1, W, ##__VA_ARGS__);    \
        BAD(MPI_ERR_BUFFER, "buf is NULL", F, NULL, 1, MPI_INT, rank, 1, W, ##__VA_ARGS__);    \
        BAD(MPI_ERR_BUFFER, "buf is MPI_IN_PLACE", F, MPI_IN_PLACE, 1, MPI_INT, rank, 1, W, ##__VA_ARGS__); \
        BAD(MPI_ERR_TYPE, "commit", F, buf, 1, uncommitted, rank, 1, W, ##__VA_ARGS__);        \
        EACH(BAD_TYPE, MPI_Datatype, type)                                                    \
            BAD(MPI_ERR_TYPE, "datatype", F, buf, 1, type, rank, 1, W, ##__VA_ARGS__);         \
        BAD(MPI_ERR_RANK, "source is -99,", F, buf, 1, MPI_INT, -99, 1, W, ##__VA_ARGS__);     \
        BAD(MPI_ERR_RANK, "source is ", F, buf, 1, MPI_INT, size, 1, W, ##__VA_ARGS__);        \
        BAD(MPI_ERR_TAG, "tag is -5,", F, buf, 1, MPI_INT, rank, -5, W, ##__VA_ARGS__);        \
        EACH(BAD_COMM, MPI_Comm, comm)                                                        \
            BAD(MPI_ERR_COMM, "comm is ", F, buf, 1, MPI_INT, rank, 1, comm, ##__VA_ARGS__);   \
    } while (0)

/* The request has no place to go: nothing may be sent and no receive stay behind. */
#define NO_REQUEST(F, who) BAD(MPI_ERR_ARG, "request is NULL", F, buf, 1, MPI_INT, who, 1, W, NULL)

#define HUGE_COUNT(F, ...)                                                                    \
    BAD(MPI_ERR_COUNT, "count is ", F, buf, INT64_MAX, MPI_DOUBLE, rank, 1, W, ##__VA_ARGS__)

static void sends(void)
{
    SEND(MPI_Send); SEND(MPI_Send_c);
    SEND(MPI_Ssend); SEND(MPI_Ssend_c);
    SEND(MPI_Rsend); SEND(MPI_Rsend_c);
    SEND(MPI_Bsend); SEND(MPI_Bsend_c);
    HUGE_COUNT(MPI_Send_c); HUGE_COUNT(MPI_Ssend_c); HUGE_COUNT(MPI_Rsend_c); HUGE_COUNT(MPI_Bsend_c);
    SEND(MPI_Isend, &r); SEND(MPI_Isend_c, &r); NO_REQUEST(MPI_Isend, rank); NO_REQUEST(MPI_Isend_c, rank);
    SEND(MPI_Issend, &r); SEND(MPI_Issend_c, &r); NO_REQUEST(MPI_Issend, rank); NO_REQUEST(MPI_Issend_c, rank);
    SEND(MPI_Irsend, &r); SEND(MPI_Irsend_c, &r); NO_REQUEST(MPI_Irsend, rank); NO_REQUEST(MPI_Irsend_c, rank);
    SEND(MPI_Ibsend, &r); SEND(MPI_Ibsend_c, &r); NO_REQUEST(MPI_Ibsend, rank); NO_REQUEST(MPI_Ibsend_c, rank);
    SEND(MPI_Send_init, &r); SEND(MPI_Send_init_c, &r); NO_REQUEST(MPI_Send_init, rank); NO_REQUEST(MPI_Send_init_c, rank);
    SEND(MPI_Ssend_init, &r); SEND(MPI_Ssend_init_c, &r); NO_REQUEST(MPI_Ssend_init, rank);
    SEND(MPI_Rsend_init, &r); SEND(MPI_Rsend_init_c, &r); NO_REQUEST(MPI_Rsend_init, rank);
    SEND(MPI_Bsend_init, &r); SEND(MPI_Bsend_init_c, &r); NO_REQUEST(MPI_Bsend_init, rank);
    HUGE_COUNT(MPI_Isend_c, &r); HUGE_COUNT(MPI_Ibsend_c, &r); HUGE_COUNT(MPI_Send_init_c, &r);
}

static void receives(void)
{
    RECV(MPI_Recv, &st); RECV(MPI_Recv_c, &st); RECV(MPI_Recv, MPI_STATUS_IGNORE);
    RECV(MPI_Irecv, &r); RECV(MPI_Irecv_c, &r);
    NO_REQUEST(MPI_Irecv, MPI_ANY_SOURCE), NO_REQUEST(MPI_Irecv_c, MPI_ANY_SOURCE);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Irecv, buf, ROOM, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, W, NULL);
    RECV(MPI_Recv_init, &r); RECV(MPI_Recv_init_c, &r); NO_REQUEST(MPI_Recv_init, rank);
    HUGE_COUNT(MPI_Recv_c, &st); HUGE_COUNT(MPI_Irecv_c, &r); HUGE_COUNT(MPI_Recv_init_c, &r);
}

#define BOTH(F, ...)                                                                                             \
    do {                                                                                                         \
        BAD(MPI_ERR_COUNT, "is -1,", F, buf, -1, MPI_INT, rank, 1, buf, 1, MPI_INT, rank, 1, W, __VA_ARGS__);     \
        BAD(MPI_ERR_COUNT, "is -2,", F, buf, 1, MPI_INT, rank, 1, buf, -2, MPI_INT, rank, 1, W, __VA_ARGS__);     \
        BAD(MPI_ERR_BUFFER, "NULL", F, NULL, 1, MPI_INT, rank, 1, buf, 1, MPI_INT, rank, 1, W, __VA_ARGS__);      \
        BAD(MPI_ERR_BUFFER, "NULL", F, buf, 1, MPI_INT, rank, 1, NULL, 1, MPI_INT, rank, 1, W, __VA_ARGS__);      \
        BAD(MPI_ERR_TYPE, "commit", F, buf, 1, uncommitted, rank, 1, buf, 1, MPI_INT, rank, 1, W, __VA_ARGS__);   \
        BAD(MPI_ERR_TYPE, "commit", F, buf, 1, MPI_INT, rank, 1, buf, 1, uncommitted, rank, 1, W, __VA_ARGS__);   \
        BAD(MPI_ERR_RANK, "is -99,", F, buf, 1, MPI_INT, -99, 1, buf, 1, MPI_INT, rank, 1, W, __VA_ARGS__);       \
        BAD(MPI_ERR_RANK, "is -99,", F, buf, 1, MPI_INT, rank, 1, buf, 1, MPI_INT, -99, 1, W, __VA_ARGS__);       \
        BAD(MPI_ERR_TAG, "is -5,", F, buf, 1, MPI_INT, rank, -5, buf, 1, MPI_INT, rank, 1, W, __VA_ARGS__);       \
        BAD(MPI_ERR_TAG, "is -5,", F, buf, 1, MPI_INT, rank, 1, buf, 1, MPI_INT, rank, -5, W, __VA_ARGS__);       \
        EACH(BAD_TYPE, MPI_Datatype, t) {                                                                        \
            BAD(MPI_ERR_TYPE, "datatype", F, buf, 1, t, rank, 1, buf, 1, MPI_INT, rank, 1, W, __VA_ARGS__);       \
            BAD(MPI_ERR_TYPE, "datatype", F, buf, 1, MPI_INT, rank, 1, buf, 1, t, rank, 1, W, __VA_ARGS__);       \
        }                                                                                                        \
        EACH(BAD_COMM, MPI_Comm, c)                                                                              \
            BAD(MPI_ERR_COMM, "comm is ", F, buf, 1, MPI_INT, rank, 1, buf, 1, MPI_INT, rank, 1, c, __VA_ARGS__); \
    } while (0)

#define REPLACE(F, ...)                                                                            \
    do {                                                                                           \
        BAD(MPI_ERR_COUNT, "count is -1,", F, buf, -1, MPI_INT, rank, 1, rank, 1, W, __VA_ARGS__);   \
        BAD(MPI_ERR_BUFFER, "buf is NULL", F, NULL, 1, MPI_INT, rank, 1, rank, 1, W, __VA_ARGS__);   \
        BAD(MPI_ERR_TYPE, "commit", F, buf, 1, uncommitted, rank, 1, rank, 1, W, __VA_ARGS__);       \
        BAD(MPI_ERR_RANK, "is -99,", F, buf, 1, MPI_INT, -99, 1, rank, 1, W, __VA_ARGS__);           \
        BAD(MPI_ERR_RANK, "is -99,", F, buf, 1, MPI_INT, rank, 1, -99, 1, W, __VA_ARGS__);           \
        BAD(MPI_ERR_TAG, "is -5,", F, buf, 1, MPI_INT, rank, -5, rank, 1, W, __VA_ARGS__);           \
        BAD(MPI_ERR_TAG, "is -5,", F, buf, 1, MPI_INT, rank, 1, rank, -5, W, __VA_ARGS__);           \
        EACH(BAD_TYPE, MPI_Datatype, t)                                                            \
            BAD(MPI_ERR_TYPE, "datatype", F, buf, 1, t, rank, 1, rank, 1, W, __VA_ARGS__);           \
        EACH(BAD_COMM, MPI_Comm, c)                                                                \
            BAD(MPI_ERR_COMM, "comm is ", F, buf, 1, MPI_INT, rank, 1, rank, 1, c, __VA_ARGS__);     \
    } while (0)

static void both(void)
{
    BOTH(MPI_Sendrecv, &st);
    BOTH(MPI_Sendrecv_c, &st);
    BOTH(MPI_Isendrecv, &r);
    BOTH(MPI_Isendrecv_c, &r);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Isendrecv, buf, 1, MPI_INT, rank, 1, buf, 1, MPI_INT, rank, 1, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Isendrecv_c, buf, 1, MPI_INT, rank, 1, buf, 1, MPI_INT, rank, 1, W, NULL);
    REPLACE(MPI_Sendrecv_replace, &st);
    REPLACE(MPI_Sendrecv_replace_c, &st);
    REPLACE(MPI_Isendrecv_replace, &r);
    REPLACE(MPI_Isendrecv_replace_c, &r);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Isendrecv_replace, buf, 1, MPI_INT, rank, 1, rank, 1, W, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Isendrecv_replace_c, buf, 1, MPI_INT, rank, 1, rank, 1, W, NULL);
    /* A copy that no memory can hold. */
    BAD(MPI_ERR_NO_MEM, "bytes", MPI_Sendrecv_replace_c, buf, INT64_MAX / 16, MPI_DOUBLE, rank, 1, rank, 1, W, &st);
}

#define PROBE(F, ...)                                                              \
    do {                                                                           \
        BAD(MPI_ERR_RANK, "source is -99,", F, -99, 1, W, __VA_ARGS__);            \
        BAD(MPI_ERR_RANK, "source is ", F, size, 1, W, __VA_ARGS__);               \
        BAD(MPI_ERR_TAG, "tag is -5,", F, rank, -5, W, __VA_ARGS__);               \
        EACH(BAD_COMM, MPI_Comm, c) BAD(MPI_ERR_COMM, "comm is ", F, rank, 1, c, __VA_ARGS__); \
    } while (0)

static void probes(void)
{
    MPI_Message m = MPI_MESSAGE_NULL;
    int flag, one = 42, got = 0;
    PROBE(MPI_Probe, &st);
    PROBE(MPI_Iprobe, &flag, &st);
    PROBE(MPI_Mprobe, &m, &st);
    PROBE(MPI_Improbe, &flag, &m, &st);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Iprobe, rank, 1, W, NULL, &st);
    OK(MPI_Send(&one, 1, MPI_INT, 0, 7, MPI_COMM_SELF));
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Improbe, 0, 7, MPI_COMM_SELF, NULL, &m, &st);
    BAD(MPI_ERR_ARG, "message is NULL", MPI_Improbe, 0, 7, MPI_COMM_SELF, &flag, NULL, &st);
    BAD(MPI_ERR_ARG, "message is NULL", MPI_Mprobe, 0, 7, MPI_COMM_SELF, NULL, &st);
    OK(MPI_Mprobe(0, 7, MPI_COMM_SELF, &m, &st));
    MPI_Message kept = m;
#define MATCHED(F, last)                                                           \
    BAD(MPI_ERR_COUNT, "count is -1,", F, &got, -1, MPI_INT, &m, last);            \
    BAD(MPI_ERR_BUFFER, "buf is NULL", F, NULL, 1, MPI_INT, &m, last);             \
    BAD(MPI_ERR_TYPE, "commit", F, &got, 1, uncommitted, &m, last);                \
    EACH(BAD_TYPE, MPI_Datatype, t) BAD(MPI_ERR_TYPE, "datatype", F, &got, 1, t, &m, last); \
    EACH(BAD_MESSAGE, MPI_Message, w) BAD(MPI_ERR_REQUEST, "message is ", F, &got, 1, MPI_INT, &w, last); \
    BAD(MPI_ERR_ARG, "message is NULL", F, &got, 1, MPI_INT, NULL, last)
    MATCHED(MPI_Mrecv, &st);
    MATCHED(MPI_Mrecv_c, &st);
    MATCHED(MPI_Imrecv, &r);
    MATCHED(MPI_Imrecv_c, &r);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Imrecv, &got, 1, MPI_INT, &m, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Imrecv_c, &got, 1, MPI_INT, &m, NULL);
    /* The message is still there, once. */
    OK(MPI_Mrecv(&got, 1, MPI_INT, &m, &st));
    EQUAL(got, 42);
    BAD(MPI_ERR_REQUEST, "message is ", MPI_Mrecv, &got, 1, MPI_INT, &kept, &st);
}

static void buffers(void)
{
    static char memory[200];
    void *back = NULL;
    int bytes;
    MPI_Count many;
    MPI_Comm c = MPI_COMM_SELF;
    BAD(MPI_ERR_BUFFER, "no buffer", MPI_Bsend, buf, 1, MPI_INT, rank, 1, W);
    BAD(MPI_ERR_BUFFER, "no buffer", MPI_Ibsend, buf, 1, MPI_INT, rank, 1, W, &r);
    BAD(MPI_ERR_ARG, "size is -1,", MPI_Buffer_attach, memory, -1);
    BAD(MPI_ERR_ARG, "size is -1,", MPI_Buffer_attach_c, memory, -1);
    BAD(MPI_ERR_ARG, "size is -1,", MPI_Comm_attach_buffer, c, memory, -1);
    BAD(MPI_ERR_ARG, "size is -1,", MPI_Comm_attach_buffer_c, c, memory, -1);
    BAD(MPI_ERR_BUFFER, "buffer is NULL", MPI_Buffer_attach, NULL, 10);
    BAD(MPI_ERR_BUFFER, "buffer is NULL", MPI_Buffer_attach_c, NULL, 10);
    BAD(MPI_ERR_BUFFER, "buffer is NULL", MPI_Comm_attach_buffer, c, NULL, 10);
    EACH(BAD_COMM, MPI_Comm, bad) {
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_attach_buffer, bad, memory, 10);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_attach_buffer_c, bad, memory, 10);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_detach_buffer, bad, &back, &bytes);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_detach_buffer_c, bad, &back, &many);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_flush_buffer, bad);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_iflush_buffer, bad, &r);
    }
    OK(MPI_Buffer_attach(memory, 100));
    OK(MPI_Comm_attach_buffer(c, memory + 100, 100));
    BAD(MPI_ERR_BUFFER, "second", MPI_Buffer_attach, memory, 10);
    BAD(MPI_ERR_BUFFER, "second", MPI_Buffer_attach_c, memory, 10);
    BAD(MPI_ERR_BUFFER, "second", MPI_Comm_attach_buffer, c, memory, 10);
    BAD(MPI_ERR_BUFFER, "100 bytes", MPI_Bsend, memory, 101, MPI_CHAR, rank, 1, W);
    BAD(MPI_ERR_BUFFER, "100 bytes", MPI_Ibsend, memory, 101, MPI_CHAR, rank, 1, W, &r);
    BAD(MPI_ERR_ARG, "buffer_addr is NULL", MPI_Buffer_detach, NULL, &bytes);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Buffer_detach, &back, NULL);
    BAD(MPI_ERR_ARG, "buffer_addr is NULL", MPI_Buffer_detach_c, NULL, &many);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Buffer_detach_c, &back, NULL);
    BAD(MPI_ERR_ARG, "buffer_addr is NULL", MPI_Comm_detach_buffer, c, NULL, &bytes);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Comm_detach_buffer, c, &back, NULL);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Comm_detach_buffer_c, c, &back, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Buffer_iflush, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Comm_iflush_buffer, c, NULL);
    /* What could not be reported is still attached. */
    OK(MPI_Buffer_detach(&back, &bytes));
    CHECK(back == memory && bytes == 100);
    OK(MPI_Comm_detach_buffer(c, &back, &bytes));
    CHECK(back == memory + 100 && bytes == 100);
    BAD(MPI_ERR_BUFFER, "no buffer", MPI_Buffer_detach, &back, &bytes);
    BAD(MPI_ERR_BUFFER, "no buffer", MPI_Comm_detach_buffer, c, &back, &bytes);
    BAD(MPI_ERR_BUFFER, "no buffer", MPI_Buffer_flush);
    BAD(MPI_ERR_BUFFER, "no buffer", MPI_Comm_flush_buffer, c);
}

/* Address 0 is right for a type with absolute addresses, and for no other. */
static void null_with_derived_types(void)
{
    MPI_Datatype pair, absolute;
    MPI_Aint address;
    int one = 1, number = 77, got = 0;
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    BAD(MPI_ERR_BUFFER, "buf is NULL", MPI_Send, NULL, 1, pair, rank, 1, W);
    BAD(MPI_ERR_BUFFER, "buf is NULL", MPI_Recv, NULL, 1, pair, rank, 1, W, &st);
    OK(MPI_Get_address(&number, &address));
    OK(MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute));
    OK(MPI_Type_commit(&absolute));
    OK(MPI_Sendrecv(MPI_BOTTOM, 1, absolute, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &st));
    EQUAL(got, 77);
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_free(&absolute));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    buf = check_guarded(ROOM);
    check_fill(buf, ROOM, 5);
    OK(MPI_Type_contiguous(2, MPI_INT, &uncommitted));
    sends();
    bad_still_works();
    receives();
    bad_still_works();
    both();
    bad_still_works();
    probes();
    buffers();
    null_with_derived_types();
    OK(MPI_Type_free(&uncommitted));
    check_filled(buf, ROOM, 5);
    check_free_guarded(buf, ROOM);
    return bad_end();
}
