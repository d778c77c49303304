// ranks: 2
// alone
/* Wrong arguments give an error code of the right class and the name of the call, and change nothing.
 * Ranks, tags, counts, null handles and garbage handles. MPI-5.0 sections 3.2, 9.4. */
#include "check.h"

#include <stdint.h>

#define GARBAGE(type, value) ((type)(uintptr_t)(value))

static int value = 5;

static void point_to_point(void)
{
    MPI_Comm w = MPI_COMM_WORLD;
    MPI_Request r = MPI_REQUEST_NULL;
    int flag, *ub = NULL, found = 0;
    REFUSED(MPI_Send(&value, 1, MPI_INT, size, 1, w), MPI_ERR_RANK);
    REFUSED(MPI_Send(&value, 1, MPI_INT, -7, 1, w), MPI_ERR_RANK);
    REFUSED(MPI_Send(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, w), MPI_ERR_RANK);
    REFUSED(MPI_Send(&value, 1, MPI_INT, 0, -5, w), MPI_ERR_TAG);
    REFUSED(MPI_Send(&value, 1, MPI_INT, 0, MPI_ANY_TAG, w), MPI_ERR_TAG);
    REFUSED(MPI_Send(&value, -1, MPI_INT, 0, 1, w), MPI_ERR_COUNT);
    REFUSED(MPI_Send(&value, 1, MPI_DATATYPE_NULL, 0, 1, w), MPI_ERR_TYPE);
    REFUSED(MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_NULL), MPI_ERR_COMM);
    REFUSED(MPI_Isend(&value, 1, MPI_INT, size, 1, w, &r), MPI_ERR_RANK);
    REFUSED(MPI_Isend(&value, 1, MPI_INT, 0, -5, w, &r), MPI_ERR_TAG);
    REFUSED(MPI_Recv(&value, 1, MPI_INT, size, 1, w, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    REFUSED(MPI_Recv(&value, 1, MPI_INT, 0, -7, w, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    REFUSED(MPI_Recv(&value, -3, MPI_INT, 0, 1, w, MPI_STATUS_IGNORE), MPI_ERR_COUNT);
    REFUSED(MPI_Irecv(&value, 1, MPI_INT, size + 10, 1, w, &r), MPI_ERR_RANK);
    REFUSED(MPI_Irecv(&value, 1, MPI_DATATYPE_NULL, 0, 1, w, &r), MPI_ERR_TYPE);
    REFUSED(MPI_Probe(size, 1, w, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    REFUSED(MPI_Iprobe(0, -7, w, &flag, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    OK(MPI_Comm_get_attr(w, MPI_TAG_UB, &ub, &found));
    CHECK(found && *ub >= 32767);
    if (*ub < 2147483647) REFUSED(MPI_Send(&value, 1, MPI_INT, 0, *ub + 1, w), MPI_ERR_TAG);
    /* The largest legal tag works. */
    OK(MPI_Irecv(&flag, 1, MPI_INT, rank, *ub, w, &r));
    OK(MPI_Send(&value, 1, MPI_INT, rank, *ub, w));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    EQUAL(flag, 5);
}

static void others(void)
{
    MPI_Comm c;
    MPI_Group g, world;
    MPI_Datatype t;
    int sum, zero = 0, twice[2] = {0, 0}, far = size;
    REFUSED(MPI_Bcast(&value, 1, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    REFUSED(MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, -1, MPI_COMM_SELF), MPI_ERR_ROOT);
    REFUSED(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_OP_NULL, MPI_COMM_SELF), MPI_ERR_OP);
    REFUSED(MPI_Allreduce(&value, &sum, -1, MPI_INT, MPI_SUM, MPI_COMM_SELF), MPI_ERR_COUNT);
    REFUSED(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
    REFUSED(MPI_Barrier(MPI_COMM_NULL), MPI_ERR_COMM);
    REFUSED(MPI_Comm_dup(MPI_COMM_NULL, &c), MPI_ERR_COMM);
    REFUSED(MPI_Comm_size(MPI_COMM_NULL, &sum), MPI_ERR_COMM);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    REFUSED(MPI_Group_incl(world, 1, &far, &g), MPI_ERR_RANK);
    REFUSED(MPI_Group_incl(world, 2, twice, &g), MPI_ERR_RANK);
    REFUSED(MPI_Group_size(MPI_GROUP_NULL, &sum), MPI_ERR_GROUP);
    OK(MPI_Group_free(&world));
    REFUSED(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_ERR_COUNT);
    REFUSED(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_ERR_ARG);
    REFUSED(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    t = MPI_DATATYPE_NULL;
    REFUSED(MPI_Type_commit(&t), MPI_ERR_TYPE);
    (void)zero;
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    point_to_point();
    others();
    EQUAL(value, 5);
    return check_end();
}
