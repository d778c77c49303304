// ranks: 2
/* Types twenty levels deep; Intel MPI destroys its heap from thirty on, so type_nesting_deep.c goes further.
 * MPI-5.0 section 5.1. */
#include "type_check.h"

enum { LEVELS = 20 };

/* Replaces a type by one made from it. */
#define BECOMES(call)                                                          \
    do {                                                                       \
        OK(call);                                                              \
        OK(MPI_Type_free(&type));                                              \
        type = next;                                                           \
    } while (0)

int main(int argc, char **argv)
{
    MPI_Datatype type, next;
    check_start(&argc, &argv);

    /* Every constructor in turn, none of which changes anything. */
    OK(MPI_Type_vector(3, 1, 2, MPI_INT, &type));
    type_begin();
    for (int i = 0; i < 3; i++) type_at(i * 8, 4);
    for (int i = 0; i < LEVELS; i++) {
        const int zero = 0, one = 1;
        const MPI_Aint none = 0;
        switch (i % 10) {
        case 0: BECOMES(MPI_Type_contiguous(1, type, &next)); break;
        case 1: BECOMES(MPI_Type_vector(1, 1, 5, type, &next)); break;
        case 2: BECOMES(MPI_Type_create_hvector(1, 1, 5, type, &next)); break;
        case 3: BECOMES(MPI_Type_indexed(1, &one, &zero, type, &next)); break;
        case 4: BECOMES(MPI_Type_create_hindexed(1, &one, &none, type, &next)); break;
        case 5: BECOMES(MPI_Type_create_indexed_block(1, 1, &zero, type, &next)); break;
        case 6: BECOMES(MPI_Type_create_hindexed_block(1, 1, &none, type, &next)); break;
        case 7: BECOMES(MPI_Type_create_struct(1, &one, &none, &type, &next)); break;
        case 8: BECOMES(MPI_Type_create_resized(type, 0, 20, &next)); break;
        case 9: BECOMES(MPI_Type_dup(type, &next)); break;
        }
    }
    type_measures(type, 12, 0, 20, 0, 20);
    type_moves_alone(type, MPI_INT);

    /* Each level adds a byte before what was there. */
    OK(MPI_Type_dup(MPI_BYTE, &type));
    for (int i = 0; i < LEVELS; i++)
        BECOMES(MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 3}, (MPI_Datatype[]){MPI_BYTE, type}, &next));
    type_begin();
    for (int i = 0; i <= LEVELS; i++) type_at(i * 3, 1);
    type_measures(type, LEVELS + 1, 0, 3 * LEVELS + 1, 0, 3 * LEVELS + 1);
    type_moves(type, MPI_BYTE);
    return check_end();
}
