! ranks: 2
! interfaces: mpif mpi f08 large
! says: windows: right
! Epochs of some processes, each kind of access with and without a request, flushes, memory that comes and goes, what a window is
! called, who is in it, its info object, attributes and error handlers (MPI-5.0 chapter 12, §7.7, §7.8, §9.3).
#include "interface.h"
module callbacks
  implicit none
  integer :: handled = 0, codes = 0, deleted = 0
contains
  subroutine handler(win, code)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Win) :: win
    integer :: code
    if (win /= MPI_WIN_NULL) handled = handled + 1
    codes = code
  end subroutine
  subroutine delete(win, keyval, value, extra_state, ierror)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Win) :: win
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: value, extra_state
    if (win /= MPI_WIN_NULL .and. value == -2_8**40 .and. extra_state == 5) deleted = deleted + 1
    ierror = MPI_SUCCESS
  end subroutine
end module

program windows_more
  USES
  use callbacks
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS, wide = MPI_ADDRESS_KIND
  integer :: ierror, rank, other, i
  integer(wide) :: bytes
  integer, LATER :: memory(10), values(10), found(10)
  integer, pointer :: there(:)
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  values = [(100 * (rank + 1) + i, i = 1, 10)]
  bytes = 40
  call MPI_Win_create(memory, bytes, 4_k, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  OK(ierror)
  call epochs()
  call accesses()
  call objects()
  call MPI_Win_free(win, ierror)
  OK(ierror)
  CHECK(win == MPI_WIN_NULL)
  call pieces()
  call given()
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'windows: right'

contains

  ! Those who give access and those who use it say so, each to the other.
  subroutine epochs()
    HANDLE(MPI_Group) :: world, partner
    logical :: flag
    integer :: count, result
    call MPI_Win_get_group(win, world, ierror)
    OK(ierror)
    call MPI_Group_size(world, count, ierror)
    CHECK(count == 2)
    call MPI_Group_incl(world, 1, [other], partner, ierror)
    do i = 1, 2
      memory = -1
      call MPI_Win_post(partner, 0, win, ierror)
      OK(ierror)
      call MPI_Win_start(partner, 0, win, ierror)
      OK(ierror)
      call MPI_Put(values, 3_k, MPI_INTEGER, other, 2_wide, 3_k, MPI_INTEGER, win, ierror)
      OK(ierror)
      call MPI_Win_complete(win, ierror)
      OK(ierror)
      if (i == 1) then
        call MPI_Win_wait(win, ierror)
        OK(ierror)
      else
        flag = .false.
        do while (.not. flag)
          call MPI_Win_test(win, flag, ierror)
          OK(ierror)
        end do
      end if
      call MPI_F_sync_reg(memory)
      CHECK(all(memory == [-1, -1, theirs(1), theirs(2), theirs(3), -1, -1, -1, -1, -1]))
    end do
    call MPI_Group_compare(world, partner, result, ierror)
    CHECK(result == MPI_UNEQUAL)
    call MPI_Group_free(partner, ierror)
    call MPI_Group_free(world, ierror)
  end subroutine

  integer function theirs(number)
    integer, intent(in) :: number
    theirs = 100 * (other + 1) + number
  end function

  subroutine accesses()
    memory = [(10 * rank + i, i = 1, 10)]
    found = -1
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock_all(0, win, ierror)
    OK(ierror)
    call MPI_Win_sync(win, ierror)
    OK(ierror)
    ! Read, then add, each with what was there before.
    call MPI_Get(found, 2_k, MPI_INTEGER, other, 0_wide, 2_k, MPI_INTEGER, win, ierror)
    OK(ierror)
    call MPI_Win_flush_local(other, win, ierror)
    OK(ierror)
    call MPI_F_sync_reg(found)
    CHECK(all(found(1:2) == [10 * other + 1, 10 * other + 2]))
    call MPI_Get_accumulate(values, 2_k, MPI_INTEGER, found, 2_k, MPI_INTEGER, other, 2_wide, 2_k, MPI_INTEGER, MPI_SUM, win, &
        ierror)
    OK(ierror)
    call MPI_Win_flush_local_all(win, ierror)
    OK(ierror)
    call MPI_F_sync_reg(found)
    CHECK(all(found(1:2) == [10 * other + 3, 10 * other + 4]))
    call MPI_Win_flush(other, win, ierror)
    call MPI_Rget_accumulate(values, 2_k, MPI_INTEGER, found, 2_k, MPI_INTEGER, other, 2_wide, 2_k, MPI_INTEGER, MPI_NO_OP, win, &
        request, ierror)
    call finish()
    CHECK(all(found(1:2) == [10 * other + 3 + values(1), 10 * other + 4 + values(2)]))
    call MPI_Accumulate(values, 1_k, MPI_INTEGER, other, 4_wide, 1_k, MPI_INTEGER, MPI_MAX, win, ierror)
    OK(ierror)
    call MPI_Raccumulate(values(2:), 1_k, MPI_INTEGER, other, 5_wide, 1_k, MPI_INTEGER, MPI_REPLACE, win, request, ierror)
    call finish()
    call MPI_Rput(values(3:), 2_k, MPI_INTEGER, other, 6_wide, 2_k, MPI_INTEGER, win, request, ierror)
    call finish()
    call MPI_Win_flush_all(win, ierror)
    OK(ierror)
    found = -1
    call MPI_Rget(found, 4_k, MPI_INTEGER, other, 4_wide, 4_k, MPI_INTEGER, win, request, ierror)
    call finish()
    CHECK(all(found(1:4) == values(1:4)) .and. found(5) == -1)
    call MPI_Win_unlock_all(win, ierror)
    OK(ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
    CHECK(all(memory(:4) == [10 * rank + 1, 10 * rank + 2, 10 * rank + 3 + theirs(1), 10 * rank + 4 + theirs(2)]))
    CHECK(all(memory(5:) == [(theirs(i), i = 1, 4), 10 * rank + 9, 10 * rank + 10]))
    call MPI_Win_unlock(rank, win, ierror)
    OK(ierror)
  end subroutine

  subroutine finish()
    OK(ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    call MPI_F_sync_reg(found)
  end subroutine

  ! Names without the blanks behind them; what was put under a key goes with the key's function.
  subroutine objects()
    character(len=MPI_MAX_OBJECT_NAME) :: name
    character(len=20) :: text
    integer :: length, keyval, code, before
    integer(wide) :: value
    logical :: flag
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Errhandler) :: errhandler, got
    call MPI_Win_set_name(win, 'a window  ', ierror)
    OK(ierror)
    name = repeat('-', len(name))
    call MPI_Win_get_name(win, name, length, ierror)
    OK(ierror)
    CHECK(name == 'a window' .and. length == 8)
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'accumulate_ordering', 'none', ierror)
    call MPI_Win_set_info(win, info, ierror)
    OK(ierror)
    call MPI_Info_free(info, ierror)
    call MPI_Win_get_info(win, info, ierror)
    OK(ierror)
    call MPI_Info_get(info, 'accumulate_ordering', len(text), text, flag, ierror)
    CHECK(flag .and. len_trim(text) > 0)
    call MPI_Info_free(info, ierror)

    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete, keyval, 5_wide, ierror)
    OK(ierror)
    call MPI_Win_set_attr(win, keyval, -2_wide**40, ierror)
    OK(ierror)
    call MPI_Win_get_attr(win, keyval, value, flag, ierror)
    CHECK(flag .and. value == -2_8**40)
    call MPI_Win_delete_attr(win, keyval, ierror)
    OK(ierror)
    CHECK(deleted == 1)
    call MPI_Win_get_attr(win, keyval, value, flag, ierror)
    CHECK(.not. flag)
    call MPI_Win_free_keyval(keyval, ierror)
    OK(ierror)
    CHECK(keyval == MPI_KEYVAL_INVALID)

    call MPI_Win_get_errhandler(win, got, ierror)
    OK(ierror)
    CHECK(got == MPI_ERRORS_ARE_FATAL)
    call MPI_Win_create_errhandler(handler, errhandler, ierror)
    OK(ierror)
    call MPI_Win_set_errhandler(win, errhandler, ierror)
    OK(ierror)
    call MPI_Win_get_errhandler(win, got, ierror)
    CHECK(got == errhandler)
    call MPI_Errhandler_free(got, ierror)
    before = handled
    call MPI_Win_call_errhandler(win, MPI_ERR_OTHER, ierror)
    OK(ierror)
    CHECK(handled == before + 1 .and. codes == MPI_ERR_OTHER)
    ! One that the library finds.
    call MPI_Win_lock(MPI_LOCK_SHARED, 77, 0, win, code)
    CHECK(handled == before + 2 .and. code /= MPI_SUCCESS .and. code == codes)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL, ierror)
    call MPI_Errhandler_free(errhandler, ierror)
    CHECK(errhandler == MPI_ERRHANDLER_NULL)
  end subroutine

  ! Memory in a dynamic window is where its address says.
  subroutine pieces()
    integer, LATER :: part(4)
    integer(wide) :: place, far(1)
    HANDLE(MPI_Win) :: dynamic
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, dynamic, ierror)
    OK(ierror)
    part = -1
    call MPI_Win_attach(dynamic, part, 16_wide, ierror)
    OK(ierror)
    call MPI_Get_address(part, place, ierror)
    call MPI_Sendrecv([place], 1, MPI_AINT, other, 0, far, 1, MPI_AINT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Win_fence(0, dynamic, ierror)
    call MPI_Put(values, 2_k, MPI_INTEGER, other, MPI_Aint_add(far(1), 4_wide), 2_k, MPI_INTEGER, dynamic, ierror)
    OK(ierror)
    call MPI_Win_fence(0, dynamic, ierror)
    OK(ierror)
    call MPI_F_sync_reg(part)
    CHECK(all(part == [-1, theirs(1), theirs(2), -1]))
    call MPI_Win_detach(dynamic, part, ierror)
    OK(ierror)
    call MPI_Win_free(dynamic, ierror)
    OK(ierror)
  end subroutine

  ! Memory that MPI gives.
  subroutine given()
    integer(k) :: unit
#if defined(MPIF)
    integer(wide) :: base
#else
    type(c_ptr) :: base
#endif
    bytes = 400
    call MPI_Win_allocate(bytes, 4_k, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    OK(ierror)
    call see(base)
    there = rank
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(values, 1_k, MPI_INTEGER, other, 99_wide, 1_k, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    CHECK(there(100) == theirs(1) .and. there(99) == rank)
    call MPI_Win_free(win, ierror)
    call MPI_Win_allocate_shared(bytes, 4_k, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    OK(ierror)
    call see(base)
    there(1) = rank + 5
    call MPI_Win_fence(0, win, ierror)
    bytes = 0
    call MPI_Win_shared_query(win, other, bytes, unit, base, ierror)
    OK(ierror)
    CHECK(bytes == 400 .and. unit == 4)
    call see(base)
    CHECK(there(1) == other + 5)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_free(win, ierror)
    OK(ierror)
#if defined(MPI)
    call as_numbers()
#endif
  end subroutine

#if defined(MPI)
  ! `mpi` has addresses as integers, too.
  subroutine as_numbers()
    integer(wide) :: base, again
    integer :: unit
    call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, ierror)
    OK(ierror)
    call see_number(base)
    there = 3
    call MPI_Free_mem(there, ierror)
    OK(ierror)
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    OK(ierror)
    call see_number(base)
    there(1) = -1
    call MPI_Win_fence(0, win, ierror)
    call MPI_Put(values, 1, MPI_INTEGER, other, 0_wide, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    CHECK(there(1) == theirs(1))
    call MPI_Win_free(win, ierror)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
    OK(ierror)
    call see_number(base)
    there(1) = rank + 6
    call MPI_Win_shared_query(win, rank, bytes, unit, again, ierror)
    OK(ierror)
    CHECK(again == base .and. bytes == 400 .and. unit == 4)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_shared_query(win, other, bytes, unit, again, ierror)
    call see_number(again)
    CHECK(there(1) == other + 6)
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_free(win, ierror)
    OK(ierror)
  end subroutine

  subroutine see_number(base)
    use, intrinsic :: iso_c_binding, only: c_null_ptr
    integer(wide), intent(in) :: base
    call c_f_pointer(transfer(base, c_null_ptr), there, [100])
  end subroutine
#endif

  subroutine see(base)
#if defined(MPIF)
    use, intrinsic :: iso_c_binding, only: c_null_ptr
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: base
    call c_f_pointer(transfer(base, c_null_ptr), there, [100])
#else
    type(c_ptr), intent(in) :: base
    call c_f_pointer(base, there, [100])
#endif
  end subroutine
end program
#include "check.h"
