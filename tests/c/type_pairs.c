// ranks: 2
/* MPI_Type_get_value_index: the pair of a value type and an index type for MPI_MAXLOC and MPI_MINLOC.
 * MPI-5.0 section 6.9.4. */
#include "check.h"

static void pair(MPI_Datatype value, MPI_Datatype index, MPI_Datatype wanted)
{
    MPI_Datatype found = MPI_INT;
    OK(MPI_Type_get_value_index(value, index, &found));
    CHECK(found == wanted);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    int ints, aints, types, combiner;
    struct {
        double value;
        int index;
    } mine, most;
    check_start(&argc, &argv);
    pair(MPI_FLOAT, MPI_INT, MPI_FLOAT_INT);
    pair(MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT);
    pair(MPI_LONG, MPI_INT, MPI_LONG_INT);
    pair(MPI_INT, MPI_INT, MPI_2INT);
    pair(MPI_SHORT, MPI_INT, MPI_SHORT_INT);
    pair(MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT);
    /* No reduction by place compares these. */
    pair(MPI_C_BOOL, MPI_INT, MPI_DATATYPE_NULL);
    pair(MPI_C_DOUBLE_COMPLEX, MPI_INT, MPI_DATATYPE_NULL);
    pair(MPI_INT, MPI_CHAR, MPI_DATATYPE_NULL);

    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &type));
    OK(MPI_Type_get_envelope(type, &ints, &aints, &types, &combiner));
    EQUAL(combiner, MPI_COMBINER_NAMED);
    mine.value = 10.5 * rank;
    mine.index = 100 + rank;
    OK(MPI_Allreduce(&mine, &most, 1, type, MPI_MAXLOC, MPI_COMM_WORLD));
    CHECK(most.value == 10.5 * (size - 1) && most.index == 100 + size - 1, "%g at %d", most.value, most.index);
    return check_end();
}
