! bindings_f08.f90: the rounds of bindings.c by mpi_f08, which passes descriptors of the buffers.
module bindings
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  implicit none
  private
  public :: messages, waits
contains
  subroutine messages(count) bind(C)
    integer(c_int), value :: count
    character, save :: out(8) = 'o'
    character, asynchronous, save :: in(8)
    type(MPI_Request) :: request
    type(MPI_Status) :: status
    integer :: round
    do round = 1, count
      call MPI_Irecv(in, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF, request)
      call MPI_Send(out, 8, MPI_BYTE, 0, 1, MPI_COMM_SELF)
      call MPI_Wait(request, status)
    end do
  end subroutine messages

  subroutine waits(count) bind(C)
    integer(c_int), value :: count
    type(MPI_Request), save :: requests(64)
    type(MPI_Status), save :: statuses(64)
    integer :: round
    requests = MPI_REQUEST_NULL
    do round = 1, count
      call MPI_Waitall(64, requests, statuses)
    end do
  end subroutine waits
end module bindings
