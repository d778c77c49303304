// ranks: 2
// timeout: 90
/* A type may be freed as soon as the call that uses it has returned: pending sends and receives, persistent requests,
 * collective operations and types made from it keep what they need. MPI-5.0 section 5.1.9. */
#include "check.h"

enum { SHORT = 100, LONG = 60000 };

static int out[2 * LONG], in[2 * LONG];

static void fill(int count)
{
    for (int i = 0; i < 2 * count; i++) {
        out[i] = 1000 * rank + i;
        in[i] = -1;
    }
}

static void arrived(int count, int from)
{
    for (int i = 0; i < 2 * count; i++)
        CHECK(in[i] == (i % 2 ? -1 : 1000 * from + i), "int %d is %d", i, in[i]);
}

static MPI_Datatype every_other(int count)
{
    MPI_Datatype type;
    OK(MPI_Type_vector(count, 1, 2, MPI_INT, &type));
    OK(MPI_Type_commit(&type));
    return type;
}

/* New types where the freed one was, should its place be used again. */
static void others(void)
{
    MPI_Datatype types[50];
    for (int i = 0; i < 50; i++) {
        OK(MPI_Type_contiguous(3 + i, MPI_CHAR, &types[i]));
        OK(MPI_Type_commit(&types[i]));
    }
    for (int i = 0; i < 50; i++) OK(MPI_Type_free(&types[i]));
}

static void pending(int count)
{
    MPI_Datatype type = every_other(count);
    MPI_Request requests[2];
    fill(count);
    OK(MPI_Irecv(in, 1, type, 1 - rank, 1, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Isend(out, 1, type, 1 - rank, 1, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Type_free(&type));
    others();
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    arrived(count, 1 - rank);
}

static void unexpected(int count)
{
    MPI_Datatype type = every_other(count);
    MPI_Request request;
    fill(count);
    OK(MPI_Isend(out, 1, type, 1 - rank, 2, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&type));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    others();
    type = every_other(count);
    OK(MPI_Recv(in, 1, type, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&type));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    arrived(count, 1 - rank);
}

static void persistent(int count)
{
    MPI_Datatype type = every_other(count);
    MPI_Request requests[2];
    OK(MPI_Recv_init(in, 1, type, 1 - rank, 3, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send_init(out, 1, type, 1 - rank, 3, MPI_COMM_WORLD, &requests[1]));
    OK(MPI_Type_free(&type));
    for (int i = 0; i < 3; i++) {
        others();
        fill(count);
        OK(MPI_Startall(2, requests));
        OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        arrived(count, 1 - rank);
    }
    OK(MPI_Request_free(&requests[0]));
    OK(MPI_Request_free(&requests[1]));
}

static void collective(int count)
{
    MPI_Datatype type = every_other(count);
    MPI_Request request;
    fill(count);
    OK(MPI_Ibcast(rank == 0 ? out : in, 1, type, 0, MPI_COMM_WORLD, &request));
    OK(MPI_Type_free(&type));
    others();
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (rank != 0) arrived(count, 0);
}

/* A chain of types of which only the last one is left, and its copies. */
static void built_upon(void)
{
    MPI_Datatype pair, row, type, copy;
    OK(MPI_Type_create_resized(MPI_INT, 0, 8, &pair));
    OK(MPI_Type_contiguous(SHORT / 4, pair, &row));
    OK(MPI_Type_free(&pair));
    OK(MPI_Type_create_struct(2, (int[]){1, 3}, (MPI_Aint[]){0, SHORT / 4 * 8}, (MPI_Datatype[]){row, row}, &type));
    OK(MPI_Type_free(&row));
    others();
    OK(MPI_Type_dup(type, &copy));
    OK(MPI_Type_free(&type));
    OK(MPI_Type_commit(&copy));
    fill(SHORT);
    OK(MPI_Sendrecv(out, 1, copy, 1 - rank, 4, in, 1, copy, 1 - rank, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    arrived(SHORT, 1 - rank);
    /* What it was built from comes back as types that work. */
    int n[4];
    MPI_Aint a[2];
    MPI_Datatype inner[1], innermost[2];
    OK(MPI_Type_get_contents(copy, 0, 0, 1, n, a, inner));
    OK(MPI_Type_free(&copy));
    OK(MPI_Type_get_contents(inner[0], 3, 2, 2, n, a, innermost));
    OK(MPI_Type_free(&inner[0]));
    OK(MPI_Type_commit(&innermost[1]));
    fill(SHORT / 4);
    OK(MPI_Sendrecv(out, 1, innermost[1], 1 - rank, 5, in, 1, innermost[1], 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    arrived(SHORT / 4, 1 - rank);
    OK(MPI_Type_free(&innermost[0]));
    OK(MPI_Type_free(&innermost[1]));
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int count = SHORT; count <= LONG; count += LONG - SHORT) {
        pending(count);
        unexpected(count);
        persistent(count);
        collective(count);
    }
    built_upon();
    return check_end();
}
