//! Persistent collective operations on numbers that they own: started, over, started again (MPI-5.0 §6.13).
//!
//! What must stay true: `running` is set from a start to the end of what it started, and whoever wants the buffers meanwhile
//! waits. A value that is dropped while its operation is under way waits, too; one that is forgotten leaks its buffers, and so does
//! one that is dropped by a panic, because the peers may wait for what this rank does no more.

use std::cell::Cell;

use super::World;
use super::scope::to_the_end;
use crate::buffer::Equivalence;
use crate::error::{Error, Result};
use crate::ids::RequestId;
use crate::request::Status;
use crate::slice;

/// A persistent collective operation; see [`World::repeated`].
pub struct Repeated<'w, T: Equivalence> {
    world: &'w World,
    running: Cell<Option<RequestId>>,
    /// What went wrong in a run that nobody has waited for.
    unseen: Cell<Option<Error>>,
    operation: slice::Persistent<T>,
}

impl World {
    /// Takes over a planned operation that can be started, and again when it is over.
    pub fn repeated<T: Equivalence>(&self, operation: slice::Persistent<T>) -> Repeated<'_, T> {
        Repeated { world: self, running: Cell::new(None), unseen: Cell::new(None), operation }
    }
}

impl<T: Equivalence> Repeated<'_, T> {
    /// Starts it, when the run before is over.
    ///
    /// # Errors
    /// A full table of requests; what went wrong in a run before that nobody has waited for.
    pub fn start(&mut self) -> Result<()> {
        self.settle();
        if let Some(error) = self.unseen.take() {
            return Err(error);
        }
        let id = to_the_end(|| self.world.start_again(self.operation.schedule()))?;
        self.running.set(Some(id));
        Ok(())
    }

    /// Waits until it is over; at once where it has not been started.
    ///
    /// # Errors
    /// What went wrong with one of its messages, or with its operation.
    pub fn wait(&mut self) -> Result<()> {
        self.settle();
        self.unseen.take().map_or(Ok(()), Err)
    }

    /// Whether it is over.
    ///
    /// # Errors
    /// As [`Repeated::wait`].
    pub fn test(&mut self) -> Result<bool> {
        if let Some(id) = self.running.get() {
            let Some(status) = to_the_end(|| self.world.test(id))? else { return Ok(false) };
            self.ended(Ok(status));
        }
        self.unseen.take().map_or(Ok(true), Err)
    }

    /// The buffers, when it is over.
    pub fn operation(&self) -> &slice::Persistent<T> {
        self.settle();
        &self.operation
    }

    /// The same.
    pub fn operation_mut(&mut self) -> &mut slice::Persistent<T> {
        self.settle();
        &mut self.operation
    }

    /// Whether it has been started and nobody has seen its end.
    pub fn is_running(&self) -> bool {
        self.running.get().is_some()
    }

    fn settle(&self) {
        if let Some(id) = self.running.get() {
            self.ended(to_the_end(|| self.world.wait(id)));
        }
    }

    fn ended(&self, status: Result<Status>) {
        self.running.set(None);
        let error = status.map_or_else(Some, |status| status.error);
        self.unseen.set(error);
    }
}

impl<T: Equivalence> Drop for Repeated<'_, T> {
    fn drop(&mut self) {
        if self.is_running() && std::thread::panicking() {
            self.operation.leak();
        } else {
            self.settle();
        }
    }
}
