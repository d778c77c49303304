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
//! - A request is listed in `Finished::staged` as long as this file has something to do for it; progress comes by then.

use std::collections::HashMap;

use crate::buffer::{DeviceCopy, Direction, OwnedBuf, UserBuf};
use crate::datatype::Segment;
use crate::error::{Error, Result};
use crate::ids::{Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::send::Started;
use crate::pt2pt::{Engine, action, flow};
use crate::request::{Request, State, Status, complete};
use crate::wire::Envelope;

/// Requests whose buffers are device memory.
#[derive(Debug, Default)]
pub struct Staging(HashMap<RequestId, Staged>);

/// A request whose buffer is device memory.
#[derive(Debug)]
struct Staged {
    what: What,
    /// The copy under way.
    copy: Option<DeviceCopy>,
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
    let copy = start(Direction::Out, &device, device.len(), memory.user_buf());
    let staged = Staged { what: What::Send, copy: Some(copy), device, memory: Some(memory) };
    engine.staging.0.insert(id, staged);
    engine.finished.staged.push(id);
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
    let Some(request) = engine.requests.get_mut(id) else { return Ok(id) };
    if complete::is_complete(request) {
        if request.status.bytes == 0 {
            return Ok(id);
        }
        // Its message was there. Nobody has seen the end yet.
        request.state = State::Staging;
        engine.finished.staged.push(id);
    }
    request.staged = true;
    let staged = Staged { what: What::Receive, copy: None, device, memory: Some(memory) };
    engine.staging.0.insert(id, staged);
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
    let copy = Some(DeviceCopy::start(direction, runs));
    engine.staging.0.insert(id, Staged { what: What::Copy, copy, device: Segment::empty(), memory: None });
    engine.finished.staged.push(id);
    Ok(id)
}

/// Starts a copy between the first bytes of a segment in device memory and the same bytes packed.
fn start(direction: Direction, device: &Segment, bytes: u64, packed: UserBuf) -> DeviceCopy {
    let (mut runs, mut at) = (Vec::new(), 0);
    device.clone().runs(usize::MAX, bytes, &mut runs);
    let runs = runs.into_iter().map(|(address, len)| {
        at += len;
        (address, packed.offset((at - len) as isize), len)
    });
    DeviceCopy::start(direction, &runs.collect::<Vec<_>>())
}

/// Looks after the copies under way, and after the ends of requests that had one. Returns whether anything happened.
#[cold]
pub fn advance(engine: &mut Engine, methods: &mut Methods) -> bool {
    let mut busy = false;
    for id in std::mem::take(&mut engine.finished.staged) {
        if !step(engine, methods, id) {
            engine.finished.staged.push(id);
        } else {
            busy = true;
        }
    }
    busy
}

/// Does what there is to do for one request; false while its copy is under way.
fn step(engine: &mut Engine, methods: &mut Methods, id: RequestId) -> bool {
    let Engine { staging, requests, .. } = engine;
    let Some(staged) = staging.0.get_mut(&id) else { return true };
    let mut failed = None;
    let copied = match &staged.copy {
        Some(copy) => match copy.poll() {
            None => return false,
            Some(outcome) => {
                failed = outcome.err();
                staged.copy = None;
                true
            }
        },
        None => false,
    };
    let Some(request) = requests.get(id) else { return true };
    match (staged.what, &request.state) {
        (What::Send, State::SendPending { to, place, .. }) if copied => {
            let (to, place) = (*to, *place);
            out(engine, methods, id, (to, place), failed);
        }
        (What::Receive, State::Staging) if !copied && request.status.bytes > 0 => {
            let Some(memory) = &staged.memory else { return true };
            let copy = start(Direction::In, &staged.device, request.status.bytes, memory.user_buf());
            staged.copy = Some(copy);
            return false;
        }
        // Why a send has ended before does not change; otherwise the copy is what was asked for.
        (what, State::Staging) => end(engine, id, failed.filter(|_| what != What::Send)),
        _ => {}
    }
    true
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
    engine.staging.0.remove(&id);
    let Some(request) = engine.requests.get_mut(id) else { return };
    request.staged = false;
    let mut status = std::mem::replace(&mut request.status, Status::EMPTY);
    if failed.is_some() {
        status.error = failed;
    }
    engine.complete(id, status);
}
