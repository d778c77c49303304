! ranks: 2
! interfaces: mpif mpi f08 large
! says: partitioned: right
! Messages in parts that become ready one by one, with another number of parts at the receiver (MPI-5.0 chapter 4).
#include "interface.h"
program partitioned
  USES
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS
  integer :: ierror, rank
  integer, LATER :: sent(12), got(12)
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  ! Six parts of two, and three of four.
  if (rank == 0) then
    call MPI_Psend_init(sent, 6, 2_k, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  else
    call MPI_Precv_init(got, 3, 4_k, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  end if
  call exchange(1)
#if defined(MPI)
  ! These two have longer counts here, too.
  if (rank == 0) then
    call MPI_Psend_init(sent, 6, 2_MPI_COUNT_KIND, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  else
    call MPI_Precv_init(got, 3, 4_MPI_COUNT_KIND, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
  end if
  call exchange(11)
#endif
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'partitioned: right'

contains

  ! Three rounds, whose requests go then.
  subroutine exchange(first)
    integer, intent(in) :: first
    integer :: round
    OK(ierror)
    do round = first, first + 2
      sent = -1
      got = -1
      call MPI_Start(request, ierror)
      OK(ierror)
      if (rank == 0) then
        call send(round)
      else
        call receive(round)
      end if
      CHECK(request /= MPI_REQUEST_NULL)
    end do
    call MPI_Request_free(request, ierror)
    OK(ierror)
    CHECK(request == MPI_REQUEST_NULL)
  end subroutine

  ! Partitions count from 0, and ranges have their ends.
  subroutine send(round)
    integer, intent(in) :: round
    logical :: flag
    STATUS(status)
    sent(9:12) = numbers(round, 9, 12)
    call MPI_Pready_range(4, 5, request, ierror)
    OK(ierror)
    call MPI_Test(request, flag, status, ierror)
    OK(ierror)
    CHECK(.not. flag)
    sent(1:2) = numbers(round, 1, 2)
    sent(5:6) = numbers(round, 5, 6)
    call MPI_Pready_list(2, [2, 0], request, ierror)
    OK(ierror)
    sent(3:4) = numbers(round, 3, 4)
    call MPI_Pready(1, request, ierror)
    OK(ierror)
    sent(7:8) = numbers(round, 7, 8)
    call MPI_Pready(3, request, ierror)
    OK(ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
  end subroutine

  subroutine receive(round)
    integer, intent(in) :: round
    logical :: flag
    integer :: part
    STATUS(status)
    do part = 2, 0, -1
      flag = .false.
      do while (.not. flag)
        call MPI_Parrived(request, part, flag, ierror)
        OK(ierror)
      end do
      call MPI_F_sync_reg(got)
      CHECK(all(got(4 * part + 1:4 * part + 4) == numbers(round, 4 * part + 1, 4 * part + 4)))
    end do
    call MPI_Wait(request, status, ierror)
    OK(ierror)
    CHECK(SOURCE_OF(status) == 0 .and. TAG_OF(status) == 5)
    call MPI_F_sync_reg(got)
    CHECK(all(got == numbers(round, 1, 12)))
  end subroutine

  function numbers(round, first, latest)
    integer, intent(in) :: round, first, latest
    integer :: numbers(latest - first + 1)
    integer :: at
    numbers = [(1000 * round + at, at = first, latest)]
  end function
end program
#include "check.h"
