! ranks: 1 2 4
! says: collectives: right
! Collective operations, IN_PLACE, operations of the program, nonblocking and persistent ones (MPI-5.0 chapter 6).
#include "interface.h"
module operations
contains
  ! What comes first wins: associative, but not commutative.
#if defined(F08)
  subroutine first_wins(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    use mpi_f08
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    integer :: i
    if (datatype /= MPI_INTEGER) error stop 2
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    do i = 1, len
      inout(i) = in(i)
    end do
  end subroutine
#else
  subroutine first_wins(in, inout, len, datatype)
    USES
    implicit none
    INCLUDES
    integer :: len, datatype, i
    integer :: in(len), inout(len)
    if (datatype /= MPI_INTEGER) error stop 2
    do i = 1, len
      inout(i) = in(i)
    end do
  end subroutine
#endif
end module

program collectives
  USES
  use operations
  implicit none
  INCLUDES
  integer :: ierror, rank, ranks, i
  integer, asynchronous :: total
  integer, allocatable, asynchronous :: one(:), all_of(:), places(:)
  integer, allocatable :: counts(:), bytes(:)
  HANDLE(MPI_Datatype), allocatable :: types(:)
  HANDLE(MPI_Op) :: op
  HANDLE(MPI_Request) :: request
  logical :: flag, truth
  double precision :: best(2)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  allocate (one(2), all_of(2 * ranks), counts(ranks), places(ranks), bytes(ranks), types(ranks))

  total = 0
  if (rank == 0) total = 99
  call MPI_Bcast(total, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  CHECK(total == 99)
  call MPI_Reduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    CHECK(total == ranks * (ranks + 1) / 2)
  end if
  call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
  CHECK(total == ranks)
  total = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(total == ranks * (ranks + 1) / 2)
  call MPI_Allreduce(rank == 0, truth, 1, MPI_LOGICAL, MPI_LOR, MPI_COMM_WORLD, ierror)
  CHECK(truth)
  best = [dble(modulo(rank + 1, ranks)), dble(rank)]
  call MPI_Allreduce(MPI_IN_PLACE, best, 1, MPI_2DOUBLE_PRECISION, MPI_MINLOC, MPI_COMM_WORLD, ierror)
  CHECK(nint(best(2)) == ranks - 1)
  call MPI_Scan(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(total == rank + 1)

  one = [rank, -rank]
  call MPI_Allgather(one, 2, MPI_INTEGER, all_of, 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  CHECK(all(all_of(1::2) == [(i, i = 0, ranks - 1)]))
  all_of = -1
  all_of(2 * rank + 1:2 * rank + 2) = one
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all_of, 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  CHECK(all(all_of(1::2) == [(i, i = 0, ranks - 1)]))
  counts = 1
  places = [(2 * (ranks - i), i = 1, ranks)]
  all_of = -1
  call MPI_Gatherv(rank, 1, MPI_INTEGER, all_of, counts, places, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    CHECK(all(all_of(1::2) == [(ranks - i, i = 1, ranks)]) .and. all(all_of(2::2) == -1))
  end if
  all_of = [(rank * 100 + (i - 1) / 2, i = 1, 2 * ranks)]
  call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INTEGER, all_of, 2, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  CHECK(all(all_of(1::2) == [(i * 100 + rank, i = 0, ranks - 1)]))
  all_of = [(rank * 100 + i, i = 1, 2 * ranks)]
  types = MPI_INTEGER
  bytes = [(4 * (i - 1), i = 1, ranks)]
  places = -1
  call MPI_Alltoallw(all_of, counts, bytes, types, places, counts, bytes, types, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(all(places == [(i * 100 + rank + 1, i = 0, ranks - 1)]))
  call MPI_Reduce_scatter_block([(i, i = 1, ranks)], total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  CHECK(total == ranks * (rank + 1))

  ! An operation of the program, which is not commutative.
  call MPI_Op_create(first_wins, .false., op, ierror)
  OK(ierror)
  call MPI_Op_commutative(op, flag, ierror)
  CHECK(.not. flag)
  one = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, one, 2, MPI_INTEGER, op, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(all(one == 1))
  call MPI_Op_free(op, ierror)
  CHECK(op == MPI_OP_NULL)

  ! Nonblocking and persistent.
  total = rank
  call MPI_Iallreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  CHECK(total == ranks * (ranks - 1) / 2)
  call MPI_Bcast_init(one, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  OK(ierror)
  do i = 1, 2
    one = rank + i
    call MPI_Start(request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(all(one == i))
  end do
  call MPI_Request_free(request, ierror)
  call MPI_Ialltoallw(all_of, counts, bytes, types, places, counts, bytes, types, MPI_COMM_WORLD, request, ierror)
  types = MPI_DATATYPE_NULL
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  OK(ierror)
  call MPI_Ibarrier(MPI_COMM_WORLD, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'collectives: right'
end program
#include "check.h"
