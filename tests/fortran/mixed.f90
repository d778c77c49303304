! Both modules and mpif.h in one program, which hand each other handles and statuses.
subroutine newer(comm, status)
  use mpi_f08
  implicit none
  integer, intent(in) :: comm
  integer, intent(out) :: status(MPI_STATUS_SIZE)
  type(MPI_Comm) :: ours
  type(MPI_Status) :: mine
  integer :: rank, got
  ours%MPI_VAL = comm
  call MPI_Comm_rank(ours, rank)
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, 1 - rank, 4, got, 1, MPI_INTEGER, 1 - rank, 4, ours, mine)
  if (got /= 1 - rank) error stop 1
  call MPI_Status_f082f(mine, status)
  call MPI_Allreduce(MPI_IN_PLACE, got, 1, MPI_INTEGER, MPI_SUM, ours)
  if (got /= 1) error stop 2
end subroutine

subroutine older(comm)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: comm
  integer :: ierror, total
  total = 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  if (total /= 2) error stop 3
end subroutine

program mixed
  use mpi
  implicit none
  integer :: ierror, comm, rank, count, total, status(MPI_STATUS_SIZE)
  call MPI_Init(ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
  call newer(comm, status)
  call older(comm)
  call MPI_Comm_rank(comm, rank, ierror)
  total = 1
  call MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
  if (total /= 2 .or. status(MPI_SOURCE) /= 1 - rank .or. status(MPI_TAG) /= 4) error stop 4
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  if (count /= 1) error stop 5
  call MPI_Comm_free(comm, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'mixed: right'
end program
