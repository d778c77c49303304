! ranks: 1 2 4
! says: kernels: right
! What benchmarks of numerics do: numbers sorted by buckets (alltoall, alltoallv), a matrix transposed, conjugate gradients
! with neighbors, random numbers counted (split communicators, reductions).
#include "interface.h"
program kernels
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, ranks

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call sort(1000)
  call transpose_all(8)
  call gradients(32)
  call count_in_rings(2000)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'kernels: right'

contains

  ! The next number of a sequence that is the same everywhere.
  integer function next(seed)
    integer, intent(inout) :: seed
    seed = modulo(1103 * seed + 12345, 65536)
    next = seed
  end function

  subroutine sort(n)
    integer, intent(in) :: n
    integer :: keys(n), ordered(n), counts(ranks), places(ranks), from(ranks), at(ranks), seed, i, bucket, total, largest, left
    integer, allocatable :: mine(:)
    STATUS(status)
    seed = rank
    keys = [(next(seed), i = 1, n)]
    counts = 0
    do i = 1, n
      bucket = keys(i) * ranks / 65536 + 1
      counts(bucket) = counts(bucket) + 1
    end do
    places = [(sum(counts(1:i)), i = 0, ranks - 1)]
    at = places
    do i = 1, n
      bucket = keys(i) * ranks / 65536 + 1
      at(bucket) = at(bucket) + 1
      ordered(at(bucket)) = keys(i)
    end do
    call MPI_Alltoall(counts, 1, MPI_INTEGER, from, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    at = [(sum(from(1:i)), i = 0, ranks - 1)]
    allocate (mine(sum(from)))
    call MPI_Alltoallv(ordered, counts, places, MPI_INTEGER, mine, from, at, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    OK(ierror)
    CHECK(all(mine * ranks / 65536 == rank))
    call MPI_Allreduce(size(mine), total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    CHECK(total == n * ranks)
    ! The largest here is not above the smallest of the next.
    largest = maxval(mine)
    left = -1
    call MPI_Sendrecv(largest, 1, MPI_INTEGER, merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1), 1, left, 1, MPI_INTEGER, &
        merge(rank - 1, MPI_PROC_NULL, rank > 0), 1, MPI_COMM_WORLD, status, ierror)
    CHECK(left <= minval(mine))
  end subroutine

  subroutine transpose_all(n)
    integer, intent(in) :: n
    double complex, allocatable :: columns(:, :), blocks(:, :, :), back(:, :, :)
    integer :: i, j, width
    width = n / ranks
    allocate (columns(n, width), blocks(width, width, ranks), back(width, width, ranks))
    do j = 1, width
      do i = 1, n
        columns(i, j) = dcmplx(i, rank * width + j)
      end do
    end do
    do i = 1, ranks
      blocks(:, :, i) = transpose(columns((i - 1) * width + 1:i * width, :))
    end do
    call MPI_Alltoall(blocks, width * width, MPI_DOUBLE_COMPLEX, back, width * width, MPI_DOUBLE_COMPLEX, MPI_COMM_WORLD, ierror)
    OK(ierror)
    do i = 1, ranks
      columns((i - 1) * width + 1:i * width, :) = back(:, :, i)
    end do
    do j = 1, width
      CHECK(all(columns(:, j) == [(dcmplx(rank * width + j, i), i = 1, n)]))
    end do
  end subroutine

  ! -x(i-1) + 2.5 x(i) - x(i+1) = 1, with zeros at both ends.
  subroutine gradients(n)
    integer, intent(in) :: n
    double precision, allocatable, asynchronous :: p(:)
    double precision, allocatable :: x(:), r(:), q(:)
    double precision :: old, now, scale, largest
    integer :: width, step, left, right, i
    HANDLE(MPI_Request) :: requests(4)
    width = n / ranks
    allocate (p(0:width + 1), x(width), r(width), q(width))
    left = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    right = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    call MPI_Recv_init(p(0), 1, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Recv_init(p(width + 1), 1, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Send_init(p(1), 1, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(3), ierror)
    call MPI_Send_init(p(width), 1, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(4), ierror)
    x = 0
    r = 1
    p = 0
    p(1:width) = 1
    old = dot(r, r)
    do step = 1, n
      call MPI_Startall(4, requests, ierror)
      call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
      OK(ierror)
      call MPI_F_sync_reg(p)
      q = 2.5d0 * p(1:width) - p(0:width - 1) - p(2:width + 1)
      scale = old / dot(p(1:width), q)
      x = x + scale * p(1:width)
      r = r - scale * q
      now = dot(r, r)
      p(1:width) = r + now / old * p(1:width)
      old = now
      if (now < 1d-24) exit
    end do
    do i = 1, 4
      call MPI_Request_free(requests(i), ierror)
    end do
    CHECK(now < 1d-24)
    call MPI_Allreduce(maxval(x), largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
    ! Far from both ends 0.5 x = 1.
    CHECK(abs(largest - 2) < 1d-4)
  end subroutine

  double precision function dot(a, b)
    double precision, intent(in) :: a(:), b(:)
    double precision :: part
    part = sum(a * b)
    call MPI_Allreduce(part, dot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end function

  subroutine count_in_rings(n)
    integer, intent(in) :: n
    integer :: rings(0:3), all_rings(0:3), i, x, y, seed, in_half
    HANDLE(MPI_Comm) :: half
    seed = 77 * rank + 1
    rings = 0
    do i = 1, n
      x = next(seed)
      y = next(seed)
      rings(min(3, (max(x, y) / 16384))) = rings(min(3, (max(x, y) / 16384))) + 1
    end do
    call MPI_Comm_split(MPI_COMM_WORLD, merge(0, 1, 2 * rank < ranks), rank, half, ierror)
    call MPI_Allreduce(rings, all_rings, 4, MPI_INTEGER, MPI_SUM, half, ierror)
    call MPI_Comm_size(half, in_half, ierror)
    CHECK(sum(all_rings) == n * in_half .and. all_rings(3) > all_rings(0))
    call MPI_Comm_free(half, ierror)
  end subroutine
end program
#include "check.h"
