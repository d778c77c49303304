// ranks: 2
// only: posthaste
/* A hundred thousand levels of every constructor in turn, each of which changes nothing: others recurse until the stack
 * is full. MPI-5.0 section 5.1. */
#include "type_check.h"

enum { LEVELS = 100000 };

static MPI_Datatype built(MPI_Datatype type, int how)
{
    const int zero = 0, one = 1;
    const MPI_Aint none = 0;
    MPI_Datatype next;
    switch (how) {
    case 0: OK(MPI_Type_contiguous(1, type, &next)); break;
    case 1: OK(MPI_Type_vector(1, 1, 5, type, &next)); break;
    case 2: OK(MPI_Type_create_hvector(1, 1, 5, type, &next)); break;
    case 3: OK(MPI_Type_indexed(1, &one, &zero, type, &next)); break;
    case 4: OK(MPI_Type_create_hindexed(1, &one, &none, type, &next)); break;
    case 5: OK(MPI_Type_create_indexed_block(1, 1, &zero, type, &next)); break;
    case 6: OK(MPI_Type_create_hindexed_block(1, 1, &none, type, &next)); break;
    case 7: OK(MPI_Type_create_struct(1, &one, &none, &type, &next)); break;
    case 8: OK(MPI_Type_create_resized(type, 0, 40, &next)); break;
    case 9: OK(MPI_Type_create_subarray(1, &one, &one, &zero, MPI_ORDER_C, type, &next)); break;
    default: OK(MPI_Type_dup(type, &next)); break;
    }
    return next;
}

int main(int argc, char **argv)
{
    MPI_Datatype type, child;
    MPI_Status status;
    int found = -1, combiner, ints, aints, types;
    check_start(&argc, &argv);
    OK(MPI_Type_vector(3, 1, 2, MPI_SHORT_INT, &type));
    for (int i = 0; i < LEVELS; i++) {
        MPI_Datatype next = built(type, i % 11);
        OK(MPI_Type_free(&type));
        type = next;
    }
    type_begin();
    for (int i = 0; i < 3; i++) {
        type_at(i * 16, 2);
        type_at(i * 16 + 4, 4);
    }
    type_measures(type, 18, 0, 40, 0, 40);
    OK(MPI_Status_set_elements(&status, type, 5));
    OK(MPI_Get_elements(&status, type, &found));
    EQUAL(found, 5);
    OK(MPI_Type_get_envelope(type, &ints, &aints, &types, &combiner));
    EQUAL(combiner, (LEVELS - 1) % 11 == 9 ? MPI_COMBINER_SUBARRAY : MPI_COMBINER_RESIZED);
    OK(MPI_Type_get_contents(type, ints, aints, types, (int[5]){0}, (MPI_Aint[2]){0}, &child));
    type_moves_alone(type, MPI_DATATYPE_NULL);
    type_measures(child, 18, 0, 40, 0, 40);
    OK(MPI_Type_free(&child));
    return check_end();
}
