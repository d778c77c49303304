// ranks: 1 2
// only: posthaste
// alone
/* Every argument of every function on requests and statuses wrong in turn, and requests whose communicator, datatype
 * or operation was freed under them. MPI-5.0 sections 3.7 to 3.9, 13.2 and 13.3. */
#include "bad_check.h"

static MPI_Status st, sts[4];
static int flag, indx, count_out, indices[4];
static MPI_Comm S;

/* An active receive on MPI_COMM_SELF, and its end. */
static MPI_Request posted(int *place, int tag)
{
    MPI_Request made;
    OK(MPI_Irecv(place, 1, MPI_INT, 0, tag, S, &made));
    return made;
}

static void serve(int value, int tag)
{
    OK(MPI_Send(&value, 1, MPI_INT, 0, tag, S));
}

static void one(void)
{
    int got = 0;
    MPI_Request null = MPI_REQUEST_NULL, r = posted(&got, 1);
    EACH_NOT_NULL(BAD_REQUEST, MPI_Request, w, MPI_REQUEST_NULL) {
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Wait, &w, &st);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Test, &w, &flag, &st);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Request_get_status, w, &flag, &st);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Request_free, &w);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Cancel, &w);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Start, &w);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Grequest_complete, w);
    }
    BAD(MPI_ERR_REQUEST, "MPI_REQUEST_NULL", MPI_Request_free, &null);
    BAD(MPI_ERR_REQUEST, "MPI_REQUEST_NULL", MPI_Cancel, &null);
    BAD(MPI_ERR_REQUEST, "MPI_REQUEST_NULL", MPI_Start, &null);
    BAD(MPI_ERR_REQUEST, "MPI_REQUEST_NULL", MPI_Grequest_complete, null);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Wait, NULL, &st);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Test, NULL, &flag, &st);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Request_free, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Cancel, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Start, NULL);
    BAD(MPI_ERR_REQUEST, "persistent", MPI_Start, &r);
    BAD(MPI_ERR_REQUEST, "request is ", MPI_Grequest_complete, r);
    serve(5, 1);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Test, &r, NULL, &st);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Request_get_status, r, NULL, &st);
    MPI_Request stale = r;
    OK(MPI_Wait(&r, &st));
    EQUAL(got, 5);
    BAD(MPI_ERR_REQUEST, "request is ", MPI_Wait, &stale, &st);
}

#define SEVERAL(n, list)                                                                              \
    do {                                                                                              \
        BAD(class, says, MPI_Waitany, n, list, &indx, &st);                                           \
        BAD(class, says, MPI_Testany, n, list, &indx, &flag, &st);                                    \
        BAD(class, says, MPI_Waitall, n, list, sts);                                                  \
        BAD(class, says, MPI_Waitsome, n, list, &count_out, indices, sts);                            \
        BAD(class, says, MPI_Testsome, n, list, &count_out, indices, sts);                            \
        BAD(class, says, MPI_Request_get_status_any, n, list, &indx, &flag, &st);                     \
        BAD(class, says, MPI_Request_get_status_some, n, list, &count_out, indices, sts);             \
    } while (0)

/* Those that stop at the first request that is not over. */
#define ALL(n, list)                                                                                  \
    do {                                                                                              \
        BAD(class, says, MPI_Testall, n, list, &flag, sts);                                           \
        BAD(class, says, MPI_Request_get_status_all, n, list, &flag, sts);                            \
    } while (0)

static void several(void)
{
    int got[2] = {0, 0};
    const char *says = "count is -1,";
    int class = MPI_ERR_COUNT;
    MPI_Request list[3] = {posted(&got[0], 1), MPI_REQUEST_NULL, posted(&got[1], 2)};
    MPI_Request first = list[0], last = list[2];
    SEVERAL(-1, list);
    ALL(-1, list);
    BAD(MPI_ERR_COUNT, "count is -1,", MPI_Startall, -1, list);
    class = MPI_ERR_ARG, says = "array_of_requests is NULL";
    SEVERAL(1, NULL);
    ALL(1, NULL);
    BAD(MPI_ERR_ARG, "array_of_requests is NULL", MPI_Startall, 1, NULL);
    /* A wrong handle among right ones is found at once, though the right ones have not ended. */
    class = MPI_ERR_REQUEST, says = "array_of_requests[";
    EACH_NOT_NULL(BAD_REQUEST, MPI_Request, w, MPI_REQUEST_NULL) {
        list[1] = w;
        SEVERAL(3, list);
        ALL(2, list + 1);
        BAD(MPI_ERR_REQUEST, "request is ", MPI_Startall, 1, &w);
        CHECK(list[0] == first && list[2] == last);
    }
    list[1] = MPI_REQUEST_NULL;
    serve(6, 1), serve(7, 2);
    /* Results that have no place to go: nothing is completed. */
    BAD(MPI_ERR_ARG, "indx is NULL", MPI_Waitany, 3, list, NULL, &st);
    BAD(MPI_ERR_ARG, "indx is NULL", MPI_Testany, 3, list, NULL, &flag, &st);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Testany, 3, list, &indx, NULL, &st);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Testall, 3, list, NULL, sts);
    BAD(MPI_ERR_ARG, "outcount is NULL", MPI_Waitsome, 3, list, NULL, indices, sts);
    BAD(MPI_ERR_ARG, "array_of_indices is NULL", MPI_Waitsome, 3, list, &count_out, NULL, sts);
    BAD(MPI_ERR_ARG, "outcount is NULL", MPI_Testsome, 3, list, NULL, indices, sts);
    BAD(MPI_ERR_ARG, "array_of_indices is NULL", MPI_Testsome, 3, list, &count_out, NULL, sts);
    BAD(MPI_ERR_ARG, "indx is NULL", MPI_Request_get_status_any, 3, list, NULL, &flag, &st);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Request_get_status_any, 3, list, &indx, NULL, &st);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Request_get_status_all, 3, list, NULL, sts);
    BAD(MPI_ERR_ARG, "outcount is NULL", MPI_Request_get_status_some, 3, list, NULL, indices, sts);
    BAD(MPI_ERR_ARG, "array_of_indices is NULL", MPI_Request_get_status_some, 3, list, &count_out, NULL, sts);
    CHECK(list[0] == first && list[2] == last);
    OK(MPI_Waitall(3, list, sts));
    EQUAL(got[0], 6);
    EQUAL(got[1], 7);
}

/* One of several fails: MPI_ERR_IN_STATUS, and every status reports its own. */
static void failed_among_others(void)
{
    for (int form = 0; form < 4; form++) {
        int got[3] = {0, 0, 0}, class, done = 0, two[2] = {8, 9};
        MPI_Request list[3] = {posted(&got[0], 1), posted(&got[1], 2), posted(&got[2], 3)};
        serve(1, 1);
        OK(MPI_Send(two, 2, MPI_INT, 0, 2, S));
        serve(3, 3);
        for (int i = 0; i < 3; i++) sts[i].MPI_ERROR = -1;
        if (form == 0) BAD(MPI_ERR_IN_STATUS, "request 1 ", MPI_Waitall, 3, list, sts);
        if (form == 1) BAD(MPI_ERR_IN_STATUS, "request 1 ", MPI_Waitall, 3, list, MPI_STATUSES_IGNORE);
        if (form == 2) BAD(MPI_ERR_IN_STATUS, "request 1 ", MPI_Testall, 3, list, &flag, sts);
        if (form == 3) {
            for (int rest = 3; rest > 0;) {
                int code = MPI_Waitsome(3, list, &done, indices, sts);
                CHECK(code == MPI_SUCCESS || code == MPI_ERR_IN_STATUS);
                for (int i = 0; i < done; i++) {
                    if (code != MPI_SUCCESS) EQUAL(sts[i].MPI_ERROR, indices[i] == 1 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
                }
                rest -= done;
            }
        } else if (form != 1) {
            EQUAL(sts[0].MPI_ERROR, MPI_SUCCESS);
            OK(MPI_Error_class(sts[1].MPI_ERROR, &class));
            EQUAL(class, MPI_ERR_TRUNCATE);
            EQUAL(sts[2].MPI_ERROR, MPI_SUCCESS);
        }
        for (int i = 0; i < 3; i++) CHECK(list[i] == MPI_REQUEST_NULL);
        CHECK(got[0] == 1 && got[2] == 3);
    }
}

static void persistent(void)
{
    int got = 0;
    MPI_Request r;
    OK(MPI_Recv_init(&got, 1, MPI_INT, 0, 4, S, &r));
    MPI_Request copy = r;
    OK(MPI_Start(&r));
    BAD(MPI_ERR_REQUEST, "active", MPI_Start, &r);
    BAD(MPI_ERR_REQUEST, "active", MPI_Startall, 1, &r);
    serve(9, 4);
    OK(MPI_Wait(&r, &st));
    EQUAL(got, 9);
    CHECK(r == copy);
    OK(MPI_Request_free(&r));
    BAD(MPI_ERR_REQUEST, "request is ", MPI_Start, &copy);
    BAD(MPI_ERR_REQUEST, "request is ", MPI_Request_free, &copy);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    OK(MPI_Status_set_elements(status, MPI_INT, 1));
    OK(MPI_Status_set_cancelled(status, 0));
    return MPI_SUCCESS;
}
static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}
static int cancelled(void *state, int complete)
{
    (void)state, (void)complete;
    return MPI_SUCCESS;
}

static void generalised(void)
{
    MPI_Request g;
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Grequest_start, query, release, cancelled, NULL, NULL);
    OK(MPI_Grequest_start(query, release, cancelled, NULL, &g));
    MPI_Request copy = g;
    OK(MPI_Grequest_complete(g));
    BAD(MPI_ERR_REQUEST, "request", MPI_Grequest_complete, g);
    OK(MPI_Wait(&g, &st));
    BAD(MPI_ERR_REQUEST, "request is ", MPI_Grequest_complete, copy);
}

static void statuses(void)
{
    int n;
    MPI_Count m;
    EACH(BAD_TYPE, MPI_Datatype, t) {
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_count, &st, t, &n);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_count_c, &st, t, &m);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_elements, &st, t, &n);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_elements_c, &st, t, &m);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_elements_x, &st, t, &m);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Status_set_elements, &st, t, 1);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Status_set_elements_c, &st, t, 1);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Status_set_elements_x, &st, t, 1);
    }
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Get_count, NULL, MPI_INT, &n);
    BAD(MPI_ERR_ARG, "count is NULL", MPI_Get_count, &st, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Get_count_c, NULL, MPI_INT, &m);
    BAD(MPI_ERR_ARG, "count is NULL", MPI_Get_count_c, &st, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Get_elements, NULL, MPI_INT, &n);
    BAD(MPI_ERR_ARG, "count is NULL", MPI_Get_elements, &st, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Get_elements_c, NULL, MPI_INT, &m);
    BAD(MPI_ERR_ARG, "count is NULL", MPI_Get_elements_c, &st, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Get_elements_x, NULL, MPI_INT, &m);
    BAD(MPI_ERR_ARG, "count is NULL", MPI_Get_elements_x, &st, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_set_elements, NULL, MPI_INT, 1);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_set_elements_c, NULL, MPI_INT, 1);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_set_elements_x, NULL, MPI_INT, 1);
    BAD(MPI_ERR_COUNT, "count is -1,", MPI_Status_set_elements, &st, MPI_INT, -1);
    BAD(MPI_ERR_COUNT, "count is -1,", MPI_Status_set_elements_c, &st, MPI_INT, -1);
    BAD(MPI_ERR_COUNT, "count is -1,", MPI_Status_set_elements_x, &st, MPI_INT, -1);
    BAD(MPI_ERR_COUNT, "count is ", MPI_Status_set_elements_c, &st, MPI_DOUBLE, INT64_MAX);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Test_cancelled, NULL, &flag);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Test_cancelled, &st, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_set_cancelled, NULL, 1);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_get_source, NULL, &n);
    BAD(MPI_ERR_ARG, "source is NULL", MPI_Status_get_source, &st, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_get_tag, NULL, &n);
    BAD(MPI_ERR_ARG, "tag is NULL", MPI_Status_get_tag, &st, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_get_error, NULL, &n);
    BAD(MPI_ERR_ARG, "error is NULL", MPI_Status_get_error, &st, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_set_source, NULL, 1);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_set_tag, NULL, 1);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Status_set_error, NULL, 1);
}

static void sum(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

/* Freed objects live on until the requests that use them are over. */
static void freed_under_way(void)
{
    enum { BLOCKS = 3000 };
    static int in[2 * BLOCKS], out[2 * BLOCKS];
    int peer = size == 1 ? 0 : rank ^ 1, total = -1, mine = rank + 1;
    MPI_Comm comm;
    MPI_Datatype gaps;
    MPI_Op op;
    MPI_Request list[3];
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_vector(BLOCKS, 1, 2, MPI_INT, &gaps));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Op_create(sum, 1, &op));
    for (int i = 0; i < 2 * BLOCKS; i++) in[i] = 10 * i + rank, out[i] = -1;
    OK(MPI_Irecv(out, 1, gaps, peer, 6, comm, &list[0]));
    OK(MPI_Isend(in, 1, gaps, peer, 6, comm, &list[1]));
    OK(MPI_Iallreduce(&mine, &total, 1, MPI_INT, op, comm, &list[2]));
    MPI_Comm gone = comm;
    MPI_Datatype gone_type = gaps;
    OK(MPI_Type_free(&gaps));
    OK(MPI_Op_free(&op));
    OK(MPI_Comm_free(&comm));
    CHECK(comm == MPI_COMM_NULL && gaps == MPI_DATATYPE_NULL && op == MPI_OP_NULL);
    BAD(MPI_ERR_COMM, "comm is ", MPI_Barrier, gone);
    BAD(MPI_ERR_TYPE, "datatype is ", MPI_Send, in, 1, gone_type, 0, 1, MPI_COMM_SELF);
    OK(MPI_Waitall(3, list, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 * BLOCKS; i++) EQUAL(out[i], i % 2 == 0 ? 10 * i + peer : -1);
    EQUAL(total, size * (size + 1) / 2);
    /* An error of such a request has no communicator to go to. */
    int got = 0, two[2] = {1, 2};
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Irecv(&got, 1, MPI_INT, 0, 6, comm, &list[0]));
    OK(MPI_Isend(two, 2, MPI_INT, 0, 6, comm, &list[1]));
    OK(MPI_Comm_free(&comm));
    BAD(MPI_ERR_TRUNCATE, "8 bytes", MPI_Wait, &list[0], &st);
    OK(MPI_Wait(&list[1], &st));
    /* Persistent requests keep theirs too. */
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Type_contiguous(2, MPI_INT, &gaps));
    OK(MPI_Type_commit(&gaps));
    OK(MPI_Recv_init(out, 1, gaps, 0, 6, comm, &list[0]));
    OK(MPI_Send_init(two, 1, gaps, 0, 6, comm, &list[1]));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Type_free(&gaps));
    for (int i = 0; i < 3; i++) {
        out[0] = out[1] = 0;
        OK(MPI_Startall(2, list));
        OK(MPI_Waitall(2, list, MPI_STATUSES_IGNORE));
        CHECK(out[0] == 1 && out[1] == 2);
    }
    OK(MPI_Request_free(&list[0]));
    OK(MPI_Request_free(&list[1]));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &S));
    one();
    several();
    failed_among_others();
    persistent();
    generalised();
    statuses();
    freed_under_way();
    OK(MPI_Comm_free(&S));
    return bad_end();
}
