! ranks: 3
! interfaces: mpif mpi f08 large
! says: gathers: right
! Data from one, to one and among all: blocking, nonblocking, persistent and in place, with displacements in an order of their
! own (MPI-5.0 §6.3 to §6.8, §6.12, §6.13).
#include "interface.h"
program gathers
  USES
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS, last = 2
  integer :: ierror, rank, i, round = 0
  ! A rank has as many elements as its number from 1 on; theirs lie backwards, with one between them.
  integer(k), parameter :: sizes(3) = [1_k, 2_k, 3_k], places(3) = [7_k, 4_k, 0_k]
  ! Where those for each rank begin, and what each of them is for this one.
  integer(k), parameter :: starts(3) = [0_k, 1_k, 3_k], one(3) = 1_k
  integer(k) :: own(3), from(3), bytes(3), from_bytes(3)
  integer, LATER :: mine(6), given(12), got(12)
  HANDLE(MPI_Datatype) :: blocks(3), numbers(3)
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  own = rank + 1
  from = [(int((rank + 1) * (3 - i), k), i = 1, 3)]
  bytes = 4 * starts
  from_bytes = 4 * from
  do i = 1, 3
    call MPI_Type_contiguous(int(i, k), MPI_INTEGER, blocks(i), ierror)
    call MPI_Type_commit(blocks(i), ierror)
  end do
  numbers = MPI_INTEGER

  ! To all from one.
  call fill()
  call MPI_Bcast(given, 12_k, MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_told())
  call fill()
  call MPI_Ibcast(given, 12_k, MPI_INTEGER, last, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_told())
  call MPI_Bcast_init(given, 12_k, MPI_INTEGER, last, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_told())
  end do
  call release()

  ! To one from all.
  call fill()
  call MPI_Gather(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_gathered(rank == last))
  call fill()
  call MPI_Igather(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_gathered(rank == last))
  call MPI_Gather_init(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_gathered(rank == last))
  end do
  call release()
  call fill()
  if (rank == last) then
    got(5:6) = mine(1:2)
    call MPI_Gather(MPI_IN_PLACE, 0_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
  else
    call MPI_Gather(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
  end if
  OK(ierror)
  CHECK(is_gathered(rank == last))

  call fill()
  call MPI_Gatherv(mine, own(1), MPI_INTEGER, got, sizes, places, MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_backwards(rank == last))
  call fill()
  call MPI_Igatherv(mine, own(1), MPI_INTEGER, got, sizes, places, MPI_INTEGER, last, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_backwards(rank == last))
  call MPI_Gatherv_init(mine, own(1), MPI_INTEGER, got, sizes, places, MPI_INTEGER, last, MPI_COMM_WORLD, MPI_INFO_NULL, &
      request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_backwards(rank == last))
  end do
  call release()

  ! From one, to each its own.
  call fill()
  call MPI_Scatter(given, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_scattered(2 * rank, 2))
  call fill()
  call MPI_Iscatter(given, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_scattered(2 * rank, 2))
  call MPI_Scatter_init(given, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, last, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_scattered(2 * rank, 2))
  end do
  call release()
  call fill()
  call MPI_Scatterv(given, sizes, places, MPI_INTEGER, got, own(1), MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_scattered(int(places(rank + 1)), rank + 1))
  call fill()
  call MPI_Iscatterv(given, sizes, places, MPI_INTEGER, got, own(1), MPI_INTEGER, last, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_scattered(int(places(rank + 1)), rank + 1))
  call MPI_Scatterv_init(given, sizes, places, MPI_INTEGER, got, own(1), MPI_INTEGER, last, MPI_COMM_WORLD, MPI_INFO_NULL, &
      request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_scattered(int(places(rank + 1)), rank + 1))
  end do
  call release()
  call fill()
  if (rank == last) then
    call MPI_Scatterv(given, sizes, places, MPI_INTEGER, MPI_IN_PLACE, own(1), MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
    CHECK(all(got == -1))
  else
    call MPI_Scatterv(given, sizes, places, MPI_INTEGER, got, own(1), MPI_INTEGER, last, MPI_COMM_WORLD, ierror)
    CHECK(is_scattered(int(places(rank + 1)), rank + 1))
  end if
  OK(ierror)

  ! To all from all.
  call fill()
  call MPI_Allgather(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_gathered(.true.))
  call fill()
  call MPI_Iallgather(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_gathered(.true.))
  call MPI_Allgather_init(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_gathered(.true.))
  end do
  call release()
  call fill()
  got(2 * rank + 1:2 * rank + 2) = mine(1:2)
  call MPI_Iallgather(MPI_IN_PLACE, 0_k, MPI_DATATYPE_NULL, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_gathered(.true.))

  call fill()
  call MPI_Allgatherv(mine, own(1), MPI_INTEGER, got, sizes, places, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_backwards(.true.))
  call fill()
  call MPI_Iallgatherv(mine, own(1), MPI_INTEGER, got, sizes, places, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_backwards(.true.))
  call MPI_Allgatherv_init(mine, own(1), MPI_INTEGER, got, sizes, places, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, &
      ierror)
  do i = 1, 2
    call again()
    CHECK(is_backwards(.true.))
  end do
  call release()

  ! From each to each.
  call fill()
  call MPI_Alltoall(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_exchanged())
  call fill()
  call MPI_Ialltoall(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_exchanged())
  call MPI_Alltoall_init(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_exchanged())
  end do
  call release()
  call fill()
  got(1:6) = mine
  call MPI_Ialltoall(MPI_IN_PLACE, 0_k, MPI_DATATYPE_NULL, got, 2_k, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_exchanged())

  call fill()
  call MPI_Alltoallv(mine, sizes, starts, MPI_INTEGER, got, own, from, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_all_backwards())
  call fill()
  call MPI_Ialltoallv(mine, sizes, starts, MPI_INTEGER, got, own, from, MPI_INTEGER, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_all_backwards())
  call MPI_Alltoallv_init(mine, sizes, starts, MPI_INTEGER, got, own, from, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, &
      request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_all_backwards())
  end do
  call release()

  ! The same, of types that have other sizes on the other side.
  call fill()
  call MPI_Alltoallw(mine, one, bytes, blocks, got, own, from_bytes, numbers, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_all_backwards())
  call fill()
  call MPI_Ialltoallw(mine, one, bytes, blocks, got, own, from_bytes, numbers, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_all_backwards())
  call MPI_Alltoallw_init(mine, one, bytes, blocks, got, own, from_bytes, numbers, MPI_COMM_WORLD, MPI_INFO_NULL, request, &
      ierror)
  ! It has its own copy of them.
  numbers = MPI_DATATYPE_NULL
  from_bytes = 0
  do i = 1, 2
    call again()
    CHECK(is_all_backwards())
  end do
  call release()

  ! Of nothing.
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  OK(ierror)
  call MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
  end do
  call release()

  do i = 1, 3
    call MPI_Type_free(blocks(i), ierror)
  end do
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'gathers: right'

contains

  ! Other numbers than last time.
  subroutine fill()
    integer :: at
    round = round + 1
    mine = [(of(rank, at), at = 1, 6)]
    given = -2
    if (rank == last) given = [(of(10, at), at = 1, 12)]
    got = -1
  end subroutine

  integer function of(whom, number)
    integer, intent(in) :: whom, number
    of = 10000 * round + 100 * whom + number
  end function

  subroutine finish()
    OK(ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    call MPI_F_sync_reg(got)
    call MPI_F_sync_reg(given)
  end subroutine

  subroutine again()
    OK(ierror)
    call fill()
    call MPI_Start(request, ierror)
    call finish()
    CHECK(request /= MPI_REQUEST_NULL)
  end subroutine

  subroutine release()
    call MPI_Request_free(request, ierror)
    OK(ierror)
    CHECK(request == MPI_REQUEST_NULL)
  end subroutine

  logical function is_told()
    integer :: at
    is_told = all(given == [(of(10, at), at = 1, 12)])
  end function

  ! Two of each, where they are wanted.
  logical function is_gathered(here)
    logical, intent(in) :: here
    integer :: whom, at
    is_gathered = all(got(7:) == -1)
    if (here) is_gathered = is_gathered .and. all(got(1:6) == [((of(whom, at), at = 1, 2), whom = 0, 2)])
    if (.not. here) is_gathered = all(got == -1)
  end function

  logical function is_backwards(here)
    logical, intent(in) :: here
    integer :: at
    is_backwards = all(got == -1)
    if (here) is_backwards = all(got == [(of(2, at), at = 1, 3), -1, (of(1, at), at = 1, 2), -1, of(0, 1), (-1, at = 9, 12)])
  end function

  logical function is_scattered(start, count)
    integer, intent(in) :: start, count
    integer :: at
    is_scattered = all(got(:count) == [(of(10, start + at), at = 1, count)]) .and. all(got(count + 1:) == -1)
  end function

  logical function is_exchanged()
    integer :: whom, at
    is_exchanged = all(got(1:6) == [((of(whom, 2 * rank + at), at = 1, 2), whom = 0, 2)]) .and. all(got(7:) == -1)
  end function

  logical function is_all_backwards()
    integer :: whom, at, count, start
    count = rank + 1
    start = int(starts(count))
    is_all_backwards = all(got(:3 * count) == [((of(whom, start + at), at = 1, count), whom = 2, 0, -1)])
    is_all_backwards = is_all_backwards .and. all(got(3 * count + 1:) == -1)
  end function
end program
#include "check.h"
