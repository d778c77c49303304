// ranks: 1 2 3 4 5 7
// timeout: 120
/* MPI_Reduce and MPI_Allreduce: every predefined operation on integers, floating-point numbers, logical values and
 * pairs, every root, short and long, in place. MPI-5.0 section 6.9. */
#include "check.h"

enum { LONG = 30000 };

/* The wanted values are computed from the values that every rank contributes. */
#define CASE(name, type, mpi_type, op, value, combine)                                        \
    static void name(int count, int in_place)                                                 \
    {                                                                                         \
        type *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out); \
        type *wanted = malloc((size_t)count * sizeof *wanted);                                \
        for (int i = 0; i < count; i++) {                                                     \
            for (int r = 0; r < size; r++) {                                                  \
                type x = (type)(value);                                                       \
                if (r == rank) in[i] = x;                                                     \
                if (r == 0) wanted[i] = x;                                                    \
                else { type a = wanted[i]; wanted[i] = (type)(combine); }                     \
            }                                                                                 \
        }                                                                                     \
        for (int root = 0; root < size; root += size > 4 ? 3 : 1) {                           \
            for (int i = 0; i < count; i++) out[i] = in_place ? in[i] : (type)0;              \
            if (in_place && rank == root) OK(MPI_Reduce(MPI_IN_PLACE, out, count, mpi_type, op, root, MPI_COMM_WORLD)); \
            else OK(MPI_Reduce(in, out, count, mpi_type, op, root, MPI_COMM_WORLD));          \
            if (rank == root) for (int i = 0; i < count; i++)                                 \
                CHECK(out[i] == wanted[i], #name ": MPI_Reduce to %d of %d, element %d", root, count, i); \
        }                                                                                     \
        for (int i = 0; i < count; i++) out[i] = in_place ? in[i] : (type)0;                  \
        OK(MPI_Allreduce(in_place ? MPI_IN_PLACE : in, out, count, mpi_type, op, MPI_COMM_WORLD)); \
        for (int i = 0; i < count; i++)                                                       \
            CHECK(out[i] == wanted[i], #name ": MPI_Allreduce of %d, element %d", count, i);  \
        free(in);                                                                             \
        free(out);                                                                            \
        free(wanted);                                                                         \
    }

CASE(int_sum, int, MPI_INT, MPI_SUM, r * 3 + i, a + x)
CASE(int_prod, int, MPI_INT, MPI_PROD, (r + i) % 3 + 1, a * x)
CASE(int_max, int, MPI_INT, MPI_MAX, (r * 7 + i * 3) % 11 - 5, a > x ? a : x)
CASE(int_min, int, MPI_INT, MPI_MIN, (r * 7 + i * 3) % 11 - 5, a < x ? a : x)
CASE(int_land, int, MPI_INT, MPI_LAND, (r + i) % 5, a && x)
CASE(int_lor, int, MPI_INT, MPI_LOR, (r + i) % 5 == 0 ? 4 : 0, a || x)
CASE(int_lxor, int, MPI_INT, MPI_LXOR, (r + i) % 3, !a != !x)
CASE(int_band, int, MPI_INT, MPI_BAND, ~(1 << ((r + i) % 20)), a & x)
CASE(int_bor, int, MPI_INT, MPI_BOR, 1 << ((r + i) % 20), a | x)
CASE(int_bxor, int, MPI_INT, MPI_BXOR, 5 << ((r + i) % 20), a ^ x)
CASE(double_sum, double, MPI_DOUBLE, MPI_SUM, r * 0.5 + i, a + x)
CASE(double_prod, double, MPI_DOUBLE, MPI_PROD, (r + i) % 2 ? 2.0 : 0.5, a * x)
CASE(double_max, double, MPI_DOUBLE, MPI_MAX, ((r * 7 + i * 3) % 11) * 0.25 - 1, a > x ? a : x)
CASE(double_min, double, MPI_DOUBLE, MPI_MIN, ((r * 7 + i * 3) % 11) * 0.25 - 1, a < x ? a : x)
CASE(float_sum, float, MPI_FLOAT, MPI_SUM, r * 0.5f + (float)(i % 100), a + x)
CASE(long_max, long, MPI_LONG, MPI_MAX, (long)r << 33 | i, a > x ? a : x)
CASE(short_sum, short, MPI_SHORT, MPI_SUM, r + i % 100, a + x)
CASE(char_bor, unsigned char, MPI_UNSIGNED_CHAR, MPI_BOR, 1 << ((r + i) % 8), a | x)
CASE(schar_min, signed char, MPI_SIGNED_CHAR, MPI_MIN, (r * 5 + i) % 90 - 45, a < x ? a : x)
CASE(unsigned_max, unsigned, MPI_UNSIGNED, MPI_MAX, 0xfffffff0u + (unsigned)((r + i) % 8), a > x ? a : x)
CASE(uint64_sum, unsigned long long, MPI_UINT64_T, MPI_SUM, ((unsigned long long)r << 40) + (unsigned)i, a + x)
CASE(byte_bxor, unsigned char, MPI_BYTE, MPI_BXOR, r * 31 + i, a ^ x)
CASE(int8_sum, signed char, MPI_INT8_T, MPI_SUM, (r + i) % 10, a + x)
CASE(bool_lor, _Bool, MPI_C_BOOL, MPI_LOR, (r + i) % 3 == 0, a || x)

static void pairs(int count)
{
    struct pair { double value; int index; } *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out);
    struct ints { int value, index; } *small = malloc((size_t)count * sizeof *small), *most = malloc((size_t)count * sizeof *most);
    for (int i = 0; i < count; i++) {
        in[i].value = (rank + i) % 3;
        in[i].index = rank;
        small[i].value = (rank + i) % 3;
        small[i].index = rank;
    }
    OK(MPI_Allreduce(in, out, count, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD));
    OK(MPI_Allreduce(small, most, count, MPI_2INT, MPI_MAXLOC, MPI_COMM_WORLD));
    for (int i = 0; i < count; i++) {
        int least = 0, largest = 0;
        /* Of equal values the lowest rank wins. */
        for (int r = 1; r < size; r++) {
            if ((r + i) % 3 < (least + i) % 3) least = r;
            if ((r + i) % 3 > (largest + i) % 3) largest = r;
        }
        CHECK(out[i].value == (least + i) % 3 && out[i].index == least, "MINLOC, element %d", i);
        CHECK(most[i].value == (largest + i) % 3 && most[i].index == largest, "MAXLOC, element %d", i);
    }
    free(in);
    free(out);
    free(small);
    free(most);
}

int main(int argc, char **argv)
{
    static void (*const cases[])(int, int) = {
        int_sum, int_prod, int_max, int_min, int_land, int_lor, int_lxor, int_band, int_bor, int_bxor,
        double_sum, double_prod, double_max, double_min, float_sum, long_max, short_sum, char_bor, schar_min,
        unsigned_max, uint64_sum, byte_bxor, int8_sum, bool_lor};
    int sum = 5;
    check_start(&argc, &argv);
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        cases[i](1, 0);
        cases[i](1, 1);
        cases[i](1000, i % 2);
    }
    int_sum(LONG, 0);
    double_sum(LONG, 1);
    double_max(LONG * 8, 0);
    pairs(1);
    pairs(3000);
    OK(MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    REFUSED(MPI_Allreduce(&sum, &rank, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_SELF), MPI_ERR_OP);
    return check_end();
}
