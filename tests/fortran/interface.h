! The three interfaces of Fortran behind one set of names, so that a test is written once.
#if defined(F08)
#define USES use mpi_f08
#define INCLUDES
#define HANDLE(t) type(t)
#define STATUS(s) type(MPI_Status) :: s
#define STATUSES(s, n) type(MPI_Status) :: s(n)
#define SOURCE_OF(s) s%MPI_SOURCE
#define TAG_OF(s) s%MPI_TAG
#define ERROR_OF(s) s%MPI_ERROR
#define SOURCE_AT(s, i) s(i)%MPI_SOURCE
#define TAG_AT(s, i) s(i)%MPI_TAG
#else
#if defined(MPI)
#define USES use mpi
#define INCLUDES
#else
#define USES
#define INCLUDES include 'mpif.h'
#endif
#define HANDLE(t) integer
#define STATUS(s) integer :: s(MPI_STATUS_SIZE)
#define STATUSES(s, n) integer :: s(MPI_STATUS_SIZE, n)
#define SOURCE_OF(s) s(MPI_SOURCE)
#define TAG_OF(s) s(MPI_TAG)
#define ERROR_OF(s) s(MPI_ERROR)
#define SOURCE_AT(s, i) s(MPI_SOURCE, i)
#define TAG_AT(s, i) s(MPI_TAG, i)
#endif
! A variable that is used after a call. Without interfaces it must not be more than the target of something.
#if defined(F08) || defined(MPI)
#define LATER asynchronous
#else
#define LATER target
#endif
! What counts and displacements are that have routines of their own for longer ones, which `large` calls.
#if defined(LARGE)
#define LENGTHS MPI_COUNT_KIND
#else
#define LENGTHS kind(0)
#endif
#define CHECK(condition) call check(condition, __LINE__)
#define OK(ierror) call check(ierror == MPI_SUCCESS, __LINE__)
