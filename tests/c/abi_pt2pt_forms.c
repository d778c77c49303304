// ranks: 1 2 4
// alone
/* The forms of point-to-point communication: large counts, ready and synchronous mode, matched probes, persistent
 * requests, send-receive under one request, cancelling. Everybody talks to the neighbour. MPI-5.0 chapter 3. */
#include "check.h"

static int right, left;
static MPI_Comm w;

/* One message round the ring, by whatever starts it. */
static void around(int form)
{
    int out = 1000 * rank + form, in = -1;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Count elements = -1;
    if (form % 2) OK(MPI_Irecv_c(&in, 1, MPI_INT, left, form, w, &requests[0]));
    else OK(MPI_Irecv(&in, 1, MPI_INT, left, form, w, &requests[0]));
    if (form >= 12) OK(MPI_Barrier(w)); /* ready mode: the receive is there */
    switch (form) {
    case 0: OK(MPI_Send(&out, 1, MPI_INT, right, form, w)); break;
    case 1: OK(MPI_Send_c(&out, 1, MPI_INT, right, form, w)); break;
    case 2: OK(MPI_Isend(&out, 1, MPI_INT, right, form, w, &requests[1])); break;
    case 3: OK(MPI_Isend_c(&out, 1, MPI_INT, right, form, w, &requests[1])); break;
    case 4: OK(MPI_Issend(&out, 1, MPI_INT, right, form, w, &requests[1])); break;
    case 5: OK(MPI_Issend_c(&out, 1, MPI_INT, right, form, w, &requests[1])); break;
    case 6: OK(MPI_Ssend(&out, 1, MPI_INT, right, form, w)); break;
    case 7: OK(MPI_Ssend_c(&out, 1, MPI_INT, right, form, w)); break;
    case 12: OK(MPI_Rsend(&out, 1, MPI_INT, right, form, w)); break;
    case 13: OK(MPI_Rsend_c(&out, 1, MPI_INT, right, form, w)); break;
    case 14: OK(MPI_Irsend(&out, 1, MPI_INT, right, form, w, &requests[1])); break;
    case 15: OK(MPI_Irsend_c(&out, 1, MPI_INT, right, form, w, &requests[1])); break;
    default: FAIL("no such form: %d", form);
    }
    if ((form >= 2 && form <= 5) || form >= 14) OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[0], &status));
    EQUAL(in, 1000 * left + form);
    EQUAL(status.MPI_SOURCE, left);
    EQUAL(status.MPI_TAG, form);
    OK(MPI_Get_count_c(&status, MPI_INT, &elements));
    EQUAL(elements, 1);
}

static void at_once(int form)
{
    int out = 500 + rank, in = -1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    switch (form) {
    case 0: OK(MPI_Sendrecv_c(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, w, &status)); break;
    case 1: in = out; OK(MPI_Sendrecv_replace_c(&in, 1, MPI_INT, right, 1, left, 1, w, &status)); break;
    case 2: OK(MPI_Isendrecv(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, w, &request)); break;
    case 3: OK(MPI_Isendrecv_c(&out, 1, MPI_INT, right, 1, &in, 1, MPI_INT, left, 1, w, &request)); break;
    case 4: in = out; OK(MPI_Isendrecv_replace(&in, 1, MPI_INT, right, 1, left, 1, w, &request)); break;
    case 5: in = out; OK(MPI_Isendrecv_replace_c(&in, 1, MPI_INT, right, 1, left, 1, w, &request)); break;
    }
    if (form >= 2) {
        CHECK(request != MPI_REQUEST_NULL);
        OK(MPI_Waitall(1, &request, &status));
        CHECK(request == MPI_REQUEST_NULL);
    }
    EQUAL(in, 500 + left);
    EQUAL(status.MPI_SOURCE, left);
}

static void matched_probes(void)
{
    for (int form = 0; form < 4; form++) {
        int out = rank, in = -1, flag = 0;
        MPI_Message message = MPI_MESSAGE_NULL;
        MPI_Request request, sent;
        MPI_Status status;
        OK(MPI_Isend(&out, 1, MPI_INT, right, 30 + form, w, &sent));
        if (form % 2) {
            OK(MPI_Mprobe(left, 30 + form, w, &message, &status));
        } else {
            while (!flag) OK(MPI_Improbe(MPI_ANY_SOURCE, 30 + form, w, &flag, &message, &status));
        }
        EQUAL(status.MPI_SOURCE, left);
        CHECK(message != MPI_MESSAGE_NULL && message != MPI_MESSAGE_NO_PROC);
        CHECK(MPI_Message_fromint(MPI_Message_toint(message)) == message);
        /* Nobody else can get it now. */
        OK(MPI_Iprobe(left, 30 + form, w, &flag, MPI_STATUS_IGNORE));
        EQUAL(flag, 0);
        switch (form) {
        case 0: OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status)); break;
        case 1: OK(MPI_Mrecv_c(&in, 1, MPI_INT, &message, &status)); break;
        case 2: OK(MPI_Imrecv(&in, 1, MPI_INT, &message, &request)); break;
        case 3: OK(MPI_Imrecv_c(&in, 1, MPI_INT, &message, &request)); break;
        }
        CHECK(message == MPI_MESSAGE_NULL);
        if (form >= 2) OK(MPI_Wait(&request, &status));
        EQUAL(in, left);
        EQUAL(status.MPI_TAG, 30 + form);
        OK(MPI_Wait(&sent, MPI_STATUS_IGNORE));
    }
    MPI_Message nobody;
    int untouched = 7;
    MPI_Status status;
    OK(MPI_Mprobe(MPI_PROC_NULL, 1, w, &nobody, &status));
    CHECK(nobody == MPI_MESSAGE_NO_PROC);
    OK(MPI_Mrecv(&untouched, 1, MPI_INT, &nobody, &status));
    EQUAL(status.MPI_SOURCE, MPI_PROC_NULL);
    EQUAL(untouched, 7);
    nobody = MPI_MESSAGE_NULL;
    REFUSED(MPI_Mrecv(&untouched, 1, MPI_INT, &nobody, &status), MPI_ERR_REQUEST);
}

static void persistent(int form)
{
    int out, in;
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL}, kept;
    MPI_Status statuses[3];
    int index = -1, flag = 0, count = -1, indices[3];
    if (form % 2) OK(MPI_Recv_init_c(&in, 1, MPI_INT, left, 4, w, &requests[0]));
    else OK(MPI_Recv_init(&in, 1, MPI_INT, left, 4, w, &requests[0]));
    switch (form) {
    case 0: OK(MPI_Send_init(&out, 1, MPI_INT, right, 4, w, &requests[1])); break;
    case 1: OK(MPI_Send_init_c(&out, 1, MPI_INT, right, 4, w, &requests[1])); break;
    case 2: OK(MPI_Ssend_init(&out, 1, MPI_INT, right, 4, w, &requests[1])); break;
    case 3: OK(MPI_Ssend_init_c(&out, 1, MPI_INT, right, 4, w, &requests[1])); break;
    case 4: OK(MPI_Rsend_init(&out, 1, MPI_INT, right, 4, w, &requests[1])); break;
    case 5: OK(MPI_Rsend_init_c(&out, 1, MPI_INT, right, 4, w, &requests[1])); break;
    }
    kept = requests[0];
    /* Inactive ones count as null ones. */
    OK(MPI_Waitany(3, requests, &index, &statuses[0]));
    EQUAL(index, MPI_UNDEFINED);
    OK(MPI_Testsome(3, requests, &count, indices, statuses));
    EQUAL(count, MPI_UNDEFINED);
    OK(MPI_Wait(&requests[0], &statuses[0]));
    for (int i = 0; i < 3; i++) {
        out = 10 * rank + i;
        in = -1;
        OK(MPI_Start(&requests[0]));
        REFUSED(MPI_Start(&requests[0]), MPI_ERR_REQUEST);
        if (form >= 4) OK(MPI_Barrier(w));
        OK(MPI_Startall(1, &requests[1]));
        if (i == 0) {
            OK(MPI_Waitall(3, requests, statuses));
            EQUAL(statuses[0].MPI_SOURCE, left);
        } else if (i == 1) {
            for (int left_over = 2; left_over > 0; left_over -= count) OK(MPI_Waitsome(3, requests, &count, indices, statuses));
        } else {
            while (!flag) OK(MPI_Testall(3, requests, &flag, statuses));
        }
        EQUAL(in, 10 * left + i);
        CHECK(requests[0] == kept);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void cancelled(void)
{
    int in = -1, flag = 0;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 77, w, &request));
    OK(MPI_Cancel(&request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_Test_cancelled(&status, &flag));
    EQUAL(flag, 1);
    OK(MPI_Status_set_cancelled(&status, 0));
    OK(MPI_Test_cancelled(&status, &flag));
    EQUAL(flag, 0);
}

static void looks(void)
{
    int in[3], out = 5, flag = 0, index = -1, count = -1, indices[3];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    for (int i = 0; i < 3; i++) OK(MPI_Irecv(&in[i], 1, MPI_INT, rank, 20 + i, w, &requests[i]));
    OK(MPI_Request_get_status_any(3, requests, &index, &flag, statuses));
    EQUAL(flag, 0);
    OK(MPI_Send(&out, 1, MPI_INT, rank, 21, w));
    while (!flag) OK(MPI_Request_get_status_any(3, requests, &index, &flag, statuses));
    EQUAL(index, 1);
    EQUAL(statuses[0].MPI_TAG, 21);
    OK(MPI_Request_get_status_some(3, requests, &count, indices, statuses));
    EQUAL(count, 1);
    EQUAL(indices[0], 1);
    OK(MPI_Request_get_status_all(3, requests, &flag, statuses));
    EQUAL(flag, 0);
    OK(MPI_Send(&out, 1, MPI_INT, rank, 20, w));
    OK(MPI_Send(&out, 1, MPI_INT, rank, 22, w));
    while (!flag) OK(MPI_Request_get_status_all(3, requests, &flag, statuses));
    EQUAL(statuses[2].MPI_TAG, 22);
    CHECK(MPI_Request_fromint(MPI_Request_toint(requests[0])) == requests[0]);
    OK(MPI_Waitall(3, requests, statuses));
}

int main(int argc, char **argv)
{
    int in = -1, out = 3;
    check_start(&argc, &argv);
    w = MPI_COMM_WORLD;
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int form = 0; form < 16; form++) {
        /* A rank alone would wait for itself in a blocking synchronous send to a receive that is posted: fine. */
        if (form < 8 || form >= 12) around(form);
    }
    for (int form = 0; form < 6; form++) at_once(form);
    matched_probes();
    for (int form = 0; form < 6; form++) persistent(form);
    cancelled();
    looks();
    OK(MPI_Send_c(&out, 1, MPI_INT, MPI_PROC_NULL, 1, w));
    OK(MPI_Recv_c(&in, 1, MPI_INT, MPI_PROC_NULL, 1, w, MPI_STATUS_IGNORE));
    EQUAL(in, -1);
    return check_end();
}
