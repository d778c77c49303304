// ranks: 1 2
// alone
// only: posthaste
/* Sessions are not there yet. Who asks for one before MPI_Init with MPI_ERRORS_RETURN, or with a handler of its own, is
 * answered so and goes on; so are the calls that follow on what is no session. MPI-5.0 sections 9.3 and 11.3. */
#define POSTHASTE_MISSING_SILENT
#include "check.h"

static int calls, last;

static void note(MPI_Session *session, int *code, ...)
{
    CHECK(*session == MPI_SESSION_NULL);
    calls++;
    last = *code;
}

static void functions(MPI_Session session)
{
    int number = 77, place = 0;
    MPI_Group group = (MPI_Group)&place;
    MPI_Comm comm = (MPI_Comm)&place;
    REFUSED(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &number), MPI_ERR_UNSUPPORTED_OPERATION);
    EQUAL(number, 0);
    REFUSED(MPI_Group_from_session_pset(session, "mpi://WORLD", &group), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(group == MPI_GROUP_NULL);
    REFUSED(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
            MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(comm == MPI_COMM_NULL);
    comm = (MPI_Comm)&place;
    REFUSED(MPI_Intercomm_create_from_groups(MPI_GROUP_EMPTY, 0, MPI_GROUP_EMPTY, 0, "tag", MPI_INFO_NULL,
                                             MPI_ERRORS_RETURN, &comm), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(comm == MPI_COMM_NULL);
    REFUSED(MPI_Session_flush_buffer(session), MPI_ERR_UNSUPPORTED_OPERATION);
    REFUSED(MPI_Session_call_errhandler(session, MPI_ERR_OTHER), MPI_ERR_UNSUPPORTED_OPERATION);
    REFUSED(MPI_Session_finalize(&session), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(session == MPI_SESSION_NULL);
}

int main(int argc, char **argv)
{
    int place = 0;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Errhandler handler;
    MPI_Session session = (MPI_Session)&place;
    int code = MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    REFUSED(code, MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK(session == MPI_SESSION_NULL);
    OK(MPI_Error_string(code, text, &place));
    CHECK(strstr(text, "MPI_Session_init is not implemented yet") != NULL, "%s", text);
    functions(session);

    OK(MPI_Session_create_errhandler(note, &handler));
    REFUSED(MPI_Session_init(MPI_INFO_NULL, handler, &session), MPI_ERR_UNSUPPORTED_OPERATION);
    EQUAL(calls, 1);
    EQUAL(last, MPI_ERR_UNSUPPORTED_OPERATION);
    REFUSED(MPI_Session_finalize(&session), MPI_ERR_UNSUPPORTED_OPERATION);
    EQUAL(calls, 2);
    OK(MPI_Errhandler_free(&handler));

    check_start(&argc, &argv);
    REFUSED(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session), MPI_ERR_UNSUPPORTED_OPERATION);
    functions(session);
    return check_end();
}
