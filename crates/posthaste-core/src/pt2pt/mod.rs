//! Point-to-point messages: the engine's state and the protocols.
//!
//! Called by `comm`, `coll` (through `(ContextId, Peer)`, never a communicator), `dispatch` and `world`; calls
//! `method` to start things. A packet handler does no I/O: it returns an [`Action`] that `progress` performs.
//! Each protocol is one file with both sides in it: [`eager`], [`rendezvous`].

pub mod action;
pub mod eager;
pub mod explained;
mod index;
pub mod matching;
pub mod outgoing;
pub mod persistent;
pub mod probe;
pub mod protocol;
pub mod recv;
pub mod rendezvous;
pub mod send;
mod types;

use std::collections::VecDeque;

use crate::config::Config;
use crate::datatype::Format;
use crate::ids::{Peer, RequestId};
use crate::request::complete::Finished;
use crate::request::{Status, Table, complete};
use crate::trace::Counts;
use crate::wire::{Emit, Envelope};

pub use action::Action;
pub use matching::{Matching, Pattern};

/// A packet that found no room; it keeps its place.
#[derive(Debug)]
pub enum Pending {
    /// A packet without message data.
    Control(Emit),
    /// An eager message; its data is still in the user's buffer, in the request.
    Eager(RequestId, Envelope),
}

/// The state of one lane: requests, matching, and packets that wait for room. No I/O happens here.
#[derive(Debug)]
pub struct Engine {
    /// All requests.
    pub requests: Table,
    /// What their ends leave to be done.
    pub finished: Finished,
    /// Posted receives and unexpected messages.
    pub matching: Matching,
    /// Packets that found no room, by peer.
    pending: Vec<VecDeque<Pending>>,
    pending_peers: usize,
    /// Where sends under way go.
    pub outgoing: outgoing::Outgoing,
    /// Persistent requests.
    pub persistent: persistent::Persistents,
    /// What this engine counts.
    pub counts: Counts,
    /// Shorter messages than this take the fast path of a send.
    eager_below: u64,
    /// This process, if each message is explained.
    explaining: Option<Peer>,
    /// The settings.
    pub config: Config,
    /// How data looks in the memory of this engine's users.
    pub format: Format,
}

impl Engine {
    /// An engine that talks to `peers` processes.
    pub fn new(config: Config, peers: usize) -> Self {
        Self {
            requests: Table::new(config.requests),
            finished: Finished::default(),
            matching: Matching::default(),
            pending: (0..peers).map(|_| VecDeque::new()).collect(),
            pending_peers: 0,
            outgoing: outgoing::Outgoing::default(),
            persistent: persistent::Persistents::default(),
            counts: Counts::default(),
            eager_below: config.eager_limit as u64 + 1,
            explaining: None,
            config,
            format: Format::NATIVE,
        }
    }

    /// Ends a request.
    #[inline]
    pub(crate) fn complete(&mut self, id: RequestId, status: Status) {
        complete::complete(&mut self.requests, &mut self.finished, id, status);
    }

    /// Whether nothing waits for room towards `to`.
    #[inline]
    pub(crate) fn way_is_free(&self, to: Peer) -> bool {
        self.pending_peers == 0 || self.pending.get(to.index()).is_none_or(VecDeque::is_empty)
    }

    /// Whether packets wait for room.
    #[inline]
    pub fn has_pending(&self) -> bool {
        self.pending_peers > 0
    }

    pub(crate) fn push_pending(&mut self, to: Peer, pending: Pending) {
        let queue = &mut self.pending[to.index()];
        self.pending_peers += usize::from(queue.is_empty());
        queue.push_back(pending);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod unlike_tests;
