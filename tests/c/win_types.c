// ranks: 2 3
/* Targets and origins of any layout, units and displacements of any kind: put, get and accumulate between columns, holes
 * and pairs, compared with what a plain copy gives. MPI-5.0 sections 12.3.1, 12.3.4. */
#include "win.h"

enum { ROWS = 12, COLUMNS = 9 };

static int next;

static void columns(enum flavor flavor)
{
    struct window w = make_window(flavor, ROWS * COLUMNS, sizeof(double));
    MPI_Datatype column, spread;
    double data[ROWS], got[2 * ROWS], old[ROWS];
    OK(MPI_Type_vector(ROWS, 1, COLUMNS, MPI_DOUBLE, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * sizeof(double), &spread));
    OK(MPI_Type_commit(&spread));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w.win));
    for (int i = 0; i < ROWS * COLUMNS; i++) ((double *)w.base)[i] = 1000 * rank + i;
    OK(MPI_Win_unlock(rank, w.win));
    for (int i = 0; i < ROWS; i++) data[i] = -100 * rank - i;
    for (int i = 0; i < 2 * ROWS; i++) got[i] = -1;
    OK(MPI_Win_fence(0, w.win));
    /* One column is replaced, one is added to, one is read with gaps here, one is fetched and replaced. */
    OK(MPI_Put(data, ROWS, MPI_DOUBLE, next, place(&w, next, 1), 1, column, w.win));
    OK(MPI_Accumulate(data, ROWS, MPI_DOUBLE, next, place(&w, next, 3), 1, column, MPI_SUM, w.win));
    OK(MPI_Get(got, ROWS, spread, next, place(&w, next, 5), 1, column, w.win));
    OK(MPI_Get_accumulate(data, ROWS, MPI_DOUBLE, old, ROWS, MPI_DOUBLE, next, place(&w, next, 7), 1, column, MPI_REPLACE, w.win));
    OK(MPI_Win_fence(0, w.win));
    int before = (rank + size - 1) % size;
    for (int row = 0; row < ROWS; row++) {
        for (int at = 0; at < COLUMNS; at++) {
            double found = ((double *)w.base)[row * COLUMNS + at], was = 1000 * rank + row * COLUMNS + at;
            double theirs = -100 * before - row;
            double wanted = at == 1 || at == 7 ? theirs : at == 3 ? was + theirs : was;
            if (found != wanted) FAIL("%s: row %d, column %d: %.0f, not %.0f", flavor_names[flavor], row, at, found, wanted);
        }
        EQUAL(got[2 * row], 1000 * next + row * COLUMNS + 5);
        EQUAL(got[2 * row + 1], -1);
        EQUAL(old[row], 1000 * next + row * COLUMNS + 7);
    }
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Type_free(&column));
    OK(MPI_Type_free(&spread));
    free_window(&w);
}

/* Elements with holes, and elements of which a target has only some. */
static void pairs(enum flavor flavor)
{
    struct pair { double value; int index; };
    struct window w = make_window(flavor, 6, sizeof(struct pair));
    struct pair *mine = (struct pair *)w.base, given[3] = {{5, rank}, {-5, rank}, {rank, rank}}, old[3];
    MPI_Datatype others;
    OK(MPI_Type_vector(3, 1, 2, MPI_DOUBLE_INT, &others));
    OK(MPI_Type_commit(&others));
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w.win));
    for (int i = 0; i < 6; i++) mine[i] = (struct pair){1.5, 100 + i};
    OK(MPI_Win_unlock(rank, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_lock_all(0, w.win));
    OK(MPI_Get_accumulate(given, 3, MPI_DOUBLE_INT, old, 3, MPI_DOUBLE_INT, 0, place(&w, 0, 0), 1, others, MPI_MAXLOC, w.win));
    OK(MPI_Win_unlock_all(w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
        struct pair wanted[6] = {{5, 0}, {1.5, 101}, {1.5, 102}, {1.5, 103}, {size - 1, size - 1}, {1.5, 105}};
        if (size == 2) wanted[4] = (struct pair){1.5, 104};
        for (int i = 0; i < 6; i++)
            if (mine[i].value != wanted[i].value || mine[i].index != wanted[i].index)
                FAIL("%s: pair %d is (%g, %d), not (%g, %d)", flavor_names[flavor], i, mine[i].value, mine[i].index,
                     wanted[i].value, wanted[i].index);
        OK(MPI_Win_unlock(0, w.win));
    }
    OK(MPI_Type_free(&others));
    free_window(&w);
}

/* A struct of unlike members, from both ends of a window, and bytes with a unit of their own. */
static void structs(enum flavor flavor)
{
    struct window w = make_window(flavor, 4000, 1);
    MPI_Datatype mixed;
    MPI_Aint where[3] = {0, 8, 24};
    int lengths[3] = {3, 1, 2};
    MPI_Datatype kinds[3] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
    OK(MPI_Type_create_struct(3, lengths, where, kinds, &mixed));
    OK(MPI_Type_commit(&mixed));
    unsigned char out[64 * 32], in[64 * 32];
    for (int i = 0; i < 64 * 32; i++) out[i] = (unsigned char)(i * 7 + rank), in[i] = 0xee;
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Put(out, 64, mixed, next, place(&w, next, 11), 64, mixed, w.win));
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Get(in, 64, mixed, next, place(&w, next, 11), 64, mixed, w.win));
    OK(MPI_Win_fence(0, w.win));
    for (int i = 0; i < 64 * 32; i++) {
        int at = i % 32, is_data = at < 3 || (at >= 8 && at < 16) || at >= 24;
        EQUAL(in[i], is_data ? out[i] : 0xee);
        unsigned char theirs = (unsigned char)(i * 7 + (rank + size - 1) % size);
        EQUAL((unsigned char)w.base[11 + i], is_data ? theirs : 0);
    }
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Type_free(&mixed));
    free_window(&w);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    next = (rank + 1) % size;
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        columns(flavor);
        pairs(flavor);
        structs(flavor);
    }
    return check_end();
}
