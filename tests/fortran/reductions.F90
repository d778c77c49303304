! ranks: 3
! interfaces: mpif mpi f08 large
! says: reductions: right
! Reductions to one, to all and of those before: blocking, nonblocking, persistent and in place; operations of the program that do
! not commute; types that C does not have (MPI-5.0 §6.9 to §6.13).
#include "interface.h"
module operations
  implicit none
  integer :: calls = 0
contains
  ! Numbers one behind the other: a value, and what it takes to shift by it. Associative, but not commutative.
#if defined(F08)
  subroutine behind(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding
    use mpi_f08
    type(c_ptr), value :: invec, inoutvec
    integer(LENGTHS) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:, :), inout(:, :)
    if (datatype /= MPI_2INTEGER) error stop 2
    call c_f_pointer(invec, in, [2, int(len)])
    call c_f_pointer(inoutvec, inout, [2, int(len)])
#else
  subroutine behind(in, inout, len, datatype)
    USES
    INCLUDES
    integer :: len, datatype
    integer :: in(2, len), inout(2, len)
    if (datatype /= MPI_2INTEGER) error stop 2
#endif
    calls = calls + 1
    inout(1, :) = in(1, :) * inout(2, :) + inout(1, :)
    inout(2, :) = in(2, :) * inout(2, :)
  end subroutine
end module

program reductions
  USES
  use operations
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS, last = 2
  integer(k), parameter :: sizes(3) = [1_k, 2_k, 3_k]
  integer :: ierror, rank, i, round = 0
  integer, LATER :: mine(6), got(6), pairs(2, 2), joined(2, 2)
  logical :: flag
  HANDLE(MPI_Op) :: op
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  ! To one.
  call fill()
  call MPI_Reduce(mine, got, 6_k, MPI_INTEGER, MPI_SUM, last, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_sum(0, 2, 0, merge(6, 0, rank == last)))
  call fill()
  call MPI_Ireduce(mine, got, 6_k, MPI_INTEGER, MPI_SUM, last, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_sum(0, 2, 0, merge(6, 0, rank == last)))
  call MPI_Reduce_init(mine, got, 6_k, MPI_INTEGER, MPI_SUM, last, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_sum(0, 2, 0, merge(6, 0, rank == last)))
  end do
  call release()
  call fill()
  if (rank == last) then
    got = mine
    call MPI_Ireduce(MPI_IN_PLACE, got, 6_k, MPI_INTEGER, MPI_SUM, last, MPI_COMM_WORLD, request, ierror)
  else
    call MPI_Ireduce(mine, got, 6_k, MPI_INTEGER, MPI_SUM, last, MPI_COMM_WORLD, request, ierror)
  end if
  call finish()
  CHECK(is_sum(0, 2, 0, merge(6, 0, rank == last)))

  ! To all.
  call fill()
  call MPI_Allreduce(mine, got, 5_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_sum(0, 2, 0, 5))
  call fill()
  call MPI_Iallreduce(mine, got, 5_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_sum(0, 2, 0, 5))
  call MPI_Allreduce_init(mine, got, 5_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_sum(0, 2, 0, 5))
  end do
  call release()

  ! To each a part.
  call fill()
  call MPI_Reduce_scatter(mine, got, sizes, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_sum(0, 2, rank * (rank + 1) / 2, rank + 1))
  call fill()
  call MPI_Ireduce_scatter(mine, got, sizes, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_sum(0, 2, rank * (rank + 1) / 2, rank + 1))
  call MPI_Reduce_scatter_init(mine, got, sizes, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_sum(0, 2, rank * (rank + 1) / 2, rank + 1))
  end do
  call release()
  call fill()
  call MPI_Reduce_scatter_block(mine, got, 2_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_sum(0, 2, 2 * rank, 2))
  call fill()
  call MPI_Ireduce_scatter_block(mine, got, 2_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_sum(0, 2, 2 * rank, 2))
  call MPI_Reduce_scatter_block_init(mine, got, 2_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_sum(0, 2, 2 * rank, 2))
  end do
  call release()
  call fill()
  got = mine
  call MPI_Reduce_scatter_block(MPI_IN_PLACE, got, 2_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  got(3:) = -1
  CHECK(is_sum(0, 2, 2 * rank, 2))

  ! Of those before, with this one and without. The first has nobody before it, and what it gets is nothing.
  call fill()
  call MPI_Scan(mine, got, 6_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(is_sum(0, rank, 0, 6))
  call fill()
  call MPI_Iscan(mine, got, 6_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(is_sum(0, rank, 0, 6))
  call MPI_Scan_init(mine, got, 6_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(is_sum(0, rank, 0, 6))
  end do
  call release()
  call fill()
  call MPI_Exscan(mine, got, 6_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(rank == 0 .or. is_sum(0, rank - 1, 0, 6))
  call fill()
  call MPI_Iexscan(mine, got, 6_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(rank == 0 .or. is_sum(0, rank - 1, 0, 6))
  call MPI_Exscan_init(mine, got, 6_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  do i = 1, 2
    call again()
    CHECK(rank == 0 .or. is_sum(0, rank - 1, 0, 6))
  end do
  call release()
  call fill()
  got = mine
  call MPI_Exscan(MPI_IN_PLACE, got, 6_k, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(rank == 0 .or. is_sum(0, rank - 1, 0, 6))

  ! An operation of the program keeps the order of the ranks, and of the two buffers of one process.
#if defined(LARGE)
  call MPI_Op_create_c(behind, .false., op, ierror)
#else
  call MPI_Op_create(behind, .false., op, ierror)
#endif
  OK(ierror)
  call MPI_Op_commutative(op, flag, ierror)
  CHECK(.not. flag)
  pairs = reshape([1, 10, 2, 100], [2, 2])
  joined = reshape([3, 10, 4, 10], [2, 2])
  call MPI_Reduce_local(pairs, joined, 2_k, MPI_2INTEGER, op, ierror)
  OK(ierror)
  CHECK(all(joined(1, :) == [13, 24]) .and. all(joined(2, :) == [100, 1000]))
  pairs = reshape([rank + 1, 10, rank + 4, 10], [2, 2])
  call MPI_Allreduce(pairs, joined, 2_k, MPI_2INTEGER, op, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(all(joined(1, :) == [123, 456]) .and. all(joined(2, :) == 1000))
  call MPI_Exscan(pairs, joined, 2_k, MPI_2INTEGER, op, MPI_COMM_WORLD, ierror)
  CHECK(rank == 0 .or. all(joined(1, :) == [merge(1, 12, rank == 1), merge(4, 45, rank == 1)]))
  call MPI_Reduce_init(pairs, joined, 2_k, MPI_2INTEGER, op, last, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  OK(ierror)
  do i = 1, 2
    joined = 0
    pairs(1, 1) = rank + i
    call MPI_Start(request, ierror)
    call finish()
    CHECK(all(joined(1, :) == merge([111 * i + 12, 456], [0, 0], rank == last)))
  end do
  call release()
  CHECK(calls > 0)
  call MPI_Op_free(op, ierror)
  CHECK(op == MPI_OP_NULL)

  call of_each_kind()
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'reductions: right'

contains

  subroutine fill()
    integer :: at
    round = round + 1
    mine = [(of(rank, at), at = 1, 6)]
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
    call MPI_F_sync_reg(joined)
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

  ! So many elements from this one on, of these ranks, and nothing behind them.
  logical function is_sum(first, latest, start, count)
    integer, intent(in) :: first, latest, start, count
    integer :: whom, at
    is_sum = all(got(:count) == [(sum([(of(whom, start + at), whom = first, latest)]), at = 1, count)])
    is_sum = is_sum .and. all(got(count + 1:) == -1)
  end function

  subroutine of_each_kind()
    logical :: truths(2), all_truths(2)
    complex :: waves(2), sum_of_waves(2)
    complex(kind(0d0)) :: wave, product_of_waves
    double precision :: best(2), best_of_all(2)
    real :: near(2), nearest(2)
    integer :: place(2), places(2)
    truths = [rank == 1, rank >= 0]
    call MPI_Allreduce(truths, all_truths, 2_k, MPI_LOGICAL, MPI_LXOR, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(all(all_truths .eqv. [.true., .true.]))
    call MPI_Allreduce(truths, all_truths, 2_k, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
    CHECK(all(all_truths .eqv. [.false., .true.]))
    waves = [cmplx(rank, 1), cmplx(-1, rank)]
    call MPI_Allreduce(waves, sum_of_waves, 2_k, MPI_COMPLEX, MPI_SUM, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(all(sum_of_waves == [(3.0, 3.0), (-3.0, 3.0)]))
    wave = cmplx(0, rank + 1, kind(wave))
    call MPI_Allreduce(wave, product_of_waves, 1_k, MPI_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(product_of_waves == (0d0, -6d0))
    best = [dble(modulo(rank + 2, 3)), dble(rank)]
    call MPI_Allreduce(best, best_of_all, 1_k, MPI_2DOUBLE_PRECISION, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(all(best_of_all == [2d0, 0d0]))
    near = [real(modulo(rank + 2, 3)), real(rank)]
    call MPI_Allreduce(near, nearest, 1_k, MPI_2REAL, MPI_MINLOC, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(all(nearest == [0.0, 1.0]))
    ! Of the same value the lower place.
    place = [7, 5 - rank]
    call MPI_Allreduce(place, places, 1_k, MPI_2INTEGER, MPI_MAXLOC, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(all(places == [7, 3]))
    call MPI_Allreduce([2**rank], place, 1_k, MPI_INTEGER, MPI_BOR, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(place(1) == 7)
  end subroutine
end program
#include "check.h"
