// ranks: 2
// only: posthaste
/* The predefined datatypes of C++ and Fortran, which an implementation may leave out: posthaste has all of the ABI.
 * MPI-5.0 sections 3.2.2, 19.1 and 20. */
#include "predefined_check.h"

#define OF(name, bytes) {name, #name, {{0, bytes}, {0, 0}}, bytes, NULL}
#define TWO(name, bytes) {name, #name, {{0, bytes}, {bytes, bytes}, {0, 0}}, 2 * bytes, NULL}

static const struct predefined all[] = {
    OF(MPI_CXX_BOOL, 1),          OF(MPI_CXX_FLOAT_COMPLEX, 8), OF(MPI_CXX_DOUBLE_COMPLEX, 16),
    OF(MPI_CXX_LONG_DOUBLE_COMPLEX, 32),
    OF(MPI_LOGICAL, 4),           OF(MPI_INTEGER, 4),           OF(MPI_REAL, 4),
    OF(MPI_COMPLEX, 8),           OF(MPI_DOUBLE_PRECISION, 8),  OF(MPI_DOUBLE_COMPLEX, 16),
    OF(MPI_CHARACTER, 1),         OF(MPI_LOGICAL1, 1),          OF(MPI_LOGICAL2, 2),
    OF(MPI_LOGICAL4, 4),          OF(MPI_LOGICAL8, 8),          OF(MPI_LOGICAL16, 16),
    OF(MPI_INTEGER1, 1),          OF(MPI_INTEGER2, 2),          OF(MPI_INTEGER4, 4),
    OF(MPI_INTEGER8, 8),          OF(MPI_INTEGER16, 16),        OF(MPI_REAL2, 2),
    OF(MPI_REAL4, 4),             OF(MPI_REAL8, 8),             OF(MPI_REAL16, 16),
    OF(MPI_COMPLEX4, 4),          OF(MPI_COMPLEX8, 8),          OF(MPI_COMPLEX16, 16),
    OF(MPI_COMPLEX32, 32),        TWO(MPI_2REAL, 4),            TWO(MPI_2DOUBLE_PRECISION, 8),
    TWO(MPI_2INTEGER, 4),
};

static const MPI_Datatype logical[] = {MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16};

int main(int argc, char **argv)
{
    MPI_Datatype type;
    check_start(&argc, &argv);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) predefined(&all[i]);
    /* An extension of the ABI: logical types by size. */
    for (int i = 0; i < 5; i++) {
        OK(MPI_Type_match_size(MPIX_TYPECLASS_LOGICAL, 1 << i, &type));
        CHECK(type == logical[i]);
    }
    return check_end();
}
