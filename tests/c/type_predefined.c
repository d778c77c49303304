// ranks: 2
/* Every predefined datatype that an implementation must have: size, extent, name, and one round between two ranks.
 * MPI-5.0 sections 3.2.2, 5.1 and 6.9.4. */
#include "predefined_check.h"

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define PAIR(value, index)                                                                    \
    {{0, sizeof(value)}, {offsetof(struct { value v; index i; }, i), sizeof(index)}, {0, 0}}, \
        sizeof(struct { value v; index i; }), NULL
#define ONE(type) {{0, sizeof(type)}, {0, 0}}, sizeof(type)

static const struct predefined all[] = {
    {MPI_CHAR, "MPI_CHAR", ONE(char), NULL},
    {MPI_SIGNED_CHAR, "MPI_SIGNED_CHAR", ONE(signed char), NULL},
    {MPI_UNSIGNED_CHAR, "MPI_UNSIGNED_CHAR", ONE(unsigned char), NULL},
    {MPI_SHORT, "MPI_SHORT", ONE(short), NULL},
    {MPI_UNSIGNED_SHORT, "MPI_UNSIGNED_SHORT", ONE(unsigned short), NULL},
    {MPI_INT, "MPI_INT", ONE(int), NULL},
    {MPI_UNSIGNED, "MPI_UNSIGNED", ONE(unsigned), NULL},
    {MPI_LONG, "MPI_LONG", ONE(long), NULL},
    {MPI_UNSIGNED_LONG, "MPI_UNSIGNED_LONG", ONE(unsigned long), NULL},
    {MPI_LONG_LONG, "MPI_LONG_LONG_INT", ONE(long long), "MPI_LONG_LONG"},
    {MPI_LONG_LONG_INT, "MPI_LONG_LONG_INT", ONE(long long), "MPI_LONG_LONG"},
    {MPI_UNSIGNED_LONG_LONG, "MPI_UNSIGNED_LONG_LONG", ONE(unsigned long long), NULL},
    {MPI_FLOAT, "MPI_FLOAT", ONE(float), NULL},
    {MPI_DOUBLE, "MPI_DOUBLE", ONE(double), NULL},
    {MPI_LONG_DOUBLE, "MPI_LONG_DOUBLE", ONE(long double), NULL},
    {MPI_WCHAR, "MPI_WCHAR", ONE(wchar_t), NULL},
    {MPI_C_BOOL, "MPI_C_BOOL", ONE(_Bool), NULL},
    {MPI_INT8_T, "MPI_INT8_T", ONE(int8_t), NULL},
    {MPI_INT16_T, "MPI_INT16_T", ONE(int16_t), NULL},
    {MPI_INT32_T, "MPI_INT32_T", ONE(int32_t), NULL},
    {MPI_INT64_T, "MPI_INT64_T", ONE(int64_t), NULL},
    {MPI_UINT8_T, "MPI_UINT8_T", ONE(uint8_t), NULL},
    {MPI_UINT16_T, "MPI_UINT16_T", ONE(uint16_t), NULL},
    {MPI_UINT32_T, "MPI_UINT32_T", ONE(uint32_t), NULL},
    {MPI_UINT64_T, "MPI_UINT64_T", ONE(uint64_t), NULL},
    {MPI_AINT, "MPI_AINT", ONE(MPI_Aint), NULL},
    {MPI_COUNT, "MPI_COUNT", ONE(MPI_Count), NULL},
    {MPI_OFFSET, "MPI_OFFSET", ONE(MPI_Offset), NULL},
    {MPI_C_COMPLEX, "MPI_C_COMPLEX", ONE(float complex), "MPI_C_FLOAT_COMPLEX"},
    {MPI_C_FLOAT_COMPLEX, "MPI_C_COMPLEX", ONE(float complex), "MPI_C_FLOAT_COMPLEX"},
    {MPI_C_DOUBLE_COMPLEX, "MPI_C_DOUBLE_COMPLEX", ONE(double complex), NULL},
    {MPI_C_LONG_DOUBLE_COMPLEX, "MPI_C_LONG_DOUBLE_COMPLEX", ONE(long double complex), NULL},
    {MPI_BYTE, "MPI_BYTE", {{0, 1}, {0, 0}}, 1, NULL},
    {MPI_PACKED, "MPI_PACKED", {{0, 1}, {0, 0}}, 1, NULL},
    {MPI_FLOAT_INT, "MPI_FLOAT_INT", PAIR(float, int)},
    {MPI_DOUBLE_INT, "MPI_DOUBLE_INT", PAIR(double, int)},
    {MPI_LONG_INT, "MPI_LONG_INT", PAIR(long, int)},
    {MPI_2INT, "MPI_2INT", PAIR(int, int)},
    {MPI_SHORT_INT, "MPI_SHORT_INT", PAIR(short, int)},
    {MPI_LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", PAIR(long double, int)},
};

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    /* MPICH and Intel MPI divide by zero when they count the elements of a pair; type_strict.c asks for them. */
    type_has_elements = 0;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) predefined(&all[i]);
    return check_end();
}
