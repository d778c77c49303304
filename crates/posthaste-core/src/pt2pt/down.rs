//! A peer is down: everything under way towards or from it ends with an error that says so.
//!
//! ```text
//!   method          engine
//!   PeerDown  --->  lost      what waits to leave disappears; requests end
//!                   sweep     so do receives that are posted later and could only wait for ever
//! ```
//!
//! What has come from the peer and nobody has received stays receivable, as far as all of it is here. A receive from
//! any source fails, too, for it may wait for the one message that will never come (MPI-5.0 §2.8 leaves to us what
//! works after a failure). Does no I/O.

use crate::error::{Error, Result};
use crate::explain::names;
use crate::ids::{ANY_SOURCE, Peer, RequestId};
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::{Engine, Pending};
use crate::request::{State, Status};
use crate::trace::Counter;

/// Peers that are down, and why.
#[derive(Debug, Default)]
pub struct Down(Vec<(Peer, Error)>);

impl Down {
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
    pub fn concerns(&self, pattern: &Pattern) -> Option<Error> {
        self.0.iter().find(|(down, _)| may_come_from(pattern, *down)).map(|(_, why)| why.clone())
    }
}

/// Whether a message that fits could come from this peer.
fn may_come_from(pattern: &Pattern, peer: Peer) -> bool {
    match names::find(pattern.context.point_to_point().0) {
        Some(communicator) if pattern.source == ANY_SOURCE => communicator.rank(peer.0).is_some(),
        Some(communicator) => communicator.peer(pattern.source) == Some(peer.0),
        None => pattern.source == ANY_SOURCE || pattern.source == peer.0 as i32,
    }
}

/// A method has lost a peer.
pub(crate) fn lost(engine: &mut Engine, peer: Peer, why: Error) {
    if engine.down.check(peer).is_err() {
        return;
    }
    engine.counts.add(Counter::PeersDown, 1);
    engine.down.0.push((peer, why));
    engine.chores += 1; // for good: progress looks after receives that are posted later
    engine.with_pending(peer, |pending| *pending = Pending::default());
    let released = engine.flow.forget(peer);
    engine.chores -= usize::from(released);
    sweep(engine);
}

/// Ends every request that waits for a peer that is down. Whether there was one.
pub(crate) fn sweep(engine: &mut Engine) -> bool {
    let Engine { requests, matching, down, .. } = engine;
    if down.is_empty() {
        return false;
    }
    let fate = |state: &State| match state {
        State::SendPending { to, .. } | State::SendAsked { to, .. } | State::Sending { to, .. } => {
            down.check(*to).err()
        }
        State::Landing { from, .. } => down.check(*from).err(),
        State::Posted { entry, .. } => down.concerns(&matching.posted_pattern(*entry)?),
        State::Inactive | State::Schedule | State::Finished | State::Complete => None,
    };
    let doomed: Vec<(RequestId, Error)> =
        requests.iter().filter_map(|(id, request)| Some((id, fate(&request.state)?))).collect();
    for (id, why) in &doomed {
        let Some(request) = engine.requests.get(*id) else { continue };
        if let State::Posted { entry, .. } = request.state {
            engine.matching.unpost(entry);
        }
        let status = Status { error: Some(why.clone()), bytes: 0, ..request.status.clone() };
        engine.complete(*id, status);
    }
    !doomed.is_empty()
}
