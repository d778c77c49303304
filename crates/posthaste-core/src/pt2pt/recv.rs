//! Starting a receive, and taking it back.
//!
//! MPI-5.0 §3.2.4, §3.8.4.

use std::ops::ControlFlow;

use crate::datatype::{Segment, Types};
use crate::error::Result;
use crate::ids::{Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::arrival::{self, Body, Found};
use crate::pt2pt::explained::Met;
use crate::pt2pt::matching::{Content, Pattern, Unexpected};
use crate::pt2pt::policy::Start;
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Engine, action, flow, loss, staging};
use crate::request::{Request, State, Status, complete};
use crate::wire::{Emit, Envelope};

/// Starts a receive. The request may be complete when this returns.
///
/// # Errors
/// When the table of requests is full.
#[inline(always)]
pub fn start(
    engine: &mut Engine,
    methods: &mut Methods,
    pattern: &Pattern,
    segment: Segment,
) -> Result<RequestId> {
    if segment.is_on_device() {
        return staging::receive(engine, segment, |engine, host| start(engine, methods, pattern, host));
    }
    if engine.matching.has_unexpected() {
        return start_among_unexpected(engine, methods, pattern, segment);
    }
    post(engine, pattern, segment)
}

/// As [`start`], where unexpected messages have to be looked at first. No peer is throttled when there are none.
#[inline(never)]
fn start_among_unexpected(
    engine: &mut Engine,
    methods: &mut Methods,
    pattern: &Pattern,
    segment: Segment,
) -> Result<RequestId> {
    engine.requests.ensure_room()?; // before a message leaves the queue
    if let Some(message) = engine.matching.take_unexpected(pattern) {
        return start_unexpected(engine, methods, message, segment);
    }
    let id = post(engine, pattern, segment)?;
    if engine.flow.is_throttling() {
        flow::posted(engine, methods, id);
    }
    Ok(id)
}

/// Files a receive.
#[inline(always)]
fn post(engine: &mut Engine, pattern: &Pattern, segment: Segment) -> Result<RequestId> {
    let id = engine.requests.next_id()?;
    let entry = engine.matching.post(*pattern, id);
    engine.requests.insert_next(Request::new(State::Posted { segment, entry }));
    loss::started(engine, id);
    Ok(id)
}

/// As [`start`], from a peer of whom something has arrived: a short message goes straight to its receive, without
/// being filed anywhere; messages in front of it go to the receives that were posted for them. The messages of a window
/// come this way when their sender is faster than their receiver.
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
    /// Messages handed to receives posted before this one.
    const TURN: u32 = 16;
    engine.requests.ensure_room()?; // before a message leaves the ring
    let explained = engine.explaining.is_some() || segment.is_on_device();
    let mut call = Start { into: &mut segment, explained };
    for _ in 0..TURN {
        if engine.matching.peek_unexpected(pattern).is_some() {
            break;
        }
        match arrival::look(engine, methods, Some(from), pattern, &mut call) {
            ControlFlow::Break(Found::Message(status)) => {
                return engine.requests.insert(Request { status, ..Request::new(State::Complete) });
            }
            ControlFlow::Break(Found::Taken(message)) => {
                return start_unexpected(engine, methods, message, segment);
            }
            ControlFlow::Break(Found::Served) => {}
            ControlFlow::Break(Found::Other) | ControlFlow::Continue(()) => break,
        }
    }
    start(engine, methods, pattern, segment)
}

/// Receives a message that a probe has taken out of the queue, if it came whole and fits; otherwise it stays.
pub fn unexpected_at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    message: &mut Option<Unexpected>,
    segment: &mut Segment,
) -> Option<Status> {
    let taken = message.take_if(|message| {
        matches!(message.content, Content::Eager { .. })
            && message.envelope.len <= segment.len()
            && message.envelope.types == Types::UNKNOWN
            && message.error.is_none()
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
    if engine.flow.is_throttling() {
        flow::ease(engine, methods);
    }
    Some(Status { source, tag, bytes: len, cancelled: false, error: None })
}

/// Starts to receive a message that has been taken out of the unexpected queue. The caller makes sure of room for the
/// request before it takes the message, which cannot be put back in its place.
///
/// # Errors
/// When the table of requests is full.
pub fn start_unexpected(
    engine: &mut Engine,
    methods: &mut Methods,
    message: Unexpected,
    segment: Segment,
) -> Result<RequestId> {
    if segment.is_on_device() {
        return staging::receive(engine, segment, |engine, host| {
            start_unexpected(engine, methods, message, host)
        });
    }
    let id = engine.requests.insert(Request::new(State::Posted { segment, entry: u32::MAX }))?;
    let asked = match message.content {
        Content::Eager { data, sender } => {
            let body = Body::Whole { data: data[..].into(), sender };
            let action = arrival::meet(engine, message.from, &message.envelope, body, id, Met::Unexpected);
            engine.matching.recycle(data);
            action
        }
        Content::Asked { sender, offer, first } => {
            let body = Body::Asked(Asked { sender, offer, first: first[..].into() });
            arrival::meet(engine, message.from, &message.envelope, body, id, Met::Unexpected)
        }
    };
    if let Some(error) = message.error
        && let Some(request) = engine.requests.get_mut(id)
    {
        request.status.error.get_or_insert(error);
    }
    if let Some(asked) = asked {
        action::perform(engine, methods, asked);
    }
    if engine.flow.is_throttling() {
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
        // Of a binding without tasks: at most the waker of an event loop, which keeps none.
        drop(complete::forget(&mut engine.requests, &mut engine.finished, id));
    }
}
