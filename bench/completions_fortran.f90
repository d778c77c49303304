! What completions.c does, by mpif.h, whose routines mpi and mpi_f08 share for these calls. Usage: completions_fortran COUNT.
program completions_fortran
  implicit none
  include 'mpif.h'
  integer, parameter :: half = 32
  integer :: requests(2 * half), statuses(MPI_STATUS_SIZE, 2 * half), numbers(2, half), i, count, ierror
  character(len=16) :: argument
  call get_command_argument(1, argument)
  read (argument, *) count
  numbers = 7
  call MPI_Init(ierror)
  do i = 1, count
    call post(half)
    call completions_waitall(requests)
    call post(half)
    call completions_statuses(requests, statuses)
    call post(half)
    call completions_testall(requests)
    call post(1)
    call completions_wait(requests(1))
    call completions_test(requests(2), statuses)
  end do
  call MPI_Finalize(ierror)
contains
  subroutine post(pairs)
    integer, intent(in) :: pairs
    integer :: k
    do k = 1, pairs
      call MPI_Irecv(numbers(1, k), 2, MPI_INTEGER, 0, k, MPI_COMM_SELF, requests(2 * k - 1), ierror)
    end do
    do k = 1, pairs
      call MPI_Isend(i, 1, MPI_INTEGER, 0, k, MPI_COMM_SELF, requests(2 * k), ierror)
    end do
  end subroutine
end program

subroutine completions_waitall(requests)
  implicit none
  include 'mpif.h'
  integer :: requests(64), ierror
  call MPI_Waitall(64, requests, MPI_STATUSES_IGNORE, ierror)
end subroutine

subroutine completions_statuses(requests, statuses)
  implicit none
  include 'mpif.h'
  integer :: requests(64), statuses(MPI_STATUS_SIZE, 64), ierror
  call MPI_Waitall(64, requests, statuses, ierror)
end subroutine

subroutine completions_testall(requests)
  implicit none
  include 'mpif.h'
  integer :: requests(64), ierror
  logical :: flag
  call MPI_Testall(64, requests, flag, MPI_STATUSES_IGNORE, ierror)
end subroutine

subroutine completions_wait(request)
  implicit none
  include 'mpif.h'
  integer :: request, ierror
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
end subroutine

subroutine completions_test(request, status)
  implicit none
  include 'mpif.h'
  integer :: request, status(MPI_STATUS_SIZE), ierror
  logical :: flag
  call MPI_Test(request, flag, status, ierror)
end subroutine
