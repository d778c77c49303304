// ranks: 2 3 5
/* Puts and gets of up to 3 MiB by all ranks at once, among short ones, accumulates and messages: what arrives is what was sent, and
 * each flush waits for what came before it. MPI-5.0 sections 12.3.1 and 12.5.4. */
#include "win.h"

enum { MOST = 3 << 20, ZONE = MOST + 64, PASSES = 3 };

static unsigned char at(int who, int pass, long i)
{
    return (unsigned char)(who * 31 + pass * 7 + i + i / 251);
}

/* What rank `who` has put into its zone in this pass. */
static void check_zone(const unsigned char *zone, int who, int pass, long len, const char *where)
{
    for (long i = 0; i < len; i++)
        if (zone[i] != at(who, pass, i))
            FAIL("%s: byte %ld of %ld of rank %d is %d, expected %d", where, i, len, who, zone[i], at(who, pass, i));
}

static void all_at_once(enum flavor flavor)
{
    static const long lengths[PASSES] = {MOST, (32 << 10) + 1, (512 << 10) + 3};
    struct window w = make_window(flavor, ZONE * size, 1);
    unsigned char *mine = malloc(MOST), *found = malloc(MOST);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int pass = 0; pass < PASSES; pass++) {
        long len = lengths[pass], one = 1, count, message = 0;
        for (long i = 0; i < len; i++) mine[i] = at(rank, pass, i);
        OK(MPI_Win_lock_all(0, w.win));
        for (int k = 1; k < size; k++) {
            int to = (rank + k) % size;
            OK(MPI_Put(mine, (int)len, MPI_BYTE, to, place(&w, to, ZONE * rank), (int)len, MPI_BYTE, w.win));
            OK(MPI_Fetch_and_op(&one, &count, MPI_LONG, to, place(&w, to, ZONE * rank + MOST), MPI_SUM, w.win));
            OK(MPI_Put(mine, 5, MPI_BYTE, to, place(&w, to, ZONE * rank + MOST + 8), 5, MPI_BYTE, w.win));
        }
        OK(MPI_Sendrecv(&one, 1, MPI_LONG, right, pass, &message, 1, MPI_LONG, left, pass, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Win_flush_all(w.win));
        CHECK(message == 1 && (size == 1 || count == pass), "%ld, %ld in pass %d", message, count, pass);
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        /* At home, and from there back. */
        OK(MPI_Win_lock_all(0, w.win));
        for (int k = 1; k < size; k++) {
            int from = (rank + k) % size;
            OK(MPI_Get(found, (int)len, MPI_BYTE, from, place(&w, from, ZONE * rank), (int)len, MPI_BYTE, w.win));
            OK(MPI_Win_flush(from, w.win));
            check_zone(found, rank, pass, len, "got back");
            OK(MPI_Get(found, (int)len, MPI_BYTE, rank, place(&w, rank, ZONE * from), (int)len, MPI_BYTE, w.win));
            OK(MPI_Win_flush(rank, w.win));
            check_zone(found, from, pass, len, "at home");
        }
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free_window(&w);
    free(mine), free(found);
}

/* Beyond the end nothing is written, the flush says so, and the window goes on. */
static void beyond_the_end(void)
{
    struct window w = make_window(ALLOCATE, MOST, 1);
    unsigned char *much = calloc(1, MOST);
    int to = (rank + 1) % size;
    OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
    OK(MPI_Win_lock_all(0, w.win));
    int code = MPI_Put(much, MOST, MPI_BYTE, to, place(&w, to, 100), MOST, MPI_BYTE, w.win), kind = MPI_SUCCESS;
    if (code == MPI_SUCCESS) code = MPI_Win_flush(to, w.win);
    if (code != MPI_SUCCESS) OK(MPI_Error_class(code, &kind));
    CHECK(kind == MPI_ERR_RMA_RANGE, "class %d", kind);
    OK(MPI_Put(much, MOST, MPI_BYTE, to, place(&w, to, 0), MOST, MPI_BYTE, w.win));
    OK(MPI_Win_flush(to, w.win));
    OK(MPI_Win_unlock_all(w.win));
    free_window(&w);
    free(much);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++)
        if (can_make(flavor)) all_at_once(flavor);
    beyond_the_end();
    return check_end();
}
