/* Attributes that Fortran sets and C reads, and the other way round. MPI-5.0 section 19.3.7. */
#include <mpi.h>
#include <stdint.h>

/* What of Fortran names an object by its number. */
enum { COMM, TYPE, WIN };

static int get(int kind, MPI_Fint object, int keyval, void *value)
{
    int flag = 0, code = kind == COMM   ? MPI_Comm_get_attr(MPI_Comm_f2c(object), keyval, value, &flag)
                         : kind == TYPE ? MPI_Type_get_attr(MPI_Type_f2c(object), keyval, value, &flag)
                                        : MPI_Win_get_attr(MPI_Win_f2c(object), keyval, value, &flag);
    return code == MPI_SUCCESS && flag;
}

/* What Fortran has set is an MPI_Aint in memory of MPI. */
int reads(const int *kind, const MPI_Fint *object, const int *keyval, const MPI_Aint *wanted)
{
    MPI_Aint *value = 0;
    return get(*kind, *object, *keyval, &value) && *value == *wanted;
}

/* What MPI_ATTR_PUT has set is an int there. */
int reads_int(const MPI_Fint *object, const int *keyval, const int *wanted)
{
    int *value = 0;
    return get(COMM, *object, *keyval, &value) && *value == *wanted;
}

/* What C has set is the address itself. */
int reads_address(const int *kind, const MPI_Fint *object, const int *keyval, const MPI_Aint *wanted)
{
    void *value = 0;
    return get(*kind, *object, *keyval, &value) && (MPI_Aint)(intptr_t)value == *wanted;
}

void sets(const int *kind, const MPI_Fint *object, const int *keyval, const MPI_Aint *address)
{
    void *value = (void *)(intptr_t)*address;
    if (*kind == COMM) MPI_Comm_set_attr(MPI_Comm_f2c(*object), *keyval, value);
    if (*kind == TYPE) MPI_Type_set_attr(MPI_Type_f2c(*object), *keyval, value);
    if (*kind == WIN) MPI_Win_set_attr(MPI_Win_f2c(*object), *keyval, value);
}

static MPI_Aint last_deleted;

static int copies(MPI_Comm of, int keyval, void *extra, void *value, void *copy, int *flag)
{
    *(void **)copy = value;
    *flag = 1;
    return *(MPI_Aint *)value == *(MPI_Aint *)extra ? MPI_SUCCESS : MPI_ERR_OTHER;
}

static int deletes(MPI_Comm of, int keyval, void *value, void *extra)
{
    last_deleted = *(MPI_Aint *)value;
    return MPI_SUCCESS;
}

/* A key of C, whose functions expect this value, or that of MPI alone. */
int key_of_c(const MPI_Aint *expected)
{
    static MPI_Aint extra;
    int keyval = MPI_KEYVAL_INVALID;
    extra = *expected;
    MPI_Comm_create_keyval(copies, deletes, &keyval, &extra);
    return keyval;
}

int plain_key_of_c(void)
{
    int keyval = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, 0);
    return keyval;
}

MPI_Aint deleted_in_c(void)
{
    return last_deleted;
}
