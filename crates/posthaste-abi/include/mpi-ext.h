/* mpi-ext.h: what posthaste's library has beside the standard under names that begin with MPIX_. Include it after, or instead
 * of, mpi.h. A program that calls one of these functions is linked with posthaste; MPIX_HAVE_ULFM and the name of each class
 * say to the preprocessor what there is.
 *
 * Programs that survive the loss of processes: the functions of the MPI forum's fault tolerance working group (ULFM).
 * docs/faults.md says what they do.
 */
#ifndef POSTHASTE_MPI_EXT_H
#define POSTHASTE_MPI_EXT_H

#include <mpi.h>

#define MPIX_HAVE_ULFM 1
/* The older name of the same. */
#define OMPI_HAVE_MPI_EXT_FTMPI 1

/* A process that the operation needs has ended. */
#define MPIX_ERR_PROC_FAILED         MPI_ERR_PROC_ABORTED
/* A member has ended, which is not acknowledged; the receive from anybody goes on. */
#define MPIX_ERR_PROC_FAILED_PENDING 16352
/* The communicator or the window is revoked. */
#define MPIX_ERR_REVOKED             16353

#if defined(__cplusplus)
extern "C" {
#endif

int MPIX_Comm_revoke(MPI_Comm comm);
int MPIX_Comm_is_revoked(MPI_Comm comm, int *flag);
int MPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp);
int MPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);
int MPIX_Comm_failure_ack(MPI_Comm comm);
int MPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);
int MPIX_Comm_agree(MPI_Comm comm, int *flag);
int MPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);
int MPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
int MPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
int MPIX_Win_revoke(MPI_Win win);
int MPIX_Win_is_revoked(MPI_Win win, int *flag);
/* Not implemented: it raises MPI_ERR_UNSUPPORTED_OPERATION. */
int MPIX_File_revoke(MPI_File fh);

int PMPIX_Comm_revoke(MPI_Comm comm);
int PMPIX_Comm_is_revoked(MPI_Comm comm, int *flag);
int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group *failedgrp);
int PMPIX_Comm_ack_failed(MPI_Comm comm, int num_to_ack, int *num_acked);
int PMPIX_Comm_failure_ack(MPI_Comm comm);
int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp);
int PMPIX_Comm_agree(MPI_Comm comm, int *flag);
int PMPIX_Comm_iagree(MPI_Comm comm, int *flag, MPI_Request *request);
int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm *newcomm);
int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request);
int PMPIX_Win_revoke(MPI_Win win);
int PMPIX_Win_is_revoked(MPI_Win win, int *flag);
int PMPIX_File_revoke(MPI_File fh);

#if defined(__cplusplus)
}
#endif

#endif
