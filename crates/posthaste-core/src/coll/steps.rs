//! What a schedule is made of: the steps of one rank in one operation, and the memory that they name.
//!
//! What must stay true: what a step names lives as long as the plan, in it or in the one that it was lent by.

use std::sync::Arc;

use crate::buffer::{Direction, OwnedBuf, UserBuf};
use crate::coll::board::{Absent, Board};
use crate::coll::recent::Recurring;
use crate::datatype::{Datatype, Segment};
use crate::group::Group;
use crate::ids::{ContextId, Peer};
use crate::op::Op;
use crate::pt2pt::matching::Pattern;
use crate::wire::Envelope;

/// One step of a collective operation.
#[derive(Clone, Debug)]
pub(super) enum Step {
    /// Starts a message.
    Send { to: Peer, segment: Segment },
    /// Starts to receive exactly the segment, or to combine with it what comes; `peer` is the process with that rank.
    Receive { from: u32, peer: Peer, segment: Segment },
    /// Waits for the messages started so far.
    Fence,
    /// Waits for the receives among them.
    Turn,
    /// `inout = input op inout`.
    Combine { input: UserBuf, inout: UserBuf, count: u64 },
    /// Moves bytes between buffers of this process.
    Copy { from: Segment, to: Segment },
    /// Starts a copy by a device between its memory and ours: address there, place here, length.
    Stage { direction: Direction, runs: Vec<(usize, UserBuf, usize)> },
}

/// All steps of one rank in one operation.
#[derive(Debug)]
pub(super) struct Plan {
    /// The operation, for messages.
    pub(super) name: &'static str,
    /// The call that it is of, if that may come again.
    pub(super) recurs: Option<Recurring>,
    /// Context, our rank and tag of its messages.
    pub(super) context: ContextId,
    pub(super) rank: i32,
    pub(super) tag: i32,
    /// The members, and which is the root.
    pub(super) group: Option<Arc<Group>>,
    pub(super) root: Option<u32>,
    /// All members meet before anything else.
    pub(super) meets: bool,
    pub(super) steps: Vec<Step>,
    pub(super) reduction: Option<(Op, Datatype)>,
    /// Memory that steps name.
    pub(super) temporaries: Vec<OwnedBuf>,
    /// The same for data that several members copy.
    pub(super) boards: Vec<Board>,
    /// Such memory that a plan has given back which is started again.
    pub(super) absent: Vec<Absent>,
    /// Memory that steps name and that the caller looks at afterwards.
    pub(super) outcome: Option<Arc<OwnedBuf>>,
}

impl Plan {
    /// A plan without steps.
    pub(super) const fn empty() -> Self {
        Self {
            name: "",
            recurs: None,
            context: ContextId::WORLD,
            rank: 0,
            group: None,
            root: None,
            meets: false,
            tag: 0,
            steps: Vec::new(),
            reduction: None,
            temporaries: Vec::new(),
            boards: Vec::new(),
            absent: Vec::new(),
            outcome: None,
        }
    }

    /// Gives boards back until it runs again.
    pub(super) fn leave_boards(&mut self) {
        self.absent = self.boards.drain(..).map(Board::leave).collect();
    }

    /// The plan for one run, with boards in the place of those that it has given back. Its other memory stays with the plan.
    #[cold]
    pub(super) fn lent(&self) -> Box<Self> {
        let mut plan = Box::new(Self {
            name: self.name,
            context: self.context,
            rank: self.rank,
            tag: self.tag,
            group: self.group.clone(),
            root: self.root,
            meets: self.meets,
            steps: self.steps.clone(),
            reduction: self.reduction.clone(),
            outcome: self.outcome.clone(),
            ..Self::empty()
        });
        for absent in &self.absent {
            // Without memory for a board, what has been planned goes by way of some that peers do not reach.
            let board = absent.again();
            let base = match &board {
                Some(board) => board.base(),
                None => {
                    let memory = OwnedBuf::new(absent.len());
                    let base = memory.user_buf();
                    plan.temporaries.push(memory);
                    base
                }
            };
            plan.boards.extend(board);
            // By the old steps, for the new memory may lie where another board was.
            for (step, planned) in plan.steps.iter_mut().zip(&self.steps) {
                let (Step::Copy { to: segment, .. } | Step::Send { segment, .. }) = step else { continue };
                let (Step::Copy { to: old, .. } | Step::Send { segment: old, .. }) = planned else {
                    continue;
                };
                if let Some(there) = absent.moved(old, base) {
                    *segment = there;
                }
            }
        }
        plan
    }

    /// Whether a receive is that of a piece of data, whose length says whether another one follows: see [`choose::pieces`].
    pub(super) fn comes_in_pieces(&self, receive: usize) -> bool {
        matches!(self.steps[receive..], [_, Step::Turn, Step::Turn, ..])
    }

    /// The envelope of a message that says nothing of its types.
    #[inline(always)]
    pub(super) fn envelope(&self, len: u64) -> Envelope {
        let Self { context, rank: source, tag, .. } = *self;
        Pattern { context, source, tag }.plain(len)
    }

    /// Where messages of a rank are received.
    pub(super) fn pattern(&self, from: u32) -> Pattern {
        Pattern { context: self.context, source: from as i32, tag: self.tag }
    }
}
