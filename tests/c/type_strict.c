// ranks: 2
// only: posthaste
/* What the standard says and other implementations do not follow. */
#include "type_check.h"

/* Where bounds were set by MPI_Type_create_resized, only set bounds count (MPI-5.0 section 5.1.7); others mix them
 * with the bounds of neighbours that have none. */
static void set_bounds_win(void)
{
    MPI_Datatype wide, type;
    OK(MPI_Type_create_resized(MPI_SHORT, -6, 10, &wide));
    OK(MPI_Type_create_struct(2, (int[]){1, 2}, (MPI_Aint[]){40, 0}, (MPI_Datatype[]){MPI_SHORT, wide}, &type));
    OK(MPI_Type_free(&wide));
    type_begin();
    type_at(40, 2);
    type_at(0, 2);
    type_at(10, 2);
    type_measures(type, 6, -6, 20, 0, 42);
    type_moves_alone(type, MPI_SHORT);
}

/* Types without data have no extent of their own; others give them that of the blocks that are empty. */
static void no_data_no_extent(void)
{
    MPI_Datatype type;
    MPI_Aint lb = -1, extent = -1;
    OK(MPI_Type_vector(3, 0, 2, MPI_DOUBLE, &type));
    OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK(lb == 0 && extent == 0);
    OK(MPI_Type_get_true_extent(type, &lb, &extent));
    CHECK(lb == 0 && extent == 0);
    OK(MPI_Type_free(&type));
    /* Set bounds stay, with data or without. */
    OK(MPI_Type_contiguous(0, MPI_INT, &type));
    MPI_Datatype empty = type;
    OK(MPI_Type_create_resized(empty, -8, 32, &type));
    OK(MPI_Type_free(&empty));
    type_measures(type, 0, -8, 32, 0, 0);
    OK(MPI_Type_get_extent(type, &lb, &extent));
    CHECK(lb == -8 && extent == 32);
    OK(MPI_Type_free(&type));
}

/* Others cannot count the elements of pairs and of distributed arrays. */
static void elements(void)
{
    const MPI_Datatype pairs[] = {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT};
    const int widths[] = {4, 8, 8, 4, 2, 16};
    MPI_Datatype type;
    MPI_Status status;
    int found = -1;
    for (int i = 0; i < 6; i++) {
        OK(MPI_Status_set_elements(&status, pairs[i], 3));
        OK(MPI_Get_elements(&status, MPI_BYTE, &found));
        EQUAL(found, 2 * widths[i] + 4);
        OK(MPI_Get_elements(&status, pairs[i], &found));
        EQUAL(found, 3);
        OK(MPI_Get_count(&status, pairs[i], &found));
        EQUAL(found, MPI_UNDEFINED);
    }
    OK(MPI_Type_create_darray(2, 1, 1, (int[]){11}, (int[]){MPI_DISTRIBUTE_CYCLIC}, (int[]){2}, (int[]){2},
                              MPI_ORDER_C, MPI_SHORT_INT, &type));
    OK(MPI_Status_set_elements(&status, type, 7));
    OK(MPI_Get_elements(&status, type, &found));
    EQUAL(found, 7);
    OK(MPI_Get_count(&status, type, &found));
    EQUAL(found, MPI_UNDEFINED);
    OK(MPI_Status_set_elements(&status, type, 20));
    OK(MPI_Get_count(&status, type, &found));
    EQUAL(found, 2);
    OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    set_bounds_win();
    no_data_no_extent();
    elements();
    return check_end();
}
