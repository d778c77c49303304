// ranks: 2
// timeout: 90
/* MPI_Type_dup: the same data and bounds, the original may go, names stay behind; a duplicate of a committed type is
 * committed, that of a predefined type is none. MPI-5.0 section 5.1.10. */
#include "type_check.h"

int main(int argc, char **argv)
{
    MPI_Datatype vector, copy, again;
    char name[MPI_MAX_OBJECT_NAME];
    int length = -1;
    check_start(&argc, &argv);
    type_begin();
    for (int i = 0; i < 4; i++) type_at(i * 12, 4);
    OK(MPI_Type_vector(4, 1, 3, MPI_INT, &vector));
    OK(MPI_Type_set_name(vector, "every third"));
    OK(MPI_Type_dup(vector, &copy));
    CHECK(copy != vector);
    type_made_by(copy, MPI_COMBINER_DUP, 0, NULL, 0, NULL, 1, NULL);
    OK(MPI_Type_commit(&vector));
    OK(MPI_Type_dup(vector, &again));
    OK(MPI_Type_get_name(vector, name, &length));
    CHECK(strcmp(name, "every third") == 0 && length == 11, "the name is \"%s\"", name);
    OK(MPI_Type_free(&vector));
    type_measures(copy, 16, 0, 40, 0, 40);
    type_moves(copy, MPI_INT);
    /* Committed as its original was. */
    type_moves_count(again, MPI_INT, 5);
    type_moves(again, MPI_INT);

    type_begin();
    type_at(0, 8);
    OK(MPI_Type_dup(MPI_DOUBLE, &copy));
    type_made_by(copy, MPI_COMBINER_DUP, 0, NULL, 0, NULL, 1, (MPI_Datatype[]){MPI_DOUBLE});
    type_measures(copy, 8, 0, 8, 0, 8);
    type_moves(copy, MPI_DOUBLE);
    return check_end();
}
