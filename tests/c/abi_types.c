// ranks: 1
// alone
/* Every constructor of datatypes in both forms, with what its type looks like and what it says it was made from.
 * MPI-5.0 section 5.1. */
#include "check.h"

/* Size, lower bound and extent, through all functions that report them. */
static void looks(MPI_Datatype type, int size_wanted, int lb_wanted, int extent_wanted)
{
    int size = -1;
    MPI_Count size_c = -1, size_x = -1, lb_c = -1, extent_c = -1, lb_x = -1, extent_x = -1;
    MPI_Aint lb = -1, extent = -1;
    OK(MPI_Type_size(type, &size));
    OK(MPI_Type_size_c(type, &size_c));
    OK(MPI_Type_size_x(type, &size_x));
    OK(MPI_Type_get_extent(type, &lb, &extent));
    OK(MPI_Type_get_extent_c(type, &lb_c, &extent_c));
    OK(MPI_Type_get_extent_x(type, &lb_x, &extent_x));
    EQUAL(size, size_wanted);
    CHECK(size_c == size && size_x == size);
    EQUAL(lb, lb_wanted);
    EQUAL(extent, extent_wanted);
    CHECK(lb_c == lb && lb_x == lb && extent_c == extent && extent_x == extent);
}

/* Packs an array of ints through the type and looks at the result; frees the type. */
static void selects(MPI_Datatype *type, int count, const int *wanted)
{
    int source[32], packed[32], back[32], position = 0, n = -1;
    MPI_Count position_c = 0, n_c = -1;
    for (int i = 0; i < 32; i++) {
        source[i] = i;
        back[i] = -1;
    }
    OK(MPI_Type_commit(type));
    OK(MPI_Pack_size(1, *type, MPI_COMM_SELF, &n));
    OK(MPI_Pack_size_c(1, *type, MPI_COMM_SELF, &n_c));
    CHECK(n >= count * (int)sizeof(int) && n_c == n);
    OK(MPI_Pack_c(source, 1, *type, packed, sizeof packed, &position_c, MPI_COMM_SELF));
    OK(MPI_Pack(source, 1, *type, packed, sizeof packed, &position, MPI_COMM_SELF));
    CHECK(position == count * (int)sizeof(int) && position_c == position);
    for (int i = 0; i < count; i++) EQUAL(packed[i], wanted[i]);
    position_c = 0;
    OK(MPI_Unpack_c(packed, position, &position_c, back, 1, *type, MPI_COMM_SELF));
    for (int i = 0; i < count; i++) EQUAL(back[wanted[i]], wanted[i]);
    OK(MPI_Type_free(type));
    CHECK(*type == MPI_DATATYPE_NULL);
}

/* What the type says it was made from: numbers of arguments, and the first few of each kind. */
static void made_by(MPI_Datatype type, int combiner_wanted, int ints_wanted, int aints_wanted, int types_wanted,
                    const int *ints_are)
{
    int ints, aints, types, combiner, numbers[16];
    MPI_Aint addresses[16];
    MPI_Datatype children[16];
    OK(MPI_Type_get_envelope(type, &ints, &aints, &types, &combiner));
    EQUAL(combiner, combiner_wanted);
    EQUAL(ints, ints_wanted);
    EQUAL(aints, aints_wanted);
    EQUAL(types, types_wanted);
    OK(MPI_Type_get_contents(type, 16, 16, 16, numbers, addresses, children));
    for (int i = 0; i < ints; i++) EQUAL(numbers[i], ints_are[i]);
    for (int i = 0; i < types; i++) CHECK(children[i] == MPI_INT);
    if (ints > 0) REFUSED(MPI_Type_get_contents(type, ints - 1, 16, 16, numbers, addresses, children), MPI_ERR_ARG);
}

/* The same of a type made with large counts. */
static void made_by_c(MPI_Datatype type, int combiner_wanted, int counts_wanted, MPI_Count first)
{
    int combiner, ints[16], small;
    MPI_Count many_ints, many_aints, many_counts, many_types, counts[16];
    MPI_Aint addresses[16];
    MPI_Datatype children[16];
    OK(MPI_Type_get_envelope_c(type, &many_ints, &many_aints, &many_counts, &many_types, &combiner));
    EQUAL(combiner, combiner_wanted);
    EQUAL(many_aints, 0);
    EQUAL(many_counts, counts_wanted);
    OK(MPI_Type_get_contents_c(type, 16, 16, 16, 16, ints, addresses, counts, children));
    EQUAL(counts[0], first);
    CHECK(many_types >= 1 && children[0] == MPI_INT);
    REFUSED(MPI_Type_get_envelope(type, &small, &small, &small, &combiner), MPI_ERR_TYPE);
}

static void in_elements(void)
{
    MPI_Datatype type;
    const int lengths[] = {2, 1}, places[] = {4, 1};
    const MPI_Count lengths_c[] = {2, 1}, places_c[] = {4, 1};
    OK(MPI_Type_contiguous(3, MPI_INT, &type));
    made_by(type, MPI_COMBINER_CONTIGUOUS, 1, 0, 1, (int[]){3});
    looks(type, 12, 0, 12);
    selects(&type, 3, (int[]){0, 1, 2});
    OK(MPI_Type_contiguous_c(3, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_CONTIGUOUS, 1, 3);
    selects(&type, 3, (int[]){0, 1, 2});
    OK(MPI_Type_vector(2, 2, 5, MPI_INT, &type));
    made_by(type, MPI_COMBINER_VECTOR, 3, 0, 1, (int[]){2, 2, 5});
    looks(type, 16, 0, 28);
    selects(&type, 4, (int[]){0, 1, 5, 6});
    OK(MPI_Type_vector_c(2, 2, 5, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_VECTOR, 3, 2);
    selects(&type, 4, (int[]){0, 1, 5, 6});
    OK(MPI_Type_indexed(2, lengths, places, MPI_INT, &type));
    made_by(type, MPI_COMBINER_INDEXED, 5, 0, 1, (int[]){2, 2, 1, 4, 1});
    looks(type, 12, 4, 20);
    selects(&type, 3, (int[]){4, 5, 1});
    OK(MPI_Type_indexed_c(2, lengths_c, places_c, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_INDEXED, 5, 2);
    selects(&type, 3, (int[]){4, 5, 1});
    OK(MPI_Type_create_indexed_block(2, 2, places, MPI_INT, &type));
    made_by(type, MPI_COMBINER_INDEXED_BLOCK, 4, 0, 1, (int[]){2, 2, 4, 1});
    selects(&type, 4, (int[]){4, 5, 1, 2});
    OK(MPI_Type_create_indexed_block_c(2, 2, places_c, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_INDEXED_BLOCK, 4, 2);
    selects(&type, 4, (int[]){4, 5, 1, 2});
}

static void in_bytes(void)
{
    MPI_Datatype type;
    const int lengths[] = {2, 1};
    const MPI_Count lengths_c[] = {2, 1}, bytes_c[] = {16, 4};
    const MPI_Aint bytes[] = {16, 4};
    const MPI_Datatype types[] = {MPI_INT, MPI_INT};
    OK(MPI_Type_create_hvector(2, 1, 12, MPI_INT, &type));
    made_by(type, MPI_COMBINER_HVECTOR, 2, 1, 1, (int[]){2, 1});
    selects(&type, 2, (int[]){0, 3});
    OK(MPI_Type_create_hvector_c(2, 1, 12, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_HVECTOR, 3, 2);
    selects(&type, 2, (int[]){0, 3});
    OK(MPI_Type_create_hindexed(2, lengths, bytes, MPI_INT, &type));
    made_by(type, MPI_COMBINER_HINDEXED, 3, 2, 1, (int[]){2, 2, 1});
    selects(&type, 3, (int[]){4, 5, 1});
    OK(MPI_Type_create_hindexed_c(2, lengths_c, bytes_c, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_HINDEXED, 5, 2);
    selects(&type, 3, (int[]){4, 5, 1});
    OK(MPI_Type_create_hindexed_block(2, 1, bytes, MPI_INT, &type));
    made_by(type, MPI_COMBINER_HINDEXED_BLOCK, 2, 2, 1, (int[]){2, 1});
    selects(&type, 2, (int[]){4, 1});
    OK(MPI_Type_create_hindexed_block_c(2, 1, bytes_c, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_HINDEXED_BLOCK, 4, 2);
    selects(&type, 2, (int[]){4, 1});
    OK(MPI_Type_create_struct(2, lengths, bytes, types, &type));
    made_by(type, MPI_COMBINER_STRUCT, 3, 2, 2, (int[]){2, 2, 1});
    selects(&type, 3, (int[]){4, 5, 1});
    OK(MPI_Type_create_struct_c(2, lengths_c, bytes_c, types, &type));
    made_by_c(type, MPI_COMBINER_STRUCT, 5, 2);
    selects(&type, 3, (int[]){4, 5, 1});
}

static void arrays_and_bounds(void)
{
    MPI_Datatype type, copy;
    const int sizes[] = {3, 4}, parts[] = {2, 2}, starts[] = {1, 1};
    const MPI_Count sizes_c[] = {3, 4}, parts_c[] = {2, 2}, starts_c[] = {1, 1};
    MPI_Aint lb, extent;
    MPI_Count lb_c, extent_c, lb_x, extent_x;
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    OK(MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    made_by(type, MPI_COMBINER_SUBARRAY, 8, 0, 1, (int[]){2, 3, 4, 2, 2, 1, 1, MPI_ORDER_C});
    looks(type, 16, 0, 48);
    OK(MPI_Type_get_true_extent(type, &lb, &extent));
    OK(MPI_Type_get_true_extent_c(type, &lb_c, &extent_c));
    OK(MPI_Type_get_true_extent_x(type, &lb_x, &extent_x));
    CHECK(lb == 20 && extent == 24 && lb_c == lb && lb_x == lb && extent_c == extent && extent_x == extent);
    selects(&type, 4, (int[]){5, 6, 9, 10});
    OK(MPI_Type_create_subarray_c(2, sizes_c, parts_c, starts_c, MPI_ORDER_FORTRAN, MPI_INT, &type));
    made_by_c(type, MPI_COMBINER_SUBARRAY, 6, 3);
    selects(&type, 4, (int[]){4, 5, 7, 8});
    REFUSED(MPI_Type_create_subarray(2, sizes, parts, sizes, MPI_ORDER_C, MPI_INT, &type), MPI_ERR_ARG);
    OK(MPI_Type_create_resized(MPI_INT, -4, 20, &type));
    made_by(type, MPI_COMBINER_RESIZED, 0, 2, 1, NULL);
    looks(type, 4, -4, 20);
    OK(MPI_Type_set_name(type, "wide"));
    OK(MPI_Type_get_name(type, name, &length));
    CHECK(length == 4 && strcmp(name, "wide") == 0);
    OK(MPI_Type_dup(type, &copy));
    OK(MPI_Type_free(&type));
    looks(copy, 4, -4, 20);
    OK(MPI_Type_free(&copy));
    /* Of two names for one handle the standard's first one; the other is called its synonym (section 3.2.2). */
    OK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &length));
    CHECK(length == 13 && strcmp(name, "MPI_C_COMPLEX") == 0, "%s", name);
    OK(MPI_Type_get_name(MPI_LONG_LONG, name, &length));
    CHECK(length == 17 && strcmp(name, "MPI_LONG_LONG_INT") == 0, "%s", name);
    OK(MPI_Type_create_resized_c(MPI_INT, -4, 20, &type));
    made_by_c(type, MPI_COMBINER_RESIZED, 2, -4);
    looks(type, 4, -4, 20);
    OK(MPI_Type_free(&type));
}

static void sum_c(void *in, void *inout, MPI_Count *count, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    for (MPI_Count i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static int deletes;

static int on_delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type;
    (void)key;
    (void)extra;
    deletes += *(int *)value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Op op;
    int in[2] = {1, 2}, inout[2] = {10, 20}, key, worth = 5, ints, aints, types, combiner;
    check_start(&argc, &argv);
    in_elements();
    in_bytes();
    arrays_and_bounds();
    OK(MPI_Type_get_envelope(MPI_INT, &ints, &aints, &types, &combiner));
    EQUAL(combiner, MPI_COMBINER_NAMED);
    REFUSED(MPI_Type_get_contents(MPI_INT, 0, 0, 0, &ints, NULL, NULL), MPI_ERR_TYPE);
    type = MPI_INT;
    REFUSED(MPI_Type_free(&type), MPI_ERR_TYPE);
    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    CHECK(type == MPI_REAL8);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
    CHECK(type == MPI_DOUBLE_INT);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_CHAR, &type));
    CHECK(type == MPI_DATATYPE_NULL);
    OK(MPI_Op_create_c(sum_c, 1, &op));
    OK(MPI_Reduce_local_c(in, inout, 2, MPI_INT, op));
    CHECK(inout[0] == 11 && inout[1] == 22);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, on_delete, &key, NULL));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_set_attr(type, key, &worth));
    OK(MPI_Type_delete_attr(type, key));
    EQUAL(deletes, 5);
    OK(MPI_Type_set_attr(type, key, &worth));
    OK(MPI_Type_free(&type));
    EQUAL(deletes, 10);
    OK(MPI_Type_free_keyval(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    return check_end();
}
