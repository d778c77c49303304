! ranks: 2
! says: profiled: right
! What a tool counts: messages, collective and one-sided operations, and not those with a P in front (MPI-5.0 section 15.2).
#include "interface.h"
program profiled
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, i, got, total, counts(2), places(2), two(2)
  integer, asynchronous :: column(4), row(4), matrix(3, 4), memory(4)
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  HANDLE(MPI_Datatype) :: types(2)
  HANDLE(MPI_Request) :: requests(2)
  HANDLE(MPI_Win) :: win
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
  ! In `mpi_f08` a row, for which the library makes a datatype.
  matrix = reshape([(i, i = 1, 12)], [3, 4])
  row = matrix(2, :)
  call MPI_Irecv(column, 4, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, requests(1), ierror)
#if defined(F08)
  call MPI_Isend(matrix(2, :), 4, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, requests(2), ierror)
#else
  call MPI_Isend(row, 4, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, requests(2), ierror)
#endif
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
  CHECK(all(column == [2, 5, 8, 11]))

  do i = 1, 2
    total = 1
    call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(total == 2)
  end do
  call PMPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(total == 1)
  call MPI_Bcast(total, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  counts = 1
  places = [1, 0]
  two = -1
  call MPI_Gatherv([rank], 1, MPI_INTEGER, two, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  CHECK(rank == 1 .or. all(two == [1, 0]))
  places = [0, 4]
  types = MPI_INTEGER
  call MPI_Alltoallw([10 * rank, 10 * rank + 1], counts, places, types, two, counts, places, types, MPI_COMM_WORLD, ierror)
  CHECK(all(two == [rank, 10 + rank]))
  call MPI_Iscan([1], memory, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierror)
  call PMPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, requests(1), ierror)
  do i = 1, 3
    call MPI_Start(requests(1), ierror)
    call PMPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  end do
  call MPI_Request_free(requests(1), ierror)

  memory = 10 * rank
  bytes = 16
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(row, 2, MPI_INTEGER, 1 - rank, 1_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, ierror)
  call MPI_Fetch_and_op(5, got, MPI_INTEGER, 1 - rank, 3_MPI_ADDRESS_KIND, MPI_SUM, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  CHECK(all(memory == [10 * rank, 2, 5, 10 * rank + 5]) .and. got == 10 * (1 - rank))
  call MPI_Get(column, 1, MPI_INTEGER, 1 - rank, 3_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
  call PMPI_Get(column(2:), 1, MPI_INTEGER, 1 - rank, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  CHECK(all(column == [10 * (1 - rank) + 5, 2, 8, 11]))
  call MPI_Win_free(win, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'profiled: right'
end program
#include "check.h"
