//! Strays: messages of collective operations that nobody here will ever ask for, because the ranks of a communicator have called
//! different functions, or with different roots (MPI-5.0 §6.14).
//!
//! They are looked for where an operation waits, and where one is over: an operation that ends at once meets nobody. What must
//! stay true: a call that waits for what cannot come is told so; the sender of a stray is not kept waiting. Where a process was
//! lost nothing is a stray: an operation that failed leaves messages behind.

use crate::coll::label::Label;
use crate::coll::schedule::Plan;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass};
use crate::ids::RequestId;
use crate::method::Methods;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::{Engine, recv};

/// Messages that say that others have called something else as the operation of this plan. Of those that are none of the last `new`
/// unexpected ones the caller knows already.
#[cold]
pub(super) fn clashing(engine: &mut Engine, plan: &Plan, new: u64) -> Vec<Pattern> {
    let Some(own) = Label::of(plan.tag).filter(|_| engine.losses.is_empty()) else { return Vec::new() };
    let clashes = |early: &Pattern| Label::of(early.tag).is_some_and(|label| label.clashes(own));
    engine.matching.early(plan.context, new).into_iter().filter(clashes).collect()
}

/// Messages of the operation of this plan, or of earlier ones, which are over.
#[cold]
pub(super) fn left_over(engine: &mut Engine, plan: &Plan) -> Vec<Pattern> {
    let Some(own) = Label::of(plan.tag).filter(|_| engine.losses.is_empty()) else { return Vec::new() };
    let is_left = |early: &Pattern| Label::of(early.tag).is_some_and(|label| label.is_up_to(own));
    engine.matching.early(plan.context, u64::MAX).into_iter().filter(is_left).collect()
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

/// What the ranks did.
#[cold]
pub(super) fn mismatch(engine: &Engine, plan: &Plan, stray: &Pattern) -> Error {
    let theirs =
        Label::of(stray.tag).map_or("another operation".into(), |label| label.describe(plan.members));
    let root = plan.root.map_or_else(String::new, |root| format!(" with root {root}"));
    let own = Label::of(plan.tag).map_or(plan.name, Label::name);
    let (rank, from) = (plan.rank, stray.source);
    let of = |tag| Label::of(tag).map_or(0, |label| label.number);
    let number = of(stray.tag);
    let communicator = engine.contexts.name(plan.context.point_to_point());
    let text = if of(plan.tag) == number && plan.tag != stray.tag {
        format!(
            "{}: rank {from} called {theirs} where rank {rank} called {own}{root}, as collective operation {number} of \
             {communicator}",
            plan.name,
        )
    } else {
        format!(
            "{}: rank {from} called {theirs} as collective operation {number} of {communicator} and sent rank {rank} what \
             that has not asked for",
            plan.name,
        )
    };
    Error::other(
        ErrorClass::NotSame,
        text + ": all ranks must call the same operations in the same order, with the same root",
    )
}
