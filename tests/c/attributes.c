// ranks: 1 3
/* Attributes on communicators and datatypes: copy and delete callbacks, dup copies, free deletes, an error from a
 * callback comes back, predefined attributes. MPI-5.0 section 7.7. */
#include "check.h"

static int copies, deletes, refuse;

static int copy_it(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm;
    (void)key;
    copies++;
    CHECK(*(int *)extra == 42);
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete_it(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm;
    (void)key;
    (void)value;
    CHECK(*(int *)extra == 42);
    deletes++;
    return MPI_SUCCESS;
}

static int type_copies, type_deletes;

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type;
    (void)key;
    (void)extra;
    type_copies++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type;
    (void)key;
    (void)value;
    (void)extra;
    type_deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    static char cells[10];
    int key = MPI_KEYVAL_INVALID, plain = MPI_KEYVAL_INVALID, flag = -1, extra = 42, *number;
    void *value = NULL;
    MPI_Comm first, second, third;
    MPI_Datatype type, type_copy;
    check_start(&argc, &argv);

    OK(MPI_Comm_create_keyval(copy_it, delete_it, &key, &extra));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &plain, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &first));
    OK(MPI_Comm_get_attr(first, key, &value, &flag));
    EQUAL(flag, 0);
    OK(MPI_Comm_set_attr(first, key, cells));
    OK(MPI_Comm_set_attr(first, plain, cells + 5));
    OK(MPI_Comm_get_attr(first, key, &value, &flag));
    CHECK(flag && value == cells);
    OK(MPI_Comm_dup(first, &second));
    EQUAL(copies, 1);
    OK(MPI_Comm_get_attr(second, key, &value, &flag));
    CHECK(flag && value == cells + 1);
    OK(MPI_Comm_get_attr(second, plain, &value, &flag));
    EQUAL(flag, 0);
    /* Setting anew deletes the old value. */
    OK(MPI_Comm_set_attr(second, key, cells + 3));
    EQUAL(deletes, 1);
    OK(MPI_Comm_delete_attr(second, key));
    EQUAL(deletes, 2);
    OK(MPI_Comm_get_attr(second, key, &value, &flag));
    EQUAL(flag, 0);
    OK(MPI_Comm_free(&second));
    EQUAL(deletes, 2);
    refuse = 1;
    CHECK(MPI_Comm_dup(first, &third) != MPI_SUCCESS);
    refuse = 0;
    /* The key may be freed while attributes with it live. */
    int old = key;
    OK(MPI_Comm_free_keyval(&key));
    EQUAL(key, MPI_KEYVAL_INVALID);
    OK(MPI_Comm_get_attr(first, old, &value, &flag));
    CHECK(flag && value == cells);
    OK(MPI_Comm_free(&first));
    EQUAL(deletes, 3);
    OK(MPI_Comm_free_keyval(&plain));
    REFUSED(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, cells), MPI_ERR_KEYVAL);

    OK(MPI_Type_create_keyval(copy_type, delete_type, &key, NULL));
    OK(MPI_Type_contiguous(2, MPI_INT, &type));
    OK(MPI_Type_set_attr(type, key, cells));
    OK(MPI_Type_dup(type, &type_copy));
    EQUAL(type_copies, 1);
    OK(MPI_Type_get_attr(type_copy, key, &value, &flag));
    CHECK(flag && value == cells);
    OK(MPI_Type_free(&type_copy));
    OK(MPI_Type_free(&type));
    EQUAL(type_deletes, 2);
    OK(MPI_Type_free_keyval(&key));

    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag));
    CHECK(flag && *number >= 32767);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &flag));
    if (flag) CHECK(*number >= 1);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &number, &flag));
    MPI_Comm node;
    int of_node;
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    OK(MPI_Comm_size(node, &of_node));
    OK(MPI_Comm_free(&node));
    CHECK(flag && *number == (of_node == size), "the clock is global: %d, of %d ranks %d are on this node", *number, size, of_node);

    /* Attributes of MPI_COMM_SELF are deleted by MPI_Finalize, before anything else. */
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_it, &key, &extra));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, cells));
    deletes = 0;
    check_end();
    EQUAL(deletes, 1);
    return 0;
}
