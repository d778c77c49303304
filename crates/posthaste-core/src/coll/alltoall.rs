//! Exchange of all with all (MPI-5.0 §6.8).

use crate::buffer::{Base, UserBuf};
use crate::coll::choose::{self, Alltoall};
use crate::coll::label::Function;
use crate::coll::levels::Levels;
use crate::coll::plan::{Blocks, Draft, Operand};
use crate::coll::{Schedule, Team};
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};

/// One buffer argument of alltoallw: a block for each rank, each with its own type, displacements in bytes.
#[derive(Clone, Copy, Debug)]
pub struct TypedBlocks<'a> {
    /// What displacements count from.
    pub(crate) buf: UserBuf,
    /// Number of elements of each block.
    pub(crate) counts: &'a [u64],
    /// Place of each block, in bytes.
    pub(crate) displacements: &'a [i64],
    /// Type of the elements of each block.
    pub(crate) datatypes: &'a [Datatype],
}

impl<'a> TypedBlocks<'a> {
    /// Blocks in the program's memory.
    pub fn at(base: Base, counts: &'a [u64], displacements: &'a [i64], datatypes: &'a [Datatype]) -> Self {
        Self { buf: base.buf(), counts, displacements, datatypes }
    }

    /// The block of a rank; lists that are too short have empty blocks at the end.
    pub(super) fn block(&self, rank: u32) -> Segment {
        let known = self.counts.len().min(self.displacements.len()).min(self.datatypes.len());
        if (rank as usize) < known { self.at_block(rank).all() } else { Segment::contiguous(self.buf, 0) }
    }

    /// The same as an operand, of a rank that the lists have.
    pub(super) fn at_block(&self, rank: u32) -> Operand<'a> {
        let rank = rank as usize;
        let buf = self.buf.offset(self.displacements[rank] as isize);
        Operand { buf, count: self.counts[rank], datatype: &self.datatypes[rank] }
    }
}

/// Everybody sends everybody a block of its own. `send` is `None` for `MPI_IN_PLACE`; counts are those of one block.
///
/// # Errors
/// A datatype that cannot be built of the blocks.
pub fn alltoall(team: &Team, send: Option<Operand<'_>>, recv: Operand<'_>) -> Result<Schedule> {
    let n = team.size() as u32;
    let checks_types = team.accord().checks_types;
    if !checks_types
        && let Some(levels) = Levels::of(team, 0)
        && levels.gather_blocks_of(recv.bytes())
    {
        let mut draft = Draft::new(team, Function::Alltoall, 12);
        levels.alltoall(&mut draft, send, recv)?;
        return draft.ended();
    }
    // Types are compared only where messages go straight between memory of the program.
    if choose::alltoall(n, recv.bytes(), team.cpus()) == Alltoall::ThroughOne && !checks_types {
        return through_one(team, send, recv);
    }
    let send = send.map(|send| move |rank| send.block(rank));
    exchange(team, Function::Alltoall, send, |rank| recv.block(rank))
}

/// As [`alltoall`], with blocks of different lengths in any place.
///
/// # Errors
/// Lists that are not as long as there are ranks.
pub fn alltoallv(team: &Team, send: Option<Blocks<'_>>, recv: Blocks<'_>) -> Result<Schedule> {
    if let Some(send) = &send {
        check(team, "sendcounts, sdispls", &[send.counts.len(), send.displacements.len()])?;
    }
    check(team, "recvcounts, rdispls", &[recv.counts.len(), recv.displacements.len()])?;
    let send = send.map(|send| move |rank| send.block(rank));
    exchange(team, Function::Alltoallv, send, |rank| recv.block(rank))
}

/// As [`alltoallv`], with a type for each block and displacements in bytes.
///
/// # Errors
/// Lists that are not as long as there are ranks.
pub fn alltoallw(team: &Team, send: Option<TypedBlocks<'_>>, recv: TypedBlocks<'_>) -> Result<Schedule> {
    let lengths = |b: &TypedBlocks<'_>| [b.counts.len(), b.displacements.len(), b.datatypes.len()];
    if let Some(send) = &send {
        check(team, "sendcounts, sdispls, sendtypes", &lengths(send))?;
    }
    check(team, "recvcounts, rdispls, recvtypes", &lengths(&recv))?;
    let send = send.map(|send| move |rank| send.block(rank));
    exchange(team, Function::Alltoallw, send, |rank| recv.block(rank))
}

fn check(team: &Team, argument: &'static str, lengths: &[usize]) -> Result<()> {
    let n = team.size() as usize;
    if lengths.iter().all(|len| *len == n) {
        return Ok(());
    }
    let expected = format_args!("as long as there are ranks, {n}");
    Err(Error::invalid(ErrorClass::Count, argument, format_args!("{lengths:?} entries long"), expected))
}

/// Everybody talks to everybody, in an order that never has two members send to the same third at once.
pub(super) fn exchange(
    team: &Team,
    function: Function,
    send: Option<impl Fn(u32) -> Segment>,
    recv: impl Fn(u32) -> Segment,
) -> Result<Schedule> {
    let n = team.size() as u32;
    let mut draft = Draft::new(team, function, 2 * n as usize);
    let me = draft.me();
    let outgoing = match send {
        Some(send) => {
            draft.copy(send(me), recv(me));
            Ok(send)
        }
        None => Err(packed_copies(&mut draft, &recv)),
    };
    let outgoing = |rank: u32| match &outgoing {
        Ok(send) => send(rank),
        Err(copies) => copies[rank as usize].clone(),
    };
    draft.with_all_others(|draft, to, from| {
        draft.send(to, outgoing(to));
        draft.receive(from, recv(from));
    });
    draft.ended()
}

/// Everybody gives all of its blocks to member 0, who gives everybody those for it. In place what comes takes the place of what has
/// left: it comes only when all has.
fn through_one(team: &Team, send: Option<Operand<'_>>, recv: Operand<'_>) -> Result<Schedule> {
    let n = team.size() as u32;
    let mut draft = Draft::new(team, Function::Alltoall, 2 * n as usize + 3);
    draft.going(2); // others are that of all exchanges and two levels
    let (own, all) = (send.unwrap_or(recv).blocks(0, n), recv.blocks(0, n));
    if draft.me() > 0 {
        draft.send(0, own);
        draft.receive(0, all);
        return draft.ended();
    }
    // By what is received: who sends more or less is told so.
    let (block, row) = (recv.bytes(), recv.bytes() * u64::from(n));
    let square = draft.bytes((row * u64::from(n)) as usize);
    let at = |bytes: u64| square.offset(bytes as isize);
    let from = |rank: u32| Segment::contiguous(at(u64::from(rank) * row), row);
    let column = Datatype::hvector(i64::from(n), block as i64, row as i64, &Datatype::byte())?;
    let to = |rank: u32| Segment::new(at(u64::from(rank) * block), 1, &column);
    draft.copy(own, from(0));
    for rank in 1..n {
        draft.receive(rank, from(rank));
    }
    draft.fence();
    for rank in 1..n {
        draft.send(rank, to(rank));
    }
    draft.copy(to(0), all);
    draft.ended()
}

/// In place: what lies in the receive buffer leaves by way of a copy of it.
fn packed_copies(draft: &mut Draft<'_>, recv: impl Fn(u32) -> Segment) -> Vec<Segment> {
    let (me, n) = (draft.me(), draft.n());
    let len = |rank: u32| if rank == me { 0 } else { recv(rank).len() };
    let all = (0..n).map(len).fold(0, u64::saturating_add);
    let base = draft.bytes(all as usize);
    let mut at = 0;
    let copies = (0..n).map(|rank| {
        let copy = Segment::contiguous(base.offset(at as isize), len(rank));
        at += len(rank);
        copy
    });
    let copies: Vec<Segment> = copies.collect();
    for (rank, copy) in (0..n).zip(&copies).filter(|(rank, _)| *rank != me) {
        draft.copy(recv(rank), copy.clone());
    }
    copies
}
