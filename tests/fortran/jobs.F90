! ranks: 2
! says: jobs: right
! Commands and arguments with and without MPI_ARGV_NULL and its kin, ports and names of services, and what else may be left out:
! error codes, weights, statuses (MPI-5.0 §11.8, §11.9, §8.5.4, §3.2.6).
#include "interface.h"
program jobs
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, other, given, total, codes(2), values(4), got(4), i, in_degree, out_degree, one(1), none(1)
  logical :: flag, weighted
  character(len=200) :: me, path
  character(len=16) :: arguments(3), word
  character(len=MPI_MAX_PORT_NAME) :: port, found
  character(len=40) :: name
  integer(kind=8) :: drawn
  HANDLE(MPI_Comm) :: parent, children, meeting, graph
  HANDLE(MPI_Request) :: requests(8)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_get_parent(parent, ierror)
  OK(ierror)
  given = command_argument_count()
  if (parent /= MPI_COMM_NULL) then
    ! A child tells how many arguments it has, and how long the last one is, with the blanks around it.
    if (given > 0) then
      call get_command_argument(given, word, total)
      CHECK(word == 'around')
      given = 10 * given + total
    end if
    call MPI_Reduce(given, total, 1, MPI_INTEGER, MPI_SUM, 0, parent, ierror)
    OK(ierror)
    call MPI_Comm_disconnect(parent, ierror)
    call MPI_Finalize(ierror)
    stop
  end if
  other = 1 - rank
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN, ierror)

  call get_command_argument(0, path)
  me = '  '
  me(3:) = path
  codes = -1
  call MPI_Comm_spawn(me, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierror)
  OK(ierror)
  CHECK(all(codes == MPI_SUCCESS))
  call told(0)
  call MPI_Comm_spawn(me, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
  OK(ierror)
  call told(0)
  arguments = [character(len=16) :: 'two words', '  around  ', '']
  call MPI_Comm_spawn(me, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
  OK(ierror)
  call told(2 * (10 * 2 + 6))
  codes = -1
  call MPI_Comm_spawn_multiple(2, [me, me], MPI_ARGVS_NULL, [1, 1], [MPI_INFO_NULL, MPI_INFO_NULL], 0, MPI_COMM_WORLD, &
      children, codes, ierror)
  OK(ierror)
  CHECK(all(codes == MPI_SUCCESS))
  call told(0)

  ! A port under a name: rank 0 waits there for rank 1. Another run of this user has another name.
  name = ' '
  if (rank == 0) then
    call system_clock(drawn)
    write (name, '(a, i0)') 'posthaste-jobs-', drawn
    call MPI_Open_port(MPI_INFO_NULL, port, ierror)
    OK(ierror)
    call MPI_Publish_name(name, MPI_INFO_NULL, port, ierror)
    OK(ierror)
  end if
  call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)
  OK(ierror)
  CHECK(name(:15) == 'posthaste-jobs-' .and. name(16:16) /= ' ')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) then
    call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, meeting, ierror)
  else
    found = '-'
    call MPI_Lookup_name(name, MPI_INFO_NULL, found, ierror)
    OK(ierror)
    call MPI_Comm_connect(found, MPI_INFO_NULL, 0, MPI_COMM_SELF, meeting, ierror)
  end if
  OK(ierror)
  call MPI_Sendrecv([rank], 1, MPI_INTEGER, 0, 3, one, 1, MPI_INTEGER, 0, 3, meeting, MPI_STATUS_IGNORE, ierror)
  OK(ierror)
  CHECK(one(1) == other)
  call MPI_Comm_disconnect(meeting, ierror)
  CHECK(meeting == MPI_COMM_NULL)
  if (rank == 0) then
    call MPI_Unpublish_name(name, MPI_INFO_NULL, port, ierror)
    OK(ierror)
    call MPI_Close_port(port, ierror)
    OK(ierror)
  end if
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Lookup_name(name, MPI_INFO_NULL, found, ierror)
  CHECK(ierror /= MPI_SUCCESS)

  ! An edge from 0 to 1, with a weight: where a process has no edge its weights are empty.
  one = other
  none = 7
  if (rank == 0) then
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, none, MPI_WEIGHTS_EMPTY, 1, one, [5], MPI_INFO_NULL, .false., &
        graph, ierror)
  else
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, one, [5], 0, none, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, .false., &
        graph, ierror)
  end if
  OK(ierror)
  call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted, ierror)
  CHECK(weighted .and. in_degree == rank .and. out_degree == other)
  call MPI_Comm_free(graph, ierror)
  if (rank == 0) then
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [0], [1], [1], MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
  else
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 0, none, none, none, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
  end if
  OK(ierror)
  call MPI_Dist_graph_neighbors_count(graph, in_degree, out_degree, weighted, ierror)
  CHECK(.not. weighted .and. in_degree == rank .and. out_degree == other)
  call MPI_Comm_free(graph, ierror)

  ! All of them and one after the other, without statuses.
  values = [(100 * rank + i, i = 1, 4)]
  got = -1
  do i = 1, 4
    call MPI_Irecv(got(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, requests(i), ierror)
    call MPI_Isend(values(i), 1, MPI_INTEGER, other, i, MPI_COMM_WORLD, requests(4 + i), ierror)
  end do
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
  OK(ierror)
  CHECK(all(got == [(100 * other + i, i = 1, 4)]))
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(4, requests(5:), flag, MPI_STATUSES_IGNORE, ierror)
    OK(ierror)
  end do
  do i = 1, 8
    CHECK(requests(i) == MPI_REQUEST_NULL)
  end do

  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'jobs: right'
contains
  subroutine told(expected)
    integer, intent(in) :: expected
    total = 0
    call MPI_Reduce(0, total, 1, MPI_INTEGER, MPI_SUM, merge(MPI_ROOT, MPI_PROC_NULL, rank == 0), children, ierror)
    OK(ierror)
    CHECK(rank /= 0 .or. total == expected)
    call MPI_Comm_disconnect(children, ierror)
    OK(ierror)
  end subroutine
end program
#include "check.h"
