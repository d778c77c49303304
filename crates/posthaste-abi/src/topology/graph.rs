//! C functions for graphs that every rank describes whole (MPI-5.0 §8.5.3, §8.5.5, §8.5.8).

use std::ffi::c_int;

use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::topology::{self, Graph};

use super::room_for;
use crate::abi::constants::{MPI_COMM_NULL, MPI_UNDEFINED};
use crate::abi::pointer::{In, Out};
use crate::abi::types::MPI_Comm;
use crate::call::mpi_fn;
use crate::comm::communicator::make;
use crate::layer::communicator::allocate_from;
use crate::object::communicator;
use crate::object::memory::length;

// Constructor.
mpi_fn! {
    /// MPI-5.0 §8.5.3. Ranks are reordered where fewer neighbours are then on different hosts.
    fn MPI_Graph_create / PMPI_Graph_create(comm_old: MPI_Comm, nnodes: c_int, indx: In<c_int>,
        edges: In<c_int>, reorder: c_int, comm_graph: Out<MPI_Comm>) raises comm_old => {
        comm_graph.set("comm_graph", MPI_COMM_NULL)?;
        let old = communicator::find("comm_old", comm_old)?;
        make(comm_graph, graph(&old, nnodes, indx, edges)?.plan(&old, reorder != 0, allocate_from(&old))?)
    }
}

// Inquiry.
mpi_fn! {
    /// MPI-5.0 §8.5.5
    fn MPI_Graphdims_get / PMPI_Graphdims_get(comm: MPI_Comm, nnodes: Out<c_int>, nedges: Out<c_int>)
        raises comm => {
        let comm = communicator::find("comm", comm)?;
        let graph = topology::graph(&comm)?;
        nnodes.set("nnodes", graph.index().len() as c_int)?;
        nedges.set("nedges", graph.edges().len() as c_int)
    }
    /// MPI-5.0 §8.5.5
    fn MPI_Graph_get / PMPI_Graph_get(comm: MPI_Comm, maxindex: c_int, maxedges: c_int, indx: Out<c_int>,
        edges: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let graph = topology::graph(&comm)?;
        room_for("maxindex", maxindex, "nodes", graph.index().len())?;
        room_for("maxedges", maxedges, "edges", graph.edges().len())?;
        indx.set_all("indx", graph.index())?;
        edges.set_all("edges", graph.edges())
    }
    /// MPI-5.0 §8.5.5
    fn MPI_Graph_neighbors_count / PMPI_Graph_neighbors_count(comm: MPI_Comm, rank: c_int,
        nneighbors: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        nneighbors.set("nneighbors", topology::graph(&comm)?.neighbors(rank)?.len() as c_int)
    }
    /// MPI-5.0 §8.5.5
    fn MPI_Graph_neighbors / PMPI_Graph_neighbors(comm: MPI_Comm, rank: c_int, maxneighbors: c_int,
        neighbors: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let found = topology::graph(&comm)?.neighbors(rank)?;
        room_for("maxneighbors", maxneighbors, "neighbours", found.len())?;
        neighbors.set_all("neighbors", found)
    }
}

// Mapping.
mpi_fn! {
    /// MPI-5.0 §8.5.8. The rank that MPI_Graph_create gives where it may reorder.
    fn MPI_Graph_map / PMPI_Graph_map(comm: MPI_Comm, nnodes: c_int, indx: In<c_int>, edges: In<c_int>,
        newrank: Out<c_int>) raises comm => {
        let comm = communicator::find("comm", comm)?;
        let node = graph(&comm, nnodes, indx, edges)?.node_of(&comm, comm.rank() as u32);
        newrank.set("newrank", node.map_or(MPI_UNDEFINED, |node| node as c_int))
    }
}

/// The graph that the arguments describe.
fn graph(comm: &Comm, nnodes: c_int, indx: In<c_int>, edges: In<c_int>) -> Result<Graph> {
    let index = indx.slice("indx", length("nnodes", nnodes.into())?)?;
    Graph::new(comm, index, edges.slice("edges", Graph::edges_of(index)?)?)
}
