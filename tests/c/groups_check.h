/* groups_check.h: an intercommunicator between the ranks of even numbers and those of odd ones, for the tests of intercommunicators. */
#ifndef GROUPS_CHECK_H
#define GROUPS_CHECK_H

#include "check.h"

static MPI_Comm half, inter;
static int right, mine, local_size, remote_size;

static inline void make_groups(void)
{
    right = rank % 2;
    OK(MPI_Comm_split(MPI_COMM_WORLD, right, rank, &half));
    OK(MPI_Comm_size(half, &local_size));
    OK(MPI_Comm_rank(half, &mine));
    remote_size = size - local_size;
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !right, 17, &inter));
}

#endif
