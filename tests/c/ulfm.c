/* The functions for programs that survive the loss of processes, where none is lost: what is agreed on, who is left, and what
 * a revoked communicator refuses. What happens when ranks are killed is in fault/ulfm_lost.c. */
// ranks: 1 2 5
// only: posthaste
#include "bad_check.h"
#include <mpi-ext.h>

static MPI_Comm dup_of_world(void)
{
    MPI_Comm comm;
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    return comm;
}

static void nobody_failed(MPI_Comm comm)
{
    MPI_Group failed;
    int count = -1, flag = -1;
    OK(MPIX_Comm_get_failed(comm, &failed));
    OK(MPI_Group_size(failed, &count));
    EQUAL(count, 0);
    OK(MPI_Group_free(&failed));
    OK(MPIX_Comm_ack_failed(comm, 3, &count));
    EQUAL(count, 0);
    OK(MPIX_Comm_failure_ack(comm));
    OK(MPIX_Comm_failure_get_acked(comm, &failed));
    OK(MPI_Group_size(failed, &count));
    EQUAL(count, 0);
    OK(MPI_Group_free(&failed));
    OK(MPIX_Comm_is_revoked(comm, &flag));
    EQUAL(flag, 0);
}

static void agreements(MPI_Comm comm)
{
    enum { OPEN = 5 };
    MPI_Request requests[OPEN];
    int flags[OPEN], all = ~0;
    for (int i = 0; i < size; i++) all &= ~(1 << i);
    for (int round = 0; round < 3; round++) {
        int flag = ~(1 << rank);
        OK(MPIX_Comm_agree(comm, &flag));
        EQUAL(flag, all);
    }
    /* Several at once, among other operations: one after the other. */
    for (int i = 0; i < OPEN; i++) {
        flags[i] = rank == i ? i : 0xff;
        OK(MPIX_Comm_iagree(comm, &flags[i], &requests[i]));
    }
    OK(MPI_Barrier(comm));
    OK(MPI_Waitall(OPEN, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < OPEN; i++) EQUAL(flags[i], i < size ? i : 0xff);
}

static void shrinking(MPI_Comm comm)
{
    MPI_Comm whole[2];
    MPI_Request request;
    int result = -1, sum = 0;
    OK(MPIX_Comm_shrink(comm, &whole[0]));
    OK(MPIX_Comm_ishrink(comm, &whole[1], &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < 2; i++) {
        OK(MPI_Comm_compare(comm, whole[i], &result));
        EQUAL(result, MPI_CONGRUENT);
        OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, whole[i]));
        EQUAL(sum, size * (size - 1) / 2);
        OK(MPI_Comm_free(&whole[i]));
    }
}

/* A receive that is posted, a send that nobody receives, and what is started later. */
static void revoking(void)
{
    MPI_Comm comm = dup_of_world(), shrunk;
    MPI_Request receive, from_any, send, persistent;
    int word = 7, flag = 0, next = (rank + 1) % size, *large = calloc(1 << 18, sizeof *large);
    OK(MPI_Recv_init(&word, 1, MPI_INT, next, 2, comm, &persistent));
    OK(MPI_Irecv(&word, 1, MPI_INT, next, 3, comm, &receive));
    OK(MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &from_any));
    OK(MPI_Issend(large, 1 << 18, MPI_INT, next, 4, comm, &send));
    OK(MPI_Barrier(MPI_COMM_WORLD)); /* nobody revokes what others still begin */
    if (rank == size - 1) OK(MPIX_Comm_revoke(comm));
    REFUSED(MPI_Wait(&receive, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    REFUSED(MPI_Wait(&from_any, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    EQUAL(from_any == MPI_REQUEST_NULL, 1);
    REFUSED(MPI_Wait(&send, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    OK(MPIX_Comm_is_revoked(comm, &flag));
    EQUAL(flag, 1);
    REFUSED(MPI_Send(&word, 1, MPI_INT, next, 3, comm), MPIX_ERR_REVOKED);
    REFUSED(MPI_Send(&word, 1, MPI_INT, MPI_PROC_NULL, 3, comm), MPIX_ERR_REVOKED);
    REFUSED(MPI_Recv(&word, 1, MPI_INT, next, 3, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    REFUSED(MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    REFUSED(MPI_Recv(&word, 1, MPI_INT, MPI_PROC_NULL, 3, comm, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    REFUSED(MPI_Iprobe(MPI_ANY_SOURCE, 3, comm, &flag, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    REFUSED(MPI_Bcast(&word, 1, MPI_INT, 0, comm), MPIX_ERR_REVOKED);
    REFUSED(MPI_Barrier(comm), MPIX_ERR_REVOKED);
    REFUSED(MPI_Ibarrier(comm, &send), MPIX_ERR_REVOKED);
    REFUSED(MPI_Comm_dup(comm, &shrunk), MPIX_ERR_REVOKED);
    OK(MPI_Start(&persistent));
    REFUSED(MPI_Wait(&persistent, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    OK(MPI_Request_free(&persistent));
    OK(MPIX_Comm_revoke(comm)); /* once more: nothing happens */
    flag = 3;
    OK(MPIX_Comm_agree(comm, &flag));
    EQUAL(flag, 3);
    OK(MPIX_Comm_shrink(comm, &shrunk));
    OK(MPI_Barrier(shrunk));
    OK(MPI_Comm_free(&shrunk));
    OK(MPI_Comm_free(&comm));
    free(large);
}

/* Both groups agree, and both are kept. */
static void between_groups(void)
{
    MPI_Comm half, inter, shrunk;
    MPI_Request request;
    /* What both groups have, what the own one has, and what nobody else has. */
    int flag = 1 | 2 << rank % 2 | 8 << rank, remote = 0, before = 0;
    if (size < 2) return;
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &inter));
    OK(MPIX_Comm_agree(inter, &flag));
    OK(MPI_Comm_remote_size(inter, &before));
    /* The bits of the other group: those of its only member, or what all of it have. */
    EQUAL(flag, 1 | 2 << (1 - rank % 2) | (before == 1 ? 8 << (1 - rank % 2) : 0));
    flag = 4 | 1 << rank % 2;
    OK(MPIX_Comm_iagree(inter, &flag, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    EQUAL(flag, 4 | 1 << (1 - rank % 2));
    OK(MPIX_Comm_shrink(inter, &shrunk));
    OK(MPI_Comm_remote_size(shrunk, &remote));
    EQUAL(remote, before);
    OK(MPI_Barrier(shrunk));
    OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
    if (rank == 0) OK(MPIX_Comm_revoke(inter));
    REFUSED(MPI_Recv(&flag, 1, MPI_INT, 0, 3, inter, MPI_STATUS_IGNORE), MPIX_ERR_REVOKED);
    OK(MPI_Comm_free(&shrunk));
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

static void wrong_arguments(MPI_Comm comm)
{
    int flag = 7, number = 7, length = 0;
    MPI_Group group;
    char text[MPI_MAX_ERROR_STRING];
    MPI_Comm made = MPI_COMM_WORLD;
    MPI_Request request;
    EACH(BAD_COMM, MPI_Comm, w) {
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_revoke, w);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_is_revoked, w, &flag);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_get_failed, w, &group);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_ack_failed, w, 1, &number);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_failure_ack, w);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_failure_get_acked, w, &group);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_agree, w, &flag);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_iagree, w, &flag, &request);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_shrink, w, &made);
        BAD(MPI_ERR_COMM, "comm is ", MPIX_Comm_ishrink, w, &made, &request);
    }
    CHECK(made == MPI_COMM_NULL, "the result of a wrong call");
    EQUAL(flag, 7);
    EQUAL(number, 7);
    BAD(MPI_ERR_ARG, "flag is NULL", MPIX_Comm_agree, comm, NULL);
    BAD(MPI_ERR_ARG, "flag is NULL", MPIX_Comm_iagree, comm, NULL, &request);
    BAD(MPI_ERR_ARG, "request is NULL", MPIX_Comm_iagree, comm, &flag, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPIX_Comm_shrink, comm, NULL);
    BAD(MPI_ERR_ARG, "newcomm is NULL", MPIX_Comm_ishrink, comm, NULL, &request);
    BAD(MPI_ERR_ARG, "request is NULL", MPIX_Comm_ishrink, comm, &made, NULL);
    BAD(MPI_ERR_ARG, "flag is NULL", MPIX_Comm_is_revoked, comm, NULL);
    BAD(MPI_ERR_ARG, "failedgrp is NULL", MPIX_Comm_get_failed, comm, NULL);
    BAD(MPI_ERR_ARG, "failedgrp is NULL", MPIX_Comm_failure_get_acked, comm, NULL);
    BAD(MPI_ERR_ARG, "num_to_ack is -1", MPIX_Comm_ack_failed, comm, -1, &number);
    BAD(MPI_ERR_ARG, "num_acked is NULL", MPIX_Comm_ack_failed, comm, 1, NULL);
    REFUSED(MPIX_File_revoke(MPI_FILE_NULL), MPI_ERR_UNSUPPORTED_OPERATION);
    for (int class = MPIX_ERR_PROC_FAILED_PENDING; class <= MPIX_ERR_REVOKED; class++) {
        OK(MPI_Error_string(class, text, &length));
        CHECK(strstr(text, "MPIX_ERR_"), "%s", text);
    }
}

int main(int argc, char **argv)
{
    bad_start(&argc, &argv);
    MPI_Comm comm = dup_of_world();
    nobody_failed(comm);
    agreements(comm);
    shrinking(comm);
    revoking();
    between_groups();
    wrong_arguments(comm);
    agreements(MPI_COMM_SELF == comm ? comm : MPI_COMM_WORLD);
    OK(MPI_Comm_free(&comm));
    return bad_end();
}
