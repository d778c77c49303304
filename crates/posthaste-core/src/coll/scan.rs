//! Prefix reductions (MPI-5.0 §6.11).
//!
//! In round k everybody knows the combination of its own operand and those of the 2^k - 1 members before it, and gets from the member 2^k
//! before it what comes before those. Where more than two share the CPUs of a host, one hands to the next what it has.

use crate::coll::choose::{self, Cpus, Scan};
use crate::coll::label::Function;
use crate::coll::levels::Levels;
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
    match levels(team) {
        Some(levels) => levels.scan(&mut draft, value),
        None => inclusive(&mut draft, value, way(team)),
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
    let value = Operand { buf: recv, count, datatype };
    let own = Operand { buf: send.unwrap_or(recv), ..value };
    match levels(team) {
        Some(levels) => levels.exscan(&mut draft, own, value),
        None => exclusive(&mut draft, own, value, way(team)),
    }
    draft.ended()
}

/// The two levels of a team in which ranks of a node follow each other, where nobody asks for bits that do not depend on hosts.
fn levels(team: &Team) -> Option<Levels<'_>> {
    Levels::of(team, 0).filter(|levels| levels.are_runs() && !team.accord().keeps_bits)
}

/// Turns everybody's value into the combination of those up to it.
pub(super) fn inclusive(draft: &mut Draft<'_>, value: Operand<'_>, way: Scan) {
    let (me, n) = (draft.me(), draft.n());
    if n == 1 {
        return;
    }
    if way == Scan::Doubling {
        let incoming = draft.temporary(1, value.count, value.datatype).get(0);
        return prefixes(draft, value, incoming, 0);
    }
    if me > 0 {
        if draft.combines_on_arrival(value.count) {
            draft.receive_combining(me - 1, value, value);
        } else {
            let incoming = draft.temporary(1, value.count, value.datatype).get(0);
            draft.receive(me - 1, incoming.all());
            draft.fence();
            draft.combine(incoming.buf, value.buf, value.count);
        }
        draft.fence();
    }
    if me + 1 < n {
        draft.send(me + 1, value.all());
    }
}

/// The way among all members. Between hosts a hop takes longer than what it saves.
fn way(team: &Team) -> Scan {
    choose::scan(team.size() as u32, matches!(team.cpus_that_combine(), Cpus::OneHost(_)))
}

/// Makes everybody's value, but the first one's, the combination of the operands before its own, which may lie in the same place.
pub(super) fn exclusive(draft: &mut Draft<'_>, own: Operand<'_>, value: Operand<'_>, way: Scan) {
    let (me, n) = (draft.me(), draft.n());
    if way == Scan::Chain {
        return exclusive_chain(draft, own, value);
    }
    // Everybody takes over the operand of the one before; then it is a scan without the first.
    if me + 1 < n {
        draft.send(me + 1, own.all());
    }
    if me > 0 {
        let incoming = draft.temporary(1, value.count, value.datatype).get(0);
        if own.buf == value.buf {
            draft.receive(me - 1, incoming.all());
            draft.fence();
            draft.copy(incoming.all(), value.all());
        } else {
            draft.receive(me - 1, value.all());
        }
        prefixes(draft, value, incoming, 1);
    }
}

/// The same, everybody after the one before.
fn exclusive_chain(draft: &mut Draft<'_>, own: Operand<'_>, value: Operand<'_>) {
    let (me, n) = (draft.me(), draft.n());
    let (is_first, is_last) = (me == 0, me + 1 == n);
    let next = if is_first || is_last { own } else { draft.temporary(1, own.count, own.datatype).get(0) };
    if !is_first {
        // Before what comes may take the place of the own operand.
        if !is_last {
            draft.copy(own.all(), next.all());
        }
        draft.receive(me - 1, value.all());
        draft.fence();
    }
    if !is_first && !is_last {
        draft.combine(value.buf, next.buf, value.count);
        draft.fence();
    }
    if !is_last {
        draft.send(me + 1, next.all());
    }
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
