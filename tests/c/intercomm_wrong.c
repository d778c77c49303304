// ranks: 2 5
// only: posthaste
/* Every argument of the functions for intercommunicators wrong in turn, and what collective operations refuse there.
 * MPI-5.0 sections 6.2.3 and 7.6. */
#include "groups_check.h"

static void wrong(void)
{
    int x = 0, y = 0, *in_place = MPI_IN_PLACE;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Group group;
    REFUSED(MPI_Send(&x, 1, MPI_INT, remote_size, 1, inter), MPI_ERR_RANK);
    REFUSED(MPI_Recv(&x, 1, MPI_INT, remote_size, 1, inter, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    REFUSED(MPI_Comm_remote_size(MPI_COMM_WORLD, &x), MPI_ERR_COMM);
    REFUSED(MPI_Comm_remote_size(MPI_COMM_NULL, &x), MPI_ERR_COMM);
    REFUSED(MPI_Comm_remote_size(inter, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Comm_remote_group(MPI_COMM_WORLD, &group), MPI_ERR_COMM);
    REFUSED(MPI_Comm_remote_group(inter, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Comm_test_inter(MPI_COMM_NULL, &x), MPI_ERR_COMM);
    REFUSED(MPI_Comm_test_inter(inter, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Intercomm_merge(MPI_COMM_WORLD, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Intercomm_merge(MPI_COMM_NULL, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Intercomm_merge(inter, 0, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Intercomm_create(MPI_COMM_NULL, 0, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &comm), MPI_ERR_COMM);
    CHECK(comm == MPI_COMM_NULL, "a communicator was made");
    REFUSED(MPI_Intercomm_create(half, local_size, MPI_COMM_WORLD, !right, 0, &comm), MPI_ERR_RANK);
    REFUSED(MPI_Intercomm_create(half, -1, MPI_COMM_WORLD, !right, 0, &comm), MPI_ERR_RANK);
    REFUSED(MPI_Intercomm_create(half, 0, MPI_COMM_NULL, !right, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, size, 0, &comm), MPI_ERR_RANK);
    REFUSED(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, MPI_PROC_NULL, 0, &comm), MPI_ERR_RANK);
    REFUSED(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, right, 0, &comm), MPI_ERR_RANK);
    REFUSED(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !right, -1, &comm), MPI_ERR_TAG);
    REFUSED(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !right, 0, NULL), MPI_ERR_ARG);
    REFUSED(MPI_Bcast(&x, 1, MPI_INT, remote_size, inter), MPI_ERR_ROOT);
    REFUSED(MPI_Bcast(&x, 1, MPI_INT, -9, inter), MPI_ERR_ROOT);
    REFUSED(MPI_Bcast(&x, 1, MPI_INT, MPI_ROOT, half), MPI_ERR_ROOT);
    REFUSED(MPI_Bcast(&x, -1, MPI_INT, MPI_ROOT, inter), MPI_ERR_COUNT);
    REFUSED(MPI_Gather(&x, 1, MPI_INT, &y, 1, MPI_INT, remote_size, inter), MPI_ERR_ROOT);
    REFUSED(MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, -9, inter), MPI_ERR_ROOT);
    REFUSED(MPI_Allreduce(in_place, &x, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_BUFFER);
    REFUSED(MPI_Allgather(in_place, 1, MPI_INT, &x, 1, MPI_INT, inter), MPI_ERR_BUFFER);
    REFUSED(MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    REFUSED(MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, inter), MPI_ERR_COMM);
    REFUSED(MPI_Comm_create_group(inter, MPI_GROUP_EMPTY, 0, &comm), MPI_ERR_COMM);
    REFUSED(MPI_Cart_create(inter, 1, (int[]){1}, (int[]){0}, 0, &comm), MPI_ERR_COMM);
    /* Who is not the root in its group gives nothing. */
    OK(MPI_Bcast(right || mine == 0 ? &x : NULL, right || mine == 0 ? 1 : -1, MPI_INT, right ? 0 : mine == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    if (right || mine == 0) OK(MPI_Reduce(&(int){1}, &x, 1, MPI_INT, MPI_SUM, right ? 0 : MPI_ROOT, inter));
    else OK(MPI_Reduce(NULL, NULL, -1, MPI_DATATYPE_NULL, MPI_OP_NULL, MPI_PROC_NULL, inter));
    /* All of that changed nothing. */
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 2, &x, 1, MPI_INT, mine == 0 ? MPI_ANY_SOURCE : MPI_PROC_NULL, 2, inter,
                    MPI_STATUS_IGNORE));
    for (int i = 1; mine == 0 && i < remote_size; i++)
        OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 2, inter, MPI_STATUS_IGNORE));
    OK(MPI_Allreduce(&(int){1}, &x, 1, MPI_INT, MPI_SUM, inter));
    EQUAL(x, remote_size);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    make_groups();
    wrong();
    return check_end();
}
