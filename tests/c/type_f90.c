// ranks: 2
// timeout: 90
/* MPI_Type_create_f90_real, _complex and _integer, and MPI_Type_match_size: types of Fortran kinds. The same arguments
 * give the same handle, which is committed, is never freed, takes part in reductions, and says what it was made from.
 * MPI-5.0 section 19.1.5 and 19.1.6. */
#include "type_check.h"

static void moves(MPI_Datatype type, int bytes)
{
    unsigned char out[64], in[64];
    type_measures(type, bytes, 0, bytes, 0, bytes);
    check_fill(out, sizeof out, 5);
    memset(in, 0, sizeof in);
    if (rank == 0) OK(MPI_Send(out, 2, type, 1, 7, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv(in, 2, type, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out, 2 * (size_t)bytes) == 0 && in[2 * bytes] == 0);
    }
}

static void real(int p, int r, int bytes)
{
    MPI_Datatype type, same;
    int ints[2];
    OK(MPI_Type_create_f90_real(p, r, &type));
    OK(MPI_Type_create_f90_real(p, r, &same));
    CHECK(type == same, "two handles for real(%d, %d)", p, r);
    type_made_by(type, MPI_COMBINER_F90_REAL, 2, (ints[0] = p, ints[1] = r, ints), 0, NULL, 0, NULL);
    moves(type, bytes);
    OK(MPI_Type_create_f90_complex(p, r, &type));
    OK(MPI_Type_create_f90_complex(p, r, &same));
    CHECK(type == same, "two handles for complex(%d, %d)", p, r);
    type_made_by(type, MPI_COMBINER_F90_COMPLEX, 2, ints, 0, NULL, 0, NULL);
    moves(type, 2 * bytes);
}

static void integer(int r, int bytes)
{
    MPI_Datatype type, same;
    OK(MPI_Type_create_f90_integer(r, &type));
    OK(MPI_Type_create_f90_integer(r, &same));
    CHECK(type == same, "two handles for integer(%d)", r);
    type_made_by(type, MPI_COMBINER_F90_INTEGER, 1, (int[]){r}, 0, NULL, 0, NULL);
    moves(type, bytes);
}

static void matches(int class, int bytes, MPI_Datatype wanted)
{
    MPI_Datatype type;
    OK(MPI_Type_match_size(class, bytes, &type));
    CHECK(type == wanted, "class %d with %d bytes gives another type", class, bytes);
    OK(MPI_Type_match_size(class, bytes, &wanted));
    CHECK(type == wanted);
    int found;
    OK(MPI_Type_size(type, &found));
    EQUAL(found, bytes);
}

int main(int argc, char **argv)
{
    MPI_Datatype type, vector, child, other;
    check_start(&argc, &argv);
    real(6, 37, 4);
    real(6, MPI_UNDEFINED, 4);
    real(7, 30, 8);
    real(15, 307, 8);
    real(MPI_UNDEFINED, 100, 8);
    integer(2, 1);
    integer(4, 2);
    integer(9, 4);
    integer(10, 8);
    integer(18, 8);
    OK(MPI_Type_create_f90_real(6, 37, &type));
    OK(MPI_Type_create_f90_real(5, 37, &other));
    CHECK(type != other, "other arguments give the same handle");

    /* Reductions take it for the type that it stands for. */
    double sum[2] = {rank + 1.5, 10.0 * rank}, total[2] = {0, 0};
    OK(MPI_Type_create_f90_real(15, 307, &type));
    OK(MPI_Allreduce(sum, total, 2, type, MPI_SUM, MPI_COMM_WORLD));
    CHECK(total[0] == 1.5 * size + size * (size - 1) / 2.0 && total[1] == 5.0 * size * (size - 1), "%g %g", total[0], total[1]);

    /* A type made of it reports it as it is. */
    int count;
    OK(MPI_Type_vector(3, 1, 2, type, &vector));
    OK(MPI_Type_get_contents(vector, 3, 0, 1, (int[3]){0}, NULL, &child));
    CHECK(child == type, "the child of a vector is another handle");
    type_begin();
    for (int i = 0; i < 3; i++) type_at(i * 16, 8);
    type_moves(vector, type);
    OK(MPI_Type_size(type, &count));
    EQUAL(count, 8);

    matches(MPI_TYPECLASS_REAL, 4, MPI_REAL4);
    matches(MPI_TYPECLASS_REAL, 8, MPI_REAL8);
    matches(MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1);
    matches(MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2);
    matches(MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4);
    matches(MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8);
    matches(MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8);
    matches(MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16);
    return check_end();
}
