//! A message has arrived: whose is it? The one front of every receive and probe.
//!
//! ```text
//!   who looks                              at what                     function
//!   progress                               every packet, in order      arrived
//!   a call that receives, starts a         the packet that is next,    look
//!   receive, or probes                     of one peer or of any
//! ```
//!
//! Progress brings a message to the receive that was posted for it, or keeps it ([`Held`]) for a later one
//! ([`crate::pt2pt::recv::start_held`]). A call looks where its message should arrive: what it may do there is its
//! [`Wish`] and its [`Policy`]. What it leaves is progress's.
//!
//! What must stay true:
//! * A message goes to the receive that was posted first among those that it fits (MPI-5.0 §3.5), so who looks asks for
//!   those that are posted before it takes something. Messages that are kept came earlier still: the caller makes sure
//!   that none of them fits, and that no peer is held back.
//! * A message that is kept or taken out of its packet passes through `set_aside`, the one place where ready mode is
//!   policed.

use std::ops::ControlFlow;

use posthaste_os::mem::Source;

use crate::datatype::{Segment, Types};
use crate::ids::{Peer, RequestId};
use crate::method::{Methods, Next};
use crate::pt2pt::explained::{self, Met};
use crate::pt2pt::matching::{Content, Held, Matching, Pattern};
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Action, Engine, action, eager, flow, ready, rendezvous};
use crate::request::Status;
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Mode, Offer, Packet, Through};

/// How a message comes.
#[derive(Debug)]
pub enum Body<'a> {
    /// All of it, in its packet.
    Whole {
        /// The data.
        data: Source<'a>,
        /// The sender's request, if it waits for the match.
        sender: Option<RequestId>,
    },
    /// All of it, in memory of its own: nobody wanted it when it began to come.
    Kept {
        /// The data.
        data: Vec<u8>,
        /// As above.
        sender: Option<RequestId>,
    },
    /// It begins to come. The data goes straight into the buffer of a receive that is posted, or else the method keeps it.
    Begun {
        /// As above.
        sender: Option<RequestId>,
    },
    /// Its sender asks.
    Asked(Asked<'a>),
}

/// What a call wants of the message that is next.
#[derive(Debug)]
pub enum Wish<'a> {
    /// To hear of it; it stays where it is.
    Hear,
    /// To have it taken out, so that nobody else gets it.
    Take,
    /// To have its data put here, if it needs nothing but a copy. It is taken out if it was asked for, or came too early.
    Receive(&'a mut Segment),
}

/// What a call may do with the message that is next.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    posted: Posted,
    /// Whether it takes a message that was asked for, too, or one in a bounce buffer.
    long: bool,
    /// Whether what has arrived came before the call, so that ready mode has promised too much.
    early: bool,
    /// Whether data may be put in its place at once. Where each message is explained that is left to progress.
    at_once: bool,
}

/// What becomes of a message that a posted receive is to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Posted {
    /// There is none: the caller is certain that no receive is posted that the message could fit.
    None,
    /// It is left to progress.
    Left,
    /// It goes to that receive.
    Served,
}

impl Policy {
    /// A probe.
    pub const PROBE: Self = Self { posted: Posted::Left, long: true, early: false, at_once: false };
    /// A matched probe.
    pub const MATCHED_PROBE: Self = Self { early: true, ..Self::PROBE };
    /// The receive of a collective operation, which has posted none and shares its context with nobody.
    pub const COLLECTIVE: Self = Self { posted: Posted::None, long: true, early: false, at_once: true };

    /// A blocking receive. `waited`: it has looked before.
    #[inline(always)]
    pub const fn blocking(waited: bool) -> Self {
        Self { posted: Posted::Left, long: true, early: !waited, at_once: true }
    }

    /// The start of a receive. It serves those that were started before it, and leaves long messages alone, whose copy would
    /// keep the caller from starting something else.
    #[inline(always)]
    pub(super) const fn start(at_once: bool) -> Self {
        Self { posted: Posted::Served, long: false, early: true, at_once }
    }
}

/// What a call finds.
#[derive(Debug)]
pub enum Found {
    /// A message: received, or heard of.
    Message(Status),
    /// A message that was taken out: to be received by [`crate::pt2pt::recv::start_held`].
    Held(Held),
    /// A message that went to a receive posted before.
    Served,
    /// Something that needs the general way. It stays.
    Other,
}

/// What was done with the message of a packet.
enum Done {
    Heard(Status),
    /// Received, but for the data in a bounce buffer and the sender who waits to hear of it.
    Received(Status, Option<Through>, Option<RequestId>),
    TakenOut(Held),
    Served(Option<Action>),
}

/// Progress: a message has come.
#[inline(always)] // so that each caller gets the code of its own kind
pub fn arrived(engine: &mut Engine, from: Peer, envelope: &Envelope, body: Body<'_>) -> Option<Action> {
    match engine.matching.take_posted(envelope) {
        Some(receiver) => meet(engine, from, envelope, body, receiver, Met::Posted),
        None => {
            let content = body.content(&mut engine.matching)?;
            keep(engine, from, envelope, content)
        }
    }
}

/// Message and receive have met.
#[inline(always)]
pub(super) fn meet(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    body: Body<'_>,
    receiver: RequestId,
    met: Met,
) -> Option<Action> {
    let explain = |engine: &Engine, offer: Option<&Offer>| {
        explained::received(engine, from, envelope, offer, met);
    };
    match body {
        Body::Whole { data, sender } => {
            explain(engine, None);
            eager::met(engine, from, envelope, sender, data, receiver)
        }
        Body::Kept { data, sender } => {
            explain(engine, None);
            eager::met(engine, from, envelope, sender, data[..].into(), receiver)
        }
        Body::Begun { sender } => {
            explain(engine, None);
            eager::begun(engine, from, envelope, sender, receiver)
        }
        Body::Asked(asked) => {
            explain(engine, Some(&asked.offer));
            rendezvous::matched(engine, from, envelope, asked, receiver)
        }
    }
}

/// Keeps a message that nobody expected.
#[inline(never)]
fn keep(engine: &mut Engine, from: Peer, envelope: &Envelope, content: Content) -> Option<Action> {
    count(engine, envelope, &content);
    let held = set_aside(engine, from, envelope, content, true);
    engine.matching.hold(held);
    flow::kept(engine, from, envelope)
}

/// Counts a message that nobody expected, and the bytes that had to be copied for that.
pub(super) fn count(engine: &mut Engine, envelope: &Envelope, content: &Content) {
    match content {
        Content::Eager { .. } => engine.counts.message(Counter::Unexpected, envelope.len),
        Content::Asked { .. } => engine.counts.add(Counter::Unexpected, 1),
    }
}

/// A message that comes to its receive later. `early`: it has come before that.
#[inline(always)]
pub(super) fn set_aside(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    content: Content,
    early: bool,
) -> Held {
    let error = if early { ready::check(engine, envelope) } else { None };
    Held { envelope: *envelope, from, content, error }
}

impl<'a> Body<'a> {
    /// The message of a packet, if it has one.
    #[inline(always)]
    fn of<'p>(packet: &'p Packet<'a>) -> Option<(&'p Envelope, Self)> {
        match packet {
            Packet::Eager { envelope, sender, data } => {
                Some((envelope, Self::Whole { data: *data, sender: *sender }))
            }
            Packet::RequestToSend { envelope, sender, offer, first } => {
                Some((envelope, Self::Asked(Asked { sender: *sender, offer: *offer, first: *first })))
            }
            _ => None,
        }
    }

    /// What is kept of it here; nothing of one that only begins.
    #[inline(always)]
    fn content(self, matching: &mut Matching) -> Option<Content> {
        Some(match self {
            Body::Whole { data, sender } => Content::Eager { data: matching.copy_of(data), sender },
            Body::Kept { data, sender } => Content::Eager { data, sender },
            Body::Begun { .. } => return None,
            Body::Asked(Asked { sender, offer, first }) => {
                Content::Asked { sender, offer, first: first.to_vec() }
            }
        })
    }
}

/// A call looks at the packet that is next, of one peer or of any. `Continue`: nothing has come yet. The caller has made
/// sure that no held message fits and no peer is held back.
#[inline(always)]
pub fn look(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
    mut wish: Wish<'_>,
    policy: Policy,
) -> ControlFlow<Found> {
    let (mut done, mut origin) = (None, from);
    let mut show = |from: Peer, packet: &Packet<'_>| {
        done = offer(engine, from, packet, pattern, &mut wish, policy);
        !matches!(done, None | Some(Done::Heard(_)))
    };
    let next = match from {
        Some(from) => methods.take_next(from, |packet| show(from, packet)),
        None => methods.take_next_of_any(|from, packet| {
            origin = Some(from);
            show(from, packet)
        }),
    };
    let (done, origin) = match (done, origin) {
        (Some(done), Some(origin)) => (done, origin),
        _ if next == Next::Nothing => return ControlFlow::Continue(()),
        _ => return ControlFlow::Break(Found::Other),
    };
    ControlFlow::Break(match done {
        Done::Heard(status) => Found::Message(status),
        Done::TakenOut(held) => Found::Held(held),
        Done::Served(asked) => {
            if let Some(asked) = asked {
                action::perform(engine, methods, asked);
            }
            Found::Served
        }
        Done::Received(status, through, sender) => {
            if let (Some(through), Wish::Receive(segment)) = (through, wish) {
                methods.drain_whole(origin, through, segment, status.bytes);
            }
            if let Some(sender) = sender {
                action::send_control(engine, methods, origin, Emit::sync_ack(sender));
            }
            Found::Message(status)
        }
    })
}

/// Offers a packet to who looks at it. `None`: it stays.
#[inline(always)]
fn offer(
    engine: &mut Engine,
    from: Peer,
    packet: &Packet<'_>,
    pattern: &Pattern,
    wish: &mut Wish<'_>,
    policy: Policy,
) -> Option<Done> {
    let (envelope, body) = Body::of(packet)?;
    let early = policy.early && envelope.mode == Mode::Ready;
    if !pattern.fits(envelope) || (matches!(body, Body::Asked(_)) && !policy.long && !early) {
        return None;
    }
    match policy.posted {
        Posted::None => {}
        Posted::Left if engine.matching.expects(envelope) => return None,
        Posted::Left => {}
        Posted::Served => {
            if let Some(earlier) = engine.matching.take_posted(envelope) {
                return Some(Done::Served(meet(engine, from, envelope, body, earlier, Met::Posted)));
            }
        }
    }
    let Envelope { source, tag, len, .. } = *envelope;
    let status = Status { source, tag, bytes: len, cancelled: false, error: None };
    let segment = match wish {
        Wish::Hear => return Some(Done::Heard(status)),
        Wish::Receive(_) if !early && !policy.at_once => return None,
        Wish::Receive(segment) if !early => segment,
        Wish::Take | Wish::Receive(_) => return take_out(engine, from, packet, policy.early),
    };
    let (data, through, sender) = match body {
        Body::Whole { data, sender } => (Some(data), None, sender),
        Body::Asked(Asked { offer: Offer::Stream { through, filled }, .. })
            if filled == len && envelope.mode != Mode::Synchronous =>
        {
            (None, Some(through), None)
        }
        _ => return take_out(engine, from, packet, policy.early),
    };
    if len > segment.len() || envelope.types != Types::UNKNOWN {
        return None;
    }
    if let Some(data) = data {
        segment.unpack(data);
    }
    Some(Done::Received(status, through, sender))
}

#[inline(never)]
fn take_out(engine: &mut Engine, from: Peer, packet: &Packet<'_>, early: bool) -> Option<Done> {
    let (envelope, body) = Body::of(packet)?;
    let content = body.content(&mut engine.matching)?;
    Some(Done::TakenOut(set_aside(engine, from, envelope, content, early)))
}

#[cfg(test)]
#[path = "arrival_tests.rs"]
mod tests;
