// ranks: 1 2
// only: posthaste
// alone
/* Every argument of every function of partitioned communication wrong in turn, and calls at the wrong time.
 * MPI-5.0 chapter 4. */
#include "bad_check.h"

static int out[8] = {1, 2, 3, 4, 5, 6, 7, 8}, in[8], flag;
static MPI_Request r;

#define INIT(class, says, buf, parts, count, type, peer, tag, comm, info, place)                              \
    do {                                                                                                    \
        BAD(class, says, MPI_Psend_init, buf, parts, count, type, peer, tag, comm, info, place);              \
        BAD(class, says, MPI_Psend_init_c, buf, parts, count, type, peer, tag, comm, info, place);            \
        BAD(class, says, MPI_Precv_init, buf, parts, count, type, peer, tag, comm, info, place);              \
        BAD(class, says, MPI_Precv_init_c, buf, parts, count, type, peer, tag, comm, info, place);            \
    } while (0)

static void initialising(void)
{
    MPI_Datatype raw;
    OK(MPI_Type_contiguous(2, MPI_INT, &raw));
    EACH(BAD_COMM, MPI_Comm, c) INIT(MPI_ERR_COMM, "comm is ", in, 2, 1, MPI_INT, 0, 1, c, MPI_INFO_NULL, &r);
    EACH(BAD_TYPE, MPI_Datatype, t)
        INIT(MPI_ERR_TYPE, "datatype is ", in, 2, 1, t, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    EACH_NOT_NULL(BAD_INFO, MPI_Info, i, MPI_INFO_NULL)
        INIT(MPI_ERR_INFO, "info is ", in, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, i, &r);
    INIT(MPI_ERR_TYPE, "commit", in, 2, 1, raw, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_ARG, "partitions is -1, expected 0 or more", in, -1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_COUNT, "count is -1, expected 0 or more", in, 2, -1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_COUNT, "count is -1, expected 0 or more", in, 0, -1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    BAD(MPI_ERR_COUNT, "count is ", MPI_Psend_init_c, in, 4, INT64_MAX / 2, MPI_BYTE, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    BAD(MPI_ERR_COUNT, "count is ", MPI_Precv_init_c, in, 2, INT64_MAX / 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_BUFFER, "buf is NULL", NULL, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_RANK, " is 1, expected 0..=0", in, 2, 1, MPI_INT, 1, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_RANK, " is -1, expected ", in, 2, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_RANK, "expected ", in, 2, 1, MPI_INT, size, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_TAG, "tag is -1, expected ", in, 2, 1, MPI_INT, 0, -1, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_TAG, "tag is -2, expected ", in, 2, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_SELF, MPI_INFO_NULL, &r);
    INIT(MPI_ERR_ARG, "request is NULL", in, 2, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, NULL);
    OK(MPI_Type_free(&raw));
}

static void at_the_wrong_time(void)
{
    MPI_Request s, got, plain, persistent, none;
    MPI_Status st;
    int list[] = {2, 1, 2}, far[] = {1, 4};
    OK(MPI_Precv_init(in, 2, 4, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &got));
    OK(MPI_Psend_init(out, 4, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &s));
    OK(MPI_Psend_init(out, 0, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, MPI_INFO_NULL, &none));
    OK(MPI_Send_init(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &persistent));
    OK(MPI_Irecv(in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &plain));
    EACH(BAD_REQUEST, MPI_Request, w) {
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Pready, 0, w);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Pready_range, 0, 1, w);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Pready_list, 2, list, w);
    }
    EACH_NOT_NULL(BAD_REQUEST, MPI_Request, w, MPI_REQUEST_NULL)
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Parrived, w, 0, &flag);
    BAD(MPI_ERR_REQUEST, "not partitioned", MPI_Pready, 0, plain);
    BAD(MPI_ERR_REQUEST, "not partitioned", MPI_Pready, 0, persistent);
    BAD(MPI_ERR_REQUEST, "not partitioned", MPI_Parrived, plain, 0, &flag);
    /* Null and inactive requests have arrived. */
    flag = -1;
    OK(MPI_Parrived(MPI_REQUEST_NULL, 0, &flag));
    EQUAL(flag, 1);
    flag = -1;
    OK(MPI_Parrived(got, 1, &flag));
    EQUAL(flag, 1);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Parrived, got, 0, NULL);
    BAD(MPI_ERR_ARG, "partition is 2, expected 0..=1", MPI_Parrived, got, 2, &flag);
    BAD(MPI_ERR_REQUEST, "request is inactive", MPI_Pready, 0, s);
    BAD(MPI_ERR_REQUEST, "request is inactive", MPI_Pready_range, 0, 3, s);
    BAD(MPI_ERR_REQUEST, "request is inactive", MPI_Pready_list, 3, list, s);
    for (int round = 0; round < 2; round++) {
        MPI_Request both[] = {got, s};
        OK(MPI_Startall(2, both));
        BAD(MPI_ERR_REQUEST, "active", MPI_Start, &s);
        BAD(MPI_ERR_REQUEST, "active", MPI_Start, &got);
        BAD(MPI_ERR_REQUEST, "cannot be freed", MPI_Request_free, &s);
        BAD(MPI_ERR_REQUEST, "cannot be freed", MPI_Request_free, &got);
        BAD(MPI_ERR_REQUEST, "cancelled", MPI_Cancel, &s);
        BAD(MPI_ERR_REQUEST, "cancelled", MPI_Cancel, &got);
        BAD(MPI_ERR_REQUEST, "partitioned receive", MPI_Pready, 0, got);
        BAD(MPI_ERR_REQUEST, "partitioned send", MPI_Parrived, s, 0, &flag);
        BAD(MPI_ERR_ARG, "partition is -1, expected 0..=3 (the request has 4 partitions)", MPI_Pready, -1, s);
        BAD(MPI_ERR_ARG, "partition is 4, expected 0..=3", MPI_Pready, 4, s);
        BAD(MPI_ERR_ARG, "partition is -1, expected 0..=1", MPI_Parrived, got, -1, &flag);
        BAD(MPI_ERR_ARG, "partition_low is 2, expected partition_high (1) or less", MPI_Pready_range, 2, 1, s);
        BAD(MPI_ERR_ARG, "partition is 4", MPI_Pready_range, 2, 4, s);
        BAD(MPI_ERR_ARG, "partition is -1", MPI_Pready_range, -1, 4, s);
        BAD(MPI_ERR_ARG, "an entry of array_of_partitions is 4", MPI_Pready_list, 2, far, s);
        BAD(MPI_ERR_ARG, "length is -1", MPI_Pready_list, -1, list, s);
        BAD(MPI_ERR_ARG, "array_of_partitions is NULL", MPI_Pready_list, 1, NULL, s);
        OK(MPI_Pready_list(0, NULL, s));
        /* Nothing has left so far. */
        OK(MPI_Parrived(got, 0, &flag));
        EQUAL(flag, 0);
        OK(MPI_Pready(1, s));
        BAD(MPI_ERR_ARG, "partition is 1, which is ready already", MPI_Pready, 1, s);
        BAD(MPI_ERR_ARG, "partition is 1, which is ready already", MPI_Pready_range, 0, 3, s);
        BAD(MPI_ERR_ARG, "is ready already", MPI_Pready_list, 2, list, s);
        OK(MPI_Parrived(got, 0, &flag));
        EQUAL(flag, 0);
        OK(MPI_Pready(0, s));
        OK(MPI_Pready_range(2, 3, s));
        OK(MPI_Wait(&s, &st));
        OK(MPI_Wait(&got, &st));
        for (int i = 0; i < 8; i++) EQUAL(in[i], i + 1);
        memset(in, 0, sizeof in);
        BAD(MPI_ERR_REQUEST, "request is inactive", MPI_Pready, 0, s);
    }
    OK(MPI_Start(&none));
    BAD(MPI_ERR_ARG, "the request has no partitions", MPI_Pready, 0, none);
    OK(MPI_Wait(&none, &st));
    OK(MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    OK(MPI_Wait(&plain, &st));
    MPI_Request copy = s;
    OK(MPI_Request_free(&s));
    OK(MPI_Request_free(&got));
    OK(MPI_Request_free(&none));
    OK(MPI_Request_free(&persistent));
    BAD(MPI_ERR_REQUEST, "request is ", MPI_Pready, 0, copy);
}

/* A receive that is too short says so, and its pair goes on. */
static void too_long(void)
{
    MPI_Request s, got;
    int place[8] = {0};
    OK(MPI_Psend_init(out, 4, 2, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &s));
    OK(MPI_Precv_init(place, 5, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &got));
    for (int round = 0; round < 2; round++) {
        memset(place, 0, sizeof place);
        OK(MPI_Start(&s));
        OK(MPI_Start(&got));
        OK(MPI_Pready_range(0, 3, s));
        OK(MPI_Wait(&s, MPI_STATUS_IGNORE));
        BAD(MPI_ERR_TRUNCATE, "the message has 32 bytes, the receive buffer has room for 20", MPI_Wait, &got, MPI_STATUS_IGNORE);
        for (int i = 0; i < 8; i++) EQUAL(place[i], i < 5 ? i + 1 : 0);
    }
    OK(MPI_Request_free(&s));
    OK(MPI_Request_free(&got));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    initialising();
    at_the_wrong_time();
    too_long();
    return bad_end();
}
