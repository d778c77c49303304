/* type_check.h: what the tests of datatype constructors share. A test says by an explicit loop where each basic
 * element of its type lies, in the order of the type map; then the type is measured, taken apart, and sent and received
 * between ranks 0 and 1, and every byte of the buffers and of the guards around them is compared. */
#ifndef TYPE_CHECK_H
#define TYPE_CHECK_H

#include "check.h"

enum { TYPE_MOST = 1 << 16, TYPE_ARGUMENTS = 64 };

/* Offset and width of every basic element of the type under test. */
static MPI_Aint type_places[TYPE_MOST];
static int type_widths[TYPE_MOST], type_count;
/* Whether MPI_Get_elements is called, and how long the long messages are. */
static int type_has_elements = 1, type_bytes = 300000;

static inline void type_begin(void)
{
    type_count = 0;
}

/* The next basic element, `width` bytes, lies at this offset. */
static inline void type_at(MPI_Aint offset, int width)
{
    if (type_count == TYPE_MOST) FAIL("the test has more than %d elements", TYPE_MOST);
    type_places[type_count] = offset;
    type_widths[type_count++] = width;
}

/* Through all functions that report it. */
static inline void type_measures(MPI_Datatype type, MPI_Count size_is, MPI_Count lb_is, MPI_Count extent_is,
                                 MPI_Count true_lb_is, MPI_Count true_extent_is)
{
    int bytes;
    MPI_Count count, low, extent;
    MPI_Aint lb, length;
    OK(MPI_Type_size(type, &bytes));
    EQUAL(bytes, size_is);
    OK(MPI_Type_size_c(type, &count));
    EQUAL(count, size_is);
    OK(MPI_Type_size_x(type, &count));
    EQUAL(count, size_is);
    /* Where a type without data begins and ends is nowhere defined. */
    OK(MPI_Type_get_extent(type, &lb, &length));
    CHECK(size_is == 0 || lb == lb_is, "the lower bound is %ld, expected %ld", (long)lb, (long)lb_is);
    CHECK(size_is == 0 || length == extent_is, "the extent is %ld, expected %ld", (long)length, (long)extent_is);
    OK(MPI_Type_get_extent_c(type, &low, &extent));
    CHECK(low == lb && extent == length);
    OK(MPI_Type_get_extent_x(type, &low, &extent));
    CHECK(low == lb && extent == length);
    OK(MPI_Type_get_true_extent(type, &lb, &length));
    CHECK(size_is == 0 || lb == true_lb_is, "the true lower bound is %ld, expected %ld", (long)lb, (long)true_lb_is);
    CHECK(size_is == 0 || length == true_extent_is, "the true extent is %ld, expected %ld", (long)length, (long)true_extent_is);
    OK(MPI_Type_get_true_extent_c(type, &low, &extent));
    CHECK(low == lb && extent == length);
    OK(MPI_Type_get_true_extent_x(type, &low, &extent));
    CHECK(low == lb && extent == length);
}

/* Predefined types and those of the program that the test knows are compared, others freed. */
static inline void type_children(int many, const MPI_Datatype *found, const MPI_Datatype *wanted)
{
    for (int i = 0; i < many; i++) {
        MPI_Datatype child = found[i];
        int ints, aints, types, combiner;
        OK(MPI_Type_get_envelope(child, &ints, &aints, &types, &combiner));
        if (combiner == MPI_COMBINER_NAMED) CHECK(child == wanted[i], "datatype argument %d is another one", i);
        else OK(MPI_Type_free(&child));
    }
}

/* What the type says it was made from. */
static inline void type_made_by(MPI_Datatype type, int combiner_is, int many_ints, const int *ints, int many_aints,
                                const MPI_Aint *aints, int many_types, const MPI_Datatype *types)
{
    int found_ints[TYPE_ARGUMENTS], ni, na, nd, combiner;
    MPI_Aint found_aints[TYPE_ARGUMENTS];
    MPI_Datatype found_types[TYPE_ARGUMENTS];
    OK(MPI_Type_get_envelope(type, &ni, &na, &nd, &combiner));
    EQUAL(combiner, combiner_is);
    EQUAL(ni, many_ints);
    EQUAL(na, many_aints);
    EQUAL(nd, many_types);
    OK(MPI_Type_get_contents(type, ni, na, nd, found_ints, found_aints, found_types));
    for (int i = 0; i < ni; i++) CHECK(found_ints[i] == ints[i], "integer argument %d is %d, expected %d", i, found_ints[i], ints[i]);
    for (int i = 0; i < na; i++) CHECK(found_aints[i] == aints[i], "address argument %d is %ld, expected %ld", i, (long)found_aints[i], (long)aints[i]);
    type_children(nd, found_types, types);
}

/* The same of a type made by the form with large counts. */
static inline void type_made_by_c(MPI_Datatype type, int combiner_is, int many_ints, const int *ints, int many_counts,
                                  const MPI_Count *counts, int many_types, const MPI_Datatype *types)
{
    int found_ints[TYPE_ARGUMENTS], combiner;
    MPI_Aint found_aints[TYPE_ARGUMENTS];
    MPI_Count found_counts[TYPE_ARGUMENTS], ni, na, nc, nd;
    MPI_Datatype found_types[TYPE_ARGUMENTS];
    OK(MPI_Type_get_envelope_c(type, &ni, &na, &nc, &nd, &combiner));
    EQUAL(combiner, combiner_is);
    EQUAL(ni, many_ints);
    EQUAL(na, 0);
    EQUAL(nc, many_counts);
    EQUAL(nd, many_types);
    OK(MPI_Type_get_contents_c(type, ni, na, nc, nd, found_ints, found_aints, found_counts, found_types));
    for (int i = 0; i < ni; i++) CHECK(found_ints[i] == ints[i], "integer argument %d is %d, expected %d", i, found_ints[i], ints[i]);
    for (int i = 0; i < nc; i++) CHECK(found_counts[i] == counts[i], "count argument %d is %lld, expected %lld", i, (long long)found_counts[i], (long long)counts[i]);
    type_children((int)nd, found_types, types);
}

/* Memory for `count` elements of the type under test, with guards; `base` is where offset 0 lies. */
struct type_memory {
    unsigned char *bytes, *base;
    size_t length;
};

static inline struct type_memory type_memory(MPI_Aint extent, int count, unsigned seed)
{
    MPI_Aint low = 0, high = 0, reach = (count - 1) * extent;
    for (int i = 0; i < type_count; i++) {
        MPI_Aint at = type_places[i], end = at + type_widths[i];
        MPI_Aint first = at + (reach < 0 ? reach : 0), last = end + (reach > 0 ? reach : 0);
        if (i == 0 || first < low) low = first;
        if (i == 0 || last > high) high = last;
    }
    struct type_memory memory = {NULL, NULL, (size_t)(high - low)};
    memory.bytes = check_guarded(memory.length);
    memory.base = memory.bytes - low;
    check_fill(memory.bytes, memory.length, seed);
    return memory;
}

static inline void type_compare(const char *way, const struct type_memory *found, const struct type_memory *wanted)
{
    for (size_t i = 0; i < wanted->length; i++) {
        if (found->bytes[i] != wanted->bytes[i])
            FAIL("%s: the byte at offset %ld is %d, expected %d", way, (long)(found->bytes + i - found->base), found->bytes[i], wanted->bytes[i]);
    }
    check_guards(found->bytes, found->length);
}

/* Sends `count` elements of the committed type from rank 0 to rank 1: to the same type, and, if all basic elements have
 * the type `basic`, to and from a plain array of it. */
static inline void type_moves_count(MPI_Datatype type, MPI_Datatype basic, int count)
{
    MPI_Aint lb, extent;
    MPI_Status status;
    int packed = 0, found = -1;
    OK(MPI_Type_get_extent(type, &lb, &extent));
    for (int i = 0; i < type_count; i++) packed += type_widths[i];
    struct type_memory sent = type_memory(extent, count, 1), got = type_memory(extent, count, 2);
    struct type_memory wanted = type_memory(extent, count, 2);
    unsigned char *plain = check_guarded((size_t)packed * (size_t)count), *next = plain;
    /* What the type does, in a loop of C. */
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < type_count; i++) {
            MPI_Aint at = c * extent + type_places[i];
            memcpy(wanted.base + at, sent.base + at, (size_t)type_widths[i]);
            memcpy(next, sent.base + at, (size_t)type_widths[i]);
            next += type_widths[i];
        }
    }
    if (rank == 0) {
        OK(MPI_Send(sent.base, count, type, 1, 1, MPI_COMM_WORLD));
        if (basic != MPI_DATATYPE_NULL) {
            OK(MPI_Send(sent.base, count, type, 1, 2, MPI_COMM_WORLD));
            OK(MPI_Send(plain, count * type_count, basic, 1, 3, MPI_COMM_WORLD));
        }
    } else if (rank == 1) {
        OK(MPI_Recv(got.base, count, type, 0, 1, MPI_COMM_WORLD, &status));
        type_compare("type to type", &got, &wanted);
        OK(MPI_Get_count(&status, type, &found));
        EQUAL(found, packed == 0 ? 0 : count);
        if (type_has_elements) {
            OK(MPI_Get_elements(&status, type, &found));
            EQUAL(found, count * type_count);
        }
        if (basic != MPI_DATATYPE_NULL) {
            unsigned char *array = check_guarded((size_t)packed * (size_t)count);
            OK(MPI_Recv(array, count * type_count, basic, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK(memcmp(array, plain, (size_t)packed * (size_t)count) == 0, "type to array: %d elements", count);
            check_free_guarded(array, (size_t)packed * (size_t)count);
            check_fill(got.bytes, got.length, 2);
            OK(MPI_Recv(got.base, count, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            type_compare("array to type", &got, &wanted);
        }
    }
    check_free_guarded(plain, (size_t)packed * (size_t)count);
    check_free_guarded(sent.bytes, sent.length);
    check_free_guarded(got.bytes, got.length);
    check_free_guarded(wanted.bytes, wanted.length);
}

/* Commits the type, moves one, a few and many elements of it, and frees it. */
static inline void type_moves(MPI_Datatype type, MPI_Datatype basic)
{
    int bytes;
    OK(MPI_Type_commit(&type));
    OK(MPI_Type_size(type, &bytes));
    type_moves_count(type, basic, 1);
    type_moves_count(type, basic, 3);
    if (bytes > 0) type_moves_count(type, basic, type_bytes / bytes + 2);
    OK(MPI_Type_free(&type));
    CHECK(type == MPI_DATATYPE_NULL);
}

/* The same for a type whose elements would overlap in an array. */
static inline void type_moves_alone(MPI_Datatype type, MPI_Datatype basic)
{
    OK(MPI_Type_commit(&type));
    type_moves_count(type, basic, 1);
    OK(MPI_Type_free(&type));
}

static inline void type_unused(void)
{
    (void)type_measures;
    (void)type_made_by;
    (void)type_made_by_c;
    (void)type_moves;
    (void)type_moves_alone;
}

#endif
