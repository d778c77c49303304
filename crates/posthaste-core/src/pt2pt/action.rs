//! What packet handlers ask for, and the one place that does it; also the queue of what found no room.
//!
//! Called by `progress` after each poll and by `recv` for messages that were there already; calls `method`.
//! What must stay true: packets to one peer leave in the order in which they were asked for.

use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::method::{Get, Methods, Put};
use crate::pt2pt::{Engine, Pending};
use crate::request::{State, Status};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope};

/// I/O that a handler asks for.
#[derive(Debug)]
pub enum Action {
    /// Sends a packet without message data.
    Control(Peer, Emit),
    /// Brings a long message; the packet, if any, goes to its sender first.
    Get(Get, Option<Emit>),
    /// Opens a receive for fragments and says so.
    Grant {
        /// The sender.
        from: Peer,
        /// Its request.
        sender: RequestId,
        /// The receive.
        receiver: RequestId,
        /// Where the message goes.
        segment: Segment,
        /// Length of the message.
        len: u64,
        /// Where the sender may copy the message to itself.
        memory: Option<u64>,
    },
    /// Sends a message that was granted.
    Put(Put),
}

/// Does what was asked.
pub fn perform(engine: &mut Engine, methods: &mut Methods, action: Action) {
    match action {
        Action::Control(to, emit) => send_control(engine, methods, to, emit),
        Action::Get(get, first) => {
            if let Some(emit) = first {
                send_control(engine, methods, get.from, emit);
            }
            let counter = methods.get_counter(&get);
            engine.counts.message(counter, get.len);
            methods.get(get);
        }
        Action::Grant { from, sender, receiver, segment, len, memory } => {
            let counter = if memory.is_some() { Counter::WriteShm } else { Counter::PutShm };
            engine.counts.message(counter, len);
            methods.expose(from, receiver, segment, len);
            send_control(engine, methods, from, Emit::ok_to_send(sender, receiver, memory));
        }
        Action::Put(put) => methods.put(put),
    }
}

/// Sends a packet without message data, now or when there is room.
pub(crate) fn send_control(engine: &mut Engine, methods: &mut Methods, to: Peer, emit: Emit) {
    if !(engine.way_is_free(to) && methods.send(to, &emit)) {
        engine.push_pending(to, Pending::Control(emit));
    }
}

/// Sends what has been waiting for room, as far as there is room now. Returns whether anything left.
#[cold]
pub fn retry_pending(engine: &mut Engine, methods: &mut Methods) -> bool {
    let mut busy = false;
    for peer in 0..engine.pending.len() {
        let to = Peer(peer as u32);
        while let Some(pending) = engine.pending[peer].front() {
            let left = match pending {
                Pending::Control(emit) => methods.send(to, emit),
                Pending::Eager(id, envelope) => {
                    let (id, envelope) = (*id, *envelope);
                    let left = send_eager(engine, methods, to, id, &envelope);
                    engine.counts.add(Counter::Pending, u64::from(left));
                    left
                }
            };
            if !left {
                break;
            }
            busy = true;
            engine.pending[peer].pop_front();
            engine.pending_peers -= usize::from(engine.pending[peer].is_empty());
        }
    }
    busy
}

/// Sends the eager message of a request; false while there is no room.
pub(crate) fn send_eager(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    id: RequestId,
    envelope: &Envelope,
) -> bool {
    let Some(request) = engine.requests.get_mut(id) else { return true };
    let State::SendPending { segment } = &mut request.state else { return true };
    let emit =
        if envelope.synchronous { Emit::eager_synchronous(envelope, id) } else { Emit::eager(envelope) };
    let Some(claim) = methods.claim(to, emit.front().len() + envelope.len as usize) else { return false };
    claim.write(&emit, Some(segment));
    let counter = methods.eager_counter(to);
    engine.counts.message(counter, envelope.len);
    if envelope.synchronous {
        request.state = State::Sending { sent: true, acknowledged: false };
    } else {
        engine.complete(id, Status::EMPTY);
    }
    true
}
