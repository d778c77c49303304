//! Operations that were given up: what still comes for them is taken and dropped, or its sender would wait for ever.
//!
//! What must stay true: an operation that is started again, or whose number has come round, is given up no more; nor is one without
//! a label, whose tag another one may have. What is started again after it has failed for a loss stays given up: its starts have one tag,
//! and of what comes nobody could say which one it is of.

use std::collections::{HashMap, VecDeque};

use crate::coll::label::Label;
use crate::coll::steps::Plan;
use crate::coll::stray;
use crate::ids::ContextId;
use crate::method::Methods;
use crate::pt2pt::{Engine, recv};

/// So many of them are remembered.
const MOST: usize = 1 << 12;

/// A context and which operation it is there.
type Operation = (ContextId, (u32, bool));

/// Why an operation was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Why {
    /// Members do not do the same.
    Told,
    /// A member is lost.
    Loss,
}

/// The last ones, of all communicators.
#[derive(Debug, Default)]
pub(super) struct Abandoned {
    tags: HashMap<Operation, (i32, Why)>,
    /// The newest one last.
    order: VecDeque<Operation>,
}

impl Abandoned {
    /// Whether there is none.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// This one is given up here.
    #[cold]
    pub(super) fn add(&mut self, plan: &Plan, why: Why) {
        let Some(operation) = operation(plan.context, plan.tag) else { return };
        self.forget(plan.context, plan.tag);
        if self.order.len() == MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.tags.remove(&oldest);
        }
        self.tags.insert(operation, (plan.tag, why));
        self.order.push_back(operation);
    }

    /// The one with this tag begins.
    pub(super) fn forget(&mut self, context: ContextId, tag: i32) {
        if let Some(operation) = operation(context, tag)
            && self.tags.remove(&operation).is_some()
        {
            self.order.retain(|other| *other != operation);
        }
    }

    /// Why the one with this tag was given up, if it was.
    pub(super) fn why(&self, context: ContextId, tag: i32) -> Option<Why> {
        self.tags.get(&operation(context, tag)?).map(|(_, why)| *why)
    }

    /// Drops what has come for them, where one with this tag is over.
    #[cold]
    pub(super) fn drop_late(&mut self, engine: &mut Engine, methods: &mut Methods, over: Option<&Plan>) {
        // Of those that are done once, what comes half a round of numbers later is none of theirs any more.
        if let Some((plan, far)) = over.and_then(|plan| Some((plan, Label::far_from(plan.tag)?))) {
            self.forget(plan.context, far);
        }
        let is_late = |(context, tag): (ContextId, i32)| {
            let abandoned = operation(context, tag).and_then(|operation| self.tags.get(&operation));
            abandoned.is_some_and(|(abandoned, _)| *abandoned == tag || Label::clash(*abandoned, tag))
        };
        let late = engine.matching.all_early(|early| is_late((early.context, early.tag)));
        for id in stray::drop_all(engine, methods, &late) {
            recv::detach(engine, id);
        }
    }
}

fn operation(context: ContextId, tag: i32) -> Option<Operation> {
    Some((context, Label::operation(tag)?))
}
