// ranks: 1 2 3 5
/* Calls of collective operations that are repeated exactly, nearly, and after everything that they name has changed: what
 * is kept of one call must not serve another one. MPI-5.0 sections 6.2 to 6.9. */
#include "check.h"

enum { MANY = 40 };

static MPI_Comm comm;
static int of_ranks(int per_rank) { return per_rank * size * (size - 1) / 2; }

/* The same buffers, with other contents, counts, operations and roots. */
static void nearly_the_same(int round)
{
    int in[4], out[4];
    for (int count = 1; count <= 4; count++) {
        for (int i = 0; i < 4; i++) in[i] = rank * (i + 1) + round, out[i] = -1;
        OK(MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm));
        for (int i = 0; i < count; i++)
            CHECK(out[i] == of_ranks(i + 1) + size * round, "sum %d of %d is %d", i, count, out[i]);
        if (count < 4) CHECK(out[count] == -1, "element %d was written", count);
        OK(MPI_Allreduce(in, out, count, MPI_INT, MPI_MAX, comm));
        for (int i = 0; i < count; i++)
            CHECK(out[i] == (size - 1) * (i + 1) + round, "maximum %d of %d is %d", i, count, out[i]);
        OK(MPI_Allreduce(MPI_IN_PLACE, in, count, MPI_INT, MPI_MIN, comm));
        CHECK(in[count - 1] == round, "the minimum in place is %d", in[count - 1]);
    }
    for (int root = 0; root < size; root++) {
        in[0] = 100 * rank + round;
        OK(MPI_Bcast(in, 1, MPI_INT, root, comm));
        CHECK(in[0] == 100 * root + round, "rank %d tells %d", root, in[0]);
        in[0] = rank, out[0] = -1;
        OK(MPI_Reduce(in, out, 1, MPI_INT, MPI_SUM, root, comm));
        CHECK(out[0] == (rank == root ? of_ranks(1) : -1), "root %d has %d", root, out[0]);
    }
}

/* Types and operations of the program: their handles may come again for others. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void twice(void *in, void *inout, int *count, MPI_Datatype *type)
{
    add(in, inout, count, type);
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += size;
}

static void of_the_program(int round)
{
    int in[4], out[4];
    MPI_Op op;
    MPI_Datatype pair;
    for (int i = 0; i < 4; i++) in[i] = rank + i, out[i] = -1;
    OK(MPI_Op_create(round % 2 ? twice : add, 1, &op));
    OK(MPI_Allreduce(in, out, 1, MPI_INT, op, comm));
    CHECK(out[0] == of_ranks(1) + (round % 2 ? size * (size - 1) : 0), "round %d: %d", round, out[0]);
    OK(MPI_Op_free(&op));
    OK(MPI_Type_vector(2, 1, 1 + round % 3, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    if (rank > 0) memset(in, 0, sizeof in);
    OK(MPI_Bcast(in, 1, pair, 0, comm));
    CHECK(in[1 + round % 3] == 1 + round % 3, "round %d: %d", round, in[1 + round % 3]);
    OK(MPI_Type_free(&pair));
}

/* Each block to its rank, from more buffers than calls can be kept. */
static void of_many_buffers(void)
{
    static int in[MANY][8], out[MANY][8];
    for (int pass = 0; pass < 3; pass++) {
        for (int k = 0; k < MANY; k++) {
            for (int i = 0; i < size; i++) in[k][i] = 100 * rank + i + k + pass, out[k][i] = -1;
            OK(MPI_Alltoall(in[k], 1, MPI_INT, out[k], 1, MPI_INT, comm));
            for (int i = 0; i < size; i++)
                CHECK(out[k][i] == 100 * i + rank + k + pass, "buffer %d, block %d: %d", k, i, out[k][i]);
            OK(MPI_Allgather(in[k], 1, MPI_INT, out[k], 1, MPI_INT, comm));
            for (int i = 0; i < size; i++)
                CHECK(out[k][i] == 100 * i + k + pass, "buffer %d, all of %d: %d", k, i, out[k][i]);
            OK(MPI_Barrier(comm));
        }
    }
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    for (int round = 0; round < 12; round++) {
        /* Communicators come and go; every other one has the ranks in reverse order. */
        int whole = size, own = rank;
        OK(MPI_Comm_split(MPI_COMM_WORLD, 0, round % 2 ? -rank : rank, &comm));
        OK(MPI_Comm_rank(comm, &rank));
        OK(MPI_Comm_size(comm, &size));
        for (int again = 0; again < 3; again++) nearly_the_same(round + again);
        of_the_program(round);
        of_many_buffers();
        OK(MPI_Comm_free(&comm));
        size = whole, rank = own;
    }
    return check_end();
}
