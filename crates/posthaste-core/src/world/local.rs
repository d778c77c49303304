//! Copies and reductions of this process alone, for doors that move bytes themselves: memory of a device makes them wait.

use super::World;
use crate::buffer::Base;
use crate::coll;
use crate::datatype::{self, Datatype, Segment};
use crate::error::Result;
use crate::op::Op;

impl World {
    /// Moves bytes from one segment to another of its length, wherever both lie.
    ///
    /// # Errors
    /// What a device says; a full table of requests.
    #[inline]
    pub fn copy(&self, mut from: Segment, mut to: Segment) -> Result<()> {
        if from.is_on_device() || to.is_on_device() {
            return self.run(coll::copy_locally(&self.own, from, to));
        }
        datatype::copy(&mut from, &mut to);
        Ok(())
    }

    /// `inout = input op inout` for `count` elements of the program, wherever they lie (MPI-5.0 §6.9.7).
    ///
    /// # Errors
    /// An operation that the type does not have; what a device says.
    pub fn reduce_locally(
        &self,
        op: &Op,
        datatype: &Datatype,
        (input, inout): (Base, Base),
        count: u64,
    ) -> Result<()> {
        if crate::buffer::device::is_registered() {
            return self.run(coll::reduce_locally(&self.own, op, datatype, (input, inout), count)?);
        }
        op.apply_at(datatype, input, inout, count)
    }
}
