// ranks: 1 2
// only: posthaste
// alone
/* Every argument of the functions on communicators wrong in turn. MPI-5.0 sections 7.4, 7.8, 8.5. Each process finds
 * its mistake alone; what all have to agree on is tested with communicators of one process. */
#include "bad_check.h"

#define S MPI_COMM_SELF

int main(int argc, char **argv)
{
    int n, dims[2] = {0, 0}, minus[2] = {-1, 0}, three[2] = {3, 0};
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm made, world = MPI_COMM_WORLD, self = MPI_COMM_SELF;
    MPI_Info hints;
    MPI_Group group, everybody;
    MPI_Request r;
    bad_start(&argc, &argv);
    OK(MPI_Comm_group(S, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &everybody));
    EACH(BAD_COMM, MPI_Comm, c) {
        MPI_Comm copy = c;
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_size, c, &n);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_rank, c, &n);
        BAD(MPI_ERR_COMM, "comm1 is ", MPI_Comm_compare, c, S, &n);
        BAD(MPI_ERR_COMM, "comm2 is ", MPI_Comm_compare, S, c, &n);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_test_inter, c, &n);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_set_name, c, "name");
        if (c != MPI_COMM_NULL) BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_get_name, c, name, &n);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_group, c, &group);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_dup, c, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_dup_with_info, c, MPI_INFO_NULL, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_idup, c, &made, &r);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_idup_with_info, c, MPI_INFO_NULL, &made, &r);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_create, c, group, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_create_group, c, group, 1, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_split, c, 0, 0, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_split_type, c, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_set_info, c, bad_live_info);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_get_info, c, &hints);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Topo_test, c, &n);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_free, &copy);
        BAD(MPI_ERR_COMM, "comm is ", MPI_Comm_disconnect, &copy);
        CHECK(copy == c);
    }
    EACH(BAD_GROUP, MPI_Group, g) {
        BAD(MPI_ERR_GROUP, "group is ", MPI_Comm_create, S, g, &made);
        BAD(MPI_ERR_GROUP, "group is ", MPI_Comm_create_group, S, g, 1, &made);
    }
    EACH_NOT_NULL(BAD_INFO, MPI_Info, w, MPI_INFO_NULL) {
        BAD(MPI_ERR_INFO, "info is ", MPI_Comm_dup_with_info, S, w, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Comm_idup_with_info, S, w, &made, &r);
        BAD(MPI_ERR_INFO, "info is ", MPI_Comm_split_type, S, MPI_COMM_TYPE_SHARED, 0, w, &made);
        BAD(MPI_ERR_INFO, "info is ", MPI_Comm_set_info, S, w);
    }
    CHECK(made == MPI_COMM_NULL);
    BAD(MPI_ERR_COMM, "MPI_COMM_WORLD", MPI_Comm_free, &world);
    BAD(MPI_ERR_COMM, "MPI_COMM_SELF", MPI_Comm_free, &self);
    BAD(MPI_ERR_COMM, "MPI_COMM_WORLD", MPI_Comm_disconnect, &world);
    CHECK(world == MPI_COMM_WORLD && self == MPI_COMM_SELF);
    BAD(MPI_ERR_ARG, "comm is NULL", MPI_Comm_free, NULL);
    BAD(MPI_ERR_ARG, "comm is NULL", MPI_Comm_disconnect, NULL);
    /* No place for the result. */
    BAD(MPI_ERR_ARG, "size is NULL", MPI_Comm_size, S, NULL);
    BAD(MPI_ERR_ARG, "rank is NULL", MPI_Comm_rank, S, NULL);
    BAD(MPI_ERR_ARG, "result is NULL", MPI_Comm_compare, S, S, NULL);
    BAD(MPI_ERR_ARG, "flag is NULL", MPI_Comm_test_inter, S, NULL);
    BAD(MPI_ERR_ARG, "group is NULL", MPI_Comm_group, S, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_dup, S, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_dup_with_info, S, MPI_INFO_NULL, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_idup, S, NULL, &r);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_idup_with_info, S, MPI_INFO_NULL, NULL, &r);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_create, S, group, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_create_group, S, group, 1, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_split, S, 0, 0, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPI_Comm_split_type, S, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, NULL);
    BAD(MPI_ERR_ARG, "info_used is NULL", MPI_Comm_get_info, S, NULL);
    BAD(MPI_ERR_ARG, "status is NULL", MPI_Topo_test, S, NULL);
    BAD(MPI_ERR_ARG, "parent is NULL", MPI_Comm_get_parent, NULL);
    /* Values. */
    BAD(MPI_ERR_ARG, "comm_name is NULL", MPI_Comm_set_name, S, NULL);
    BAD(MPI_ERR_ARG, "comm_name is NULL", MPI_Comm_get_name, S, NULL, &n);
    BAD(MPI_ERR_ARG, "resultlen is NULL", MPI_Comm_get_name, S, name, NULL);
    BAD(MPI_ERR_ARG, "color is -7,", MPI_Comm_split, S, -7, 0, &made);
    BAD(MPI_ERR_ARG, "split_type is 12345,", MPI_Comm_split_type, S, 12345, 0, MPI_INFO_NULL, &made);
    BAD(MPI_ERR_TAG, "tag is -1,", MPI_Comm_create_group, S, group, -1, &made);
    if (size > 1) {
        BAD(MPI_ERR_GROUP, "group", MPI_Comm_create, S, everybody, &made);
        BAD(MPI_ERR_GROUP, "group", MPI_Comm_create_group, S, everybody, 1, &made);
    }
    BAD(MPI_ERR_ARG, "nnodes is 0,", MPI_Dims_create, 0, 2, dims);
    BAD(MPI_ERR_ARG, "ndims is -1,", MPI_Dims_create, 4, -1, dims);
    BAD(MPI_ERR_DIMS, "-1", MPI_Dims_create, 4, 2, minus);
    BAD(MPI_ERR_DIMS, "4", MPI_Dims_create, 4, 2, three);
    BAD(MPI_ERR_ARG, "dims is NULL", MPI_Dims_create, 4, 2, NULL);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&everybody));
    return bad_end();
}
