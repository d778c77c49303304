// ranks: 1 2 3
// timeout: 120
/* Every predefined operation on every predefined type that it is defined on, against naive loops on seeded random values,
 * in MPI_Allreduce and MPI_Reduce_local, at lengths around those of vector registers; every other pair is refused. Values
 * of floating point are such that no result is rounded. MPI-5.0 section 6.9.2. */
#include "op_tables.h"

static unsigned char in[MOST * WIDEST], out[MOST * WIDEST], wanted[WIDEST], operand[WIDEST];

static void compare(const struct type *type, int op, int first, int last, int count, const char *call)
{
    for (int i = 0; i < count; i++) {
        type->make(wanted, bits_of(last, i, op), op);
        for (int r = last - 1; r >= first; r--) {
            type->make(operand, bits_of(r, i, op), op);
            type->combine(op, operand, wanted);
        }
        CHECK(type->same(out + (size_t)i * type->bytes, wanted), "%s, %s on %s, element %d of %d", call, op_names[op],
              type->name, i, count);
    }
}

static void fill(const struct type *type, int op, int r, int count, unsigned char *to)
{
    for (int i = 0; i < count; i++) type->make(to + (size_t)i * type->bytes, bits_of(r, i, op), op);
}

static void pair(const struct type *type, int op)
{
    static const int lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1000};
    for (unsigned n = 0; n < sizeof lengths / sizeof *lengths; n++) {
        int count = lengths[n];
        fill(type, op, rank, count, in);
        memset(out, 0, sizeof out);
        OK(MPI_Allreduce(in, out, count, type->type, handles[op], MPI_COMM_WORLD));
        compare(type, op, 0, size - 1, count, "MPI_Allreduce");
        fill(type, op, rank + 1, count, out);
        OK(MPI_Reduce_local(in, out, count, type->type, handles[op]));
        compare(type, op, rank, rank + 1, count, "MPI_Reduce_local");
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++) {
        MPI_Aint lower, extent;
        OK(MPI_Type_get_extent(types[t].type, &lower, &extent));
        if (types[t].ops) CHECK((size_t)extent == types[t].bytes, "%s", types[t].name);
        for (int op = 0; op < OPS; op++) {
            if (types[t].ops >> op & 1) {
                pair(&types[t], op);
                continue;
            }
            REFUSED(MPI_Allreduce(in, out, 1, types[t].type, handles[op], MPI_COMM_WORLD), MPI_ERR_OP);
            REFUSED(MPI_Reduce_local(in, out, 1, types[t].type, handles[op]), MPI_ERR_OP);
        }
    }
    return check_end();
}
