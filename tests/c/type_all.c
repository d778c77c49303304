// ranks: 2
// timeout: 60
/* Every constructor of datatypes once, sent and received: short, as a long message, and to oneself, in memory that is
 * no larger than the type and holds nothing but what the type names. So a memory checker sees every byte that is read
 * or written beside it, and every byte sent that was never set. MPI-5.0 sections 5.1.2 to 5.1.12 and 19.1.6. */
#include "check.h"

static const char *shown;

/* The lowest byte of `count` elements as an offset, and their span. */
static size_t span(MPI_Datatype type, int count, MPI_Aint *low)
{
    MPI_Aint lower, extent, true_extent;
    OK(MPI_Type_get_extent(type, &lower, &extent));
    OK(MPI_Type_get_true_extent(type, low, &true_extent));
    CHECK(extent >= 0, "%s: extent %ld", shown, (long)extent);
    return (size_t)true_extent + (size_t)extent * (size_t)(count - 1);
}

/* Fresh memory for `count` elements: what the type names is set from `packed`, nothing else is. */
static unsigned char *filled(MPI_Datatype type, int count, const unsigned char *packed, int length, unsigned char **block)
{
    MPI_Aint low;
    int position = 0;
    *block = malloc(span(type, count, &low) + 1);
    unsigned char *origin = *block - low;
    if (packed) {
        OK(MPI_Unpack(packed, length, &position, origin, count, type, MPI_COMM_WORLD));
        EQUAL(position, length);
    }
    return origin;
}

/* Every byte is looked at, so that one which was never set is noticed. */
static void same(MPI_Datatype type, int count, const void *origin, const unsigned char *packed, int length)
{
    unsigned char *found = malloc((size_t)length + 1);
    int position = 0;
    OK(MPI_Pack(origin, count, type, found, length, &position, MPI_COMM_WORLD));
    EQUAL(position, length);
    for (int i = 0; i < length; i++) CHECK(found[i] == packed[i], "%s: packed byte %d of %d is %d, expected %d", shown, i, length, found[i], packed[i]);
    free(found);
}

static void travel(MPI_Datatype type, int count, int length)
{
    MPI_Request request;
    unsigned char *packed = malloc((size_t)length + 1), *out_block, *in_block;
    for (int i = 0; i < length; i++) packed[i] = check_byte((size_t)i, 7);
    unsigned char *out = filled(type, count, packed, length, &out_block);
    unsigned char *in = filled(type, count, NULL, 0, &in_block);
    same(type, count, out, packed, length);
    if (rank == 0) {
        OK(MPI_Send(out, count, type, 1, 1, MPI_COMM_WORLD));
        OK(MPI_Send(packed, length, MPI_BYTE, 1, 2, MPI_COMM_WORLD));
        OK(MPI_Recv(in, count, type, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    } else {
        unsigned char *plain = malloc((size_t)length + 1);
        OK(MPI_Recv(plain, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(memcmp(plain, packed, (size_t)length) == 0, "%s: wrong bytes arrived", shown);
        free(plain);
        OK(MPI_Recv(in, count, type, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        OK(MPI_Ssend(out, count, type, 0, 3, MPI_COMM_WORLD));
    }
    same(type, count, in, packed, length);
    free(in_block);
    in = filled(type, count, NULL, 0, &in_block);
    OK(MPI_Irecv(in, count, type, rank, 4, MPI_COMM_WORLD, &request));
    OK(MPI_Send(out, count, type, rank, 4, MPI_COMM_WORLD));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    same(type, count, in, packed, length);
    free(out_block);
    free(in_block);
    free(packed);
}

/* Uses the type and frees it. */
static void use(const char *name, MPI_Datatype type, int predefined)
{
    int length = -1;
    shown = name;
    if (!predefined) OK(MPI_Type_commit(&type));
    OK(MPI_Type_size(type, &length));
    CHECK(length > 0, "%s: %d bytes", name, length);
    travel(type, 1, length);
    travel(type, 3, 3 * length);
    /* Longer than a packet. */
    int many = 12000 / length + 1;
    travel(type, many, many * length);
    if (!predefined) OK(MPI_Type_free(&type));
}

#define PREDEFINED(type) use(#type, type, 1)
#define BUILT(call, type)                                                      \
    do {                                                                       \
        MPI_Datatype type;                                                     \
        OK(call);                                                              \
        use(#call, type, 0);                                                   \
    } while (0)

static void predefined(void)
{
    PREDEFINED(MPI_CHAR);
    PREDEFINED(MPI_SHORT);
    PREDEFINED(MPI_INT);
    PREDEFINED(MPI_LONG);
    PREDEFINED(MPI_DOUBLE);
    PREDEFINED(MPI_LONG_DOUBLE);
    PREDEFINED(MPI_C_BOOL);
    PREDEFINED(MPI_C_FLOAT_COMPLEX);
    PREDEFINED(MPI_C_DOUBLE_COMPLEX);
    PREDEFINED(MPI_WCHAR);
    PREDEFINED(MPI_BYTE);
    PREDEFINED(MPI_PACKED);
    PREDEFINED(MPI_COUNT);
    /* With holes between or behind. */
    PREDEFINED(MPI_SHORT_INT);
    PREDEFINED(MPI_DOUBLE_INT);
    PREDEFINED(MPI_LONG_DOUBLE_INT);
    PREDEFINED(MPI_2INT);
}

/* Over numbers that are no power of two in size, and over a type with holes. */
static void constructors(MPI_Datatype old)
{
    int lengths[4] = {2, 0, 1, 3}, starts[4] = {5, 4, 0, 8}, fields[3] = {2, 1, 3}, sizes[3] = {5, 4, 6}, parts[3] = {2, 4, 3}, from[3] = {1, 0, 2};
    int global[2] = {7, 9}, deal[2] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, of[2] = {2, MPI_DISTRIBUTE_DFLT_DARG}, grid[2] = {2, 3};
    MPI_Aint lower, extent, bytes[4], at[3];
    MPI_Datatype types[3] = {old, MPI_CHAR, MPI_DOUBLE};
    MPI_Count wide[3] = {2, 1, 3}, places[3] = {0, 100, 200};
    OK(MPI_Type_get_extent(old, &lower, &extent));
    for (int i = 0; i < 4; i++) bytes[i] = starts[i] * (extent + 3);
    at[0] = 16, at[1] = 3, at[2] = 16 + 2 * extent + 5;
    BUILT(MPI_Type_contiguous(5, old, &type), type);
    BUILT(MPI_Type_vector(4, 2, 3, old, &type), type);
    BUILT(MPI_Type_vector(4, 2, -3, old, &type), type);
    BUILT(MPI_Type_create_hvector(4, 1, extent + 5, old, &type), type);
    BUILT(MPI_Type_create_hvector(4, 2, -2 * extent - 1, old, &type), type);
    BUILT(MPI_Type_indexed(4, lengths, starts, old, &type), type);
    BUILT(MPI_Type_create_hindexed(4, lengths, bytes, old, &type), type);
    BUILT(MPI_Type_create_indexed_block(3, 1, starts, old, &type), type);
    BUILT(MPI_Type_create_hindexed_block(3, 1, bytes, old, &type), type);
    BUILT(MPI_Type_create_struct(3, fields, at, types, &type), type);
    BUILT(MPI_Type_create_subarray(3, sizes, parts, from, MPI_ORDER_C, old, &type), type);
    BUILT(MPI_Type_create_subarray(3, sizes, parts, from, MPI_ORDER_FORTRAN, old, &type), type);
    BUILT(MPI_Type_create_darray(6, 4, 2, global, deal, of, grid, MPI_ORDER_C, old, &type), type);
    BUILT(MPI_Type_create_darray(6, 1, 2, global, deal, of, grid, MPI_ORDER_FORTRAN, old, &type), type);
    BUILT(MPI_Type_create_resized(old, lower - 4, extent + 9, &type), type);
    BUILT(MPI_Type_dup(old, &type), type);
    BUILT(MPI_Type_contiguous_c(3, old, &type), type);
    BUILT(MPI_Type_create_hindexed_c(3, wide, places, old, &type), type);
}

static void chosen(void)
{
    MPI_Datatype type;
    OK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type));
    use("MPI_Type_match_size", type, 1);
    OK(MPI_Type_create_f90_integer(9, &type));
    use("MPI_Type_create_f90_integer", type, 1);
    OK(MPI_Type_create_f90_real(15, 30, &type));
    use("MPI_Type_create_f90_real", type, 1);
    OK(MPI_Type_create_f90_complex(6, 30, &type));
    use("MPI_Type_create_f90_complex", type, 1);
    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
    use("MPI_Type_get_value_index", type, 1);
}

int main(int argc, char **argv)
{
    MPI_Datatype holes, three;
    check_start(&argc, &argv);
    predefined();
    chosen();
    constructors(MPI_SHORT);
    constructors(MPI_DOUBLE_INT);
    OK(MPI_Type_contiguous(3, MPI_CHAR, &three));
    constructors(three);
    OK(MPI_Type_vector(2, 1, 3, three, &holes));
    constructors(holes);
    OK(MPI_Type_free(&holes));
    OK(MPI_Type_free(&three));
    return check_end();
}
