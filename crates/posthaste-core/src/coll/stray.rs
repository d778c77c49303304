//! Strays: messages of collective operations that nobody here will ever ask for, because the ranks of a communicator have called
//! different functions, or with different roots (MPI-5.0 §6.14).
//!
//! They are looked for where an operation waits, and where one is over: an operation that ends at once meets nobody. What must
//! stay true: a call that waits for what cannot come is told so; the sender of a stray is not kept waiting. Where a process was
//! lost nothing is a stray, for an operation that failed leaves messages behind, but what lacks the part of a lost member: nobody
//! takes a result for whole that is not, or leaves a barrier as if all had come.

use crate::coll::label::Label;
use crate::coll::steps::Plan;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::send::{self, Started};
use crate::pt2pt::{Engine, recv};
use crate::wire::{Envelope, Mode};

/// In larger teams only those hear of it that are sent something.
const MOST_TOLD: u32 = 256;

/// Messages that say that others have called something else as the operation of this plan. Of those that are none of the last `new`
/// unexpected ones the caller knows already.
#[cold]
pub(super) fn clashing(engine: &mut Engine, plan: &Plan, new: u64) -> Vec<Pattern> {
    let any = engine.losses.is_empty() && !engine.contexts.is_revoked(plan.context);
    let clashes =
        |early: &Pattern| (any || Label::lacks(early.tag).is_some()) && Label::clash(early.tag, plan.tag);
    engine.matching.early(plan.context, plan.tag, new, clashes)
}

/// Messages of earlier operations than that of this plan, which are all over: they went well here, and at others something else was called.
/// Those that only say so of an operation that has gone well here are none.
#[cold]
pub(super) fn older(engine: &mut Engine, plan: &Plan, new: u64) -> Vec<Pattern> {
    let Some(own) = Label::of(plan.tag).filter(|_| engine.losses.is_empty()) else { return Vec::new() };
    let is_older = |early: &Pattern| {
        own.is_recent(early.tag).is_some_and(|label| label.number != own.number)
            && !Label::gives_up(early.tag)
            && Label::lacks(early.tag).is_none()
    };
    let mut early = engine.matching.early(plan.context, plan.tag, new, is_older);
    for empty in engine.matching.empty_before(plan.context, plan.tag, is_older) {
        if !early.contains(&empty) {
            early.push(empty);
        }
    }
    early
}

/// Messages of the operation of this plan, or of earlier ones, which are over.
#[cold]
pub(super) fn left_over(engine: &mut Engine, plan: &Plan) -> Vec<Pattern> {
    let Some(own) = Label::of(plan.tag).filter(|_| engine.losses.is_empty()) else { return Vec::new() };
    let is_left = |early: &Pattern| own.is_recent(early.tag).is_some();
    engine.matching.early(plan.context, plan.tag, u64::MAX, is_left)
}

/// Messages of an operation that was given up.
#[cold]
pub(super) fn late(engine: &mut Engine, context: ContextId, tag: i32) -> Vec<Pattern> {
    let is_of_it = |early: &Pattern| early.tag == tag || Label::clash(early.tag, tag);
    engine.matching.all_early(|early| early.context == context && is_of_it(early))
}

/// Takes strays and drops what they bring, so that their senders go on. The requests go on with progress.
pub(super) fn drop_all(engine: &mut Engine, methods: &mut Methods, strays: &[Pattern]) -> Vec<RequestId> {
    let mut requests = Vec::new();
    for stray in strays {
        if let Some(message) = engine.matching.take_unexpected(stray) {
            requests.extend(recv::start_unexpected(engine, methods, message, Segment::empty()));
        }
    }
    requests
}

/// Tells the others that this operation is given up here, so that nobody waits who waits for who does something else.
#[cold]
pub(super) fn tell_all(engine: &mut Engine, methods: &mut Methods, plan: &Plan) -> Vec<RequestId> {
    let Some(group) = plan.group.as_ref().filter(|group| group.size() <= MOST_TOLD) else {
        return Vec::new();
    };
    let others = group.peers().zip(0..).filter(|(_, rank)| *rank != plan.rank);
    let (tag, mut told) = (Label::giving_up(plan.tag), Vec::new());
    for (peer, _) in others {
        if let Ok(Started::Request(id)) = say(engine, methods, plan, tag, peer) {
            told.push(id);
        }
    }
    told
}

/// Sends a message of the operation of this plan that has no data, and another tag.
#[cold]
pub(super) fn say(
    engine: &mut Engine,
    methods: &mut Methods,
    plan: &Plan,
    tag: i32,
    to: Peer,
) -> Result<Started> {
    let envelope = Envelope {
        context: plan.context,
        source: plan.rank,
        tag,
        len: 0,
        mode: Mode::Standard,
        types: Segment::empty().types(),
    };
    send::start(engine, methods, to, &envelope, Segment::empty())
}

/// What the ranks did.
#[cold]
pub(super) fn mismatch(engine: &Engine, plan: &Plan, stray: &Pattern) -> Error {
    if let Some(which) = Label::lacks(stray.tag) {
        let peer = plan.group.as_ref().and_then(|group| match which {
            Some(rank) => group.peer(rank),
            None => {
                let mut known = engine.losses.among(group);
                known.next().filter(|_| known.next().is_none())
            }
        });
        let whom = peer.map_or("a member".to_owned(), |peer| format!("rank {} of the world", peer.0));
        let text = format!("{}: {whom} is lost, as rank {} has found", plan.name, stray.source);
        let why = Error::other(ErrorClass::ProcAborted, text);
        return peer.map_or_else(|| why.clone(), |peer| Error::lost(peer.0, &why));
    }
    let theirs = Label::of(stray.tag).map_or("another operation".into(), |label| {
        label.describe(plan.group.as_ref().map_or(0, |group| group.size()))
    });
    let root = plan.root.map_or_else(String::new, |root| format!(" with root {root}"));
    let own = Label::of(plan.tag).map_or(plan.name, Label::name);
    let (name, rank, from) = (plan.name, plan.rank, stray.source);
    let of = |tag| Label::of(tag).map(|label| label.number);
    let communicator = engine.contexts.name(plan.context.point_to_point());
    let operation = match of(stray.tag) {
        Some(number) => format!("collective operation {number} of {communicator}"),
        None => format!("a persistent operation of {communicator}"),
    };
    const ALL_MUST: &str = "all ranks must call the same operations in the same order, with the same root";
    const AS_MANY: &str = "all ranks must describe as many bytes";
    if Label::gives_up(stray.tag) && !Label::differ_in_call(stray.tag, plan.tag) {
        return Error::heard(format!(
            "{name}: rank {from} has given up {operation}, where ranks called different ones or with different counts: {ALL_MUST}"
        ));
    }
    let text = if Label::differ_in_way(stray.tag, plan.tag) {
        format!(
            "{name}: rank {from} called {own}{root} with another count or datatype than rank {rank}, as {operation}: {AS_MANY}"
        )
    } else if Label::differ_in_call(stray.tag, plan.tag) {
        format!(
            "{name}: rank {from} called {theirs} where rank {rank} called {own}{root}, as {operation}: {ALL_MUST}"
        )
    } else {
        format!(
            "{name}: rank {from} called {theirs} as {operation} and sent rank {rank} what that has not asked for: {ALL_MUST}"
        )
    };
    Error::other(ErrorClass::NotSame, text)
}
