// ranks: 1 2 3 4 7
/* MPI_Comm_dup, split, compare, free, names: contexts keep messages apart, ranks are ordered by key, members
 * with MPI_UNDEFINED get MPI_COMM_NULL; many communicators live and die. MPI-5.0 chapter 7. */
#include "check.h"

static int compare(MPI_Comm a, MPI_Comm b)
{
    int result = -1;
    OK(MPI_Comm_compare(a, b, &result));
    return result;
}

static void apart(void)
{
    MPI_Comm copy;
    MPI_Request requests[2];
    int in[2] = {-1, -1}, first = 100 + rank, second = 200 + rank, right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    EQUAL(compare(MPI_COMM_WORLD, copy), MPI_CONGRUENT);
    EQUAL(compare(copy, copy), MPI_IDENT);
    /* The same source and tag in both; the one that is sent second is received first. */
    OK(MPI_Irecv(&in[1], 1, MPI_INT, left, 1, copy, &requests[1]));
    OK(MPI_Irecv(&in[0], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]));
    OK(MPI_Send(&first, 1, MPI_INT, right, 1, MPI_COMM_WORLD));
    OK(MPI_Send(&second, 1, MPI_INT, right, 1, copy));
    OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
    OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    EQUAL(in[0], 100 + left);
    EQUAL(in[1], 200 + left);
    OK(MPI_Comm_free(&copy));
    CHECK(copy == MPI_COMM_NULL);
}

static void splits(void)
{
    MPI_Comm half, turned, none;
    int n = -1, r = -1, sum = -1, wanted = 0;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    OK(MPI_Comm_size(half, &n));
    OK(MPI_Comm_rank(half, &r));
    EQUAL(n, (size + 1 - rank % 2) / 2);
    EQUAL(r, rank / 2);
    for (int i = rank % 2; i < size; i += 2) wanted += i;
    OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, half));
    EQUAL(sum, wanted);
    OK(MPI_Comm_split(MPI_COMM_WORLD, 5, -rank, &turned));
    OK(MPI_Comm_rank(turned, &r));
    EQUAL(r, size - 1 - rank);
    EQUAL(compare(MPI_COMM_WORLD, turned), size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 1, rank, &none));
    if (rank == 0) {
        CHECK(none == MPI_COMM_NULL);
    } else {
        OK(MPI_Comm_size(none, &n));
        EQUAL(n, size - 1);
        EQUAL(compare(MPI_COMM_WORLD, none), MPI_UNEQUAL);
        OK(MPI_Comm_free(&none));
    }
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&turned));
}

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], too_long[MPI_MAX_OBJECT_NAME + 2];
    int length = -1;
    MPI_Comm copy;
    OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0 && length == 14, "%s", name);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &copy));
    OK(MPI_Comm_get_name(copy, name, &length));
    EQUAL(length, 0);
    OK(MPI_Comm_set_name(copy, "halo"));
    OK(MPI_Comm_get_name(copy, name, &length));
    CHECK(strcmp(name, "halo") == 0 && length == 4, "%s", name);
    /* MPI-5.0 section 7.8: a longer one is cut. */
    memset(too_long, 'x', sizeof too_long);
    too_long[sizeof too_long - 1] = 0;
    OK(MPI_Comm_set_name(copy, too_long));
    OK(MPI_Comm_get_name(copy, name, &length));
    EQUAL(length, MPI_MAX_OBJECT_NAME - 1);
    CHECK(strncmp(name, too_long, sizeof name - 1) == 0 && strlen(name) == sizeof name - 1, "%s", name);
    OK(MPI_Comm_free(&copy));
}

static void many(void)
{
    enum { COUNT = 200 };
    MPI_Comm comms[COUNT];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < COUNT; i++) {
            int sum = -1;
            OK(MPI_Comm_dup(i == 0 ? MPI_COMM_WORLD : comms[i - 1], &comms[i]));
            OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comms[i]));
            EQUAL(sum, size * (size - 1) / 2);
        }
        for (int i = 0; i < COUNT; i++) OK(MPI_Comm_free(&comms[(i * 7) % COUNT]));
    }
}

/* A communicator may be freed while a message on it is under way. */
static void freed_in_use(void)
{
    MPI_Comm copy;
    MPI_Request requests[2];
    int in = -1, right = (rank + 1) % size, left = (rank + size - 1) % size;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    OK(MPI_Irecv(&in, 1, MPI_INT, left, 1, copy, &requests[0]));
    OK(MPI_Isend(&rank, 1, MPI_INT, right, 1, copy, &requests[1]));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EQUAL(in, left);
}

static void inherited_tests(void)
{
    int flag = -1, n = -1;
    OK(MPI_Comm_test_inter(MPI_COMM_WORLD, &flag));
    EQUAL(flag, 0);
    OK(MPI_Comm_size(MPI_COMM_SELF, &n));
    EQUAL(n, 1);
    EQUAL(compare(MPI_COMM_SELF, MPI_COMM_WORLD), size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
}

int main(int argc, char **argv)
{
    check_start(&argc, &argv);
    apart();
    splits();
    names();
    many();
    freed_in_use();
    inherited_tests();
    return check_end();
}
