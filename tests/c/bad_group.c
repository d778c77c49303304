// ranks: 1 2
// only: posthaste
// alone
/* Every argument of the functions on groups wrong in turn. MPI-5.0 section 7.3. */
#include "bad_check.h"

int main(int argc, char **argv)
{
    int n, far[1], minus[1] = {-1}, twice[2] = {0, 0}, zero[1] = {0}, out[2];
    int range[1][3] = {{0, 0, 0}}, outside[1][3], below[1][3] = {{-1, 0, 1}}, again[2][3] = {{0, 0, 1}, {0, 0, 1}};
    MPI_Group g, world, made;
    bad_start(&argc, &argv);
    far[0] = size;
    int past[1][3] = {{0, size, 1}};
    memcpy(outside, past, sizeof past);
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    EACH(BAD_GROUP, MPI_Group, w) {
        BAD(MPI_ERR_GROUP, "group is ", MPI_Group_size, w, &n);
        BAD(MPI_ERR_GROUP, "group is ", MPI_Group_rank, w, &n);
        BAD(MPI_ERR_GROUP, "group1 is ", MPI_Group_translate_ranks, w, 1, zero, world, out);
        BAD(MPI_ERR_GROUP, "group2 is ", MPI_Group_translate_ranks, world, 1, zero, w, out);
        BAD(MPI_ERR_GROUP, "group1 is ", MPI_Group_compare, w, world, &n);
        BAD(MPI_ERR_GROUP, "group2 is ", MPI_Group_compare, world, w, &n);
        BAD(MPI_ERR_GROUP, "group1 is ", MPI_Group_union, w, world, &made);
        BAD(MPI_ERR_GROUP, "group2 is ", MPI_Group_union, world, w, &made);
        BAD(MPI_ERR_GROUP, "group1 is ", MPI_Group_intersection, w, world, &made);
        BAD(MPI_ERR_GROUP, "group2 is ", MPI_Group_intersection, world, w, &made);
        BAD(MPI_ERR_GROUP, "group1 is ", MPI_Group_difference, w, world, &made);
        BAD(MPI_ERR_GROUP, "group2 is ", MPI_Group_difference, world, w, &made);
        BAD(MPI_ERR_GROUP, "group is ", MPI_Group_incl, w, 1, zero, &made);
        BAD(MPI_ERR_GROUP, "group is ", MPI_Group_excl, w, 1, zero, &made);
        BAD(MPI_ERR_GROUP, "group is ", MPI_Group_range_incl, w, 1, range, &made);
        BAD(MPI_ERR_GROUP, "group is ", MPI_Group_range_excl, w, 1, range, &made);
        g = w;
        BAD(MPI_ERR_GROUP, "group is ", MPI_Group_free, &g);
        CHECK(g == w);
    }
#define RANKS(F)                                                              \
    BAD(MPI_ERR_ARG, "n is -1,", F, world, -1, zero, &made);                  \
    BAD(MPI_ERR_ARG, "ranks is NULL", F, world, 1, NULL, &made);              \
    BAD(MPI_ERR_ARG, "newgroup is NULL", F, world, 1, zero, NULL);            \
    BAD(MPI_ERR_RANK, "rank", F, world, 1, far, &made);                       \
    BAD(MPI_ERR_RANK, "-1", F, world, 1, minus, &made);                       \
    BAD(MPI_ERR_RANK, "0", F, world, 2, twice, &made)
    RANKS(MPI_Group_incl);
    RANKS(MPI_Group_excl);
#define RANGES(F)                                                             \
    BAD(MPI_ERR_ARG, "n is -1,", F, world, -1, range, &made);                 \
    BAD(MPI_ERR_ARG, "ranges is NULL", F, world, 1, NULL, &made);             \
    BAD(MPI_ERR_ARG, "newgroup is NULL", F, world, 0, range, NULL);           \
    BAD(MPI_ERR_ARG, "stride", F, world, 1, range, &made);                    \
    BAD(MPI_ERR_RANK, "rank", F, world, 1, outside, &made);                   \
    BAD(MPI_ERR_RANK, "-1", F, world, 1, below, &made);                       \
    BAD(MPI_ERR_RANK, "0", F, world, 2, again, &made)
    RANGES(MPI_Group_range_incl);
    RANGES(MPI_Group_range_excl);
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Group_size, world, NULL);
    BAD(MPI_ERR_ARG, "rank is NULL", MPI_Group_rank, world, NULL);
    BAD(MPI_ERR_ARG, "result is NULL", MPI_Group_compare, world, world, NULL);
    BAD(MPI_ERR_ARG, "newgroup is NULL", MPI_Group_union, world, world, NULL);
    BAD(MPI_ERR_ARG, "newgroup is NULL", MPI_Group_intersection, world, world, NULL);
    BAD(MPI_ERR_ARG, "newgroup is NULL", MPI_Group_difference, world, world, NULL);
    BAD(MPI_ERR_ARG, "group is NULL", MPI_Group_free, NULL);
    BAD(MPI_ERR_ARG, "n is -1,", MPI_Group_translate_ranks, world, -1, zero, world, out);
    BAD(MPI_ERR_ARG, "ranks1 is NULL", MPI_Group_translate_ranks, world, 1, NULL, world, out);
    BAD(MPI_ERR_ARG, "ranks2 is NULL", MPI_Group_translate_ranks, world, 1, zero, world, NULL);
    BAD(MPI_ERR_RANK, "rank", MPI_Group_translate_ranks, world, 1, far, world, out);
    BAD(MPI_ERR_RANK, "-1", MPI_Group_translate_ranks, world, 1, minus, world, out);
    OK(MPI_Group_free(&world));
    return bad_end();
}
