//! A message has arrived: whose is it? The one front of every receive and probe.
//!
//! ```text
//!   who looks                              at what                     function
//!   progress                               every packet, in order      arrived
//!   a call that receives, starts a         the packet that is next,    look
//!   receive, or probes                     of one peer or of any
//! ```
//!
//! Progress brings a message to the receive that was posted for it, or stores it ([`Unexpected`]) for a later one
//! ([`crate::pt2pt::recv::start_unexpected`]). A call looks where its message should arrive: its [`Policy`] says what it may
//! do there. What it leaves is progress's.
//!
//! What must stay true:
//! * A message goes to the receive that was posted first among those that it fits (MPI-5.0 §3.5), so who looks asks for
//!   those that are posted before it takes something. Unexpected messages came earlier still: the caller makes sure
//!   that none of them fits, and that no peer is throttled.
//! * A message that is stored or taken out of its packet passes through `set_aside`, the one place where ready mode is
//!   policed.

use std::ops::ControlFlow;

use posthaste_os::mem::Source;

use crate::datatype::{Segment, Types};
use crate::ids::{Peer, RequestId};
use crate::method::{Methods, Next};
use crate::pt2pt::explained::{self, Met};
use crate::pt2pt::matching::{Content, Matching, Pattern, Unexpected};
use crate::pt2pt::policy::{Policy, Posted, Wish};
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Action, Engine, action, eager, flow, ready, rendezvous};
use crate::request::Status;
use crate::trace::Counter;
use crate::wire::{BufferCursor, Emit, Envelope, Mode, Offer, Packet};

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
    Owned {
        /// The data.
        data: Vec<u8>,
        /// As above.
        sender: Option<RequestId>,
    },
    /// It begins to come. The data goes straight into the buffer of a receive that is posted, or else the method stores it.
    Begun {
        /// As above.
        sender: Option<RequestId>,
    },
    /// Its sender asks.
    Asked(Asked<'a>),
}

/// What a call finds.
#[derive(Debug)]
pub enum Found {
    /// A message: received, or heard of.
    Message(Status),
    /// A message that was taken out: to be received by [`crate::pt2pt::recv::start_unexpected`].
    Taken(Unexpected),
    /// A message that went to a receive posted before.
    Served,
    /// Something that needs the general way. It stays.
    Other,
}

/// What was done with the message of a packet. Small and without a destructor, for what is written here is read again by
/// the fast paths; what is rare goes into [`Rest`].
#[derive(Clone, Copy)]
enum Done {
    /// It stays.
    Nothing,
    Heard(About),
    Received {
        about: About,
        /// The data lies in a bounce buffer.
        cursor: Option<BufferCursor>,
        /// The sender waits to hear of it.
        sender: Option<RequestId>,
    },
    /// It was taken out, or served a posted receive.
    Rest,
}

impl Done {
    /// Whether the packet is done with.
    #[inline(always)]
    fn takes(self) -> bool {
        !matches!(self, Self::Nothing | Self::Heard(_))
    }
}

/// Source, tag and length.
#[derive(Clone, Copy)]
struct About(i32, i32, u64);

impl About {
    #[inline(always)]
    fn of(envelope: &Envelope) -> Self {
        Self(envelope.source, envelope.tag, envelope.len)
    }

    #[inline(always)]
    fn status(self) -> Status {
        let Self(source, tag, bytes) = self;
        Status { source, tag, bytes, cancelled: false, error: None }
    }
}

/// What is left of a message that was not simply received.
enum Rest {
    /// Nothing: it went to a receive posted before.
    Nothing,
    /// The same, and something is to be done for it.
    Action(Action),
    /// All of it: it was taken out.
    Taken(Unexpected),
}

/// Progress: a message has come.
#[inline(always)] // so that each caller gets the code of its own kind
pub fn arrived(engine: &mut Engine, from: Peer, envelope: &Envelope, body: Body<'_>) -> Option<Action> {
    match engine.matching.take_posted(envelope) {
        Some(receiver) => meet(engine, from, envelope, body, receiver, Met::Posted),
        None => {
            let content = body.content(&mut engine.matching)?;
            store(engine, from, envelope, content)
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
        Body::Owned { data, sender } => {
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

/// Stores a message that nobody expected.
#[inline(never)]
fn store(engine: &mut Engine, from: Peer, envelope: &Envelope, content: Content) -> Option<Action> {
    count(engine, envelope, &content);
    let message = set_aside(engine, from, envelope, content, true);
    if message.is_over() && engine.contexts.is_over(envelope.context) {
        engine.counts.add(Counter::StalePackets, 1);
        return None; // nobody receives it
    }
    engine.matching.add_unexpected(message);
    engine.tell_listeners();
    flow::stored_unexpected(engine, from, envelope)
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
) -> Unexpected {
    let error = if early { ready::check(engine, envelope) } else { None };
    Unexpected { envelope: *envelope, from, content, error }
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

    /// What is stored of it here; nothing of one that only begins.
    #[inline(always)]
    fn content(self, matching: &mut Matching) -> Option<Content> {
        Some(match self {
            Body::Whole { data, sender } => Content::Eager { data: matching.copy_of(data), sender },
            Body::Owned { data, sender } => Content::Eager { data, sender },
            Body::Begun { .. } => return None,
            Body::Asked(Asked { sender, offer, first }) => {
                Content::Asked { sender, offer, first: first.to_vec() }
            }
        })
    }
}

/// A call looks at the packet that is next, of one peer or of any. `Continue`: nothing has come yet. The caller has made
/// sure that no unexpected message fits and no peer is throttled.
#[inline(always)]
pub fn look<P: Policy>(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
    call: &mut P,
) -> ControlFlow<Found> {
    // Most messages are told by their header as a whole. No header has a wildcard.
    if let Some(from) = from
        && (matches!(P::POSTED, Posted::None) || !engine.matching.has_posted())
    {
        let (mut envelope, mut copy) = (pattern.plain(0), None);
        let taken = match call.wish() {
            Wish::Receive(into) => methods.take_plain(from, &envelope, into.len(), |data| {
                into.unpack_at(0, data);
            }),
            Wish::Take => methods.take_plain(from, &envelope, u64::MAX, |data| {
                copy = Some(engine.matching.copy_of(data));
            }),
            Wish::Hear | Wish::Explain => ControlFlow::Break(None),
        };
        match (taken, copy) {
            (ControlFlow::Continue(()), _) => return ControlFlow::Continue(()),
            (ControlFlow::Break(Some(len)), None) => {
                envelope.len = len;
                return ControlFlow::Break(Found::Message(About::of(&envelope).status()));
            }
            (ControlFlow::Break(Some(len)), Some(data)) => {
                envelope.len = len;
                let content = Content::Eager { data, sender: None };
                let message = set_aside(engine, from, &envelope, content, call.is_late());
                return ControlFlow::Break(Found::Taken(message));
            }
            (ControlFlow::Break(None), _) => {}
        }
    }
    look_closely(engine, methods, from, pattern, call)
}

/// The same of any message.
#[inline(never)]
fn look_closely<P: Policy>(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
    call: &mut P,
) -> ControlFlow<Found> {
    let (mut done, mut rest, mut origin) = (Done::Nothing, Rest::Nothing, from);
    // A closure of its own for each, so that the compiler puts it where the packet is read.
    let next = match from {
        Some(from) => methods.take_next(from, |packet| {
            done = offer(engine, from, packet, pattern, call, &mut rest);
            done.takes()
        }),
        None => methods.take_next_of_any(|from, packet| {
            origin = Some(from);
            done = offer(engine, from, packet, pattern, call, &mut rest);
            done.takes()
        }),
    };
    ControlFlow::Break(match done {
        Done::Nothing if next == Next::Nothing => return ControlFlow::Continue(()),
        Done::Nothing => Found::Other,
        Done::Heard(about) => Found::Message(about.status()),
        Done::Received { about, cursor, sender } => {
            if let (Some(cursor), Some(origin), Wish::Receive(segment)) = (cursor, origin, call.wish()) {
                methods.drain_whole(origin, cursor, segment, about.2);
            }
            if let (Some(sender), Some(origin)) = (sender, origin) {
                action::send_control(engine, methods, origin, Emit::sync_ack(sender));
            }
            Found::Message(about.status())
        }
        Done::Rest => match rest {
            Rest::Taken(message) => Found::Taken(message),
            Rest::Nothing => Found::Served,
            Rest::Action(asked) => {
                action::perform(engine, methods, asked);
                Found::Served
            }
        },
    })
}

/// Offers a packet to a call.
#[inline(always)]
fn offer<P: Policy>(
    engine: &mut Engine,
    from: Peer,
    packet: &Packet<'_>,
    pattern: &Pattern,
    call: &mut P,
    rest: &mut Rest,
) -> Done {
    // Each kind has code of its own, so that short messages come through in few instructions.
    match packet {
        Packet::Eager { envelope, sender, data } => {
            match room(engine, from, (packet, envelope), pattern, call, rest) {
                Ok(segment) if is_plain(envelope, segment) => {
                    segment.unpack_at(0, *data);
                    Done::Received { about: About::of(envelope), cursor: None, sender: *sender }
                }
                Ok(_) => Done::Nothing,
                Err(done) => done,
            }
        }
        Packet::RequestToSend { envelope, offer, .. } if P::LONG || is_early(call, envelope) => {
            match (room(engine, from, (packet, envelope), pattern, call, rest), offer) {
                (Ok(segment), Offer::Stream { cursor, filled })
                    if *filled == envelope.len && envelope.mode != Mode::Synchronous =>
                {
                    let received =
                        Done::Received { about: About::of(envelope), cursor: Some(*cursor), sender: None };
                    if is_plain(envelope, segment) { received } else { Done::Nothing }
                }
                (Ok(_), _) => take_out(engine, from, packet, call.is_late(), rest),
                (Err(done), _) => done,
            }
        }
        _ => Done::Nothing,
    }
}

/// Where the data of a message may go, if it is for this call; or what was done with it instead.
#[inline(always)]
fn room<'c, P: Policy>(
    engine: &mut Engine,
    from: Peer,
    (packet, envelope): (&Packet<'_>, &Envelope),
    pattern: &Pattern,
    call: &'c mut P,
    rest: &mut Rest,
) -> Result<&'c Segment, Done> {
    if !pattern.fits(envelope) {
        return Err(Done::Nothing);
    }
    match P::POSTED {
        Posted::None => {}
        Posted::Left if engine.matching.expects(envelope) => return Err(Done::Nothing),
        Posted::Left => {}
        Posted::Served => {
            if let Some(earlier) = engine.matching.take_posted(envelope) {
                return Err(serve(engine, from, packet, earlier, rest));
            }
        }
    }
    let (late, early) = (call.is_late(), is_early(call, envelope));
    match call.wish() {
        Wish::Hear => Err(Done::Heard(About::of(envelope))),
        Wish::Receive(segment) if !early => Ok(segment),
        Wish::Explain if !early => Err(Done::Nothing),
        Wish::Take | Wish::Receive(_) | Wish::Explain => Err(take_out(engine, from, packet, late, rest)),
    }
}

/// Whether a message in ready mode has come before the call.
#[inline(always)]
fn is_early(call: &impl Policy, envelope: &Envelope) -> bool {
    call.is_late() && envelope.mode == Mode::Ready
}

/// Whether a message needs nothing but a copy.
#[inline(always)]
fn is_plain(envelope: &Envelope, segment: &Segment) -> bool {
    envelope.len <= segment.len() && envelope.types == Types::UNKNOWN
}

/// Brings the message to a receive that was posted for it.
#[inline(always)]
fn serve(engine: &mut Engine, from: Peer, packet: &Packet<'_>, receiver: RequestId, rest: &mut Rest) -> Done {
    if let Some((envelope, body)) = Body::of(packet)
        && let Some(asked) = meet(engine, from, envelope, body, receiver, Met::Posted)
    {
        *rest = Rest::Action(asked);
    }
    Done::Rest
}

/// Takes the message out of its packet.
#[inline(never)]
fn take_out(engine: &mut Engine, from: Peer, packet: &Packet<'_>, early: bool, rest: &mut Rest) -> Done {
    let Some((envelope, body)) = Body::of(packet) else { return Done::Nothing };
    let Some(content) = body.content(&mut engine.matching) else { return Done::Nothing };
    *rest = Rest::Taken(set_aside(engine, from, envelope, content, early));
    Done::Rest
}

#[cfg(test)]
#[path = "arrival_tests.rs"]
mod tests;
