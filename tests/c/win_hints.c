// ranks: 1 2
// only: posthaste
/* Hints of windows: those that are known are shown with the value in force, and are kept to. MPI-5.0 sections 12.2.1 to 12.2.4,
 * 12.2.7, 12.4.3. */
#include "win.h"
#include <stdint.h>

static void shows(MPI_Win win, const char *key, const char *expected)
{
    char value[128] = "";
    int flag, length = sizeof value;
    MPI_Info used;
    OK(MPI_Win_get_info(win, &used));
    OK(MPI_Info_get_string(used, key, &length, value, &flag));
    OK(MPI_Info_free(&used));
    if (flag != (expected != NULL) || (flag && strcmp(value, expected))) FAIL("%s is \"%s\" (%d)", key, value, flag);
}

static MPI_Info hints(const char *const pairs[][2])
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    for (int i = 0; pairs[i][0]; i++) OK(MPI_Info_set(info, pairs[i][0], pairs[i][1]));
    return info;
}

static const char *const wanted[][2] = {
    {"no_locks", "true"},          {"accumulate_ordering", "rar,waw"},    {"accumulate_ops", "same_op"},
    {"same_size", "true"},         {"same_disp_unit", "true"},            {"mpi_accumulate_granularity", "64"},
    {"mpi_memory_alloc_kinds", "system,cuda:device"}, {"who_knows", "this"}, {"mpi_minimum_memory_alignment", "512"}, {"alloc_shared_noncontig", "true"},
    {NULL, NULL},
};

static void in_force(MPI_Win win, int flavor, int are_same)
{
    int is_allocated = flavor == MPI_WIN_FLAVOR_ALLOCATE || flavor == MPI_WIN_FLAVOR_SHARED;
    shows(win, "no_locks", "true");
    shows(win, "accumulate_ordering", "rar,waw");
    shows(win, "accumulate_ops", "same_op");
    shows(win, "mpi_accumulate_granularity", "64");
    shows(win, "same_size", are_same ? "true" : "false");
    shows(win, "same_disp_unit", "true");
    shows(win, "mpi_memory_alloc_kinds", "mpi,system");
    shows(win, "mpi_minimum_memory_alignment", is_allocated ? "512" : NULL);
    shows(win, "alloc_shared_noncontig", flavor == MPI_WIN_FLAVOR_SHARED ? "true" : NULL);
    shows(win, "who_knows", NULL);
    /* Without locks there are fences. */
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC);
    REFUSED(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
    OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    const char *const other[][2] = {{"no_locks", "false"}, {"accumulate_ordering", "none"}, {"accumulate_ops", "no_such"}, {"same_size", "false"}, {NULL, NULL}};
    MPI_Info info = hints(other);
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
    shows(win, "no_locks", "false");
    shows(win, "accumulate_ordering", "none");
    shows(win, "accumulate_ops", "same_op");
    shows(win, "same_size", are_same ? "true" : "false");
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Win_unlock_all(win));
}

/* Memory is in pieces only if all ask for that: otherwise parts would overlap. */
static void only_some_ask(void)
{
    const char *const apart[][2] = {{"alloc_shared_noncontig", "true"}, {NULL, NULL}};
    MPI_Info info = rank == 0 ? hints(apart) : MPI_INFO_NULL;
    MPI_Win win;
    char *base, *theirs;
    MPI_Aint bytes;
    int unit;
    OK(MPI_Win_allocate_shared(100, 1, info, MPI_COMM_WORLD, &base, &win));
    shows(win, "alloc_shared_noncontig", size == 1 ? "true" : "false");
    memset(base, 'a' + rank, 100);
    OK(MPI_Win_fence(0, win));
    for (int other = 0; other < size; other++) {
        OK(MPI_Win_shared_query(win, other, &bytes, &unit, &theirs));
        for (int i = 0; i < 100; i++) CHECK(theirs[i] == 'a' + other, "byte %d of rank %d is %c", i, other, theirs[i]);
        EQUAL(theirs - base, 100 * (other - rank));
    }
    OK(MPI_Win_free(&win));
    if (info != MPI_INFO_NULL) OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    static char memory[1024];
    MPI_Win win;
    char *base;
    MPI_Info info = hints(wanted);
    for (int apart = 0; apart < 2; apart++) {
        MPI_Aint bytes = 100 + apart * rank;
        int are_same = !apart || size == 1;
        OK(MPI_Win_create(memory, bytes, 4, info, MPI_COMM_WORLD, &win));
        in_force(win, MPI_WIN_FLAVOR_CREATE, are_same);
        OK(MPI_Win_free(&win));
        OK(MPI_Win_allocate(bytes, 4, info, MPI_COMM_WORLD, &base, &win));
        CHECK((uintptr_t)base % 512 == 0, "%p is not aligned", (void *)base);
        in_force(win, MPI_WIN_FLAVOR_ALLOCATE, are_same);
        OK(MPI_Win_free(&win));
        if (!can_make(SHARED)) continue;
        OK(MPI_Win_allocate_shared(bytes, 4, info, MPI_COMM_WORLD, &base, &win));
        CHECK((uintptr_t)base % 512 == 0, "%p is not aligned", (void *)base);
        in_force(win, MPI_WIN_FLAVOR_SHARED, are_same);
        OK(MPI_Win_free(&win));
    }
    OK(MPI_Info_free(&info));
    if (can_make(SHARED)) only_some_ask();
    /* Without any. */
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    shows(win, "no_locks", "false");
    shows(win, "accumulate_ordering", "rar,raw,war,waw");
    shows(win, "accumulate_ops", "same_op_no_op");
    shows(win, "mpi_accumulate_granularity", "0");
    shows(win, "same_size", "false");
    shows(win, "same_disp_unit", "false");
    OK(MPI_Win_free(&win));
    return check_end();
}
