! ranks: 2 3
! says: messages: right
! Messages in every mode, probes, requests and their indices, persistent and partitioned ones, BOTTOM (MPI-5.0 chapters 3 and 4).
#include "interface.h"
program messages
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, ranks, next, before, i, count, indx, outcount
  integer :: indices(20)
  integer, asynchronous :: got(20), mine(20)
  integer(kind=MPI_ADDRESS_KIND) :: place(1)
  double precision :: reals(5), others(5)
  character(len=10) :: text
  integer :: room(1000)
  logical :: flag
  STATUS(status)
  STATUSES(several, 20)
  HANDLE(MPI_Request) :: request, requests(20)
  HANDLE(MPI_Message) :: message
  HANDLE(MPI_Datatype) :: absolute
  integer, asynchronous :: number

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  next = modulo(rank + 1, ranks)
  before = modulo(rank - 1, ranks)

  ! Blocking, with a status and without.
  reals = [(rank + 0.5d0 * i, i = 1, 5)]
  call MPI_Sendrecv(reals, 5, MPI_DOUBLE_PRECISION, next, 7, others, 5, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, MPI_ANY_TAG, &
      MPI_COMM_WORLD, status, ierror)
  OK(ierror)
  CHECK(SOURCE_OF(status) == before .and. TAG_OF(status) == 7)
  CHECK(all(others == [(before + 0.5d0 * i, i = 1, 5)]))
  call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count, ierror)
  CHECK(count == 5)
  call MPI_Get_elements(status, MPI_DOUBLE_PRECISION, count, ierror)
  CHECK(count == 5)
  call MPI_Sendrecv_replace(reals, 5, MPI_REAL8, next, 8, before, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  CHECK(all(reals == others))
  if (rank == 0) then
    call MPI_Send('hello', 5, MPI_CHARACTER, 1, 1, MPI_COMM_WORLD, ierror)
    call MPI_Ssend(3.5, 1, MPI_REAL, 1, 2, MPI_COMM_WORLD, ierror)
    call MPI_Buffer_attach(room, 4000, ierror)
    OK(ierror)
    call MPI_Bsend(.true., 1, MPI_LOGICAL, 1, 3, MPI_COMM_WORLD, ierror)
    OK(ierror)
    call detach(ierror)
    OK(ierror)
    call MPI_Send((1.0, 2.0), 1, MPI_COMPLEX, 1, 4, MPI_COMM_WORLD, ierror)
    call MPI_Send(42, 1, MPI_INTEGER, 1, 5, MPI_COMM_WORLD, ierror)
    call MPI_Send(43, 1, MPI_INTEGER, 1, 6, MPI_COMM_WORLD, ierror)
  else if (rank == 1) then
    call of_every_type()
    call MPI_Probe(0, 5, MPI_COMM_WORLD, status, ierror)
    CHECK(SOURCE_OF(status) == 0 .and. TAG_OF(status) == 5)
    call MPI_Recv(number, 1, MPI_INTEGER, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(number == 42)
    call MPI_Mprobe(0, MPI_ANY_TAG, MPI_COMM_WORLD, message, status, ierror)
    CHECK(TAG_OF(status) == 6)
    call MPI_Mrecv(number, 1, MPI_INTEGER, message, status, ierror)
    CHECK(number == 43 .and. message == MPI_MESSAGE_NULL)
  end if
  call MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, flag, status, ierror)
  CHECK(.not. flag)

  ! More requests than fit into what is kept on the stack.
  mine = [(100 * rank + i, i = 1, 20)]
  do i = 1, 20
    call MPI_Irecv(got(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, requests(i), ierror)
  end do
  do i = 20, 1, -1
    call MPI_Isend(mine(i), 1, MPI_INTEGER, next, i, MPI_COMM_WORLD, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    CHECK(request == MPI_REQUEST_NULL)
  end do
  call MPI_Waitall(20, requests, several, ierror)
  OK(ierror)
  do i = 1, 20
    CHECK(got(i) == 100 * before + i .and. TAG_AT(several, i) == i .and. SOURCE_AT(several, i) == before)
    CHECK(requests(i) == MPI_REQUEST_NULL)
  end do
  call MPI_Waitany(20, requests, indx, status, ierror)
  CHECK(indx == MPI_UNDEFINED)

  ! Indices count from 1.
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  do i = 1, 3
    call MPI_Irecv(got(i), 1, MPI_INTEGER, before, i, MPI_COMM_WORLD, requests(i), ierror)
  end do
  call MPI_Testany(3, requests, indx, flag, status, ierror)
  CHECK((.not. flag) .and. indx == MPI_UNDEFINED)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Send(mine, 1, MPI_INTEGER, next, 2, MPI_COMM_WORLD, ierror)
  call MPI_Waitany(3, requests, indx, status, ierror)
  CHECK(indx == 2 .and. TAG_OF(status) == 2 .and. requests(2) == MPI_REQUEST_NULL)
  call MPI_Send(mine, 1, MPI_INTEGER, next, 3, MPI_COMM_WORLD, ierror)
  call MPI_Waitsome(3, requests, outcount, indices, several, ierror)
  CHECK(outcount == 1 .and. indices(1) == 3 .and. TAG_AT(several, 1) == 3)
  call MPI_Request_get_status(requests(1), flag, status, ierror)
  CHECK(.not. flag)
  call MPI_Cancel(requests(1), ierror)
  call MPI_Wait(requests(1), status, ierror)
  call MPI_Test_cancelled(status, flag, ierror)
  CHECK(flag)
  call MPI_Testall(3, requests, flag, MPI_STATUSES_IGNORE, ierror)
  CHECK(flag)

  ! Persistent.
  call MPI_Recv_init(got, 2, MPI_INTEGER, before, 9, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Send_init(mine, 2, MPI_INTEGER, next, 9, MPI_COMM_WORLD, requests(2), ierror)
  do i = 1, 3
    mine(1) = i
    call MPI_Startall(2, requests, ierror)
    OK(ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    CHECK(got(1) == i .and. requests(1) /= MPI_REQUEST_NULL)
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  CHECK(requests(2) == MPI_REQUEST_NULL)

  ! Absolute addresses, from MPI_BOTTOM on.
  call MPI_Get_address(number, place(1), ierror)
  call MPI_Type_create_hindexed(1, [1], place, MPI_INTEGER, absolute, ierror)
  OK(ierror)
  call MPI_Type_commit(absolute, ierror)
  number = 77 + rank
  call MPI_Sendrecv_replace(MPI_BOTTOM, 1, absolute, next, 10, before, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
  OK(ierror)
  call MPI_F_sync_reg(number)
  CHECK(number == 77 + before)
  call MPI_Type_free(absolute, ierror)
  CHECK(absolute == MPI_DATATYPE_NULL)

  ! To and from nobody.
  call MPI_Recv(number, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, status, ierror)
  CHECK(SOURCE_OF(status) == MPI_PROC_NULL)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'messages: right'

contains

  subroutine detach(ierror)
#if defined(F08)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_associated
    type(c_ptr) :: place
#else
    integer :: place
#endif
    integer, intent(out) :: ierror
    integer :: length
#if defined(F08)
    call MPI_Buffer_detach(place, length, ierror)
    CHECK(c_associated(place))
#else
    place = 3
    call MPI_Buffer_detach(place, length, ierror)
    CHECK(place == 3)
#endif
    CHECK(length == 4000)
  end subroutine

  subroutine of_every_type()
    real :: single
    logical :: truth
    complex :: pair
    text = '----------'
    call MPI_Recv(text, 10, MPI_CHARACTER, 0, 1, MPI_COMM_WORLD, status, ierror)
    CHECK(text == 'hello-----')
    call MPI_Get_count(status, MPI_CHARACTER, count, ierror)
    CHECK(count == 5)
    call MPI_Recv(single, 1, MPI_REAL, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(single == 3.5)
    truth = .false.
    call MPI_Recv(truth, 1, MPI_LOGICAL, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(truth)
    call MPI_Recv(pair, 1, MPI_COMPLEX, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    CHECK(pair == (1.0, 2.0))
  end subroutine
end program
#include "check.h"
