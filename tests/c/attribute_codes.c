// ranks: 2
/* The error code that an attribute callback returns is the code of the call that it failed in, whether the program
 * added it or it is a class of MPI; the object's error handler gets the same. MPI-5.0 section 7.7. */
#include "check.h"

static int code, copy_answer, delete_answer, given_code;

static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return copy_answer;
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    return delete_answer;
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return copy_answer;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)value, (void)extra;
    return delete_answer;
}

static void note(MPI_Comm *comm, int *error, ...)
{
    (void)comm;
    given_code = *error;
}

static void of_communicators(int answer)
{
    int key, value = 1;
    MPI_Comm comm, copy;
    MPI_Request request;
    MPI_Errhandler handler;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_create_errhandler(note, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &key, NULL));
    OK(MPI_Comm_set_attr(comm, key, &value));
    copy_answer = answer;
    given_code = 0;
    EQUAL(MPI_Comm_dup(comm, &copy), answer);
    EQUAL(given_code, answer);
    EQUAL(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy), answer);
    EQUAL(MPI_Comm_idup(comm, &copy, &request), answer);
    copy_answer = MPI_SUCCESS;
    delete_answer = answer;
    given_code = 0;
    EQUAL(MPI_Comm_set_attr(comm, key, &value), answer);
    EQUAL(given_code, answer);
    EQUAL(MPI_Comm_delete_attr(comm, key), answer);
    EQUAL(MPI_Attr_delete(comm, key), answer);
    EQUAL(MPI_Comm_free(&comm), answer);
    CHECK(comm != MPI_COMM_NULL);
    delete_answer = MPI_SUCCESS;
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Errhandler_free(&handler));
}

static void of_types(int answer)
{
    int key, value = 1;
    MPI_Datatype type, copy;
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_create_keyval(copy_type, delete_type, &key, NULL));
    OK(MPI_Type_set_attr(type, key, &value));
    copy_answer = answer;
    EQUAL(MPI_Type_dup(type, &copy), answer);
    copy_answer = MPI_SUCCESS;
    delete_answer = answer;
    EQUAL(MPI_Type_set_attr(type, key, &value), answer);
    EQUAL(MPI_Type_delete_attr(type, key), answer);
    EQUAL(MPI_Type_free(&type), answer);
    delete_answer = MPI_SUCCESS;
    OK(MPI_Type_free(&type));
    OK(MPI_Type_free_keyval(&key));
}

int main(int argc, char **argv)
{
    int class, found;
    char text[MPI_MAX_ERROR_STRING];
    check_start(&argc, &argv);
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "the cupboard is bare"));
    for (int turn = 0; turn < 3; turn++) {
        int answer = turn == 0 ? code : turn == 1 ? class : MPI_ERR_NO_SPACE;
        of_communicators(answer);
        of_types(answer);
    }
    OK(MPI_Error_class(code, &found));
    EQUAL(found, class);
    OK(MPI_Error_string(code, text, &found));
    CHECK(strcmp(text, "the cupboard is bare") == 0, "%s", text);
    return check_end();
}
