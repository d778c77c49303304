! ranks: 3
! says: communicators: right
! Groups as sets, communicators of groups, of kinds of places and with hints, the other side of intercommunicators, processes that
! meet over a socket, error handlers that the program calls (MPI-5.0 chapter 7, §9.3, §11.9.5).
#include "interface.h"
module callbacks
  implicit none
  integer :: handled = 0, codes = 0
contains
  subroutine handler(comm, code)
    USES
    implicit none
    INCLUDES
    HANDLE(MPI_Comm) :: comm
    integer :: code
    if (comm /= MPI_COMM_NULL) handled = handled + 1
    codes = code
  end subroutine
end module

! What a socket of the system takes.
module sockets
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function c_socket(domain, kind, protocol) bind(C, name='socket')
      import :: c_int
      integer(c_int), value :: domain, kind, protocol
    end function
    integer(c_int) function c_bind(fd, address, length) bind(C, name='bind')
      import :: c_int, c_char
      integer(c_int), value :: fd, length
      character(kind=c_char), intent(in) :: address(*)
    end function
    integer(c_int) function c_connect(fd, address, length) bind(C, name='connect')
      import :: c_int, c_char
      integer(c_int), value :: fd, length
      character(kind=c_char), intent(in) :: address(*)
    end function
    integer(c_int) function c_listen(fd, backlog) bind(C, name='listen')
      import :: c_int
      integer(c_int), value :: fd, backlog
    end function
    integer(c_int) function c_accept(fd, address, length) bind(C, name='accept')
      import :: c_int, c_ptr
      integer(c_int), value :: fd
      type(c_ptr), value :: address, length
    end function
    integer(c_int) function c_close(fd) bind(C, name='close')
      import :: c_int
      integer(c_int), value :: fd
    end function
  end interface
end module

program communicators_more
  USES
  use callbacks
  implicit none
  INCLUDES
  integer :: ierror, rank, other, i, count, result
  logical :: flag
  HANDLE(MPI_Group) :: world
  HANDLE(MPI_Comm) :: made, twin
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_group(MPI_COMM_WORLD, world, ierror)
  call sets()
  call of_groups()
  call hints()
  call sides()
  call errors()
  call meet()
#if !defined(F08)
  call old_names()
#endif
  call MPI_Group_free(world, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'communicators: right'

contains

  ! The members of a group are these ranks of the world, in this order.
  logical function are(group, ranks)
    HANDLE(MPI_Group), intent(inout) :: group
    integer, intent(in) :: ranks(:)
    integer :: of_world(3), place
    call MPI_Group_size(group, count, ierror)
    call MPI_Group_rank(group, place, ierror)
    are = count == size(ranks)
    if (.not. are) return
    call MPI_Group_translate_ranks(group, count, [0, 1, 2], world, of_world, ierror)
    are = all(of_world(:count) == ranks)
    if (any(ranks == rank)) then
      are = are .and. ranks(place + 1) == rank
    else
      are = are .and. place == MPI_UNDEFINED
    end if
    call MPI_Group_free(group, ierror)
  end function

  subroutine sets()
    HANDLE(MPI_Group) :: left, right, both
    integer :: ranges(3, 2)
    call MPI_Group_incl(world, 2, [2, 1], left, ierror)
    call MPI_Group_excl(world, 1, [1], right, ierror)
    OK(ierror)
    call MPI_Group_union(left, right, both, ierror)
    OK(ierror)
    CHECK(are(both, [2, 1, 0]))
    call MPI_Group_intersection(left, right, both, ierror)
    OK(ierror)
    CHECK(are(both, [2]))
    call MPI_Group_difference(right, left, both, ierror)
    OK(ierror)
    CHECK(are(both, [0]))
    call MPI_Group_difference(left, world, both, ierror)
    CHECK(both == MPI_GROUP_EMPTY)
    ranges(:, 1) = [2, 2, 1]
    ranges(:, 2) = [0, 0, 1]
    call MPI_Group_range_excl(world, 2, ranges, both, ierror)
    OK(ierror)
    CHECK(are(both, [1]))
    call MPI_Group_range_incl(world, 2, ranges, both, ierror)
    OK(ierror)
    CHECK(are(both, [2, 0]))
    call MPI_Group_free(left, ierror)
    call MPI_Group_free(right, ierror)
  end subroutine

  subroutine of_groups()
    HANDLE(MPI_Group) :: pair
    call MPI_Group_incl(world, 2, [2, 0], pair, ierror)
    ! Only members call it.
    if (rank /= 1) then
      call MPI_Comm_create_group(MPI_COMM_WORLD, pair, 17, made, ierror)
      OK(ierror)
      call MPI_Comm_rank(made, i, ierror)
      CHECK(i == merge(1, 0, rank == 0))
      call MPI_Allreduce(rank, count, 1, MPI_INTEGER, MPI_SUM, made, ierror)
      CHECK(count == 2)
      call MPI_Comm_free(made, ierror)
      CHECK(made == MPI_COMM_NULL)
    end if
    call MPI_Group_free(pair, ierror)
    ! All of one machine, backwards; and those who take no part.
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, made, ierror)
    OK(ierror)
    call MPI_Comm_size(made, count, ierror)
    call MPI_Comm_rank(made, i, ierror)
    CHECK(count == 3 .and. i == 2 - rank)
    call MPI_Comm_free(made, ierror)
    call MPI_Comm_split_type(MPI_COMM_WORLD, merge(MPI_UNDEFINED, MPI_COMM_TYPE_SHARED, rank == 1), 0, MPI_INFO_NULL, made, ierror)
    OK(ierror)
    CHECK((made == MPI_COMM_NULL) .eqv. (rank == 1))
    if (rank /= 1) call MPI_Comm_free(made, ierror)
  end subroutine

  ! An assertion goes with a copy only when it is given again.
  subroutine hints()
    HANDLE(MPI_Info) :: info
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'mpi_assert_no_any_tag', 'true', ierror)
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, made, ierror)
    OK(ierror)
    CHECK(promises(made))
    call MPI_Comm_compare(made, MPI_COMM_WORLD, result, ierror)
    CHECK(result == MPI_CONGRUENT)
    call MPI_Comm_idup_with_info(made, MPI_INFO_NULL, twin, request, ierror)
    OK(ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    CHECK(.not. promises(twin))
    call MPI_Comm_set_info(twin, info, ierror)
    OK(ierror)
    CHECK(promises(twin))
    call MPI_Allreduce(rank, count, 1, MPI_INTEGER, MPI_MAX, twin, ierror)
    CHECK(count == 2)
    call MPI_Info_free(info, ierror)
    call MPI_Comm_free(made, ierror)
    call MPI_Comm_free(twin, ierror)
  end subroutine

  logical function promises(comm)
    HANDLE(MPI_Comm), intent(in) :: comm
    HANDLE(MPI_Info) :: used
    character(len=8) :: value
    call MPI_Comm_get_info(comm, used, ierror)
    OK(ierror)
    value = ' '
    call MPI_Info_get(used, 'mpi_assert_no_any_tag', len(value), value, flag, ierror)
    promises = flag .and. value == 'true'
    call MPI_Info_free(used, ierror)
  end function

  ! Rank 1 on one side, the others on the other one.
  subroutine sides()
    HANDLE(MPI_Comm) :: inter
    HANDLE(MPI_Group) :: far
    call MPI_Comm_split(MPI_COMM_WORLD, merge(1, 0, rank == 1), rank, made, ierror)
    call MPI_Intercomm_create(made, 0, MPI_COMM_WORLD, merge(0, 1, rank == 1), 3, inter, ierror)
    OK(ierror)
    call MPI_Comm_remote_group(inter, far, ierror)
    OK(ierror)
    if (rank == 1) then
      CHECK(are(far, [0, 2]))
    else
      CHECK(are(far, [1]))
    end if
    call MPI_Comm_free(inter, ierror)
    call MPI_Comm_free(made, ierror)
  end subroutine

  subroutine errors()
    HANDLE(MPI_Errhandler) :: errhandler, found
    call MPI_Comm_create_errhandler(handler, errhandler, ierror)
    call MPI_Comm_dup(MPI_COMM_WORLD, made, ierror)
    call MPI_Comm_set_errhandler(made, errhandler, ierror)
    call MPI_Comm_get_errhandler(made, found, ierror)
    CHECK(found == errhandler)
    call MPI_Errhandler_free(found, ierror)
    call MPI_Comm_call_errhandler(made, MPI_ERR_OTHER, ierror)
    OK(ierror)
    CHECK(handled == 1 .and. codes == MPI_ERR_OTHER)
    call MPI_Comm_free(made, ierror)
    call MPI_Errhandler_free(errhandler, ierror)
    CHECK(errhandler == MPI_ERRHANDLER_NULL)
  end subroutine

  ! Ranks 0 and 1, by a socket that has a name only in memory.
  subroutine meet()
    use sockets
    integer(c_int) :: fd, listening
    integer(8) :: drawn
    character(len=40) :: address
    HANDLE(MPI_Comm) :: joined
    if (rank == 2) return
    other = 1 - rank
    if (rank == 0) then
      call system_clock(drawn)
      write (address, '(a, a, i0)') 'abc', 'posthaste-join-', drawn
      ! Its family, AF_UNIX, and the byte that says that it is no file.
      address(1:3) = char(1)//char(0)//char(0)
      listening = c_socket(1_c_int, 1_c_int, 0_c_int)
      CHECK(listening >= 0)
      CHECK(c_bind(listening, address, 40_c_int) == 0 .and. c_listen(listening, 1_c_int) == 0)
      call MPI_Send(address, 40, MPI_CHARACTER, 1, 8, MPI_COMM_WORLD, ierror)
      fd = c_accept(listening, c_null_ptr, c_null_ptr)
    else
      call MPI_Recv(address, 40, MPI_CHARACTER, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierror)
      fd = c_socket(1_c_int, 1_c_int, 0_c_int)
      CHECK(c_connect(fd, address, 40_c_int) == 0)
    end if
    CHECK(fd >= 0)
    call MPI_Comm_join(fd, joined, ierror)
    OK(ierror)
    CHECK(joined /= MPI_COMM_NULL)
    call MPI_Comm_remote_size(joined, count, ierror)
    CHECK(count == 1)
    call MPI_Sendrecv(500 + rank, 1, MPI_INTEGER, 0, 1, i, 1, MPI_INTEGER, 0, 1, joined, MPI_STATUS_IGNORE, ierror)
    OK(ierror)
    CHECK(i == 500 + other)
    call MPI_Comm_disconnect(joined, ierror)
    OK(ierror)
    CHECK(c_close(fd) == 0)
    if (rank == 0) then
      CHECK(c_close(listening) == 0)
    end if
  end subroutine

#if !defined(F08)
  subroutine old_names()
    integer :: key, attribute
    call MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, key, 0, ierror)
    OK(ierror)
    call MPI_Attr_put(MPI_COMM_SELF, key, 44, ierror)
    call MPI_Attr_get(MPI_COMM_SELF, key, attribute, flag, ierror)
    CHECK(flag .and. attribute == 44)
    call MPI_Attr_delete(MPI_COMM_SELF, key, ierror)
    OK(ierror)
    call MPI_Attr_get(MPI_COMM_SELF, key, attribute, flag, ierror)
    CHECK(.not. flag)
    call MPI_Keyval_free(key, ierror)
    OK(ierror)
    CHECK(key == MPI_KEYVAL_INVALID)
  end subroutine
#endif
end program
#include "check.h"
