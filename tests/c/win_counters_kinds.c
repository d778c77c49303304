// ranks: 1 2 4
// only: posthaste
// timeout: 120
/* No update is lost, of no kind of element, and of no operation: all ranks change the same elements of rank 0 at the same time, aligned and
 * across the end of a cache line, by every operation of MPI_Accumulate and its kin. What an element must be in the end, and what a rank may
 * find there in between, depends on every single update. Other operations than MPI_NO_OP meet on one element, too: more than MPI promises
 * without a hint. MPI-5.0 sections 12.3.4, 12.7.1; docs/windows.md. */
#include "win.h"
#include <complex.h>
#include <stdint.h>

enum { TURNS = 40, BYTES = 512, AT = 128, ROW = 11 };

/* An element that all ranks change. */
struct element {
    const struct window *w;
    int at;
    MPI_Datatype type;
    int width;
    const char *name;
};

static void zero(const struct window *w)
{
    OK(MPI_Barrier(MPI_COMM_WORLD));
    static const char zeros[BYTES];
    if (rank == 0) OK(MPI_Put(zeros, BYTES, MPI_BYTE, 0, place(w, 0, 0), BYTES, MPI_BYTE, w->win));
    OK(MPI_Win_flush_all(w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* What was there before the operation, by either function that fetches. */
static void fetch(const struct element *e, MPI_Op op, const void *operand, void *old)
{
    static int calls;
    if (calls++ % 3) OK(MPI_Fetch_and_op(operand, old, e->type, 0, place(e->w, 0, e->at), op, e->w->win));
    else OK(MPI_Get_accumulate(operand, 1, e->type, old, 1, e->type, 0, place(e->w, 0, e->at), 1, e->type, op, e->w->win));
    OK(MPI_Win_flush(0, e->w->win));
}

static void change(const struct element *e, MPI_Op op, const void *operand)
{
    OK(MPI_Accumulate(operand, 1, e->type, 0, place(e->w, 0, e->at), 1, e->type, op, e->w->win));
    OK(MPI_Win_flush_local(0, e->w->win));
}

/* What is there when all have done what they do. */
static void last(const struct element *e, void *value)
{
    OK(MPI_Win_flush_all(e->w->win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    fetch(e, MPI_NO_OP, NULL, value);
}

/* Integers of every width as one: their bytes in memory are those of a longer one. */
static uint64_t fetch_integer(const struct element *e, MPI_Op op, uint64_t operand)
{
    uint64_t old = 0;
    fetch(e, op, &operand, &old);
    return old;
}

static uint64_t last_integer(const struct element *e)
{
    uint64_t value = 0;
    last(e, &value);
    return value;
}

static uint64_t swap_integer(const struct element *e, uint64_t expected, uint64_t next)
{
    uint64_t old = 0;
    OK(MPI_Compare_and_swap(&next, &expected, &old, e->type, 0, place(e->w, 0, e->at), e->w->win));
    OK(MPI_Win_flush(0, e->w->win));
    return old;
}

static uint64_t mask(const struct element *e)
{
    return e->width == 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * e->width) - 1;
}

#define SAME(e, found, wanted)                                                                                   \
    CHECK((found) == (wanted), "%s: %s at byte %d: %#llx, expected %#llx", flavor_names[(e)->w->flavor], (e)->name, (e)->at, \
          (unsigned long long)(found), (unsigned long long)(wanted))

/* One more by compare-and-swap. */
static void swap_one_more(const struct element *e)
{
    for (uint64_t expected = 0, old;; expected = old) {
        old = swap_integer(e, expected, (expected + 1) & mask(e));
        if (old == expected) return;
    }
}

/* Sums of neighbours, each element of the row as often as the others. */
static void sums(struct element e)
{
    zero(e.w);
    uint64_t one = 1;
    for (int turn = 0; turn < TURNS; turn++) {
        for (int i = 0; i < ROW; i++) {
            struct element near = e;
            near.at += (i + rank) % ROW * e.width;
            change(&near, MPI_SUM, &one);
        }
    }
    for (int i = 0; i < ROW; i++, e.at += e.width) SAME(&e, last_integer(&e), (uint64_t)(TURNS * size));
}

/* Products of an odd number, of which each more is another one. */
static void products(struct element e)
{
    uint64_t three = 3, one = 1, wanted = 1;
    zero(e.w);
    if (rank == 0) fetch_integer(&e, MPI_REPLACE, one);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int turn = 0; turn < TURNS; turn++) change(&e, MPI_PROD, &three);
    for (int i = 0; i < TURNS * size; i++) wanted *= 3;
    SAME(&e, last_integer(&e), wanted & mask(&e));
}

/* Nobody finds less than it has left, or more. */
static void extremes(struct element e)
{
    zero(e.w);
    uint64_t mine = 0, most = (uint64_t)(TURNS * size);
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t next = (uint64_t)(turn * 7 % TURNS * size + rank + 1), old = fetch_integer(&e, MPI_MAX, next);
        CHECK(old >= mine && old <= most, "%s: %s: %llu after %llu", flavor_names[e.w->flavor], e.name, (unsigned long long)old, (unsigned long long)mine);
        mine = next > old ? next : old;
    }
    SAME(&e, last_integer(&e), most);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t next = (uint64_t)(turn * 7 % TURNS * size + rank + 1), old = fetch_integer(&e, MPI_MIN, next);
        CHECK(old <= mine || turn == 0, "%s: %s: %llu after %llu", flavor_names[e.w->flavor], e.name, (unsigned long long)old, (unsigned long long)mine);
        mine = next < old ? next : old;
    }
    SAME(&e, last_integer(&e), 1u);
}

/* Each second one finds what the one before has turned to true; one alone is the first to set, and to clear. */
static void logical(struct element e)
{
    int found[2] = {0, 0}, all[2];
    zero(e.w);
    for (int turn = 0; turn < TURNS; turn++) {
        uint64_t old = fetch_integer(&e, MPI_LXOR, 1);
        CHECK(old <= 1, "%s: %llu is not a logical value", e.name, (unsigned long long)old);
        found[old]++;
    }
    OK(MPI_Allreduce(found, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    SAME(&e, all[0], (TURNS * size + 1) / 2);
    SAME(&e, last_integer(&e), (uint64_t)(TURNS * size % 2));
    zero(e.w);
    for (int turn = 0; turn < TURNS / 4; turn++) {
        int first[2] = {0, 0}, firsts[2];
        first[0] = fetch_integer(&e, MPI_LOR, 1) == 0;
        OK(MPI_Barrier(MPI_COMM_WORLD));
        first[1] = fetch_integer(&e, MPI_LAND, 0) == 1;
        OK(MPI_Allreduce(first, firsts, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        CHECK(firsts[0] == 1 && firsts[1] == 1, "%s: %d were the first to set, %d to clear", e.name, firsts[0], firsts[1]);
    }
}

/* Each rank has two bits of its own above the first `above`, which nobody else changes: it finds them as it has left them. */
static uint64_t change_own_bits(const struct element *e, int above, int turn, uint64_t mine)
{
    uint64_t own = (uint64_t)3 << (above + 2 * rank), bit = (uint64_t)1 << (above + 2 * rank + turn / 3 % 2), old, now;
    switch (turn % 3) {
    case 0:
        old = fetch_integer(e, MPI_BXOR, bit);
        now = mine ^ bit;
        break;
    case 1:
        old = fetch_integer(e, MPI_BOR, own);
        now = own;
        break;
    default:
        old = fetch_integer(e, MPI_BAND, mask(e) & ~bit);
        now = mine & ~bit;
    }
    SAME(e, old & own, mine);
    return now;
}

static void bits(struct element e)
{
    uint64_t mine = 0, all;
    zero(e.w);
    for (int turn = 0; turn < TURNS; turn++) mine = change_own_bits(&e, 0, turn, mine);
    OK(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD));
    SAME(&e, last_integer(&e), all);
}

static void swaps(struct element e)
{
    zero(e.w);
    for (int turn = 0; turn < TURNS; turn++) swap_one_more(&e);
    SAME(&e, last_integer(&e), (uint64_t)(TURNS * size));
}

/* A counter in the first byte, by sums and by compare-and-swap, and bits of the ranks above it. */
static void mixed(struct element e)
{
    uint64_t one = 1, mine = 0, all;
    zero(e.w);
    for (int turn = 0; turn < TURNS; turn++) {
        switch ((turn + rank) % 3) {
        case 0: change(&e, MPI_SUM, &one); break;
        case 1: fetch_integer(&e, MPI_SUM, one); break;
        default: swap_one_more(&e);
        }
        mine = change_own_bits(&e, 8, turn, mine);
    }
    OK(MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD));
    SAME(&e, last_integer(&e), all | (uint64_t)(TURNS * size));
}

/* Whatever is put there comes out once: by other ranks, or in the end. `token` is what is made of a number, `number` what it was made of, or
 * one that nobody has made. */
#define PASSED_ON(e, type, token, number)                                                                        \
    do {                                                                                                         \
        const struct element *of = e;                                                                            \
        char out[TURNS * 4 + 1] = {0}, came[TURNS * 4 + 1];                                                      \
        zero(of->w);                                                                                             \
        for (int turn = 0; turn <= TURNS; turn++) {                                                              \
            type next, old;                                                                                      \
            memset(&next, 0, sizeof next);                                                                       \
            memset(&old, 0, sizeof old);                                                                         \
            token(next, 1 + turn * size + rank);                                                                 \
            if (turn < TURNS) fetch(of, MPI_REPLACE, &next, &old);                                               \
            else last(of, &old);                                                                                 \
            int was = number(old);                                                                               \
            CHECK(was >= 0 && was <= TURNS * size, "%s: %s: a piece of two", flavor_names[of->w->flavor], of->name);\
            if (turn < TURNS || rank == 0) out[was]++;                                                           \
        }                                                                                                        \
        OK(MPI_Allreduce(out, came, TURNS * size + 1, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD));                     \
        for (int i = 0; i <= TURNS * size; i++)                                                                  \
            CHECK(came[i] == 1, "%s: %s: %d came out %d times", flavor_names[of->w->flavor], of->name, i, came[i]);\
    } while (0)

#define INTEGER_TOKEN(value, n) ((value) = (uint64_t)(n))
#define INTEGER_NUMBER(value) ((int)(value))

static void integers(const struct window *w)
{
    const struct element all[] = {
        {w, AT, MPI_UINT8_T, 1, "MPI_UINT8_T"},       {w, AT + 3, MPI_UINT8_T, 1, "MPI_UINT8_T"},
        {w, AT, MPI_UINT16_T, 2, "MPI_UINT16_T"},     {w, AT + 63, MPI_UINT16_T, 2, "MPI_UINT16_T"},
        {w, AT, MPI_UINT32_T, 4, "MPI_UINT32_T"},     {w, AT + 61, MPI_UINT32_T, 4, "MPI_UINT32_T"},
        {w, AT, MPI_UINT64_T, 8, "MPI_UINT64_T"},     {w, AT + 60, MPI_UINT64_T, 8, "MPI_UINT64_T"},
        {w, AT + 3, MPI_UINT64_T, 8, "MPI_UINT64_T"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        sums(all[i]);
        products(all[i]);
        extremes(all[i]);
        logical(all[i]);
        bits(all[i]);
        swaps(all[i]);
        if (all[i].width > 1) mixed(all[i]);
        PASSED_ON(&all[i], uint64_t, INTEGER_TOKEN, INTEGER_NUMBER);
    }
}

#define PAIR_TOKEN(pair, n) ((pair).value = (n), (pair).at = 3 * (n))
#define PAIR_NUMBER(pair) ((pair).at == 3 * (int)(pair).value ? (int)(pair).value : -1)

/* Each rank finds nothing less than it has left, and with each value its place. */
#define PAIRS(w, what, where, mpi)                                                                               \
    for (int at = AT; at <= AT + 61; at += at == AT ? 8 : 53) {                                                  \
        struct pair { what value; where at; } mine = {0, 0};                                                     \
        const struct element e = {w, at, mpi, sizeof(struct pair), #mpi};                                        \
        zero(w);                                                                                                 \
        for (int turn = 0; turn <= TURNS; turn++) {                                                              \
            struct pair next, old = {0, 0};                                                                      \
            memset(&next, 0, sizeof next);                                                                       \
            PAIR_TOKEN(next, turn * 7 % TURNS * size + rank + 1);                                                \
            if (turn < TURNS) fetch(&e, MPI_MAXLOC, &next, &old);                                                \
            else last(&e, &old);                                                                                 \
            CHECK(PAIR_NUMBER(old) >= PAIR_NUMBER(mine) && PAIR_NUMBER(old) <= TURNS * size, "%s: %s: %d, %d after %d",  \
                  flavor_names[(w)->flavor], #mpi, (int)old.value, (int)old.at, (int)mine.value);                     \
            mine = old.value < next.value ? next : old;                                                          \
        }                                                                                                        \
        EQUAL(mine.value, TURNS * size);                                                                         \
        OK(MPI_Barrier(MPI_COMM_WORLD));                                                                         \
        for (int turn = 0; turn <= TURNS; turn++) {                                                              \
            struct pair next, old = {0, 0};                                                                      \
            memset(&next, 0, sizeof next);                                                                       \
            PAIR_TOKEN(next, turn * 7 % TURNS * size + rank + 1);                                                \
            if (turn < TURNS) fetch(&e, MPI_MINLOC, &next, &old);                                                \
            else last(&e, &old);                                                                                 \
            CHECK(PAIR_NUMBER(old) > 0 && PAIR_NUMBER(old) <= PAIR_NUMBER(mine), "%s: %s: %d, %d after %d",      \
                  flavor_names[(w)->flavor], #mpi, (int)old.value, (int)old.at, (int)mine.value);                     \
            mine = old.value > next.value ? next : old;                                                          \
        }                                                                                                        \
        EQUAL(mine.value, 1);                                                                                    \
        PASSED_ON(&e, struct pair, PAIR_TOKEN, PAIR_NUMBER);                                                     \
    }

#define REAL_TOKEN(value, n) ((value) = (n))
#define REAL_NUMBER(value) ((value) == (int)(value) ? (int)(value) : -1)

/* The largest and smallest as with integers; a power of two for each product, three times as many as all have turns. */
#define REALS(w, what, mpi)                                                                                      \
    for (int at = AT; at <= AT + 61; at += 61) {                                                                 \
        const struct element e = {w, at, mpi, sizeof(what), #mpi};                                               \
        what two = 2, one = 1, half = 0.5, mine = 0, old = 0, next;                                              \
        zero(w);                                                                                                 \
        if (rank == 0) fetch(&e, MPI_REPLACE, &one, &old);                                                       \
        OK(MPI_Barrier(MPI_COMM_WORLD));                                                                         \
        for (int turn = 0; turn < TURNS; turn++) change(&e, MPI_PROD, turn % 4 == 3 ? &half : &two);             \
        last(&e, &old);                                                                                          \
        for (next = 1; one <= TURNS / 2 * size; one++) next *= 2;                                                \
        CHECK(old == next, "%s: %s: %g, expected %g", flavor_names[(w)->flavor], #mpi, (double)old, (double)next); \
        zero(w);                                                                                                 \
        for (int turn = 0; turn < TURNS; turn++) {                                                               \
            next = turn * 7 % TURNS * size + rank + 1;                                                           \
            fetch(&e, MPI_MAX, &next, &old);                                                                     \
            CHECK(old >= mine, "%s: %s: %g after %g", flavor_names[(w)->flavor], #mpi, (double)old, (double)mine); \
            mine = old < next ? next : old;                                                                      \
        }                                                                                                        \
        last(&e, &old);                                                                                          \
        EQUAL(old, TURNS * size);                                                                                \
        PASSED_ON(&e, what, REAL_TOKEN, REAL_NUMBER);                                                            \
    }

#define COMPLEX_TOKEN(value, n) ((value) = (n) - (n) * 2 * I)
#define COMPLEX_NUMBER(value) (cimag(value) == -2 * creal(value) ? (int)creal(value) : -1)

#define COMPLEX(w, what, mpi)                                                                                    \
    for (int at = AT; at <= AT + 61; at += 61) {                                                                 \
        const struct element e = {w, at, mpi, sizeof(what), #mpi};                                               \
        what step = 1 + 2 * I, quarter = I, value = 0;                                                           \
        zero(w);                                                                                                 \
        for (int turn = 0; turn < TURNS; turn++) change(&e, MPI_SUM, &step);                                     \
        last(&e, &value);                                                                                        \
        CHECK(creal(value) == TURNS * size && cimag(value) == 2 * TURNS * size, "%s: %s: %g, %g", flavor_names[(w)->flavor], \
              #mpi, (double)creal(value), (double)cimag(value));                                                 \
        OK(MPI_Barrier(MPI_COMM_WORLD));                                                                         \
        for (int turn = 0; turn < TURNS + 1; turn++) change(&e, MPI_PROD, &quarter);                             \
        last(&e, &value);                                                                                        \
        what wanted = TURNS * size * (1 + 2 * I);                                                                \
        for (int i = 0; i < (TURNS + 1) * size; i++) wanted *= I;                                                \
        CHECK(value == wanted, "%s: %s: %g, %g", flavor_names[(w)->flavor], #mpi, (double)creal(value), (double)cimag(value)); \
        PASSED_ON(&e, what, COMPLEX_TOKEN, COMPLEX_NUMBER);                                                      \
    }

typedef unsigned __int128 wide;

#define WIDE_TOKEN(value, n) ((value) = ((wide)(3 * (n)) << 64) + (wide)(n))
#define WIDE_NUMBER(value) ((value) >> 64 == 3 * (wide)(uint64_t)(value) ? (int)(value) : -1)

/* Integers of 16 bytes, whose halves belong together: sums with a carry into the upper half, in turn with compare-and-swap, then two bits
 * of each rank, one in each half. */
static void wide_integers(const struct window *w)
{
    for (int at = AT; at <= AT + 61; at += at == AT ? 8 : 53) {
        const struct element e = {w, at, MPI_INTEGER16, sizeof(wide), "MPI_INTEGER16"};
        const wide step = ((wide)5 << 64) - 1, own = ((wide)1 << (64 + rank)) | (wide)1 << rank;
        wide old = 0, expected = 0, next, value = 0;
        zero(w);
        for (int turn = 0; turn < TURNS; turn++) {
            if ((turn + rank) % 3 == 0) change(&e, MPI_SUM, &step);
            if ((turn + rank) % 3 == 1) fetch(&e, MPI_SUM, &step, &old);
            for (int is_over = (turn + rank) % 3 < 2; !is_over; expected = old) {
                next = expected + step;
                OK(MPI_Compare_and_swap(&next, &expected, &old, e.type, 0, place(w, 0, at), w->win));
                OK(MPI_Win_flush(0, w->win));
                is_over = old == expected;
            }
            CHECK(old % step == 0 && old / step < (wide)(TURNS * size), "%s: %s at byte %d: %#llx, %#llx is no sum", flavor_names[w->flavor], e.name,
                  at, (unsigned long long)(old >> 64), (unsigned long long)old);
        }
        last(&e, &value);
        CHECK(value == step * (wide)(TURNS * size), "%s: %s at byte %d: %#llx, %#llx are not %d sums", flavor_names[w->flavor], e.name, at,
              (unsigned long long)(value >> 64), (unsigned long long)value, TURNS * size);
        zero(w);
        for (int turn = 0; turn < TURNS; turn++) {
            fetch(&e, MPI_BXOR, &own, &old);
            CHECK((old & own) == (turn % 2 ? own : 0), "%s: %s at byte %d: %#llx, %#llx in turn %d", flavor_names[w->flavor], e.name, at,
                  (unsigned long long)(old >> 64), (unsigned long long)old, turn);
        }
        PASSED_ON(&e, wide, WIDE_TOKEN, WIDE_NUMBER);
    }
}

static void others(const struct window *w)
{
    wide_integers(w);
    PAIRS(w, int, int, MPI_2INT);
    PAIRS(w, short, int, MPI_SHORT_INT);
    PAIRS(w, long, int, MPI_LONG_INT);
    PAIRS(w, float, int, MPI_FLOAT_INT);
    PAIRS(w, double, int, MPI_DOUBLE_INT);
    PAIRS(w, long double, int, MPI_LONG_DOUBLE_INT);
    PAIRS(w, double, double, MPI_2DOUBLE_PRECISION);
    REALS(w, float, MPI_FLOAT);
    REALS(w, double, MPI_DOUBLE);
    COMPLEX(w, float complex, MPI_C_FLOAT_COMPLEX);
    COMPLEX(w, double complex, MPI_C_DOUBLE_COMPLEX);
    COMPLEX(w, long double complex, MPI_C_LONG_DOUBLE_COMPLEX);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    CHECK(size <= 4, "a byte has two bits for each of four ranks");
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        struct window w = make_window(flavor, BYTES, 1);
        OK(MPI_Win_lock_all(0, w.win));
        integers(&w);
        others(&w);
        OK(MPI_Win_unlock_all(w.win));
        free_window(&w);
    }
    return check_end();
}
