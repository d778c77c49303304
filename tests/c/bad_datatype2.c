// ranks: 1 2
// only: posthaste
// alone
/* Wrong arguments of the constructors of arrays and Fortran kinds, types that may not be used or freed, and counts that
 * no status can hold. MPI-5.0 sections 3.2.2, 5.1, 13.3 and 19.1.5. */
#include "bad_check.h"

static MPI_Datatype t;

/* A correct call, of which each argument in turn is wrong. */
static int sizes[2] = {6, 8}, distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC};
static int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 3};
static MPI_Count sizes_c[2] = {6, 8};

#define DARRAY(class, says, size, rank, ndims, g, d, a, p, order, type, to)                              \
    do {                                                                                                 \
        MPI_Count big_[2], *c_ = NULL;                                                                   \
        const int *g_ = g;                                                                               \
        if (g_) for (int i = 0; i < 2; i++) (c_ = big_)[i] = g_[i];                                      \
        BAD(class, says, MPI_Type_create_darray, size, rank, ndims, g, d, a, p, order, type, to);        \
        BAD(class, says, MPI_Type_create_darray_c, size, rank, ndims, c_, d, a, p, order, type, to);     \
    } while (0)
#define PAIR(a, b) ((int[2]){a, b})

static void distributed_arrays(void)
{
    const int c = MPI_ORDER_C, arg = MPI_ERR_ARG;
    OK(MPI_Type_create_darray(6, 5, 2, sizes, distribs, dargs, grid, c, MPI_INT, &t));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_create_darray_c(6, 5, 2, sizes_c, distribs, dargs, grid, c, MPI_INT, &t));
    OK(MPI_Type_free(&t));
    DARRAY(arg, "size is 0,", 0, 0, 2, sizes, distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "size is -6,", -6, 0, 2, sizes, distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(MPI_ERR_RANK, "rank is 6, expected 0..=5", 6, 6, 2, sizes, distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(MPI_ERR_RANK, "rank is -1, expected 0..=5", 6, -1, 2, sizes, distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "ndims is 0,", 6, 5, 0, sizes, distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "ndims is -1,", 6, 5, -1, sizes, distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_gsizes is 0 in dimension 1,", 6, 5, 2, PAIR(6, 0), distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_gsizes is -7 in dimension 0,", 6, 5, 2, PAIR(-7, 8), distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_distribs is 99 in dimension 1,", 6, 5, 2, sizes, PAIR(17, 99), dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_distribs is 19 in dimension 0,", 6, 5, 2, sizes, PAIR(MPI_DISTRIBUTE_DFLT_DARG, 17), dargs, grid, c,
           MPI_INT, &t);
    DARRAY(arg, "array_of_dargs is 0 in dimension 0,", 6, 5, 2, sizes, distribs, PAIR(0, 2), grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_dargs is -2 in dimension 1,", 6, 5, 2, sizes, distribs, PAIR(3, -2), grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_dargs is 2 in dimension 0, expected blocks that hold all 6 indices on 2 processes", 6, 5, 2, sizes,
           distribs, PAIR(2, 2), grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_psizes is 0 in dimension 0,", 6, 5, 2, sizes, distribs, dargs, PAIR(0, 3), c, MPI_INT, &t);
    DARRAY(arg, "array_of_psizes is -3 in dimension 1,", 6, 5, 2, sizes, distribs, dargs, PAIR(2, -3), c, MPI_INT, &t);
    DARRAY(arg, "array_of_psizes is a grid of 4 processes, expected a grid of size = 6 processes", 6, 5, 2, sizes, distribs,
           dargs, PAIR(2, 2), c, MPI_INT, &t);
    DARRAY(arg, "array_of_psizes is 2 in dimension 0, expected 1 where", 6, 5, 2, sizes, PAIR(MPI_DISTRIBUTE_NONE, 17), dargs,
           grid, c, MPI_INT, &t);
    DARRAY(arg, "order is 12345,", 6, 5, 2, sizes, distribs, dargs, grid, 12345, MPI_INT, &t);
    DARRAY(arg, "array_of_gsizes is NULL", 6, 5, 2, NULL, distribs, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_distribs is NULL", 6, 5, 2, sizes, NULL, dargs, grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_dargs is NULL", 6, 5, 2, sizes, distribs, NULL, grid, c, MPI_INT, &t);
    DARRAY(arg, "array_of_psizes is NULL", 6, 5, 2, sizes, distribs, dargs, NULL, c, MPI_INT, &t);
    DARRAY(arg, "newtype is NULL", 6, 5, 2, sizes, distribs, dargs, grid, c, MPI_INT, NULL);
    EACH(BAD_TYPE, MPI_Datatype, w) {
        DARRAY(MPI_ERR_TYPE, "oldtype is ", 6, 5, 2, sizes, distribs, dargs, grid, c, w, &t);
    }
    sizes_c[0] = sizes_c[1] = INT64_MAX / 4;
    BAD(MPI_ERR_ARG, "array_of_gsizes is ", MPI_Type_create_darray_c, 6, 5, 2, sizes_c, distribs, dargs, grid, c, MPI_INT, &t);
    sizes_c[0] = 6, sizes_c[1] = 8;
}

static void subarrays(void)
{
    const MPI_Count whole[2] = {4, 4}, part[2] = {2, 2}, from[2] = {1, 2};
#define SUB(says, ndims, s, p, f) \
    BAD(MPI_ERR_ARG, says, MPI_Type_create_subarray_c, ndims, s, p, f, MPI_ORDER_C, MPI_INT, &t)
#define COUNTS(a, b) ((MPI_Count[2]){a, b})
    SUB("ndims is 0,", 0, whole, part, from);
    SUB("ndims is -1,", -1, whole, part, from);
    SUB("array_of_sizes is 0 in dimension 1,", 2, COUNTS(4, 0), part, from);
    SUB("array_of_subsizes is 5 in dimension 1,", 2, whole, COUNTS(2, 5), from);
    SUB("array_of_subsizes is 0 in dimension 0,", 2, whole, COUNTS(0, 2), from);
    SUB("array_of_subsizes is -2 in dimension 0,", 2, whole, COUNTS(-2, 2), from);
    SUB("array_of_starts is 3 in dimension 1, expected 0 to 2 (size 4 minus subsize 2)", 2, whole, part, COUNTS(1, 3));
    SUB("array_of_starts is -1 in dimension 0,", 2, whole, part, COUNTS(-1, 0));
    SUB("array_of_sizes is NULL", 2, NULL, part, from);
    SUB("array_of_subsizes is NULL", 2, whole, NULL, from);
    SUB("array_of_starts is NULL", 2, whole, part, NULL);
    BAD(MPI_ERR_ARG, "order is 0,", MPI_Type_create_subarray_c, 2, whole, part, from, 0, MPI_INT, &t);
    BAD(MPI_ERR_ARG, "array_of_sizes is ", MPI_Type_create_subarray_c, 2, COUNTS(INT64_MAX, INT64_MAX), part, from,
        MPI_ORDER_C, MPI_INT, &t);
}

static void fortran_kinds(void)
{
    MPI_Datatype real;
    int ints[2];
    BAD(MPI_ERR_ARG, "p is 34,", MPI_Type_create_f90_real, 34, 10, &t);
    BAD(MPI_ERR_ARG, "p is -1,", MPI_Type_create_f90_real, -1, 10, &t);
    BAD(MPI_ERR_ARG, "r is 5000,", MPI_Type_create_f90_real, 6, 5000, &t);
    BAD(MPI_ERR_ARG, "p is MPI_UNDEFINED,", MPI_Type_create_f90_real, MPI_UNDEFINED, MPI_UNDEFINED, &t);
    BAD(MPI_ERR_ARG, "p is 34,", MPI_Type_create_f90_complex, 34, 10, &t);
    BAD(MPI_ERR_ARG, "r is -2,", MPI_Type_create_f90_complex, 6, -2, &t);
    BAD(MPI_ERR_ARG, "r is 39,", MPI_Type_create_f90_integer, 39, &t);
    BAD(MPI_ERR_ARG, "r is -1,", MPI_Type_create_f90_integer, -1, &t);
    CHECK(t == MPI_DATATYPE_NULL);
    BAD(MPI_ERR_ARG, "newtype is NULL", MPI_Type_create_f90_real, 6, 37, NULL);
    BAD(MPI_ERR_ARG, "newtype is NULL", MPI_Type_create_f90_complex, 6, 37, NULL);
    BAD(MPI_ERR_ARG, "newtype is NULL", MPI_Type_create_f90_integer, 6, NULL);
    OK(MPI_Type_create_f90_real(6, 37, &real));
    t = real;
    BAD(MPI_ERR_TYPE, "the predefined MPI_Type_create_f90_real", MPI_Type_free, &t);
    CHECK(t == real);
    BAD(MPI_ERR_ARG, "max_integers is 1, expected 2 or more", MPI_Type_get_contents, real, 1, 0, 0, ints, NULL, NULL);
    OK(MPI_Type_create_f90_complex(6, 37, &t));
    BAD(MPI_ERR_OP, "complex", MPI_Reduce_local, ints, ints, 0, t, MPI_MAX);
    BAD(MPI_ERR_ARG, "typeclass is 0,", MPI_Type_match_size, 0, 4, &t);
    BAD(MPI_ERR_ARG, "size is 0,", MPI_Type_match_size, MPI_TYPECLASS_REAL, 0, &t);
    BAD(MPI_ERR_ARG, "size is 10,", MPI_Type_match_size, MPI_TYPECLASS_REAL, 10, &t);
}

/* A type that must not be used for communication, in all kinds of calls. */
static void refused_everywhere(const char *says, MPI_Datatype type)
{
    int from[8] = {0}, to[8] = {0}, position = 0, one = 1, none = 0;
    MPI_Request request;
    BAD(MPI_ERR_TYPE, says, MPI_Send, from, 1, type, 0, 1, MPI_COMM_SELF);
    BAD(MPI_ERR_TYPE, says, MPI_Ssend, from, 1, type, 0, 1, MPI_COMM_SELF);
    BAD(MPI_ERR_TYPE, says, MPI_Isend, from, 1, type, 0, 1, MPI_COMM_SELF, &request);
    BAD(MPI_ERR_TYPE, says, MPI_Send_init, from, 1, type, 0, 1, MPI_COMM_SELF, &request);
    BAD(MPI_ERR_TYPE, says, MPI_Recv, to, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    BAD(MPI_ERR_TYPE, says, MPI_Irecv, to, 1, type, 0, 1, MPI_COMM_SELF, &request);
    BAD(MPI_ERR_TYPE, says, MPI_Recv_init, to, 1, type, 0, 1, MPI_COMM_SELF, &request);
    BAD(MPI_ERR_TYPE, says, MPI_Sendrecv, from, 1, type, 0, 1, to, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    BAD(MPI_ERR_TYPE, says, MPI_Sendrecv, from, 1, MPI_INT, 0, 1, to, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    BAD(MPI_ERR_TYPE, says, MPI_Bcast, to, 1, type, 0, MPI_COMM_SELF);
    BAD(MPI_ERR_TYPE, says, MPI_Gather, from, 1, type, to, 1, MPI_INT, 0, MPI_COMM_SELF);
    BAD(MPI_ERR_TYPE, says, MPI_Allgather, from, 1, MPI_INT, to, 1, type, MPI_COMM_SELF);
    BAD(MPI_ERR_TYPE, says, MPI_Alltoallw, from, &one, &none, &type, to, &one, &none, &type, MPI_COMM_SELF);
    BAD(MPI_ERR_TYPE, says, MPI_Ibcast, to, 1, type, 0, MPI_COMM_SELF, &request);
    BAD(MPI_ERR_TYPE, says, MPI_Pack, from, 1, type, to, sizeof to, &position, MPI_COMM_SELF);
    BAD(MPI_ERR_TYPE, says, MPI_Unpack, from, sizeof from, &position, to, 1, type, MPI_COMM_SELF);
    for (int i = 0; i < 8; i++) EQUAL(to[i], 0);
}

static void not_for_use(void)
{
    MPI_Datatype type, copy;
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &type));
    refused_everywhere("the uncommitted type MPI_Type_vector (size 8,", type);
    OK(MPI_Type_set_name(type, "my columns"));
    refused_everywhere("the uncommitted type my columns (size 8,", type);
    OK(MPI_Type_dup(type, &copy));
    refused_everywhere("the uncommitted type MPI_Type_dup (size 8,", copy);
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_commit(&type));
    copy = type;
    OK(MPI_Type_free(&type));
    refused_everywhere("(a datatype that was freed)", copy);
    refused_everywhere("MPI_DATATYPE_NULL", MPI_DATATYPE_NULL);
    refused_everywhere("(no handle of this library)", (MPI_Datatype)(uintptr_t)0xdeadbeef);
    BAD(MPI_ERR_TYPE, "(a datatype that was freed)", MPI_Type_free, &copy);
    BAD(MPI_ERR_TYPE, "(a datatype that was freed)", MPI_Type_commit, &copy);
    BAD(MPI_ERR_TYPE, "datatype is MPI_DATATYPE_NULL", MPI_Type_free, &type);
}

static void predefined_types_stay(void)
{
    const MPI_Datatype some[] = {MPI_CHAR, MPI_BYTE, MPI_PACKED, MPI_DOUBLE_INT, MPI_INTEGER16, MPI_CXX_BOOL, MPI_COUNT};
    char says[200], name[MPI_MAX_OBJECT_NAME];
    int n;
    for (unsigned i = 0; i < sizeof some / sizeof *some; i++) {
        t = some[i];
        OK(MPI_Type_get_name(t, name, &n));
        snprintf(says, sizeof says, "the predefined %s", name);
        BAD(MPI_ERR_TYPE, says, MPI_Type_free, &t);
        CHECK(t == some[i]);
        BAD(MPI_ERR_TYPE, says, MPI_Type_get_contents, t, 1, 1, 1, &n, NULL, NULL);
    }
}

static void statuses(void)
{
    MPI_Status status;
    int n = -1;
    MPI_Count c = -1;
    OK(MPI_Status_set_elements(&status, MPI_INT, 3));
    BAD(MPI_ERR_COUNT, "count is -1,", MPI_Status_set_elements, &status, MPI_INT, -1);
    BAD(MPI_ERR_COUNT, "count is -1,", MPI_Status_set_elements_c, &status, MPI_INT, -1);
    BAD(MPI_ERR_COUNT, "count is -1,", MPI_Status_set_elements_x, &status, MPI_INT, -1);
    BAD(MPI_ERR_COUNT, "count is 4611686018427387904,", MPI_Status_set_elements_c, &status, MPI_INT, 1LL << 62);
    OK(MPI_Type_contiguous(0, MPI_INT, &t));
    BAD(MPI_ERR_COUNT, "count is 1, expected 0,", MPI_Status_set_elements, &status, t, 1);
    OK(MPI_Type_free(&t));
    EACH(BAD_TYPE, MPI_Datatype, w) {
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Status_set_elements, &status, w, 1);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_count, &status, w, &n);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_elements, &status, w, &n);
        BAD(MPI_ERR_TYPE, "datatype is ", MPI_Get_elements_x, &status, w, &c);
    }
    OK(MPI_Get_count(&status, MPI_INT, &n));
    EQUAL(n, 3);
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    distributed_arrays();
    subarrays();
    fortran_kinds();
    not_for_use();
    predefined_types_stay();
    statuses();
    return bad_end();
}
