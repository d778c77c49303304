//! The straight way through a schedule, which a blocking call takes first: every message is short and finds room at once, and
//! what arrives next is the message that is looked for, whole and as long as planned. No request is taken and no list is
//! kept, only how far the steps have come.
//!
//! At anything else the way bends: `schedule` goes on from there, which knows all that can happen.
//!
//! What must stay true: a step is taken whole or left alone, so that the way can bend before every one of them.

use std::ops::{ControlFlow, Range};

use crate::coll::steps::{Plan, Step};
use crate::datatype;
use crate::error::Error;
use crate::method::Methods;
use crate::pt2pt::{Engine, send};
use crate::trace::Counter;

/// How far an operation has come.
#[derive(Debug, Default)]
pub(super) struct Straight {
    /// Steps that are taken, but for receives of this group that have not come.
    taken: usize,
    /// The first of those, if there are any.
    received: usize,
    /// The first that went wrong.
    error: Option<Error>,
}

/// Where the way leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To the end.
    Over,
    /// To a message that has not come.
    Waits,
    /// To something that is out of the ordinary.
    Bends,
}

impl Straight {
    /// Goes as far as possible.
    #[inline]
    pub(super) fn go(&mut self, plan: &Plan, engine: &mut Engine, methods: &mut Methods) -> Leads {
        loop {
            if let ControlFlow::Break(leads) = self.receive(plan, engine, methods) {
                return leads;
            }
            if let ControlFlow::Break(leads) = self.take(plan, engine, methods) {
                return leads;
            }
        }
    }

    /// Takes what has come of the messages that are looked for.
    #[inline]
    fn receive(&mut self, plan: &Plan, engine: &mut Engine, methods: &mut Methods) -> ControlFlow<Leads> {
        while self.received < self.taken {
            if let Some(Step::Receive { from, peer, segment }) = plan.steps.get(self.received) {
                let pattern = plan.pattern(*from);
                if engine.matching.has_unexpected() && engine.matching.peek_unexpected(&pattern).is_some() {
                    return ControlFlow::Break(Leads::Bends);
                }
                let (wanted, room) = (pattern.plain(segment.len()), segment.len());
                let taken = methods.take_plain(*peer, &wanted, room, |data| {
                    segment.unpack_at(0, data);
                });
                match taken {
                    ControlFlow::Break(Some(len)) => {
                        let is_copied = !segment.is_combined();
                        engine.counts.add(Counter::CollectiveDelivered, len);
                        engine.counts.add(Counter::CollectiveCopied, if is_copied { len } else { 0 });
                    }
                    ControlFlow::Break(None) => return ControlFlow::Break(Leads::Bends),
                    // What has come of this operation and is none of its messages says that something has gone wrong.
                    ControlFlow::Continue(()) if engine.matching.has_early() => {
                        return ControlFlow::Break(Leads::Bends);
                    }
                    ControlFlow::Continue(()) => return ControlFlow::Break(Leads::Waits),
                }
            }
            self.received += 1;
        }
        ControlFlow::Continue(())
    }

    /// Takes steps up to the end of their group.
    #[inline]
    fn take(&mut self, plan: &Plan, engine: &mut Engine, methods: &mut Methods) -> ControlFlow<Leads> {
        let mut waits = false;
        while let Some(step) = plan.steps.get(self.taken) {
            match step {
                Step::Send { to, segment } => {
                    let is_sent = segment.run().is_some_and(|mut run| {
                        send::at_once(engine, methods, *to, &plan.envelope(run.len()), &mut run)
                    });
                    if !is_sent {
                        return ControlFlow::Break(Leads::Bends);
                    }
                }
                Step::Receive { .. } => waits = true,
                Step::Fence | Step::Turn if waits => return ControlFlow::Continue(()),
                Step::Fence | Step::Turn => {}
                Step::Combine { input, inout, count } => {
                    if let Some((op, datatype)) = &plan.reduction
                        && let Err(error) = op.apply_checked(datatype, *input, *inout, *count)
                    {
                        self.error.get_or_insert(error);
                    }
                }
                Step::Copy { from, to } => match (from.run(), to.run()) {
                    (Some(mut from), Some(mut to)) if from.len() == to.len() => {
                        let copied = datatype::copy(&mut from, &mut to);
                        engine.counts.add(Counter::CollectiveCopied, copied);
                    }
                    _ => return ControlFlow::Break(Leads::Bends),
                },
                Step::Stage { .. } => return ControlFlow::Break(Leads::Bends),
            }
            self.taken += 1;
            if !waits {
                self.received = self.taken;
            }
        }
        match waits {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(Leads::Over),
        }
    }

    /// Whether nothing has gone wrong.
    #[inline(always)]
    pub(super) fn is_well(&self) -> bool {
        self.error.is_none()
    }

    /// Where the way bends: the steps that are taken, those among them whose messages have not come if they are receives, and what has gone
    /// wrong.
    pub(super) fn end(self) -> (usize, Range<usize>, Option<Error>) {
        (self.taken, self.received..self.taken, self.error)
    }
}
