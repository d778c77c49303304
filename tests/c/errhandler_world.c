// ranks: 2
// only: posthaste
/* A program written for MPI-3.1 sets the error handler of MPI_COMM_WORLD alone. Errors without a communicator go there
 * as long as MPI_COMM_SELF was given no handler; afterwards to MPI_COMM_SELF, as MPI-5.0 section 9.3 says. */
#include "check.h"

static int calls;
static MPI_Comm given;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    calls++;
    given = *comm;
}

int main(int argc, char **argv)
{
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Errhandler handler, found;
    MPI_Request request = (MPI_Request)0xdeadbeef;
    MPI_Comm nothing = MPI_COMM_NULL;
    int value;
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    REFUSED(MPI_Type_commit(&type), MPI_ERR_TYPE);
    REFUSED(MPI_Group_size(group, &value), MPI_ERR_GROUP);
    REFUSED(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_REQUEST);
    REFUSED(MPI_Comm_size(nothing, &value), MPI_ERR_COMM);
    /* Its own errors, and what it says of itself, are MPI_COMM_SELF's. */
    OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &found));
    CHECK(found == MPI_ERRORS_ARE_FATAL);

    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler));
    REFUSED(MPI_Type_commit(&type), MPI_ERR_TYPE);
    EQUAL(calls, 1);
    CHECK(given == MPI_COMM_WORLD);

    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    REFUSED(MPI_Type_commit(&type), MPI_ERR_TYPE);
    EQUAL(calls, 1);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
    REFUSED(MPI_Type_commit(&type), MPI_ERR_TYPE);
    EQUAL(calls, 2);
    CHECK(given == MPI_COMM_SELF);
    OK(MPI_Errhandler_free(&handler));
    return check_end();
}
