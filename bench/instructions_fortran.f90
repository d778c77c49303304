! Two ranks, so many short messages in mpi_f08 and in mpif.h. Run under callgrind by `cargo xtask test`, which counts the instructions
! of the calls. Usage: instructions_fortran COUNT (a multiple of 64).
program instructions_fortran
  use mpi_f08
  implicit none
  integer :: rank, count
  character(len=16) :: argument
  call get_command_argument(1, argument)
  read (argument, *) count
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call modern(rank, count)
  call plain(rank, count)
  call MPI_Finalize()
contains
  subroutine modern(rank, count)
    integer, intent(in) :: rank, count
    integer, asynchronous :: values(2)
    type(MPI_Request) :: requests(64)
    integer :: i, k
    values = 0
    do i = 1, count
      if (rank == 0) then
        call MPI_Send(values, 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD)
        call MPI_Recv(values, 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      else
        call MPI_Recv(values, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        call MPI_Send(values, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD)
      end if
    end do
    ! The receives are posted before the messages are sent, so that every run counts the same.
    do i = 1, count, 64
      if (rank == 0) then
        call MPI_Recv(values, 0, MPI_INTEGER, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
        do k = 1, 64
          call MPI_Isend(values, 2, MPI_INTEGER, 1, 2, MPI_COMM_WORLD, requests(k))
        end do
      else
        do k = 1, 64
          call MPI_Irecv(values, 2, MPI_INTEGER, 0, 2, MPI_COMM_WORLD, requests(k))
        end do
        call MPI_Ssend(values, 0, MPI_INTEGER, 0, 3, MPI_COMM_WORLD)
      end if
      call MPI_Waitall(64, requests, MPI_STATUSES_IGNORE)
    end do
  end subroutine
end program

subroutine plain(rank, count)
  implicit none
  include 'mpif.h'
  integer, intent(in) :: rank, count
  integer :: values(2), i, ierror
  values = 0
  do i = 1, count
    if (rank == 0) then
      call MPI_Send(values, 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, ierror)
      call MPI_Recv(values, 2, MPI_INTEGER, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
    else
      call MPI_Recv(values, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      call MPI_Send(values, 2, MPI_INTEGER, 0, 1, MPI_COMM_WORLD, ierror)
    end if
  end do
end subroutine
