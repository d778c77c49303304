! Names that one more underscore ends, in mpi_f08: also those of the operators of handles.
program underscores
  use mpi_f08
  implicit none
  type(MPI_Comm) :: twin
  type(MPI_Group) :: group, other
  integer :: rank
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_dup(MPI_COMM_WORLD, twin)
  if (twin == MPI_COMM_WORLD .or. .not. twin /= MPI_COMM_NULL) error stop 1
  call MPI_Comm_free(twin)
  if (twin /= MPI_COMM_NULL) error stop 2
  call MPI_Comm_group(MPI_COMM_WORLD, group)
  call MPI_Group_excl(group, 2, [0, 1], other)
  if (other /= MPI_GROUP_EMPTY .or. group == other) error stop 3
  call MPI_Group_free(group)
  call MPI_Finalize()
  if (rank == 0) print '(a)', 'underscores: right'
end program
