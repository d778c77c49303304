// ranks: 2
// only: posthaste
// env: POSTHASTE_CHECK_TYPES=1
/* Type checking of accesses to windows of every flavor: spellings of the same signature pass, other types fail with MPI_ERR_TYPE and
 * a sentence that names both sides, and nothing is moved. MPI-5.0 section 12.3.1. */
#include "win.h"

enum { ELEMENTS = 64 };

static MPI_Datatype made(MPI_Datatype type)
{
    OK(MPI_Type_commit(&type));
    return type;
}

/* A put and a get of these types: whether they are alike. */
static void access(struct window w, int target, int count, MPI_Datatype ours, int elements, MPI_Datatype theirs, const char *said)
{
    int data[2 * ELEMENTS], got[2 * ELEMENTS];
    for (int at = 0; at < 2 * ELEMENTS; at++) data[at] = 1 + at, got[at] = -1;
    if (!said) {
        OK(MPI_Put(data, count, ours, target, w.start[target], elements, theirs, w.win));
        OK(MPI_Win_flush(target, w.win));
        OK(MPI_Get(got, count, ours, target, w.start[target], elements, theirs, w.win));
        OK(MPI_Win_flush(target, w.win));
        EQUAL(got[0], 1);
        return;
    }
    for (int way = 0; way < 4; way++) {
        MPI_Request request = MPI_REQUEST_NULL;
        int code, class_;
        switch (way) {
        case 0: code = MPI_Put(data, count, ours, target, w.start[target], elements, theirs, w.win); break;
        case 1: code = MPI_Get(got, count, ours, target, w.start[target], elements, theirs, w.win); break;
        case 2: code = MPI_Rput(data, count, ours, target, w.start[target], elements, theirs, w.win, &request); break;
        default: code = MPI_Rget(got, count, ours, target, w.start[target], elements, theirs, w.win, &request);
        }
        OK(MPI_Error_class(code, &class_));
        EQUAL(class_, MPI_ERR_TYPE);
        if (code && !strstr(check_text(code), said)) FAIL("\"%s\" does not say \"%s\"", check_text(code), said);
    }
    OK(MPI_Win_flush(target, w.win));
    EQUAL(got[0], -1);
}

static void check(enum flavor flavor)
{
    struct window w = make_window(flavor, ELEMENTS, 8);
    int target = 1 - rank, lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype kinds[2] = {MPI_INT, MPI_DOUBLE}, both, four, apart;
    OK(MPI_Type_create_struct(2, lengths, places, kinds, &both));
    OK(MPI_Type_contiguous(4, MPI_INT, &four));
    OK(MPI_Type_vector(4, 1, 2, MPI_INT, &apart));
    both = made(both), four = made(four), apart = made(apart);
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w.win));
        access(w, target, 4, MPI_INT, 4, MPI_INT, NULL);
        access(w, target, 1, four, 4, MPI_INT, NULL);
        access(w, target, 4, MPI_INT, 1, apart, NULL);
        access(w, target, 2, MPI_2INT, 1, apart, NULL);
        access(w, target, 16, MPI_PACKED, 4, MPI_INT, NULL);
        access(w, target, 4, MPI_INT, 4, MPI_FLOAT, "4 MPI_FLOAT, expected 4 MPI_INT, as at the origin");
        access(w, target, 4, MPI_INT, 4, MPI_INT32_T, "4 MPI_INT32_T");
        access(w, target, 1, four, 2, MPI_DOUBLE, "2 MPI_DOUBLE");
        access(w, target, 6, MPI_INT, 2, both, "1 MPI_INT, 1 MPI_DOUBLE, 1 MPI_INT, ...");
        OK(MPI_Win_unlock(target, w.win));
        /* To nobody, and of nothing, no types are compared. */
        OK(MPI_Put(lengths, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_FLOAT, w.win));
    }
    OK(MPI_Type_free(&both));
    OK(MPI_Type_free(&four));
    OK(MPI_Type_free(&apart));
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = 0; flavor < FLAVORS; flavor++)
        if (can_make(flavor)) check(flavor);
    return check_end();
}
