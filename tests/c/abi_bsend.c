// ranks: 1 2 4
// alone
/* Buffered mode: never waits for the receive, takes its room from the attached buffer, says when there is too little,
 * and gives the buffer back only when it is empty. Buffers of the process, of a communicator, and automatic ones.
 * MPI-5.0 section 3.6. */
#include "check.h"

/* Each is more than a bounce buffer holds: it stays in the program's buffer until it is received. */
enum { INTS = 1200000, MESSAGES = 4, BYTES = INTS * (int)sizeof(int) };

static int out[INTS], in[INTS];
static int right, left;

static void send(int form, MPI_Comm comm)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    switch (form) {
    case 0: OK(MPI_Bsend(out, INTS, MPI_INT, right, form, comm)); break;
    case 1: OK(MPI_Bsend_c(out, INTS, MPI_INT, right, form, comm)); break;
    case 2: OK(MPI_Ibsend(out, INTS, MPI_INT, right, form, comm, &request)); break;
    case 3: OK(MPI_Ibsend_c(out, INTS, MPI_INT, right, form, comm, &request)); break;
    case 4: OK(MPI_Bsend_init(out, INTS, MPI_INT, right, form, comm, &request)); break;
    case 5: OK(MPI_Bsend_init_c(out, INTS, MPI_INT, right, form, comm, &request)); break;
    }
    if (form >= 4) OK(MPI_Start(&request));
    if (form >= 2) OK(MPI_Wait(&request, &status));
    if (form >= 4) OK(MPI_Request_free(&request));
    /* The buffer of the program is its own again. */
    memset(out, -1, sizeof out);
}

static void exchange(int form, MPI_Comm comm)
{
    check_fill(out, sizeof out, (unsigned)(form + rank));
    send(form, comm);
    OK(MPI_Recv(in, INTS, MPI_INT, left, form, comm, MPI_STATUS_IGNORE));
    check_filled(in, sizeof in, (unsigned)(form + left));
}

/* Messages without data take no place, and nobody else's. */
static void among_empty_ones(void)
{
    enum { SOME = 400, LONG = 1000 };
    static unsigned char attached[SOME * (LONG + MPI_BSEND_OVERHEAD)], data[LONG];
    void *found;
    int found_length;
    OK(MPI_Buffer_attach(attached, sizeof attached));
    for (int i = 0; i < SOME; i++) {
        check_fill(data, LONG, (unsigned)(rank + i));
        OK(MPI_Bsend(data, LONG, MPI_BYTE, right, 7, MPI_COMM_WORLD));
        OK(MPI_Bsend(NULL, 0, MPI_BYTE, right, 7, MPI_COMM_WORLD));
    }
    for (int i = 0; i < SOME; i++) {
        OK(MPI_Recv(data, LONG, MPI_BYTE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_filled(data, LONG, (unsigned)(left + i));
        OK(MPI_Recv(NULL, 0, MPI_BYTE, left, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    OK(MPI_Buffer_detach(&found, &found_length));
}

int main(int argc, char **argv)
{
    int length = MESSAGES * (BYTES + MPI_BSEND_OVERHEAD), found_length = -1;
    unsigned char *buffer;
    void *found = NULL;
    MPI_Count found_c = -1;
    MPI_Comm comm;
    MPI_Request request;
    check_start(&argc, &argv);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    REFUSED(MPI_Bsend(out, 1, MPI_INT, right, 1, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    among_empty_ones();
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -1));
    OK(MPI_Buffer_detach(&found, &found_length));
    buffer = check_guarded((size_t)length);
    OK(MPI_Buffer_attach(buffer, length));
    REFUSED(MPI_Buffer_attach(buffer, length), MPI_ERR_BUFFER);
    for (int round = 0; round < 3; round++)
        for (int form = 0; form < 6; form++) exchange(form, MPI_COMM_WORLD);
    /* Full: one more does not fit, and all that were sent arrive. */
    OK(MPI_Buffer_flush());
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < MESSAGES; i++) {
        check_fill(out, sizeof out, (unsigned)(50 + i));
        OK(MPI_Bsend(out, INTS, MPI_INT, right, 50 + i, MPI_COMM_WORLD));
    }
    REFUSED(MPI_Bsend(out, INTS, MPI_INT, right, 99, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody has received yet */
    OK(MPI_Buffer_iflush(&request));
    for (int i = MESSAGES - 1; i >= 0; i--) {
        OK(MPI_Recv(in, INTS, MPI_INT, left, 50 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        check_filled(in, sizeof in, (unsigned)(50 + i));
    }
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach(&found, &found_length));
    CHECK(found == buffer && found_length == length);
    check_free_guarded(buffer, (size_t)length);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    buffer = check_guarded(BYTES + MPI_BSEND_OVERHEAD);
    OK(MPI_Comm_attach_buffer(comm, buffer, BYTES + MPI_BSEND_OVERHEAD));
    exchange(0, comm);
    OK(MPI_Comm_flush_buffer(comm));
    OK(MPI_Comm_iflush_buffer(comm, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_detach_buffer(comm, &found, &found_length));
    CHECK(found == buffer && found_length == BYTES + MPI_BSEND_OVERHEAD);
    OK(MPI_Comm_attach_buffer_c(comm, buffer, BYTES));
    OK(MPI_Comm_detach_buffer_c(comm, &found, &found_c));
    EQUAL(found_c, BYTES);
    check_free_guarded(buffer, BYTES + MPI_BSEND_OVERHEAD);
    OK(MPI_Comm_disconnect(&comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Comm_get_parent(&comm));
    CHECK(comm == MPI_COMM_NULL);
    OK(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 0));
    for (int form = 0; form < 6; form++) exchange(form, MPI_COMM_WORLD);
    OK(MPI_Buffer_detach_c(&found, &found_c));
    CHECK(found == MPI_BUFFER_AUTOMATIC && found_c == 0);
    return check_end();
}
