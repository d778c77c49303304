// ranks: 1 3
// only: posthaste
/* MPI_Win_shared_query of windows that are created and allocated: the memory of a rank and its size, or size 0 where loads and stores do
 * not reach it. MPI-5.0 section 12.2.3. */
#include "win.h"

/* Whether loads and stores reach the memory of this rank; what they find there. */
static int reached(const struct window *w, int other)
{
    MPI_Aint bytes = -1, large = -1, bytes_c = -1;
    int unit = -1;
    char *theirs, *theirs_c;
    OK(MPI_Win_shared_query(w->win, other, &bytes, &unit, &theirs));
    OK(MPI_Win_shared_query_c(w->win, other, &bytes_c, &large, &theirs_c));
    EQUAL(unit, w->width);
    EQUAL(large, w->width);
    EQUAL(bytes_c, bytes);
    if (bytes == 0) return 0;
    CHECK(theirs == theirs_c, "%p, %p", (void *)theirs, (void *)theirs_c);
    EQUAL(bytes, 10 * w->width);
    for (MPI_Aint i = 0; i < bytes; i++) EQUAL(theirs[i], 'a' + other);
    if (other == rank) CHECK(theirs == w->base, "the own memory is at %p, not %p", (void *)w->base, (void *)theirs);
    return 1;
}

/* The first with memory: its memory if that is reached, and size 0 if there is none. */
static void first_with_memory(enum flavor flavor)
{
    char *base = NULL, own[40] = {0};
    MPI_Aint bytes = -1, mine = rank == size - 1 ? sizeof own : 0;
    int unit = -1;
    MPI_Win win;
    for (int none = 0; none < 2; none++) {
        if (none) mine = 0;
        if (flavor == CREATE) OK(MPI_Win_create(own, mine, 1 + rank, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
        else OK(MPI_Win_allocate(mine, 1 + rank, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base));
        if (none) CHECK(bytes == 0 && base == NULL, "%ld bytes at %p", (long)bytes, (void *)base);
        else CHECK((bytes == 0 || bytes == sizeof own) && unit == size, "%ld bytes, units of %d", (long)bytes, unit);
        OK(MPI_Win_free(&win));
    }
}

/* Memory is shared by all or by none. */
static void all_or_none(void)
{
    MPI_Win win = MPI_WIN_NULL;
    char *base;
    if (can_make(SHARED)) {
        OK(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
        OK(MPI_Win_free(&win));
    } else {
        REFUSED(MPI_Win_allocate_shared(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_RMA_SHARED);
        REFUSED(MPI_Win_allocate_shared_c(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_RMA_SHARED);
        CHECK(win == MPI_WIN_NULL, "a window that could not be made");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    all_or_none();
    for (enum flavor flavor = CREATE; flavor <= ALLOCATE; flavor++) {
        struct window w = make_window(flavor, 10, 4);
        memset(w.base, 'a' + rank, 40);
        OK(MPI_Win_fence(0, w.win));
        int others = 0;
        for (int other = 0; other < size; other++) others += reached(&w, other) && other != rank;
        CHECK(reached(&w, rank), "the own memory of a window of %s is not reached", flavor_names[flavor]);
        /* Where a window can be shared, all of what the library has allocated is mapped; memory of the program never is. */
        int is_mapped = flavor == ALLOCATE || flavor == AGAIN || (flavor == HEAP && !getenv("POSTHASTE_METHODS"));
        /* Members of many that ask each other map no more than what is shared with the node. */
        if (is_mapped && can_make(SHARED) && !getenv("POSTHASTE_WINDOW_TABLE")) EQUAL(others, size - 1);
        if (flavor == CREATE) EQUAL(others, 0);
        const char *maps = getenv("POSTHASTE_MAP_WINDOWS");
        if (maps && strcmp(maps, "0") == 0) EQUAL(others, 0);
        OK(MPI_Win_fence(0, w.win));
        free_window(&w);
        if (flavor != HEAP && flavor != AGAIN) first_with_memory(flavor);
    }
    return check_end();
}
