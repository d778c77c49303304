//! Collective operations that are planned once and started as often as wanted, on numbers that they own (MPI-5.0 §6.13).
//!
//! What must stay true: the numbers are lent to the program only while the operation is not under way, which
//! `world::persistent` knows; it starts the schedule.

use std::sync::Arc;

use super::Collective;
use crate::buffer::{Equivalence, Kept};
use crate::coll::Schedule;

/// A planned operation with its buffers: one that it reads, and one that it writes.
#[derive(Debug)]
pub struct Persistent<T> {
    schedule: Arc<Schedule>,
    data: Kept<T>,
    result: Kept<T>,
}

impl<T: Equivalence> Persistent<T> {
    /// Plans an operation on these buffers. The plan can be on nothing else:
    ///
    /// ```compile_fail
    /// use posthaste_core::{coll::Team, slice::{Collective, Persistent}};
    /// fn wrong(team: &Team, other: &mut [i32]) {
    ///     let kept = Persistent::new(vec![1], vec![0], |_, _| Collective::bcast(team, other, 0)); // error: escapes
    ///     drop(kept);
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of the plan.
    pub fn new<F, E>(data: Vec<T>, result: Vec<T>, plan: F) -> Result<Self, E>
    where
        F: for<'a> FnOnce(&'a [T], &'a mut [T]) -> Result<Collective<'a>, E>,
    {
        let (data, mut result) = (Kept::new(data), Kept::new(result));
        let schedule = Arc::new(plan(data.as_slice(), result.as_mut_slice())?.lend());
        Ok(Self { schedule, data, result })
    }

    /// What the operation reads.
    pub fn data(&self) -> &[T] {
        self.data.as_slice()
    }

    /// The same, to be written for the next start.
    pub fn data_mut(&mut self) -> &mut [T] {
        self.data.as_mut_slice()
    }

    /// What the operation writes.
    pub fn result(&self) -> &[T] {
        self.result.as_slice()
    }

    /// The same, to be written for the next start: operations in place read it, too.
    pub fn result_mut(&mut self) -> &mut [T] {
        self.result.as_mut_slice()
    }

    pub(crate) fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }
}
