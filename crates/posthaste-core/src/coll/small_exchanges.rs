//! The exchanges by which members agree on something small, such as the context of a new communicator.
//!
//! The caller reads the outcome once the schedule is over.

use std::sync::Arc;

use crate::buffer::OwnedBuf;
use crate::coll::label::Function;
use crate::coll::plan::{Draft, Operand, Reduced};
use crate::coll::{Schedule, Team, allgather, alltoall, bcast, choose, reduce, tree};
use crate::datatype::{Datatype, Segment};
use crate::error::Result;
use crate::ids::Peer;
use crate::op::{Op, Predefined};

/// Everybody gets the bytes of the member with rank `from`.
pub fn broadcast(team: &Team, name: &'static str, from: u32, outcome: Arc<OwnedBuf>) -> Schedule {
    let mut draft = Draft::named(team, Function::called(name), name, 4);
    let all = Segment::contiguous(outcome.user_buf(), outcome.len() as u64);
    bcast::by_tree(&mut draft, &all, from, choose::moving_radix());
    draft.keep_alive(outcome);
    draft.done()
}

/// Everybody gets everybody's bytes: the outcome has a block of the same length for each rank, and the own one is
/// filled in.
pub fn share(team: &Team, name: &'static str, outcome: Arc<OwnedBuf>) -> Schedule {
    let mut draft = Draft::named(team, Function::called(name), name, 12);
    let block = (outcome.len() / team.size().max(1) as usize) as u64;
    allgather::into(&mut draft, None, Operand::new(outcome.user_buf(), block, &Datatype::byte()));
    draft.keep_alive(outcome);
    draft.done()
}

/// Everybody gets all bits that anybody has set in its bytes.
///
/// # Errors
/// None: bytes can be combined so.
pub fn unite(team: &Team, name: &'static str, outcome: Arc<OwnedBuf>) -> Result<Schedule> {
    let byte = Datatype::byte();
    let reduced = Reduced::new(None, outcome.user_buf(), outcome.len() as u64, &byte);
    // A job ends under more names than one.
    let function = Some(Function::called(name)).filter(|function| *function != Function::Other);
    let mut draft = Draft::named(team, function.unwrap_or(Function::Finalize), name, 12);
    draft.keep_alive(outcome);
    reduce::to_all(draft, reduced, &Op::from(Predefined::Bor))
}

/// Everybody sends everybody bytes of its own: the outcome begins with a block of the length `sent` for each rank; behind them
/// come blocks of the lengths `received` from each.
///
/// # Errors
/// None: nothing is copied on the way.
pub fn exchange(
    team: &Team,
    name: &'static str,
    sent: &[usize],
    received: &[usize],
    outcome: Arc<OwnedBuf>,
) -> Result<Schedule> {
    let all = outcome.user_buf();
    let blocks = |lengths: &[usize], mut at: usize| -> Vec<Segment> {
        let block = |len: &usize| {
            let block = Segment::contiguous(all.offset(at as isize), *len as u64);
            at += len;
            block
        };
        lengths.iter().map(block).collect()
    };
    let (send, recv) = (blocks(sent, 0), blocks(received, sent.iter().sum()));
    let block = |blocks: &[Segment], rank: u32| blocks[rank as usize].clone();
    let send = Some(|rank| block(&send, rank));
    let mut schedule = alltoall::exchange(team, Function::called(name), send, |rank| block(&recv, rank))?;
    schedule.0.name = name;
    schedule.0.outcome = Some(outcome);
    Ok(schedule)
}

/// The members with the given ranks get the bytes of the first of them. Every member of the team takes part; a
/// rank that is not in the list has nothing to do.
pub fn broadcast_some(team: &Team, name: &'static str, members: &[u32], outcome: Arc<OwnedBuf>) -> Schedule {
    broadcast_members(Draft::named(team, Function::called(name), name, 4), members, outcome)
}

/// As [`broadcast_some`], but only the members in the list take part; a tag tells such exchanges apart.
pub fn broadcast_group(
    team: &Team,
    name: &'static str,
    members: &[u32],
    tag: i32,
    outcome: Arc<OwnedBuf>,
) -> Schedule {
    broadcast_members(Draft::with_tag(team, name, 4, Team::group_tag(tag)), members, outcome)
}

/// The neighbors of a member in the tree of [`broadcast_group`]: who is above it, and who are below it.
pub fn neighbors_in_group(members: &[u32], me: u32) -> (Option<u32>, Vec<u32>) {
    let Some(place) = members.iter().position(|member| *member == me) else { return (None, Vec::new()) };
    let node = tree::place(place as u32, members.len() as u32, choose::moving_radix());
    let member = |place: u32| members[place as usize];
    (node.parent.map(member), node.children.iter().rev().map(|(child, _)| member(*child)).collect())
}

/// One step of what only some members take part in: the outcome is cut into a block for each of `from`, in their order, and each of
/// `to` gets all of it then. A tag tells such exchanges apart, as in [`broadcast_group`].
pub fn pass_on(
    team: &Team,
    name: &'static str,
    (from, to): (&[u32], &[u32]),
    tag: i32,
    outcome: Arc<OwnedBuf>,
) -> Schedule {
    let mut draft = Draft::with_tag(team, name, from.len() + to.len() + 1, Team::group_tag(tag));
    let block = outcome.len() / from.len().max(1);
    for (at, rank) in from.iter().enumerate() {
        let place = outcome.user_buf().offset((at * block) as isize);
        draft.receive(*rank, Segment::contiguous(place, block as u64));
    }
    draft.fence();
    for rank in to {
        draft.send(*rank, Segment::contiguous(outcome.user_buf(), outcome.len() as u64));
    }
    draft.keep_alive(outcome);
    draft.done()
}

/// Swaps bytes with one process: the outcome begins with the `own` bytes for it; behind them comes what it says. `rank`
/// is its rank to a receive on the team's communicator. A tag tells such exchanges apart, as in [`broadcast_group`].
pub fn swap(
    team: &Team,
    name: &'static str,
    (peer, rank): (Peer, u32),
    tag: i32,
    own: usize,
    outcome: Arc<OwnedBuf>,
) -> Schedule {
    let mut draft = Draft::with_tag(team, name, 2, Team::group_tag(tag));
    let own = own.min(outcome.len());
    let theirs = outcome.user_buf().offset(own as isize);
    draft.receive_from(peer, rank, Segment::contiguous(theirs, (outcome.len() - own) as u64));
    draft.send_to(peer, Segment::contiguous(outcome.user_buf(), own as u64));
    draft.keep_alive(outcome);
    draft.done()
}

fn broadcast_members(mut draft: Draft<'_>, members: &[u32], outcome: Arc<OwnedBuf>) -> Schedule {
    let me = draft.me();
    let all = || Segment::contiguous(outcome.user_buf(), outcome.len() as u64);
    if let Some(place) = members.iter().position(|member| *member == me) {
        let node = tree::place(place as u32, members.len() as u32, choose::moving_radix());
        if let Some(parent) = node.parent {
            draft.receive(members[parent as usize], all());
        }
        draft.fence();
        for (child, _) in node.children.iter().rev() {
            draft.send(members[*child as usize], all());
        }
    }
    draft.keep_alive(outcome);
    draft.done()
}
