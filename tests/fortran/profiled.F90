! ranks: 2
! says: profiled: right
! What a tool counts: three sends and two reductions, and not those with a P in front (MPI-5.0 section 15.2).
#include "interface.h"
program profiled
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, i, got, total
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  do i = 1, 4
    if (rank == 1) then
      call MPI_Recv(got, 1, MPI_INTEGER, 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      CHECK(got == i)
    else if (i == 4) then
      call PMPI_Send(i, 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, ierror)
    else
      call MPI_Send(i, 1, MPI_INTEGER, 1, i, MPI_COMM_WORLD, ierror)
    end if
  end do
  do i = 1, 2
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(total == 2)
  end do
  call PMPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(total == 1)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'profiled: right'
end program
#include "check.h"
