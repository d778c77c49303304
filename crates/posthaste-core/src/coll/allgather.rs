//! Gather to all (MPI-5.0 §6.7).

use crate::coll::choose::{self, Allgather};
use crate::coll::label::Function;
use crate::coll::levels::Levels;
use crate::coll::plan::{Blocks, Draft, Operand};
use crate::coll::{Schedule, Team, bcast, gather};
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};

/// Everybody gets everybody's operand, one after the other. `send` is `None` for `MPI_IN_PLACE`; the count of
/// `recv` is that of one block.
///
/// # Errors
/// None so far; the form is that of the other operations.
pub fn allgather(team: &Team, send: Option<Operand<'_>>, recv: Operand<'_>) -> Result<Schedule> {
    let mut draft = Draft::new(team, Function::Allgather, 12);
    into(&mut draft, send, recv);
    draft.ended()
}

/// As [`allgather`], with blocks of different lengths in any place.
///
/// # Errors
/// Lists that are not as long as there are ranks.
pub fn allgatherv(team: &Team, send: Option<Operand<'_>>, recv: Blocks<'_>) -> Result<Schedule> {
    let n = team.size() as usize;
    if recv.counts.len() != n || recv.displacements.len() != n {
        let got = format_args!("{} and {} entries long", recv.counts.len(), recv.displacements.len());
        let expected = format_args!("one count and displacement for each of {n} ranks");
        return Err(Error::invalid(ErrorClass::Count, "recvcounts, displs", got, expected));
    }
    let mut draft = Draft::new(team, Function::Allgatherv, 2 * n);
    if let Some(levels) = Levels::of(team, 0).filter(Levels::are_runs) {
        levels.allgatherv(&mut draft, send, recv)?;
        return draft.ended();
    }
    let mine = recv.block(draft.me());
    if let Some(send) = send {
        draft.copy(send.all(), mine.clone());
    }
    direct(&mut draft, &mine, |rank| recv.block(rank));
    draft.ended()
}

/// Writes an allgather into a schedule.
pub(super) fn into(draft: &mut Draft<'_>, send: Option<Operand<'_>>, recv: Operand<'_>) {
    let (me, n) = (draft.me(), draft.n());
    let mine = recv.block(me);
    if let Some(levels) =
        Levels::of(draft.team, 0).filter(|levels| levels.are_for_all(draft) && levels.are_runs())
    {
        return levels.allgather(draft, send, recv);
    }
    let oversubscribed = draft.team.is_oversubscribed();
    let way = choose::allgather(n, recv.bytes(), oversubscribed);
    draft.going(way.number());
    match way {
        Allgather::Tree(radix) => {
            // In place, an inner member's own block is in the common buffer; it leaves before the others arrive.
            let in_place = Operand { buf: recv.element(u64::from(me).wrapping_mul(recv.count)), ..recv };
            let own = if me == 0 { send } else { send.or(Some(in_place)) };
            gather::collect(draft, own, (me == 0).then_some(recv), 0, radix);
            bcast::by_tree(draft, &recv.blocks(0, n), 0, radix);
        }
        way => {
            if let Some(send) = send {
                draft.copy(send.all(), mine.clone());
            }
            match way {
                Allgather::Direct => direct(draft, &mine, |rank| recv.block(rank)),
                Allgather::Ring => ring(draft, |rank| recv.block(rank)),
                _ => by_dissemination(draft, recv),
            }
        }
    }
}

/// Everybody sends its block to everybody.
pub(super) fn direct(draft: &mut Draft<'_>, mine: &Segment, block: impl Fn(u32) -> Segment) {
    let mine = draft.for_several(mine.clone(), draft.n() as usize - 1);
    draft.with_all_others(|draft, to, from| {
        draft.send(to, mine.clone());
        draft.receive(from, block(from));
    });
}

/// Everybody hands on what came last.
fn ring(draft: &mut Draft<'_>, block: impl Fn(u32) -> Segment) {
    let (me, n) = (draft.me(), draft.n());
    for turn in 0..n - 1 {
        draft.fence();
        draft.send((me + 1) % n, block((me + n - turn) % n));
        draft.receive((me + n - 1) % n, block((me + n - turn - 1) % n));
    }
}

/// In round k everybody has the blocks of itself and of the 2^k - 1 members after it, and gets as many again from
/// the member 2^k further on.
fn by_dissemination(draft: &mut Draft<'_>, recv: Operand<'_>) {
    let (me, n) = (draft.me(), draft.n());
    // Blocks first..first + count going round, as one or two runs.
    let runs = |first: u32, count: u32| {
        let straight = count.min(n - first);
        [(first, straight), (0, count - straight)].into_iter().filter(|(_, count)| *count > 0)
    };
    let mut distance = 1;
    while distance < n {
        let (count, from) = (distance.min(n - distance), (me + distance) % n);
        draft.fence();
        for (first, count) in runs(me, count) {
            draft.send((me + n - distance) % n, recv.blocks(first, count));
        }
        for (first, count) in runs(from, count) {
            draft.receive(from, recv.blocks(first, count));
        }
        distance *= 2;
    }
}
