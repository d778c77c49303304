//! A peer is down: everything under way towards or from it ends with an error that says so.
//!
//! ```text
//!   method          engine
//!   PeerDown  --->  lost      what waits to leave disappears; requests end
//!                   started   so do receives that begin later and could only wait for ever
//! ```
//!
//! What has come from the peer and nobody has received stays receivable, as far as all of it is here. A receive from
//! any source fails, too, for it may wait for the one message that will never come (MPI-5.0 §2.8 leaves to us what
//! works after a failure). Does no I/O.

use crate::error::{Error, Result};
use crate::ids::{ANY_SOURCE, Peer, RequestId};
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::{Contexts, Engine, Pending};
use crate::request::{State, Status};
use crate::trace::Counter;

/// Peers that are down, and why.
#[derive(Debug, Default)]
pub struct Losses(Vec<(Peer, Error)>);

impl Losses {
    /// Whether any peer is.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails when this peer is.
    ///
    /// # Errors
    /// Why it is.
    pub fn check(&self, peer: Peer) -> Result<()> {
        self.0.iter().find(|(down, _)| *down == peer).map_or(Ok(()), |(_, why)| Err(why.clone()))
    }

    /// Why a receive with this pattern may never end.
    pub fn concerns(&self, contexts: &Contexts, pattern: &Pattern) -> Option<Error> {
        let concerned = |(down, _): &&(Peer, Error)| may_come_from(contexts, pattern, *down);
        self.0.iter().find(concerned).map(|(_, why)| why.clone())
    }
}

/// Whether a message that fits could come from this peer.
fn may_come_from(contexts: &Contexts, pattern: &Pattern, peer: Peer) -> bool {
    match contexts.get(pattern.context) {
        Some(communicator) => communicator.may_come_from(pattern.source, peer),
        // Engines without communicators, in tests: all ranks are peers.
        None => pattern.source == ANY_SOURCE || pattern.source == peer.0 as i32,
    }
}

/// A method has lost a peer.
pub(crate) fn lost(engine: &mut Engine, peer: Peer, why: Error) {
    if engine.losses.check(peer).is_err() {
        return;
    }
    engine.counts.add(Counter::PeersDown, 1);
    engine.with_onesided(|onesided, _| onesided.lose(peer, &why));
    engine.losses.0.push((peer, why));
    engine.with_pending(peer, |pending| *pending = Pending::default());
    let released = engine.flow.forget(peer);
    engine.pending_work -= usize::from(released);
    sweep(engine);
    engine.tell_listeners();
}

/// This process has parted from a peer, in good order: what is remembered of it is forgotten, so that the two begin anew when
/// they meet again.
pub(crate) fn parted(engine: &mut Engine, peer: Peer) {
    engine.with_pending(peer, |pending| *pending = Pending::default());
    let released = engine.flow.forget(peer);
    engine.pending_work -= usize::from(released);
}

/// Whether nothing waits to leave for a peer.
pub(crate) fn is_drained(engine: &Engine, peer: Peer) -> bool {
    engine.pending.get(peer).is_none_or(Pending::is_empty)
}

/// A receive has been posted, or has met a message: it ends if only a peer that is down could end it.
#[inline]
pub(super) fn started(engine: &mut Engine, id: RequestId) {
    if !engine.losses.is_empty() {
        end_if_doomed(engine, id);
    }
}

#[cold]
fn end_if_doomed(engine: &mut Engine, id: RequestId) {
    if let Some(why) = engine.requests.get(id).and_then(|request| outcome(engine, &request.state)) {
        end(engine, id, why);
    }
}

/// Ends every request that waits for a peer that is down.
fn sweep(engine: &mut Engine) {
    let requests = engine.requests.iter();
    let doomed: Vec<(RequestId, Error)> =
        requests.filter_map(|(id, request)| Some((id, outcome(engine, &request.state)?))).collect();
    doomed.into_iter().for_each(|(id, why)| end(engine, id, why));
}

/// Why a request in this state can never end.
fn outcome(engine: &Engine, state: &State) -> Option<Error> {
    let Engine { matching, contexts, losses, .. } = engine;
    match state {
        State::SendPending { to, .. } | State::SendAsked { to, .. } | State::Sending { to, .. } => {
            losses.check(*to).err()
        }
        State::Receiving { from, .. } => losses.check(*from).err(),
        State::Exposed(exposed) => losses.check(exposed.from).err(),
        State::Posted { entry, .. } => losses.concerns(contexts, &matching.posted_pattern(*entry)?),
        State::Inactive
        | State::Staging
        | State::Schedule(_)
        | State::Composite(_)
        | State::External
        | State::Finished
        | State::Complete => None,
    }
}

fn end(engine: &mut Engine, id: RequestId, why: Error) {
    let Some(request) = engine.requests.get(id) else { return };
    if let State::Posted { entry, .. } = request.state {
        engine.matching.unpost(entry);
    }
    let status = Status { error: Some(why), bytes: 0, ..request.status.clone() };
    engine.complete(id, status);
}
