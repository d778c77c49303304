//! Starting a receive, and taking it back.
//!
//! Called by `comm` and `coll`; calls `matching`, and the protocol that brought the message if it is there.
//! MPI-5.0 §3.2.4, §3.8.4.

use std::ops::ControlFlow;

use crate::datatype::{Segment, Types};
use crate::error::Result;
use crate::ids::{Peer, RequestId};
use crate::method::{Methods, Next};
use crate::pt2pt::explained::{self, Met};
use crate::pt2pt::matching::{Content, Held, Pattern};
use crate::pt2pt::{Engine, action, eager, rendezvous};
use crate::request::{Request, State, Status, complete};
use crate::wire::{Emit, Envelope, Offer, Packet, Through};

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
    let id = engine.requests.next_id()?; // before a message leaves the queue
    match engine.matching.take_held(pattern) {
        None => {
            let entry = engine.matching.post(*pattern, id);
            engine.requests.insert(Request::new(State::Posted { segment, entry }))
        }
        Some(held) => start_held(engine, methods, held, segment),
    }
}

/// As [`start`], from a peer of whom something has arrived: a short message goes straight to its receive, without
/// being filed anywhere. The messages of a window come this way when their sender is faster than their receiver.
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
) -> Result<RequestId> {
    match receive_there(engine, methods, from, pattern, &mut segment)? {
        Some(id) => Ok(id),
        None => start(engine, methods, pattern, segment),
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
    if engine.explaining.is_some() {
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
            } else if envelope.len <= segment.len() && envelope.types == Types::UNKNOWN {
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

/// A message that the fast path of a receive has taken out of its packet.
struct Short {
    status: Status,
    /// The data lies in a copy buffer.
    through: Option<Through>,
    /// The sender waits to hear of it.
    sender: Option<RequestId>,
}

/// The message of a packet, if it is short, whole, and fits; the data of an eager one is copied.
#[inline(always)]
fn take_short(packet: &Packet<'_>, pattern: &Pattern, segment: &mut Segment) -> Option<Short> {
    let (envelope, data, through, sender) = match packet {
        Packet::Eager { envelope, sender, data } => (envelope, Some(data), None, *sender),
        Packet::RequestToSend { envelope, offer: Offer::Stream { through, filled }, .. }
            if *filled == envelope.len && !envelope.synchronous =>
        {
            (envelope, None, Some(*through), None)
        }
        _ => return None,
    };
    if !pattern.fits(envelope) || envelope.len > segment.len() || envelope.types != Types::UNKNOWN {
        return None;
    }
    if let Some(data) = data {
        segment.unpack(*data);
    }
    let Envelope { source, tag, len, .. } = *envelope;
    Some(Short { status: Status { source, tag, bytes: len, cancelled: false, error: None }, through, sender })
}

/// The fast path of a collective operation's receive: takes the message straight out of its packet, if that is the
/// next one from there, short, and certain to match. Takes no request and looks at no queue.
///
/// The caller has made sure that no receive is posted and that no held message fits. `Continue`: nothing has come
/// yet; `Break(None)`: what is next from there needs the general way.
#[inline(always)]
pub fn now(
    methods: &mut Methods,
    from: Peer,
    pattern: &Pattern,
    segment: &mut Segment,
) -> ControlFlow<Option<Status>> {
    let mut short = None;
    let next = methods.take_next(from, |packet| {
        let is_plain = !matches!(packet, Packet::Eager { sender: Some(_), .. });
        short = if is_plain { take_short(packet, pattern, segment) } else { None };
        short.is_some()
    });
    if let Some(Short { status, through: Some(through), .. }) = &short {
        methods.drain_whole(from, *through, segment, status.bytes);
    }
    if next == Next::Nothing {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(short.map(|short| short.status))
    }
}

/// The fast path of a blocking receive, from one peer or from any: as [`now`], also while receives are posted that
/// want other messages, and for synchronous messages.
///
/// The caller has made sure that no held message fits.
#[inline(always)]
pub fn at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
    segment: &mut Segment,
) -> ControlFlow<Option<Status>> {
    let (mut short, mut origin) = (None, from);
    let matching = &engine.matching;
    let mut take = |packet: &Packet<'_>| {
        if let Packet::Eager { envelope, .. } | Packet::RequestToSend { envelope, .. } = packet
            && !matching.expects(envelope)
        {
            short = take_short(packet, pattern, segment);
        }
        short.is_some()
    };
    let next = match from {
        Some(from) => methods.take_next(from, take),
        None => methods.take_next_of_any(|from, packet| {
            origin = Some(from);
            take(packet)
        }),
    };
    if next == Next::Nothing {
        return ControlFlow::Continue(());
    }
    let (Some(Short { status, through, sender }), Some(origin)) = (short, origin) else {
        return ControlFlow::Break(None);
    };
    if let Some(through) = through {
        methods.drain_whole(origin, through, segment, status.bytes);
    }
    if let Some(sender) = sender {
        action::send_control(engine, methods, origin, Emit::sync_ack(sender));
    }
    ControlFlow::Break(Some(status))
}

/// Receives a message that a probe has taken out of the queue, if it came whole and fits; otherwise it comes back.
///
/// # Errors
/// The message, for [`start_held`].
pub fn held_at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    held: Held,
    segment: &mut Segment,
) -> std::result::Result<Status, Held> {
    let Envelope { source, tag, len, types, .. } = held.envelope;
    match held.content {
        Content::Eager { data, sender }
            if len <= segment.len() && types == Types::UNKNOWN && engine.explaining.is_none() =>
        {
            segment.unpack(data[..].into());
            engine.matching.recycle(data);
            if let Some(sender) = sender {
                action::send_control(engine, methods, held.from, Emit::sync_ack(sender));
            }
            Ok(Status { source, tag, bytes: len, cancelled: false, error: None })
        }
        content => Err(Held { content, ..held }),
    }
}

/// Starts to receive a message that has been taken out of the unexpected queue.
///
/// # Errors
/// When the table of requests is full.
pub fn start_held(
    engine: &mut Engine,
    methods: &mut Methods,
    held: Held,
    segment: Segment,
) -> Result<RequestId> {
    let id = match engine.requests.insert(Request::new(State::Posted { segment, entry: u32::MAX })) {
        Ok(id) => id,
        Err(full) => {
            // The message stays to be received.
            engine.matching.hold(held);
            return Err(full);
        }
    };
    let asked = match held.content {
        Content::Eager { data, sender } => {
            explained::received(engine, held.from, &held.envelope, None, Met::Unexpected);
            let action = eager::met(engine, held.from, &held.envelope, sender, data[..].into(), id);
            engine.matching.recycle(data);
            action
        }
        Content::Asked { sender, offer } => {
            explained::received(engine, held.from, &held.envelope, Some(&offer), Met::Unexpected);
            rendezvous::matched(engine, held.from, &held.envelope, sender, offer, id)
        }
    };
    if let Some(asked) = asked {
        action::perform(engine, methods, asked);
    }
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
        request.detached = true;
    }
}
