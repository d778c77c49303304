//! Starting a receive, and taking it back.
//!
//! MPI-5.0 §3.2.4, §3.8.4.

use std::ops::ControlFlow;

use crate::datatype::{Segment, Types};
use crate::error::Result;
use crate::ids::{Peer, RequestId};
use crate::method::{Methods, Next};
use crate::pt2pt::explained::{self, Met};
use crate::pt2pt::matching::{Content, Held, Pattern};
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Engine, action, eager, flow, loss, ready, rendezvous, staging};
use crate::request::{Audience, Request, State, Status, complete};
use crate::wire::{Emit, Envelope, Mode, Offer, Packet, Through};

/// Starts a receive. The request may be complete when this returns.
///
/// # Errors
/// When the table of requests is full.
#[inline]
pub fn start(
    engine: &mut Engine,
    methods: &mut Methods,
    pattern: &Pattern,
    segment: Segment,
) -> Result<RequestId> {
    if segment.is_on_device() {
        return staging::receive(engine, segment, |engine, host| start(engine, methods, pattern, host));
    }
    let id = engine.requests.next_id()?; // before a message leaves the queue
    if engine.matching.has_held() {
        return start_among_held(engine, methods, pattern, segment);
    }
    let entry = engine.matching.post(*pattern, id);
    let id = engine.requests.insert(Request::new(State::Posted { segment, entry }))?;
    loss::started(engine, id);
    Ok(id)
}

/// As [`start`], where unexpected messages have to be looked at first. No peer is held back when there are none.
#[inline(never)]
fn start_among_held(
    engine: &mut Engine,
    methods: &mut Methods,
    pattern: &Pattern,
    segment: Segment,
) -> Result<RequestId> {
    let id = engine.requests.next_id()?;
    if let Some(held) = engine.matching.take_held(pattern) {
        return start_held(engine, methods, held, segment);
    }
    let entry = engine.matching.post(*pattern, id);
    let id = engine.requests.insert(Request::new(State::Posted { segment, entry }))?;
    if engine.flow.is_holding() {
        flow::posted(engine, methods, id);
    }
    loss::started(engine, id);
    Ok(id)
}

/// As [`start`], from a peer of whom something has arrived: a short message goes straight to its receive, without
/// being filed anywhere. The messages of a window come this way when their sender is faster than their receiver.
/// `Continue`: a message in ready mode has to be seen to have come before this receive is posted.
///
/// # Errors
/// As [`start`].
#[inline]
pub fn start_there(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Peer,
    pattern: &Pattern,
    mut segment: Segment,
) -> Result<ControlFlow<RequestId, Segment>> {
    match receive_there(engine, methods, from, pattern, &mut segment)? {
        Some(id) => Ok(ControlFlow::Break(id)),
        None if ready::is_next(methods, from) => Ok(ControlFlow::Continue(segment)),
        None => start(engine, methods, pattern, segment).map(ControlFlow::Break),
    }
}

/// Receives a message that has arrived, if it is short and no earlier one has to be received first. Messages in
/// front of it go to the receives that were posted for them.
#[inline]
fn receive_there(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Peer,
    pattern: &Pattern,
    segment: &mut Segment,
) -> Result<Option<RequestId>> {
    /// Messages handed to receives posted before this one.
    const TURN: u32 = 16;
    if engine.explaining.is_some() || segment.is_on_device() {
        return Ok(None); // every message takes the general way
    }
    let Engine { requests, matching, finished, format, .. } = engine;
    requests.ensure_room()?; // before a message leaves the ring
    let mut received = None;
    for _ in 0..TURN {
        if matching.peek_held(pattern).is_some() {
            break;
        }
        let next = methods.take_next(from, |packet| {
            let Packet::Eager { envelope, sender: None, data } = packet else { return false };
            if !pattern.fits(envelope) {
                return false;
            }
            if let Some(earlier) = matching.take_posted(envelope) {
                eager::deliver(requests, finished, *format, envelope, *data, earlier);
            } else if envelope.len <= segment.len()
                && envelope.types == Types::UNKNOWN
                && envelope.mode == Mode::Standard
            {
                segment.unpack(*data);
                received = Some((envelope.source, envelope.tag, envelope.len));
            } else {
                return false;
            }
            true
        });
        if let Some((source, tag, bytes)) = received {
            let status = Status { source, tag, bytes, cancelled: false, error: None };
            return requests.insert(Request { status, ..Request::new(State::Complete) }).map(Some);
        }
        if next != Next::Taken {
            break;
        }
    }
    Ok(None)
}

/// What a fast path finds.
#[derive(Debug)]
pub enum Found {
    /// A message, received.
    Message(Status),
    /// A long message that was asked for: to be received by [`start_held`].
    Long(Held),
    /// Something that needs the general way. It stays.
    Other,
}

/// A message that has been taken out of its packet.
enum Taken {
    /// It came whole, and eager data has been copied.
    Short {
        status: Status,
        mode: Mode,
        /// The data lies in a bounce buffer.
        through: Option<Through>,
        /// The sender waits to hear of it.
        sender: Option<RequestId>,
    },
    /// It was asked for.
    Long(Held),
}

/// Takes the message of a packet, if it fits and needs nothing but a copy, or is asked for.
#[inline(always)]
fn take(packet: &Packet<'_>, from: Peer, pattern: &Pattern, segment: &mut Segment) -> Option<Taken> {
    let (envelope, data, through, sender) = match packet {
        Packet::Eager { envelope, sender, data } => (envelope, Some(data), None, *sender),
        Packet::RequestToSend { envelope, sender, offer, first } if pattern.fits(envelope) => match offer {
            Offer::Stream { through, filled }
                if *filled == envelope.len && envelope.mode != Mode::Synchronous =>
            {
                (envelope, None, Some(*through), None)
            }
            _ => {
                let content = Content::Asked { sender: *sender, offer: *offer, first: first.to_vec() };
                return Some(Taken::Long(Held { envelope: *envelope, from, content }));
            }
        },
        _ => return None,
    };
    if !pattern.fits(envelope) || envelope.len > segment.len() || envelope.types != Types::UNKNOWN {
        return None;
    }
    if let Some(data) = data {
        segment.unpack(*data);
    }
    let Envelope { source, tag, len, mode, .. } = *envelope;
    let status = Status { source, tag, bytes: len, cancelled: false, error: None };
    Some(Taken::Short { status, mode, through, sender })
}

/// The fast path of a collective operation's receive: takes the message straight out of its packet, if that is the
/// next one from there and certain to match. Takes no request for a short one, and looks at no queue. There are no
/// synchronous messages among these.
///
/// The caller has made sure that no receive is posted that it could match and that no held message fits. `Continue`:
/// nothing has come yet.
#[inline(always)]
pub fn now(
    methods: &mut Methods,
    from: Peer,
    pattern: &Pattern,
    segment: &mut Segment,
) -> ControlFlow<Found> {
    let mut taken = None;
    let next = methods.take_next(from, |packet| {
        let is_plain = !matches!(packet, Packet::Eager { sender: Some(_), .. });
        taken = if is_plain { take(packet, from, pattern, segment) } else { None };
        taken.is_some()
    });
    match taken {
        Some(Taken::Short { status, through, .. }) => {
            if let Some(through) = through {
                methods.drain_whole(from, through, segment, status.bytes);
            }
            ControlFlow::Break(Found::Message(status))
        }
        Some(Taken::Long(held)) => ControlFlow::Break(Found::Long(held)),
        None if next == Next::Nothing => ControlFlow::Continue(()),
        None => ControlFlow::Break(Found::Other),
    }
}

/// The fast path of a blocking receive, from one peer or from any: as [`now`], also while receives are posted that
/// want other messages, and for synchronous messages. `waited`: it has looked before.
///
/// The caller has made sure that no held message fits and no peer is held back.
#[inline(always)]
pub fn at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
    segment: &mut Segment,
    waited: bool,
) -> ControlFlow<Found> {
    let (mut taken, mut origin) = (None, from);
    let matching = &engine.matching;
    let mut look = |from: Peer, packet: &Packet<'_>| {
        if let Packet::Eager { envelope, .. } | Packet::RequestToSend { envelope, .. } = packet
            && !matching.expects(envelope)
        {
            taken = take(packet, from, pattern, segment);
        }
        taken.is_some()
    };
    let next = match from {
        Some(from) => methods.take_next(from, |packet| look(from, packet)),
        None => methods.take_next_of_any(|from, packet| {
            origin = Some(from);
            look(from, packet)
        }),
    };
    let (taken, origin) = match (taken, origin) {
        (Some(taken), Some(origin)) => (taken, origin),
        _ if next == Next::Nothing => return ControlFlow::Continue(()),
        _ => return ControlFlow::Break(Found::Other),
    };
    let (mut status, mode, sender) = match taken {
        Taken::Long(held) => return ControlFlow::Break(Found::Long(held)),
        Taken::Short { status, mode, through, sender } => {
            if let Some(through) = through {
                methods.drain_whole(origin, through, segment, status.bytes);
            }
            (status, mode, sender)
        }
    };
    if let Some(sender) = sender {
        action::send_control(engine, methods, origin, Emit::sync_ack(sender));
    }
    if mode == Mode::Ready && !waited {
        let (context, types) = (pattern.context, Types::UNKNOWN);
        let Status { source, tag, bytes: len, .. } = status;
        status.error = ready::came_early(engine, &Envelope { context, source, tag, len, mode, types });
    }
    ControlFlow::Break(Found::Message(status))
}

/// Receives a message that a probe has taken out of the queue, if it came whole and fits; otherwise it stays.
pub fn held_at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    held: &mut Option<Held>,
    segment: &mut Segment,
) -> Option<Status> {
    let taken = held.take_if(|held| {
        matches!(held.content, Content::Eager { .. })
            && held.envelope.len <= segment.len()
            && held.envelope.types == Types::UNKNOWN
            && held.envelope.mode != Mode::Ready
            && engine.explaining.is_none()
            && !segment.is_on_device()
    })?;
    let Envelope { source, tag, len, .. } = taken.envelope;
    if let Content::Eager { data, sender } = taken.content {
        segment.unpack(data[..].into());
        engine.matching.recycle(data);
        if let Some(sender) = sender {
            action::send_control(engine, methods, taken.from, Emit::sync_ack(sender));
        }
    }
    if engine.flow.is_holding() {
        flow::ease(engine, methods);
    }
    Some(Status { source, tag, bytes: len, cancelled: false, error: None })
}

/// Starts to receive a message that has been taken out of the unexpected queue. The caller makes sure of room for the
/// request before it takes the message, which cannot be put back in its place.
///
/// # Errors
/// When the table of requests is full.
pub fn start_held(
    engine: &mut Engine,
    methods: &mut Methods,
    held: Held,
    segment: Segment,
) -> Result<RequestId> {
    if segment.is_on_device() {
        return staging::receive(engine, segment, |engine, host| start_held(engine, methods, held, host));
    }
    let id = engine.requests.insert(Request::new(State::Posted { segment, entry: u32::MAX }))?;
    let asked = match held.content {
        Content::Eager { data, sender } => {
            explained::received(engine, held.from, &held.envelope, None, Met::Unexpected);
            let action = eager::met(engine, held.from, &held.envelope, sender, data[..].into(), id);
            engine.matching.recycle(data);
            action
        }
        Content::Asked { sender, offer, first } => {
            explained::received(engine, held.from, &held.envelope, Some(&offer), Met::Unexpected);
            let asked = Asked { sender, offer, first: first[..].into() };
            rendezvous::matched(engine, held.from, &held.envelope, asked, id)
        }
    };
    if let Some(error) = ready::error(engine, &held.envelope)
        && let Some(request) = engine.requests.get_mut(id)
    {
        request.status.error.get_or_insert(error);
    }
    if let Some(asked) = asked {
        action::perform(engine, methods, asked);
    }
    if engine.flow.is_holding() {
        flow::ease(engine, methods);
    }
    loss::started(engine, id);
    Ok(id)
}

/// Takes a posted receive back. A receive that has been matched goes on. Either way the request completes.
/// Returns false when the id names no request.
pub fn cancel(engine: &mut Engine, id: RequestId) -> bool {
    let Some(request) = engine.requests.get(id) else { return false };
    if let State::Posted { entry, .. } = request.state
        && engine.matching.unpost(entry).is_some()
    {
        engine.complete(id, Status { cancelled: true, ..Status::EMPTY });
    }
    true
}

/// Lets a request go without asking for its end (MPI-5.0 §3.7.3, MPI_Request_free).
pub fn detach(engine: &mut Engine, id: RequestId) {
    let Some(request) = engine.requests.get_mut(id) else { return };
    if complete::is_complete(request) || matches!(request.state, State::Inactive) {
        engine.requests.remove(id);
    } else {
        request.audience = Audience::Nobody;
    }
}
