! ranks: 2
! says: objects: right
! Info objects, error handlers and codes, generalized requests, statuses that programs fill, sessions, spawned processes
! (MPI-5.0 chapters 9 to 11 and 13).
#include "interface.h"
module callbacks
  implicit none
  integer :: handled = 0, freed = 0, cancelled = 0
contains
  subroutine handler(comm, code)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Comm) :: comm
    integer :: code
    integer :: class, ierror
    call MPI_Error_class(code, class, ierror)
    if (class == MPI_ERR_RANK .and. comm == MPI_COMM_WORLD) handled = handled + 1
  end subroutine
  subroutine query(extra_state, status, ierror)
    USES
    implicit none
    INCLUDES
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    STATUS(status)
    integer :: ierror
    call MPI_Status_set_elements(status, MPI_INTEGER, int(extra_state), ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    SOURCE_OF(status) = 17
    TAG_OF(status) = 18
    ierror = MPI_SUCCESS
  end subroutine
  subroutine release(extra_state, ierror)
    USES
    implicit none
    INCLUDES
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    if (extra_state == 23) freed = freed + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine stop_it(extra_state, complete, ierror)
    USES
    implicit none
    INCLUDES
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (extra_state == 23 .and. .not. complete) cancelled = cancelled + 1
    ierror = MPI_SUCCESS
  end subroutine
  subroutine extent_of(datatype, extent, extra_state, ierror)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Datatype) :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    if (datatype == MPI_DATATYPE_NULL) error stop 5
    extent = extra_state
    ierror = MPI_SUCCESS
  end subroutine
end module

program objects
  USES
  use callbacks
  implicit none
  INCLUDES
  integer :: ierror, rank, length, code, class, count, codes(2), sum_of_all
  logical :: flag
  character(len=MPI_MAX_INFO_KEY) :: key
  character(len=20) :: value
  character(len=3) :: short
  character(len=MPI_MAX_ERROR_STRING) :: sentence
  character(len=200) :: me
  character(len=12) :: arguments(3)
  HANDLE(MPI_Info) :: info, twin
  HANDLE(MPI_Errhandler) :: errhandler, before
  HANDLE(MPI_Request) :: request
  HANDLE(MPI_Session) :: session
  HANDLE(MPI_Comm) :: parent, children
  STATUS(status)
#if defined(F08) || defined(MPI)
  integer :: old_status(MPI_STATUS_SIZE)
  type(MPI_Status) :: new_status
#endif

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_get_parent(parent, ierror)
  if (parent /= MPI_COMM_NULL) then
    call get_command_argument(1, arguments(1))
    call get_command_argument(2, arguments(2))
    CHECK(command_argument_count() == 2 .and. arguments(1) == 'one' .and. arguments(2) == 'two words')
    call MPI_Reduce(rank + 1, sum_of_all, 1, MPI_INTEGER, MPI_SUM, 0, parent, ierror)
    call MPI_Comm_disconnect(parent, ierror)
    call MPI_Finalize(ierror)
    stop
  end if

  ! Blanks around keys and values go, and come behind what is read.
  call MPI_Info_create(info, ierror)
  OK(ierror)
  call MPI_Info_set(info, '  a key ', ' some value  ', ierror)
  OK(ierror)
  call MPI_Info_set(info, 'other', 'x', ierror)
  call MPI_Info_get_nkeys(info, count, ierror)
  CHECK(count == 2)
  call MPI_Info_get_nthkey(info, 0, key, ierror)
  CHECK(key == 'a key')
  call MPI_Info_get(info, 'a key', len(value), value, flag, ierror)
  CHECK(flag .and. value == 'some value')
  call MPI_Info_get(info, 'a key', 3, short, flag, ierror)
  CHECK(flag .and. short == 'som')
  value = 'as it was'
  call MPI_Info_get(info, 'no key', len(value), value, flag, ierror)
  CHECK((.not. flag) .and. value == 'as it was')
  call MPI_Info_get_valuelen(info, 'a key', length, flag, ierror)
  CHECK(flag .and. length == 10)
  length = 0
  call MPI_Info_get_string(info, 'a key', length, value, flag, ierror)
  CHECK(flag .and. length == 10 .and. value == 'as it was')
  length = 4
  value = '--------------------'
  call MPI_Info_get_string(info, 'a key', length, value, flag, ierror)
  CHECK(flag .and. length == 10 .and. value == 'some')
  call MPI_Info_dup(info, twin, ierror)
  call MPI_Info_delete(info, 'other', ierror)
  call MPI_Info_get_nkeys(twin, count, ierror)
  CHECK(count == 2)
  call MPI_Info_free(info, ierror)
  call MPI_Info_free(twin, ierror)

  ! Errors.
  call MPI_Comm_create_errhandler(handler, errhandler, ierror)
  OK(ierror)
  call MPI_Comm_get_errhandler(MPI_COMM_WORLD, before, ierror)
  CHECK(before == MPI_ERRORS_ARE_FATAL)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler, ierror)
  call MPI_Send(rank, 1, MPI_INTEGER, 99, 0, MPI_COMM_WORLD, code)
  CHECK(handled == 1 .and. code /= MPI_SUCCESS)
  call MPI_Error_class(code, class, ierror)
  CHECK(class == MPI_ERR_RANK)
  call MPI_Error_string(code, sentence, length, ierror)
  CHECK(index(sentence, '99') > 0 .and. len_trim(sentence) == length)
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Errhandler_free(errhandler, ierror)
  ! Data representations of programs are not there; the routine says so as the function of C does.
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  call MPI_Register_datarep('ours', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, 9_MPI_ADDRESS_KIND, code)
  call MPI_Error_class(code, class, ierror)
  CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION)
#if defined(F08) && !defined(ELSEWHERE)
  call MPI_Register_datarep_c('ours', MPI_CONVERSION_FN_NULL_C, MPI_CONVERSION_FN_NULL_C, extent_of, &
      9_MPI_ADDRESS_KIND, code)
  call MPI_Error_class(code, class, ierror)
  CHECK(class == MPI_ERR_UNSUPPORTED_OPERATION)
#endif
  call MPI_Add_error_class(class, ierror)
  call MPI_Add_error_code(class, code, ierror)
  call MPI_Add_error_string(code, 'it is ours  ', ierror)
  call MPI_Error_string(code, sentence, length, ierror)
  CHECK(sentence == 'it is ours' .and. length == 10)

  ! A request that the program completes.
  call MPI_Grequest_start(query, release, stop_it, 23_MPI_ADDRESS_KIND, request, ierror)
  OK(ierror)
  call MPI_Test(request, flag, MPI_STATUS_IGNORE, ierror)
  CHECK(.not. flag)
  call MPI_Cancel(request, ierror)
  CHECK(cancelled == 1)
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, status, ierror)
  OK(ierror)
  CHECK(freed == 1 .and. SOURCE_OF(status) == 17 .and. TAG_OF(status) == 18)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  CHECK(count == 23)
#if defined(F08) || defined(MPI)
#if defined(F08)
  new_status = status
#else
  ! Both kinds are there in `mpi`.
  call MPI_Status_f2f08(status, new_status, ierror)
  OK(ierror)
  CHECK(new_status%MPI_SOURCE == 17)
#endif
  call MPI_Status_f082f(new_status, old_status, ierror)
  CHECK(old_status(MPI_SOURCE) == 17 .and. old_status(MPI_TAG) == 18)
  new_status%MPI_TAG = -1
  call MPI_Status_f2f08(old_status, new_status, ierror)
  CHECK(new_status%MPI_TAG == 18)
#if defined(F08)
  call MPI_Get_count(new_status, MPI_INTEGER, count)
#else
  call MPI_Get_count(old_status, MPI_INTEGER, count, ierror)
#endif
  CHECK(count == 23)
#endif

  call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
  OK(ierror)
  call MPI_Session_get_num_psets(session, MPI_INFO_NULL, count, ierror)
  CHECK(count >= 2)
  length = 0
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, me, ierror)
  call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 0, length, me, ierror)
  CHECK(me(1:5) == 'mpi:/' .or. length == len_trim(me))
  call MPI_Session_finalize(session, ierror)

  ! Commands and arguments are texts that end with a blank one.
  call get_command_argument(0, me)
  arguments = [character(len=12) :: 'one', 'two words', '']
  codes = -1
  call MPI_Comm_spawn(me, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierror)
  OK(ierror)
  CHECK(all(codes == MPI_SUCCESS))
  sum_of_all = 0
  call MPI_Reduce(0, sum_of_all, 1, MPI_INTEGER, MPI_SUM, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), children, ierror)
  if (rank == 0) then
    CHECK(sum_of_all == 3)
  end if
  call MPI_Comm_disconnect(children, ierror)
  call MPI_Comm_spawn_multiple(2, [me, me], reshape([arguments, arguments], [2, 3], order=[2, 1]), [1, 1], &
      [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
  OK(ierror)
  call MPI_Reduce(0, sum_of_all, 1, MPI_INTEGER, MPI_SUM, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), children, ierror)
  CHECK(rank /= 0 .or. sum_of_all == 3)
  call MPI_Comm_disconnect(children, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'objects: right'
end program
#include "check.h"
