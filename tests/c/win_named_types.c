// ranks: 1 2 3
// only: posthaste
/* Accumulate operations on types that stand for one predefined type, or are made of one: of Fortran kinds, duplicates, and types of elements with and without
 * gaps. Empty types. Pieces of no bytes in a dynamic window, which change nothing for what is attached. MPI-5.0 sections 12.2.4, 12.3, 19.1.5. */
#include "win.h"

static int next;
static MPI_Win win;
static struct window w;

static int target_has(int element)
{
    int found = -1;
    OK(MPI_Win_flush(next, win));
    OK(MPI_Get(&found, 1, MPI_INT, next, place(&w, next, element), 1, MPI_INT, win));
    OK(MPI_Win_flush(next, win));
    return found;
}

/* Three elements of `count` of this type at the target, whose int number `last` is the third. */
static void combines(MPI_Datatype origin, MPI_Datatype target)
{
    int three[8] = {5, 6, 7, 0, 5, 6, 7, 0}, got[8] = {0}, zero[8] = {0};
    MPI_Aint at = place(&w, next, 0);
    MPI_Request request;
    OK(MPI_Put(zero, 8, MPI_INT, next, at, 8, MPI_INT, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Accumulate(three, 3, origin, next, at, 3, target, MPI_SUM, win));
    OK(MPI_Raccumulate(three, 3, origin, next, at, 3, target, MPI_MAX, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Get_accumulate(three, 3, origin, got, 3, origin, next, at, 3, target, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    CHECK(got[0] == 5 && got[1] == 6 && got[2] == 7, "%d, %d, %d", got[0], got[1], got[2]);
    OK(MPI_Rget_accumulate(NULL, 0, origin, got, 3, origin, next, at, 3, target, MPI_NO_OP, win, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(got[0] == 10 && got[1] == 12 && got[2] == 14, "%d, %d, %d", got[0], got[1], got[2]);
    EQUAL(target_has(2), 14);
}

static void made_of_ints(void)
{
    enum { TYPES = 4 };
    MPI_Datatype types[TYPES], apart, ints[2] = {MPI_INT, MPI_INT};
    const int one[2] = {1, 1};
    const MPI_Aint places[2] = {0, 2 * sizeof(int)};
    int values[4] = {1, 2, 3, 4}, got[4] = {0};
    types[0] = MPI_INT;
    OK(MPI_Type_dup(MPI_INT, &types[1]));
    OK(MPI_Type_contiguous(1, MPI_INT, &types[2]));
    OK(MPI_Type_create_struct(1, one, places, ints, &types[3]));
    for (int i = 1; i < TYPES; i++) OK(MPI_Type_commit(&types[i]));
    for (int i = 0; i < TYPES; i++)
        for (int j = 0; j < TYPES; j++) combines(types[i], types[j]);
    /* Only predefined types have one element for sure. */
    for (int i = 1; i < TYPES; i++) {
        REFUSED(MPI_Fetch_and_op(values, got, types[i], next, place(&w, next, 0), MPI_SUM, win), MPI_ERR_TYPE);
        REFUSED(MPI_Compare_and_swap(values, values + 1, got, types[i], next, place(&w, next, 0), win), MPI_ERR_TYPE);
    }
    /* What lies in a gap stays. */
    int zero[3] = {0, 44, 0};
    OK(MPI_Type_create_struct(2, one, places, ints, &apart));
    OK(MPI_Type_commit(&apart));
    OK(MPI_Put(zero, 3, MPI_INT, next, place(&w, next, 0), 3, MPI_INT, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Accumulate(values, 2, MPI_INT, next, place(&w, next, 0), 1, apart, MPI_SUM, win));
    OK(MPI_Accumulate(values, 1, apart, next, place(&w, next, 0), 1, apart, MPI_SUM, win));
    OK(MPI_Get_accumulate(values, 2, types[1], got, 1, apart, next, place(&w, next, 0), 1, apart, MPI_REPLACE, win));
    OK(MPI_Win_flush(next, win));
    CHECK(got[0] == 2 && got[1] == 0 && got[2] == 5, "%d, %d, %d", got[0], got[1], got[2]);
    CHECK(target_has(0) == 1 && target_has(1) == 44 && target_has(2) == 2, "%d, %d", target_has(0), target_has(2));
    OK(MPI_Type_free(&apart));
    for (int i = 1; i < TYPES; i++) OK(MPI_Type_free(&types[i]));
}

/* They are predefined, though they have no names, and the elements are those of another one that has. */
static void fortran_kinds(void)
{
    MPI_Datatype integer, real, complex;
    MPI_Aint at = place(&w, next, 0);
    int four = 4, five = 5, old = -1;
    double half[2] = {0.5, 0.25}, zero[2] = {0, 0}, was[2] = {-1, -1};
    OK(MPI_Type_create_f90_integer(9, &integer));
    OK(MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real));
    OK(MPI_Type_create_f90_complex(15, MPI_UNDEFINED, &complex));
    combines(integer, integer);
    OK(MPI_Put(&four, 1, MPI_INT, next, at, 1, MPI_INT, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Fetch_and_op(&five, &old, integer, next, at, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    EQUAL(old, 4);
    int nine = 9;
    OK(MPI_Compare_and_swap(&four, &nine, &old, integer, next, at, win));
    OK(MPI_Win_flush(next, win));
    EQUAL(old, 9);
    EQUAL(target_has(0), 4);
    OK(MPI_Put(zero, 2, MPI_DOUBLE, next, at, 2, MPI_DOUBLE, win));
    OK(MPI_Win_flush(next, win));
    OK(MPI_Accumulate(half, 2, real, next, at, 2, real, MPI_SUM, win));
    OK(MPI_Fetch_and_op(half, was, real, next, at, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    CHECK(was[0] == 0.5, "%g", was[0]);
    OK(MPI_Get_accumulate(half, 2, real, was, 2, real, next, at, 2, real, MPI_PROD, win));
    OK(MPI_Win_flush(next, win));
    CHECK(was[0] == 1 && was[1] == 0.25, "%g, %g", was[0], was[1]);
    OK(MPI_Fetch_and_op(half, was, complex, next, at, MPI_SUM, win));
    OK(MPI_Win_flush(next, win));
    CHECK(was[0] == 0.5 && was[1] == 0.0625, "%g, %g", was[0], was[1]);
    OK(MPI_Get(was, 2, MPI_DOUBLE, next, at, 2, MPI_DOUBLE, win));
    OK(MPI_Win_flush(next, win));
    CHECK(was[0] == 1 && was[1] == 0.3125, "%g, %g", was[0], was[1]);
    REFUSED(MPI_Compare_and_swap(half, half + 1, was, real, next, at, win), MPI_ERR_TYPE);
    REFUSED(MPI_Compare_and_swap(half, half, was, complex, next, at, win), MPI_ERR_TYPE);
}

/* Nothing is moved, wherever it would be. */
static void empty_types(void)
{
    MPI_Datatype types[3], ints = MPI_INT;
    MPI_Request all[4];
    const MPI_Aint far = w.flavor == DYNAMIC ? place(&w, next, 0) : 100000;
    int value = 8, got = 9, none = 0;
    const MPI_Aint nowhere = 0;
    OK(MPI_Put(&value, 1, MPI_INT, next, place(&w, next, 0), 1, MPI_INT, win));
    OK(MPI_Type_contiguous(0, MPI_INT, &types[0]));
    OK(MPI_Type_vector(0, 2, 3, MPI_INT, &types[1]));
    OK(MPI_Type_create_struct(1, &none, &nowhere, &ints, &types[2]));
    for (int i = 0; i < 3; i++) {
        MPI_Datatype type = types[i];
        OK(MPI_Type_commit(&types[i]));
        const MPI_Aint at[2] = {place(&w, next, 0), far};
        for (int k = 0; k < 2; k++) {
            OK(MPI_Put(&got, 1, type, next, at[k], 1, type, win));
            OK(MPI_Put(&got, 0, MPI_INT, next, at[k], 3, type, win));
            OK(MPI_Get(&got, 3, type, next, at[k], 0, MPI_INT, win));
            OK(MPI_Accumulate(&got, 1, type, next, at[k], 1, type, MPI_SUM, win));
            OK(MPI_Accumulate(NULL, 0, MPI_INT, next, at[k], 1, type, MPI_SUM, win));
            OK(MPI_Get_accumulate(&got, 1, type, &got, 1, type, next, at[k], 1, type, MPI_REPLACE, win));
            OK(MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 0, MPI_INT, next, at[k], 1, type, MPI_NO_OP, win));
            OK(MPI_Rput(&got, 1, type, next, at[k], 1, type, win, &all[0]));
            OK(MPI_Rget(&got, 2, type, next, at[k], 1, type, win, &all[1]));
            OK(MPI_Raccumulate(&got, 1, type, next, at[k], 2, type, MPI_SUM, win, &all[2]));
            OK(MPI_Rget_accumulate(&got, 1, type, &got, 1, type, next, at[k], 1, type, MPI_SUM, win, &all[3]));
            OK(MPI_Waitall(4, all, MPI_STATUSES_IGNORE));
        }
    }
    EQUAL(target_has(0), 8);
    EQUAL(got, 9);
    for (int i = 0; i < 3; i++) OK(MPI_Type_free(&types[i]));
}

/* What rank `next` has attached is read and written there, the first int of it and the last. */
static void reached(const MPI_Aint *all)
{
    int values[4] = {60 + rank, 61 + rank, 62 + rank, 63 + rank}, found[4] = {0};
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Put(values, 4, MPI_INT, next, all[next], 4, MPI_INT, win));
    OK(MPI_Win_flush(next, win));
    for (int i = 0; i < 4; i++) OK(MPI_Get(&found[i], 1, MPI_INT, next, all[next] + 4 * i, 1, MPI_INT, win));
    OK(MPI_Win_flush(next, win));
    for (int i = 0; i < 4; i++) EQUAL(found[i], values[i]);
    OK(MPI_Accumulate(values, 2, MPI_INT, next, all[next] + 8, 2, MPI_INT, MPI_REPLACE, win));
    OK(MPI_Get_accumulate(NULL, 0, MPI_INT, found, 3, MPI_INT, next, all[next] + 4, 3, MPI_INT, MPI_NO_OP, win));
    OK(MPI_Win_flush(next, win));
    CHECK(found[0] == values[1] && found[1] == values[0] && found[2] == values[1], "%d, %d, %d", found[0], found[1], found[2]);
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void pieces_of_nothing(void)
{
    static int memory[12];
    int *p = memory + 4;
    MPI_Aint here, *all = malloc((size_t)size * sizeof *all);
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Get_address(p, &here));
    OK(MPI_Allgather(&here, 1, MPI_AINT, all, 1, MPI_AINT, MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Win_attach(win, p, 0));
    OK(MPI_Win_attach(win, p, 0));
    OK(MPI_Win_detach(win, p));
    OK(MPI_Win_attach(win, NULL, 0));
    OK(MPI_Win_detach(win, NULL));
    /* At the address of memory, before that is attached and afterwards; within it, before it, and where it ends. */
    OK(MPI_Win_attach(win, p, 0));
    OK(MPI_Win_attach(win, p, 16));
    reached(all);
    OK(MPI_Win_attach(win, p, 0));
    reached(all);
    OK(MPI_Win_attach(win, p + 1, 0));
    OK(MPI_Win_attach(win, p + 3, 0));
    reached(all);
    OK(MPI_Win_attach(win, p - 1, 0));
    OK(MPI_Win_attach(win, p + 4, 0));
    reached(all);
    /* Memory that is attached is still in the way of more. */
    REFUSED(MPI_Win_attach(win, p, 16), MPI_ERR_RMA_ATTACH);
    REFUSED(MPI_Win_attach(win, p + 1, 4), MPI_ERR_RMA_ATTACH);
    REFUSED(MPI_Win_attach(win, p + 2, 4), MPI_ERR_RMA_ATTACH);
    REFUSED(MPI_Win_attach(win, p + 3, 16), MPI_ERR_RMA_ATTACH);
    REFUSED(MPI_Win_attach(win, p - 1, 8), MPI_ERR_RMA_ATTACH);
    REFUSED(MPI_Win_attach(win, p - 2, 40), MPI_ERR_RMA_ATTACH);
    reached(all);
    OK(MPI_Win_detach(win, p + 1));
    OK(MPI_Win_detach(win, p + 3));
    reached(all);
    OK(MPI_Win_detach(win, p - 1));
    OK(MPI_Win_detach(win, p + 4));
    reached(all);
    REFUSED(MPI_Win_detach(win, p + 1), MPI_ERR_BASE);
    REFUSED(MPI_Win_detach(win, p - 1), MPI_ERR_BASE);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    /* Memory may be attached around a piece of nothing, and beside it; what is detached is gone. */
    OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, win));
    OK(MPI_Win_attach(win, p + 2, 0));
    OK(MPI_Win_attach(win, p, 16));
    reached(all);
    OK(MPI_Win_attach(win, p + 4, 8));
    REFUSED(MPI_Win_attach(win, p + 3, 8), MPI_ERR_RMA_ATTACH);
    OK(MPI_Win_detach(win, p + 4));
    OK(MPI_Win_detach(win, p));
    REFUSED(MPI_Win_detach(win, p), MPI_ERR_BASE);
    OK(MPI_Win_detach(win, p + 2));
    REFUSED(MPI_Win_detach(win, p + 2), MPI_ERR_BASE);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Put(memory, 1, MPI_INT, next, all[next], 1, MPI_INT, win));
    REFUSED(MPI_Win_flush(next, win), MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock_all(win));
    OK(MPI_Win_free(&win));
    free(all);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (rank + 1) % size;
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        w = make_window(flavor, 8, sizeof(int));
        win = w.win;
        OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, win));
        made_of_ints();
        fortran_kinds();
        empty_types();
        OK(MPI_Win_unlock_all(win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        free_window(&w);
    }
    pieces_of_nothing();
    return check_end();
}
