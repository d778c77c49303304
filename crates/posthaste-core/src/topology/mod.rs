//! Process topologies (MPI-5.0 chapter 8): who is whose neighbour.
//!
//! Communicators carry a topology without knowing what is in it, and hand it on to their duplicates. `cart`: grids;
//! `dims`: balanced sizes for them.

mod cart;
pub mod dims;

use std::sync::Arc;

pub use cart::Cart;

use crate::comm::{self, Comm};
use crate::error::{Error, ErrorClass, Result};

/// The topology of a communicator.
#[derive(Debug)]
pub enum Topology {
    /// A grid.
    Cart(Cart),
}

impl Topology {
    fn stored(self) -> comm::Topology {
        comm::Topology(Arc::new(self))
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
        None => Err(other_than("comm", "a communicator with a Cartesian topology")),
    }
}

#[cold]
fn other_than(argument: &'static str, expected: &'static str) -> Error {
    Error::invalid(ErrorClass::Topology, argument, "a communicator without a topology", expected)
}

/// Topologies are of intracommunicators.
fn intra(comm: &Comm) -> Result<()> {
    if comm.remote().is_none() {
        return Ok(());
    }
    Err(Error::invalid(ErrorClass::Comm, "comm", "an intercommunicator", "an intracommunicator"))
}
