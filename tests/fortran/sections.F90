! ranks: 2
! interfaces: f08
! says: sections: right
! Choice buffers that are not contiguous, counts longer than an INTEGER, errors that are optional (MPI-5.0 sections 19.1.12,
! 19.1.2).
#include "interface.h"
program sections
  use mpi_f08
  implicit none
  integer :: rank, other, i, ierror, class, length, position
  ! What operations use that end later (MPI-5.0 section 19.1.16).
  real, asynchronous :: matrix(4, 6), got(4, 6), column(6)
  integer, asynchronous :: numbers(20), result(20), cube(3, 4, 5), cubes(3, 4, 5)
  complex, asynchronous :: waves(6)
  character(len=4), asynchronous :: words(6), others(6)
  integer :: packed(20)
  character(len=MPI_MAX_ERROR_STRING) :: sentence
  integer(kind=MPI_COUNT_KIND) :: count
  integer(kind=MPI_ADDRESS_KIND) :: bytes
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  type(MPI_Datatype) :: gaps
  type(MPI_Win) :: win
  type(MPI_Group) :: everybody, reversed
  ! Requests among other things, as programs that exchange halos keep them.
  type :: side
    integer :: number
    type(MPI_Request) :: request
  end type
  type(side) :: halo(2)
  type(MPI_Request) :: every(4)
  integer :: which

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  other = 1 - rank
  CHECK(MPI_SUBARRAYS_SUPPORTED .and. MPI_ASYNC_PROTECTS_NONBLOCKING)
  matrix = reshape([(real(100 * rank + i), i = 1, 24)], [4, 6])

  ! Calls that are over when they return copy: a row in, a row out, the rest untouched.
  got = -1
  call MPI_Sendrecv(matrix(2, :), 6, MPI_REAL, other, 0, got(3, :), 6, MPI_REAL, other, 0, MPI_COMM_WORLD, status)
  CHECK(all(got(3, :) == [(real(100 * other + 2 + 4 * i), i = 0, 5)]))
  CHECK(all(got([1, 2, 4], :) == -1))
  got = -1
  ! Backwards, and fewer than there are.
  call MPI_Sendrecv(matrix(4:1:-1, 1), 4, MPI_REAL, other, 0, got(1, 6:1:-1), 6, MPI_REAL, other, 0, MPI_COMM_WORLD, status)
  CHECK(all(got(1, 6:3:-1) == [(real(100 * other + i), i = 4, 1, -1)]) .and. all(got(1, 1:2) == -1))
  call MPI_Get_count(status, MPI_REAL, count)
  CHECK(count == 4)
  numbers = [(i + rank, i = 1, 20)]
  result = 0
  call MPI_Allreduce(numbers(1:20:3), result(2:8), 7, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  CHECK(all(result(2:8) == [(2 * i + 1, i = 1, 20, 3)]) .and. result(1) == 0 .and. result(9) == 0)
  call MPI_Allreduce(MPI_IN_PLACE, numbers(2::2), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  CHECK(all(numbers(2::2) == [(2 * i + 1, i = 2, 20, 2)]) .and. all(numbers(1::2) == [(i + rank, i = 1, 19, 2)]))
  position = 0
  call MPI_Pack(numbers(1::10), 2, MPI_INTEGER, packed, 80, position, MPI_COMM_WORLD)
  CHECK(position == 8 .and. packed(2) == 11 + rank)

  ! Operations that end later describe: rows, backwards, three dimensions, texts, numbers in two parts.
  got = -1
  call MPI_Irecv(got(4, :), 6, MPI_REAL, other, 1, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(matrix(1, 6:1:-1), 6, MPI_REAL, other, 1, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(got(4, :) == [(real(100 * other + 21 - 4 * i), i = 0, 5)]) .and. all(got(1:3, :) == -1))
  ! Handles that do not lie side by side go in and come back.
  result(1:2) = -1
  call MPI_Irecv(result(1), 1, MPI_INTEGER, other, 3, MPI_COMM_WORLD, halo(1)%request)
  call MPI_Isend(rank, 1, MPI_INTEGER, other, 3, MPI_COMM_WORLD, halo(2)%request)
  call MPI_Waitall(2, halo(:)%request, MPI_STATUSES_IGNORE)
  CHECK(result(1) == other .and. all([(halo(i)%request == MPI_REQUEST_NULL, i = 1, 2)]))
  every = MPI_REQUEST_NULL
  call MPI_Irecv(result(2), 1, MPI_INTEGER, other, 4, MPI_COMM_WORLD, every(4))
  call MPI_Send(rank, 1, MPI_INTEGER, other, 4, MPI_COMM_WORLD)
#if defined(ELSEWHERE)
  ! Not all libraries have the standard's names.
  call MPI_Waitany(2, every(2::2), which, status)
#else
  call MPI_Waitany(count=2, array_of_requests=every(2::2), index=which, status=status)
#endif
  CHECK(which == 2 .and. result(2) == other .and. every(4) == MPI_REQUEST_NULL)
  call MPI_Comm_group(MPI_COMM_WORLD, everybody)
  call MPI_Group_range_incl(everybody, 1, reshape([1, 0, -1], [3, 1]), reversed)
  call MPI_Group_rank(reversed, which)
  CHECK(which == 1 - rank)
  call MPI_Group_free(reversed)
  call MPI_Group_free(everybody)
  cube = reshape([(1000 * rank + i, i = 1, 60)], [3, 4, 5])
  cubes = -1
  call MPI_Irecv(cubes(1:3:2, 2:3, 1:5:2), 12, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(cube(2:3, 1:4:2, 2:4), 12_MPI_COUNT_KIND, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(cubes(1:3:2, 2:3, 1:5:2) == 1000 * other - 1000 * rank + cube(2:3, 1:4:2, 2:4)))
  CHECK(all(cubes(2, :, :) == -1) .and. all(cubes(:, 1, :) == -1) .and. all(cubes(:, :, 2) == -1))
  ! Fewer elements than the section has.
  cubes = -1
  call MPI_Irecv(cubes(1:3:2, 2:3, 1:5:2), 12, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(cube(2:3, 1:4:2, 2:4), 7, MPI_INTEGER, other, 2, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(count_of(cubes) == 7 .and. cubes(1, 2, 5) == -1)
  words = [character(len=4) :: 'ab', 'cdef', 'gh', 'ijkl', 'mn', 'op']
  others = '----'
  call MPI_Irecv(others(2::2), 12, MPI_CHARACTER, other, 3, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(words(1::2), 12, MPI_CHARACTER, other, 3, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(others(2::2) == words(1::2)) .and. all(others(1::2) == '----'))
  waves = [(cmplx(i, rank), i = 1, 6)]
  call MPI_Irecv(column, 6, MPI_REAL, other, 4, MPI_COMM_WORLD, requests(1))
  call MPI_Isend(waves(1::2), 6, MPI_REAL, other, 4, MPI_COMM_WORLD, requests(2))
  call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
  CHECK(all(column == [1., real(other), 3., real(other), 5., real(other)]))
  call MPI_Recv_init(got(2, :), 6, MPI_REAL, other, 5, MPI_COMM_WORLD, requests(1))
  call MPI_Send_init(matrix(3, :), 6, MPI_REAL, other, 5, MPI_COMM_WORLD, requests(2))
  do i = 1, 2
    got = -1
    matrix(3, 6) = i
    call MPI_Startall(2, requests)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    CHECK(got(2, 6) == i .and. got(2, 1) == 100 * other + 3 .and. got(1, 6) == -1)
  end do
  call MPI_Request_free(requests(1))
  call MPI_Request_free(requests(2))

  ! One-sided operations: the origin is a section.
  bytes = 80
  result = 0
  call MPI_Win_create(result, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
  call MPI_Win_fence(0, win)
  numbers = [(i + 10 * rank, i = 1, 20)]
  call MPI_Put(numbers(5:1:-2), 3, MPI_INTEGER, other, 1_MPI_ADDRESS_KIND, 3, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  CHECK(all(result(1:5) == [0, 5 + 10 * other, 3 + 10 * other, 1 + 10 * other, 0]))
  call MPI_Win_free(win)

  ! What cannot be described is refused, with a sentence.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, 8_MPI_ADDRESS_KIND, gaps)
  call MPI_Type_commit(gaps)
  call MPI_Isend(numbers(1::2), 2, gaps, other, 6, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Error_class(ierror, class)
  CHECK(class == MPI_ERR_BUFFER)
  call MPI_Error_string(ierror, sentence, length)
  CHECK(index(sentence, 'MPI_Isend: buf is an array section') == 1)
  call MPI_Isend(numbers(1::2), 11, MPI_INTEGER, other, 6, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Error_class(ierror, class)
  CHECK(class == MPI_ERR_BUFFER)
  call MPI_Iallreduce(numbers(1::2), result, 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Error_class(ierror, class)
  CHECK(class == MPI_ERR_BUFFER)
  ! The same datatype in a call that is over when it returns.
  result = 0
  if (rank == 0) then
    call MPI_Send(numbers(1::2), 3, gaps, 1, 7, MPI_COMM_WORLD)
  else
    call MPI_Recv(result, 3, MPI_INTEGER, 0, 7, MPI_COMM_WORLD, status)
    CHECK(all(result(1:4) == [1, 5, 9, 0]))
  end if
  call MPI_Type_free(gaps)

  call elsewhere()

  ! Assumed shape passes through, and assumed size.
  call pass(matrix(1:4:3, :))
  call litter(8)
  call unallocated()
  call sized(matrix(:, 2))
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'sections: right'

contains

  ! Every other element, in calls of other chapters.
  subroutine elsewhere()
    integer, asynchronous :: from(8), into(8)
    integer(kind=MPI_ADDRESS_KIND), parameter :: nothing = 0
    type(MPI_Request) :: request
    from = [(10 * rank + i, i = 1, 8)]
    into = -1
    call MPI_Gather(from(2::4), 2, MPI_INTEGER, into(8:1:-2), 2, MPI_INTEGER, 1, MPI_COMM_WORLD)
    CHECK(all(into(2::2) == merge([16, 12, 6, 2], -1, rank == 1)) .and. all(into(1::2) == -1))
    into = -1
    call MPI_Scatterv(from(1::2), [1, 2], [3, 0], MPI_INTEGER, into(2::2), 1 + rank, MPI_INTEGER, 0, MPI_COMM_WORLD)
    CHECK(into(2) == merge(7, 1, rank == 0) .and. into(4) == merge(-1, 3, rank == 0) .and. all(into(1::2) == -1))
    into = -1
    call MPI_Exscan(from(1::3), into(1::3), 3, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    CHECK(rank == 0 .or. all(into == [1, -1, -1, 4, -1, -1, 7, -1]))
    into = -1
    call MPI_Ibcast(from(8 - rank:1:-1), 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    CHECK(from(8 - rank) == 8)
    call MPI_Isendrecv(from(1:5:2), 3, MPI_INTEGER, other, 1, into(6:1:-2), 3, MPI_INTEGER, other, 1, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    CHECK(all(into == [-1, 10 * other + 5, -1, 10 * other + 3, -1, 10 * other + 1, -1, -1]))
    into = -1
    call MPI_Win_create(into, 32_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_lock_all(0, win)
    call MPI_Rput(from(1:4:3), 2, MPI_INTEGER, other, nothing, 2, MPI_INTEGER, win, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Win_unlock_all(win)
    call MPI_Win_free(win)
    CHECK(all(into == [10 * other + 1, 10 * other + 4, -1, -1, -1, -1, -1, -1]))

    call MPI_Igather(from(1::2), 2, MPI_INTEGER, into, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request, ierror)
    CHECK(is_refused('MPI_Igather: sendbuf is an array section'))
    call MPI_Allgather_init(from, 2, MPI_INTEGER, into(1::2), 2, MPI_INTEGER, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
    CHECK(is_refused('MPI_Allgather_init: recvbuf is an array section'))
    call MPI_Psend_init(from(1::2), 2, 2_MPI_COUNT_KIND, MPI_INTEGER, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
    CHECK(is_refused('MPI_Psend_init'))
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win)
    call MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN)
    call MPI_Win_attach(win, into(1::2), 16_MPI_ADDRESS_KIND, ierror)
    CHECK(is_refused('MPI_Win_attach: base is an array section'))
    call MPI_Win_free(win)
  end subroutine

  ! An array that is allocated where it is looked at only.
  subroutine unallocated()
    integer, allocatable, asynchronous :: all_of(:), of_root(:, :)
    integer, asynchronous :: own(2)
    type(MPI_Request) :: request
    if (rank == 0) allocate(all_of(4), of_root(2, 2))
    own = [10 * rank + 1, 10 * rank + 2]
    call MPI_Gather(own, 2, MPI_INTEGER, all_of, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) then
      CHECK(all(all_of == [1, 2, 11, 12]))
      of_root = reshape([5, 6, 7, 8], [2, 2])
    end if
    call MPI_Scatter(of_root, 2, MPI_INTEGER, own, 2, MPI_INTEGER, 0, MPI_COMM_WORLD)
    CHECK(all(own == [5, 6] + 2 * rank))
    call MPI_Igather(own, 2, MPI_INTEGER, of_root, 2, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    if (rank == 0) then
      CHECK(all(of_root == reshape([5, 6, 7, 8], [2, 2])))
    end if
  end subroutine

  ! What was on the stack before is not 0.
  recursive subroutine litter(depth)
    integer, intent(in) :: depth
    integer, volatile :: words(64)
    words = depth + 3
    if (depth > 0) call litter(depth - 1)
  end subroutine

  ! The last call, with a sentence that begins so.
  logical function is_refused(beginning)
    character(len=*), intent(in) :: beginning
    call MPI_Error_class(ierror, class)
    call MPI_Error_string(ierror, sentence, length)
    is_refused = class == MPI_ERR_BUFFER .and. index(sentence, beginning) == 1
  end function

  integer function count_of(cubes)
    integer, intent(in) :: cubes(:, :, :)
    count_of = int(size(cubes)) - int(sum(merge(1, 0, cubes == -1)))
  end function

  subroutine sized(part)
    real, intent(inout) :: part(2, *)
    real :: sums(2, 2)
    call MPI_Allreduce(part, sums, 4, MPI_REAL, MPI_SUM, MPI_COMM_WORLD)
    CHECK(all(sums == 2 * part(:, 1:2) + merge(100, -100, rank == 0)))
  end subroutine

  subroutine pass(part)
    real, intent(inout) :: part(:, :)
    real :: sums(2, 6)
    call MPI_Reduce(part, sums, 12, MPI_REAL, MPI_SUM, 0, MPI_COMM_WORLD)
    CHECK(rank /= 0 .or. all(sums == 2 * part + 100))
  end subroutine
end program
#include "check.h"
