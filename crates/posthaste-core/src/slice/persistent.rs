//! Collective operations that are planned once and started as often as wanted, on numbers that they own (MPI-5.0 §6.13).
//!
//! What must stay true: the numbers are lent to the program only while the operation is not under way, which
//! `world::repeated` knows; it starts the schedule.

use std::sync::Arc;

use super::Collective;
use crate::buffer::{Equivalence, Repeated};
use crate::coll::Schedule;

/// A planned operation with its buffers: one that it reads, and one that it writes.
#[derive(Debug)]
pub struct Persistent<T> {
    schedule: Arc<Schedule>,
    data: Repeated<T>,
    result: Repeated<T>,
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
        let (data, mut result) = (Repeated::new(data), Repeated::new(result));
        let schedule = plan(data.as_slice(), result.as_mut_slice())?.lend().repeated();
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

    /// Leaks the buffers, which are empty afterwards: the operation may use them for ever.
    pub(crate) fn leak(&mut self) {
        for buffer in [&mut self.data, &mut self.result] {
            std::mem::forget(std::mem::replace(buffer, Repeated::new(Vec::new())));
        }
    }

    pub(crate) fn schedule(&self) -> &Arc<Schedule> {
        &self.schedule
    }
}
