! Handles and statuses between Fortran and C, both ways.
program languages
  use mpi_f08
  implicit none
  interface
    integer function sum_of_ranks(comm, op, total) bind(C)
      integer, intent(in) :: comm, op
      integer, intent(out) :: total
    end function
    integer function pair_of(datatype) bind(C)
      integer, intent(in) :: datatype
    end function
    integer function of_status(status, datatype, source) bind(C)
      integer, intent(in) :: status(*), datatype
      integer, intent(out) :: source
    end function
    integer function barrier_on(comm) bind(C)
      integer, intent(in) :: comm
    end function
    integer function ignored(status, f08) bind(C)
      type(*), intent(in) :: status
      integer, intent(in) :: f08
    end function
  end interface
  integer :: rank, total, source, mine(4), theirs(4)
  integer :: old(MPI_STATUS_SIZE)
  type(MPI_Comm) :: twin
  type(MPI_Datatype) :: pair
  type(MPI_Request) :: request
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, twin)
  call MPI_Comm_rank(twin, rank)
  if (sum_of_ranks(twin%MPI_VAL, MPI_SUM%MPI_VAL, total) /= MPI_SUCCESS .or. total /= 1) error stop 1
  pair%MPI_VAL = pair_of(MPI_INTEGER%MPI_VAL)
  mine = rank
  call MPI_Sendrecv(mine, 2, pair, 1 - rank, 3, theirs, 2, pair, 1 - rank, 3, twin, status)
  if (any(theirs /= 1 - rank)) error stop 2
  call MPI_Status_f082f(status, old)
  if (of_status(old, pair%MPI_VAL, source) /= 2 .or. source /= 1 - rank) error stop 3
  request%MPI_VAL = barrier_on(twin%MPI_VAL)
  if (request == MPI_REQUEST_NULL) error stop 4
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  if (request /= MPI_REQUEST_NULL) error stop 5
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
  if (ignored(MPI_STATUS_IGNORE, 1) /= 1 .or. ignored(MPI_STATUSES_IGNORE(1), 1) /= 2) error stop 6
  if (ignored(status, 1) /= 0) error stop 7
  call of_the_module_mpi()
  call MPI_Type_free(pair)
  call MPI_Comm_free(twin)
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'languages: right'
end program

! What is ignored in the module mpi.
subroutine of_the_module_mpi()
  use mpi
  implicit none
  interface
    integer function ignored(status, f08) bind(C)
      type(*), intent(in) :: status
      integer, intent(in) :: f08
    end function
  end interface
  integer :: status(MPI_STATUS_SIZE)

  status = 0
  if (ignored(MPI_STATUS_IGNORE(1), 0) /= 1 .or. ignored(MPI_STATUSES_IGNORE(1, 1), 0) /= 2) error stop 8
  if (ignored(status(1), 0) /= 0) error stop 9
end subroutine
