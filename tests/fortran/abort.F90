! ranks: 2
! exit: 7
! says: MPI_Abort(7) was called on rank 0
! A rank ends all of them with its code, also those that wait (MPI-5.0 §9.3.2).
#include "interface.h"
program abort_all
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, nothing
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  if (rank == 0) then
    call MPI_Abort(MPI_COMM_WORLD, 7, ierror)
  else
    call MPI_Recv(nothing, 1, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  end if
  print '(a)', 'nobody comes here'
end program
