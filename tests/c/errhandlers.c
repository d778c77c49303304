// ranks: 2
/* Error handlers: returned codes, own handlers called with the right communicator, inherited by dup and split,
 * freed while in use; error classes and codes added by the user. MPI-5.0 sections 9.3 to 9.5. */
#include "check.h"

static int calls, last_class;
static MPI_Comm last_comm;

static void note(MPI_Comm *comm, int *code, ...)
{
    calls++;
    last_comm = *comm;
    MPI_Error_class(*code, &last_class);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler, found, stale;
    MPI_Comm copy, copy_of_copy;
    int value = 0, class = -1, code = -1, length = -1;
    char text[MPI_MAX_ERROR_STRING];
    check_start(&argc, &argv);
    OK(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &found));
    CHECK(found == MPI_ERRORS_RETURN);
    OK(MPI_Errhandler_free(&found));
    CHECK(found == MPI_ERRHANDLER_NULL);

    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Comm_set_errhandler(copy, handler));
    /* The same handle, which has to be freed once for each time that it was got. */
    OK(MPI_Comm_get_errhandler(copy, &found));
    CHECK(found == handler);
    OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, found));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    stale = found;
    OK(MPI_Errhandler_free(&found));
    REFUSED(MPI_Errhandler_free(&stale), MPI_ERR_ERRHANDLER);
    OK(MPI_Comm_get_errhandler(copy, &found));
    CHECK(found != stale && found != MPI_ERRHANDLER_NULL);
    OK(MPI_Errhandler_free(&found));
    REFUSED(MPI_Send(&value, 1, MPI_INT, size + 3, 1, copy), MPI_ERR_RANK);
    EQUAL(calls, 1);
    EQUAL(last_class, MPI_ERR_RANK);
    CHECK(last_comm == copy);
    REFUSED(MPI_Send(&value, 1, MPI_INT, 0, -8, MPI_COMM_WORLD), MPI_ERR_TAG);
    EQUAL(calls, 1);
    OK(MPI_Comm_dup(copy, &copy_of_copy));
    REFUSED(MPI_Send(&value, -1, MPI_INT, 0, 1, copy_of_copy), MPI_ERR_COUNT);
    EQUAL(calls, 2);
    CHECK(last_comm == copy_of_copy);
    OK(MPI_Comm_call_errhandler(copy, MPI_ERR_OTHER));
    EQUAL(calls, 3);
    EQUAL(last_class, MPI_ERR_OTHER);
    OK(MPI_Comm_free(&copy_of_copy));
    OK(MPI_Comm_free(&copy));

    for (int i = MPI_SUCCESS; i <= MPI_ERR_LASTCODE && i < 80; i++) {
        if (MPI_Error_string(i, text, &length) == MPI_SUCCESS) CHECK(length > 0 && length < MPI_MAX_ERROR_STRING, "text of %d", i);
    }
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE, "class %d", class);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "the reactor is too hot"));
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "the reactor is too hot") == 0, "%s", text);
    OK(MPI_Error_class(code, &value));
    EQUAL(value, class);
    return check_end();
}
