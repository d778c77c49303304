! ranks: 2
! says: environment: right
! Error codes of the program, which go again, what C knows of Fortran, the program's own environment, where it runs, its level of
! threads (MPI-5.0 chapters 9, 10, 11 and 20).
#include "interface.h"
module callbacks
  implicit none
  integer :: handled = 0, codes = 0
contains
  subroutine handler(file, code)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_File) :: file
    integer :: code
    if (file == MPI_FILE_NULL) handled = handled + 1
    codes = code
  end subroutine
end module

program environment_more
  USES
  use callbacks
  implicit none
  INCLUDES
  integer :: ierror, rank, class, code, value, provided, length
  integer(kind=MPI_ADDRESS_KIND) :: last
  logical :: flag
  logical(kind=8) :: yes, no
  character(len=MPI_MAX_ERROR_STRING) :: sentence
  character(len=1000) :: text, me
  character(len=MPI_MAX_INFO_KEY) :: key
  HANDLE(MPI_Info) :: info
  HANDLE(MPI_Errhandler) :: errhandler, found

  ! What may be asked and said before the start.
  call MPI_Abi_get_info(info, ierror)
  OK(ierror)
  call MPI_Info_get(info, 'mpi_aint_size', len(text), text, flag, ierror)
  CHECK(flag .and. text == '8')
  call MPI_Info_get(info, 'mpi_count_size', len(text), text, flag, ierror)
  CHECK(flag .and. text == '8')
  call MPI_Info_free(info, ierror)
  call MPI_Info_create_env(info, ierror)
  OK(ierror)
  call get_command_argument(0, me)
  call MPI_Info_get(info, 'command', len(text), text, flag, ierror)
  CHECK(flag .and. text == me)
  call MPI_Info_get(info, 'wdir', len(text), text, flag, ierror)
  CHECK(flag .and. text(1:1) == '/')
  call MPI_Info_free(info, ierror)
  CHECK(info == MPI_INFO_NULL)

  call MPI_Init_thread(MPI_THREAD_SERIALIZED, provided, ierror)
  OK(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Query_thread(value, ierror)
  OK(ierror)
  CHECK(value == provided .and. value >= MPI_THREAD_SERIALIZED)
  ! An object of MPI has the same.
  call MPI_Info_get(MPI_INFO_ENV, 'command', len(text), text, flag, ierror)
  CHECK(flag .and. text == me)
  call MPI_Get_hw_resource_info(info, ierror)
  OK(ierror)
  call MPI_Info_get_nkeys(info, value, ierror)
  CHECK(value >= 2)
  call MPI_Info_get_nthkey(info, 0, key, ierror)
  call MPI_Info_get(info, key, len(text), text, flag, ierror)
  CHECK(flag .and. (text == 'true' .or. text == 'false'))
  call MPI_Info_free(info, ierror)

  ! Codes of the program: a string goes before its code, and that before its class.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN, ierror)
  call MPI_Add_error_class(class, ierror)
  OK(ierror)
  CHECK(class > MPI_ERR_LASTCODE)
  call MPI_Add_error_code(class, code, ierror)
  OK(ierror)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, last, flag, ierror)
  CHECK(flag .and. last == code)
  call MPI_Add_error_string(code, 'the cat sleeps on it ', ierror)
  OK(ierror)
  call MPI_Error_class(code, value, ierror)
  CHECK(value == class)
  call MPI_Error_string(code, sentence, length, ierror)
  CHECK(sentence == 'the cat sleeps on it' .and. length == 20)
  call MPI_Remove_error_code(code, ierror)
  CHECK(of_class(ierror) == MPI_ERR_ARG)
  call MPI_Remove_error_class(class, ierror)
  CHECK(of_class(ierror) == MPI_ERR_ARG)
  call MPI_Remove_error_string(code, ierror)
  OK(ierror)
  call MPI_Remove_error_code(code, ierror)
  OK(ierror)
  call MPI_Remove_error_class(class, ierror)
  OK(ierror)
  call MPI_Error_class(code, value, ierror)
  CHECK(of_class(ierror) == MPI_ERR_ARG)

  ! What files that are not open yet have.
  call MPI_File_get_errhandler(MPI_FILE_NULL, found, ierror)
  OK(ierror)
  CHECK(found == MPI_ERRORS_RETURN)
  call MPI_File_create_errhandler(handler, errhandler, ierror)
  OK(ierror)
  call MPI_File_set_errhandler(MPI_FILE_NULL, errhandler, ierror)
  OK(ierror)
  call MPI_File_get_errhandler(MPI_FILE_NULL, found, ierror)
  CHECK(found == errhandler)
  call MPI_Errhandler_free(found, ierror)
  call MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO, ierror)
  OK(ierror)
  CHECK(handled == 1 .and. codes == MPI_ERR_IO)
  call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierror)
  call MPI_Errhandler_free(errhandler, ierror)
  CHECK(errhandler == MPI_ERRHANDLER_NULL)

  ! This library has said of LOGICALs what there is to say; of longer ones a program may.
  call MPI_Abi_get_fortran_info(info, ierror)
  CHECK(info /= MPI_INFO_NULL)
  call MPI_Abi_set_fortran_info(info, ierror)
  CHECK(of_class(ierror) == MPI_ERR_ABI)
  call MPI_Info_free(info, ierror)
  call booleans()
  yes = .true.
  no = .false.
  call MPI_Abi_get_fortran_booleans(8, yes, no, flag, ierror)
  OK(ierror)
  CHECK((.not. flag) .and. logical(yes .and. .not. no))
  call MPI_Abi_set_fortran_booleans(8, yes, no, ierror)
  OK(ierror)
  yes = .false.
  no = .true.
  call MPI_Abi_get_fortran_booleans(8, yes, no, flag, ierror)
  OK(ierror)
  CHECK(flag .and. logical(yes .and. .not. no))
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'environment: right'

contains

  integer function of_class(code)
    integer, intent(in) :: code
    integer :: ierror
    call MPI_Error_class(code, of_class, ierror)
    OK(ierror)
  end function

  subroutine booleans()
    logical :: yes, no
    yes = .false.
    no = .true.
    call MPI_Abi_get_fortran_booleans(4, yes, no, flag, ierror)
    OK(ierror)
    CHECK(flag .and. yes .and. .not. no)
    call MPI_Abi_set_fortran_booleans(4, yes, no, ierror)
    CHECK(of_class(ierror) == MPI_ERR_ABI)
  end subroutine
end program
#include "check.h"
