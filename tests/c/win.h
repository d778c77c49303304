/* win.h: windows of every flavor, for the tests of one-sided communication. */
#ifndef WIN_H
#define WIN_H

#include "check.h"

/* HEAP: of memory from MPI_Alloc_mem, so much that it is shared with the node. AGAIN: of memory of another window. */
enum flavor { CREATE, HEAP, AGAIN, ALLOCATE, SHARED, DYNAMIC, FLAVORS };
static const char *const flavor_names[FLAVORS] = {"create", "create of MPI_Alloc_mem", "create of a window's memory", "allocate", "shared", "dynamic"};

/* A window with `elements` elements of `width` bytes at each rank, zero at first. */
struct window {
    MPI_Win win;
    enum flavor flavor;
    int width;
    char *base;
    /* The window whose memory it is of. */
    MPI_Win inner;
    /* Where the memory of each rank begins, as a displacement. */
    MPI_Aint *start;
};

/* Whether each rank reaches the memory of windows of all others by itself. */
static inline int all_are_mapped(void)
{
    MPI_Comm near;
    int together;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near));
    OK(MPI_Comm_size(near, &together));
    OK(MPI_Comm_free(&near));
    const char *maps = getenv("POSTHASTE_MAP_WINDOWS");
    return together == size && !(maps && strcmp(maps, "0") == 0);
}

/* Whether windows of this flavor can be made here. */
static inline int can_make(enum flavor flavor) { return flavor != SHARED || all_are_mapped(); }

static inline struct window make_window(enum flavor flavor, int elements, int width)
{
    struct window w = {.flavor = flavor, .width = width, .inner = MPI_WIN_NULL};
    MPI_Aint bytes = (MPI_Aint)elements * width, here = 0;
    MPI_Info info = MPI_INFO_NULL;
#ifdef GRANULARITY
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_accumulate_granularity", GRANULARITY));
#endif
    w.start = calloc((unsigned)size, sizeof *w.start);
    switch (flavor) {
    case CREATE:
        w.base = calloc((size_t)bytes + 1, 1);
        OK(MPI_Win_create(w.base, bytes, width, info, MPI_COMM_WORLD, &w.win));
        break;
    case HEAP:
        OK(MPI_Alloc_mem(bytes < 4096 ? 4096 : bytes, info, &w.base));
        memset(w.base, 0, (size_t)bytes);
        OK(MPI_Win_create(w.base, bytes, width, info, MPI_COMM_WORLD, &w.win));
        break;
    case AGAIN:
        /* Not from the beginning. */
        OK(MPI_Win_allocate(bytes + 24, 1, info, MPI_COMM_WORLD, &w.base, &w.inner));
        w.base += 24;
        OK(MPI_Win_create(w.base, bytes, width, info, MPI_COMM_WORLD, &w.win));
        break;
    case ALLOCATE: OK(MPI_Win_allocate(bytes, width, info, MPI_COMM_WORLD, &w.base, &w.win)); break;
    case SHARED: OK(MPI_Win_allocate_shared(bytes, width, info, MPI_COMM_WORLD, &w.base, &w.win)); break;
    default:
        w.base = calloc((size_t)bytes + 1, 1);
        OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &w.win));
        OK(MPI_Win_attach(w.win, w.base, bytes));
        OK(MPI_Get_address(w.base, &here));
    }
    if (info != MPI_INFO_NULL) OK(MPI_Info_free(&info));
    OK(MPI_Allgather(&here, 1, MPI_AINT, w.start, 1, MPI_AINT, MPI_COMM_WORLD));
    return w;
}

/* The displacement of an element. */
static inline MPI_Aint place(const struct window *w, int target, int element)
{
    return w->start[target] + (w->flavor == DYNAMIC ? (MPI_Aint)element * w->width : element);
}

static inline void free_window(struct window *w)
{
    /* Memory goes when nobody accesses it any more. */
    if (w->flavor == DYNAMIC) {
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_detach(w->win, w->base));
    }
    /* Its mappings are its own. */
    if (w->inner != MPI_WIN_NULL) OK(MPI_Win_free(&w->inner));
    OK(MPI_Win_free(&w->win));
    if (w->win != MPI_WIN_NULL) FAIL("the handle of a freed window is not MPI_WIN_NULL");
    if (w->flavor == CREATE || w->flavor == DYNAMIC) free(w->base);
    if (w->flavor == HEAP) OK(MPI_Free_mem(w->base));
    free(w->start);
}

#endif
