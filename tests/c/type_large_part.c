// ranks: 2
// timeout: 120
// only: posthaste
/* A message much shorter than the vector of 3 x 2^30 elements that receives it; other implementations fail.
 * MPI-5.0 sections 3.2.4 and 5.1. */
#include "large_check.h"

/* A message much shorter than the vector that receives it. */
static void in_part(MPI_Datatype vector)
{
    MPI_Status status;
    MPI_Count count = -1;
    static int plain[PIECE];
    for (int i = 0; i < PIECE; i++) plain[i] = 7 * i;
    if (rank == 0) OK(MPI_Send(plain, PIECE, MPI_INT, 1, 1, MPI_COMM_WORLD));
    if (rank == 1) {
        OK(MPI_Recv(region, 1, vector, 0, 1, MPI_COMM_WORLD, &status));
        OK(MPI_Get_elements_x(&status, vector, &count));
        EQUAL(count, PIECE);
        for (int i = 0; i < PIECE; i++) CHECK(region[2 * i] == 7 * i && region[2 * i + 1] == 0, "element %d", i);
        CHECK(region[2 * PIECE] == 0);
    }
}

int main(int argc, char **argv)
{
    MPI_Datatype vector;
    check_start(&argc, &argv);
    reserve();
    OK(MPI_Type_vector_c(many, 1, 2, MPI_INT, &vector));
    OK(MPI_Type_commit(&vector));
    in_part(vector);
    OK(MPI_Type_free(&vector));
    check_memory();
    return check_end();
}
