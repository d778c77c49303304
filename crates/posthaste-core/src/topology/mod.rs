//! Process topologies (MPI-5.0 chapter 8): who is whose neighbour.
//!
//! Communicators carry a topology without knowing what is in it, and hand it on to their duplicates. `cart`: grids;
//! `dims`: balanced sizes for them; `graph`: graphs that every rank knows; `dist_graph`: graphs of which each rank knows its
//! own edges; `order`: who gets which place where ranks may be reordered.

mod cart;
pub mod dims;
mod dist_graph;
mod graph;
mod order;
#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::sync::Arc;

pub use cart::Cart;
pub use dist_graph::{Announced, Delivered, DistGraph, Edges};
pub use graph::Graph;

use crate::coll::Neighbors;
use crate::comm::{self, Comm};
use crate::error::{Error, ErrorClass, Result};

/// The topology of a communicator.
#[derive(Debug)]
pub enum Topology {
    /// A grid.
    Cart(Cart),
    /// A graph that every rank knows.
    Graph(Graph),
    /// A graph of which each rank knows its own edges.
    DistGraph(DistGraph),
}

impl Topology {
    fn stored(self) -> comm::Topology {
        comm::Topology(Arc::new(self))
    }

    fn text(&self) -> &'static str {
        match self {
            Self::Cart(_) => "a communicator with a Cartesian topology",
            Self::Graph(_) => "a communicator with a graph topology",
            Self::DistGraph(_) => "a communicator with a distributed graph topology",
        }
    }
}

/// The topology of a communicator, if it has one.
pub fn of(comm: &Comm) -> Option<&Topology> {
    comm.topology()?.0.downcast_ref()
}

/// The grid of a communicator.
///
/// # Errors
/// When it has none.
pub fn cart(comm: &Comm) -> Result<&Cart> {
    match of(comm) {
        Some(Topology::Cart(cart)) => Ok(cart),
        other => Err(other_than(other, "a communicator with a Cartesian topology")),
    }
}

/// The graph of a communicator that every rank knows.
///
/// # Errors
/// When it has none.
pub fn graph(comm: &Comm) -> Result<&Graph> {
    match of(comm) {
        Some(Topology::Graph(graph)) => Ok(graph),
        other => Err(other_than(other, "a communicator with a graph topology")),
    }
}

/// The edges at this rank of a communicator.
///
/// # Errors
/// When it has no distributed graph.
pub fn dist_graph(comm: &Comm) -> Result<&DistGraph> {
    match of(comm) {
        Some(Topology::DistGraph(graph)) => Ok(graph),
        other => Err(other_than(other, "a communicator with a distributed graph topology")),
    }
}

/// Whom this process talks to in neighbourhood collectives, in the order of blocks (MPI-5.0 §8.6).
///
/// # Errors
/// Without a topology; on a graph in which two nodes have more edges in the one direction than in the other.
pub fn neighbors(comm: &Comm) -> Result<Neighbors<'_>> {
    intra(comm)?;
    match of(comm) {
        Some(Topology::Cart(cart)) => Ok(Neighbors::of_grid(cart.neighbors(comm.rank())?)),
        Some(Topology::Graph(graph)) if graph.is_symmetric() => {
            let neighbors = graph.neighbors(comm.rank())?;
            Ok(Neighbors::of_graph(neighbors, neighbors))
        }
        Some(Topology::Graph(_)) => {
            let expected = "as many edges between two nodes in the one direction as in the other";
            Err(Error::invalid(ErrorClass::Topology, "comm", "a graph that is not symmetric", expected))
        }
        Some(Topology::DistGraph(graph)) => Ok(Neighbors::of_graph(graph.sources(), graph.destinations())),
        None => Err(other_than(None, "a communicator with a topology")),
    }
}

#[cold]
fn other_than(found: Option<&Topology>, expected: impl Display) -> Error {
    let found = found.map_or("a communicator without a topology", Topology::text);
    Error::invalid(ErrorClass::Topology, "comm", found, expected)
}

/// Topologies are of intracommunicators.
fn intra(comm: &Comm) -> Result<()> {
    if comm.remote().is_none() {
        return Ok(());
    }
    Err(Error::invalid(ErrorClass::Comm, "comm", "an intercommunicator", "an intracommunicator"))
}
