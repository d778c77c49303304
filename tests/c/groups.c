// ranks: 1 4 6
/* Group algebra: incl, excl, ranges, union, intersection, difference, compare, translate, and communicators made
 * from groups. MPI-5.0 sections 7.3.2, 7.4.2. */
#include "check.h"

static int group_size(MPI_Group g)
{
    int n = -1;
    OK(MPI_Group_size(g, &n));
    return n;
}

static int compare(MPI_Group a, MPI_Group b)
{
    int result = -1;
    OK(MPI_Group_compare(a, b, &result));
    return result;
}

int main(int argc, char **argv)
{
    MPI_Group world, even, odd, turned, both, none, self;
    MPI_Comm comm;
    int list[64], n = 0, r = -1, range[1][3];
    check_start(&argc, &argv);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    EQUAL(group_size(world), size);
    OK(MPI_Group_rank(world, &r));
    EQUAL(r, rank);
    for (int i = 0; i < size; i += 2) list[n++] = i;
    OK(MPI_Group_incl(world, n, list, &even));
    EQUAL(group_size(even), n);
    OK(MPI_Group_rank(even, &r));
    EQUAL(r, rank % 2 ? MPI_UNDEFINED : rank / 2);
    OK(MPI_Group_excl(world, n, list, &odd));
    EQUAL(group_size(odd), size - n);
    OK(MPI_Group_union(even, odd, &both));
    EQUAL(compare(both, world), size > 2 ? MPI_SIMILAR : MPI_IDENT);
    OK(MPI_Group_free(&both));
    OK(MPI_Group_intersection(even, odd, &none));
    EQUAL(group_size(none), 0);
    CHECK(none == MPI_GROUP_EMPTY || compare(none, MPI_GROUP_EMPTY) == MPI_IDENT);
    if (none != MPI_GROUP_EMPTY) OK(MPI_Group_free(&none));
    OK(MPI_Group_difference(world, even, &both));
    EQUAL(compare(both, odd), MPI_IDENT);
    if (both != MPI_GROUP_EMPTY) OK(MPI_Group_free(&both));
    range[0][0] = size - 1, range[0][1] = 0, range[0][2] = -1;
    OK(MPI_Group_range_incl(world, 1, range, &turned));
    EQUAL(group_size(turned), size);
    EQUAL(compare(turned, world), size > 1 ? MPI_SIMILAR : MPI_IDENT);
    if (size > 3) {
        int here[3] = {0, 1, MPI_PROC_NULL}, there[3] = {9, 9, 9};
        OK(MPI_Group_translate_ranks(turned, 3, here, world, there));
        EQUAL(there[0], size - 1);
        EQUAL(there[1], size - 2);
        EQUAL(there[2], MPI_PROC_NULL);
        OK(MPI_Group_translate_ranks(world, 2, here, even, there));
        EQUAL(there[0], 0);
        EQUAL(there[1], MPI_UNDEFINED);
        range[0][0] = 1, range[0][1] = 3, range[0][2] = 2;
        OK(MPI_Group_range_excl(world, 1, range, &both));
        EQUAL(group_size(both), size - 2);
        OK(MPI_Group_free(&both));
    }
    /* A communicator of the even ranks, made by all; and one made by the even ranks alone. */
    OK(MPI_Comm_create(MPI_COMM_WORLD, even, &comm));
    if (rank % 2) {
        CHECK(comm == MPI_COMM_NULL);
    } else {
        int sum = -1;
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
        EQUAL(sum, (n - 1) * n);
        OK(MPI_Comm_free(&comm));
        OK(MPI_Comm_create_group(MPI_COMM_WORLD, even, 17, &comm));
        OK(MPI_Comm_size(comm, &r));
        EQUAL(r, n);
        OK(MPI_Comm_free(&comm));
    }
    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    EQUAL(group_size(self), 1);
    OK(MPI_Group_rank(self, &r));
    EQUAL(r, 0);
    OK(MPI_Group_free(&self));
    OK(MPI_Group_free(&turned));
    if (odd != MPI_GROUP_EMPTY) OK(MPI_Group_free(&odd));
    OK(MPI_Group_free(&even));
    OK(MPI_Group_free(&world));
    CHECK(world == MPI_GROUP_NULL);
    return check_end();
}
