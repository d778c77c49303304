//! Prefix reductions (MPI-5.0 §6.11).
//!
//! In round k everybody knows the combination of its own operand and those of the 2^k - 1 members before it, and gets
//! from the member 2^k before it what comes before those.

use crate::coll::label::Function;
use crate::coll::plan::{Draft, Operand, Reduced};
use crate::coll::{Schedule, Team};
use crate::error::Result;
use crate::op::Op;

/// Everybody gets the combination of the operands of all ranks up to its own. `send` is `None` for `MPI_IN_PLACE`.
///
/// # Errors
/// An operation that the type does not have.
pub fn scan(team: &Team, Reduced { send, recv, count, datatype }: Reduced<'_>, op: &Op) -> Result<Schedule> {
    let mut draft = Draft::new(team, Function::Scan, 12);
    draft.reduce_with(op, datatype)?;
    let value = Operand { buf: recv, count, datatype };
    if let Some(send) = send {
        draft.copy(Operand { buf: send, ..value }.all(), value.all());
    }
    if draft.n() > 1 {
        let incoming = draft.temporary(1, count, datatype).get(0);
        prefixes(&mut draft, value, incoming, 0);
    }
    draft.ended()
}

/// As [`scan`], without the rank's own operand; rank 0 gets nothing.
///
/// # Errors
/// An operation that the type does not have.
pub fn exscan(
    team: &Team,
    Reduced { send, recv, count, datatype }: Reduced<'_>,
    op: &Op,
) -> Result<Schedule> {
    let mut draft = Draft::new(team, Function::Exscan, 12);
    draft.reduce_with(op, datatype)?;
    let (me, n) = (draft.me(), draft.n());
    let value = Operand { buf: recv, count, datatype };
    let own = Operand { buf: send.unwrap_or(recv), ..value };
    // Everybody takes over the operand of the rank before; then it is a scan without rank 0.
    if me + 1 < n {
        draft.send(me + 1, own.all());
    }
    if me > 0 {
        let incoming = draft.temporary(1, count, datatype).get(0);
        if send.is_some() {
            draft.receive(me - 1, value.all());
        } else {
            draft.receive(me - 1, incoming.all());
            draft.fence();
            draft.copy(incoming.all(), value.all());
        }
        prefixes(&mut draft, value, incoming, 1);
    }
    draft.ended()
}

/// Turns the values of the ranks from `first` on into their prefix reductions.
fn prefixes(draft: &mut Draft<'_>, value: Operand<'_>, incoming: Operand<'_>, first: u32) {
    let (me, n) = (draft.me(), draft.n());
    let mut distance = 1;
    while distance < n - first {
        draft.fence();
        if me + distance < n {
            draft.send(me + distance, value.all());
        }
        if me >= first + distance {
            draft.receive(me - distance, incoming.all());
            draft.fence();
            draft.combine(incoming.buf, value.buf, value.count);
        }
        distance *= 2;
    }
}
