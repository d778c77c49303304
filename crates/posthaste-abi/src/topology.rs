//! C functions for process topologies (MPI-5.0 §8.5).
//!
//! Called by user programs; each entry turns handles into objects and calls one function of the engine.

use std::ffi::c_int;

use crate::call::unsupported;
use crate::pointer::{In, Out};
use crate::types::{MPI_Comm, MPI_Info};

// Cartesian constructor.
unsupported! {
    "8.5.1";
    fn MPI_Cart_create / PMPI_Cart_create(comm_old: MPI_Comm, ndims: c_int, dims: In<c_int>,
        periods: In<c_int>, reorder: c_int, comm_cart: Out<MPI_Comm>);
    fn MPI_Dims_create / PMPI_Dims_create(nnodes: c_int, ndims: c_int, dims: Out<c_int>);
}

// Graph constructors.
unsupported! {
    "8.5.3";
    fn MPI_Graph_create / PMPI_Graph_create(comm_old: MPI_Comm, nnodes: c_int, indx: In<c_int>,
        edges: In<c_int>, reorder: c_int, comm_graph: Out<MPI_Comm>);
    fn MPI_Dist_graph_create_adjacent / PMPI_Dist_graph_create_adjacent(comm_old: MPI_Comm, indegree: c_int,
        sources: In<c_int>, sourceweights: In<c_int>, outdegree: c_int, destinations: In<c_int>,
        destweights: In<c_int>, info: MPI_Info, reorder: c_int, comm_dist_graph: Out<MPI_Comm>);
    fn MPI_Dist_graph_create / PMPI_Dist_graph_create(comm_old: MPI_Comm, n: c_int, sources: In<c_int>,
        degrees: In<c_int>, destinations: In<c_int>, weights: In<c_int>, info: MPI_Info, reorder: c_int,
        comm_dist_graph: Out<MPI_Comm>);
}

// Inquiry.
unsupported! {
    "8.5.5";
    fn MPI_Topo_test / PMPI_Topo_test(comm: MPI_Comm, status: Out<c_int>);
    fn MPI_Graphdims_get / PMPI_Graphdims_get(comm: MPI_Comm, nnodes: Out<c_int>, nedges: Out<c_int>);
    fn MPI_Graph_get / PMPI_Graph_get(comm: MPI_Comm, maxindex: c_int, maxedges: c_int, indx: Out<c_int>,
        edges: Out<c_int>);
    fn MPI_Cartdim_get / PMPI_Cartdim_get(comm: MPI_Comm, ndims: Out<c_int>);
    fn MPI_Cart_get / PMPI_Cart_get(comm: MPI_Comm, maxdims: c_int, dims: Out<c_int>, periods: Out<c_int>,
        coords: Out<c_int>);
    fn MPI_Cart_rank / PMPI_Cart_rank(comm: MPI_Comm, coords: In<c_int>, rank: Out<c_int>);
    fn MPI_Cart_coords / PMPI_Cart_coords(comm: MPI_Comm, rank: c_int, maxdims: c_int, coords: Out<c_int>);
    fn MPI_Graph_neighbors_count / PMPI_Graph_neighbors_count(comm: MPI_Comm, rank: c_int,
        nneighbors: Out<c_int>);
    fn MPI_Graph_neighbors / PMPI_Graph_neighbors(comm: MPI_Comm, rank: c_int, maxneighbors: c_int,
        neighbors: Out<c_int>);
    fn MPI_Dist_graph_neighbors_count / PMPI_Dist_graph_neighbors_count(comm: MPI_Comm, indegree: Out<c_int>,
        outdegree: Out<c_int>, weighted: Out<c_int>);
    fn MPI_Dist_graph_neighbors / PMPI_Dist_graph_neighbors(comm: MPI_Comm, maxindegree: c_int,
        sources: Out<c_int>, sourceweights: Out<c_int>, maxoutdegree: c_int, destinations: Out<c_int>,
        destweights: Out<c_int>);
}

// Shift, partition, mapping.
unsupported! {
    "8.5.6";
    fn MPI_Cart_shift / PMPI_Cart_shift(comm: MPI_Comm, direction: c_int, disp: c_int,
        rank_source: Out<c_int>, rank_dest: Out<c_int>);
    fn MPI_Cart_sub / PMPI_Cart_sub(comm: MPI_Comm, remain_dims: In<c_int>, newcomm: Out<MPI_Comm>);
    fn MPI_Cart_map / PMPI_Cart_map(comm: MPI_Comm, ndims: c_int, dims: In<c_int>, periods: In<c_int>,
        newrank: Out<c_int>);
    fn MPI_Graph_map / PMPI_Graph_map(comm: MPI_Comm, nnodes: c_int, indx: In<c_int>, edges: In<c_int>,
        newrank: Out<c_int>);
}
