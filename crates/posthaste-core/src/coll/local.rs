//! Copies and reductions within this process as operations, for memory of devices, where they have to wait.

use crate::buffer::Base;
use crate::coll::plan::Draft;
use crate::coll::{Schedule, Team};
use crate::datatype::{Datatype, Segment};
use crate::error::Result;
use crate::op::Op;

/// Moves bytes from one segment to another of its length. No message is sent; the team may be any.
pub fn copy_locally(team: &Team, from: Segment, to: Segment) -> Schedule {
    let mut draft = Draft::with_tag(team, "a copy", 1, 0);
    draft.copy(from, to);
    draft.done()
}

/// `inout = input op inout` for `count` elements of the program (MPI-5.0 §6.9.7). No message is sent; the team may be any.
///
/// # Errors
/// An operation that the type does not have.
pub fn reduce_locally(
    team: &Team,
    op: &Op,
    datatype: &Datatype,
    (input, inout): (Base, Base),
    count: u64,
) -> Result<Schedule> {
    let mut draft = Draft::with_tag(team, "MPI_Reduce_local", 1, 0);
    draft.reduce_with(op, datatype)?;
    draft.combine(input.buf(), inout.buf(), count);
    draft.ended()
}
