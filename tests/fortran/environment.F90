! ranks: 1 3
! says: environment: right
! The start, versions, names, the clock, and what C knows of Fortran (MPI-5.0 chapters 9, 11 and 20).
#include "interface.h"
program environment
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, ranks, provided, version, subversion, length, small
  integer(kind=MPI_ADDRESS_KIND) :: here, there
  logical :: flag
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: library
  character(len=MPI_MAX_PROCESSOR_NAME) :: name
  character(len=4) :: short
  character(len=8) :: value
  double precision :: start
  HANDLE(MPI_Info) :: info
  integer :: pair(2)
  double precision :: twelve(12)
#if !defined(MPIF)
  complex(kind(1d0)) :: points(2, 3)
#endif

  call MPI_Initialized(flag, ierror)
  OK(ierror)
  CHECK(.not. flag)
  call MPI_Init_thread(MPI_THREAD_MULTIPLE, provided, ierror)
  OK(ierror)
  CHECK(provided == MPI_THREAD_MULTIPLE)
  call MPI_Initialized(flag, ierror)
  CHECK(flag)
  call MPI_Is_thread_main(flag, ierror)
  CHECK(flag .eqv. .true.)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  OK(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  OK(ierror)
  CHECK(rank >= 0 .and. rank < ranks)
  call MPI_Get_version(version, subversion, ierror)
  CHECK(version == MPI_VERSION .and. subversion == MPI_SUBVERSION)
  call MPI_Get_library_version(library, length, ierror)
  CHECK(index(library, 'posthaste') > 0 .and. len_trim(library) == length)
  call MPI_Get_processor_name(name, length, ierror)
  CHECK(len_trim(name) == length .and. length > 0)
  ! A variable that is too short gets the beginning.
  short = '----'
  call MPI_Get_processor_name(short, length, ierror)
  CHECK(short == name(1:4))
  start = MPI_Wtime()
  CHECK(MPI_Wtime() >= start .and. MPI_Wtick() > 0 .and. PMPI_Wtime() >= start)
  call MPI_Get_address(pair(1), here, ierror)
  call MPI_Get_address(pair(2), there, ierror)
  CHECK(MPI_Aint_diff(there, here) == 4 .and. MPI_Aint_add(here, 4_MPI_ADDRESS_KIND) == there)
  call MPI_Get_address(MPI_BOTTOM, here, ierror)
  CHECK(here == 0)
  call MPI_Abi_get_version(version, subversion, ierror)
  CHECK(version == 1)
  call MPI_Abi_get_fortran_info(info, ierror)
  OK(ierror)
  CHECK(info /= MPI_INFO_NULL)
  call MPI_Info_get(info, 'mpi_integer_size', len(value), value, flag, ierror)
  CHECK(flag .and. value == '4')
  call MPI_Info_get(info, 'mpi_real16_supported', len(value), value, flag, ierror)
  CHECK(flag .and. value == 'true')
  call MPI_Info_free(info, ierror)
  CHECK(info == MPI_INFO_NULL)
#if !defined(MPIF)
  call MPI_Sizeof(twelve, small, ierror)
  CHECK(small == 8)
  call MPI_Sizeof(version, small, ierror)
  CHECK(small == 4)
  call MPI_Sizeof(points, small, ierror)
  CHECK(small == 16)
  call MPI_Sizeof(flag, small, ierror)
  CHECK(small == 4)
#endif
  call MPI_Pcontrol(1)
  twelve = 0
  call MPI_F_sync_reg(twelve)
  CHECK(MPI_MAX_ERROR_STRING == 511 .and. MPI_MAX_PORT_NAME == 1023)
  call MPI_Finalize(ierror)
  OK(ierror)
  call MPI_Finalized(flag, ierror)
  CHECK(flag)
  if (rank == 0) print '(a)', 'environment: right'
end program
#include "check.h"
