// ranks: 2
// timeout: 120
/* Counts and displacements beyond 2^31: a vector of 3 x 2^30 elements is described and measured, pieces
 * from the middle of 24 GiB are packed, sent and received. The memory is reserved only where it is touched.
 * MPI-5.0 sections 2.5.8, 3.2.5 and 5.1. */
#include "large_check.h"

static void described(MPI_Datatype vector)
{
    int n = 0;
    MPI_Count count, lb_c, extent_c, parts[3];
    MPI_Aint lb, extent;
    MPI_Status status;
    OK(MPI_Type_size(vector, &n));
    EQUAL(n, MPI_UNDEFINED);
    OK(MPI_Type_size_c(vector, &count));
    EQUAL(count, many * 4);
    OK(MPI_Type_size_x(vector, &count));
    EQUAL(count, many * 4);
    OK(MPI_Type_get_extent(vector, &lb, &extent));
    CHECK(lb == 0 && extent == many * 8 - 4);
    OK(MPI_Type_get_extent_c(vector, &lb_c, &extent_c));
    CHECK(lb_c == 0 && extent_c == many * 8 - 4);
    OK(MPI_Type_get_true_extent_x(vector, &lb_c, &extent_c));
    CHECK(lb_c == 0 && extent_c == many * 8 - 4);
    parts[0] = many, parts[1] = 1, parts[2] = 2;
    type_made_by_c(vector, MPI_COMBINER_VECTOR, 0, NULL, 3, parts, 1, (MPI_Datatype[]){MPI_INT});
    OK(MPI_Pack_size_c(1, vector, MPI_COMM_WORLD, &count));
    CHECK(count >= many * 4);
    /* Counts that int cannot hold are MPI_UNDEFINED there. */
    OK(MPI_Status_set_elements_x(&status, MPI_INT, many));
    OK(MPI_Get_elements(&status, MPI_INT, &n));
    EQUAL(n, MPI_UNDEFINED);
    OK(MPI_Get_count(&status, MPI_INT, &n));
    EQUAL(n, MPI_UNDEFINED);
    OK(MPI_Get_count_c(&status, MPI_INT, &count));
    EQUAL(count, many);
    OK(MPI_Get_elements_c(&status, MPI_INT, &count));
    EQUAL(count, many);
    OK(MPI_Get_elements_x(&status, vector, &count));
    EQUAL(count, many);
    OK(MPI_Get_count(&status, vector, &n));
    EQUAL(n, 1);
    OK(MPI_Status_set_elements_c(&status, MPI_INT, many - 1));
    OK(MPI_Get_count(&status, vector, &n));
    EQUAL(n, MPI_UNDEFINED);
    OK(MPI_Get_count_c(&status, vector, &count));
    EQUAL(count, MPI_UNDEFINED);
    OK(MPI_Get_elements_x(&status, vector, &count));
    EQUAL(count, many - 1);
}

/* A few blocks of the vector in its middle, as one type, packed and sent. */
static void from_the_middle(void)
{
    MPI_Datatype pair, type;
    const MPI_Count lengths[] = {PIECE, 2}, places[] = {middle, middle * 2 - 16};
    MPI_Count packed = 0;
    int *at = region + middle / 4, *end = region + (middle * 2 - 16) / 4, *plain = malloc((PIECE + 2) * sizeof(int));
    OK(MPI_Type_create_resized_c(MPI_INT, 0, 8, &pair));
    OK(MPI_Type_create_hindexed_c(2, lengths, places, pair, &type));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < PIECE; i++) at[2 * i] = rank == 0 ? 3 * i : -1;
    end[0] = rank == 0 ? 100 : -1;
    end[2] = rank == 0 ? 102 : -1;
    if (rank == 0) {
        OK(MPI_Pack_c(region, 1, type, plain, (PIECE + 2) * sizeof(int), &packed, MPI_COMM_WORLD));
        EQUAL(packed, (PIECE + 2) * sizeof(int));
        for (int i = 0; i < PIECE; i++) EQUAL(plain[i], 3 * i);
        CHECK(plain[PIECE] == 100 && plain[PIECE + 1] == 102);
        OK(MPI_Send(region, 1, type, 1, 2, MPI_COMM_WORLD));
    }
    if (rank == 1) {
        OK(MPI_Recv_c(region, 1, type, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < PIECE; i++) EQUAL(at[2 * i], 3 * i);
        CHECK(end[0] == 100 && end[1] == 0 && end[2] == 102 && end[3] == 0);
    }
    OK(MPI_Type_free(&type));
    free(plain);
}

/* The same place as elements far apart: a count of 3 and an extent of 12 GiB less a few bytes. */
static void far_apart(void)
{
    MPI_Datatype type;
    OK(MPI_Type_create_resized_c(MPI_INT, 0, middle - 64, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 2; i++) region[i * (middle - 64) / 4] = rank == 0 ? 50 + i : -1;
    if (rank == 0) OK(MPI_Send_c(region, 2, type, 1, 3, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv_c(region, 2, type, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 2; i++) EQUAL(region[i * (middle - 64) / 4], 50 + i);
    }
    OK(MPI_Type_free(&type));
}

/* Every other constructor with what int cannot hold. */
static void all_forms(void)
{
    MPI_Datatype type;
    const MPI_Count big = 5LL << 30, one = 1, far[] = {big, -big};
    const MPI_Count sizes[] = {1 << 20, 1 << 20}, parts[] = {3, 1 << 19}, starts[] = {1 << 19, 7};
    const int block[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, any[] = {MPI_DISTRIBUTE_DFLT_DARG, 1 << 10};
    OK(MPI_Type_contiguous_c(big, MPI_SHORT, &type));
    type_begin();
    MPI_Count n;
    OK(MPI_Type_size_c(type, &n));
    EQUAL(n, 2 * big);
    OK(MPI_Type_free(&type));
    MPI_Count lb, extent;
#define EXTENT(made, lb_is, extent_is)                                         \
    do {                                                                       \
        OK(made);                                                              \
        OK(MPI_Type_get_extent_c(type, &lb, &extent));                         \
        EQUAL(lb, lb_is);                                                      \
        EQUAL(extent, extent_is);                                              \
        OK(MPI_Type_free(&type));                                              \
    } while (0)
    EXTENT(MPI_Type_create_hvector_c(3, 1, -big, MPI_INT, &type), -2 * big, 2 * big + 4);
    EXTENT(MPI_Type_indexed_c(1, &big, &big, MPI_SHORT, &type), 2 * big, 2 * big);
    EXTENT(MPI_Type_create_hindexed_c(1, &one, far, MPI_SHORT, &type), big, 2);
    EXTENT(MPI_Type_create_indexed_block_c(2, 1, far, MPI_INT, &type), -4 * big, 8 * big + 4);
    EXTENT(MPI_Type_create_hindexed_block_c(2, big, far, MPI_CHAR, &type), -big, 3 * big);
    EXTENT(MPI_Type_create_struct_c(1, &big, far, (MPI_Datatype[]){MPI_INT}, &type), big, 4 * big);
    EXTENT(MPI_Type_create_resized_c(MPI_INT, -big, 4 * big, &type), -big, 4 * big);
    EXTENT(MPI_Type_create_subarray_c(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type), 0, 1LL << 42);
    EXTENT(MPI_Type_create_darray_c(4, 3, 2, sizes, block, any, (int[]){2, 2}, MPI_ORDER_C, MPI_INT, &type), 0, 1LL << 42);
}

int main(int argc, char **argv)
{
    MPI_Datatype vector;
    check_start(&argc, &argv);
    reserve();
    OK(MPI_Type_vector_c(many, 1, 2, MPI_INT, &vector));
    OK(MPI_Type_commit(&vector));
    described(vector);
    OK(MPI_Type_free(&vector));
    from_the_middle();
    far_apart();
    all_forms();
    check_memory();
    return check_end();
}
