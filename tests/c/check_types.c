// ranks: 2
// only: posthaste
// env: POSTHASTE_CHECK_TYPES=1
/* Type checking: spellings of the same signature pass, other types fail with MPI_ERR_TYPE and a sentence that names
 * both sides; by every protocol, posted and unexpected, blocking, nonblocking, matched probe, persistent, buffered,
 * to ourselves. The data arrives all the same. MPI-5.0 section 3.3.1. */
#include "check.h"

enum { MOST = 1 << 20 };

static char *from, *to;

/* The ways of receiving. */
enum way { RECV, IRECV, MRECV, IMRECV, RECV_INIT, SENDRECV, WAYS };
/* The ways of sending. */
enum mode { SEND, ISEND, SSEND, BSEND, SEND_INIT, MODES };

static MPI_Datatype made(MPI_Datatype type)
{
    OK(MPI_Type_commit(&type));
    return type;
}

static void send_by(enum mode mode, long count, MPI_Datatype type, int dest, int tag)
{
    MPI_Request request;
    switch (mode) {
    case SEND: OK(MPI_Send(from, (int)count, type, dest, tag, MPI_COMM_WORLD)); break;
    case SSEND: OK(MPI_Ssend(from, (int)count, type, dest, tag, MPI_COMM_WORLD)); break;
    case BSEND: OK(MPI_Bsend(from, (int)count, type, dest, tag, MPI_COMM_WORLD)); break;
    case ISEND:
        OK(MPI_Isend(from, (int)count, type, dest, tag, MPI_COMM_WORLD, &request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    default:
        OK(MPI_Send_init(from, (int)count, type, dest, tag, MPI_COMM_WORLD, &request));
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&request));
    }
}

static int recv_by(enum way way, long count, MPI_Datatype type, int source, int tag, MPI_Status *status)
{
    MPI_Request request;
    MPI_Message message;
    int code, nothing = 0, none = 0;
    switch (way) {
    case RECV: return MPI_Recv(to, (int)count, type, source, tag, MPI_COMM_WORLD, status);
    case IRECV:
        OK(MPI_Irecv(to, (int)count, type, source, tag, MPI_COMM_WORLD, &request));
        return MPI_Wait(&request, status);
    case MRECV:
        OK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, status));
        return MPI_Mrecv(to, (int)count, type, &message, status);
    case IMRECV:
        OK(MPI_Mprobe(source, tag, MPI_COMM_WORLD, &message, status));
        OK(MPI_Imrecv(to, (int)count, type, &message, &request));
        return MPI_Wait(&request, status);
    case SENDRECV:
        return MPI_Sendrecv(&nothing, 1, MPI_INT, MPI_PROC_NULL, 0, to, (int)count, type, source, tag,
                            MPI_COMM_WORLD, status);
    default:
        OK(MPI_Recv_init(to, (int)count, type, source, tag, MPI_COMM_WORLD, &request));
        OK(MPI_Start(&request));
        code = MPI_Wait(&request, status);
        /* An error leaves the request to be freed. */
        if (request != MPI_REQUEST_NULL) OK(MPI_Request_free(&request));
        (void)none;
        return code;
    }
}

/* One message from 0 to 1. With early, the receive is posted before the send begins. */
static void one(long sends, MPI_Datatype sent, long receives, MPI_Datatype received, enum mode mode, enum way way,
                int early, const char *complaint)
{
    int code, class, bytes, length, size;
    char text[MPI_MAX_ERROR_STRING + 1];
    MPI_Status status;
    OK(MPI_Type_size(sent, &size));
    length = (int)(sends * size);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        int go;
        if (early) OK(MPI_Recv(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        send_by(mode, sends, sent, 1, 7);
        return;
    }
    memset(to, 0, (size_t)length + 64);
    memset(&status, 0, sizeof status);
    if (early) {
        MPI_Request request;
        int go = 1;
        OK(MPI_Irecv(to, (int)receives, received, 0, 7, MPI_COMM_WORLD, &request));
        OK(MPI_Send(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD));
        code = MPI_Wait(&request, &status);
    } else {
        code = recv_by(way, receives, received, 0, 7, &status);
    }
    if (code != MPI_SUCCESS) snprintf(text, sizeof text, "%s", check_text(code));
    else strcpy(text, "");
    if (!complaint) {
        CHECK(code == MPI_SUCCESS, "%ld sent, mode %d, way %d, early %d: %s", sends, mode, way, early, text);
    } else {
        OK(MPI_Error_class(code, &class));
        CHECK(class == MPI_ERR_TYPE, "%ld sent, mode %d, way %d, early %d: class %d %s", sends, mode, way, early, class,
              text);
        CHECK(strstr(text, complaint) && strstr(text, "with tag 7"), "\"%s\" is not in \"%s\"", complaint, text);
    }
    OK(MPI_Get_count(&status, MPI_BYTE, &bytes));
    EQUAL(bytes, length);
    EQUAL(status.MPI_SOURCE, 0);
    EQUAL(status.MPI_TAG, 7);
}

/* The same by every mode and way. */
static void every(long sends, MPI_Datatype sent, long receives, MPI_Datatype received, const char *complaint)
{
    for (int mode = 0; mode < MODES; mode++) one(sends, sent, receives, received, (enum mode)mode, RECV, 0, complaint);
    for (int mode = 0; mode < MODES; mode++) one(sends, sent, receives, received, (enum mode)mode, RECV, 1, complaint);
    for (int way = 1; way < WAYS; way++) one(sends, sent, receives, received, SEND, (enum way)way, 0, complaint);
}

static void spellings(long n)
{
    MPI_Datatype row, column, pairs, nested, both, longer;
    MPI_Aint at[3] = {0, 8, 16};
    int lengths[3] = {1, 1, 1};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_INT};
    OK(MPI_Type_contiguous((int)n, MPI_INT, &row));
    row = made(row);
    OK(MPI_Type_vector((int)n, 1, 3, MPI_INT, &column));
    column = made(column);
    OK(MPI_Type_create_struct(3, lengths, at, types, &both));
    both = made(both);
    /* The same: one after the other in a struct of structs. */
    at[1] = 24;
    at[2] = 48;
    types[0] = types[1] = types[2] = both;
    OK(MPI_Type_create_struct(3, lengths, at, types, &nested));
    nested = made(nested);
    OK(MPI_Type_dup(MPI_2INT, &pairs));
    OK(MPI_Type_create_resized(both, 0, 32, &longer));
    longer = made(longer);

    every(n, MPI_INT, n, MPI_INT, NULL);
    every(n, MPI_INT, 1, row, NULL);
    every(1, column, n, MPI_INT, NULL);
    every(n / 2, MPI_2INT, n, MPI_INT, NULL);
    every(n, MPI_INT, n / 2 + 1, pairs, NULL);
    every(n, MPI_INT, n + 100, MPI_INT, NULL);
    every(3 * (n / 12), both, n / 12, nested, NULL);
    every(n / 12, nested, 3 * (n / 12) + 1, longer, NULL);
    every(4 * n, MPI_PACKED, n, MPI_INT, NULL);
    every(n, MPI_INT, 4 * n, MPI_PACKED, NULL);

    char sentence[200];
    snprintf(sentence, sizeof sentence, "rank 0 sent %ld MPI_INT with tag 7, the receive takes them for %ld MPI_FLOAT", n, n);
    every(n, MPI_INT, n, MPI_FLOAT, sentence);
    snprintf(sentence, sizeof sentence, "rank 0 sent %ld MPI_INT with tag 7, the receive takes them for %ld MPI_BYTE", n, 4 * n);
    every(n, MPI_INT, 4 * n, MPI_BYTE, sentence);
    snprintf(sentence, sizeof sentence, "several types that begin with MPI_INT with tag 7, the receive takes them for %ld MPI_DOUBLE", 2 * n);
    every(n, both, 2 * n, MPI_DOUBLE, sentence);
    snprintf(sentence, sizeof sentence, "sent %ld MPI_DOUBLE with tag 7, the receive takes them for 1 MPI_INT, 1 MPI_DOUBLE, 2 MPI_INT, ...", 2 * n);
    every(2 * n, MPI_DOUBLE, n + 1, both, sentence);
    OK(MPI_Type_free(&row));
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&both));
    OK(MPI_Type_free(&nested));
    OK(MPI_Type_free(&pairs));
    OK(MPI_Type_free(&longer));
}

/* To ourselves, and in place. */
static void alone(void)
{
    int n[2] = {1, 2}, got[2] = {0, 0}, code, class;
    double x = 0;
    MPI_Status status;
    for (int count = 1; count <= 2; count++) {
        OK(MPI_Sendrecv(n, count, MPI_INT, 0, 1, got, 2, MPI_INT, 0, 1, MPI_COMM_SELF, &status));
        EQUAL(got[count - 1], count);
    }
    code = MPI_Sendrecv(n, 2, MPI_INT, 0, 1, &x, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &status);
    OK(MPI_Error_class(code, &class));
    EQUAL(class, MPI_ERR_TYPE);
    CHECK(memcmp(&x, n, 8) == 0);
    memset(from, 1, MOST);
    code = MPI_Sendrecv(from, MOST / 4, MPI_INT, 0, 1, to, MOST / 8, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &status);
    OK(MPI_Error_class(code, &class));
    EQUAL(class, MPI_ERR_TYPE);
    CHECK(memcmp(from, to, MOST) == 0);
    OK(MPI_Sendrecv_replace(n, 2, MPI_INT, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, &status));
}

int main(int argc, char **argv)
{
    long n;
    int sum = 0;
    char *buffer = malloc(8 * MOST);
    check_start(&argc, &argv);
    from = calloc(4, MOST);
    to = calloc(4, MOST);
    CHECK(from && to && buffer);
    OK(MPI_Buffer_attach(buffer, 8 * MOST));
    for (n = 12; n <= MOST / 8; n *= 18) spellings(n);
    alone();
    /* A message that is cut is cut, whatever its types. */
    if (rank == 0) {
        OK(MPI_Send(from, 10, MPI_INT, 1, 7, MPI_COMM_WORLD));
    } else {
        REFUSED(MPI_Recv(to, 3, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    }
    /* Collective operations move what they like. */
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(sum, size * (size - 1) / 2);
    OK(MPI_Buffer_detach(&buffer, &size));
    return check_end();
}
