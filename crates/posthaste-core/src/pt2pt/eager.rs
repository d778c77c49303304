//! Eager: a short message in one packet.
//!
//! ```text
//!   sender                            receiver
//!   send::start  -- Eager + data -->  arrived   (match: deliver; no match: copy and hold)
//!                <-- SyncAck -------  deliver   (synchronous only)
//!   acknowledged
//! ```
//!
//! Called by `dispatch` and `recv`; calls `matching`, `request`. Does no I/O: returns an [`Action`]. MPI-5.0 §3.4.

use posthaste_os::mem::Source;

use crate::error::Error;
use crate::ids::{Peer, RequestId};
use crate::pt2pt::explained::{self, Met};
use crate::pt2pt::matching::{Content, Held};
use crate::pt2pt::{Action, Engine};
use crate::request::{State, Status, complete};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope};

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
        return deliver(engine, from, envelope, sender, data, receiver);
    }
    engine.counts.message(Counter::Unexpected, envelope.len);
    let data = engine.matching.copy_of(data);
    engine.matching.hold(Held { envelope: *envelope, from, content: Content::Eager { data, sender } });
    None
}

/// Receiver: message and receive have met.
#[inline]
pub fn deliver(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    sender: Option<RequestId>,
    data: Source<'_>,
    receiver: RequestId,
) -> Option<Action> {
    if let Some(request) = engine.requests.get_mut(receiver)
        && let State::Posted { segment, .. } = &mut request.state
    {
        let room = segment.len();
        let bytes = segment.unpack(data) as u64;
        let error = (envelope.len > room).then(|| Error::truncated(envelope.len, room));
        let status = Status { source: envelope.source, tag: envelope.tag, bytes, cancelled: false, error };
        if let Err(status) = complete::complete_plain(request, &mut engine.finished, status) {
            engine.complete(receiver, status);
        }
    }
    sender.map(|sender| Action::Control(from, Emit::sync_ack(sender)))
}

/// Sender: a synchronous message has been matched.
pub fn acknowledged(engine: &mut Engine, sender: RequestId) {
    match engine.requests.get_mut(sender).map(|request| &mut request.state) {
        Some(State::Sending { sent, acknowledged }) if !*acknowledged => {
            *acknowledged = true;
            if *sent {
                engine.complete(sender, Status::EMPTY);
            }
        }
        _ => engine.counts.add(Counter::StalePackets, 1),
    }
}
