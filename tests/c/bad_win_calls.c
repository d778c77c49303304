// ranks: 1 2 3
// only: posthaste
/* Every access function in every form with each of its arguments wrong: the class that the standard names, a sentence in which no name is
 * empty, a request whose handle stays what it was, and memory that nobody has touched. What is right though it looks wrong. Sizes and units
 * of every constructor; info and attributes. MPI-5.0 sections 12.2, 12.3, 12.6. */
#include "bad_check.h"
#include "win.h"

#define I MPI_INFO_NULL

/* The arguments of an access. `origin` and `result` are where it writes, too. */
struct access {
    int target;
    MPI_Aint disp;
    void *origin, *result;
    int origin_count, result_count, count;
    MPI_Datatype origin_type, result_type, type;
    MPI_Op op;
};

static int data[4] = {5, 6, 7, 8}, got[4] = {-1, -1, -1, -1};
static MPI_Win win;
static MPI_Request request;

/* So many elements has a rank: the others have more or less. */
static int elements(int of)
{
    return 16 + 4 * of;
}

static struct access right(void)
{
    struct access a = {(rank + 1) % size, 0, data, got, 1, 1, 1, MPI_INT, MPI_INT, MPI_INT, MPI_SUM};
    return a;
}

static void refused(int code, int wanted, const char *class_name, const char *name, const char *says, int line)
{
    char call[80];
    snprintf(call, sizeof call, "%s for %s", name, class_name);
    bad_answer(code, wanted, class_name, name, says, call, line);
    const char *text = check_text(code);
    if (strstr(text, " is ,") || strstr(text, "of  at")) bad_wrong(line, call, text, "a name");
    if (request != bad_live_request) bad_wrong(line, call, "another request", "the request as it was");
    request = bad_live_request;
}

#define SEEN(name, ...) refused(name(__VA_ARGS__), wanted, class_name, #name, says, line)

/* Those with a result. */
static void fetching(int wanted, const char *class_name, const char *says, struct access a, int line)
{
    SEEN(MPI_Get_accumulate, a.origin, a.origin_count, a.origin_type, a.result, a.result_count, a.result_type, a.target, a.disp, a.count,
         a.type, a.op, win);
    SEEN(MPI_Get_accumulate_c, a.origin, a.origin_count, a.origin_type, a.result, a.result_count, a.result_type, a.target, a.disp, a.count,
         a.type, a.op, win);
    SEEN(MPI_Rget_accumulate, a.origin, a.origin_count, a.origin_type, a.result, a.result_count, a.result_type, a.target, a.disp, a.count,
         a.type, a.op, win, &request);
    SEEN(MPI_Rget_accumulate_c, a.origin, a.origin_count, a.origin_type, a.result, a.result_count, a.result_type, a.target, a.disp, a.count,
         a.type, a.op, win, &request);
}

static void combining(int wanted, const char *class_name, const char *says, struct access a, int line)
{
    SEEN(MPI_Accumulate, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, a.op, win);
    SEEN(MPI_Accumulate_c, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, a.op, win);
    SEEN(MPI_Raccumulate, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, a.op, win, &request);
    SEEN(MPI_Raccumulate_c, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, a.op, win, &request);
    fetching(wanted, class_name, says, a, line);
}

static void every(int wanted, const char *class_name, const char *says, struct access a, int line)
{
    SEEN(MPI_Put, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win);
    SEEN(MPI_Put_c, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win);
    SEEN(MPI_Get, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win);
    SEEN(MPI_Get_c, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win);
    SEEN(MPI_Rput, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win, &request);
    SEEN(MPI_Rput_c, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win, &request);
    SEEN(MPI_Rget, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win, &request);
    SEEN(MPI_Rget_c, a.origin, a.origin_count, a.origin_type, a.target, a.disp, a.count, a.type, win, &request);
    combining(wanted, class_name, says, a, line);
}

/* Those with one element. */
static void single(int wanted, const char *class_name, const char *says, struct access a, int line)
{
    SEEN(MPI_Fetch_and_op, a.origin, a.result, a.type, a.target, a.disp, a.op, win);
    SEEN(MPI_Compare_and_swap, a.origin, data + 1, a.result, a.type, a.target, a.disp, win);
}

#define EVERY(wanted, says, a) every(wanted, #wanted, says, a, __LINE__)
#define COMBINING(wanted, says, a) combining(wanted, #wanted, says, a, __LINE__)
#define FETCHING(wanted, says, a) fetching(wanted, #wanted, says, a, __LINE__)
#define SINGLE(wanted, says, a) single(wanted, #wanted, says, a, __LINE__)

static void targets_and_buffers(void)
{
    const int ranks[] = {size, MPI_ANY_SOURCE, -77, 1 << 30};
    struct access a;
    for (int i = 0; i < 4; i++) {
        a = right(), a.target = ranks[i];
        EVERY(MPI_ERR_RANK, "target_rank is ", a);
        SINGLE(MPI_ERR_RANK, "target_rank is ", a);
        BAD(MPI_ERR_RANK, "rank is ", MPI_Win_flush, ranks[i], win);
        BAD(MPI_ERR_RANK, "rank is ", MPI_Win_flush_local, ranks[i], win);
    }
    void *const addresses[] = {NULL, MPI_IN_PLACE};
    const char *const says[] = {"addr is NULL", "addr is MPI_IN_PLACE"};
    for (int i = 0; i < 2; i++) {
        a = right(), a.origin = addresses[i];
        EVERY(MPI_ERR_BUFFER, says[i], a);
        SINGLE(MPI_ERR_BUFFER, says[i], a);
        a = right(), a.result = addresses[i];
        FETCHING(MPI_ERR_BUFFER, says[i], a);
        SINGLE(MPI_ERR_BUFFER, says[i], a);
        BAD(MPI_ERR_BUFFER, says[i], MPI_Compare_and_swap, data, addresses[i], got, MPI_INT, a.target, 0, win);
    }
}

static void counts_and_types(void)
{
    struct access a;
    a = right(), a.origin_count = -1;
    EVERY(MPI_ERR_COUNT, "origin_count is -1", a);
    a = right(), a.result_count = -2;
    FETCHING(MPI_ERR_COUNT, "result_count is -2", a);
    a = right(), a.count = -3;
    EVERY(MPI_ERR_COUNT, "target_count is -3", a);
    a = right(), a.origin_type = MPI_DATATYPE_NULL;
    EVERY(MPI_ERR_TYPE, "origin_datatype is ", a);
    a = right(), a.result_type = MPI_DATATYPE_NULL;
    FETCHING(MPI_ERR_TYPE, "result_datatype is ", a);
    a = right(), a.type = MPI_DATATYPE_NULL;
    EVERY(MPI_ERR_TYPE, "target_datatype is ", a);
    SINGLE(MPI_ERR_TYPE, "datatype is ", a);
    a = right(), a.origin_count = a.result_count = 2;
    EVERY(MPI_ERR_TYPE, "as at the origin", a);
    MPI_Datatype loose, one, mixed, kinds[2] = {MPI_INT, MPI_FLOAT};
    const int lengths[2] = {1, 1};
    const MPI_Aint places[2] = {0, sizeof(int)};
    OK(MPI_Type_contiguous(2, MPI_INT, &loose));
    OK(MPI_Type_contiguous(1, MPI_INT, &one));
    OK(MPI_Type_create_struct(2, lengths, places, kinds, &mixed));
    OK(MPI_Type_commit(&one));
    OK(MPI_Type_commit(&mixed));
    a = right(), a.origin_type = loose, a.count = 2;
    EVERY(MPI_ERR_TYPE, "the uncommitted type", a);
    a = right(), a.origin_count = a.result_count = 2, a.type = loose;
    EVERY(MPI_ERR_TYPE, "the uncommitted type", a);
    a = right(), a.type = one;
    SINGLE(MPI_ERR_TYPE, "datatype is ", a);
    a = right(), a.origin_type = a.result_type = a.type = mixed;
    COMBINING(MPI_ERR_TYPE, "datatype is ", a);
    a = right(), a.origin_type = a.result_type = mixed, a.count = 2;
    COMBINING(MPI_ERR_TYPE, "datatype is ", a);
    /* A name is told. */
    OK(MPI_Type_set_name(mixed, "mixture"));
    COMBINING(MPI_ERR_TYPE, "datatype is mixture", a);
    a = right(), a.op = MPI_OP_NULL;
    COMBINING(MPI_ERR_OP, "op is ", a);
    a = right(), a.op = MPI_MINLOC;
    COMBINING(MPI_ERR_OP, "MPI_MINLOC on MPI_INT", a);
    OK(MPI_Type_free(&loose));
    OK(MPI_Type_free(&one));
    OK(MPI_Type_free(&mixed));
}

static void displacements(void)
{
    struct access a;
    int other = (rank + 1) % size;
    char says[80];
    snprintf(says, sizeof says, "bytes 0..%d of rank %d", 4 * elements(other), other);
    const MPI_Aint before[] = {-1, INT64_MIN}, beyond[] = {elements(other), (MPI_Aint)1 << 62, INT64_MAX};
    for (int i = 0; i < 2; i++) {
        a = right(), a.disp = before[i];
        EVERY(MPI_ERR_DISP, says, a);
        SINGLE(MPI_ERR_DISP, says, a);
    }
    for (int i = 0; i < 3; i++) {
        a = right(), a.disp = beyond[i];
        EVERY(MPI_ERR_RMA_RANGE, says, a);
        SINGLE(MPI_ERR_RMA_RANGE, says, a);
    }
    MPI_Datatype one, back, forth;
    const int length = 1;
    const MPI_Aint behind = -8;
    OK(MPI_Type_contiguous(1, MPI_INT, &one));
    OK(MPI_Type_create_hindexed(1, &length, &behind, MPI_INT, &back));
    OK(MPI_Type_create_hvector(2, 1, (MPI_Aint)1 << 40, MPI_INT, &forth));
    OK(MPI_Type_commit(&one));
    OK(MPI_Type_commit(&back));
    OK(MPI_Type_commit(&forth));
    a = right(), a.disp = 1, a.type = back;
    EVERY(MPI_ERR_RMA_RANGE, says, a);
    a = right(), a.disp = elements(other) - 1, a.origin_count = a.result_count = a.count = 2, a.type = one;
    EVERY(MPI_ERR_RMA_RANGE, says, a);
    a = right(), a.origin_count = a.result_count = 2, a.type = forth;
    EVERY(MPI_ERR_RMA_RANGE, says, a);
    /* It lies within, as seen from the third element. */
    OK(MPI_Get(got, 1, MPI_INT, other, 2, 1, back, win));
    OK(MPI_Win_flush(other, win));
    EQUAL(got[0], 0);
    got[0] = -1;
    OK(MPI_Type_free(&one));
    OK(MPI_Type_free(&back));
    OK(MPI_Type_free(&forth));
}

/* No buffer is needed without elements, nor an origin where only the result counts; nobody has no memory. */
static void allowed(const struct window *w)
{
    int other = (rank + 1) % size, zero = 0, found[2] = {-1, -1}, length = 1;
    MPI_Aint at = place(w, other, 0), here;
    MPI_Datatype absolute;
    OK(MPI_Put(NULL, 0, MPI_INT, other, at, 0, MPI_INT, win));
    OK(MPI_Get(NULL, 0, MPI_INT, other, at, 0, MPI_INT, win));
    OK(MPI_Accumulate(NULL, 0, MPI_INT, other, at, 0, MPI_INT, MPI_SUM, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, found, 1, MPI_INT, other, at, 1, MPI_INT, MPI_NO_OP, win));
    OK(MPI_Fetch_and_op(NULL, found + 1, MPI_INT, other, at, MPI_NO_OP, win));
    OK(MPI_Put(data, 1, MPI_INT, MPI_PROC_NULL, -5, 1, MPI_INT, win));
    OK(MPI_Get_address(&zero, &here));
    OK(MPI_Type_create_hindexed(1, &length, &here, MPI_INT, &absolute));
    OK(MPI_Type_commit(&absolute));
    OK(MPI_Put(MPI_BOTTOM, 1, absolute, other, at, 1, MPI_INT, win));
    OK(MPI_Accumulate(MPI_BOTTOM, 1, absolute, other, at, 1, MPI_INT, MPI_SUM, win));
    OK(MPI_Win_flush(other, win));
    OK(MPI_Type_free(&absolute));
    EQUAL(found[0], 0);
    EQUAL(found[1], 0);
}

static void accesses(enum flavor flavor)
{
    struct window w = make_window(flavor, elements(rank), sizeof(int));
    win = w.win;
    request = bad_live_request;
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    targets_and_buffers();
    counts_and_types();
    if (flavor != DYNAMIC) displacements();
    allowed(&w);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < elements(rank); i++) EQUAL(((int *)(void *)w.base)[i], 0);
    for (int i = 0; i < 4; i++) CHECK(got[i] == -1 && data[i] == 5 + i, "%d, %d", got[i], data[i]);
    free_window(&w);
}

static void info_and_attributes(enum flavor flavor)
{
    struct window w = make_window(flavor, 4, sizeof(int));
    int flag = 0, value = 5;
    void *found;
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    OK(MPI_Win_set_info(w.win, I));
    EACH_NOT_NULL(BAD_INFO, MPI_Info, i, MPI_INFO_NULL) BAD(MPI_ERR_INFO, "info is ", MPI_Win_set_info, w.win, i);
    BAD(MPI_ERR_KEYVAL, "keyval is ", MPI_Win_set_attr, w.win, MPI_KEYVAL_INVALID, &value);
    BAD(MPI_ERR_KEYVAL, "keyval is ", MPI_Win_get_attr, w.win, MPI_KEYVAL_INVALID, &found, &flag);
    BAD(MPI_ERR_KEYVAL, "keyval is ", MPI_Win_delete_attr, w.win, MPI_KEYVAL_INVALID);
    OK(MPI_Win_get_attr(w.win, MPI_WIN_CREATE_FLAVOR, &found, &flag));
    EQUAL(flag, 1);
    free_window(&w);
}

static void sizes_and_units(MPI_Comm comm)
{
    static const int units[] = {0, -1, -4};
    MPI_Win made;
    void *base;
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_create, data, -1, 1, I, comm, &made);
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_create_c, data, -1, 1, I, comm, &made);
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_allocate, -1, 1, I, comm, &base, &made);
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_allocate_c, -1, 1, I, comm, &base, &made);
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_allocate_shared, -1, 1, I, comm, &base, &made);
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_allocate_shared_c, -1, 1, I, comm, &base, &made);
    for (int i = 0; i < 3; i++) {
        BAD(MPI_ERR_DISP, "disp_unit is ", MPI_Win_create, data, 4, units[i], I, comm, &made);
        BAD(MPI_ERR_DISP, "disp_unit is ", MPI_Win_create_c, data, 4, units[i], I, comm, &made);
        BAD(MPI_ERR_DISP, "disp_unit is ", MPI_Win_allocate, 4, units[i], I, comm, &base, &made);
        BAD(MPI_ERR_DISP, "disp_unit is ", MPI_Win_allocate_c, 4, units[i], I, comm, &base, &made);
        BAD(MPI_ERR_DISP, "disp_unit is ", MPI_Win_allocate_shared, 4, units[i], I, comm, &base, &made);
        BAD(MPI_ERR_DISP, "disp_unit is ", MPI_Win_allocate_shared_c, 4, units[i], I, comm, &base, &made);
    }
    BAD(MPI_ERR_BASE, "base is NULL", MPI_Win_create, NULL, 4, 1, I, comm, &made);
    BAD(MPI_ERR_BASE, "base is NULL", MPI_Win_create_c, NULL, 4, 1, I, comm, &made);
    OK(MPI_Win_create(NULL, 0, 1, I, comm, &made));
    OK(MPI_Win_free(&made));
    OK(MPI_Win_create_dynamic(I, comm, &made));
    OK(MPI_Win_set_errhandler(made, MPI_ERRORS_RETURN));
    BAD(MPI_ERR_BASE, "base is NULL", MPI_Win_attach, made, NULL, 4);
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_attach, made, data, -1);
    OK(MPI_Win_free(&made));
}

static void of_two_groups(void)
{
    MPI_Comm mine, inter;
    MPI_Win made;
    void *base;
    if (size == 1) return;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &mine));
    OK(MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, rank == 0, 3, &inter));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    BAD(MPI_ERR_COMM, "comm is an intercommunicator", MPI_Win_create, data, 4, 1, I, inter, &made);
    BAD(MPI_ERR_COMM, "comm is an intercommunicator", MPI_Win_create_c, data, 4, 1, I, inter, &made);
    BAD(MPI_ERR_COMM, "comm is an intercommunicator", MPI_Win_allocate, 4, 1, I, inter, &base, &made);
    BAD(MPI_ERR_COMM, "comm is an intercommunicator", MPI_Win_allocate_c, 4, 1, I, inter, &base, &made);
    BAD(MPI_ERR_COMM, "comm is an intercommunicator", MPI_Win_allocate_shared, 4, 1, I, inter, &base, &made);
    BAD(MPI_ERR_COMM, "comm is an intercommunicator", MPI_Win_allocate_shared_c, 4, 1, I, inter, &base, &made);
    BAD(MPI_ERR_COMM, "comm is an intercommunicator", MPI_Win_create_dynamic, I, inter, &made);
    OK(MPI_Barrier(inter));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&mine));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        accesses(flavor);
        info_and_attributes(flavor);
    }
    sizes_and_units(MPI_COMM_SELF);
    sizes_and_units(MPI_COMM_WORLD);
    of_two_groups();
    return bad_end();
}
