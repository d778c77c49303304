/* op_tables.h: every predefined operation and every predefined type that it is defined on, with naive loops and seeded random values.
 * Values of floating point are such that no result is rounded. MPI-5.0 section 6.9.2. */
#ifndef OP_TABLES_H
#define OP_TABLES_H

#include "check.h"

#include <complex.h>
#include <stdint.h>

enum { SUM, PROD, MAX, MIN, BAND, BOR, BXOR, LAND, LOR, LXOR, MINLOC, MAXLOC, OPS };
enum {
    ADDS = 1 << SUM | 1 << PROD,
    ORDERS = 1 << MAX | 1 << MIN,
    BITS = 1 << BAND | 1 << BOR | 1 << BXOR,
    TRUTHS = 1 << LAND | 1 << LOR | 1 << LXOR,
    PLACES = 1 << MINLOC | 1 << MAXLOC,
    WHOLE = ADDS | ORDERS | BITS | TRUTHS,
    REAL = ADDS | ORDERS,
    MOST = 1100,
    WIDEST = 32
};

static const MPI_Op handles[OPS] = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_LAND,
                                    MPI_LOR, MPI_LXOR, MPI_MINLOC, MPI_MAXLOC};
static const char *const op_names[OPS] = {"MPI_SUM", "MPI_PROD", "MPI_MAX", "MPI_MIN", "MPI_BAND", "MPI_BOR", "MPI_BXOR",
                                          "MPI_LAND", "MPI_LOR", "MPI_LXOR", "MPI_MINLOC", "MPI_MAXLOC"};

/* What element i of rank r holds. */
static uint64_t bits_of(int r, int i, int op)
{
    uint64_t x = ((uint64_t)(unsigned)r << 40 | (uint64_t)(unsigned)op << 32 | (uint32_t)i) * 0x9e3779b97f4a7c15u + 977;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

/* Three functions for a type: a random value, b = a op b, and whether two are equal. */
#define KIND(name, T, make, combine, same)                                            \
    static void name##_make(void *to, uint64_t x, int op)                             \
    {                                                                                 \
        T v;                                                                          \
        memset(&v, 0, sizeof v);                                                      \
        (void)op;                                                                     \
        make;                                                                         \
        memcpy(to, &v, sizeof v);                                                     \
    }                                                                                 \
    static void name##_combine(int op, const void *from, void *to)                    \
    {                                                                                 \
        T a, b;                                                                       \
        memcpy(&a, from, sizeof a);                                                   \
        memcpy(&b, to, sizeof b);                                                     \
        switch (op) { combine }                                                       \
        memcpy(to, &b, sizeof b);                                                     \
    }                                                                                 \
    static int name##_same(const void *left, const void *right)                       \
    {                                                                                 \
        T a, b;                                                                       \
        memcpy(&a, left, sizeof a);                                                   \
        memcpy(&b, right, sizeof b);                                                  \
        return same;                                                                  \
    }

#define TRUTH_CASES                     \
    case LAND: b = a && b; break;       \
    case LOR: b = a || b; break;        \
    case LXOR: b = !a != !b; break;
#define ORDER_CASES                     \
    case MAX: b = a > b ? a : b; break; \
    case MIN: b = a < b ? a : b; break;
/* U is wide enough that nothing is undefined. */
#define WHOLE_KIND(name, T, U)                                                                  \
    KIND(name, T, v = (T)(x % 3 ? (U)x * (sizeof v > 8 ? (U)x : 1) : 0),                         \
         case SUM: b = (T)((U)a + (U)b); break; case PROD: b = (T)((U)a * (U)b); break;          \
         case BAND: b = a & b; break; case BOR: b = a | b; break; case BXOR: b = a ^ b; break;   \
         ORDER_CASES TRUTH_CASES, a == b)
#define REAL_KIND(name, T)                                                                      \
    KIND(name, T, v = (T)(op == PROD ? (x % 2 ? 2.0 : -0.5) : (double)(int)(x % 41) - 20),       \
         case SUM: b = a + b; break; case PROD: b = a * b; break; ORDER_CASES, a == b)
#define COMPLEX_KIND(name, T, R)                                                                \
    KIND(name, T, v = (R)(int)(x % 7) - 3 + ((R)(int)(x / 7 % 7) - 3) * (T)I,                    \
         case SUM: b = a + b; break; case PROD: b = a * b; break;, a == b)
#define TRUTH_KIND(name, T) KIND(name, T, v = (T)(x % 3 ? x % 5 : 0), TRUTH_CASES, a == b)
#define PAIR_KIND(name, V, X)                                                                              \
    struct name { V value; X index; };                                                                     \
    KIND(name, struct name, v.value = (V)((int)(x % 5) - 2); v.index = (X)(int)(x / 5 % 100),               \
         case MINLOC: if (a.value < b.value || (a.value == b.value && a.index < b.index)) b = a; break;     \
         case MAXLOC: if (a.value > b.value || (a.value == b.value && a.index < b.index)) b = a; break;,    \
         a.value == b.value && a.index == b.index)

WHOLE_KIND(s8, int8_t, uint64_t)
WHOLE_KIND(s16, int16_t, uint64_t)
WHOLE_KIND(s32, int32_t, uint64_t)
WHOLE_KIND(s64, int64_t, uint64_t)
WHOLE_KIND(s128, __int128, unsigned __int128)
WHOLE_KIND(u8, uint8_t, uint64_t)
WHOLE_KIND(u16, uint16_t, uint64_t)
WHOLE_KIND(u32, uint32_t, uint64_t)
WHOLE_KIND(u64, uint64_t, uint64_t)
REAL_KIND(f32, float)
REAL_KIND(f64, double)
REAL_KIND(f80, long double)
REAL_KIND(f128, __float128)
COMPLEX_KIND(c32, float _Complex, float)
COMPLEX_KIND(c64, double _Complex, double)
COMPLEX_KIND(c80, long double _Complex, long double)
TRUTH_KIND(l8, uint8_t)
TRUTH_KIND(l16, uint16_t)
TRUTH_KIND(l32, uint32_t)
TRUTH_KIND(l64, uint64_t)
TRUTH_KIND(l128, unsigned __int128)
KIND(boolean, _Bool, v = x % 3 != 0, TRUTH_CASES, a == b)
PAIR_KIND(float_int, float, int)
PAIR_KIND(double_int, double, int)
PAIR_KIND(long_int, long, int)
PAIR_KIND(two_int, int, int)
PAIR_KIND(short_int, short, int)
PAIR_KIND(long_double_int, long double, int)
PAIR_KIND(two_real, float, float)
PAIR_KIND(two_double, double, double)

static const struct type {
    MPI_Datatype type;
    const char *name;
    size_t bytes;
    unsigned ops;
    void (*make)(void *, uint64_t, int);
    void (*combine)(int, const void *, void *);
    int (*same)(const void *, const void *);
} types[] = {
#define TYPE(type, bytes, ops, kind) {type, #type, bytes, ops, kind##_make, kind##_combine, kind##_same}
#define NONE(type) {type, #type, 1, 0, NULL, NULL, NULL}
    TYPE(MPI_CHAR, 1, WHOLE, s8), TYPE(MPI_SIGNED_CHAR, 1, WHOLE, s8), TYPE(MPI_UNSIGNED_CHAR, 1, WHOLE, u8),
    TYPE(MPI_BYTE, 1, REAL | BITS, u8), TYPE(MPI_SHORT, 2, WHOLE, s16), TYPE(MPI_UNSIGNED_SHORT, 2, WHOLE, u16),
    TYPE(MPI_INT, 4, WHOLE, s32), TYPE(MPI_UNSIGNED, 4, WHOLE, u32), TYPE(MPI_LONG, 8, WHOLE, s64),
    TYPE(MPI_UNSIGNED_LONG, 8, WHOLE, u64), TYPE(MPI_LONG_LONG, 8, WHOLE, s64),
    TYPE(MPI_UNSIGNED_LONG_LONG, 8, WHOLE, u64), TYPE(MPI_INT8_T, 1, WHOLE, s8), TYPE(MPI_INT16_T, 2, WHOLE, s16),
    TYPE(MPI_INT32_T, 4, WHOLE, s32), TYPE(MPI_INT64_T, 8, WHOLE, s64), TYPE(MPI_UINT8_T, 1, WHOLE, u8),
    TYPE(MPI_UINT16_T, 2, WHOLE, u16), TYPE(MPI_UINT32_T, 4, WHOLE, u32), TYPE(MPI_UINT64_T, 8, WHOLE, u64),
    TYPE(MPI_AINT, 8, WHOLE, s64), TYPE(MPI_COUNT, 8, WHOLE, s64), TYPE(MPI_OFFSET, 8, WHOLE, s64),
    TYPE(MPI_INTEGER, 4, REAL | BITS, s32), TYPE(MPI_INTEGER1, 1, REAL | BITS, s8),
    TYPE(MPI_INTEGER2, 2, REAL | BITS, s16), TYPE(MPI_INTEGER4, 4, REAL | BITS, s32),
    TYPE(MPI_INTEGER8, 8, REAL | BITS, s64), TYPE(MPI_INTEGER16, 16, REAL | BITS, s128),
    TYPE(MPI_FLOAT, 4, REAL, f32), TYPE(MPI_DOUBLE, 8, REAL, f64), TYPE(MPI_LONG_DOUBLE, 16, REAL, f80),
    TYPE(MPI_REAL, 4, REAL, f32), TYPE(MPI_DOUBLE_PRECISION, 8, REAL, f64), TYPE(MPI_REAL4, 4, REAL, f32),
    TYPE(MPI_REAL8, 8, REAL, f64), TYPE(MPI_REAL16, 16, REAL, f128), TYPE(MPI_C_FLOAT_COMPLEX, 8, ADDS, c32),
    TYPE(MPI_C_DOUBLE_COMPLEX, 16, ADDS, c64), TYPE(MPI_C_LONG_DOUBLE_COMPLEX, 32, ADDS, c80),
    TYPE(MPI_COMPLEX, 8, ADDS, c32), TYPE(MPI_DOUBLE_COMPLEX, 16, ADDS, c64), TYPE(MPI_COMPLEX8, 8, ADDS, c32),
    TYPE(MPI_COMPLEX16, 16, ADDS, c64), TYPE(MPI_C_BOOL, 1, TRUTHS, boolean), TYPE(MPI_CXX_BOOL, 1, TRUTHS, boolean),
    TYPE(MPI_LOGICAL, 4, TRUTHS, l32), TYPE(MPI_LOGICAL1, 1, TRUTHS, l8), TYPE(MPI_LOGICAL2, 2, TRUTHS, l16),
    TYPE(MPI_LOGICAL4, 4, TRUTHS, l32), TYPE(MPI_LOGICAL8, 8, TRUTHS, l64), TYPE(MPI_LOGICAL16, 16, TRUTHS, l128),
    TYPE(MPI_FLOAT_INT, sizeof(struct float_int), PLACES, float_int),
    TYPE(MPI_DOUBLE_INT, sizeof(struct double_int), PLACES, double_int),
    TYPE(MPI_LONG_INT, sizeof(struct long_int), PLACES, long_int), TYPE(MPI_2INT, sizeof(struct two_int), PLACES, two_int),
    TYPE(MPI_SHORT_INT, sizeof(struct short_int), PLACES, short_int),
    TYPE(MPI_LONG_DOUBLE_INT, sizeof(struct long_double_int), PLACES, long_double_int),
    TYPE(MPI_2REAL, 8, PLACES, two_real), TYPE(MPI_2DOUBLE_PRECISION, 16, PLACES, two_double),
    TYPE(MPI_2INTEGER, 8, PLACES, two_int), NONE(MPI_PACKED), NONE(MPI_WCHAR), NONE(MPI_CHARACTER)};

#endif
