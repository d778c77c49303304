! ranks: 2
! interfaces: f08
! says: large: right
! Counts longer than an INTEGER, in all kinds of routines that have them (MPI-5.0 §19.2).
#include "interface.h"
program large
  USES
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  implicit none
  integer :: rank, other, sent(4), got(4), i, counts(2), result(2)
  integer, asynchronous :: received(4), values(2, 4)
  integer(kind=MPI_COUNT_KIND) :: four, count, position, long_counts(2), long_count, lb, extent
  integer(kind=MPI_ADDRESS_KIND) :: places(2), bytes, unit
  character :: packed(64)
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  type(MPI_Datatype) :: pair
  type(MPI_Win) :: win
  type(c_ptr) :: base
  integer, pointer :: shared(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  other = 1 - rank
  four = 4
  sent = [(10 * rank + i, i = 1, 4)]

  ! Messages, with a section of an array.
  call MPI_Irecv(received, four, MPI_INTEGER, other, 1, MPI_COMM_WORLD, request)
  call MPI_Send(sent, four, MPI_INTEGER, other, 1, MPI_COMM_WORLD)
  call MPI_Wait(request, status)
  call MPI_F_sync_reg(received)
  CHECK(all(received == [(10 * other + i, i = 1, 4)]))
  call MPI_Get_count(status, MPI_INTEGER, count)
  CHECK(count == 4)
  values = 0
  values(2, :) = sent
  call MPI_Sendrecv(values(2, :), four, MPI_INTEGER, other, 2, got, four, MPI_INTEGER, other, 2, MPI_COMM_WORLD, status)
  CHECK(all(got == received))
  call MPI_Get_elements(status, MPI_INTEGER, count)
  CHECK(count == 4)

  ! Collective operations; displacements are addresses.
  call MPI_Allreduce(MPI_IN_PLACE, got, four, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  CHECK(all(got == [(10 + 2 * i, i = 1, 4)]))
  long_counts = 1
  places = [1_MPI_ADDRESS_KIND, 0_MPI_ADDRESS_KIND]
  call MPI_Allgatherv([rank], 1_MPI_COUNT_KIND, MPI_INTEGER, result, long_counts, places, MPI_INTEGER, MPI_COMM_WORLD)
  CHECK(all(result == [1, 0]))

  ! Datatypes and packing.
  call MPI_Type_vector(2_MPI_COUNT_KIND, 1_MPI_COUNT_KIND, 2_MPI_COUNT_KIND, MPI_INTEGER, pair)
  call MPI_Type_commit(pair)
  call MPI_Type_size(pair, count)
  CHECK(count == 8)
  call MPI_Type_get_extent(pair, lb, extent)
  CHECK(lb == 0 .and. extent == 12)
  position = 0
  call MPI_Pack(sent, 1_MPI_COUNT_KIND, pair, packed, 64_MPI_COUNT_KIND, position, MPI_COMM_WORLD)
  CHECK(position == 8)
  call MPI_Pack_external_size('external32', 1_MPI_COUNT_KIND, pair, count)
  CHECK(count == 8)
  position = 0
  call MPI_Pack_external('external32', sent, 1_MPI_COUNT_KIND, pair, packed, 64_MPI_COUNT_KIND, position)
  position = 0
  counts = -1
  call MPI_Unpack_external('external32', packed, 64_MPI_COUNT_KIND, position, counts, 2_MPI_COUNT_KIND, MPI_INTEGER)
  CHECK(all(counts == [sent(1), sent(3)]))
  call MPI_Type_free(pair)

  ! Counts that no INTEGER has.
  long_count = 3000000000_MPI_COUNT_KIND
  call MPI_Type_contiguous(long_count, MPI_BYTE, pair)
  call MPI_Type_commit(pair)
  call MPI_Type_size(pair, count)
  CHECK(count == long_count)
  call MPI_Type_size(pair, i)
  CHECK(i == MPI_UNDEFINED)
#if defined(ELSEWHERE)
  ! The modules of other implementations may be older than MPI-4.1.
  call MPI_Status_set_elements_x(status, MPI_BYTE, long_count)
#else
  call MPI_Status_set_elements(status, MPI_BYTE, long_count)
#endif
  call MPI_Get_elements(status, MPI_BYTE, count)
  CHECK(count == long_count)
  call MPI_Get_count(status, pair, count)
  CHECK(count == 1)
  call MPI_Get_count(status, MPI_BYTE, i)
  CHECK(i == MPI_UNDEFINED)
  call MPI_Type_free(pair)

  ! A window.
  bytes = 16
  unit = 4
  call MPI_Win_allocate(bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, base, win)
  call c_f_pointer(base, shared, [4])
  shared = -1
  call MPI_Win_fence(0, win)
  call MPI_Put(sent, four, MPI_INTEGER, other, 0_MPI_ADDRESS_KIND, four, MPI_INTEGER, win)
  call MPI_Win_fence(0, win)
  CHECK(all(shared == received))
  call MPI_Win_free(win)

  call MPI_Finalize()
  if (rank == 0) print '(a)', 'large: right'
end program
#include "check.h"
