// ranks: 1 2
// timeout: 120
/* Every predefined operation on every predefined type by MPI_Accumulate, MPI_Get_accumulate and MPI_Fetch_and_op, and
 * MPI_Compare_and_swap on its types, between two processes: what MPI_Reduce_local makes of the same operands, on aligned
 * elements, such as are not, and a column. Every other pair is refused. MPI-5.0 sections 12.3.4, 6.9.2. */
#include "op_tables.h"
#include "win.h"

enum { LONGEST = 1100, ROOM = 2 * LONGEST * WIDEST, UNEVEN = 3, TWICE = 2 };

static struct window w;
static int target;
static unsigned char start[ROOM], operands[ROOM], wished[ROOM], old[ROOM], found[ROOM];

/* An element, of a type without operations as well. */
static void fill_all(const struct type *type, int op, int r, int count, unsigned char *to)
{
    for (int i = 0; i < count; i++) {
        if (type->make) type->make(to + (size_t)i * type->bytes, bits_of(r, i, op), op);
        else to[i] = (unsigned char)bits_of(r, i, op);
    }
}

static void compare_all(const struct type *type, const unsigned char *a, const unsigned char *b, int count, const char *what, const char *op)
{
    for (int i = 0; i < count; i++) {
        const unsigned char *left = a + (size_t)i * type->bytes, *right = b + (size_t)i * type->bytes;
        CHECK(type->same ? type->same(left, right) : *left == *right, "%s, %s on %s, %s window, element %d of %d", what, op,
              type->name, flavor_names[w.flavor], i, count);
    }
}

/* Elements of the target, one behind the other or with a gap behind each. */
struct place {
    MPI_Aint disp;
    int count;
    MPI_Datatype type;
};

static struct place elements(const struct type *type, int count, MPI_Aint by, int apart)
{
    struct place p = {place(&w, target, 0) + by, count, type->type};
    if (apart) {
        OK(MPI_Type_vector(count, 1, TWICE, type->type, &p.type));
        OK(MPI_Type_commit(&p.type));
        p.count = 1;
    }
    return p;
}

static void put_start(const struct type *type, int count, const struct place *p)
{
    OK(MPI_Put(start, count, type->type, target, p->disp, p->count, p->type, w.win));
    OK(MPI_Win_flush(target, w.win));
}

static void is_there(const struct type *type, int count, const struct place *p, const unsigned char *expected, const char *what, const char *op)
{
    memset(found, 0, (size_t)count * type->bytes);
    OK(MPI_Win_flush(target, w.win));
    OK(MPI_Get(found, count, type->type, target, p->disp, p->count, p->type, w.win));
    OK(MPI_Win_flush(target, w.win));
    compare_all(type, found, expected, count, what, op);
}

static void operate(const struct type *type, int number, int count, MPI_Aint by, int apart)
{
    MPI_Op op = number < OPS ? handles[number] : number == OPS ? MPI_REPLACE : MPI_NO_OP;
    const char *name = number < OPS ? op_names[number] : number == OPS ? "MPI_REPLACE" : "MPI_NO_OP";
    struct place p = elements(type, count, by, apart);
    fill_all(type, number, rank, count, operands);
    fill_all(type, number, rank + 1, count, start);
    memcpy(wished, op == MPI_REPLACE ? operands : start, (size_t)count * type->bytes);
    if (number < OPS) OK(MPI_Reduce_local(operands, wished, count, type->type, op));
    if (op != MPI_NO_OP) {
        put_start(type, count, &p);
        OK(MPI_Accumulate(operands, count, type->type, target, p.disp, p.count, p.type, op, w.win));
        is_there(type, count, &p, wished, "MPI_Accumulate", name);
    }
    put_start(type, count, &p);
    memset(old, 0, (size_t)count * type->bytes);
    OK(MPI_Get_accumulate(operands, count, type->type, old, count, type->type, target, p.disp, p.count, p.type, op, w.win));
    is_there(type, count, &p, wished, "MPI_Get_accumulate", name);
    compare_all(type, old, start, count, "MPI_Get_accumulate's result", name);
    if (count == 1 && !apart) {
        put_start(type, 1, &p);
        memset(old, 0, type->bytes);
        OK(MPI_Fetch_and_op(operands, old, type->type, target, p.disp, op, w.win));
        is_there(type, 1, &p, wished, "MPI_Fetch_and_op", name);
        compare_all(type, old, start, 1, "MPI_Fetch_and_op's result", name);
    }
    if (apart) OK(MPI_Type_free(&p.type));
}

/* Integers, truth values and bytes are compared. */
static void swapping(const struct type *type, MPI_Aint by)
{
    struct place p = elements(type, 1, by, 0);
    unsigned char other[WIDEST];
    if (!(type->ops & (1 << BAND | 1 << LAND))) {
        REFUSED(MPI_Compare_and_swap(operands, start, old, type->type, target, p.disp, w.win), MPI_ERR_TYPE);
        return;
    }
    memset(start, 0, type->bytes);
    memset(operands, 0, type->bytes);
    memset(other, 0, type->bytes);
    operands[0] = 1;
    put_start(type, 1, &p);
    /* 0 is not 1; 0 becomes 1; 1 is not 0. */
    const struct { unsigned char *expected, *next, *was, *is; } steps[] = {
        {operands, other, start, start}, {start, operands, start, operands}, {start, other, operands, operands}, {operands, start, operands, start}};
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++) {
        memset(old, 0xee, type->bytes);
        OK(MPI_Compare_and_swap(steps[i].next, steps[i].expected, old, type->type, target, p.disp, w.win));
        is_there(type, 1, &p, steps[i].is, "MPI_Compare_and_swap", "swap");
        compare_all(type, old, steps[i].was, 1, "MPI_Compare_and_swap's result", "swap");
    }
}

static void all(const struct type *type, int number)
{
    if (number < OPS && !(type->ops >> number & 1)) {
        REFUSED(MPI_Accumulate(operands, 1, type->type, target, place(&w, target, 0), 1, type->type, handles[number], w.win), MPI_ERR_OP);
        REFUSED(MPI_Fetch_and_op(operands, old, type->type, target, place(&w, target, 0), handles[number], w.win), MPI_ERR_OP);
        return;
    }
    operate(type, number, 1, 0, 0);
    operate(type, number, 1, UNEVEN, 0);
    operate(type, number, 9, 0, 0);
    operate(type, number, 9, UNEVEN, 0);
    operate(type, number, 9, 0, 1);
    if (w.flavor == CREATE || w.flavor == ALLOCATE) operate(type, number, LONGEST, 0, 0);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    target = (rank + 1) % size;
    for (enum flavor flavor = CREATE; flavor < FLAVORS; flavor++) {
        if (!can_make(flavor)) continue;
        w = make_window(flavor, ROOM, 1);
        OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
        OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w.win));
        for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
            for (int number = 0; number < OPS + 2; number++) all(&types[t], number);
            swapping(&types[t], 0);
            swapping(&types[t], UNEVEN);
        }
        OK(MPI_Win_unlock(target, w.win));
        free_window(&w);
    }
    return check_end();
}
