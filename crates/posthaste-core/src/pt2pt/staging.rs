//! Messages out of device memory and into it: their data goes through memory of the engine, which a device fills and empties.
//!
//! ```text
//!   sender                                     receiver
//!   send        takes its place in the queue   receive     posted with memory of the engine
//!    . . . the device copies out . . .
//!   copied      leaves when it is its turn -->             the transfer ends
//!                                               . . . the device copies in . . .
//!                                              copied      the request ends
//! ```
//!
//! What must stay true:
//! - A message whose data is not there yet keeps its place, and nothing behind it leaves or is shown to the receiver, as if
//!   it had not been started yet. So a copy that fails concerns the sender only.
//! - Whatever ends such a request (its message, a cancellation, the loss of the peer), it ends when the device is done with
//!   its buffer: `request::complete` hands its end to this file.
//! - While a copy is under way, progress comes by and nobody sleeps.

use crate::buffer::{Copies, Direction, OwnedBuf, UserBuf};
use crate::datatype::Segment;
use crate::error::{Error, Result};
use crate::ids::{IdMap, Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, action, flow, recv};
use crate::request::{Request, State, Status, complete};
use crate::wire::Envelope;

/// Requests whose buffers are device memory.
#[derive(Debug, Default)]
pub struct Staging {
    requests: IdMap<RequestId, Staged>,
    copies: Copies,
}

/// A request whose buffer is device memory.
#[derive(Debug)]
struct Staged {
    what: What,
    /// A copy is under way.
    copying: bool,
    /// The user's buffer.
    device: Segment,
    /// Where the data is instead, unless somebody else keeps it.
    memory: Option<OwnedBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Send,
    Receive,
    /// Only a copy.
    Copy,
}

/// Memory of the engine for the packed data of a segment in device memory.
fn memory_for(device: &Segment) -> (OwnedBuf, Segment) {
    let memory = OwnedBuf::new(device.len() as usize);
    let host = device.repacked(memory.user_buf());
    (memory, host)
}

/// Replaces a segment in device memory by one in memory of the engine, for [`send`].
pub(super) fn bounce(segment: &mut Segment) -> Option<(OwnedBuf, Segment)> {
    if !segment.is_on_device() {
        return None;
    }
    let (memory, host) = memory_for(segment);
    Some((memory, std::mem::replace(segment, host)))
}

/// Starts a send whose data is copied out first.
pub(super) fn send(
    engine: &mut Engine,
    to: Peer,
    envelope: &Envelope,
    segment: Segment,
    (memory, device): (OwnedBuf, Segment),
) -> Result<Started> {
    let pending = State::SendPending { segment, to, place: u64::MAX };
    let id = engine.requests.insert(Request { staged: true, ..Request::new(pending) })?;
    engine.outgoing.note(id, to, envelope);
    let queued = engine.with_pending(to, |pending| pending.push_without_data(id, *envelope));
    if let Some(Request { state: State::SendPending { place, .. }, .. }) = engine.requests.get_mut(id) {
        *place = queued;
    }
    engine.staging.copies.start(id, Direction::Out, &runs(&device, device.len(), memory.user_buf()));
    let staged = Staged { what: What::Send, copying: true, device, memory: Some(memory) };
    engine.staging.requests.insert(id, staged);
    Ok(Started::Request(id))
}

/// Starts a receive into device memory: `start` starts it into memory of the engine.
///
/// # Errors
/// Those of `start`.
#[cold]
#[inline(never)]
pub(super) fn receive(
    engine: &mut Engine,
    device: Segment,
    start: impl FnOnce(&mut Engine, Segment) -> Result<RequestId>,
) -> Result<RequestId> {
    let (memory, host) = memory_for(&device);
    let id = start(engine, host)?;
    let is_halted = recv::is_halted(engine, id);
    let Some(request) = engine.requests.get_mut(id) else { return Ok(id) };
    if complete::is_complete(request) && !is_halted {
        if request.status.bytes == 0 {
            return Ok(id);
        }
        // Its message was there. Nobody has seen the end yet.
        request.state = State::Staging;
        engine.finished.staged.push(id);
    }
    request.staged = true;
    let staged = Staged { what: What::Receive, copying: false, device, memory: Some(memory) };
    engine.staging.requests.insert(id, staged);
    Ok(id)
}

/// Starts a copy between runs of device memory and of memory that the caller keeps until the request is over.
///
/// # Errors
/// When the table of requests is full.
pub(crate) fn copy(
    engine: &mut Engine,
    direction: Direction,
    runs: &[(usize, UserBuf, usize)],
) -> Result<RequestId> {
    let id = engine.requests.insert(Request { staged: true, ..Request::new(State::Staging) })?;
    engine.staging.copies.start(id, direction, runs);
    let staged = Staged { what: What::Copy, copying: true, device: Segment::empty(), memory: None };
    engine.staging.requests.insert(id, staged);
    Ok(id)
}

/// The first bytes of a segment in device memory, and where they are packed.
fn runs(device: &Segment, bytes: u64, packed: UserBuf) -> Vec<(usize, UserBuf, usize)> {
    let (mut runs, mut at) = (Vec::new(), 0);
    device.clone().runs(usize::MAX, bytes, &mut runs);
    let runs = runs.into_iter().map(|(address, len)| {
        at += len;
        (address, packed.offset((at - len) as isize), len)
    });
    runs.collect()
}

impl Engine {
    /// Whether a device copies, or is about to.
    #[inline]
    pub(crate) fn has_staged(&self) -> bool {
        !self.staging.copies.is_empty() || !self.finished.staged.is_empty()
    }
}

/// Looks after the copies under way, and after the ends of requests that have one before them or behind them. Returns
/// whether anything happened.
#[cold]
pub fn advance(engine: &mut Engine, methods: &mut Methods) -> bool {
    let mut busy = false;
    if !engine.staging.copies.is_empty() {
        for (id, outcome) in engine.staging.copies.take_ended() {
            copied(engine, methods, id, outcome.err());
            busy = true;
        }
    }
    for id in std::mem::take(&mut engine.finished.staged) {
        transferred(engine, id);
        busy = true;
    }
    busy
}

/// A request that has ended for the time being is not going on: its buffer is the user's again.
#[cold]
pub(super) fn forget(engine: &mut Engine, id: RequestId) {
    engine.staging.requests.remove(&id);
    if let Some(request) = engine.requests.get_mut(id) {
        request.staged = false;
    }
}

/// A copy has ended.
fn copied(engine: &mut Engine, methods: &mut Methods, id: RequestId, failed: Option<Error>) {
    let Engine { staging, requests, .. } = engine;
    let Some(staged) = staging.requests.get_mut(&id) else { return };
    staged.copying = false;
    match (staged.what, requests.get(id).map(|request| &request.state)) {
        (What::Send, Some(State::SendPending { to, place, .. })) => {
            let (to, place) = (*to, *place);
            out(engine, methods, id, (to, place), failed);
        }
        // It has ended otherwise meanwhile.
        (What::Send, Some(State::Staging)) => end(engine, id, None),
        // A peer has asked for it without having heard of it; its memory stays until that is over.
        (What::Send, _) => {}
        (What::Receive | What::Copy, _) => end(engine, id, failed),
    }
}

/// The transfer of a request is over, or it has been cancelled or failed.
fn transferred(engine: &mut Engine, id: RequestId) {
    let Engine { staging, requests, .. } = engine;
    let Staging { requests: all, copies } = staging;
    let (Some(staged), Some(request)) = (all.get_mut(&id), requests.get(id)) else { return };
    match &staged.memory {
        _ if staged.copying => {}
        Some(memory) if staged.what == What::Receive && request.status.bytes > 0 => {
            let runs = runs(&staged.device, request.status.bytes, memory.user_buf());
            copies.start(id, Direction::In, &runs);
            staged.copying = true;
        }
        _ => end(engine, id, None),
    }
}

/// Sender: the data is in host memory, or will never be.
fn out(
    engine: &mut Engine,
    methods: &mut Methods,
    id: RequestId,
    (to, place): (Peer, u64),
    failed: Option<Error>,
) {
    match failed {
        None => engine.with_pending(to, |pending| pending.data_is_there(place)),
        Some(error) => {
            engine.with_pending(to, |pending| pending.remove(place));
            end(engine, id, Some(error));
        }
    }
    flow::show(engine, methods, to);
    action::retry_towards(engine, methods, to);
}

/// The device is done with the buffer.
fn end(engine: &mut Engine, id: RequestId, failed: Option<Error>) {
    engine.staging.requests.remove(&id);
    let Some(request) = engine.requests.get_mut(id) else { return };
    request.staged = false;
    let mut status = std::mem::replace(&mut request.status, Status::EMPTY);
    if failed.is_some() {
        status.error = failed;
    }
    engine.complete(id, status);
}
