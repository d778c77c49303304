// ranks: 2
// env: POSTHASTE_STRICT=1
// exit: nonzero
// says: posthaste: MPI_Type_commit on rank 1 of MPI_COMM_WORLD: datatype is MPI_DATATYPE_NULL
// only: posthaste
/* Read strictly, errors without a communicator are MPI_COMM_SELF's, whose handler nobody has set: the job ends.
 * MPI-5.0 section 9.3. */
#include "check.h"

int main(int argc, char **argv)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    if (rank == 1) MPI_Type_commit(&type);
    check_unused();
    return check_end();
}
