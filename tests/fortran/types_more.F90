! ranks: 2
! interfaces: mpif mpi f08 large
! says: types: right
! Every constructor of datatypes that types.F90 leaves out, sizes and extents in each kind of integer, what types are made of, packs
! and their sizes, attributes of types (MPI-5.0 chapter 5, §7.7, §19.1.9).
#include "interface.h"
module callbacks
  implicit none
  integer :: copied = 0, deleted = 0
contains
  subroutine copy(oldtype, keyval, extra_state, value_in, value_out, flag, ierror)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Datatype) :: oldtype
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    if (oldtype /= MPI_DATATYPE_NULL) copied = copied + 1
    value_out = value_in + extra_state
    flag = .true.
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(datatype, keyval, value, extra_state, ierror)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Datatype) :: datatype
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    if (value > 2_8**40 .and. extra_state == 3) deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program types_more
  USES
  use callbacks
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS, wide = MPI_ADDRESS_KIND
  ! Displacements in bytes, lower bounds and extents: addresses, or longer counts.
#if defined(LARGE)
  integer, parameter :: b = k
#else
  integer, parameter :: b = wide
#endif
  integer :: ierror, rank, other, i, source(30), sink(30)
  HANDLE(MPI_Datatype) :: made, base

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  source = [(100 * rank + i, i = 1, 30)]

  call MPI_Type_contiguous(3_k, MPI_INTEGER, made, ierror)
  call has([1, 2, 3], 0, 12)
  call MPI_Type_vector(2_k, 2_k, 3_k, MPI_INTEGER, made, ierror)
  call has([1, 2, 4, 5], 0, 20)
  call MPI_Type_create_hvector(3_k, 1_k, 16_b, MPI_INTEGER, made, ierror)
  call has([1, 5, 9], 0, 36)
  call MPI_Type_indexed(2_k, [2_k, 1_k], [3_k, 1_k], MPI_INTEGER, made, ierror)
  call has([4, 5, 2], 4, 20)
  call MPI_Type_create_hindexed(2_k, [1_k, 2_k], [20_b, 0_b], MPI_INTEGER, made, ierror)
  call has([6, 1, 2], 0, 24)
  call MPI_Type_create_indexed_block(3_k, 2_k, [4_k, 0_k, 7_k], MPI_INTEGER, made, ierror)
  call has([5, 6, 1, 2, 8, 9], 0, 36)
  call MPI_Type_create_hindexed_block(2_k, 2_k, [8_b, 0_b], MPI_INTEGER, made, ierror)
  call has([3, 4, 1, 2], 0, 16)
  call MPI_Type_create_struct(2_k, [1_k, 1_k], [8_b, 0_b], [MPI_INTEGER, MPI_2INTEGER], made, ierror)
  call has([3, 1, 2], 0, 12)
  call MPI_Type_create_subarray(2, [5_k, 3_k], [2_k, 2_k], [1_k, 1_k], MPI_ORDER_FORTRAN, MPI_INTEGER, made, ierror)
  call has([7, 8, 12, 13], 0, 60)
  ! Columns of a 4 by 4 matrix dealt to a row of two processes: the second and the fourth for the second one.
  call MPI_Type_create_darray(2, 1, 2, [4_k, 4_k], [MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_CYCLIC], &
      [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, made, ierror)
  call has([5, 6, 7, 8, 13, 14, 15, 16], 0, 64)
  call resized()
  call contents()
  call packs()
  call by_precision()
  call attributes()
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'types: right'

contains

  ! One element of the type at the sender are these integers at the receiver; it has this lower bound and upper bound.
  subroutine has(places, lower, upper)
    integer, intent(in) :: places(:), lower, upper
    integer(k) :: size
    integer(b) :: lb, extent
    integer(kind=MPI_COUNT_KIND) :: size_x, lb_x, extent_x
    OK(ierror)
    call MPI_Type_commit(made, ierror)
    OK(ierror)
    call MPI_Type_size(made, size, ierror)
    OK(ierror)
    CHECK(size == 4 * ubound(places, 1))
    call MPI_Type_size_x(made, size_x, ierror)
    OK(ierror)
    CHECK(size_x == size)
    call MPI_Type_get_extent(made, lb, extent, ierror)
    OK(ierror)
    CHECK(lb == lower .and. lb + extent == upper)
    call MPI_Type_get_extent_x(made, lb_x, extent_x, ierror)
    OK(ierror)
    CHECK(lb_x == lb .and. extent_x == extent)
    call MPI_Type_get_true_extent(made, lb, extent, ierror)
    OK(ierror)
    CHECK(lb == 4 * (minval(places) - 1) .and. lb + extent == 4 * maxval(places))
    call MPI_Type_get_true_extent_x(made, lb_x, extent_x, ierror)
    OK(ierror)
    CHECK(lb_x == lb .and. extent_x == extent)
    sink = -1
    call MPI_Sendrecv(source, 1, made, other, 1, sink, 30, MPI_INTEGER, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    CHECK(all(sink(:ubound(places, 1)) == 100 * other + places) .and. all(sink(ubound(places, 1) + 1:) == -1))
    call MPI_Type_free(made, ierror)
    CHECK(made == MPI_DATATYPE_NULL)
  end subroutine

  ! Bounds that are not those of the data.
  subroutine resized()
    integer(b) :: lb, extent
    integer :: count
    call MPI_Type_create_resized(MPI_INTEGER, -4_b, 12_b, made, ierror)
    OK(ierror)
    call MPI_Type_commit(made, ierror)
    call MPI_Type_get_extent(made, lb, extent, ierror)
    CHECK(lb == -4 .and. extent == 12)
    call MPI_Type_get_true_extent(made, lb, extent, ierror)
    CHECK(lb == 0 .and. extent == 4)
    count = 3
    call MPI_Sendrecv(source, count, made, other, 1, sink, 30, MPI_INTEGER, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    CHECK(all(sink(1:3) == 100 * other + [1, 4, 7]))
    call MPI_Type_free(made, ierror)
#if defined(LARGE) && !defined(ELSEWHERE)
    ! Where an address is as long as a count, only their names tell these from those above.
    call MPI_Type_create_resized_c(MPI_INTEGER, 8_k, 3000000000_k, made, ierror)
    OK(ierror)
    call MPI_Type_get_extent_c(made, lb, extent, ierror)
    OK(ierror)
    CHECK(lb == 8 .and. extent == 3000000000_k)
    call MPI_Type_get_true_extent_c(made, lb, extent, ierror)
    OK(ierror)
    CHECK(lb == 0 .and. extent == 4)
    call MPI_Type_free(made, ierror)
#endif
  end subroutine

  subroutine contents()
    integer(k) :: numbers, addresses, types
#if defined(LARGE)
    integer(k) :: longs, long_counts(10)
#endif
    integer :: combiner, integers(10)
    integer(wide) :: places(10)
    HANDLE(MPI_Datatype) :: parts(2)
    call MPI_Type_create_hindexed(2_k, [1_k, 2_k], [20_b, 0_b], MPI_REAL, made, ierror)
    OK(ierror)
    integers = -1
    places = -1
#if defined(LARGE)
    long_counts = -1
    call MPI_Type_get_envelope(made, numbers, addresses, longs, types, combiner, ierror)
    OK(ierror)
    CHECK(all([numbers, addresses, longs, types] == [0, 0, 5, 1]) .and. combiner == MPI_COMBINER_HINDEXED)
    call MPI_Type_get_contents(made, numbers, addresses, longs, types, integers, places, long_counts, parts, ierror)
    OK(ierror)
    CHECK(all(long_counts == [2, 1, 2, 20, 0, -1, -1, -1, -1, -1]) .and. all(integers == -1) .and. all(places == -1))
#else
    call MPI_Type_get_envelope(made, numbers, addresses, types, combiner, ierror)
    OK(ierror)
    CHECK(all([numbers, addresses, types] == [3, 2, 1]) .and. combiner == MPI_COMBINER_HINDEXED)
    call MPI_Type_get_contents(made, numbers, addresses, types, integers, places, parts, ierror)
    OK(ierror)
    CHECK(all(integers(:4) == [2, 1, 2, -1]) .and. all(places(:3) == [20, 0, -1]))
#endif
    CHECK(parts(1) == MPI_REAL)
    call MPI_Type_dup(made, base, ierror)
    OK(ierror)
    call MPI_Type_free(made, ierror)
    call MPI_Type_free(base, ierror)
    OK(ierror)
  end subroutine

  subroutine packs()
    character(len=100) :: room
    integer(k) :: position, size
    integer(b) :: place, length
    call MPI_Pack_size(3_k, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, size, ierror)
    OK(ierror)
    CHECK(size >= 24 .and. size <= 100)
    position = 0
    call MPI_Pack(source, 5_k, MPI_INTEGER, room, 100_k, position, MPI_COMM_WORLD, ierror)
    OK(ierror)
    call MPI_Pack(source(10:), 1_k, MPI_INTEGER, room, 100_k, position, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(position == 24)
    sink = -1
    position = 4
    call MPI_Unpack(room, 100_k, position, sink, 5_k, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(position == 24 .and. all(sink(:6) == [source(2:5), source(10), -1]))
    length = 0
    call MPI_Pack_external_size('external32', 6_k, MPI_INTEGER, length, ierror)
    OK(ierror)
    CHECK(length == 24)
    place = 0
    call MPI_Pack_external('external32', source, 6_k, MPI_INTEGER, room, 100_b, place, ierror)
    OK(ierror)
    ! The most significant byte comes first.
    CHECK(place == 24 .and. ichar(room(1:1)) == 0 .and. ichar(room(4:4)) == source(1))
    sink = -1
    place = 4
    call MPI_Unpack_external('external32', room, 100_b, place, sink, 5_k, MPI_INTEGER, ierror)
    OK(ierror)
    CHECK(place == 24 .and. all(sink(:6) == [source(2:6), -1]))
  end subroutine

  ! Types by digits and range are the same each time, and of their sizes.
  subroutine by_precision()
    integer, parameter :: digits(3) = [6, 15, 18]
    integer :: which, size
    complex(kind=selected_real_kind(15, 300)) :: waves(2), got(2)
    HANDLE(MPI_Datatype) :: again
    do which = 1, 3
      call MPI_Type_create_f90_complex(digits(which), MPI_UNDEFINED, made, ierror)
      OK(ierror)
      call MPI_Type_size(made, size, ierror)
      CHECK(size == 2 * storage_of(digits(which)))
      call MPI_Type_create_f90_complex(digits(which), MPI_UNDEFINED, again, ierror)
      CHECK(made == again)
      call MPI_Type_create_f90_real(digits(which), MPI_UNDEFINED, made, ierror)
      OK(ierror)
      call MPI_Type_size(made, size, ierror)
      CHECK(size == storage_of(digits(which)))
      call MPI_Type_create_f90_integer(digits(which), made, ierror)
      OK(ierror)
      call MPI_Type_size(made, size, ierror)
      CHECK(size == merge(4, 8, which == 1))
    end do
    call MPI_Type_create_f90_complex(15, 300, made, ierror)
    OK(ierror)
    waves = [cmplx(rank, 0.5d0, kind(waves)), cmplx(-1, rank, kind(waves))]
    call MPI_Sendrecv(waves, 2, made, other, 1, got, 2, made, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    CHECK(all(got == [cmplx(other, 0.5d0, kind(waves)), cmplx(-1, other, kind(waves))]))
#if !defined(ELSEWHERE)
    ! A value and where it is.
    call MPI_Type_get_value_index(MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, made, ierror)
    OK(ierror)
    CHECK(made == MPI_2DOUBLE_PRECISION)
    call MPI_Type_get_value_index(MPI_INTEGER, MPI_CHARACTER, made, ierror)
    OK(ierror)
    CHECK(made == MPI_DATATYPE_NULL)
#endif
  end subroutine

  integer function storage_of(digits)
    integer, intent(in) :: digits
    storage_of = merge(4, merge(8, 16, digits <= 15), digits <= 6)
  end function

  subroutine attributes()
    integer :: keyval
    integer(wide) :: value
    logical :: flag
    call MPI_Type_create_keyval(copy, delete, keyval, 3_wide, ierror)
    OK(ierror)
    call MPI_Type_contiguous(2_k, MPI_INTEGER, base, ierror)
    call MPI_Type_set_attr(base, keyval, 2_wide**40 + 1, ierror)
    OK(ierror)
    call MPI_Type_dup(base, made, ierror)
    OK(ierror)
    CHECK(copied == 1)
    call MPI_Type_get_attr(made, keyval, value, flag, ierror)
    CHECK(flag .and. value == 2_8**40 + 4)
    call MPI_Type_delete_attr(base, keyval, ierror)
    OK(ierror)
    CHECK(deleted == 1)
    call MPI_Type_get_attr(base, keyval, value, flag, ierror)
    CHECK(.not. flag)
    call MPI_Type_free_keyval(keyval, ierror)
    OK(ierror)
    CHECK(keyval == MPI_KEYVAL_INVALID)
    call MPI_Type_free(made, ierror)
    CHECK(deleted == 2)
    call MPI_Type_free(base, ierror)
  end subroutine
end program
#include "check.h"
