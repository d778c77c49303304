// ranks: 2
// timeout: 90
/* MPI_Type_create_struct: members of several types, as the compiler lays them out and in other orders; structures in
 * structures; empty ones; absolute addresses. MPI-5.0 section 5.1.2. */
#include "type_check.h"

#include <stddef.h>

struct record {
    char name[3];
    double x;
    short n[2];
};

static void members(void)
{
    MPI_Datatype type;
    const int lengths[] = {3, 1, 2};
    const MPI_Aint places[] = {offsetof(struct record, name), offsetof(struct record, x), offsetof(struct record, n)};
    const MPI_Count lengths_c[] = {3, 1, 2}, places_c[] = {places[0], places[1], places[2]};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    type_begin();
    for (int i = 0; i < 3; i++) type_at((MPI_Aint)offsetof(struct record, name) + i, 1);
    type_at(offsetof(struct record, x), sizeof(double));
    for (int i = 0; i < 2; i++) type_at((MPI_Aint)offsetof(struct record, n) + i * 2, 2);
    /* The extent is rounded up to the alignment of double. */
    OK(MPI_Type_create_struct(3, lengths, places, types, &type));
    type_measures(type, 15, 0, sizeof(struct record), 0, 20);
    type_made_by(type, MPI_COMBINER_STRUCT, 4, (int[]){3, 3, 1, 2}, 3, places, 3, types);
    type_moves(type, MPI_DATATYPE_NULL);
    OK(MPI_Type_create_struct_c(3, lengths_c, places_c, types, &type));
    type_measures(type, 15, 0, sizeof(struct record), 0, 20);
    type_made_by_c(type, MPI_COMBINER_STRUCT, 0, NULL, 7,
                   (MPI_Count[]){3, 3, 1, 2, places[0], places[1], places[2]}, 3, types);
    type_moves(type, MPI_DATATYPE_NULL);
}

/* The last member first, and before the origin. */
static void any_order(void)
{
    MPI_Datatype type;
    const MPI_Aint places[] = {40, -8, 16, 12};
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_INT64_T, MPI_FLOAT};
    type_begin();
    type_at(40, 4);
    type_at(44, 4);
    type_at(-8, 8);
    type_at(12, 4);
    OK(MPI_Type_create_struct(4, (int[]){2, 1, 0, 1}, places, types, &type));
    type_measures(type, 20, -8, 56, -8, 56);
    type_moves(type, MPI_DATATYPE_NULL);
}

/* Arrays of structures with vectors in structures. */
static void nested(void)
{
    MPI_Datatype vector, inner, outer;
    type_begin();
    for (int i = 0; i < 3; i++) {
        type_at(i * 40, 4);
        for (int j = 0; j < 3; j++) type_at(i * 40 + 8 + j * 8, 4);
        type_at(i * 40 + 32, 8);
    }
    for (int i = 0; i < 5; i++) type_at(128 + i, 1);
    OK(MPI_Type_vector(3, 1, 2, MPI_FLOAT, &vector));
    OK(MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){0, 8, 32},
                              (MPI_Datatype[]){MPI_INT, vector, MPI_DOUBLE}, &inner));
    type_measures(inner, 24, 0, 40, 0, 40);
    OK(MPI_Type_create_struct(2, (int[]){3, 5}, (MPI_Aint[]){0, 128}, (MPI_Datatype[]){inner, MPI_CHAR}, &outer));
    OK(MPI_Type_free(&vector));
    OK(MPI_Type_free(&inner));
    type_measures(outer, 77, 0, 136, 0, 133);
    type_made_by(outer, MPI_COMBINER_STRUCT, 3, (int[]){2, 3, 5}, 2, (MPI_Aint[]){0, 128}, 2,
                 (MPI_Datatype[]){MPI_DATATYPE_NULL, MPI_CHAR});
    type_moves(outer, MPI_DATATYPE_NULL);
}

static void from_bottom(void)
{
    static int n[4];
    static double x[3];
    MPI_Aint at[2];
    MPI_Datatype type;
    OK(MPI_Get_address(n + 1, &at[0]));
    OK(MPI_Get_address(x, &at[1]));
    OK(MPI_Type_create_struct(2, (int[]){3, 2}, at, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE}, &type));
    OK(MPI_Type_commit(&type));
    for (int i = 0; i < 4; i++) n[i] = rank == 0 ? i : -1;
    for (int i = 0; i < 3; i++) x[i] = rank == 0 ? 0.5 + i : -1;
    if (rank == 0) OK(MPI_Send(MPI_BOTTOM, 1, type, 1, 4, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv(MPI_BOTTOM, 1, type, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < 4; i++) EQUAL(n[i], i >= 1 ? i : -1);
        for (int i = 0; i < 3; i++) CHECK(x[i] == (i < 2 ? 0.5 + i : -1), "x[%d] is %g", i, x[i]);
    }
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    check_start(&argc, &argv);
    members();
    any_order();
    nested();
    from_bottom();
    type_begin();
    OK(MPI_Type_create_struct(0, NULL, NULL, NULL, &type));
    type_measures(type, 0, 0, 0, 0, 0);
    type_moves(type, MPI_INT);
    return check_end();
}
