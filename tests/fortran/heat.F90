! ranks: 1 2 4
! says: heat: right
! The heat equation on a grid of processes, with rows and columns of neighbors: the result is that of one process.
#include "interface.h"
program heat
  USES
  implicit none
  INCLUDES
  integer, parameter :: n = 24, steps = 60
  double precision, allocatable, asynchronous :: now(:, :)
  double precision, allocatable :: next(:, :)
  double precision :: alone(0:n + 1, 0:n + 1), after(0:n + 1, 0:n + 1), difference, largest
  integer :: ierror, rank, ranks, dims(2), coords(2), rows, columns, row, column, i, j, step
  integer :: north, south, west, east
  HANDLE(MPI_Comm) :: grid
  HANDLE(MPI_Datatype) :: line
  HANDLE(MPI_Request) :: requests(8)

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims, ierror)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid, ierror)
  call MPI_Comm_rank(grid, rank, ierror)
  call MPI_Cart_coords(grid, rank, 2, coords, ierror)
  call MPI_Cart_shift(grid, 0, 1, north, south, ierror)
  call MPI_Cart_shift(grid, 1, 1, west, east, ierror)
  rows = n / dims(1)
  columns = n / dims(2)
  row = coords(1) * rows
  column = coords(2) * columns
  allocate (now(0:rows + 1, 0:columns + 1), next(0:rows + 1, 0:columns + 1))
  call MPI_Type_vector(columns, 1, rows + 2, MPI_DOUBLE_PRECISION, line, ierror)
  call MPI_Type_commit(line, ierror)
  now = 0
  alone = 0
  alone(0, :) = 1
  if (row == 0) now(0, :) = 1
  next = now
  after = alone

  do step = 1, steps
    call MPI_Irecv(now(0, 1), 1, line, north, 1, grid, requests(1), ierror)
    call MPI_Irecv(now(rows + 1, 1), 1, line, south, 2, grid, requests(2), ierror)
    call MPI_Irecv(now(1, 0), rows, MPI_DOUBLE_PRECISION, west, 3, grid, requests(3), ierror)
    call MPI_Irecv(now(1, columns + 1), rows, MPI_DOUBLE_PRECISION, east, 4, grid, requests(4), ierror)
    call MPI_Isend(now(1, 1), 1, line, north, 2, grid, requests(5), ierror)
    call MPI_Isend(now(rows, 1), 1, line, south, 1, grid, requests(6), ierror)
    call MPI_Isend(now(1, 1), rows, MPI_DOUBLE_PRECISION, west, 4, grid, requests(7), ierror)
    call MPI_Isend(now(1, columns), rows, MPI_DOUBLE_PRECISION, east, 3, grid, requests(8), ierror)
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierror)
    OK(ierror)
    do j = 1, columns
      do i = 1, rows
        next(i, j) = 0.25d0 * (now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1))
      end do
    end do
    now(1:rows, 1:columns) = next(1:rows, 1:columns)
    do j = 1, n
      do i = 1, n
        after(i, j) = 0.25d0 * (alone(i - 1, j) + alone(i + 1, j) + alone(i, j - 1) + alone(i, j + 1))
      end do
    end do
    alone = after
  end do
  difference = maxval(abs(now(1:rows, 1:columns) - alone(row + 1:row + rows, column + 1:column + columns)))
  call MPI_Allreduce(difference, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, grid, ierror)
  CHECK(largest == 0 .and. maxval(alone(n / 2, :)) > 0)
  call MPI_Type_free(line, ierror)
  call MPI_Comm_free(grid, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'heat: right'
end program
#include "check.h"
