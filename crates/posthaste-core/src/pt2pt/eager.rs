//! Eager: a message in one packet, without asking.
//!
//! ```text
//!   sender                            receiver
//!   send::start  -- Eager + data -->  arrival   (match: met; no match: copied and stored)
//!                <-- SyncAck -------  met       (synchronous only)
//!   acknowledged
//!
//!   longer, over a method that sends from where the data lies:
//!   in_place   -- Eager + ....        begun     (match: the data goes straight into the receive buffer, landed)
//!                  .... data --->     arrival   (no match at first: the method has stored it)
//! ```
//!
//! Does no I/O: returns an [`Action`]. MPI-5.0 §3.4.

use posthaste_os::mem::Source;

use crate::error::Error;
use crate::ids::{Peer, RequestId};
use crate::method::{Methods, Owner};
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Action, Engine, recv, rendezvous, types};
use crate::request::{State, Status, complete};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Mode, Offer};

/// Receiver: message and receive have met; the sender may wait to hear of it.
#[inline(always)]
pub(super) fn met(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    sender: Option<RequestId>,
    data: Source<'_>,
    receiver: RequestId,
) -> Option<Action> {
    deliver(engine, envelope, data, receiver);
    sender.map(|sender| Action::Control(from, Emit::sync_ack(sender)))
}

/// Receiver: puts the data in its place and ends the receive.
#[inline]
fn deliver(engine: &mut Engine, envelope: &Envelope, data: Source<'_>, receiver: RequestId) {
    let Engine { requests, finished, format, .. } = engine;
    if let Some(request) = requests.get_mut(receiver)
        && let State::Posted { segment, .. } = &mut request.state
    {
        if envelope.types.canonical {
            *segment = segment.clone().canonical(*format);
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
    } else if recv::revive(engine, receiver) {
        deliver(engine, envelope, data, receiver);
    }
}

/// Receiver: a message that begins to come has met its receive.
pub(super) fn begun(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    sender: Option<RequestId>,
    receiver: RequestId,
) -> Option<Action> {
    let nothing = (&[][..]).into();
    let asked = Asked { sender: sender.unwrap_or(RequestId::NONE), offer: Offer::Nothing, first: nothing };
    match rendezvous::matched(engine, from, envelope, asked, receiver) {
        Some(Action::Grant(opened, _)) => Some(Action::Open(opened, sender.map(Emit::sync_ack))),
        other => other,
    }
}

/// Sender: sends a message from where it lies; false while there is no room.
pub(super) fn in_place(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    id: RequestId,
    envelope: &Envelope,
) -> bool {
    let Some(request) = engine.requests.get_mut(id) else { return true };
    let waiting = std::mem::replace(&mut request.state, State::Inactive);
    let State::SendPending { segment, place, .. } = waiting else {
        request.state = waiting;
        return true;
    };
    let is_synchronous = envelope.mode == Mode::Synchronous;
    let emit = if is_synchronous { Emit::eager_synchronous(envelope, id) } else { Emit::eager(envelope) };
    match methods.send_in_place(to, &emit, Some(Owner::Send(id)), segment) {
        Err(segment) => {
            request.state = State::SendPending { segment, to, place };
            return false;
        }
        Ok(sent) => {
            request.state =
                State::Sending { to, receiver: RequestId::NONE, sent: false, acknowledged: !is_synchronous };
            if sent {
                rendezvous::sent(engine, id);
            }
        }
    }
    engine.counts.message(methods.eager_counter(to), envelope.len);
    true
}

/// Sender: a synchronous message has been matched.
pub fn acknowledged(engine: &mut Engine, from: Peer, sender: RequestId) {
    match engine.requests.get_mut(sender).map(|request| &mut request.state) {
        Some(State::Sending { to, sent, acknowledged, .. }) if *to == from && !*acknowledged => {
            *acknowledged = true;
            if *sent {
                engine.complete(sender, Status::EMPTY);
            }
        }
        _ => engine.counts.add(Counter::StalePackets, 1),
    }
}
