! ranks: 2
! says: types: right
! Datatypes, packing, what a type is made of, names and types by precision (MPI-5.0 chapter 5, section 19.1.9).
#include "interface.h"
program types
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, i, length, position, size
  integer :: integers(20), number, counts(4)
  integer(kind=MPI_ADDRESS_KIND) :: lb, extent, places(3), addresses(5)
  double precision :: matrix(4, 5), reals(2)
  real :: row(5)
  character(len=100) :: packed
  character(len=MPI_MAX_OBJECT_NAME) :: name
  integer(kind=selected_int_kind(18)) :: long
  HANDLE(MPI_Datatype) :: vector, struct, of_kind, made, parts(5), olds(3)
  STATUS(status)
  type particle
    sequence
    integer :: id
    integer :: kind
    double precision :: place(2)
  end type
  type(particle) :: one

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  ! A row of a matrix.
  call MPI_Type_vector(5, 1, 4, MPI_DOUBLE_PRECISION, vector, ierror)
  OK(ierror)
  call MPI_Type_commit(vector, ierror)
  call MPI_Type_size(vector, size, ierror)
  CHECK(size == 40)
  call MPI_Type_get_extent(vector, lb, extent, ierror)
  CHECK(lb == 0 .and. extent == 17 * 8)
  matrix = reshape([(dble(i), i = 1, 20)], [4, 5])
  if (rank == 0) then
    call MPI_Send(matrix(2, 1), 1, vector, 1, 0, MPI_COMM_WORLD, ierror)
  else
    matrix = 0
    call MPI_Recv(matrix(3, 1), 1, vector, 0, 0, MPI_COMM_WORLD, status, ierror)
    CHECK(all(matrix(3, :) == [(dble(4 * i + 2), i = 0, 4)]) .and. sum(matrix) == sum(matrix(3, :)))
  end if
  call MPI_Type_set_name(vector, 'a row  ', ierror)
  name = repeat('-', len(name))
  call MPI_Type_get_name(vector, name, length, ierror)
  CHECK(name == 'a row' .and. length == 5)
  call MPI_Type_get_envelope(vector, counts(1), counts(2), counts(3), counts(4), ierror)
  CHECK(all(counts == [3, 0, 1, MPI_COMBINER_VECTOR]))
  integers = -1
  parts(2) = MPI_CHARACTER
  call MPI_Type_get_contents(vector, 20, 5, 5, integers, addresses, parts, ierror)
  OK(ierror)
  CHECK(all(integers(1:4) == [5, 1, 4, -1]))
  CHECK(parts(1) == MPI_DOUBLE_PRECISION .and. parts(2) == MPI_CHARACTER)

  ! A structure.
  call MPI_Get_address(one%id, places(1), ierror)
  call MPI_Get_address(one%place, places(2), ierror)
  places(3) = places(2) + 8
  places = places - places(1)
  olds(1) = MPI_INTEGER
  olds(2) = MPI_DOUBLE_PRECISION
  olds(3) = MPI_DOUBLE_PRECISION
  call MPI_Type_create_struct(3, [2, 1, 1], places, olds, struct, ierror)
  OK(ierror)
  call MPI_Type_commit(struct, ierror)
  one = particle(rank, 7, [0.5d0 * rank, 2.5d0])
  call MPI_Sendrecv_replace(one, 1, struct, 1 - rank, 1, 1 - rank, 1, MPI_COMM_WORLD, status, ierror)
  CHECK(one%id == 1 - rank .and. one%kind == 7 .and. all(one%place == [0.5d0 * (1 - rank), 2.5d0]))

  ! Packing.
  position = 0
  call MPI_Pack(rank, 1, MPI_INTEGER, packed, len(packed), position, MPI_COMM_WORLD, ierror)
  call MPI_Pack([1.5, 2.5], 2, MPI_REAL, packed, len(packed), position, MPI_COMM_WORLD, ierror)
  CHECK(position == 12)
  if (rank == 0) then
    call MPI_Send(packed, position, MPI_PACKED, 1, 2, MPI_COMM_WORLD, ierror)
  else
    call MPI_Recv(packed, len(packed), MPI_PACKED, 0, 2, MPI_COMM_WORLD, status, ierror)
    position = 0
    call MPI_Unpack(packed, len(packed), position, number, 1, MPI_INTEGER, MPI_COMM_WORLD, ierror)
    call MPI_Unpack(packed, len(packed), position, row, 2, MPI_REAL, MPI_COMM_WORLD, ierror)
    CHECK(number == 0 .and. row(2) == 2.5)
  end if
  places(1) = 0
  reals = [1.25d0, 3d0]
  call MPI_Pack_external('external32 ', reals, 2, MPI_DOUBLE_PRECISION, packed, 100_MPI_ADDRESS_KIND, places(1), ierror)
  OK(ierror)
  CHECK(places(1) == 16 .and. packed(1:1) == char(63))
  places(1) = 0
  reals = 0
  call MPI_Unpack_external('external32', packed, 16_MPI_ADDRESS_KIND, places(1), reals, 2, MPI_DOUBLE_PRECISION, ierror)
  CHECK(all(reals == [1.25d0, 3d0]))

  ! By precision and range.
  call MPI_Type_create_f90_real(15, 300, of_kind, ierror)
  OK(ierror)
  call MPI_Type_size(of_kind, size, ierror)
  CHECK(size == 8)
  call MPI_Type_create_f90_integer(18, of_kind, ierror)
  long = 2_8**40 + rank
  call MPI_Sendrecv_replace(long, 1, of_kind, 1 - rank, 3, 1 - rank, 3, MPI_COMM_WORLD, status, ierror)
  CHECK(long == 2_8**40 + 1 - rank)
  call MPI_Type_match_size(MPI_TYPECLASS_REAL, 4, made, ierror)
  call MPI_Type_size(made, size, ierror)
  CHECK(size == 4)
  call MPI_Type_create_subarray(2, [4, 5], [2, 2], [1, 1], MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, made, ierror)
  OK(ierror)
  call MPI_Type_free(made, ierror)
  call MPI_Type_free(struct, ierror)
  call MPI_Type_free(vector, ierror)
  CHECK(vector == MPI_DATATYPE_NULL)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'types: right'
end program
#include "check.h"
