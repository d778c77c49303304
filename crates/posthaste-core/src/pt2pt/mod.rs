//! Point-to-point messages: the engine's state and the protocols.
//!
//! Messages are known by `(ContextId, Peer)`, never by a communicator. A packet handler does no I/O: it returns an
//! [`Action`] that `progress` performs. Each protocol is one file with both sides in it: [`eager`], [`rendezvous`],
//! [`flow`], [`cancel`].

pub mod action;
pub mod agreed;
pub mod arrival;
pub mod cancel;
pub mod contexts;
pub mod loss;
pub mod eager;
pub mod explained;
pub mod flow;
pub mod handlers;
mod index;
pub mod listeners;
pub mod matching;
pub mod outgoing;
pub mod partitioned;
pub mod pending;
pub mod persistent;
pub mod policy;
pub mod probe;
pub mod protocol;
mod ready;
pub mod recv;
pub mod rendezvous;
pub mod revoked;
pub mod send;
pub mod staging;
mod types;

use std::collections::VecDeque;
use std::sync::Arc;

use crate::config::Config;
use crate::datatype::Format;
use crate::ids::{Peer, RequestId};
use crate::onesided::OneSided;
use crate::request::complete::Finished;
use crate::request::outside::Outside;
use crate::request::{Status, Table, complete};
use crate::trace::Counts;
pub use action::Action;
pub use contexts::Contexts;
pub use flow::Flow;
pub use loss::Losses;
pub use matching::{Matching, Pattern};
pub use pending::Pending;

/// The state of one VCI: requests, matching, and packets that wait for room. No I/O happens here.
#[derive(Debug)]
pub struct Engine {
    /// The number of its VCI.
    pub vci: usize,
    /// All requests.
    pub requests: Table,
    /// What their ends leave to be done.
    pub finished: Finished,
    /// Ends of requests that come from outside.
    pub outside: Arc<Outside>,
    /// Posted receives and unexpected messages.
    pub matching: Matching,
    /// Who is behind each context.
    pub contexts: Contexts,
    /// Peers that are throttled because they send what nobody receives.
    pub flow: Flow,
    /// Peers that are down.
    pub losses: Losses,
    /// Receives may begin that can never end: somebody was lost, or a communicator revoked.
    dooms: bool,
    /// Receives from anybody that have ended because somebody is lost, and may go on.
    halted: recv::Halted,
    /// What members of communicators agree on.
    agreements: agreed::Agreements,
    /// What handlers have left to be done: [`Engine::ask`] adds to it.
    asked: VecDeque<Action>,
    /// One-sided communication: [`Engine::with_onesided`] changes it.
    onesided: OneSided,
    /// What waits to leave, by peer.
    pending: pending::Queues,
    /// Peers towards which something waits, and peers that are throttled; one more while one-sided communication waits, and one
    /// for what is left to be done.
    pending_work: usize,
    /// Requests whose buffers are device memory.
    staging: staging::Staging,
    /// Where sends under way go.
    pub outgoing: outgoing::Outgoing,
    /// Messages in ready mode that came too early.
    early_reported: ready::Reported,
    /// Persistent requests.
    pub persistent: persistent::Persistents,
    /// Handlers of the program.
    pub handlers: handlers::Handlers,
    /// Tasks that wait for messages.
    pub listeners: listeners::Listeners,
    /// What this engine counts.
    pub counts: Counts,
    /// Shorter messages than this take the fast path of a send.
    eager_below: u64,
    /// This process, if each message is explained.
    explaining: Option<explained::Explaining>,
    /// The settings.
    pub config: Config,
    /// How data looks in the memory of this engine's users.
    pub format: Format,
}

impl Engine {
    /// The engine of a process with one VCI.
    pub fn new(config: Config) -> Self {
        Self::of_vci(0, config)
    }

    /// The engine of a VCI.
    pub fn of_vci(vci: usize, config: Config) -> Self {
        Self {
            vci,
            requests: Table::of_vci(vci, config.requests),
            finished: Finished::default(),
            outside: Arc::default(),
            matching: Matching::default(),
            contexts: Contexts::default(),
            flow: Flow::default(),
            losses: Losses::default(),
            dooms: false,
            halted: recv::Halted::default(),
            agreements: agreed::Agreements::default(),
            asked: VecDeque::new(),
            onesided: OneSided::default(),
            pending: pending::Queues::default(),
            pending_work: 0,
            staging: staging::Staging::default(),
            outgoing: outgoing::Outgoing::default(),
            early_reported: ready::Reported::default(),
            persistent: persistent::Persistents::default(),
            handlers: handlers::Handlers::default(),
            listeners: listeners::Listeners::default(),
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

    /// Performs the ends that were left outside.
    #[cold]
    pub(crate) fn end_from_outside(&mut self) {
        for (id, status) in self.outside.take() {
            self.complete(id, status);
        }
    }

    /// Whether nothing waits for room towards `to`.
    #[inline]
    pub(crate) fn way_is_free(&self, to: Peer) -> bool {
        self.pending_work == 0 || !self.pending.is_waiting(to)
    }

    /// Whether progress has something to retry or to ask.
    #[inline]
    pub(crate) fn has_pending_work(&self) -> bool {
        self.pending_work > 0
    }

    /// Whether something waits to leave, or a device copies.
    #[inline]
    pub fn has_pending(&self) -> bool {
        let waits = self.pending_work > 0
            && (self.pending.are_waiting() || self.onesided.has_work() || !self.asked.is_empty());
        waits || self.has_staged()
    }

    /// Changes what waits to leave towards `to`.
    pub(crate) fn with_pending<T>(&mut self, to: Peer, change: impl FnOnce(&mut Pending) -> T) -> T {
        let pending = self.pending.of(to);
        self.pending_work -= usize::from(!pending.is_empty());
        let result = change(pending);
        self.pending_work += usize::from(!pending.is_empty());
        result
    }

    /// Has progress do something, behind what is to be done already.
    pub(crate) fn ask(&mut self, action: Action) {
        self.pending_work += usize::from(self.asked.is_empty());
        self.asked.push_back(action);
    }

    /// What is to be done next.
    fn next_asked(&mut self) -> Option<Action> {
        let next = self.asked.pop_front()?;
        self.pending_work -= usize::from(self.asked.is_empty());
        Some(next)
    }

    /// Whether operations of windows have ended of which these have not been told.
    #[inline]
    pub fn has_news_of_windows(&self) -> bool {
        self.onesided.has_done_of_window()
    }

    /// One-sided communication, to look at.
    pub fn onesided(&self) -> &OneSided {
        &self.onesided
    }

    /// Starts, continues or ends one-sided communication.
    pub fn with_onesided<T>(&mut self, change: impl FnOnce(&mut OneSided, &mut Counts) -> T) -> T {
        let Self { onesided, counts, .. } = self;
        self.pending_work -= usize::from(onesided.has_work());
        let ends = onesided.ends();
        let result = change(onesided, counts);
        self.pending_work += usize::from(onesided.has_work());
        self.finished.ends += onesided.ends() - ends;
        result
    }
}

#[cfg(test)]
mod agreed_tests;
#[cfg(test)]
mod excluded_tests;
#[cfg(test)]
mod loss_tests;
#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod staging_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod heterogeneous_tests;
