! ranks: 4
! says: topologies: right
! Grids, graphs, neighborhoods; logicals in arrays, weights that are left out (MPI-5.0 chapter 8).
#include "interface.h"
program topologies
  USES
  implicit none
  INCLUDES
  integer :: ierror, rank, dims(2), coords(2), left, right, i, kind, in_degree, out_degree, sources(1), targets(1), weights(1)
  integer :: got(4), counts(4), neighbors(2), index(4), edges(8), count
  integer(kind=MPI_ADDRESS_KIND) :: places(4)
  logical :: periods(2), is_there(2), weighted
  HANDLE(MPI_Comm) :: grid, row, graph, ring
  HANDLE(MPI_Datatype) :: types(4)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  dims = 0
  call MPI_Dims_create(4, 2, dims, ierror)
  CHECK(all(dims == 2))
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., grid, ierror)
  OK(ierror)
  periods = [.false., .true.]
  call MPI_Cart_get(grid, 2, dims, periods, coords, ierror)
  CHECK(periods(1) .and. .not. periods(2) .and. coords(1) == rank / 2 .and. coords(2) == modulo(rank, 2))
  call MPI_Cart_rank(grid, coords, i, ierror)
  CHECK(i == rank)
  call MPI_Cart_shift(grid, 1, 1, left, right, ierror)
  CHECK(left == merge(rank - 1, MPI_PROC_NULL, coords(2) == 1))
  CHECK(right == merge(rank + 1, MPI_PROC_NULL, coords(2) == 0))
  is_there = [.false., .true.]
  call MPI_Cart_sub(grid, is_there, row, ierror)
  call MPI_Comm_size(row, i, ierror)
  CHECK(i == 2)
  call MPI_Topo_test(grid, kind, ierror)
  CHECK(kind == MPI_CART)

  ! Everybody but the outside.
  got = -1
  types = MPI_INTEGER
  counts = 1
  places = [(4 * i, i = 0, 3)]
  call MPI_Neighbor_alltoallw([10 * rank, 10 * rank + 1, 10 * rank + 2, 10 * rank + 3], counts, places, types, &
      got, counts, places, types, grid, ierror)
  OK(ierror)
  i = modulo(rank + 2, 4)
  CHECK(got(1) == 10 * i + 1 .and. got(2) == 10 * i)
  CHECK(got(3) == merge(10 * (rank - 1) + 3, -1, coords(2) == 1))
  CHECK(got(4) == merge(10 * (rank + 1) + 2, -1, coords(2) == 0))

  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [modulo(rank - 1, 4)], MPI_UNWEIGHTED, 1, [modulo(rank + 1, 4)], &
      MPI_UNWEIGHTED, MPI_INFO_NULL, .false., ring, ierror)
  OK(ierror)
  call MPI_Dist_graph_neighbors_count(ring, in_degree, out_degree, weighted, ierror)
  CHECK(in_degree == 1 .and. out_degree == 1 .and. .not. weighted)
  call MPI_Dist_graph_neighbors(ring, 1, sources, MPI_UNWEIGHTED, 1, targets, MPI_UNWEIGHTED, ierror)
  CHECK(sources(1) == modulo(rank - 1, 4) .and. targets(1) == modulo(rank + 1, 4))
  call MPI_Neighbor_alltoallw([rank], counts, places, types, got, counts, places, types, ring, ierror)
  CHECK(got(1) == sources(1))
  call MPI_Comm_free(ring, ierror)
  call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], [1], [modulo(rank + 1, 4)], [rank + 5], MPI_INFO_NULL, .false., ring, &
      ierror)
  call MPI_Dist_graph_neighbors_count(ring, in_degree, out_degree, weighted, ierror)
  CHECK(weighted)
  call MPI_Dist_graph_neighbors(ring, 1, sources, weights, 1, targets, MPI_UNWEIGHTED, ierror)
  CHECK(weights(1) == modulo(rank - 1, 4) + 5)

  ! A ring again; the indices of a graph say how many edges there are up to each process.
  index = [2, 4, 6, 8]
  edges = [1, 3, 0, 2, 1, 3, 0, 2]
  call MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, .false., graph, ierror)
  OK(ierror)
  call MPI_Graphdims_get(graph, i, count, ierror)
  CHECK(i == 4 .and. count == 8)
  index = 0
  call MPI_Graph_get(graph, 4, 8, index, edges, ierror)
  CHECK(all(index == [2, 4, 6, 8]))
  call MPI_Graph_neighbors(graph, rank, 2, neighbors, ierror)
  CHECK(sum(neighbors) == edges(2 * rank + 1) + edges(2 * rank + 2))
  call MPI_Neighbor_allgather(rank, 1, MPI_INTEGER, got, 1, MPI_INTEGER, graph, ierror)
  CHECK(all(got(1:2) == neighbors))
  call MPI_Comm_free(graph, ierror)
  call MPI_Comm_free(ring, ierror)
  call MPI_Comm_free(row, ierror)
  call MPI_Comm_free(grid, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(a)', 'topologies: right'
end program
#include "check.h"
