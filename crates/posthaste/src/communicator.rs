//! Communicators: who talks with whom, apart from everybody else.
//!
//! Called by the user; calls core's `comm`. The operations on a communicator are in `point_to_point`, `collective`
//! and `scope`. MPI-5.0 §7.2, §7.4.
//!
//! What must stay true: a communicator lives within its [`Universe`], so nothing is sent after its end.

use std::fmt;
use std::sync::Arc;

use posthaste_core::comm::Comm;
use posthaste_core::error::Result as Checked;
use posthaste_core::world::World;

use crate::error::{Error, Result};
use crate::universe::Universe;

/// A group of ranks that talk with each other: messages of different communicators never meet.
///
/// Ranks count from 0 to `size() - 1`. A clone is the same communicator; [`Communicator::dup`] makes another one
/// with the same ranks.
#[derive(Clone)]
pub struct Communicator<'u> {
    universe: &'u Universe,
    comm: Arc<Comm>,
}

impl<'u> Communicator<'u> {
    pub(crate) fn new(universe: &'u Universe, comm: Arc<Comm>) -> Self {
        Self { universe, comm }
    }

    /// This process's rank in the communicator, from 0.
    #[inline]
    pub fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    /// Number of ranks in the communicator.
    #[inline]
    pub fn size(&self) -> usize {
        self.comm.size() as usize
    }

    #[inline]
    pub(crate) fn engine(&self) -> &'u World {
        self.universe.engine()
    }

    #[inline]
    pub(crate) fn core(&self) -> &Comm {
        &self.comm
    }

    /// Adds call and rank to an error.
    #[inline]
    pub(crate) fn named<T>(&self, call: &'static str, result: Checked<T>) -> Result<T> {
        result.map_err(|cause| Error::new(call, Some(self.engine().rank() as usize), cause))
    }
}

impl fmt::Debug for Communicator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Communicator(rank {} of {})", self.rank(), self.size())
    }
}
