! ranks: 3
! interfaces: mpif mpi f08 large
! says: neighborhoods: right
! What neighbors on a ring tell each other: blocking, nonblocking and persistent; what topologies say of their size and of where
! ranks would lie best (MPI-5.0 chapter 8).
#include "interface.h"
program neighborhoods
  USES
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS
  integer :: ierror, rank, i, left, right, round = 0, count
  integer(k) :: own, counts(2), places(2)
  ! One element for the left, two for the right: those from the left have come from its right.
  integer(k), parameter :: sizes(2) = [1_k, 2_k], starts(2) = [0_k, 1_k], from(2) = [2_k, 1_k], at(2) = [4_k, 1_k]
  integer(k), parameter :: once(2) = 1_k
  integer(kind=MPI_ADDRESS_KIND) :: bytes(2), from_bytes(2)
  integer, LATER :: mine(6), got(6)
  HANDLE(MPI_Comm) :: ring, graph
  HANDLE(MPI_Datatype) :: blocks(2), numbers(2)
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 1, [3], [.true.], .false., ring, ierror)
  OK(ierror)
  call MPI_Cartdim_get(ring, count, ierror)
  OK(ierror)
  CHECK(count == 1)
  call MPI_Cart_shift(ring, 0, 1, left, right, ierror)
  CHECK(left == modulo(rank - 1, 3) .and. right == modulo(rank + 1, 3))
  own = rank + 1
  counts = [left + 1, right + 1]
  places = [3, 0]
  bytes = [0, 4]
  from_bytes = [16, 4]
  do i = 1, 2
    call MPI_Type_contiguous(int(i, k), MPI_INTEGER, blocks(i), ierror)
    call MPI_Type_commit(blocks(i), ierror)
  end do
  numbers = MPI_INTEGER

  ! The same to both.
  call fill()
  call MPI_Neighbor_allgather(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, ring, ierror)
  OK(ierror)
  CHECK(all(got == [of(left, 1), of(left, 2), of(right, 1), of(right, 2), -1, -1]))
  call fill()
  call MPI_Ineighbor_allgather(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, ring, request, ierror)
  call finish()
  CHECK(all(got == [of(left, 1), of(left, 2), of(right, 1), of(right, 2), -1, -1]))
  call MPI_Neighbor_allgather_init(mine, 2_k, MPI_INTEGER, got, 2_k, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(all(got == [of(left, 1), of(left, 2), of(right, 1), of(right, 2), -1, -1]))
  end do
  call release()

  ! As many as the number of the rank, those from the left behind the others.
  call fill()
  call MPI_Neighbor_allgatherv(mine, own, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, ierror)
  OK(ierror)
  CHECK(are_numbers())
  call fill()
  call MPI_Ineighbor_allgatherv(mine, own, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, request, ierror)
  call finish()
  CHECK(are_numbers())
  call MPI_Neighbor_allgatherv_init(mine, own, MPI_INTEGER, got, counts, places, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(are_numbers())
  end do
  call release()

  ! To each its own.
  call fill()
  call MPI_Neighbor_alltoall(mine, 3_k, MPI_INTEGER, got, 3_k, MPI_INTEGER, ring, ierror)
  OK(ierror)
  CHECK(are_in_halves())
  call fill()
  call MPI_Ineighbor_alltoall(mine, 3_k, MPI_INTEGER, got, 3_k, MPI_INTEGER, ring, request, ierror)
  call finish()
  CHECK(are_in_halves())
  call MPI_Neighbor_alltoall_init(mine, 3_k, MPI_INTEGER, got, 3_k, MPI_INTEGER, ring, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(are_in_halves())
  end do
  call release()
  call fill()
  call MPI_Neighbor_alltoallv(mine, sizes, starts, MPI_INTEGER, got, from, at, MPI_INTEGER, ring, ierror)
  OK(ierror)
  CHECK(are_apart())
  call fill()
  call MPI_Ineighbor_alltoallv(mine, sizes, starts, MPI_INTEGER, got, from, at, MPI_INTEGER, ring, request, ierror)
  call finish()
  CHECK(are_apart())
  call MPI_Neighbor_alltoallv_init(mine, sizes, starts, MPI_INTEGER, got, from, at, MPI_INTEGER, ring, MPI_INFO_NULL, request, &
      ierror)
  do i = 1, 2
    call again()
    CHECK(are_apart())
  end do
  call release()
  call fill()
  call MPI_Neighbor_alltoallw(mine, once, bytes, blocks, got, from, from_bytes, numbers, ring, ierror)
  OK(ierror)
  CHECK(are_apart())
  call fill()
  call MPI_Ineighbor_alltoallw(mine, once, bytes, blocks, got, from, from_bytes, numbers, ring, request, ierror)
  call finish()
  CHECK(are_apart())
  call MPI_Neighbor_alltoallw_init(mine, once, bytes, blocks, got, from, from_bytes, numbers, ring, MPI_INFO_NULL, request, ierror)
  ! It has its own copy of them.
  numbers = MPI_DATATYPE_NULL
  from_bytes = 0
  do i = 1, 2
    call again()
    CHECK(are_apart())
  end do
  call release()

  ! Where ranks would lie best; of three processes one is not on a grid or a graph of two.
  call MPI_Cart_map(MPI_COMM_WORLD, 1, [2], [.false.], i, ierror)
  OK(ierror)
  call MPI_Allreduce([merge(1, 0, i >= 0 .and. i < 2)], got, 1_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(got(1) == 2 .and. (i == MPI_UNDEFINED .or. i < 2))
  call MPI_Graph_map(MPI_COMM_WORLD, 2, [1, 2], [1, 0], i, ierror)
  OK(ierror)
  call MPI_Allreduce([merge(1, 0, i >= 0 .and. i < 2)], got, 1_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(got(1) == 2 .and. (i == MPI_UNDEFINED .or. i < 2))
  ! The middle has two neighbors.
  call MPI_Graph_create(MPI_COMM_WORLD, 3, [1, 3, 4], [1, 0, 2, 1], .false., graph, ierror)
  OK(ierror)
  do i = 0, 2
    call MPI_Graph_neighbors_count(graph, i, count, ierror)
    OK(ierror)
    CHECK(count == merge(2, 1, i == 1))
  end do
  call MPI_Comm_free(graph, ierror)
  call MPI_Comm_free(ring, ierror)
  do i = 1, 2
    call MPI_Type_free(blocks(i), ierror)
  end do
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'neighborhoods: right'

contains

  subroutine fill()
    integer :: number
    round = round + 1
    mine = [(of(rank, number), number = 1, 6)]
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

  logical function are_numbers()
    integer :: number
    are_numbers = all(got(:right + 1) == [(of(right, number), number = 1, right + 1)])
    are_numbers = are_numbers .and. all(got(4:left + 4) == [(of(left, number), number = 1, left + 1)])
    are_numbers = are_numbers .and. all(got(right + 2:3) == -1) .and. all(got(left + 5:) == -1)
  end function

  logical function are_in_halves()
    integer :: number
    are_in_halves = all(got == [(of(left, number), number = 4, 6), (of(right, number), number = 1, 3)])
  end function

  logical function are_apart()
    are_apart = all(got == [-1, of(right, 1), -1, -1, of(left, 2), of(left, 3)])
  end function
end program
#include "check.h"
