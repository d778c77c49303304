//! Eager: a short message in one packet.
//!
//! ```text
//!   sender                            receiver
//!   send::start  -- Eager + data -->  arrived   (match: met; no match: copy and hold)
//!                <-- SyncAck -------  met       (synchronous only)
//!   acknowledged
//! ```
//!
//! Called by `dispatch` and `recv`; calls `matching`, `request`. Does no I/O: returns an [`Action`]. MPI-5.0 §3.4.

use posthaste_os::mem::Source;

use crate::datatype::Format;
use crate::error::Error;
use crate::ids::{Peer, RequestId};
use crate::pt2pt::explained::{self, Met};
use crate::pt2pt::matching::{Content, Held};
use crate::pt2pt::{Action, Engine, flow, ready, types};
use crate::request::complete::Finished;
use crate::request::{State, Status, Table, complete};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Mode};

/// Receiver: a whole message has come.
#[inline]
pub fn arrived(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    sender: Option<RequestId>,
    data: Source<'_>,
) -> Option<Action> {
    if let Some(receiver) = engine.matching.take_posted(envelope) {
        explained::received(engine, from, envelope, None, Met::Posted);
        return met(engine, from, envelope, sender, data, receiver);
    }
    if envelope.mode == Mode::Ready {
        let _ = ready::came_early(engine, envelope); // its receive will hear of it
    }
    engine.counts.message(Counter::Unexpected, envelope.len);
    let data = engine.matching.copy_of(data);
    engine.matching.hold(Held { envelope: *envelope, from, content: Content::Eager { data, sender } });
    flow::kept(engine, from, envelope)
}

/// Receiver: message and receive have met; the sender may wait to hear of it.
#[inline]
pub fn met(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    sender: Option<RequestId>,
    data: Source<'_>,
    receiver: RequestId,
) -> Option<Action> {
    deliver(&mut engine.requests, &mut engine.finished, engine.format, envelope, data, receiver);
    sender.map(|sender| Action::Control(from, Emit::sync_ack(sender)))
}

/// Receiver: puts the data in its place and ends the receive.
#[inline]
pub fn deliver(
    requests: &mut Table,
    finished: &mut Finished,
    format: Format,
    envelope: &Envelope,
    data: Source<'_>,
    receiver: RequestId,
) {
    if let Some(request) = requests.get_mut(receiver)
        && let State::Posted { segment, .. } = &mut request.state
    {
        if envelope.types.canonical {
            *segment = segment.clone().canonical(format);
        }
        let room = segment.len();
        let bytes = segment.unpack(data) as u64;
        let mut error = (envelope.len > room).then(|| Error::truncated(envelope.len, room));
        if envelope.types.is_known() {
            error = error.or_else(|| types::check(envelope, segment));
        }
        let status = Status { source: envelope.source, tag: envelope.tag, bytes, cancelled: false, error };
        if let Err(status) = complete::complete_plain(request, finished, status) {
            complete::complete(requests, finished, receiver, status);
        }
    }
}

/// Sender: a synchronous message has been matched.
pub fn acknowledged(engine: &mut Engine, from: Peer, sender: RequestId) {
    match engine.requests.get_mut(sender).map(|request| &mut request.state) {
        Some(State::Sending { to, sent, acknowledged }) if *to == from && !*acknowledged => {
            *acknowledged = true;
            if *sent {
                engine.complete(sender, Status::EMPTY);
            }
        }
        _ => engine.counts.add(Counter::StalePackets, 1),
    }
}
