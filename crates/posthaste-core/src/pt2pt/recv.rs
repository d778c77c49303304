//! Starting a receive, and taking it back.
//!
//! A receive from anybody ends when somebody is lost. It may go on when the program has acknowledged that, or its message has
//! come, if its request is still there: whoever takes the end of a request asks [`is_halted`] first.
//!
//! MPI-5.0 §3.2.4, §3.8.4; for the receives that go on, the proposals of the MPI forum's fault tolerance working group.

use std::ops::ControlFlow;
use std::task::Waker;

use crate::datatype::{Segment, Types};
use crate::error::{Error, Result};
use crate::ids::{ANY_TAG, ContextId, IdMap, Peer, RequestId};
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
pub fn start(
    engine: &mut Engine,
    methods: &mut Methods,
    pattern: &Pattern,
    segment: Segment,
) -> Result<RequestId> {
    start_from(engine, methods, None, pattern, segment)
}

/// The same, from this process if that is known: then who waits for it looks there ([`posted_at_once`]).
///
/// # Errors
/// As [`start`].
#[inline(always)]
pub fn start_from(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
    segment: Segment,
) -> Result<RequestId> {
    if segment.is_on_device() {
        return staging::receive(engine, segment, |engine, host| {
            start_from(engine, methods, from, pattern, host)
        });
    }
    if engine.matching.has_unexpected() {
        return start_among_unexpected(engine, methods, from, pattern, segment);
    }
    post(engine, from, pattern, segment)
}

/// As [`start`], where unexpected messages have to be looked at first. No peer is throttled when there are none.
#[inline(never)]
fn start_among_unexpected(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
    segment: Segment,
) -> Result<RequestId> {
    engine.requests.ensure_room()?; // before a message leaves the queue
    if let Some(message) = engine.matching.take_unexpected(pattern) {
        return start_unexpected(engine, methods, message, segment);
    }
    let id = post(engine, from, pattern, segment)?;
    if engine.flow.is_throttling() {
        flow::posted(engine, methods, id);
    }
    Ok(id)
}

/// Files a receive.
#[inline(always)]
fn post(engine: &mut Engine, from: Option<Peer>, pattern: &Pattern, segment: Segment) -> Result<RequestId> {
    let id = engine.requests.next_id()?;
    let entry = engine.matching.post(*pattern, id);
    engine.requests.insert_next(Request::new(State::Posted { segment, entry, from }));
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
    segment: Segment,
) -> Result<RequestId> {
    /// Messages handed to receives posted before this one.
    const TURN: u32 = 16;
    engine.requests.ensure_room()?; // before a message leaves the ring
    let explained = engine.explaining.is_some() || segment.is_on_device();
    let mut call = Start { into: &segment, explained };
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
    start_from(engine, methods, Some(from), pattern, segment)
}

/// A call waits for a posted receive: looks for its message in the packet that is next from its process, so many times.
/// `Continue`: nothing has come. `Break`: whether this has ended the receive; if not, it is for progress.
#[inline(always)]
pub fn posted_at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    id: RequestId,
    looks: u32,
) -> ControlFlow<bool> {
    let Engine { requests, matching, finished, .. } = engine;
    let Some(request) = requests.get_mut(id) else { return ControlFlow::Break(false) };
    let State::Posted { segment, entry, from: Some(from) } = &request.state else {
        return ControlFlow::Break(false);
    };
    let (entry, wanted) = match matching.posted(*entry) {
        Some(pattern) if pattern.tag != ANY_TAG => (*entry, pattern.plain(0)),
        _ => return ControlFlow::Break(false),
    };
    if !matching.is_first(entry, &wanted) {
        return ControlFlow::Break(false);
    }
    let mut looks = (0..looks).map(|_| {
        methods.take_plain(*from, &wanted, segment.len(), |data| {
            segment.unpack_at(0, data);
        })
    });
    let bytes = match looks.find_map(ControlFlow::break_value) {
        None => return ControlFlow::Continue(()),
        Some(None) => return ControlFlow::Break(false),
        Some(Some(bytes)) => bytes,
    };
    matching.unpost(entry);
    let Envelope { source, tag, .. } = wanted;
    let status = Status { source, tag, bytes, cancelled: false, error: None };
    if let Err(status) = complete::complete_plain(request, finished, status) {
        complete::complete(requests, finished, id, status);
    }
    ControlFlow::Break(true)
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
    let id = engine.requests.insert(Request::new(State::Posted { segment, entry: u32::MAX, from: None }))?;
    meet(engine, methods, message, id);
    loss::started(engine, id);
    Ok(id)
}

/// A receive meets a message that has been taken out of the unexpected queue.
fn meet(engine: &mut Engine, methods: &mut Methods, message: Unexpected, id: RequestId) {
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
}

/// Receives from anybody that have ended because somebody is lost, by their requests: each keeps its place among those that are
/// posted, and its buffer.
#[derive(Debug, Default)]
pub(super) struct Halted(IdMap<RequestId, Halt>);

#[derive(Debug)]
struct Halt {
    pattern: Pattern,
    entry: u32,
    segment: Segment,
}

/// Ends a posted receive as long as its losses are not acknowledged, unless somebody else than the program counts on its end: a
/// handler, a task, or what it is a part of.
pub(super) fn halt(engine: &mut Engine, id: RequestId, why: &Error) -> bool {
    let Engine { requests, finished, matching, halted, .. } = engine;
    let Some(request) = requests.get_mut(id).filter(|request| complete::may_halt(request)) else {
        return false;
    };
    let State::Posted { segment, entry, .. } = &request.state else { return false };
    let (segment, entry) = (segment.clone(), *entry);
    let Some(pattern) = matching.posted_pattern(entry) else { return false };
    halted.0.insert(id, Halt { pattern, entry, segment });
    complete::halt(request, finished, Status { error: Some(why.clone()), ..Status::EMPTY });
    true
}

/// Whether a request has ended only until its losses are acknowledged, or its message comes. Whoever takes its end nevertheless
/// makes it final by [`finish`].
pub fn is_halted(engine: &Engine, id: RequestId) -> bool {
    engine.halted.0.contains_key(&id)
}

/// Its end is taken: it gives up its place.
pub fn finish(engine: &mut Engine, id: RequestId) {
    let Some(Halt { entry, .. }) = engine.halted.0.remove(&id) else { return };
    engine.matching.unpost(entry);
    staging::forget(engine, id);
}

/// A receive that has ended goes on, if it may: its message has come.
#[cold]
pub(super) fn revive(engine: &mut Engine, id: RequestId) -> bool {
    let Some(Halt { entry, segment, .. }) = engine.halted.0.remove(&id) else { return false };
    let Some(request) = engine.requests.get_mut(id) else { return false };
    (request.state, request.status) = (State::Posted { segment, entry, from: None }, Status::EMPTY);
    true
}

/// Lets those go on that nobody's loss concerns any more.
pub(super) fn resume(engine: &mut Engine, methods: &mut Methods) {
    let halted = engine.halted.0.iter();
    let free = halted.filter(|(_, halt)| engine.never_ends(&halt.pattern).is_none()).map(|(id, _)| *id);
    for id in free.collect::<Vec<_>>() {
        if revive(engine, id) && engine.flow.is_throttling() {
            flow::posted(engine, methods, id);
        }
    }
}

/// Those of a communicator that is revoked never go on.
pub(super) fn give_up(engine: &mut Engine, context: ContextId) {
    let halted = engine.halted.0.iter();
    let ended =
        halted.filter(|(_, halt)| halt.pattern.context.point_to_point() == context).map(|(id, _)| *id);
    let why = engine.contexts.revoked(context);
    for id in ended.collect::<Vec<_>>() {
        finish(engine, id);
        if let Some(request) = engine.requests.get_mut(id) {
            request.status.error = Some(why.clone());
        }
    }
}

/// Takes a posted receive back. A receive that has been matched goes on. Either way the request completes.
/// Returns false when the id names no request.
pub fn cancel(engine: &mut Engine, id: RequestId) -> bool {
    if is_halted(engine, id) {
        finish(engine, id);
        let Some(request) = engine.requests.get_mut(id) else { return false };
        request.status = Status { cancelled: true, ..Status::EMPTY };
        return true;
    }
    let Some(request) = engine.requests.get(id) else { return false };
    if let State::Posted { entry, .. } = request.state
        && engine.matching.unpost(entry).is_some()
    {
        engine.complete(id, Status { cancelled: true, ..Status::EMPTY });
    }
    true
}

/// Lets a request go without asking for its end (MPI-5.0 §3.7.3, MPI_Request_free). The waker of a task that has waited for it is not
/// to be dropped here.
pub fn detach(engine: &mut Engine, id: RequestId) -> Option<Waker> {
    finish(engine, id);
    let request = engine.requests.get_mut(id)?;
    if complete::is_complete(request) || matches!(request.state, State::Inactive) {
        engine.requests.remove(id);
        return None;
    }
    complete::forget(&mut engine.requests, &mut engine.finished, id)
}
