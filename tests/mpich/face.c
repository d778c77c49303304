/* An extension with callbacks, built once for each ABI and loaded in a local scope: each callback has to see handles, numbers and statuses
 * of its own ABI, and what it was registered with, whoever makes it run. FACE names it in messages. */
#include "face.h"

#include "../c/check.h"

#include <posthaste.h>

enum { TAG = 5, OPERATIONS = 3 };

static void (*other)(void);
static int depth; /* of calls between the faces */

static MPI_Comm comm = MPI_COMM_NULL, child = MPI_COMM_NULL;
static MPI_Win win = MPI_WIN_NULL;
static MPI_Datatype pair = MPI_DATATYPE_NULL;
static MPI_Op op = MPI_OP_NULL;
static MPI_Session session = MPI_SESSION_NULL;
static MPI_Errhandler on_comm, on_win, on_session;
static int comm_key, type_key, win_key, poke_key, finalize_key, window_memory;
static int value, poked;
static int reductions, copies, deletes, type_copies, type_deletes, win_deletes, comm_errors, win_errors, session_errors, queries, frees;
static int handled, deleted_at_end;

/* From within a callback, but only one deep: the other face's callbacks call this one. */
static void nested(void)
{
    if (depth == 0) {
        depth++;
        other();
        depth--;
    }
}

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    int size_of_one;
    OK(MPI_Type_size(*type, &size_of_one));
    CHECK(*type == MPI_INT || size_of_one == 2 * (int)sizeof(int), FACE ": neither MPI_INT nor a pair");
    for (int i = 0; i < *length * size_of_one / (int)sizeof(int); i++) ((int *)inout)[i] += ((int *)in)[i];
    reductions++; /* and no call of MPI but local ones, MPI-5.0 6.9.5 */
}

static int comm_copy(MPI_Comm old, int key, void *extra, void *in, void *out, int *flag)
{
    CHECK(old == comm, FACE ": another communicator");
    EQUAL(key, comm_key);
    CHECK(extra == &copies && in == &value, FACE ": other addresses");
    *(void **)out = in;
    *flag = 1;
    copies++;
    nested();
    return MPI_SUCCESS;
}

static int comm_delete(MPI_Comm old, int key, void *in, void *extra)
{
    CHECK(old == comm || old == child, FACE ": another communicator");
    EQUAL(key, comm_key);
    CHECK(extra == &copies && in == &value, FACE ": other addresses");
    deletes++;
    nested();
    return MPI_SUCCESS;
}

static int type_copy(MPI_Datatype old, int key, void *extra, void *in, void *out, int *flag)
{
    CHECK(old == pair && extra == &type_copies && in == &value, FACE ": another datatype, or other addresses");
    EQUAL(key, type_key);
    *(void **)out = in;
    *flag = 1;
    type_copies++;
    nested();
    return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype old, int key, void *in, void *extra)
{
    int bytes;
    OK(MPI_Type_size(old, &bytes));
    EQUAL(bytes, 2 * sizeof(int));
    CHECK(extra == &type_copies && in == &value, FACE ": other addresses");
    EQUAL(key, type_key);
    type_deletes++;
    nested();
    return MPI_SUCCESS;
}

static int win_delete(MPI_Win old, int key, void *in, void *extra)
{
    CHECK(old == win && extra == &win_deletes && in == &value, FACE ": another window, or other addresses");
    EQUAL(key, win_key);
    win_deletes++;
    nested();
    return MPI_SUCCESS;
}

/* An attribute of `poke`. */
static int poke_delete(MPI_Comm old, int key, void *in, void *extra)
{
    CHECK(old == MPI_COMM_SELF, FACE ": not MPI_COMM_SELF");
    EQUAL(key, poke_key);
    CHECK(extra == &poked && in == &depth, FACE ": other addresses");
    poked++;
    return MPI_SUCCESS;
}

static int finalize_delete(MPI_Comm old, int key, void *in, void *extra)
{
    CHECK(old == MPI_COMM_SELF && in == &value && extra == NULL, FACE ": not MPI_COMM_SELF, or other addresses");
    EQUAL(key, finalize_key);
    deleted_at_end++;
    nested();
    return MPI_SUCCESS;
}

static void comm_error(MPI_Comm *where, int *code, ...)
{
    int class;
    CHECK(*where == comm, FACE ": another communicator");
    OK(MPI_Error_class(*code, &class));
    EQUAL(class, MPI_ERR_RANK);
    comm_errors++;
    nested();
}

static void win_error(MPI_Win *where, int *code, ...)
{
    int class;
    CHECK(*where == win, FACE ": another window");
    OK(MPI_Error_class(*code, &class));
    EQUAL(class, MPI_ERR_RANK);
    win_errors++;
    nested();
}

static void session_error(MPI_Session *where, int *code, ...)
{
    int class;
    CHECK(*where == session, FACE ": another session");
    OK(MPI_Error_class(*code, &class));
    EQUAL(class, MPI_ERR_ARG);
    session_errors++;
    nested();
}

static MPI_Request general = MPI_REQUEST_NULL;

static int query(void *extra, MPI_Status *status)
{
    CHECK(extra == &queries, FACE ": another address");
    OK(MPI_Status_set_elements(status, MPI_INT, 3));
    OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = 11;
    status->MPI_TAG = 12;
    queries++;
    nested();
    return MPI_SUCCESS;
}

static int free_it(void *extra)
{
    CHECK(extra == &queries, FACE ": another address");
    frees++;
    nested();
    return MPI_SUCCESS;
}

static int cancel_it(void *extra, int complete)
{
    (void)extra;
    (void)complete;
    return MPI_SUCCESS;
}

static MPI_Request received, reduced;
static int arrived, sum[2 * OPERATIONS], mine[2 * OPERATIONS];

static void handle(MPI_Request request, void *extra)
{
    CHECK(request == received && extra == &arrived, FACE ": another request, or another address");
    handled++;
    nested();
}

static void begin(void (*with)(void))
{
    int set;
    other = with;
    OK(MPI_Initialized(&set));
    if (!set) OK(MPI_Init(NULL, NULL));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static void make(void)
{
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(comm_error, &on_comm));
    OK(MPI_Comm_set_errhandler(comm, on_comm));
    OK(MPI_Win_create(&window_memory, sizeof window_memory, sizeof window_memory, MPI_INFO_NULL, comm, &win));
    OK(MPI_Win_create_errhandler(win_error, &on_win));
    OK(MPI_Win_set_errhandler(win, on_win));
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Op_create(add, 1, &op));
    OK(MPI_Comm_create_keyval(comm_copy, comm_delete, &comm_key, &copies));
    OK(MPI_Type_create_keyval(type_copy, type_delete, &type_key, &type_copies));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, poke_delete, &poke_key, &poked));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, finalize_delete, &finalize_key, NULL));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, win_delete, &win_key, &win_deletes));
    OK(MPI_Comm_set_attr(comm, comm_key, &value));
    OK(MPI_Win_set_attr(win, win_key, &value));
    OK(MPI_Type_set_attr(pair, type_key, &value));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, finalize_key, &value));
    OK(MPI_Grequest_start(query, free_it, cancel_it, &queries, &general));
}

static void poke(void)
{
    int before = poked, set;
    OK(MPI_Finalized(&set));
    if (set) return;
    if (poke_key != 0) {
        OK(MPI_Comm_set_attr(MPI_COMM_SELF, poke_key, &depth));
        OK(MPI_Comm_delete_attr(MPI_COMM_SELF, poke_key));
        EQUAL(poked, before + 1);
    }
    if (general != MPI_REQUEST_NULL && queries == 0) {
        static int completed;
        if (!completed++) OK(MPI_Grequest_complete(general));
    }
}

static void leave(void)
{
    int next = (rank + 1) % size, last = (rank + size - 1) % size;
    for (int i = 0; i < 2 * OPERATIONS; i++) mine[i] = rank + i;
    OK(MPI_Iallreduce(mine, sum, OPERATIONS, pair, op, comm, &reduced));
    OK(MPI_Irecv(&arrived, 1, MPI_INT, last, TAG, comm, &received));
    OK(Posthaste_Request_attach(&received, handle, &arrived));
    OK(MPI_Send(&rank, 1, MPI_INT, next, TAG, comm));
}

static void meet(void)
{
    int one = 1, all = 0;
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    EQUAL(all, size);
}

static int run(void)
{
    /* Of more than two ranks not all need to combine something. */
    return handled + (size > 2 || reductions > 0);
}

static void fetch(void)
{
    MPI_Status status;
    OK(MPI_Wait(&reduced, &status));
    for (int i = 0; i < 2 * OPERATIONS; i++) EQUAL(sum[i], size * (size - 1) / 2 + size * i);
    OK(MPI_Wait(&received, &status));
    EQUAL(status.MPI_SOURCE, (rank + size - 1) % size);
    EQUAL(status.MPI_TAG, TAG);
    EQUAL(arrived, (rank + size - 1) % size);
    EQUAL(handled, 1);
}

static void fire(void)
{
    int one = 1, all = 0, class, before = reductions, set;
    void *found;
    MPI_Datatype copy;
    MPI_Status status;
    OK(MPI_Allreduce(&one, &all, 1, MPI_INT, op, comm));
    EQUAL(all, size);
    CHECK(size > 2 || reductions > before, FACE ": the operation has not run");
    OK(MPI_Comm_dup(comm, &child));
    EQUAL(copies, 1);
    OK(MPI_Comm_get_attr(child, comm_key, &found, &set));
    CHECK(set && found == &value, FACE ": the attribute is not copied");
    OK(MPI_Comm_free(&child));
    EQUAL(deletes, 1);
    OK(MPI_Type_dup(pair, &copy));
    EQUAL(type_copies, 1);
    OK(MPI_Type_free(&copy));
    EQUAL(type_deletes, 1);
    OK(MPI_Error_class(MPI_Send(&one, 1, MPI_INT, size, TAG, comm), &class));
    EQUAL(class, MPI_ERR_RANK);
    EQUAL(comm_errors, 1);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Error_class(MPI_Put(&one, 1, MPI_INT, size, 0, 1, MPI_INT, win), &class));
    EQUAL(class, MPI_ERR_RANK);
    EQUAL(win_errors, 1);
    OK(MPI_Win_fence(0, win));
    char name[MPI_MAX_INFO_VAL];
    int length = (int)sizeof name;
    OK(MPI_Session_create_errhandler(session_error, &on_session));
    OK(MPI_Session_init(MPI_INFO_NULL, on_session, &session));
    OK(MPI_Error_class(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, -1, &length, name), &class));
    EQUAL(class, MPI_ERR_ARG);
    EQUAL(session_errors, 1);
    OK(MPI_Session_finalize(&session));
    OK(MPI_Errhandler_free(&on_session));
    poke(); /* what the other face has not completed in its turn */
    OK(MPI_Wait(&general, &status));
    EQUAL(queries, 1);
    EQUAL(frees, 1);
    EQUAL(status.MPI_SOURCE, 11);
    EQUAL(status.MPI_TAG, 12);
    OK(MPI_Get_count(&status, MPI_INT, &set));
    EQUAL(set, 3);
}

static void end(void)
{
    OK(MPI_Win_free(&win));
    EQUAL(win_deletes, 1);
    OK(MPI_Errhandler_free(&on_win));
    OK(MPI_Errhandler_free(&on_comm));
    OK(MPI_Op_free(&op));
    OK(MPI_Type_free(&pair));
    EQUAL(type_deletes, 2);
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_free(&comm));
    EQUAL(deletes, 2);
    OK(MPI_Finalize());
    EQUAL(deleted_at_end, 1);
}

const struct face face = {begin, make, poke, leave, meet, run, fetch, fire, end};
