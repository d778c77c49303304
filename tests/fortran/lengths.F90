! ranks: 2
! says: lengths: right
! What depends on how long numbers are: counts of partitioned operations, whose kind is MPI_COUNT_KIND in all interfaces, the
! buffer that MPI takes care of itself, the clock, and types whose length options of the compiler change (MPI-5.0 sections 3.6,
! 4.2.1, 8.6; this test is also built with -fdefault-real-8).
#include "interface.h"
program lengths
  USES
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_associated
  implicit none
  INCLUDES
  integer :: ierror, rank, size, there
  integer(kind=MPI_COUNT_KIND), parameter :: four = 4
  integer, asynchronous :: given(8), taken(8)
  real :: some(2), sum_of_all(2)
  double precision :: long, longest
  complex :: pair
  real(kind=8) :: start
  HANDLE(MPI_Request) :: request(2)
  STATUS(status)
#if defined(F08)
  type(c_ptr) :: buffer
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  given = [1, 2, 3, 4, 5, 6, 7, 8] + 10 * rank
  call MPI_Psend_init(given, 2, four, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request(1), ierror)
  OK(ierror)
#if defined(MPIF)
  call MPI_Precv_init(taken, 2, four, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request(2), ierror)
#else
  call MPI_Precv_init(taken, 2, 4, MPI_INTEGER, 1 - rank, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request(2), ierror)
#endif
  OK(ierror)
  call MPI_Startall(2, request, ierror)
  call MPI_Pready_range(0, 1, request(1), ierror)
  OK(ierror)
  call MPI_Wait(request(1), MPI_STATUS_IGNORE, ierror)
  call MPI_Wait(request(2), MPI_STATUS_IGNORE, ierror)
  CHECK(all(taken == [1, 2, 3, 4, 5, 6, 7, 8] + 10 * (1 - rank)))
  call MPI_Request_free(request(1), ierror)
  call MPI_Request_free(request(2), ierror)

  call MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0, ierror)
  OK(ierror)
  call MPI_Bsend(rank, 1, MPI_INTEGER, 1 - rank, 6, MPI_COMM_WORLD, ierror)
  OK(ierror)
  call MPI_Recv(there, 1, MPI_INTEGER, 1 - rank, 6, MPI_COMM_WORLD, status, ierror)
  CHECK(there == 1 - rank)
#if defined(F08)
  call MPI_Status_get_error(status, err=there)
  call MPI_Buffer_detach(buffer, size, ierror)
  OK(ierror)
  CHECK(c_associated(buffer, c_loc(MPI_BUFFER_AUTOMATIC)))
#else
  call MPI_Buffer_detach(given, size, ierror)
  OK(ierror)
#endif

  some = [1.0, 2.0] + rank
  call MPI_Allreduce(some, sum_of_all, 2, MPI_REAL, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(all(sum_of_all == [3.0, 5.0]))
  long = 0.125d0 * (rank + 1)
  call MPI_Allreduce(long, longest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
  CHECK(longest == 0.25d0)
  pair = cmplx(rank, 1)
  call MPI_Allreduce(MPI_IN_PLACE, pair, 1, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(pair == (1.0, 2.0))
  start = MPI_Wtime()
  CHECK(start > 0 .and. MPI_Wtime() >= start .and. MPI_Wtime() < start + 60)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'lengths: right'
end program
#include "check.h"
