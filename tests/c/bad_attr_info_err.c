// ranks: 1 2
// only: posthaste
// alone
/* Every argument of the functions on attributes, info objects and error handlers wrong in turn.
 * MPI-5.0 sections 7.7, 9.3 to 9.5 and chapter 10. */
#include "bad_check.h"

static int refuse(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)in, (void)out, (void)flag;
    return MPI_ERR_INTERN;
}
static void on_win(MPI_Win *win, int *code, ...) { (void)win, (void)code; }
static void on_file(MPI_File *file, int *code, ...) { (void)file, (void)code; }
static void on_session(MPI_Session *session, int *code, ...) { (void)session, (void)code; }

#define C MPI_COMM_SELF

static void attributes(void)
{
    int key, type_key, flag, predefined = MPI_TAG_UB, none = MPI_KEYVAL_INVALID, wild = 123456789;
    void *value;
    MPI_Comm made;
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL));
    EACH(BAD_COMM, MPI_Comm, c) {
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_set_attr, c, key, &flag);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_get_attr, c, key, &value, &flag);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_get_attr, c, MPI_TAG_UB, &value, &flag);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_delete_attr, c, key);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Attr_put, c, key, &flag);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Attr_get, c, key, &value, &flag);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Attr_delete, c, key);
    }
    EACH(BAD_TYPE, MPI_Datatype, t) {
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Type_set_attr, t, type_key, &flag);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Type_get_attr, t, type_key, &value, &flag);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Type_delete_attr, t, type_key);
    }
    for (int i = 0; i < 4; i++) {
        const int bad[4] = {MPI_KEYVAL_INVALID, 123456789, -1, type_key};
        int b = bad[i];
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_set_attr, C, b, &flag);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_get_attr, C, b, &value, &flag);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_delete_attr, C, b);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Attr_put, C, b, &flag);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Attr_get, C, b, &value, &flag);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Attr_delete, C, b);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_free_keyval, &b);
        b = i < 3 ? bad[i] : key;
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Type_set_attr, MPI_INT, b, &flag);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Type_get_attr, MPI_INT, b, &value, &flag);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Type_delete_attr, MPI_INT, b);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Type_free_keyval, &b);
        BAD(MPI_ERR_KEYVAL, "keyval", MPI_Win_free_keyval, &b);
    }
    BAD(MPI_ERR_KEYVAL, "predefined", MPI_Comm_set_attr, C, MPI_TAG_UB, &flag);
    BAD(MPI_ERR_KEYVAL, "predefined", MPI_Comm_delete_attr, C, MPI_TAG_UB);
    BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_free_keyval, &predefined);
    BAD(MPI_ERR_KEYVAL, "keyval", MPI_Keyval_free, &none);
    BAD(MPI_ERR_KEYVAL, "keyval", MPI_Keyval_free, &wild);
    BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_delete_attr, C, key);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Comm_get_attr, C, key, &value, NULL);
    BAD(MPI_ERR_ARG, "attribute_val is NULL", MPI_Comm_get_attr, C, MPI_TAG_UB, NULL, &flag);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Type_get_attr, MPI_INT, type_key, &value, NULL);
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Comm_create_keyval, MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL);
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Type_create_keyval, MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, NULL, NULL);
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Win_create_keyval, MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, NULL, NULL);
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Comm_free_keyval, NULL);
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Type_free_keyval, NULL);
    BAD(MPI_ERR_ARG, "keyval is NULL", MPI_Win_free_keyval, NULL);
    int stale = key, stale_type = type_key;
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Type_free_keyval(&type_key));
    BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_set_attr, C, stale, &flag);
    BAD(MPI_ERR_KEYVAL, "keyval", MPI_Comm_free_keyval, &stale);
    BAD(MPI_ERR_KEYVAL, "keyval", MPI_Type_set_attr, MPI_INT, stale_type, &flag);
    /* A callback that refuses: its code comes back and there is no new communicator. */
    OK(MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(bad_live_comm, key, &flag));
    BAD(MPI_ERR_INTERN, "callback", MPI_Comm_dup, bad_live_comm, &made);
    CHECK(made == MPI_COMM_NULL);
    OK(MPI_Comm_delete_attr(bad_live_comm, key));
    OK(MPI_Comm_free_keyval(&key));
}

static void infos(void)
{
    char value[MPI_MAX_INFO_VAL + 1], key[MPI_MAX_INFO_KEY + 1], *long_value = malloc(MPI_MAX_INFO_VAL + 2);
    int flag, n, room = sizeof value;
    MPI_Info I, made, env = MPI_INFO_ENV;
    memset(key, 'k', sizeof key - 1), key[sizeof key - 1] = 0;
    memset(long_value, 'v', MPI_MAX_INFO_VAL + 1), long_value[MPI_MAX_INFO_VAL + 1] = 0;
    OK(MPI_Info_create(&I));
    OK(MPI_Info_set(I, "known", "value"));
    EACH(BAD_INFO, MPI_Info, w) {
        MPI_Info copy = w;
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_set, w, "known", "value");
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_get, w, "known", 10, value, &flag);
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_get_string, w, "known", &room, value, &flag);
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_get_valuelen, w, "known", &n, &flag);
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_get_nkeys, w, &n);
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_get_nthkey, w, 0, value);
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_delete, w, "known");
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_dup, w, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Info_free, &copy);
        CHECK(copy == w);
    }
    BAD(MPI_ERR_INFO, "predefined", MPI_Info_free, &env);
    const char *keys[2] = {"", key};
    for (int i = 0; i < 2; i++) {
        BAD(MPI_ERR_INFO_KEY, "key is ", MPI_Info_set, I, keys[i], "value");
        BAD(MPI_ERR_INFO_KEY, "key is ", MPI_Info_get, I, keys[i], 10, value, &flag);
        BAD(MPI_ERR_INFO_KEY, "key is ", MPI_Info_get_string, I, keys[i], &room, value, &flag);
        BAD(MPI_ERR_INFO_KEY, "key is ", MPI_Info_get_valuelen, I, keys[i], &n, &flag);
    }
    BAD(MPI_ERR_INFO_VALUE, "value is ", MPI_Info_set, I, "key", long_value);
    BAD(MPI_ERR_INFO_NOKEY, "unknown", MPI_Info_delete, I, "unknown");
    BAD(MPI_ERR_ARG, "n is -1", MPI_Info_get_nthkey, I, -1, value);
    BAD(MPI_ERR_ARG, "n is 1", MPI_Info_get_nthkey, I, 1, value);
    BAD(MPI_ERR_ARG, "valuelen is -1,", MPI_Info_get, I, "known", -1, value, &flag);
    BAD(MPI_ERR_ARG, "key is NULL", MPI_Info_set, I, NULL, "value");
    BAD(MPI_ERR_ARG, "value is NULL", MPI_Info_set, I, "key", NULL);
    BAD(MPI_ERR_ARG, "key is NULL", MPI_Info_get, I, NULL, 10, value, &flag);
    BAD(MPI_ERR_ARG, "value is NULL", MPI_Info_get, I, "known", 10, NULL, &flag);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Info_get, I, "known", 10, value, NULL);
    BAD(MPI_ERR_ARG, "key is NULL", MPI_Info_get_string, I, NULL, &room, value, &flag);
    BAD(MPI_ERR_ARG, "buflen is NULL", MPI_Info_get_string, I, "known", NULL, value, &flag);
    BAD(MPI_ERR_ARG, "value is NULL", MPI_Info_get_string, I, "known", &room, NULL, &flag);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Info_get_string, I, "known", &room, value, NULL);
    BAD(MPI_ERR_ARG, "key is NULL", MPI_Info_get_valuelen, I, NULL, &n, &flag);
    BAD(MPI_ERR_ARG, "valuelen is NULL", MPI_Info_get_valuelen, I, "known", NULL, &flag);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Info_get_valuelen, I, "known", &n, NULL);
    BAD(MPI_ERR_ARG, "nkeys is NULL", MPI_Info_get_nkeys, I, NULL);
    BAD(MPI_ERR_ARG, "key is NULL", MPI_Info_get_nthkey, I, 0, NULL);
    BAD(MPI_ERR_ARG, "key is NULL", MPI_Info_delete, I, NULL);
    BAD(MPI_ERR_ARG, "newinfo is NULL", MPI_Info_dup, I, NULL);
    BAD(MPI_ERR_ARG, "info is NULL", MPI_Info_create, NULL);
    BAD(MPI_ERR_ARG, "info is NULL", MPI_Info_create_env, 0, NULL, NULL);
    BAD(MPI_ERR_ARG, "info is NULL", MPI_Info_free, NULL);
    OK(MPI_Info_get_nkeys(I, &n));
    EQUAL(n, 1);
    OK(MPI_Info_free(&I));
    free(long_value);
}

static void handlers(void)
{
    MPI_Errhandler made, others[3];
    BAD(MPI_ERR_ARG, "NULL", MPI_Comm_create_errhandler, NULL, &made);
    BAD(MPI_ERR_ARG, "NULL", MPI_Comm_create_errhandler, bad_handler, NULL);
    BAD(MPI_ERR_ARG, "NULL", MPI_Win_create_errhandler, NULL, &made);
    BAD(MPI_ERR_ARG, "NULL", MPI_Win_create_errhandler, on_win, NULL);
    BAD(MPI_ERR_ARG, "NULL", MPI_File_create_errhandler, NULL, &made);
    BAD(MPI_ERR_ARG, "NULL", MPI_File_create_errhandler, on_file, NULL);
    BAD(MPI_ERR_ARG, "NULL", MPI_Session_create_errhandler, NULL, &made);
    BAD(MPI_ERR_ARG, "NULL", MPI_Session_create_errhandler, on_session, NULL);
    OK(MPI_Win_create_errhandler(on_win, &others[0]));
    OK(MPI_File_create_errhandler(on_file, &others[1]));
    OK(MPI_Session_create_errhandler(on_session, &others[2]));
    EACH(BAD_ERRHANDLER, MPI_Errhandler, w) {
        MPI_Errhandler copy = w;
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_Comm_set_errhandler, C, w);
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_File_set_errhandler, MPI_FILE_NULL, w);
        BAD(MPI_ERR_ERRHANDLER, "errhandler is ", MPI_Errhandler_free, &copy);
    }
    for (int i = 0; i < 3; i++) BAD(MPI_ERR_ERRHANDLER, "made for", MPI_Comm_set_errhandler, C, others[i]);
    BAD(MPI_ERR_ERRHANDLER, "made for", MPI_File_set_errhandler, MPI_FILE_NULL, others[0]);
    EACH(BAD_COMM, MPI_Comm, c) {
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_set_errhandler, c, MPI_ERRORS_RETURN);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_get_errhandler, c, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_call_errhandler, c, MPI_ERR_ARG);
        BAD(MPI_ERR_FILE, " is ", MPI_File_get_errhandler, (MPI_File)c, &made);
        BAD(MPI_ERR_FILE, " is ", MPI_File_set_errhandler, (MPI_File)c, MPI_ERRORS_RETURN);
        BAD(MPI_ERR_FILE, " is ", MPI_File_call_errhandler, (MPI_File)c, MPI_ERR_ARG);
    }
    BAD(MPI_ERR_ARG, "errhandler is NULL", MPI_Comm_get_errhandler, C, NULL);
    BAD(MPI_ERR_ARG, "errhandler is NULL", MPI_File_get_errhandler, MPI_FILE_NULL, NULL);
    BAD(MPI_ERR_ARG, "errhandler is NULL", MPI_Errhandler_free, NULL);
    for (int i = 0; i < 3; i++) OK(MPI_Errhandler_free(&others[i]));
}

static void codes(void)
{
    char text[MPI_MAX_ERROR_STRING], long_text[MPI_MAX_ERROR_STRING + 1];
    int n, class, code;
    memset(long_text, 'x', sizeof long_text - 1), long_text[sizeof long_text - 1] = 0;
    const int bad[3] = {-1, 123456789, MPI_ERR_LASTCODE};
    for (int i = 0; i < 3; i++) {
        BAD(MPI_ERR_ARG, "errorcode is ", MPI_Error_class, bad[i], &n);
        BAD(MPI_ERR_ARG, "errorcode is ", MPI_Error_string, bad[i], text, &n);
        BAD(MPI_ERR_ARG, " is ", MPI_Add_error_code, bad[i], &n);
        BAD(MPI_ERR_ARG, " is ", MPI_Add_error_string, bad[i], "text");
        BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_class, bad[i]);
        BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_code, bad[i]);
        BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_string, bad[i]);
    }
    BAD(MPI_ERR_ARG, " is ", MPI_Add_error_string, MPI_ERR_ARG, "text");
    BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_class, MPI_ERR_ARG);
    BAD(MPI_ERR_ARG, "errorclass is NULL", MPI_Error_class, MPI_ERR_ARG, NULL);
    BAD(MPI_ERR_ARG, "string is NULL", MPI_Error_string, MPI_ERR_ARG, NULL, &n);
    BAD(MPI_ERR_ARG, "resultlen is NULL", MPI_Error_string, MPI_ERR_ARG, text, NULL);
    BAD(MPI_ERR_ARG, "errorclass is NULL", MPI_Add_error_class, NULL);
    BAD(MPI_ERR_ARG, "errorcode is NULL", MPI_Add_error_code, MPI_ERR_ARG, NULL);
    OK(MPI_Add_error_class(&class));
    OK(MPI_Add_error_code(class, &code));
    BAD(MPI_ERR_ARG, "string is NULL", MPI_Add_error_string, code, NULL);
    BAD(MPI_ERR_ARG, "string is ", MPI_Add_error_string, code, long_text);
    BAD(MPI_ERR_ARG, "errorclass is ", MPI_Add_error_code, code, &n);
    BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_class, class);
    BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_class, code);
    BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_code, class);
    BAD(MPI_ERR_ARG, " is ", MPI_Remove_error_string, code);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(class));
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    attributes();
    infos();
    handlers();
    codes();
    return bad_end();
}
