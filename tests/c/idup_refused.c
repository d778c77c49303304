// ranks: 1
/* MPI_Comm_idup that an attribute's copy function refuses leaves nothing behind, however often: there are fewer handles
 * than calls here. MPI-5.0 sections 7.4.2 and 7.7.2. */
#include "check.h"

static int answer, deleted;

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return answer;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    deleted++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    int key, length, value = 1;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm comm, made;
    MPI_Request request;
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    OK(MPI_Comm_create_keyval(copy, delete, &key, NULL));
    OK(MPI_Comm_set_attr(comm, key, &value));
    answer = MPI_ERR_OTHER;
    for (int i = 0; i < 600000; i++) EQUAL(MPI_Comm_idup(comm, &made, &request), MPI_ERR_OTHER);
    EQUAL(deleted, 0);
    /* Nor does the sentence of one failure carry those of all before. */
    OK(MPI_Error_string(MPI_ERR_OTHER, text, &length));
    CHECK(length < MPI_MAX_ERROR_STRING / 2, "%s", text);
    answer = MPI_SUCCESS;
    OK(MPI_Comm_idup(comm, &made, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_Comm_free(&made));
    EQUAL(deleted, 1);
    OK(MPI_Comm_free(&comm));
    EQUAL(deleted, 2);
    OK(MPI_Comm_free_keyval(&key));
    return check_end();
}
