// ranks: 1 2 3 4
// timeout: 120
/* Reductions that MPI-5.0 section 6.9.2 leaves out and other libraries accept: MPI_CHAR as C's char, arithmetic on
 * MPI_BYTE, logical operations on MPI_AINT, MPI_COUNT and MPI_OFFSET. Each function in each form, against naive loops, at
 * lengths around those of vector registers. With STRICT defined each of them is refused instead. */
#include "check.h"

#include <stdint.h>

enum { SUM, PROD, MAX, MIN, BAND, BOR, BXOR, LAND, LOR, LXOR, OPS };
enum { ARITHMETIC = 1 << SUM | 1 << PROD | 1 << MAX | 1 << MIN, LOGICAL = 1 << LAND | 1 << LOR | 1 << LXOR, MOST = 40000 };

static const struct {
    MPI_Op op;
    const char *name;
} ops[OPS] = {{MPI_SUM, "MPI_SUM"},   {MPI_PROD, "MPI_PROD"}, {MPI_MAX, "MPI_MAX"},   {MPI_MIN, "MPI_MIN"},
              {MPI_BAND, "MPI_BAND"}, {MPI_BOR, "MPI_BOR"},   {MPI_BXOR, "MPI_BXOR"}, {MPI_LAND, "MPI_LAND"},
              {MPI_LOR, "MPI_LOR"},   {MPI_LXOR, "MPI_LXOR"}};

static const struct type {
    MPI_Datatype type;
    const char *name;
    size_t bytes;
    int is_signed;
    unsigned ops;
} types[] = {{MPI_CHAR, "MPI_CHAR", sizeof(char), (char)-1 < 0, (1 << OPS) - 1},
             {MPI_BYTE, "MPI_BYTE", 1, 0, ARITHMETIC},
             {MPI_AINT, "MPI_AINT", sizeof(MPI_Aint), 1, LOGICAL},
             {MPI_COUNT, "MPI_COUNT", sizeof(MPI_Count), 1, LOGICAL},
             {MPI_OFFSET, "MPI_OFFSET", sizeof(MPI_Offset), 1, LOGICAL}};

enum { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK, REDUCE_SCATTER, REDUCE_LOCAL, FUNCTIONS };
enum { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
static const char *const functions[] = {"MPI_Reduce", "MPI_Allreduce", "MPI_Scan", "MPI_Exscan",
                                        "MPI_Reduce_scatter_block", "MPI_Reduce_scatter", "MPI_Reduce_local"};

/* What rank r contributes as its element i: any bits, often zero, so that logical values differ. */
static int64_t value(const struct type *type, int r, int i)
{
    uint64_t x = ((uint64_t)r << 32 | (uint32_t)i) * 0x9e3779b97f4a7c15u + 12345;
    x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9u;
    x ^= x >> 32;
    if (x % 3 == 0) return 0;
    if (type->bytes > 1) return (int64_t)x;
    return type->is_signed ? (int8_t)(x >> 8) : (uint8_t)(x >> 8);
}

static int64_t naive(const struct type *type, int op, int64_t a, int64_t b)
{
    uint64_t all = 0;
    switch (op) {
    case SUM: all = (uint64_t)a + (uint64_t)b; break;
    case PROD: all = (uint64_t)a * (uint64_t)b; break;
    case MAX: return a > b ? a : b;
    case MIN: return a < b ? a : b;
    case BAND: return a & b;
    case BOR: return a | b;
    case BXOR: return a ^ b;
    case LAND: return a && b;
    case LOR: return a || b;
    default: return !a != !b;
    }
    if (type->bytes > 1) return (int64_t)all;
    return type->is_signed ? (int8_t)all : (uint8_t)all;
}

static int64_t load(const struct type *type, const unsigned char *from, int i)
{
    int64_t wide;
    if (type->bytes == 1) return type->is_signed ? (int8_t)from[i] : from[i];
    memcpy(&wide, from + 8 * (size_t)i, 8);
    return wide;
}

static void store(const struct type *type, unsigned char *to, int i, int64_t x)
{
    if (type->bytes == 1) to[i] = (unsigned char)x;
    else memcpy(to + 8 * (size_t)i, &x, 8);
}

/* Ends what was started. */
static int done(int code, int form, MPI_Request *request)
{
    if (code != MPI_SUCCESS) return code;
    if (form == PERSISTENT) OK(MPI_Start(request));
    code = MPI_Wait(request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT) OK(MPI_Request_free(request));
    return code;
}

#define CALL(F, f, ...)                                                                                  \
    (form == BLOCKING      ? MPI_##F(__VA_ARGS__)                                                        \
     : form == NONBLOCKING ? done(MPI_I##f(__VA_ARGS__, &request), form, &request)                       \
                           : done(MPI_##F##_init(__VA_ARGS__, MPI_INFO_NULL, &request), form, &request))

static int call(int function, int form, const void *in, void *out, int count, const int *counts, MPI_Datatype type, MPI_Op op)
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm = MPI_COMM_WORLD;
    switch (function) {
    case REDUCE: return CALL(Reduce, reduce, in, out, count, type, op, size - 1, comm);
    case ALLREDUCE: return CALL(Allreduce, allreduce, in, out, count, type, op, comm);
    case SCAN: return CALL(Scan, scan, in, out, count, type, op, comm);
    case EXSCAN: return CALL(Exscan, exscan, in, out, count, type, op, comm);
    case REDUCE_SCATTER_BLOCK: return CALL(Reduce_scatter_block, reduce_scatter_block, in, out, count, type, op, comm);
    case REDUCE_SCATTER: return CALL(Reduce_scatter, reduce_scatter, in, out, counts, type, op, comm);
    default: return MPI_Reduce_local(in, out, count, type, op);
    }
}

/* The ranks whose elements this rank's result combines, up to but not including `end`; none if it has no result. */
static void wanted_of(int function, int count, int *begin, int *end, int *first)
{
    *begin = 0, *end = size, *first = 0;
    switch (function) {
    case REDUCE: *end = rank == size - 1 ? size : 0; break;
    case SCAN: *end = rank + 1; break;
    case EXSCAN: *end = rank; break;
    case REDUCE_SCATTER_BLOCK: *first = rank * count; break;
    case REDUCE_SCATTER: *first = rank * count + rank / 2; break;
    case REDUCE_LOCAL: *begin = rank, *end = rank + 2; break;
    }
}

static void one(const struct type *type, int op, int function, int form, int count, unsigned char *in, unsigned char *out)
{
    int counts[8], begin, end, first, own = count, sent = count;
    for (int r = 0; r < size; r++) counts[r] = count + r % 2;
    if (function == REDUCE_SCATTER) own = counts[rank], sent = size * count + size / 2;
    if (function == REDUCE_SCATTER_BLOCK) sent = size * count;
    for (int i = 0; i < sent; i++) store(type, in, i, value(type, rank, i));
    /* The right operand of MPI_Reduce_local, and what must be gone elsewhere. */
    for (int i = 0; i < own; i++) store(type, out, i, value(type, rank + 1, i));
    memset(out + (size_t)own * type->bytes, 0xA5, 8);
    OK(call(function, form, in, out, count, counts, type->type, ops[op].op));
    wanted_of(function, count, &begin, &end, &first);
    for (int i = 0; i < own && begin < end; i++) {
        int64_t wanted = value(type, begin, first + i);
        for (int r = begin + 1; r < end; r++) wanted = naive(type, op, wanted, value(type, r, first + i));
        CHECK(load(type, out, i) == wanted, "%s, form %d, %s on %s, element %d of %d is %lld, expected %lld", functions[function],
              form, ops[op].name, type->name, i, own, (long long)load(type, out, i), (long long)wanted);
    }
    for (int i = 0; i < 8; i++) EQUAL(out[(size_t)own * type->bytes + (size_t)i], 0xA5);
}

static void each(const struct type *type, int op, unsigned char *in, unsigned char *out)
{
    static const int lengths[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129, 1000};
    for (int function = 0; function < FUNCTIONS; function++) {
        for (int form = 0; form < (function == REDUCE_LOCAL ? 1 : FORMS); form++) {
#ifdef STRICT
            int counts[8] = {4, 4, 4, 4, 4, 4, 4, 4};
            (void)one;
            (void)lengths;
            REFUSED(call(function, form, in, out, 4, counts, type->type, ops[op].op), MPI_ERR_OP);
#else
            for (unsigned n = 0; n < sizeof lengths / sizeof *lengths; n++)
                one(type, op, function, form, lengths[n] + (int)(n % 2), in, out);
            if (form == BLOCKING && op % 3 == 0) one(type, op, function, form, MOST, in, out);
#endif
        }
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    unsigned char *in = malloc((size_t)size * (MOST + 1) * 8), *out = malloc((MOST + 2) * 8);
    for (unsigned t = 0; t < sizeof types / sizeof *types; t++)
        for (int op = 0; op < OPS; op++)
            if (types[t].ops >> op & 1) each(&types[t], op, in, out);
    /* What no library accepts. */
    REFUSED(MPI_Allreduce(in, out, 1, MPI_PACKED, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
    REFUSED(MPI_Allreduce(in, out, 1, MPI_CHAR, MPI_MAXLOC, MPI_COMM_WORLD), MPI_ERR_OP);
    REFUSED(MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_LAND, MPI_COMM_WORLD), MPI_ERR_OP);
    /* And what the standard defines. */
    memset(in, 3, 4);
    OK(MPI_Allreduce(in, out, 4, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD));
    EQUAL(out[3], 3);
    free(in);
    free(out);
    return check_end();
}
