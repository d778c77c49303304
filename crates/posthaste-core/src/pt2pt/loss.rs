//! A peer is down: everything under way towards or from it ends with an error that says so.
//!
//! ```text
//!   method, or others     engine
//!   PeerDown, Excluded    lose      the way is closed, what waits to leave disappears; requests end
//!   a decision            lose      the same, and the peer, which may live, is told
//!                         started   receives end that begin later and could only wait for ever
//! ```
//!
//! What must stay true: the way to a peer is closed before a request ends on account of it, so nothing that comes late is written
//! into a buffer that is the user's again. A peer that is lost by a decision may live on this host and be inside our memory: what
//! it may be reading or writing ends when it has said that it takes us for lost, too, or has ended; and what a network may be doing
//! that this process has asked, when that says so, however the peer was lost.
//!
//! What has come from the peer and nobody has received stays receivable, as far as all of it is here. A receive from
//! any source fails, too, for it may wait for the one message that will never come (MPI-5.0 §2.8 leaves to us what
//! works after a failure), until the program acknowledges the loss.

use crate::buffer::OwnedBuf;
use crate::datatype::{Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{ANY_SOURCE, ContextId, Peer, RequestId};
use crate::method::{Methods, Owner};
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::{Action, Contexts, Engine, Pending, action, agreed, recv, rendezvous};
use crate::request::{State, Status};
use crate::trace::Counter;
use crate::wire::Emit;

/// Peers that are down.
#[derive(Debug, Default)]
pub struct Losses(Vec<Lost>);

#[derive(Debug)]
struct Lost {
    peer: Peer,
    why: Error,
    /// It lives, and may be reading and writing memory of this process, or the network may on account of it.
    reaches: bool,
}

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
        self.find(peer).map_or(Ok(()), |lost| Err(lost.why.clone()))
    }

    fn find(&self, peer: Peer) -> Option<&Lost> {
        self.0.iter().find(|lost| lost.peer == peer)
    }

    /// Why nothing that this peer reads or writes goes on any more.
    fn check_reach(&self, peer: Peer) -> Option<Error> {
        self.find(peer).filter(|lost| !lost.reaches).map(|lost| lost.why.clone())
    }

    /// The members of a group that are, in the order in which they were lost.
    pub fn among<'a>(&'a self, group: &'a Group) -> impl Iterator<Item = Peer> + 'a {
        self.0.iter().map(|lost| lost.peer).filter(|down| group.rank_of(*down).is_some())
    }

    /// Why a receive with this pattern may never end.
    pub fn concerns(&self, contexts: &Contexts, pattern: &Pattern) -> Option<Error> {
        let acknowledged =
            if pattern.source == ANY_SOURCE { self.acknowledged(contexts, pattern) } else { 0 };
        let concerned = |lost: &&Lost| may_come_from(contexts, pattern, lost.peer);
        self.0.iter().skip(acknowledged).find(concerned).map(|lost| lost.why.clone())
    }

    /// How many losses, of the first ones, a receive from anybody need not look at.
    fn acknowledged(&self, contexts: &Contexts, pattern: &Pattern) -> usize {
        let count = contexts.acknowledged(pattern.context);
        let all = contexts.get(pattern.context.point_to_point().collective());
        let (Some(last), Some(all)) = (count.checked_sub(1), all) else { return 0 };
        let members = self.0.iter().zip(1..).filter(|(lost, _)| all.rank(lost.peer).is_some());
        members.map(|(_, place)| place).nth(last).unwrap_or(self.0.len())
    }
}

impl Engine {
    /// Why a receive or a probe with this pattern can never end, if it cannot.
    pub fn never_ends(&self, pattern: &Pattern) -> Option<Error> {
        let Self { contexts, losses, .. } = self;
        if contexts.is_revoked(pattern.context) {
            return Some(contexts.revoked(pattern.context));
        }
        losses.concerns(contexts, pattern)
    }

    /// The lost members of a communicator, in the order in which they were lost, and how many of them are acknowledged.
    pub fn failed(&self, context: ContextId) -> (Group, usize) {
        let all = self.contexts.get(context.point_to_point().collective());
        let failed = all.map_or_else(Vec::new, |all| self.losses.among(all.group()).collect());
        let acknowledged = self.contexts.acknowledged(context).min(failed.len());
        (Group::of(failed), acknowledged)
    }
}

/// The first `count` of [`Engine::failed`] are acknowledged, or all there are: receives from anybody do not fail on account of them
/// any more, and those that did go on. How many are acknowledged then.
pub fn acknowledge(engine: &mut Engine, methods: &mut Methods, context: ContextId, count: usize) -> usize {
    let (failed, _) = engine.failed(context);
    engine.contexts.acknowledge(context, count.min(failed.size() as usize));
    recv::resume(engine, methods);
    engine.contexts.acknowledged(context)
}

/// Whether a message that fits could come from this peer.
fn may_come_from(contexts: &Contexts, pattern: &Pattern, peer: Peer) -> bool {
    match contexts.get(pattern.context) {
        Some(communicator) => communicator.may_come_from(pattern.source, peer),
        // Engines without communicators, in tests: all ranks are peers.
        None => pattern.source == ANY_SOURCE || pattern.source == peer.0 as i32,
    }
}

/// A peer is lost. `may_live`: not because its method says so, or the peer itself.
pub(super) fn lose(engine: &mut Engine, methods: &mut Methods, peer: Peer, why: Error, may_live: bool) {
    if let Some(known) = engine.losses.0.iter_mut().find(|lost| lost.peer == peer) {
        if !may_live && known.reaches && !methods.is_moving(peer) {
            known.reaches = false;
            let why = known.why.clone();
            engine.with_onesided(|onesided, _| onesided.lose(peer, &why, false));
            sweep(engine, methods);
        }
        if !may_live && !methods.exclude(peer) {
            // It has ended: nothing waits to leave for it any more.
            engine.with_pending(peer, |pending| *pending = Pending::default());
        }
        return;
    }
    take_what_is_here(engine, methods, peer);
    engine.counts.add(Counter::PeersDown, 1);
    engine.dooms = true;
    let why = Error::lost(peer.0, &why);
    let (lives, moving) = (methods.exclude(peer), methods.is_moving(peer));
    engine.with_onesided(|onesided, _| onesided.lose(peer, &why, moving));
    engine.with_pending(peer, |pending| *pending = Pending::default());
    let released = engine.flow.forget(peer);
    engine.pending_work -= usize::from(released);
    if lives {
        action::send_control(engine, methods, peer, Emit::excluded());
    }
    // Whatever the peer does or has said, what we have asked the network for has to come back.
    let reaches = lives && may_live || moving;
    engine.losses.0.push(Lost { peer, why, reaches });
    // What the peer has only announced cannot be had any more: no receive meets it.
    engine.matching.forget_questions(peer);
    sweep(engine, methods);
    agreed::lost(engine, peer);
    engine.tell_listeners();
}

/// A peer takes this process for lost: it touches nothing of it any more, and so it is lost for this process.
#[cold]
pub(crate) fn excluded(from: Peer) -> Action {
    let text = format!("rank {} of the world takes this process for lost, as others have found", from.0);
    Action::Lose { peer: from, why: Error::other(ErrorClass::ProcAborted, text), may_live: false }
}

/// Messages that lie whole in bounce buffers are received, or stored as those in packets are: the buffers go with the peer.
fn take_what_is_here(engine: &mut Engine, methods: &mut Methods, peer: Peer) {
    for receiver in methods.end_drains(peer) {
        // The sender needs to hear nothing any more.
        let _ = rendezvous::landed(engine, receiver);
    }
    engine.matching.take_over(peer, |bounced, len| {
        let data = OwnedBuf::new(len as usize);
        let segment = Segment::new(data.user_buf(), len, &Datatype::byte());
        methods.drain_rest(peer, bounced, segment, len).then(|| data.source().to_vec())
    });
}

/// This process has parted from a peer, in good order: what is remembered of it is forgotten, so that the two begin anew when
/// they meet again.
pub(crate) fn parted(engine: &mut Engine, peer: Peer) {
    engine.with_pending(peer, |pending| *pending = Pending::default());
    engine.pending.forget(peer);
    engine.with_onesided(|onesided, _| onesided.parted(peer));
    agreed::parted(engine, peer);
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
    if engine.dooms {
        end_if_doomed(engine, id);
    }
}

#[cold]
fn end_if_doomed(engine: &mut Engine, id: RequestId) {
    if let Some(why) = engine.requests.get(id).and_then(|request| outcome(engine, &request.state)) {
        end(engine, id, why);
    }
}

/// Ends every request that waits for a peer that is down; nobody may do anything with its memory any more.
pub(super) fn sweep(engine: &mut Engine, methods: &mut Methods) {
    let requests = engine.requests.iter();
    let doomed: Vec<(RequestId, Error)> =
        requests.filter_map(|(id, request)| Some((id, outcome(engine, &request.state)?))).collect();
    for (id, why) in doomed {
        match engine.requests.get(id).map(|request| &request.state) {
            Some(State::SendAsked { to, .. } | State::Sending { to, .. }) => {
                methods.revoke(*to, Owner::Send(id))
            }
            Some(State::Exposed(exposed)) => methods.revoke(exposed.from, Owner::Receive(id)),
            _ => {}
        }
        end(engine, id, why);
    }
}

/// Why a request in this state can never end.
fn outcome(engine: &Engine, state: &State) -> Option<Error> {
    let Engine { matching, losses, .. } = engine;
    match state {
        State::SendPending { to, .. } => losses.check(*to).err(),
        State::SendAsked { to, .. } | State::Sending { to, .. } => losses.check_reach(*to),
        State::Receiving { from, .. } => losses.check_reach(*from),
        State::Exposed(exposed) => losses.check_reach(exposed.from),
        State::Posted { entry, .. } => engine.never_ends(&matching.posted_pattern(*entry)?),
        State::Inactive
        | State::Staging
        | State::Schedule(_)
        | State::Agreeing(_)
        | State::Composite(_)
        | State::External
        | State::Finished
        | State::Complete => None,
    }
}

fn end(engine: &mut Engine, id: RequestId, why: Error) {
    let Some(request) = engine.requests.get(id) else { return };
    if let State::Posted { entry, .. } = request.state {
        let pattern = engine.matching.posted_pattern(entry);
        let may_go_on =
            |pattern: &Pattern| pattern.source == ANY_SOURCE && !engine.contexts.is_revoked(pattern.context);
        if pattern.as_ref().is_some_and(may_go_on) && recv::halt(engine, id, &why) {
            return;
        }
        engine.matching.unpost(entry);
    }
    let Some(request) = engine.requests.get(id) else { return };
    let status = Status { error: Some(why), bytes: 0, ..request.status.clone() };
    engine.complete(id, status);
}
