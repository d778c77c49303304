// ranks: 2 3
/* Accumulate operations of one origin on one element are done in their order, whatever their lengths and whichever way they go, unless the
 * hint accumulate_ordering leaves it out; then each is done once. MPI-5.0 section 12.7.2. */
#include "win.h"

enum { ELEMENTS = 3000, TURNS = 40 };

static const int lengths[] = {1, 3, 700, ELEMENTS};
enum { LENGTHS = 4 };

static long written[TURNS + 1][ELEMENTS], read_[TURNS + 1][ELEMENTS];

/* Writes and reads of a region of the origin's own, nothing in between: each read sees the write before it and none behind. */
static void own_region(const struct window *w, int target, int length, MPI_Datatype column)
{
    MPI_Aint at = place(w, target, rank * ELEMENTS);
    int stride = column == MPI_DATATYPE_NULL ? 1 : 2, count = length / stride;
    if (!count) return;
    MPI_Datatype type = stride == 1 ? MPI_LONG : column;
    for (int turn = 1; turn <= TURNS; turn++) {
        for (int i = 0; i < count; i++) written[turn][i] = 1000L * turn + i % 100;
        OK(MPI_Accumulate(written[turn], count, MPI_LONG, target, at, count, type, MPI_REPLACE, w->win));
        if (turn % 3 == 0)
            OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, read_[turn], count, MPI_LONG, target, at, count, type, MPI_NO_OP, w->win));
        if (turn % 3 == 1 && stride == 1) OK(MPI_Fetch_and_op(NULL, read_[turn], MPI_LONG, target, at, MPI_NO_OP, w->win));
    }
    OK(MPI_Win_flush(target, w->win));
    for (int turn = 1; turn <= TURNS; turn++) {
        int seen = turn % 3 == 0 ? count : turn % 3 == 1 && stride == 1;
        for (int i = 0; i < seen; i++) EQUAL(read_[turn][i], 1000L * turn + i % 100);
    }
    OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, read_[0], count, MPI_LONG, target, at, count, type, MPI_NO_OP, w->win));
    OK(MPI_Win_flush(target, w->win));
    for (int i = 0; i < count; i++) EQUAL(read_[0][i], 1000L * TURNS + i % 100);
}

/* All origins add; nobody sees a counter go back between two reads of its own, and its own additions are in what it reads after them. */
static void counter(const struct window *w, int target, int is_ordered)
{
    MPI_Aint at = place(w, target, size * ELEMENTS);
    long one = 1, now[TURNS][2], total;
    for (int turn = 0; turn < TURNS; turn++) {
        OK(MPI_Accumulate(&one, 1, MPI_LONG, target, at, 1, MPI_LONG, MPI_SUM, w->win));
        for (int i = 0; i < 2; i++) OK(MPI_Fetch_and_op(NULL, &now[turn][i], MPI_LONG, target, at, MPI_NO_OP, w->win));
    }
    OK(MPI_Win_flush(target, w->win));
    for (int turn = 0; is_ordered && turn < TURNS; turn++) {
        CHECK(now[turn][0] >= turn + 1, "%ld after %d additions of its own", now[turn][0], turn + 1);
        CHECK(now[turn][1] >= now[turn][0], "%ld, and %ld before", now[turn][1], now[turn][0]);
        CHECK(!turn || now[turn][0] > now[turn - 1][1], "%ld, and %ld before one was added", now[turn][0], now[turn - 1][1]);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Fetch_and_op(NULL, &total, MPI_LONG, target, at, MPI_NO_OP, w->win));
    OK(MPI_Win_flush(target, w->win));
    EQUAL(total, (long)size * TURNS);
}

static void hint(MPI_Win win, const char *ordering)
{
    MPI_Info info;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "accumulate_ordering", ordering));
    OK(MPI_Win_set_info(win, info));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    MPI_Datatype column;
    check_start(&argc, &argv);
    OK(MPI_Type_create_resized(MPI_LONG, 0, 2 * sizeof(long), &column));
    OK(MPI_Type_commit(&column));
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        for (int is_ordered = 0; is_ordered < 2; is_ordered++) {
            struct window w = make_window(flavor, size * ELEMENTS + 1, sizeof(long));
            if (!is_ordered) hint(w.win, "none");
            OK(MPI_Win_lock_all(0, w.win));
            for (int target = 0; target < size; target++) {
                /* A network that is asked for each element takes a while. */
                int most = getenv("POSTHASTE_FABRIC_ATOMICS") ? LENGTHS - 1 : LENGTHS;
                for (int i = 0; is_ordered && i < most; i++) {
                    own_region(&w, target, lengths[i], MPI_DATATYPE_NULL);
                    own_region(&w, target, lengths[i], column);
                }
                counter(&w, target, is_ordered);
            }
            OK(MPI_Win_unlock_all(w.win));
            free_window(&w);
        }
    }
    OK(MPI_Type_free(&column));
    return check_end();
}
