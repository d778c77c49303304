! ranks: 2
! interfaces: mpif mpi f08 large
! says: sessions: right
! Sessions without MPI_Init: process sets, groups, communicators and intercommunicators of groups, buffers and error handlers of a
! session (MPI-5.0 §11.3, §7.3.2, §7.4.2, §7.6.2, §3.6, §9.3).
#include "interface.h"
module callbacks
  implicit none
  integer :: handled = 0, codes = 0
contains
  subroutine handler(session, code)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Session) :: session
    integer :: code
    if (session /= MPI_SESSION_NULL) handled = handled + 1
    codes = code
  end subroutine
end module

program sessions
  USES
  use callbacks
  implicit none
  INCLUDES
  integer, parameter :: k = LENGTHS
  integer :: ierror, rank, ranks, other, i, total, length, class, worlds
  integer, LATER :: room(1000)
  logical :: flag
  character(len=MPI_MAX_PSET_NAME_LEN) :: name
  character(len=40) :: value
  HANDLE(MPI_Session) :: session
  HANDLE(MPI_Errhandler) :: errhandler, found
  HANDLE(MPI_Info) :: info
  HANDLE(MPI_Group) :: everybody, own, others
  HANDLE(MPI_Comm) :: comm, inter
  HANDLE(MPI_Request) :: request

  ! Handlers and info objects are there before any session.
  call MPI_Session_create_errhandler(handler, errhandler, ierror)
  OK(ierror)
  call MPI_Info_create(info, ierror)
  OK(ierror)
  call MPI_Info_set(info, 'thread_level', 'MPI_THREAD_MULTIPLE', ierror)
  OK(ierror)
  call MPI_Session_init(info, errhandler, session, ierror)
  OK(ierror)
  call MPI_Info_free(info, ierror)
  call MPI_Initialized(flag, ierror)
  CHECK(.not. flag)
  call MPI_Session_get_info(session, info, ierror)
  OK(ierror)
  call MPI_Info_get(info, 'thread_level', len(value), value, flag, ierror)
  CHECK(flag .and. value == 'MPI_THREAD_MULTIPLE')
  call MPI_Info_free(info, ierror)

  ! What a set is called and how large it is; a name may have blanks behind it.
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, total, ierror)
  OK(ierror)
  worlds = 0
  do i = 0, total - 1
    length = len(name)
    name = repeat('-', len(name))
    call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierror)
    OK(ierror)
    CHECK(len_trim(name) > 0 .and. name(len(name):) == ' ')
    if (name == 'mpi://WORLD') worlds = worlds + 1
  end do
  CHECK(worlds == 1)
  call MPI_Session_get_pset_info(session, 'mpi://WORLD  ', info, ierror)
  OK(ierror)
  call MPI_Info_get(info, 'mpi_size', len(value), value, flag, ierror)
  CHECK(flag .and. value == '2')
  call MPI_Info_free(info, ierror)

  ! A set becomes a group, and that a communicator.
  call MPI_Group_from_session_pset(session, 'mpi://WORLD ', everybody, ierror)
  OK(ierror)
  call MPI_Group_size(everybody, ranks, ierror)
  call MPI_Group_rank(everybody, rank, ierror)
  OK(ierror)
  CHECK(ranks == 2 .and. rank >= 0 .and. rank < 2)
  other = 1 - rank
  call MPI_Comm_create_from_group(everybody, 'fortran.all ', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
  OK(ierror)
  call MPI_Comm_rank(comm, i, ierror)
  CHECK(i == rank)
  call MPI_Comm_get_errhandler(comm, found, ierror)
  CHECK(found == MPI_ERRORS_RETURN)
  call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  OK(ierror)
  CHECK(total == 3)

  ! One process on each side: a leader knows the other group.
  call MPI_Group_incl(everybody, 1, [rank], own, ierror)
  call MPI_Group_incl(everybody, 1, [other], others, ierror)
  call MPI_Intercomm_create_from_groups(own, 0, others, 0, 'fortran.both', MPI_INFO_NULL, MPI_ERRORS_RETURN, inter, ierror)
  OK(ierror)
  call MPI_Comm_remote_size(inter, total, ierror)
  CHECK(total == 1)
  call MPI_Sendrecv(100 + rank, 1, MPI_INTEGER, 0, 4, total, 1, MPI_INTEGER, 0, 4, inter, MPI_STATUS_IGNORE, ierror)
  OK(ierror)
  CHECK(total == 100 + other)

  ! What a communicator of the session buffers goes into the buffer of the session.
  call MPI_Session_attach_buffer(session, room, 4000_k, ierror)
  OK(ierror)
  call MPI_Bsend([200 + rank], 1, MPI_INTEGER, other, 5, comm, ierror)
  OK(ierror)
  call MPI_Session_iflush_buffer(session, request, ierror)
  OK(ierror)
  call MPI_Recv(total, 1, MPI_INTEGER, other, 5, comm, MPI_STATUS_IGNORE, ierror)
  CHECK(total == 200 + other)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  OK(ierror)
  call MPI_Session_flush_buffer(session, ierror)
  OK(ierror)
  call detach()
  ! Without it there is no place.
  call MPI_Bsend([200 + rank], 1, MPI_INTEGER, other, 5, comm, ierror)
  CHECK(ierror /= MPI_SUCCESS)

  ! The handler hears of errors of the session, and of what the program says.
  call MPI_Session_get_errhandler(session, found, ierror)
  OK(ierror)
  CHECK(found == errhandler)
  call MPI_Errhandler_free(found, ierror)
  i = handled
  call MPI_Session_call_errhandler(session, MPI_ERR_OTHER, ierror)
  OK(ierror)
  CHECK(handled == i + 1 .and. codes == MPI_ERR_OTHER)
  call MPI_Group_free(own, ierror)
  call MPI_Group_from_session_pset(session, 'mpi://NOBODY', own, ierror)
  CHECK(handled == i + 2 .and. ierror == codes .and. ierror /= MPI_SUCCESS)
  call MPI_Error_class(codes, class, ierror)
  CHECK(class == MPI_ERR_ARG)
  call MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN, ierror)
  OK(ierror)
  call MPI_Session_get_pset_info(session, 'mpi://NOBODY', info, ierror)
  CHECK(handled == i + 2 .and. ierror /= MPI_SUCCESS)

  call MPI_Errhandler_free(errhandler, ierror)
  call MPI_Group_free(everybody, ierror)
  call MPI_Group_free(others, ierror)
  call MPI_Comm_disconnect(inter, ierror)
  OK(ierror)
  call MPI_Comm_disconnect(comm, ierror)
  OK(ierror)
  call MPI_Session_finalize(session, ierror)
  OK(ierror)
  CHECK(session == MPI_SESSION_NULL)
  if (rank == 0) print '(a)', 'sessions: right'

contains

  subroutine detach()
#if defined(F08)
    use, intrinsic :: iso_c_binding, only: c_ptr, c_associated
    type(c_ptr) :: place
#else
    integer :: place
#endif
    integer(k) :: bytes
    bytes = 0
    call MPI_Session_detach_buffer(session, place, bytes, ierror)
    OK(ierror)
    CHECK(bytes == 4000)
#if defined(F08)
    CHECK(c_associated(place))
#endif
  end subroutine
end program
#include "check.h"
