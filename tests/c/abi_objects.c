// ranks: 1 2
// alone
/* Info objects, error codes of the program, error handlers of other objects, handles as integers, statuses filled in by
 * the program, generalised requests, memory, facts about the ABI. MPI-5.0 chapters 9, 10, 13, 20. */
#include "check.h"

static void infos(void)
{
    MPI_Info info, copy;
    char key[MPI_MAX_INFO_KEY], value[MPI_MAX_INFO_VAL];
    int n = -1, flag = -1, length;
    OK(MPI_Info_create(&info));
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info);
    OK(MPI_Info_set(info, "first", "one"));
    OK(MPI_Info_set(info, "second", "two"));
    OK(MPI_Info_set(info, "first", "another"));
    OK(MPI_Info_get_nkeys(info, &n));
    EQUAL(n, 2);
    OK(MPI_Info_get_nthkey(info, 1, key));
    CHECK(strcmp(key, "second") == 0);
    REFUSED(MPI_Info_get_nthkey(info, 2, key), MPI_ERR_ARG);
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "first"));
    REFUSED(MPI_Info_delete(info, "first"), MPI_ERR_INFO_NOKEY);
    length = 4; /* too short: cut, and the right length reported */
    OK(MPI_Info_get_string(copy, "first", &length, value, &flag));
    CHECK(flag && length == 8 && strcmp(value, "ano") == 0, "%s, %d", value, length);
    length = 0;
    OK(MPI_Info_get_string(copy, "first", &length, NULL, &flag));
    EQUAL(length, 8);
    OK(MPI_Info_get(copy, "first", 7, value, &flag));
    CHECK(flag && strcmp(value, "another") == 0);
    OK(MPI_Info_get_valuelen(copy, "first", &length, &flag));
    CHECK(flag && length == 7);
    OK(MPI_Info_get_valuelen(info, "first", &length, &flag));
    EQUAL(flag, 0);
    REFUSED(MPI_Info_set(info, "", "x"), MPI_ERR_INFO_KEY);
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
    REFUSED(MPI_Info_get_nkeys(info, &n), MPI_ERR_INFO);
    OK(MPI_Info_free(&copy));
    OK(MPI_Info_create_env(0, NULL, &info));
    length = sizeof value;
    OK(MPI_Info_get_string(info, "wdir", &length, value, &flag));
    CHECK(flag && value[0] == '/');
    OK(MPI_Info_free(&info));
    OK(MPI_Info_get_nkeys(MPI_INFO_ENV, &n));
    CHECK(n > 0);
}

static void hints(void)
{
    MPI_Info info, used;
    MPI_Comm comm, other;
    MPI_Request request;
    char value[20];
    int length = sizeof value, flag = 0, n = -1, near_size = -1;
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "colour", "blue"));
    OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
    OK(MPI_Comm_get_info(comm, &used));
    OK(MPI_Info_get_string(used, "colour", &length, value, &flag));
    CHECK(flag && strcmp(value, "blue") == 0);
    OK(MPI_Info_free(&used));
    OK(MPI_Comm_set_info(comm, MPI_INFO_NULL));
    OK(MPI_Comm_idup(comm, &other, &request));
    /* Bindings set an error handler at once. */
    OK(MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* Duplicates have no hints of the original. */
    OK(MPI_Comm_get_info(other, &used));
    flag = 1, length = sizeof value;
    OK(MPI_Info_get_string(used, "colour", &length, value, &flag));
    EQUAL(flag, 0);
    OK(MPI_Info_free(&used));
    OK(MPI_Barrier(other));
    OK(MPI_Comm_compare(comm, other, &flag));
    EQUAL(flag, MPI_CONGRUENT);
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &other, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(other)) == other);
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, -rank, info, &other));
    OK(MPI_Comm_rank(other, &n));
    OK(MPI_Comm_size(other, &near_size));
    EQUAL(n, near_size == size ? size - 1 - rank : 0);
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_split_type(comm, MPI_UNDEFINED, 0, info, &other));
    CHECK(other == MPI_COMM_NULL);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Info_free(&info));
}

static void own_errors(void)
{
    int class, code, got = -1, length, *last, flag;
    char text[MPI_MAX_ERROR_STRING];
    OK(MPI_Add_error_class(&class));
    CHECK(class > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(class, &code));
    OK(MPI_Add_error_string(code, "the cat sleeps on it"));
    OK(MPI_Error_class(code, &got));
    EQUAL(got, class);
    OK(MPI_Error_string(code, text, &length));
    CHECK(strcmp(text, "the cat sleeps on it") == 0 && length == 20);
    REFUSED(MPI_Remove_error_code(code), MPI_ERR_ARG); /* its string first */
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &flag));
    CHECK(flag && *last == code);
    REFUSED(MPI_Remove_error_class(class), MPI_ERR_ARG);
    OK(MPI_Remove_error_string(code));
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));
    REFUSED(MPI_Error_class(code, &got), MPI_ERR_ARG);
}

static int handled;

static void on_file(MPI_File *file, int *code, ...)
{
    (void)file;
    handled = *code;
}

static void on_win(MPI_Win *win, int *code, ...)
{
    (void)win;
    (void)code;
}

static void on_session(MPI_Session *session, int *code, ...)
{
    (void)session;
    (void)code;
}

static void other_handlers(void)
{
    MPI_Errhandler handler, found;
    OK(MPI_File_create_errhandler(on_file, &handler));
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(handler)) == handler);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
    CHECK(found == handler);
    OK(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO));
    EQUAL(handled, MPI_ERR_IO);
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&handler));
    CHECK(handler == MPI_ERRHANDLER_NULL);
    OK(MPI_Win_create_errhandler(on_win, &handler));
    OK(MPI_Errhandler_free(&handler));
    OK(MPI_Session_create_errhandler(on_session, &handler));
    OK(MPI_Errhandler_free(&handler));
}

static void numbers(void)
{
    MPI_Group group;
    OK(MPI_Comm_group(MPI_COMM_WORLD, &group));
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group);
    OK(MPI_Group_free(&group));
    CHECK(MPI_Type_fromint(MPI_Type_toint(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM);
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
}

static void statuses(void)
{
    MPI_Status status;
    int value = -1;
    MPI_Count elements = -1;
    memset(&status, 0, sizeof status);
    OK(MPI_Status_set_source(&status, 3));
    OK(MPI_Status_set_tag(&status, 4));
    OK(MPI_Status_set_error(&status, 5));
    OK(MPI_Status_get_source(&status, &value));
    EQUAL(value, 3);
    OK(MPI_Status_get_tag(&status, &value));
    EQUAL(value, 4);
    OK(MPI_Status_get_error(&status, &value));
    EQUAL(value, 5);
    OK(MPI_Status_set_elements(&status, MPI_INT, 6));
    OK(MPI_Get_elements(&status, MPI_INT, &value));
    EQUAL(value, 6);
    OK(MPI_Status_set_elements_x(&status, MPI_DOUBLE, (MPI_Count)1 << 40));
    OK(MPI_Get_elements_x(&status, MPI_DOUBLE, &elements));
    CHECK(elements == (MPI_Count)1 << 40);
    OK(MPI_Get_elements(&status, MPI_DOUBLE, &value));
    EQUAL(value, MPI_UNDEFINED);
    OK(MPI_Status_set_elements_c(&status, MPI_DOUBLE, 9));
    OK(MPI_Get_elements_c(&status, MPI_DOUBLE, &elements));
    EQUAL(elements, 9);
}

static int queried, freed, cancels;

static int query(void *extra, MPI_Status *status)
{
    queried++;
    OK(MPI_Status_set_elements(status, MPI_INT, *(int *)extra));
    OK(MPI_Status_set_cancelled(status, cancels));
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = 12;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void)extra;
    if (!complete) cancels++;
    return MPI_SUCCESS;
}

static void generalised(void)
{
    int seven = 7, flag = -1, count = -1;
    MPI_Request request;
    MPI_Status status;
    OK(MPI_Grequest_start(query, release, cancel, &seven, &request));
    OK(MPI_Test(&request, &flag, &status));
    EQUAL(flag, 0);
    OK(MPI_Cancel(&request));
    EQUAL(cancels, 1);
    OK(MPI_Grequest_complete(request));
    OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL && queried == 1 && freed == 1);
    OK(MPI_Get_count(&status, MPI_INT, &count));
    EQUAL(count, 7);
    EQUAL(status.MPI_TAG, 12);
    OK(MPI_Test_cancelled(&status, &flag));
    EQUAL(flag, 1);
    /* Freed before it is complete: the free function runs at the completion. */
    OK(MPI_Grequest_start(query, release, cancel, &seven, &request));
    MPI_Request later = request;
    OK(MPI_Request_free(&request));
    EQUAL(freed, 1);
    OK(MPI_Grequest_complete(later));
    EQUAL(freed, 2);
    /* Complete before it is freed: it runs when it is freed. */
    OK(MPI_Grequest_start(query, release, cancel, &seven, &request));
    OK(MPI_Grequest_complete(request));
    EQUAL(freed, 2);
    OK(MPI_Request_free(&request));
    CHECK(request == MPI_REQUEST_NULL && freed == 3);
}

static void facts(void)
{
    int major = -1, minor = -1, flag = -1, length = 10;
    int yes = 1, no = 0, found_yes = -1, found_no = -1;
    char value[10];
    MPI_Info info;
    OK(MPI_Abi_get_version(&major, &minor));
    EQUAL(major, 1);
    EQUAL(minor, 0);
    OK(MPI_Abi_get_info(&info));
    OK(MPI_Info_get_string(info, "mpi_aint_size", &length, value, &flag));
    CHECK(flag && atoi(value) == (int)sizeof(MPI_Aint));
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&info));
    CHECK(info == MPI_INFO_NULL);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "mpi_logical_size", "4"));
    OK(MPI_Abi_set_fortran_info(info));
    REFUSED(MPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_info(&info));
    OK(MPI_Info_free(&info));
    OK(MPI_Abi_get_fortran_booleans(4, &found_yes, &found_no, &flag));
    EQUAL(flag, 0);
    OK(MPI_Abi_set_fortran_booleans(4, &yes, &no));
    REFUSED(MPI_Abi_set_fortran_booleans(4, &yes, &no), MPI_ERR_ABI);
    OK(MPI_Abi_get_fortran_booleans(4, &found_yes, &found_no, &flag));
    CHECK(flag && found_yes == 1 && found_no == 0);
}

static void shapes(void)
{
    int dims[3] = {0, 0, 0}, kind = 0;
    MPI_Info info;
    OK(MPI_Dims_create(24, 3, dims));
    CHECK(dims[0] == 4 && dims[1] == 3 && dims[2] == 2);
    dims[0] = dims[2] = 0;
    dims[1] = 4;
    OK(MPI_Dims_create(24, 3, dims));
    CHECK(dims[0] == 3 && dims[1] == 4 && dims[2] == 2);
    dims[1] = 7;
    REFUSED(MPI_Dims_create(24, 3, dims), MPI_ERR_DIMS);
    OK(MPI_Topo_test(MPI_COMM_WORLD, &kind));
    EQUAL(kind, MPI_UNDEFINED);
    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_free(&info));
}

/* The names of MPI-1 for attributes, and keys of windows. */
static void old_names(void)
{
    int key = MPI_KEYVAL_INVALID, cell = 4, flag = -1, *found = NULL;
    OK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Attr_put(MPI_COMM_SELF, key, &cell));
    OK(MPI_Attr_get(MPI_COMM_SELF, key, &found, &flag));
    CHECK(flag && found == &cell);
    OK(MPI_Attr_delete(MPI_COMM_SELF, key));
    OK(MPI_Attr_get(MPI_COMM_SELF, key, &found, &flag));
    EQUAL(flag, 0);
    OK(MPI_Keyval_free(&key));
    CHECK(key == MPI_KEYVAL_INVALID);
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
    CHECK(key != MPI_KEYVAL_INVALID);
    REFUSED(MPI_Comm_set_attr(MPI_COMM_SELF, key, &cell), MPI_ERR_KEYVAL);
    OK(MPI_Win_free_keyval(&key));
    REFUSED(MPI_Comm_set_attr(MPI_COMM_SELF, MPI_TAG_UB, &cell), MPI_ERR_KEYVAL);
}

int main(int argc, char **argv)
{
    void *memory = NULL;
    check_start(&argc, &argv);
    infos();
    hints();
    own_errors();
    other_handlers();
    numbers();
    statuses();
    generalised();
    facts();
    OK(MPI_Alloc_mem(100000, MPI_INFO_NULL, &memory));
    CHECK(memory != NULL);
    memset(memory, 1, 100000);
    OK(MPI_Free_mem(memory));
    REFUSED(MPI_Alloc_mem(-1, MPI_INFO_NULL, &memory), MPI_ERR_ARG);
    OK(MPI_Pcontrol(1));
    old_names();
    shapes();
    return check_end();
}
