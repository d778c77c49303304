// ranks: 1 2
// only: posthaste
// alone
/* Every argument of every function on datatypes and packing wrong in turn. MPI-5.0 chapter 5. */
#include "bad_check.h"

static int two[2] = {1, 1}, minus[2] = {1, -1}, n;
static MPI_Count ctwo[2] = {1, 1}, cminus[2] = {1, -1}, m;
static MPI_Aint atwo[2] = {0, 8}, a, b;
static MPI_Datatype types[2], t;

static void constructors(void)
{
    types[0] = types[1] = MPI_INT;
    EACH(BAD_TYPE, MPI_Datatype, w) {
        MPI_Datatype mixed[2] = {MPI_INT, w};
        const char *says = "oldtype is ";
        BAD(MPI_ERR_TYPE, says, MPI_Type_contiguous, 1, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_contiguous_c, 1, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_vector, 1, 1, 1, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_vector_c, 1, 1, 1, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_hvector, 1, 1, 1, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_hvector_c, 1, 1, 1, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_indexed, 2, two, two, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_indexed_c, 2, ctwo, ctwo, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_hindexed, 2, two, atwo, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_hindexed_c, 2, ctwo, ctwo, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_indexed_block, 2, 1, two, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_indexed_block_c, 2, 1, ctwo, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_hindexed_block, 2, 1, atwo, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_hindexed_block_c, 2, 1, ctwo, w, &t);
        BAD(MPI_ERR_TYPE, "array_of_types", MPI_Type_create_struct, 2, two, atwo, mixed, &t);
        BAD(MPI_ERR_TYPE, "array_of_types", MPI_Type_create_struct_c, 2, ctwo, ctwo, mixed, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_subarray, 1, two, two, minus + 1, MPI_ORDER_C, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_subarray_c, 1, ctwo, ctwo, cminus + 1, MPI_ORDER_C, w, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_resized, w, 0, 4, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_create_resized_c, w, 0, 4, &t);
        BAD(MPI_ERR_TYPE, says, MPI_Type_dup, w, &t);
        CHECK(t == MPI_DATATYPE_NULL || t == NULL);
    }
    /* Counts. */
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_contiguous, -1, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_contiguous_c, -1, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_vector, -1, 1, 1, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_vector_c, -1, 1, 1, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_hvector, -1, 1, 1, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_hvector_c, -1, 1, 1, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_indexed, -1, two, two, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_indexed_c, -1, ctwo, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_hindexed, -1, two, atwo, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_hindexed_c, -1, ctwo, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_indexed_block, -1, 1, two, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_indexed_block_c, -1, 1, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_hindexed_block, -1, 1, atwo, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_hindexed_block_c, -1, 1, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_struct, -1, two, atwo, types, &t);
    BAD(MPI_ERR_COUNT, "-1", MPI_Type_create_struct_c, -1, ctwo, ctwo, types, &t);
    /* Block lengths. */
    BAD(MPI_ERR_ARG, "-1", MPI_Type_vector, 1, -1, 1, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_vector_c, 1, -1, 1, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_hvector, 1, -1, 1, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_hvector_c, 1, -1, 1, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_indexed, 2, minus, two, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_indexed_c, 2, cminus, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_hindexed, 2, minus, atwo, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_hindexed_c, 2, cminus, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_indexed_block, 2, -1, two, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_indexed_block_c, 2, -1, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_hindexed_block, 2, -1, atwo, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_hindexed_block_c, 2, -1, ctwo, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_struct, 2, minus, atwo, types, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_struct_c, 2, cminus, ctwo, types, &t);
}

static void null_arrays(void)
{
#define NULLS(class, F, ...) BAD(class, "NULL", F, __VA_ARGS__)
    NULLS(MPI_ERR_ARG, MPI_Type_contiguous, 1, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_contiguous_c, 1, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_vector, 1, 1, 1, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_vector_c, 1, 1, 1, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_create_hvector, 1, 1, 1, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_create_hvector_c, 1, 1, 1, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_indexed, 2, NULL, two, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_indexed, 2, two, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_indexed, 2, two, two, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_indexed_c, 2, NULL, ctwo, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_indexed_c, 2, ctwo, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_hindexed, 2, NULL, atwo, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_hindexed, 2, two, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_hindexed_c, 2, ctwo, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_indexed_block, 2, 1, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_indexed_block_c, 2, 1, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_hindexed_block, 2, 1, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_hindexed_block_c, 2, 1, NULL, MPI_INT, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_struct, 2, NULL, atwo, types, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_struct, 2, two, NULL, types, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_struct, 2, two, atwo, NULL, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_struct_c, 2, ctwo, ctwo, NULL, &t);
    NULLS(MPI_ERR_ARG, MPI_Type_create_resized, MPI_INT, 0, 8, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_create_resized_c, MPI_INT, 0, 8, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_dup, MPI_INT, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_commit, NULL);
    NULLS(MPI_ERR_ARG, MPI_Type_free, NULL);
}

static void subarrays(void)
{
    int sizes[2] = {4, 4}, parts[2] = {2, 2}, starts[2] = {1, 2}, zero[2] = {4, 0}, wide[2] = {2, 5};
    int far[2] = {1, 3}, before[2] = {0, -1};
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_subarray, -1, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "ndims is 0", MPI_Type_create_subarray, 0, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "0", MPI_Type_create_subarray, 2, zero, parts, starts, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "5", MPI_Type_create_subarray, 2, sizes, wide, starts, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "3", MPI_Type_create_subarray, 2, sizes, parts, far, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "-1", MPI_Type_create_subarray, 2, sizes, parts, before, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "order is 12345", MPI_Type_create_subarray, 2, sizes, parts, starts, 12345, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_subarray, 2, NULL, parts, starts, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_subarray, 2, sizes, NULL, starts, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_subarray, 2, sizes, parts, NULL, MPI_ORDER_C, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_create_subarray, 2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "order is 12345", MPI_Type_create_subarray_c, 1, ctwo, ctwo, cminus, 12345, MPI_INT, &t);
}

/* Types that no memory can hold. */
static void too_large(void)
{
    MPI_Count big = INT64_MAX / 2, lengths[2] = {big, big};
    CHECK(MPI_Type_contiguous_c(INT64_MAX, MPI_DOUBLE, &t) != MPI_SUCCESS);
    CHECK(MPI_Type_vector_c(big, big, big, MPI_DOUBLE, &t) != MPI_SUCCESS);
    CHECK(MPI_Type_create_hvector_c(big, 1, big, MPI_DOUBLE, &t) != MPI_SUCCESS);
    CHECK(MPI_Type_indexed_c(2, lengths, ctwo, MPI_DOUBLE, &t) != MPI_SUCCESS);
    CHECK(MPI_Type_create_hindexed_c(2, ctwo, lengths, MPI_DOUBLE, &t) == MPI_SUCCESS);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_contiguous_c(INT64_MAX / 8, MPI_CHAR, &t));
    MPI_Datatype once = t, twice;
    CHECK(MPI_Type_contiguous(1 << 20, once, &twice) != MPI_SUCCESS);
    OK(MPI_Type_free(&once));
}

static void queries(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int ints[8], i, j, k;
    MPI_Aint aints[8];
    MPI_Count counts[8], c, d, e;
    MPI_Datatype parts[8];
    EACH(BAD_TYPE, MPI_Datatype, w) {
        MPI_Datatype copy = w;
        const char *says = "datatype is ";
        BAD(MPI_ERR_TYPE, says, MPI_Type_commit, &copy);
        BAD(MPI_ERR_TYPE, says, MPI_Type_free, &copy);
        CHECK(copy == w);
        BAD(MPI_ERR_TYPE, says, MPI_Type_size, w, &n);
        BAD(MPI_ERR_TYPE, says, MPI_Type_size_c, w, &m);
        BAD(MPI_ERR_TYPE, says, MPI_Type_size_x, w, &m);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_extent, w, &a, &b);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_extent_c, w, &c, &d);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_extent_x, w, &c, &d);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_true_extent, w, &a, &b);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_true_extent_c, w, &c, &d);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_true_extent_x, w, &c, &d);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_envelope, w, &n, &i, &j, &k);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_envelope_c, w, &c, &d, &e, &m, &k);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_contents, w, 8, 8, 8, ints, aints, parts);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_contents_c, w, 8, 8, 8, 8, ints, aints, counts, parts);
        BAD(MPI_ERR_TYPE, says, MPI_Type_set_name, w, "name");
        if (w != MPI_DATATYPE_NULL) BAD(MPI_ERR_TYPE, says, MPI_Type_get_name, w, name, &n);
        BAD(MPI_ERR_TYPE, "value_type is ", MPI_Type_get_value_index, w, MPI_INT, &t);
        BAD(MPI_ERR_TYPE, "index_type is ", MPI_Type_get_value_index, MPI_INT, w, &t);
    }
    t = MPI_INT;
    BAD(MPI_ERR_TYPE, "the predefined MPI_INT", MPI_Type_free, &t);
    BAD(MPI_ERR_TYPE, "MPI_INT", MPI_Type_get_contents, MPI_INT, 8, 8, 8, ints, aints, parts);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Type_size, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Type_size_c, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Type_size_x, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "lb is NULL", MPI_Type_get_extent, MPI_INT, NULL, &b);
    BAD(MPI_ERR_ARG, "extent is NULL", MPI_Type_get_extent, MPI_INT, &a, NULL);
    BAD(MPI_ERR_ARG, "extent is NULL", MPI_Type_get_extent_c, MPI_INT, &c, NULL);
    BAD(MPI_ERR_ARG, "extent is NULL", MPI_Type_get_extent_x, MPI_INT, &c, NULL);
    BAD(MPI_ERR_ARG, "true_lb is NULL", MPI_Type_get_true_extent, MPI_INT, NULL, &b);
    BAD(MPI_ERR_ARG, "true_extent is NULL", MPI_Type_get_true_extent, MPI_INT, &a, NULL);
    BAD(MPI_ERR_ARG, "true_extent is NULL", MPI_Type_get_true_extent_c, MPI_INT, &c, NULL);
    BAD(MPI_ERR_ARG, "true_extent is NULL", MPI_Type_get_true_extent_x, MPI_INT, &c, NULL);
    BAD(MPI_ERR_ARG, "num_integers is NULL", MPI_Type_get_envelope, MPI_INT, NULL, &i, &j, &k);
    BAD(MPI_ERR_ARG, "combiner is NULL", MPI_Type_get_envelope, MPI_INT, &n, &i, &j, NULL);
    BAD(MPI_ERR_ARG, "combiner is NULL", MPI_Type_get_envelope_c, MPI_INT, &c, &d, &e, &m, NULL);
    BAD(MPI_ERR_ARG, "max_integers is 0", MPI_Type_get_contents, bad_live_type, 0, 8, 8, ints, aints, parts);
    BAD(MPI_ERR_ARG, "max_datatypes is -1", MPI_Type_get_contents, bad_live_type, 8, 8, -1, ints, aints, parts);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_get_contents, bad_live_type, 8, 8, 8, NULL, aints, parts);
    BAD(MPI_ERR_ARG, "NULL", MPI_Type_get_contents, bad_live_type, 8, 8, 8, ints, aints, NULL);
    BAD(MPI_ERR_ARG, "max_integers is 0", MPI_Type_get_contents_c, bad_live_type, 0, 8, 8, 8, ints, aints, counts, parts);
    OK(MPI_Type_contiguous_c(2, MPI_INT, &t));
    BAD(MPI_ERR_TYPE, "large counts", MPI_Type_get_envelope, t, &n, &i, &j, &k);
    BAD(MPI_ERR_TYPE, "large counts", MPI_Type_get_contents, t, 8, 8, 8, ints, aints, parts);
    OK(MPI_Type_free(&t));
    BAD(MPI_ERR_ARG, "type_name is NULL", MPI_Type_set_name, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "type_name is NULL", MPI_Type_get_name, MPI_INT, NULL, &n);
    BAD(MPI_ERR_ARG, "resultlen is NULL", MPI_Type_get_name, MPI_INT, name, NULL);
    BAD(MPI_ERR_ARG, "typeclass is 99", MPI_Type_match_size, 99, 4, &t);
    BAD(MPI_ERR_ARG, "size is 3", MPI_Type_match_size, MPI_TYPECLASS_INTEGER, 3, &t);
    BAD(MPI_ERR_ARG, "size is -1", MPI_Type_match_size, MPI_TYPECLASS_REAL, -1, &t);
    BAD(MPI_ERR_ARG, "datatype is NULL", MPI_Type_match_size, MPI_TYPECLASS_REAL, 4, NULL);
    BAD(MPI_ERR_ARG, "pair_type is NULL", MPI_Type_get_value_index, MPI_INT, MPI_INT, NULL);
    BAD(MPI_ERR_ARG, "address is NULL", MPI_Get_address, &n, NULL);
}

#define PACKING(FP, FU, FS, P, position, amount)                                                \
    do {                                                                                        \
        P = 0;                                                                                  \
        EACH(BAD_COMM, MPI_Comm, w) {                                                           \
            BAD(MPI_ERR_COMM, "comm is ", FP, data, 1, MPI_INT, out, 64, position, w);           \
            BAD(MPI_ERR_COMM, "comm is ", FU, out, 64, position, data, 1, MPI_INT, w);           \
            BAD(MPI_ERR_COMM, "comm is ", FS, 1, MPI_INT, w, amount);                            \
        }                                                                                       \
        EACH(BAD_TYPE, MPI_Datatype, w) {                                                       \
            BAD(MPI_ERR_TYPE, "datatype", FP, data, 1, w, out, 64, position, MPI_COMM_WORLD);    \
            BAD(MPI_ERR_TYPE, "datatype", FU, out, 64, position, data, 1, w, MPI_COMM_WORLD);    \
            BAD(MPI_ERR_TYPE, "datatype", FS, 1, w, MPI_COMM_WORLD, amount);                     \
        }                                                                                       \
        BAD(MPI_ERR_COUNT, "count is -1,", FP, data, -1, MPI_INT, out, 64, position, MPI_COMM_WORLD); \
        BAD(MPI_ERR_COUNT, "count is -1,", FU, out, 64, position, data, -1, MPI_INT, MPI_COMM_WORLD); \
        BAD(MPI_ERR_COUNT, "count is -1,", FS, -1, MPI_INT, MPI_COMM_WORLD, amount);             \
        BAD(MPI_ERR_BUFFER, "NULL", FP, NULL, 1, MPI_INT, out, 64, position, MPI_COMM_WORLD);    \
        BAD(MPI_ERR_BUFFER, "NULL", FP, data, 1, MPI_INT, NULL, 64, position, MPI_COMM_WORLD);   \
        BAD(MPI_ERR_BUFFER, "NULL", FU, NULL, 64, position, data, 1, MPI_INT, MPI_COMM_WORLD);   \
        BAD(MPI_ERR_BUFFER, "NULL", FU, out, 64, position, NULL, 1, MPI_INT, MPI_COMM_WORLD);    \
        BAD(MPI_ERR_TYPE, "commit", FP, data, 1, bad_live_type, out, 64, position, MPI_COMM_WORLD); \
        BAD(MPI_ERR_TYPE, "commit", FU, out, 64, position, data, 1, bad_live_type, MPI_COMM_WORLD); \
        BAD(MPI_ERR_ARG, "outsize is -1,", FP, data, 1, MPI_INT, out, -1, position, MPI_COMM_WORLD); \
        BAD(MPI_ERR_ARG, "insize is -1,", FU, out, -1, position, data, 1, MPI_INT, MPI_COMM_WORLD); \
        BAD(MPI_ERR_TRUNCATE, "outsize is 3 ", FP, data, 1, MPI_INT, out, 3, position, MPI_COMM_WORLD); \
        BAD(MPI_ERR_TRUNCATE, "insize is 3 ", FU, out, 3, position, data, 1, MPI_INT, MPI_COMM_WORLD); \
        BAD(MPI_ERR_ARG, "position is NULL", FP, data, 1, MPI_INT, out, 64, NULL, MPI_COMM_WORLD); \
        BAD(MPI_ERR_ARG, "position is NULL", FU, out, 64, NULL, data, 1, MPI_INT, MPI_COMM_WORLD); \
        BAD(MPI_ERR_ARG, "size is NULL", FS, 1, MPI_INT, MPI_COMM_WORLD, NULL);                  \
        EQUAL(P, 0);                                                                            \
        P = -1;                                                                                 \
        BAD(MPI_ERR_ARG, "position is -1,", FP, data, 1, MPI_INT, out, 64, position, MPI_COMM_WORLD); \
        BAD(MPI_ERR_ARG, "position is -1,", FU, out, 64, position, data, 1, MPI_INT, MPI_COMM_WORLD); \
        P = 65;                                                                                 \
        BAD(MPI_ERR_ARG, "position is 65,", FP, data, 1, MPI_INT, out, 64, position, MPI_COMM_WORLD); \
        BAD(MPI_ERR_ARG, "position is 65,", FU, out, 64, position, data, 1, MPI_INT, MPI_COMM_WORLD); \
    } while (0)

static void packing(void)
{
    unsigned char *data = check_guarded(64), *out = check_guarded(64);
    check_fill(data, 64, 1);
    check_fill(out, 64, 2);
    PACKING(MPI_Pack, MPI_Unpack, MPI_Pack_size, n, &n, &n);
    PACKING(MPI_Pack_c, MPI_Unpack_c, MPI_Pack_size_c, m, &m, &m);
    BAD(MPI_ERR_COUNT, "count is ", MPI_Pack_size_c, INT64_MAX, MPI_DOUBLE, MPI_COMM_WORLD, &m);
    check_filled(data, 64, 1);
    check_filled(out, 64, 2);
    check_free_guarded(data, 64);
    check_free_guarded(out, 64);
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    constructors();
    null_arrays();
    subarrays();
    too_large();
    queries();
    packing();
    return bad_end();
}
