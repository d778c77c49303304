// ranks: 1 2 3 5 8
/* Operations of the user: an associative but not commutative one must be applied in the order of the ranks
 * (2 x 2 matrices), also on a type of the user's and on long vectors; MPI_Op_commutative, MPI_Reduce_local.
 * MPI-5.0 section 6.9.5. */
#include "check.h"

enum { MODULUS = 10007 };

struct matrix {
    long long a, b, c, d;
};

static int calls;

/* in . inout: the left operand comes from the lower ranks. */
static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    struct matrix *l = in, *r = inout;
    (void)type;
    calls++;
    for (int i = 0; i < *length; i++) {
        struct matrix m = {(l[i].a * r[i].a + l[i].b * r[i].c) % MODULUS, (l[i].a * r[i].b + l[i].b * r[i].d) % MODULUS,
                           (l[i].c * r[i].a + l[i].d * r[i].c) % MODULUS, (l[i].c * r[i].b + l[i].d * r[i].d) % MODULUS};
        r[i] = m;
    }
}

static struct matrix of_rank(int r, int i)
{
    return (struct matrix){r + 1, i % 10 + 1, r * 2 + 3, i % 7};
}

static void run(int count, MPI_Datatype type, MPI_Op op)
{
    struct matrix *in = malloc((size_t)count * sizeof *in), *out = malloc((size_t)count * sizeof *out);
    for (int i = 0; i < count; i++) in[i] = of_rank(rank, i);
    for (int root = -1; root < size; root++) {
        memset(out, 0, (size_t)count * sizeof *out);
        if (root < 0) OK(MPI_Allreduce(in, out, count, type, op, MPI_COMM_WORLD));
        else OK(MPI_Reduce(in, out, count, type, op, root, MPI_COMM_WORLD));
        if (root >= 0 && root != rank) continue;
        for (int i = 0; i < count; i++) {
            struct matrix wanted = of_rank(size - 1, i);
            int one = 1;
            for (int r = size - 2; r >= 0; r--) {
                struct matrix left = of_rank(r, i);
                multiply(&left, &wanted, &one, &type);
            }
            CHECK(memcmp(&out[i], &wanted, sizeof wanted) == 0, "root %d, element %d of %d", root, i, count);
        }
    }
    free(in);
    free(out);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Op op;
    int flag = -1, numbers[3] = {1, 2, 3}, sums[3] = {10, 20, 30};
    check_start(&argc, &argv);
    OK(MPI_Type_contiguous(4, MPI_LONG_LONG, &type));
    OK(MPI_Type_commit(&type));
    OK(MPI_Op_create(multiply, 0, &op));
    OK(MPI_Op_commutative(op, &flag));
    EQUAL(flag, 0);
    OK(MPI_Op_commutative(MPI_SUM, &flag));
    EQUAL(flag, 1);
    run(1, type, op);
    run(33, type, op);
    run(20000, type, op);
    if (size > 1) CHECK(calls > 0);
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    OK(MPI_Type_free(&type));
    OK(MPI_Reduce_local(numbers, sums, 3, MPI_INT, MPI_SUM));
    for (int i = 0; i < 3; i++) EQUAL(sums[i], 11 * (i + 1));
    return check_end();
}
