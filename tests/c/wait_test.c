// ranks: 2
/* The completion calls: Wait and Test, each as one, any, some, all; empty lists, null requests, statuses that are
 * ignored, receives and sends mixed. MPI-5.0 sections 3.7.3, 3.7.5. */
#include "check.h"

enum { MANY = 24 };

static int values[MANY], got[MANY];
static MPI_Request requests[MANY];

static void start(void)
{
    for (int i = 0; i < MANY; i++) {
        values[i] = 1000 + i;
        got[i] = -1;
        if (rank == 0) OK(MPI_Isend(&values[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]));
        else OK(MPI_Irecv(&got[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]));
    }
}

static void finished(void)
{
    for (int i = 0; i < MANY; i++) {
        CHECK(requests[i] == MPI_REQUEST_NULL);
        if (rank == 1) EQUAL(got[i], 1000 + i);
    }
}

static void is_empty(const MPI_Status *status)
{
    int count = -1, cancelled = -1;
    EQUAL(status->MPI_SOURCE, MPI_ANY_SOURCE);
    EQUAL(status->MPI_TAG, MPI_ANY_TAG);
    OK(MPI_Get_count(status, MPI_INT, &count));
    EQUAL(count, 0);
    OK(MPI_Test_cancelled(status, &cancelled));
    EQUAL(cancelled, 0);
}

static void each_form(void)
{
    MPI_Status status, statuses[MANY];
    int indices[MANY], seen[MANY], index, flag, done, left;

    start();
    for (int i = MANY - 1; i >= 0; i--) {
        OK(MPI_Wait(&requests[i], &status));
        if (rank == 1) EQUAL(status.MPI_TAG, i);
    }
    finished();

    start();
    for (int i = 0; i < MANY; i++) {
        for (flag = 0; !flag;) OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
    }
    finished();

    start();
    OK(MPI_Waitall(MANY, requests, statuses));
    if (rank == 1) for (int i = 0; i < MANY; i++) EQUAL(statuses[i].MPI_TAG, i);
    finished();

    start();
    for (flag = 0; !flag;) OK(MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE));
    finished();

    memset(seen, 0, sizeof seen);
    start();
    for (int i = 0; i < MANY; i++) {
        OK(MPI_Waitany(MANY, requests, &index, &status));
        CHECK(index >= 0 && index < MANY && !seen[index], "index %d", index);
        seen[index] = 1;
        if (rank == 1) EQUAL(status.MPI_TAG, index);
    }
    finished();

    start();
    for (done = 0; done < MANY;) {
        OK(MPI_Testany(MANY, requests, &index, &flag, &status));
        if (flag) {
            CHECK(index >= 0 && index < MANY, "index %d", index);
            done++;
        } else {
            EQUAL(index, MPI_UNDEFINED);
        }
    }
    finished();

    start();
    for (left = MANY; left > 0; left -= done) {
        OK(MPI_Waitsome(MANY, requests, &done, indices, statuses));
        CHECK(done > 0 && done <= left, "done is %d", done);
        for (int i = 0; i < done; i++) if (rank == 1) EQUAL(statuses[i].MPI_TAG, indices[i]);
    }
    finished();

    start();
    for (left = MANY; left > 0; left -= done) {
        OK(MPI_Testsome(MANY, requests, &done, indices, MPI_STATUSES_IGNORE));
        CHECK(done >= 0 && done <= left, "done is %d", done);
    }
    finished();
}

static void null_and_empty(void)
{
    MPI_Status status, statuses[3];
    MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int index = 7, flag = 0, count = 7, indices[3];

    OK(MPI_Wait(&none[0], &status));
    is_empty(&status);
    OK(MPI_Test(&none[0], &flag, &status));
    EQUAL(flag, 1);
    is_empty(&status);
    OK(MPI_Waitany(3, none, &index, &status));
    EQUAL(index, MPI_UNDEFINED);
    is_empty(&status);
    index = 7, flag = 0;
    OK(MPI_Testany(3, none, &index, &flag, &status));
    EQUAL(flag, 1);
    EQUAL(index, MPI_UNDEFINED);
    is_empty(&status);
    OK(MPI_Waitall(3, none, statuses));
    for (int i = 0; i < 3; i++) is_empty(&statuses[i]);
    flag = 0;
    OK(MPI_Testall(3, none, &flag, statuses));
    EQUAL(flag, 1);
    OK(MPI_Waitsome(3, none, &count, indices, statuses));
    EQUAL(count, MPI_UNDEFINED);
    count = 7;
    OK(MPI_Testsome(3, none, &count, indices, statuses));
    EQUAL(count, MPI_UNDEFINED);

    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    flag = 0;
    OK(MPI_Testall(0, NULL, &flag, MPI_STATUSES_IGNORE));
    EQUAL(flag, 1);
    OK(MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE));
    EQUAL(index, MPI_UNDEFINED);
    OK(MPI_Waitsome(0, NULL, &count, indices, MPI_STATUSES_IGNORE));
    EQUAL(count, MPI_UNDEFINED);
}

/* A test that finds nothing leaves the request alone; nulls among live requests are passed over. */
static void mixed(void)
{
    int value = -1, flag = 1, index = -1, count = 0, indices[3];
    MPI_Request three[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Status status;
    if (rank == 1) {
        OK(MPI_Irecv(&value, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, &three[1]));
        OK(MPI_Test(&three[1], &flag, &status));
        EQUAL(flag, 0);
        CHECK(three[1] != MPI_REQUEST_NULL);
        OK(MPI_Request_get_status(three[1], &flag, MPI_STATUS_IGNORE));
        EQUAL(flag, 0);
        OK(MPI_Testany(3, three, &index, &flag, &status));
        EQUAL(flag, 0);
        EQUAL(index, MPI_UNDEFINED);
        OK(MPI_Testall(3, three, &flag, MPI_STATUSES_IGNORE));
        EQUAL(flag, 0);
        OK(MPI_Testsome(3, three, &count, indices, MPI_STATUSES_IGNORE));
        EQUAL(count, 0);
        OK(MPI_Send(NULL, 0, MPI_INT, 0, 78, MPI_COMM_WORLD));
        OK(MPI_Waitany(3, three, &index, &status));
        EQUAL(index, 1);
        EQUAL(value, 4711);
        CHECK(three[1] == MPI_REQUEST_NULL);
    } else {
        OK(MPI_Recv(NULL, 0, MPI_INT, 1, 78, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        value = 4711;
        OK(MPI_Isend(&value, 1, MPI_INT, 1, 77, MPI_COMM_WORLD, &three[2]));
        OK(MPI_Waitall(3, three, MPI_STATUSES_IGNORE));
        CHECK(three[2] == MPI_REQUEST_NULL);
    }
}

/* A request that is freed still completes. */
static void freed(void)
{
    static int value;
    MPI_Request request;
    value = 5;
    if (rank == 0) {
        OK(MPI_Isend(&value, 1, MPI_INT, 1, 90, MPI_COMM_WORLD, &request));
        OK(MPI_Request_free(&request));
        CHECK(request == MPI_REQUEST_NULL);
        OK(MPI_Recv(NULL, 0, MPI_INT, 1, 91, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        int got_it = -1;
        OK(MPI_Recv(&got_it, 1, MPI_INT, 0, 90, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        EQUAL(got_it, 5);
        OK(MPI_Send(NULL, 0, MPI_INT, 0, 91, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    each_form();
    null_and_empty();
    mixed();
    freed();
    return check_end();
}
