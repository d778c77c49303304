// ranks: 1
// only: posthaste
/* Names that MPI-3.0 removed, and which old programs still use: mpi.h has them as inline functions over what replaced
 * them. MPI_LB and MPI_UB set the bounds of a structure. */
#include "check.h"

#include <stddef.h>

/* The compiler warns of each of them; cargo xtask test --only headers checks that. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int calls;

static void note(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    calls++;
}

static void bounds_are(MPI_Datatype type, MPI_Aint lb, MPI_Aint ub)
{
    MPI_Aint found = -99;
    OK(MPI_Type_lb(type, &found));
    EQUAL(found, lb);
    OK(MPI_Type_ub(type, &found));
    EQUAL(found, ub);
    OK(MPI_Type_extent(type, &found));
    EQUAL(found, ub - lb);
}

static void constructors(void)
{
    int lengths[2] = {2, 1}, from[12], to[12];
    MPI_Aint places[2] = {0, 20}, address = 0;
    MPI_Datatype type;
    for (int i = 0; i < 12; i++) from[i] = i, to[i] = -1;
    OK(MPI_Address(&from[3], &address));
    EQUAL(address, (MPI_Aint)&from[3]);

    OK(MPI_Type_hindexed(2, lengths, places, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Sendrecv(from, 1, type, 0, 1, to, 1, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (int i = 0; i < 12; i++) EQUAL(to[i], i < 2 || i == 5 ? i : -1);
    bounds_are(type, 0, 24);
    OK(MPI_Type_free(&type));

    OK(MPI_Type_hvector(3, 1, 16, MPI_INT, &type));
    bounds_are(type, 0, 36);
    OK(MPI_Type_free(&type));
}

struct cell {
    double x;
    char c;
};

static void structures(void)
{
    int lengths[4] = {1, 1, 1, 1};
    MPI_Aint places[4] = {offsetof(struct cell, x), offsetof(struct cell, c), sizeof(struct cell), -8};
    MPI_Datatype types[4] = {MPI_DOUBLE, MPI_CHAR, MPI_UB, MPI_LB}, type, twice;
    static const MPI_Datatype constants[] = {MPI_LB, MPI_UB};
    struct cell from[3] = {{1, 'a'}, {2, 'b'}, {3, 'c'}}, to[3];
    CHECK(constants[0] == MPI_LB && constants[1] == MPI_UB && MPI_LB != MPI_UB);
    memset(to, 0, sizeof to);
    OK(MPI_Type_struct(3, lengths, places, types, &type));
    OK(MPI_Type_commit(&type));
    bounds_are(type, 0, sizeof(struct cell));
    OK(MPI_Sendrecv(from, 3, type, 0, 1, to, 3, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++) CHECK(to[i].x == from[i].x && to[i].c == from[i].c, "element %d", i);
    /* The bound sticks to what is built of it. */
    OK(MPI_Type_contiguous(2, type, &twice));
    bounds_are(twice, 0, 2 * sizeof(struct cell));
    OK(MPI_Type_free(&twice));
    OK(MPI_Type_free(&type));

    /* Both bounds; the new name of the constructor takes them, too. */
    OK(MPI_Type_create_struct(4, lengths, places, types, &type));
    bounds_are(type, -8, sizeof(struct cell));
    OK(MPI_Type_free(&type));
    /* A lower bound only: the upper one is that of the data. */
    OK(MPI_Type_struct(1, lengths + 3, places + 3, types + 3, &type));
    OK(MPI_Type_free(&type));
    places[1] = -4;
    types[1] = MPI_LB;
    OK(MPI_Type_struct(2, lengths, places, types, &type));
    bounds_are(type, -4, 8);
    OK(MPI_Type_free(&type));
    /* They are markers and no types. */
    REFUSED(MPI_Type_contiguous(1, MPI_UB, &type), MPI_ERR_TYPE);
}

static void handlers(void)
{
    MPI_Handler_function *function = note;
    MPI_Errhandler handler, found;
    OK(MPI_Errhandler_create(function, &handler));
    OK(MPI_Errhandler_set(MPI_COMM_WORLD, handler));
    OK(MPI_Errhandler_get(MPI_COMM_WORLD, &found));
    CHECK(found == handler);
    REFUSED(MPI_Send(NULL, 0, MPI_INT, 99, 0, MPI_COMM_WORLD), MPI_ERR_RANK);
    EQUAL(calls, 1);
    OK(MPI_Errhandler_set(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Errhandler_free(&handler));
}

/* No type has these combiners any more; programs that take types apart name them in a switch. */
static int combiner_is_known(int combiner)
{
    switch (combiner) {
    case MPI_COMBINER_HVECTOR_INTEGER:
    case MPI_COMBINER_HINDEXED_INTEGER:
    case MPI_COMBINER_STRUCT_INTEGER:
        return 0;
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        return 1;
    default:
        return -1;
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    constructors();
    structures();
    handlers();
    EQUAL(combiner_is_known(MPI_COMBINER_STRUCT), 1);
    EQUAL(combiner_is_known(MPI_COMBINER_STRUCT_INTEGER), 0);
    return check_end();
}
