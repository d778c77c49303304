! ranks: 2
! interfaces: mpif mpi f08 large
! says: messages: right
! Messages in the other modes, exchanged in place, matched and received later; persistent ones; buffers of the process and of a
! communicator; what is over of several requests; statuses that the program fills (MPI-5.0 chapter 3, §13.3).
#include "interface.h"
program messages_more
  USES
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS
  integer :: ierror, rank, other, i, indx, outcount, indices(4), room(1000), several_rooms(1000), value
  integer(k) :: count
  integer(kind=MPI_COUNT_KIND) :: long
  integer, LATER :: mine(4), got(4), more(4)
  logical :: flag
  STATUS(status)
  STATUSES(statuses, 4)
  HANDLE(MPI_Request) :: request, requests(4)
  HANDLE(MPI_Message) :: message
  HANDLE(MPI_Comm) :: twin

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  other = 1 - rank
  mine = [(100 * rank + i, i = 1, 4)]

  ! Blocking ones, whose counts may be long.
  if (rank == 0) then
    call MPI_Send(mine, 3_k, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
    OK(ierror)
    call MPI_Ssend(mine, 2_k, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, ierror)
    OK(ierror)
    ! The receive is there when this has arrived.
    call MPI_Recv(got, 0_k, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Rsend(mine, 4_k, MPI_INTEGER, 1, 4, MPI_COMM_WORLD, ierror)
    OK(ierror)
    call MPI_Recv(got, 0_k, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    call MPI_Irsend(mine, 4_k, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, request, ierror)
    call finish()
  else
    got = -1
    call MPI_Recv(got, 4_k, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, status, ierror)
    OK(ierror)
    CHECK(all(got == [1, 2, 3, -1]))
    call MPI_Get_count(status, MPI_INTEGER, count, ierror)
    CHECK(count == 3)
    call MPI_Get_elements(status, MPI_2INTEGER, count, ierror)
    CHECK(count == 3)
    call MPI_Get_elements_x(status, MPI_INTEGER, long, ierror)
    OK(ierror)
    CHECK(long == 3)
    call MPI_Recv(got, 4_k, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(all(got == [1, 2, 3, -1]))
    do i = 4, 5
      got = -1
      call MPI_Irecv(got, 4_k, MPI_INTEGER, 0, i, MPI_COMM_WORLD, request, ierror)
      OK(ierror)
      call MPI_Send(mine, 0_k, MPI_INTEGER, 0, 3, MPI_COMM_WORLD, ierror)
      call finish()
      CHECK(all(got == [1, 2, 3, 4]))
    end do
  end if

  ! Both at once.
  got = -1
  call MPI_Sendrecv(mine, 4_k, MPI_INTEGER, other, 6, got, 4_k, MPI_INTEGER, other, 6, MPI_COMM_WORLD, status, ierror)
  OK(ierror)
  CHECK(has_come() .and. SOURCE_OF(status) == other .and. TAG_OF(status) == 6)
  got = mine
  call MPI_Sendrecv_replace(got, 4_k, MPI_INTEGER, other, 7, other, 7, MPI_COMM_WORLD, status, ierror)
  OK(ierror)
  CHECK(has_come() .and. TAG_OF(status) == 7)
  got = -1
  call MPI_Isendrecv(mine, 4_k, MPI_INTEGER, other, 8, got, 4_k, MPI_INTEGER, other, 8, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(has_come())
  got = mine
  call MPI_Isendrecv_replace(got, 4_k, MPI_INTEGER, other, 9, other, 9, MPI_COMM_WORLD, request, ierror)
  call finish()
  CHECK(has_come())

  ! Nonblocking ones; messages that are matched first.
  got = -1
  call MPI_Isend(mine, 4_k, MPI_INTEGER, other, 10, MPI_COMM_WORLD, request, ierror)
  OK(ierror)
  call MPI_Mprobe(other, 10, MPI_COMM_WORLD, message, status, ierror)
  OK(ierror)
  CHECK(TAG_OF(status) == 10)
  call MPI_Mrecv(got, 4_k, MPI_INTEGER, message, status, ierror)
  OK(ierror)
  CHECK(has_come() .and. message == MPI_MESSAGE_NULL)
  call finish()
  got = -1
  call MPI_Issend(mine, 4_k, MPI_INTEGER, other, 11, MPI_COMM_WORLD, requests(1), ierror)
  OK(ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, flag, message, status, ierror)
    OK(ierror)
  end do
  CHECK(SOURCE_OF(status) == other .and. TAG_OF(status) == 11 .and. message /= MPI_MESSAGE_NULL)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  CHECK(count == 4)
  call MPI_Imrecv(got, 4_k, MPI_INTEGER, message, request, ierror)
  CHECK(message == MPI_MESSAGE_NULL)
  call finish()
  CHECK(has_come())
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  OK(ierror)
  call MPI_Improbe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, flag, message, status, ierror)
  CHECK(.not. flag)

  ! Through a buffer of the process.
  call MPI_Buffer_attach(room, 4000_k, ierror)
  OK(ierror)
  call MPI_Bsend(mine, 4_k, MPI_INTEGER, other, 12, MPI_COMM_WORLD, ierror)
  OK(ierror)
  call MPI_Ibsend(mine, 4_k, MPI_INTEGER, other, 13, MPI_COMM_WORLD, request, ierror)
  call finish()
  call MPI_Bsend_init(mine, 4_k, MPI_INTEGER, other, 14, MPI_COMM_WORLD, requests(1), ierror)
  OK(ierror)
  call MPI_Start(requests(1), ierror)
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierror)
  OK(ierror)
  call MPI_Request_free(requests(1), ierror)
  do i = 12, 14
    got = -1
    call MPI_Recv(got, 4_k, MPI_INTEGER, other, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(has_come())
  end do
#if !defined(ELSEWHERE)
  call MPI_Buffer_flush(ierror)
  OK(ierror)
  call MPI_Buffer_iflush(request, ierror)
  call finish()
#endif
  call detach()

  ! Through one of a communicator.
#if !defined(ELSEWHERE)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin, ierror)
  call MPI_Comm_attach_buffer(twin, several_rooms, 4000_k, ierror)
  OK(ierror)
  mine = mine + 1000
  call MPI_Bsend(mine, 4_k, MPI_INTEGER, other, 15, twin, ierror)
  OK(ierror)
  mine = mine - 1000
  call MPI_Comm_iflush_buffer(twin, request, ierror)
  OK(ierror)
  call MPI_Recv(got, 4_k, MPI_INTEGER, other, 15, twin, MPI_STATUS_IGNORE, ierror)
  got = got - 1000
  CHECK(has_come())
  call finish()
  call MPI_Comm_flush_buffer(twin, ierror)
  OK(ierror)
  call detach_of_comm()
  call MPI_Comm_free(twin, ierror)
#endif

  ! Persistent ones in each mode: receives are started first, for the ready one.
  call MPI_Recv_init(got, 4_k, MPI_INTEGER, other, 16, MPI_COMM_WORLD, requests(1), ierror)
  OK(ierror)
  call MPI_Recv_init(more, 4_k, MPI_INTEGER, other, 17, MPI_COMM_WORLD, requests(2), ierror)
  OK(ierror)
  do i = 1, 3
    got = -1
    more = -1
    call MPI_Startall(2, requests, ierror)
    OK(ierror)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    select case (i)
    case (1)
      call MPI_Send_init(mine, 4_k, MPI_INTEGER, other, 16, MPI_COMM_WORLD, requests(3), ierror)
    case (2)
      call MPI_Ssend_init(mine, 4_k, MPI_INTEGER, other, 16, MPI_COMM_WORLD, requests(3), ierror)
    case (3)
      call MPI_Rsend_init(mine, 4_k, MPI_INTEGER, other, 16, MPI_COMM_WORLD, requests(3), ierror)
    end select
    OK(ierror)
    call MPI_Rsend_init(mine, 4_k, MPI_INTEGER, other, 17, MPI_COMM_WORLD, requests(4), ierror)
    OK(ierror)
    call MPI_Startall(2, requests(3:), ierror)
    OK(ierror)
    call MPI_Waitall(4, requests, statuses, ierror)
    OK(ierror)
    CHECK(TAG_AT(statuses, 1) == 16 .and. TAG_AT(statuses, 2) == 17)
    call MPI_F_sync_reg(got)
    call MPI_F_sync_reg(more)
    CHECK(has_come() .and. all(more == got))
    call MPI_Request_free(requests(3), ierror)
    call MPI_Request_free(requests(4), ierror)
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)

  ! Which are over: the third and the first of four, counted from 1, and looked at without an end.
  do i = 1, 3
    call MPI_Irecv(got(i), 1_k, MPI_INTEGER, other, 20 + i, MPI_COMM_WORLD, requests(i), ierror)
  end do
  requests(4) = MPI_REQUEST_NULL
  call MPI_Testsome(4, requests, outcount, indices, statuses, ierror)
  OK(ierror)
  CHECK(outcount == 0)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Send(mine(3:), 1_k, MPI_INTEGER, other, 23, MPI_COMM_WORLD, ierror)
  call MPI_Send(mine, 1_k, MPI_INTEGER, other, 21, MPI_COMM_WORLD, ierror)
#if !defined(ELSEWHERE)
  outcount = 0
  do while (outcount < 2)
    indices = -1
    call MPI_Request_get_status_some(4, requests, outcount, indices, statuses, ierror)
    OK(ierror)
  end do
  CHECK(sum(indices(1:2)) == 4 .and. product(indices(1:2)) == 3 .and. all(indices(3:) == -1))
  CHECK(TAG_AT(statuses, 1) == 20 + indices(1) .and. TAG_AT(statuses, 2) == 20 + indices(2))
  call MPI_Request_get_status_any(2, requests(2:), indx, flag, status, ierror)
  OK(ierror)
  CHECK(flag .and. indx == 2 .and. TAG_OF(status) == 23)
  call MPI_Request_get_status_any(1, requests(2:), indx, flag, status, ierror)
  CHECK((.not. flag) .and. indx == MPI_UNDEFINED)
  call MPI_Request_get_status_all(3, requests, flag, statuses, ierror)
  OK(ierror)
  CHECK(.not. flag)
  call MPI_Request_get_status_all(2, requests(3:), flag, MPI_STATUSES_IGNORE, ierror)
  OK(ierror)
  CHECK(flag)
#endif
  CHECK(requests(1) /= MPI_REQUEST_NULL .and. requests(3) /= MPI_REQUEST_NULL)
  outcount = 0
  do while (outcount == 0)
    call MPI_Testsome(4, requests, outcount, indices, statuses, ierror)
    OK(ierror)
  end do
  do i = 1, outcount
    CHECK(TAG_AT(statuses, i) == 20 + indices(i) .and. SOURCE_AT(statuses, i) == other)
    CHECK(requests(indices(i)) == MPI_REQUEST_NULL)
  end do
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Send(mine(2:), 1_k, MPI_INTEGER, other, 22, MPI_COMM_WORLD, ierror)
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
  OK(ierror)
  call MPI_F_sync_reg(got)
  CHECK(all(got(1:3) == [(100 * other + i, i = 1, 3)]))

  ! Statuses that the program fills, and reads by routines.
#if defined(ELSEWHERE)
  call MPI_Status_set_elements(status, MPI_INTEGER, 7, ierror)
#else
  call MPI_Status_set_elements(status, MPI_INTEGER, 7_k, ierror)
#endif
  OK(ierror)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  CHECK(count == 7)
  long = 3000000000_MPI_COUNT_KIND
  call MPI_Status_set_elements_x(status, MPI_BYTE, long, ierror)
  OK(ierror)
  long = 0
  call MPI_Get_elements_x(status, MPI_BYTE, long, ierror)
  CHECK(long == 3000000000_MPI_COUNT_KIND)
  call MPI_Status_set_cancelled(status, .true., ierror)
  OK(ierror)
  call MPI_Test_cancelled(status, flag, ierror)
  CHECK(flag .eqv. .true.)
#if !defined(ELSEWHERE)
  call MPI_Status_set_source(status, 31, ierror)
  OK(ierror)
  call MPI_Status_set_tag(status, 32, ierror)
  OK(ierror)
  call MPI_Status_set_error(status, MPI_ERR_OTHER, ierror)
  OK(ierror)
  CHECK(SOURCE_OF(status) == 31 .and. TAG_OF(status) == 32 .and. ERROR_OF(status) == MPI_ERR_OTHER)
  value = 0
  call MPI_Status_get_source(status, value, ierror)
  OK(ierror)
  CHECK(value == 31)
  call MPI_Status_get_tag(status, value, ierror)
  OK(ierror)
  CHECK(value == 32)
  call MPI_Status_get_error(status, value, ierror)
  OK(ierror)
  CHECK(value == MPI_ERR_OTHER)
#endif
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'messages: right'

contains

  subroutine finish()
    OK(ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    CHECK(request == MPI_REQUEST_NULL)
    call MPI_F_sync_reg(got)
  end subroutine

  logical function has_come()
    integer :: at
    has_come = all(got == [(100 * other + at, at = 1, 4)])
  end function

  subroutine detach()
#if defined(F08)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type(c_ptr) :: place
#else
    integer :: place
#endif
    integer(k) :: length
    call MPI_Buffer_detach(place, length, ierror)
    OK(ierror)
    CHECK(length == 4000)
#if defined(F08)
    CHECK(c_associated(place))
#endif
  end subroutine

#if !defined(ELSEWHERE)
  subroutine detach_of_comm()
#if defined(F08)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type(c_ptr) :: place
#else
    integer :: place
#endif
    integer(k) :: length
    call MPI_Comm_detach_buffer(twin, place, length, ierror)
    OK(ierror)
    CHECK(length == 4000)
#if defined(F08)
    CHECK(c_associated(place))
#endif
  end subroutine
#endif
end program
#include "check.h"
