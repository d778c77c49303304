// ranks: 1 3
/* Windows as objects: memory and attributes of every flavor, ranks without memory, names, hints, groups, error handlers,
 * attributes of the program, memory that is shared. MPI-5.0 sections 12.2, 7.7.3, 7.8, 9.3.2. */
#include "win.h"

static void shown(MPI_Win win, const void *base, MPI_Aint bytes, int unit, int flavor)
{
    void *value;
    int flag;
    OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag));
    CHECK(flag && value == base, "%p, not %p", value, base);
    OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag));
    EQUAL(*(MPI_Aint *)value, bytes);
    OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag));
    EQUAL(*(int *)value, unit);
    OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag));
    EQUAL(*(int *)value, flavor);
    OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag));
    EQUAL(*(int *)value, MPI_WIN_UNIFIED);
}

static int deleted, told;

static int delete_attribute(MPI_Win win, int key, void *value, void *extra)
{
    (void)win, (void)key;
    deleted += *(int *)value + *(int *)extra;
    return MPI_SUCCESS;
}

static void handler(MPI_Win *win, int *code, ...)
{
    (void)win;
    told = *code;
}

static void object(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME], value[64] = "";
    int length = -1, flag, key, five = 5, forty = 40;
    MPI_Group group, world;
    OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 0 && !*name, "a new window is called \"%s\"", name);
    OK(MPI_Win_set_name(win, "board"));
    OK(MPI_Win_get_name(win, name, &length));
    CHECK(length == 5 && !strcmp(name, "board"), "\"%s\"", name);
    int same;
    OK(MPI_Win_get_group(win, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &same));
    EQUAL(same, MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    MPI_Info info, used;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "accumulate_ordering", "none"));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
    OK(MPI_Win_get_info(win, &used));
    length = sizeof value;
    OK(MPI_Info_get_string(used, "accumulate_ordering", &length, value, &flag));
    CHECK(flag && !strcmp(value, "none"), "%d \"%s\"", flag, value);
    length = sizeof value;
    OK(MPI_Info_get_string(used, "no_locks", &length, value, &flag));
    CHECK(flag && !strcmp(value, "false"), "%d \"%s\"", flag, value);
    OK(MPI_Info_free(&used));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_attribute, &key, &forty));
    void *found;
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    EQUAL(flag, 0);
    OK(MPI_Win_set_attr(win, key, &five));
    OK(MPI_Win_get_attr(win, key, &found, &flag));
    CHECK(flag && found == &five, "the attribute");
    deleted = 0;
    OK(MPI_Win_delete_attr(win, key));
    EQUAL(deleted, 45);
    OK(MPI_Win_set_attr(win, key, &five));
    OK(MPI_Win_free_keyval(&key));
    MPI_Errhandler made, set;
    OK(MPI_Win_get_errhandler(win, &set));
    CHECK(set == MPI_ERRORS_ARE_FATAL, "the first handler");
    OK(MPI_Win_create_errhandler(handler, &made));
    OK(MPI_Win_set_errhandler(win, made));
    OK(MPI_Win_get_errhandler(win, &set));
    CHECK(set == made, "the handler that was set");
    OK(MPI_Errhandler_free(&made));
    told = 0;
    OK(MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC));
    EQUAL(told, MPI_ERR_RMA_SYNC);
    told = 0;
    REFUSED(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
    EQUAL(told, MPI_ERR_RMA_SYNC);
}

/* Memory of `mine` bytes at this rank; loads and stores of all ranks reach it. */
static void shared(MPI_Aint mine, int apart)
{
    char *base, *theirs, *end = NULL;
    MPI_Aint bytes;
    int unit;
    MPI_Win win;
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false"));
    OK(MPI_Win_allocate_shared(mine, 1 + rank, info, MPI_COMM_WORLD, &base, &win));
    OK(MPI_Info_free(&info));
    for (MPI_Aint i = 0; i < mine; i++) EQUAL(base[i], 0);
    memset(base, 'a' + rank, (size_t)mine);
    OK(MPI_Win_fence(0, win));
    for (int other = 0; other < size; other++) {
        OK(MPI_Win_shared_query(win, other, &bytes, &unit, &theirs));
        EQUAL(unit, 1 + other);
        for (MPI_Aint i = 0; i < bytes; i++) EQUAL(theirs[i], 'a' + other);
        if (!apart && end) CHECK(theirs == end, "the memory of rank %d is not behind that of the one before", other);
        end = theirs + bytes;
        if (other == rank) CHECK(theirs == base && bytes == mine, "the own memory");
    }
    OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &theirs));
    CHECK(bytes > 0 && *theirs == 'a' + unit - 1, "the first memory");
    MPI_Aint large;
    OK(MPI_Win_shared_query_c(win, size - 1, &bytes, &large, &theirs));
    EQUAL(large, size);
    OK(MPI_Win_fence(0, win));
    shown(win, base, mine, 1 + rank, MPI_WIN_FLAVOR_SHARED);
    OK(MPI_Win_free(&win));
}

/* Only one rank has memory: the others reach all of it. */
static void one_has_all(enum flavor flavor)
{
    int mine = rank == size - 1 ? 100 : 0, value = rank + 1, last = size - 1;
    int *base = NULL, local[100] = {0};
    MPI_Win win;
    MPI_Aint bytes = mine * (MPI_Aint)sizeof(int);
    if (flavor == CREATE) {
        base = mine ? local : NULL;
        OK(MPI_Win_create(base, bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    } else if (flavor == ALLOCATE) {
        OK(MPI_Win_allocate(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    } else {
        OK(MPI_Win_allocate_shared(bytes, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    }
    if (flavor != CREATE) CHECK(base != NULL, "memory of no bytes has an address, too");
    OK(MPI_Win_fence(0, win));
    OK(MPI_Put(&value, 1, MPI_INT, last, 50 + rank, 1, MPI_INT, win));
    OK(MPI_Win_fence(0, win));
    for (int i = 0; mine && i < size; i++) EQUAL(base[50 + i], i + 1);
    OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int flavors[FLAVORS] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        struct window w = make_window(flavor, 10 + rank, 4);
        int is_dynamic = flavor == DYNAMIC;
        shown(w.win, is_dynamic ? MPI_BOTTOM : w.base, is_dynamic ? 0 : 4 * (10 + rank), is_dynamic ? 1 : 4, flavors[flavor]);
        object(w.win);
        deleted = 0;
        free_window(&w);
        EQUAL(deleted, 45);
        if (!is_dynamic && flavor != HEAP && flavor != AGAIN) one_has_all(flavor);
    }
    if (can_make(SHARED)) {
        shared(1000 + rank, 0);
        shared(1000 + rank, 1);
        shared(rank == 0 ? 10 : 0, 0);
        shared(rank == size - 1 ? 5000 : 0, 1);
    }
    /* Windows of a part of the world, and many at once. */
    MPI_Comm part;
    MPI_Win many[40];
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part));
    for (int i = 0; i < 40; i++) {
        int *base, at, of;
        OK(MPI_Comm_rank(part, &at));
        OK(MPI_Comm_size(part, &of));
        OK(MPI_Win_allocate_c(4, 4, MPI_INFO_NULL, part, &base, &many[i]));
        OK(MPI_Win_fence(0, many[i]));
        int value = 100 * i + at;
        OK(MPI_Put_c(&value, 1, MPI_INT, (at + 1) % of, 0, 1, MPI_INT, many[i]));
        OK(MPI_Win_fence(0, many[i]));
        EQUAL(*base, 100 * i + (at + of - 1) % of);
    }
    for (int i = 0; i < 40; i++) OK(MPI_Win_free(&many[i]));
    OK(MPI_Comm_free(&part));
    return check_end();
}
