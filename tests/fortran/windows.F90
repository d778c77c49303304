! ranks: 2
! says: windows: right
! One-sided communication, windows that MPI allocates, their attributes (MPI-5.0 chapter 12).
#include "interface.h"
program windows
  USES
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  INCLUDES
  integer :: ierror, rank, i, other, unit
  integer, asynchronous :: memory(10), values(10), result(10), old
  integer, pointer :: there(:)
  integer(kind=MPI_ADDRESS_KIND) :: bytes, value
  logical :: flag
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_Request) :: request
#if defined(MPIF)
  integer(kind=MPI_ADDRESS_KIND) :: base
#else
  type(c_ptr) :: base
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  memory = rank
  bytes = 40
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  OK(ierror)
  call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
  CHECK(flag .and. value == 40)
  call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
  CHECK(flag .and. value == 4)
  call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
  CHECK(flag .and. value == MPI_WIN_FLAVOR_CREATE)
  call MPI_Win_get_attr(win, MPI_WIN_BASE, value, flag, ierror)
  call MPI_Get_address(memory, bytes, ierror)
  CHECK(flag .and. value == bytes)
  values = [(100 * rank + i, i = 1, 10)]
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(values, 3, MPI_INTEGER, other, 2_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win, ierror)
  OK(ierror)
  call MPI_Win_fence(0, win, ierror)
  CHECK(all(memory == [rank, rank, 100 * other + 1, 100 * other + 2, 100 * other + 3, rank, rank, rank, rank, rank]))
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Accumulate(values, 1, MPI_INTEGER, other, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, MPI_SUM, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  CHECK(memory(1) == rank + 100 * other + 1)
  result = -1
  call MPI_Win_lock(MPI_LOCK_SHARED, other, 0, win, ierror)
  call MPI_Get(result, 2, MPI_INTEGER, other, 3_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, ierror)
  call MPI_Win_flush(other, win, ierror)
  CHECK(all(result(1:3) == [100 * rank + 2, 100 * rank + 3, -1]))
  call MPI_Rget(result, 1, MPI_INTEGER, other, 2_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  CHECK(result(1) == 100 * rank + 1)
  call MPI_Win_unlock(other, win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_lock_all(0, win, ierror)
  call MPI_Fetch_and_op(7, old, MPI_INTEGER, other, 9_MPI_ADDRESS_KIND, MPI_SUM, win, ierror)
  call MPI_Win_flush(other, win, ierror)
  CHECK(old == other)
  call MPI_Compare_and_swap(70, other + 7, old, MPI_INTEGER, other, 9_MPI_ADDRESS_KIND, win, ierror)
  call MPI_Win_flush(other, win, ierror)
  CHECK(old == other + 7)
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  CHECK(memory(10) == 70)
  call MPI_Win_free(win, ierror)
  CHECK(win == MPI_WIN_NULL)

  ! Memory that MPI gives: the address of it.
  bytes = 400
  call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
  OK(ierror)
  call see(base)
  there = rank
  call MPI_Win_fence(0, win, ierror)
  call MPI_Put(rank + 50, 1, MPI_INTEGER, other, 99_MPI_ADDRESS_KIND, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  CHECK(there(100) == other + 50 .and. there(99) == rank)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_free(win, ierror)
  call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, win, ierror)
  OK(ierror)
  call see(base)
  there(1) = rank + 5
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_shared_query(win, other, bytes, unit, base, ierror)
  CHECK(bytes == 400 .and. unit == 4)
  call see(base)
  CHECK(there(1) == other + 5)
  call MPI_Win_fence(0, win, ierror)
  call MPI_Win_free(win, ierror)
  call MPI_Alloc_mem(bytes, MPI_INFO_NULL, base, ierror)
  call see(base)
  there = 3
  call MPI_Free_mem(there, ierror)
  OK(ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'windows: right'

contains

  subroutine see(base)
#if defined(MPIF)
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: base
    call c_f_pointer(transfer(base, c_null()), there, [100])
#else
    type(c_ptr), intent(in) :: base
    call c_f_pointer(base, there, [100])
#endif
  end subroutine

#if defined(MPIF)
  function c_null()
    use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr
    type(c_ptr) :: c_null
    c_null = c_null_ptr
  end function
#endif
end program
#include "check.h"
