! ranks: 2 4
! says: communicators: right
! Groups, communicators, names, attributes and their callbacks, intercommunicators (MPI-5.0 chapter 7).
#include "interface.h"
module callbacks
  implicit none
  integer :: copied = 0, deleted = 0
contains
  subroutine copy(oldcomm, keyval, extra_state, value_in, value_out, flag, ierror)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Comm) :: oldcomm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, value_in, value_out
    logical :: flag
    if (extra_state /= 2_8**40) error stop 3
    copied = copied + 1
    flag = value_in < 0
    value_out = value_in - 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine delete(comm, keyval, value, extra_state, ierror)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Comm) :: comm
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    if (extra_state /= 2_8**40) error stop 4
    deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program communicators
  USES
  use callbacks
  implicit none
  INCLUDES
  integer :: ierror, rank, ranks, part_rank, result, keyval, second, length
  integer :: numbers(2), ranges(3, 1)
  integer(kind=MPI_ADDRESS_KIND) :: value
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  HANDLE(MPI_Comm) :: half, twin, inter, merged, made
  HANDLE(MPI_Group) :: world, ends, chosen
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_split(MPI_COMM_WORLD, modulo(rank, 2), -rank, half, ierror)
  OK(ierror)
  call MPI_Comm_rank(half, part_rank, ierror)
  CHECK(part_rank == (ranks - 1 - rank) / 2)
  call MPI_Comm_compare(half, MPI_COMM_WORLD, result, ierror)
  CHECK(result == MPI_UNEQUAL)
  call MPI_Comm_set_name(half, 'half of them', ierror)
  call MPI_Comm_get_name(half, name, length, ierror)
  CHECK(name == 'half of them' .and. length == 12)

  call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
  call MPI_Group_incl(world, 2, [ranks - 1, 0], ends, ierror)
  call MPI_Group_translate_ranks(ends, 2, [0, 1], world, numbers, ierror)
  CHECK(all(numbers == [ranks - 1, 0]))
  ranges(:, 1) = [0, ranks - 1, ranks - 1]
  call MPI_Group_range_incl(world, 1, ranges, chosen, ierror)
  call MPI_Group_compare(ends, chosen, result, ierror)
  CHECK(result == MPI_SIMILAR .or. result == MPI_IDENT)
  call MPI_Comm_create(MPI_COMM_WORLD, ends, made, ierror)
  CHECK((made == MPI_COMM_NULL) .eqv. (rank /= 0 .and. rank /= ranks - 1))
  if (made /= MPI_COMM_NULL) call MPI_Comm_free(made, ierror)
  call MPI_Group_free(ends, ierror)
  call MPI_Group_free(chosen, ierror)
  call MPI_Group_free(world, ierror)
  CHECK(world == MPI_GROUP_NULL)

  ! Attributes: as long as an address, of either sign; callbacks hear of copies and of the end.
  call MPI_Comm_create_keyval(copy, delete, keyval, 2_MPI_ADDRESS_KIND**40, ierror)
  OK(ierror)
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, second, 0_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_set_attr(half, keyval, -2_MPI_ADDRESS_KIND**41, ierror)
  call MPI_Comm_set_attr(half, second, 5_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_dup(half, twin, ierror)
  OK(ierror)
  CHECK(copied == 1)
  call MPI_Comm_get_attr(twin, keyval, value, flag, ierror)
  CHECK(flag .and. value == -2_8**41 - 1)
  call MPI_Comm_get_attr(twin, second, value, flag, ierror)
  CHECK(flag .and. value == 5)
  call MPI_Comm_free(twin, ierror)
  CHECK(deleted == 1 .and. twin == MPI_COMM_NULL)
  call MPI_Comm_set_attr(half, keyval, 3_MPI_ADDRESS_KIND, ierror)
  call MPI_Comm_idup(half, twin, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Comm_get_attr(twin, keyval, value, flag, ierror)
  CHECK(.not. flag)
  call MPI_Comm_delete_attr(half, keyval, ierror)
  CHECK(deleted == 3)
  call MPI_Comm_free_keyval(keyval, ierror)
  CHECK(keyval == MPI_KEYVAL_INVALID)
  ! Those of MPI are addresses in C, values here.
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  CHECK(flag .and. value >= 32767)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, value, flag, ierror)
  CHECK(flag .and. (value == 0 .or. value == 1))

  ! The first of the other half is the last of its ranks in the world.
  call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, ranks - 2 + modulo(rank + 1, 2), 9, inter, ierror)
  OK(ierror)
  call MPI_Comm_test_inter(inter, flag, ierror)
  CHECK(flag)
  call MPI_Comm_remote_size(inter, result, ierror)
  CHECK(result == ranks / 2)
  call MPI_Intercomm_merge(inter, modulo(rank, 2) == 1, merged, ierror)
  call MPI_Comm_rank(merged, result, ierror)
  CHECK(result == part_rank + modulo(rank, 2) * ranks / 2)
  call MPI_Comm_free(merged, ierror)
  call MPI_Comm_free(inter, ierror)
  call MPI_Comm_free(twin, ierror)
  call MPI_Comm_free(half, ierror)
#if !defined(F08)
  call old_names()
#endif
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'communicators: right'
#if !defined(F08)
contains
  ! The names of MPI-1, whose attributes are INTEGERs.
  subroutine old_names()
    integer :: old, attribute
    call MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, old, 0, ierror)
    OK(ierror)
    call MPI_Attr_put(MPI_COMM_SELF, old, -12, ierror)
    call MPI_Comm_dup(MPI_COMM_SELF, twin, ierror)
    call MPI_Attr_get(twin, old, attribute, flag, ierror)
    CHECK(flag .and. attribute == -12)
    call MPI_Comm_free(twin, ierror)
    call MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, attribute, flag, ierror)
    CHECK(flag .and. attribute >= 32767)
  end subroutine
#endif
end program
#include "check.h"
