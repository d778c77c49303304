// ranks: 1 2
// only: posthaste
/* Every argument of the functions on windows wrong in turn, and calls outside of their epochs. MPI-5.0 sections 12.2,
 * 12.3, 12.5, 12.7. */
#include "bad_check.h"
#include "win.h"

#define S MPI_COMM_SELF
#define I MPI_INFO_NULL

static int data[8], got[8], ten[10];
static MPI_Aint here;
static MPI_Win made;
static MPI_Group group;

static void wrong_windows(MPI_Win w)
{
    int n;
    void *place;
    MPI_Aint bytes;
    MPI_Request r;
    MPI_Info info;
    MPI_Errhandler handler;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Win copy = w;
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_free, &copy);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_get_group, w, &group);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_set_info, w, I);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_get_info, w, &info);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_set_name, w, "name");
    if (w != MPI_WIN_NULL) BAD(MPI_ERR_WIN, "win is ", MPI_Win_get_name, w, name, &n);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_set_errhandler, w, MPI_ERRORS_RETURN);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_get_errhandler, w, &handler);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_call_errhandler, w, MPI_ERR_OTHER);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_get_attr, w, MPI_WIN_BASE, &place, &n);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_set_attr, w, 1, &place);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_delete_attr, w, 1);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_shared_query, w, 0, &bytes, &n, &place);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_shared_query_c, w, 0, &bytes, &bytes, &place);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_attach, w, data, 4);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_detach, w, data);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_fence, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_start, MPI_GROUP_EMPTY, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_complete, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_post, MPI_GROUP_EMPTY, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_wait, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_test, w, &n);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_lock, MPI_LOCK_SHARED, 0, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_lock_all, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_unlock, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_unlock_all, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_flush, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_flush_all, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_flush_local, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_flush_local_all, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Win_sync, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Put, data, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Get, got, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Rput, data, 1, MPI_INT, 0, 0, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_WIN, "win is ", MPI_Rget, got, 1, MPI_INT, 0, 0, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_WIN, "win is ", MPI_Accumulate, data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Get_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Fetch_and_op, data, got, MPI_INT, 0, 0, MPI_SUM, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Compare_and_swap, data, data + 1, got, MPI_INT, 0, 0, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Raccumulate, data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_WIN, "win is ", MPI_Rget_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_WIN, "win is ", MPI_Put_c, data, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Get_c, got, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Rput_c, data, 1, MPI_INT, 0, 0, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_WIN, "win is ", MPI_Rget_c, got, 1, MPI_INT, 0, 0, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_WIN, "win is ", MPI_Accumulate_c, data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Get_accumulate_c, data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_WIN, "win is ", MPI_Raccumulate_c, data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_WIN, "win is ", MPI_Rget_accumulate_c, data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w, &r);
}

/* No place for what a function gives. */
static void places(MPI_Win w)
{
    int n;
    MPI_Aint bytes, unit;
    void *place;
    char name[MPI_MAX_OBJECT_NAME];
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_create, ten, 4, 1, I, S, NULL);
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_create_c, ten, 4, 1, I, S, NULL);
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_allocate, 4, 1, I, S, &place, NULL);
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_allocate_c, 4, 1, I, S, &place, NULL);
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_allocate_shared, 4, 1, I, S, &place, NULL);
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_allocate_shared_c, 4, 1, I, S, &place, NULL);
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_create_dynamic, I, S, NULL);
    BAD(MPI_ERR_ARG, "win is NULL", MPI_Win_free, NULL);
    BAD(MPI_ERR_ARG, "baseptr is NULL", MPI_Win_allocate, 4, 1, I, S, NULL, &made);
    BAD(MPI_ERR_ARG, "baseptr is NULL", MPI_Win_allocate_c, 4, 1, I, S, NULL, &made);
    BAD(MPI_ERR_ARG, "baseptr is NULL", MPI_Win_allocate_shared, 4, 1, I, S, NULL, &made);
    BAD(MPI_ERR_ARG, "baseptr is NULL", MPI_Win_allocate_shared_c, 4, 1, I, S, NULL, &made);
    BAD(MPI_ERR_ARG, "group is NULL", MPI_Win_get_group, w, NULL);
    BAD(MPI_ERR_ARG, "info_used is NULL", MPI_Win_get_info, w, NULL);
    BAD(MPI_ERR_ARG, "win_name is NULL", MPI_Win_set_name, w, NULL);
    BAD(MPI_ERR_ARG, "win_name is NULL", MPI_Win_get_name, w, NULL, &n);
    BAD(MPI_ERR_ARG, "resultlen is NULL", MPI_Win_get_name, w, name, NULL);
    BAD(MPI_ERR_ARG, "errhandler is NULL", MPI_Win_get_errhandler, w, NULL);
    BAD(MPI_ERR_ARG, "attribute_val is NULL", MPI_Win_get_attr, w, MPI_WIN_BASE, NULL, &n);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Win_get_attr, w, MPI_WIN_BASE, &place, NULL);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Win_shared_query, w, 0, NULL, &n, &place);
    BAD(MPI_ERR_ARG, "disp_unit is NULL", MPI_Win_shared_query, w, 0, &bytes, NULL, &place);
    BAD(MPI_ERR_ARG, "baseptr is NULL", MPI_Win_shared_query, w, 0, &bytes, &n, NULL);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Win_shared_query_c, w, 0, NULL, &unit, &place);
    BAD(MPI_ERR_ARG, "disp_unit is NULL", MPI_Win_shared_query_c, w, 0, &bytes, NULL, &place);
    BAD(MPI_ERR_ARG, "baseptr is NULL", MPI_Win_shared_query_c, w, 0, &bytes, &unit, NULL);
    BAD(MPI_ERR_RANK, "rank is 1", MPI_Win_shared_query, w, 1, &bytes, &n, &place);
    BAD(MPI_ERR_RANK, "rank is -7", MPI_Win_shared_query_c, w, -7, &bytes, &unit, &place);
    OK(MPI_Win_post(group, 0, w));
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Win_test, w, NULL);
    OK(MPI_Win_start(group, 0, w));
    OK(MPI_Win_complete(w));
    OK(MPI_Win_wait(w));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Rput, data, 1, MPI_INT, 0, 0, 1, MPI_INT, w, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Rget, got, 1, MPI_INT, 0, 0, 1, MPI_INT, w, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Raccumulate, data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w, NULL);
    BAD(MPI_ERR_ARG, "request is NULL", MPI_Rget_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w, NULL);
    BAD(MPI_ERR_TYPE, "MPI_FLOAT", MPI_Get_accumulate, data, 1, MPI_INT, got, 1, MPI_FLOAT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_TYPE, "MPI_FLOAT", MPI_Get_accumulate, NULL, 0, MPI_INT, got, 1, MPI_FLOAT, 0, 0, 1, MPI_INT, MPI_NO_OP, w);
    BAD(MPI_ERR_TYPE, "MPI_CHARACTER", MPI_Compare_and_swap, data, data, got, MPI_CHARACTER, 0, 0, w);
    OK(MPI_Win_unlock(0, w));
}

/* Every rank has memory of another size, in other units: what is said of a target is about that one. */
static void targets(enum flavor flavor)
{
    int other = (rank + 1) % size, mine = 10 + 7 * rank, bytes = 4 * (10 + 7 * other), *memory = NULL;
    char text[80];
    MPI_Win w;
    MPI_Request r;
    if (!can_make(flavor)) return;
    if (flavor == CREATE) memory = malloc(4 * (size_t)mine);
    if (flavor == HEAP) OK(MPI_Alloc_mem(4096, I, &memory));
    if (flavor == ALLOCATE) OK(MPI_Win_allocate(4 * mine, 1 + rank, I, MPI_COMM_WORLD, &memory, &w));
    else if (flavor == SHARED) OK(MPI_Win_allocate_shared(4 * mine, 1 + rank, I, MPI_COMM_WORLD, &memory, &w));
    else OK(MPI_Win_create(memory, 4 * mine, 1 + rank, I, MPI_COMM_WORLD, &w));
    memset(memory, 0, 4 * (size_t)mine);
    OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
    snprintf(text, sizeof text, "bytes 0..%d of rank %d, in units of %d", bytes, other, 1 + other);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, w));
    MPI_Aint beyond = bytes / (1 + other);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Put, data, 1, MPI_INT, other, beyond, 1, MPI_INT, w);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Get, got, 8, MPI_INT, other, beyond - 1, 8, MPI_INT, w);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Rput, data, 1, MPI_INT, other, beyond, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Rget, got, 1, MPI_INT, other, beyond, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Accumulate, data, 1, MPI_INT, other, beyond, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Get_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, other, beyond, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Fetch_and_op, data, got, MPI_INT, other, beyond, MPI_SUM, w);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Compare_and_swap, data, data, got, MPI_INT, other, beyond, w);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Raccumulate, data, 1, MPI_INT, other, beyond, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Rget_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, other, beyond, 1, MPI_INT, MPI_SUM, w, &r);
    /* The last that fits, which is outside of the memory of whoever has less. */
    OK(MPI_Accumulate(data, 1, MPI_INT, other, (bytes - 4) / (1 + other), 1, MPI_INT, MPI_SUM, w));
    OK(MPI_Win_unlock_all(w));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < mine; i++) EQUAL(memory[i], 0);
    OK(MPI_Win_free(&w));
    if (flavor == CREATE) free(memory);
    if (flavor == HEAP) OK(MPI_Free_mem(memory));
}

/* Another rank is in the epoch, this one is not, or the other way round. */
static void wrong_targets(enum flavor flavor)
{
    int other = (rank + 1) % size, before = (rank + size - 1) % size;
    char outside[80], unlocked[80];
    MPI_Group world, next, last;
    MPI_Request r;
    if (size == 1 || !can_make(flavor)) return;
    struct window made = make_window(flavor, 4, sizeof(int));
    MPI_Win w = made.win;
    MPI_Aint mine = place(&made, rank, 0), there = place(&made, other, 0);
    OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_incl(world, 1, &other, &next));
    OK(MPI_Group_incl(world, 1, &before, &last));
    snprintf(outside, sizeof outside, "target_rank is %d, which is not in the group of MPI_Win_start", rank);
    snprintf(unlocked, sizeof unlocked, "rank is %d, which this process has not locked", rank);
    OK(MPI_Win_post(last, 0, w));
    OK(MPI_Win_start(next, 0, w));
    BAD(MPI_ERR_RMA_SYNC, outside, MPI_Put, data, 1, MPI_INT, rank, mine, 1, MPI_INT, w);
    BAD(MPI_ERR_RMA_SYNC, outside, MPI_Get, got, 1, MPI_INT, rank, mine, 1, MPI_INT, w);
    BAD(MPI_ERR_RMA_SYNC, outside, MPI_Accumulate, data, 1, MPI_INT, rank, mine, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_RMA_SYNC, outside, MPI_Fetch_and_op, data, got, MPI_INT, rank, mine, MPI_SUM, w);
    BAD(MPI_ERR_RMA_SYNC, outside, MPI_Compare_and_swap, data, data + 1, got, MPI_INT, rank, mine, w);
    BAD(MPI_ERR_RMA_SYNC, "a target that is locked", MPI_Rput, data, 1, MPI_INT, other, there, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "expected a target that is locked", MPI_Win_flush, other, w);
    BAD(MPI_ERR_RMA_SYNC, "within the epoch of MPI_Win_start", MPI_Win_unlock, other, w);
    OK(MPI_Accumulate(data, 1, MPI_INT, other, there, 1, MPI_INT, MPI_SUM, w));
    OK(MPI_Win_complete(w));
    OK(MPI_Win_wait(w));
    OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w));
    BAD(MPI_ERR_RMA_SYNC, unlocked, MPI_Put, data, 1, MPI_INT, rank, mine, 1, MPI_INT, w);
    BAD(MPI_ERR_RMA_SYNC, unlocked, MPI_Get_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, rank, mine, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_RMA_SYNC, unlocked, MPI_Rget, got, 1, MPI_INT, rank, mine, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_SYNC, unlocked, MPI_Raccumulate, data, 1, MPI_INT, rank, mine, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_RMA_SYNC, unlocked, MPI_Win_flush, rank, w);
    BAD(MPI_ERR_RMA_SYNC, unlocked, MPI_Win_flush_local, rank, w);
    BAD(MPI_ERR_RMA_SYNC, unlocked, MPI_Win_unlock, rank, w);
    BAD(MPI_ERR_RMA_SYNC, "within the epoch of MPI_Win_lock", MPI_Win_unlock_all, w);
    BAD(MPI_ERR_RMA_SYNC, "within the epoch of MPI_Win_lock", MPI_Win_complete, w);
    OK(MPI_Accumulate(data, 1, MPI_INT, other, there, 1, MPI_INT, MPI_SUM, w));
    OK(MPI_Win_unlock(other, w));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 4; i++) EQUAL(((int *)(void *)made.base)[i], 0);
    OK(MPI_Group_free(&world));
    OK(MPI_Group_free(&next));
    OK(MPI_Group_free(&last));
    free_window(&made);
}

/* Memory of another rank that it has detached, or never had attached: what needs its answer is refused, and says where. */
static void detached(void)
{
    static int kept[10], gone[10];
    int other = (rank + 1) % size;
    MPI_Aint mine[2], *all = malloc(2 * (size_t)size * sizeof *all);
    char text[120], beyond[120];
    MPI_Win w;
    MPI_Request r;
    OK(MPI_Win_create_dynamic(I, MPI_COMM_WORLD, &w));
    OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
    OK(MPI_Win_attach(w, kept, sizeof kept));
    OK(MPI_Win_attach(w, gone, sizeof gone));
    OK(MPI_Get_address(kept, &mine[0]));
    OK(MPI_Get_address(gone, &mine[1]));
    OK(MPI_Allgather(mine, 2, MPI_AINT, all, 2, MPI_AINT, MPI_COMM_WORLD));
    MPI_Aint there = all[2 * other], lost = all[2 * other + 1];
    OK(MPI_Win_lock_all(0, w));
    OK(MPI_Accumulate(data, 8, MPI_INT, other, lost, 8, MPI_INT, MPI_SUM, w));
    OK(MPI_Win_flush(other, w));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_detach(w, gone));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    snprintf(text, sizeof text, "rank %d of the world refuses access to 4 bytes at %lld: no attached memory has all of them", other, (long long)lost);
    snprintf(beyond, sizeof beyond, "rank %d of the world refuses access to 8 bytes at %lld: no attached", other, (long long)there + 36);
    OK(MPI_Put(data, 1, MPI_INT, other, lost, 1, MPI_INT, w));
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Win_flush, other, w);
    OK(MPI_Get(got, 2, MPI_INT, other, there + 36, 2, MPI_INT, w));
    BAD(MPI_ERR_RMA_RANGE, beyond, MPI_Win_flush_all, w);
    OK(MPI_Accumulate(data, 1, MPI_INT, other, lost, 1, MPI_INT, MPI_SUM, w));
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Win_flush, other, w);
    OK(MPI_Fetch_and_op(data, got, MPI_INT, other, lost, MPI_SUM, w));
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Win_flush, other, w);
    OK(MPI_Compare_and_swap(data, data + 1, got, MPI_INT, other, lost, w));
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Win_flush_local, other, w);
    OK(MPI_Rget(got, 1, MPI_INT, other, lost, 1, MPI_INT, w, &r));
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Wait, &r, MPI_STATUS_IGNORE);
    OK(MPI_Put(data, 1, MPI_INT, other, lost, 1, MPI_INT, w));
    BAD(MPI_ERR_RMA_RANGE, text, MPI_Win_unlock_all, w);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < 10; i++) EQUAL(kept[i] + gone[i], 0);
    OK(MPI_Win_detach(w, kept));
    OK(MPI_Win_free(&w));
    free(all);
}

static void constructors(void)
{
    void *base;
    EACH(BAD_COMM, MPI_Comm, c) {
        BAD(MPI_ERR_COMM, "comm is ", MPI_Win_create, data, 4, 1, I, c, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Win_create_c, data, 4, 1, I, c, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Win_allocate, 4, 1, I, c, &base, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Win_allocate_shared, 4, 1, I, c, &base, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Win_allocate_c, 4, 1, I, c, &base, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Win_allocate_shared_c, 4, 1, I, c, &base, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Win_create_dynamic, I, c, &made);
    }
    EACH_NOT_NULL(BAD_INFO, MPI_Info, i, MPI_INFO_NULL) {
        BAD(MPI_ERR_INFO, "info is ", MPI_Win_create, data, 4, 1, i, S, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Win_allocate, 4, 1, i, S, &base, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Win_allocate_shared, 4, 1, i, S, &base, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Win_create_c, data, 4, 1, i, S, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Win_allocate_c, 4, 1, i, S, &base, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Win_allocate_shared_c, 4, 1, i, S, &base, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Win_create_dynamic, i, S, &made);
    }
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_create, data, -1, 1, I, S, &made);
    BAD(MPI_ERR_SIZE, "size is -4", MPI_Win_allocate, -4, 1, I, S, &base, &made);
    BAD(MPI_ERR_SIZE, "size is -4", MPI_Win_allocate_shared_c, -4, 1, I, S, &base, &made);
    BAD(MPI_ERR_DISP, "disp_unit is 0", MPI_Win_create, data, 4, 0, I, S, &made);
    BAD(MPI_ERR_DISP, "disp_unit is -3", MPI_Win_allocate_c, 4, -3, I, S, &base, &made);
    BAD(MPI_ERR_BASE, "base is NULL", MPI_Win_create, NULL, 4, 1, I, S, &made);
    BAD(MPI_ERR_NO_MEM, "no memory", MPI_Win_allocate, (MPI_Aint)1 << 60, 1, I, S, &base, &made);
    BAD(MPI_ERR_NO_MEM, "no memory", MPI_Win_allocate_shared, (MPI_Aint)1 << 60, 1, I, S, &base, &made);
}

/* What is called outside of an epoch, or in one of another kind; `at` is where there is memory. */
static void epochs(MPI_Win w, MPI_Aint at)
{
    int flag;
    MPI_Request r;
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Put, data, 1, MPI_INT, 0, at, 1, MPI_INT, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Get, got, 1, MPI_INT, 0, at, 1, MPI_INT, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Accumulate, data, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Get_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Fetch_and_op, data, got, MPI_INT, 0, at, MPI_SUM, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Compare_and_swap, data, data + 1, got, MPI_INT, 0, at, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Rput_c, data, 1, MPI_INT, 0, at, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Rget, got, 1, MPI_INT, 0, at, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Raccumulate, data, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Rget_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Win_flush_local, 0, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Win_flush_local_all, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Win_unlock, 0, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Win_unlock_all, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Win_complete, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Win_flush, 0, w);
    BAD(MPI_ERR_RMA_SYNC, "no access epoch", MPI_Win_flush_all, w);
    BAD(MPI_ERR_RMA_SYNC, "no exposure epoch", MPI_Win_wait, w);
    BAD(MPI_ERR_RMA_SYNC, "no exposure epoch", MPI_Win_test, w, &flag);
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_lock", MPI_Win_fence, 0, w);
    BAD(MPI_ERR_RANK, "rank is 1", MPI_Win_unlock, 1, w);
    BAD(MPI_ERR_RANK, "rank is -9", MPI_Win_unlock, -9, w);
    BAD(MPI_ERR_RANK, "rank is 5", MPI_Win_flush_local, 5, w);
    BAD(MPI_ERR_RMA_SYNC, "has locked", MPI_Win_lock, MPI_LOCK_SHARED, 0, 0, w);
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock before", MPI_Win_lock_all, 0, w);
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock before", MPI_Win_start, group, 0, w);
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock before", MPI_Win_free, &w);
    OK(MPI_Win_unlock(0, w));
    OK(MPI_Win_lock_all(0, w));
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all before", MPI_Win_lock, MPI_LOCK_SHARED, 0, 0, w);
    OK(MPI_Win_unlock_all(w));
    OK(MPI_Win_fence(0, w));
    BAD(MPI_ERR_RMA_SYNC, "a target that is locked", MPI_Rput, data, 1, MPI_INT, 0, at, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "a target that is locked", MPI_Rget_c, got, 1, MPI_INT, 0, at, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "a target that is locked", MPI_Raccumulate, data, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_RMA_SYNC, "a target that is locked", MPI_Rget_accumulate_c, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
    OK(MPI_Put(data, 1, MPI_INT, 0, at, 1, MPI_INT, w));
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_fence before", MPI_Win_lock_all, 0, w);
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
    OK(MPI_Win_post(group, 0, w));
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_wait before", MPI_Win_post, group, 0, w);
    BAD(MPI_ERR_RMA_SYNC, "MPI_Win_wait before", MPI_Win_fence, 0, w);
    OK(MPI_Win_start(group, 0, w));
    OK(MPI_Win_complete(w));
    OK(MPI_Win_wait(w));
    BAD(MPI_ERR_LOCKTYPE, "lock_type is 7", MPI_Win_lock, 7, 0, 0, w);
    BAD(MPI_ERR_RANK, "rank is 1", MPI_Win_lock, MPI_LOCK_SHARED, 1, 0, w);
    BAD(MPI_ERR_ASSERT, "assert is 0x40", MPI_Win_fence, 64, w);
    BAD(MPI_ERR_ASSERT, "assert is ", MPI_Win_lock, MPI_LOCK_SHARED, 0, MPI_MODE_NOPUT, w);
    BAD(MPI_ERR_ASSERT, "assert is ", MPI_Win_lock_all, MPI_MODE_NOSTORE, w);
    BAD(MPI_ERR_ASSERT, "assert is ", MPI_Win_post, group, MPI_MODE_NOSUCCEED, w);
    BAD(MPI_ERR_ASSERT, "assert is ", MPI_Win_start, group, MPI_MODE_NOPRECEDE, w);
    EACH(BAD_GROUP, MPI_Group, g) if (g != MPI_GROUP_EMPTY) {
        BAD(MPI_ERR_GROUP, "group is ", MPI_Win_post, g, 0, w);
        BAD(MPI_ERR_GROUP, "group is ", MPI_Win_start, g, 0, w);
    }
}

/* Accesses of a window of ten ints at this process. */
static void accesses(MPI_Win w, int units)
{
    MPI_Datatype some, loose;
    MPI_Request r;
    MPI_Aint at = units ? 0 : here;
    OK(MPI_Type_contiguous(2, MPI_FLOAT, &some));
    OK(MPI_Type_commit(&some));
    OK(MPI_Type_contiguous(2, MPI_INT, &loose));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
    EACH(BAD_TYPE, MPI_Datatype, t) {
        BAD(MPI_ERR_TYPE, "origin_datatype is ", MPI_Put, data, 1, t, 0, 0, 1, MPI_INT, w);
        BAD(MPI_ERR_TYPE, "target_datatype is ", MPI_Get, got, 1, MPI_INT, 0, 0, 1, t, w);
        BAD(MPI_ERR_TYPE, "origin_datatype is ", MPI_Accumulate, data, 1, t, 0, 0, 1, MPI_INT, MPI_SUM, w);
        BAD(MPI_ERR_TYPE, "result_datatype is ", MPI_Get_accumulate, data, 1, MPI_INT, got, 1, t, 0, 0, 1, MPI_INT, MPI_SUM, w);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Fetch_and_op, data, got, t, 0, 0, MPI_SUM, w);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Compare_and_swap, data, data, got, t, 0, 0, w);
        BAD(MPI_ERR_TYPE, "target_datatype is ", MPI_Put_c, data, 1, MPI_INT, 0, at, 1, t, w);
        BAD(MPI_ERR_TYPE, "origin_datatype is ", MPI_Get_c, got, 1, t, 0, at, 1, MPI_INT, w);
        BAD(MPI_ERR_TYPE, "target_datatype is ", MPI_Accumulate_c, data, 1, MPI_INT, 0, at, 1, t, MPI_SUM, w);
        BAD(MPI_ERR_TYPE, "origin_datatype is ", MPI_Get_accumulate_c, data, 1, t, got, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w);
        BAD(MPI_ERR_TYPE, "origin_datatype is ", MPI_Rput, data, 1, t, 0, at, 1, MPI_INT, w, &r);
        BAD(MPI_ERR_TYPE, "target_datatype is ", MPI_Rput_c, data, 1, MPI_INT, 0, at, 1, t, w, &r);
        BAD(MPI_ERR_TYPE, "target_datatype is ", MPI_Rget, got, 1, MPI_INT, 0, at, 1, t, w, &r);
        BAD(MPI_ERR_TYPE, "origin_datatype is ", MPI_Rget_c, got, 1, t, 0, at, 1, MPI_INT, w, &r);
        BAD(MPI_ERR_TYPE, "target_datatype is ", MPI_Raccumulate, data, 1, MPI_INT, 0, at, 1, t, MPI_SUM, w, &r);
        BAD(MPI_ERR_TYPE, "origin_datatype is ", MPI_Raccumulate_c, data, 1, t, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
        BAD(MPI_ERR_TYPE, "result_datatype is ", MPI_Rget_accumulate, data, 1, MPI_INT, got, 1, t, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
        BAD(MPI_ERR_TYPE, "target_datatype is ", MPI_Rget_accumulate_c, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, t, MPI_SUM, w, &r);
    }
    EACH(BAD_OP, MPI_Op, o) {
        BAD(MPI_ERR_OP, "op is ", MPI_Accumulate, data, 1, MPI_INT, 0, 0, 1, MPI_INT, o, w);
        BAD(MPI_ERR_OP, "op is ", MPI_Fetch_and_op, data, got, MPI_INT, 0, 0, o, w);
        BAD(MPI_ERR_OP, "op is ", MPI_Get_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, o, w);
        BAD(MPI_ERR_OP, "op is ", MPI_Accumulate_c, data, 1, MPI_INT, 0, at, 1, MPI_INT, o, w);
        BAD(MPI_ERR_OP, "op is ", MPI_Get_accumulate_c, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, o, w);
        BAD(MPI_ERR_OP, "op is ", MPI_Raccumulate, data, 1, MPI_INT, 0, at, 1, MPI_INT, o, w, &r);
        BAD(MPI_ERR_OP, "op is ", MPI_Raccumulate_c, data, 1, MPI_INT, 0, at, 1, MPI_INT, o, w, &r);
        BAD(MPI_ERR_OP, "op is ", MPI_Rget_accumulate, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, o, w, &r);
        BAD(MPI_ERR_OP, "op is ", MPI_Rget_accumulate_c, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, o, w, &r);
    }
    /* Without elements there is nothing that could differ, nor with nobody. */
    OK(MPI_Get_accumulate(data, 0, MPI_INT, got, 0, MPI_BYTE, 0, 0, 0, MPI_FLOAT, MPI_SUM, w));
    OK(MPI_Get_accumulate(data, 1, MPI_INT, got, 1, MPI_FLOAT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, w));
    OK(MPI_Accumulate(data, 0, MPI_INT, 0, 0, 0, MPI_FLOAT, MPI_SUM, w));
    BAD(MPI_ERR_TYPE, "the uncommitted type", MPI_Put, data, 1, loose, 0, 0, 2, MPI_INT, w);
    BAD(MPI_ERR_OP, "op is ", MPI_Accumulate, data, 1, MPI_INT, 0, 0, 1, MPI_INT, bad_live_op, w);
    BAD(MPI_ERR_OP, "op is MPI_NO_OP", MPI_Accumulate, data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_NO_OP, w);
    BAD(MPI_ERR_OP, "MPI_BAND on MPI_FLOAT", MPI_Accumulate, data, 1, MPI_FLOAT, 0, 0, 1, MPI_FLOAT, MPI_BAND, w);
    BAD(MPI_ERR_TYPE, "MPI_FLOAT", MPI_Accumulate, data, 1, some, 0, 0, 2, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_TYPE, "datatype is MPI_FLOAT", MPI_Compare_and_swap, data, data, got, MPI_FLOAT, 0, 0, w);
    BAD(MPI_ERR_TYPE, "datatype is ", MPI_Fetch_and_op, data, got, some, 0, 0, MPI_SUM, w);
    BAD(MPI_ERR_TYPE, "8 bytes, as at the origin", MPI_Put, data, 2, MPI_INT, 0, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_TYPE, "4 bytes, as at the origin", MPI_Get_accumulate, data, 1, MPI_INT, got, 2, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_COUNT, "origin_count is -1", MPI_Put, data, -1, MPI_INT, 0, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_COUNT, "target_count is -2", MPI_Get_c, got, 1, MPI_INT, 0, 0, -2, MPI_INT, w);
    BAD(MPI_ERR_COUNT, "result_count is -3", MPI_Get_accumulate, data, 1, MPI_INT, got, -3, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_COUNT, "origin_count is -1", MPI_Put_c, data, -1, MPI_INT, 0, at, 1, MPI_INT, w);
    BAD(MPI_ERR_COUNT, "target_count is -2", MPI_Accumulate, data, 1, MPI_INT, 0, at, -2, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_COUNT, "origin_count is -1", MPI_Accumulate_c, data, -1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_COUNT, "target_count is -2", MPI_Get_accumulate_c, data, 1, MPI_INT, got, 1, MPI_INT, 0, at, -2, MPI_INT, MPI_SUM, w);
    BAD(MPI_ERR_COUNT, "origin_count is -1", MPI_Rput, data, -1, MPI_INT, 0, at, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_COUNT, "target_count is -2", MPI_Rput_c, data, 1, MPI_INT, 0, at, -2, MPI_INT, w, &r);
    BAD(MPI_ERR_COUNT, "target_count is -2", MPI_Rget, got, 1, MPI_INT, 0, at, -2, MPI_INT, w, &r);
    BAD(MPI_ERR_COUNT, "origin_count is -1", MPI_Rget_c, got, -1, MPI_INT, 0, at, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_COUNT, "origin_count is -1", MPI_Raccumulate, data, -1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_COUNT, "target_count is -2", MPI_Raccumulate_c, data, 1, MPI_INT, 0, at, -2, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_COUNT, "result_count is -3", MPI_Rget_accumulate, data, 1, MPI_INT, got, -3, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_COUNT, "origin_count is -1", MPI_Rget_accumulate_c, data, -1, MPI_INT, got, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_TYPE, "8 bytes, as at the origin", MPI_Rput, data, 2, MPI_INT, 0, at, 1, MPI_INT, w, &r);
    BAD(MPI_ERR_TYPE, "4 bytes, as at the origin", MPI_Rget_c, got, 1, MPI_INT, 0, at, 2, MPI_INT, w, &r);
    BAD(MPI_ERR_TYPE, "MPI_FLOAT", MPI_Raccumulate_c, data, 1, some, 0, at, 2, MPI_INT, MPI_SUM, w, &r);
    BAD(MPI_ERR_OP, "op is MPI_NO_OP", MPI_Raccumulate, data, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_NO_OP, w, &r);
    BAD(MPI_ERR_OP, "MPI_BAND on MPI_FLOAT", MPI_Rget_accumulate, data, 1, MPI_FLOAT, got, 1, MPI_FLOAT, 0, at, 1, MPI_FLOAT, MPI_BAND, w, &r);
    BAD(MPI_ERR_BUFFER, "origin_addr is NULL", MPI_Put, NULL, 1, MPI_INT, 0, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_BUFFER, "result_addr is NULL", MPI_Fetch_and_op, data, NULL, MPI_INT, 0, 0, MPI_SUM, w);
    BAD(MPI_ERR_BUFFER, "compare_addr is NULL", MPI_Compare_and_swap, data, NULL, got, MPI_INT, 0, 0, w);
    BAD(MPI_ERR_RANK, "target_rank is 1", MPI_Put, data, 1, MPI_INT, 1, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_RANK, "target_rank is -1", MPI_Get, got, 1, MPI_INT, -1, 0, 1, MPI_INT, w);
    BAD(MPI_ERR_ARG, "request", MPI_Rput, data, 1, MPI_INT, 0, 0, 1, MPI_INT, w, NULL);
    BAD(MPI_ERR_RANK, "rank is 5", MPI_Win_flush, 5, w);
    if (units) {
        BAD(MPI_ERR_RMA_RANGE, "bytes 0..40 of rank 0", MPI_Put, data, 2, MPI_INT, 0, 9, 2, MPI_INT, w);
        BAD(MPI_ERR_RMA_RANGE, "10: 1 elements of MPI_INT", MPI_Rget, got, 1, MPI_INT, 0, 10, 1, MPI_INT, w, &r);
        BAD(MPI_ERR_RMA_RANGE, "bytes 0..40 of rank 0", MPI_Fetch_and_op, data, got, MPI_INT, 0, (MPI_Aint)1 << 62, MPI_SUM, w);
        BAD(MPI_ERR_RMA_RANGE, "bytes 0..40 of rank 0", MPI_Compare_and_swap, data, data, got, MPI_INT, 0, 10, w);
        BAD(MPI_ERR_DISP, "target_disp is -1", MPI_Put, data, 1, MPI_INT, 0, -1, 1, MPI_INT, w);
    }
    for (int i = 0; i < 10; i++) EQUAL(ten[i], 0);
    OK(MPI_Win_unlock(0, w));
    OK(MPI_Type_free(&some));
    OK(MPI_Type_free(&loose));
}

/* Memory that is not attached, and what attaching refuses. */
static void dynamic(MPI_Win w, MPI_Win other)
{
    void *place;
    int n;
    MPI_Aint bytes;
    BAD(MPI_ERR_RMA_FLAVOR, "a window of MPI_Win_create", MPI_Win_attach, other, ten, 4);
    BAD(MPI_ERR_RMA_FLAVOR, "a window of MPI_Win_create", MPI_Win_detach, other, ten);
    BAD(MPI_ERR_RMA_FLAVOR, "a dynamic window", MPI_Win_shared_query, w, 0, &bytes, &n, &place);
    BAD(MPI_ERR_SIZE, "size is -1", MPI_Win_attach, w, ten, -1);
    BAD(MPI_ERR_BASE, "base is NULL", MPI_Win_attach, w, NULL, 4);
    BAD(MPI_ERR_RMA_ATTACH, "apart from what is attached", MPI_Win_attach, w, ten + 5, 4);
    BAD(MPI_ERR_BASE, "base is ", MPI_Win_detach, w, ten + 1);
    OK(MPI_Win_lock_all(0, w));
    OK(MPI_Get(got, 1, MPI_INT, 0, here + 40, 1, MPI_INT, w));
    BAD(MPI_ERR_RMA_RANGE, "no attached memory has all of them", MPI_Win_flush, 0, w);
    OK(MPI_Put(data, 2, MPI_INT, 0, here + 36, 2, MPI_INT, w));
    BAD(MPI_ERR_RMA_RANGE, "no attached memory has all of them", MPI_Win_flush_all, w);
    OK(MPI_Win_unlock_all(w));
    for (int i = 0; i < 10; i++) EQUAL(ten[i], 0);
}

int main(int argc, char **argv)
{
    MPI_Win fixed, mapped, shared, loose, freed;
    int *base;
    bad_start(&argc, &argv);
    OK(MPI_Comm_set_errhandler(S, MPI_ERRORS_RETURN));
    OK(MPI_Comm_group(S, &group));
    constructors();
    OK(MPI_Win_create(ten, sizeof ten, sizeof(int), I, S, &fixed));
    OK(MPI_Win_allocate(sizeof ten, sizeof(int), I, S, &base, &mapped));
    OK(MPI_Win_allocate_shared(sizeof ten, sizeof(int), I, S, &base, &shared));
    OK(MPI_Win_create_dynamic(I, S, &loose));
    OK(MPI_Win_attach(loose, ten, sizeof ten));
    OK(MPI_Get_address(ten, &here));
    OK(MPI_Win_create(NULL, 0, 1, I, S, &freed));
    MPI_Win gone = freed;
    OK(MPI_Win_free(&freed));
    const uintptr_t wild[] = {0, 1, 0x1000, 0x7fffffff, UINTPTR_MAX, (uintptr_t)MPI_COMM_WORLD, (uintptr_t)MPI_INT};
    for (size_t i = 0; i < sizeof wild / sizeof *wild; i++) wrong_windows((MPI_Win)wild[i]);
    wrong_windows(MPI_WIN_NULL);
    wrong_windows(gone);
    MPI_Win all[] = {fixed, mapped, shared, loose};
    for (int i = 0; i < 4; i++) {
        int is_loose = all[i] == loose;
        OK(MPI_Win_set_errhandler(all[i], MPI_ERRORS_RETURN));
        BAD(MPI_ERR_KEYVAL, "win_keyval is ", MPI_Win_set_attr, all[i], MPI_WIN_SIZE, &i);
        BAD(MPI_ERR_KEYVAL, "keyval is 12345", MPI_Win_delete_attr, all[i], 12345);
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_Win_set_errhandler, all[i], bad_live_errhandler);
        epochs(all[i], is_loose ? here : 0);
        if (!is_loose) places(all[i]);
        accesses(all[i], !is_loose);
    }
    dynamic(loose, fixed);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (flavor != AGAIN && flavor != DYNAMIC) targets(flavor);
        wrong_targets(flavor);
    }
    detached();
    /* What goes wrong at one is told to all. */
    if (rank == 1) BAD(MPI_ERR_NO_MEM, "no memory", MPI_Win_allocate, (MPI_Aint)1 << 60, 1, I, MPI_COMM_WORLD, &base, &made);
    else if (size > 1) BAD(MPI_ERR_OTHER, "rank 1 has failed", MPI_Win_allocate, 8, 1, I, MPI_COMM_WORLD, &base, &made);
    OK(MPI_Win_free(&fixed));
    OK(MPI_Win_free(&mapped));
    OK(MPI_Win_free(&shared));
    OK(MPI_Win_free(&loose));
    OK(MPI_Group_free(&group));
    return bad_end();
}
