//! What packet handlers ask for, and the one place that does it; also what leaves when there is room again.
//!
//! What must stay true: messages to one peer leave in the order in which they were started.

use crate::ids::{Peer, RequestId};
use crate::method::{Expose, Get, Load, Methods, Put};
use crate::pt2pt::pending::Waiting;
use crate::pt2pt::protocol::Protocol;
use crate::pt2pt::{Engine, cancel, eager, flow, rendezvous, send};
use crate::request::{State, Status};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Mode};

/// I/O that a handler asks for.
#[derive(Debug)]
pub enum Action {
    /// Sends a packet without message data.
    Control(Peer, Emit),
    /// Brings a long message; the packet, if any, goes to its sender first.
    Get(Get, Option<Emit>),
    /// Opens a receive and says so to the sender's request.
    Grant(Expose, RequestId),
    /// Opens a receive for a message that begins to arrive; the packet, if any, goes to its sender.
    Open(Expose, Option<Emit>),
    /// Sends a message that was granted.
    Put(Put),
    /// Throttles a peer; the envelope is that of the last one.
    Throttle(Peer, Envelope),
    /// Shows a peer messages that it throttles.
    Show(Peer),
    /// Takes an offer to this peer back.
    Withdraw(Peer, RequestId),
}

impl Action {
    /// The peer with which this begins or goes on with a long message.
    fn transfers_with(&self) -> Option<Peer> {
        match self {
            Self::Get(get, _) => Some(get.from),
            Self::Grant(expose, _) | Self::Open(expose, _) => Some(expose.from),
            Self::Put(put) => Some(put.to),
            Self::Control(..) | Self::Throttle(..) | Self::Show(_) | Self::Withdraw(..) => None,
        }
    }
}

/// Does what was asked. Nothing begins with a peer that is lost: its request has ended or is about to, and the buffer is the
/// user's again.
pub fn perform(engine: &mut Engine, methods: &mut Methods, action: Action) {
    if let Some(peer) = action.transfers_with()
        && engine.losses.check(peer).is_err()
    {
        if let Action::Get(get, _) = action {
            methods.decline(peer, get.offer);
        }
        return;
    }
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
        Action::Grant(expose, sender) => {
            let Expose { from, receiver, len, .. } = expose;
            let granted = methods.expose(expose);
            let counter = methods.put_counter(from, granted);
            engine.counts.message(counter, len);
            send_control(engine, methods, from, Emit::ok_to_send(sender, receiver, granted));
        }
        Action::Open(expose, answer) => {
            let from = expose.from;
            methods.receive_arriving(expose);
            if let Some(emit) = answer {
                send_control(engine, methods, from, emit);
            }
        }
        Action::Put(put) => methods.put(put),
        Action::Throttle(from, envelope) => flow::throttle(engine, methods, from, &envelope),
        Action::Show(to) => flow::show(engine, methods, to),
        Action::Withdraw(to, sender) => methods.withdraw(to, sender),
    }
}

/// Sends a packet without message data, now or when there is room. To a peer that is down nothing is said.
pub(crate) fn send_control(engine: &mut Engine, methods: &mut Methods, to: Peer, emit: Emit) {
    if engine.losses.check(to).is_err() {
        return;
    }
    let queued =
        engine.pending_work > 0 && engine.pending.get(to).is_some_and(|pending| !pending.control.is_empty());
    if queued || !methods.send(to, &emit) {
        engine.with_pending(to, |pending| pending.control.push_back(emit));
    }
}

/// Sends what has been waiting for room, as far as there is room now. Returns whether anything left.
#[cold]
pub fn retry_pending(engine: &mut Engine, methods: &mut Methods) -> bool {
    let mut busy = false;
    let mut next = Peer(0);
    while let Some(peer) = engine.pending.next_waiting(next) {
        next = Peer(peer.0 + 1);
        busy |= engine.pending.is_waiting(peer) && retry_towards(engine, methods, peer);
    }
    busy
}

/// The same for one peer.
pub(super) fn retry_towards(engine: &mut Engine, methods: &mut Methods, to: Peer) -> bool {
    let mut busy = false;
    while let Some(emit) = engine.pending.get(to).and_then(|pending| pending.control.front()) {
        if !methods.send(to, emit) {
            return busy;
        }
        busy = true;
        engine.with_pending(to, |pending| pending.control.pop_front());
    }
    // A request to send that found its room gone is among the packets, and comes first.
    while let Some(pending) = engine.pending.get(to).filter(|pending| pending.may_send_messages())
        && let Some(Waiting { id, envelope, .. }) = pending.front()
    {
        if !leave(engine, methods, to, id, &envelope) {
            break;
        }
        busy = true;
        engine.counts.add(Counter::Pending, 1);
        // A message that was cancelled instead is gone already.
        engine.with_pending(to, |pending| {
            if pending.front().is_some_and(|front| front.id == id) {
                pending.pop();
            }
        });
    }
    busy
}

/// Sends a message whose turn it is; false while there is no room.
pub(super) fn leave(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    id: RequestId,
    envelope: &Envelope,
) -> bool {
    let Some(request) = engine.requests.get_mut(id) else { return true };
    let State::SendPending { segment, place, .. } = &mut request.state else { return true };
    if request.cancelling {
        // The receiver cannot have asked for it: what it asked before it let us go on has been done.
        let place = *place;
        cancel::withdrawn(engine, id, to, place);
        return true;
    }
    let (protocol, _) = send::proposal(&engine.config, methods, to, envelope, segment);
    match protocol {
        Protocol::Eager => {}
        Protocol::InPlace => return eager::in_place(engine, methods, to, id, envelope),
        _ => return rendezvous::ask(engine, methods, to, id, envelope, protocol),
    }
    let emit = if envelope.mode == Mode::Synchronous {
        Emit::eager_synchronous(envelope, id)
    } else {
        Emit::eager(envelope)
    };
    let len = emit.front().len() + envelope.len as usize;
    let Some(claim) = methods.claim(to, len, Load::Message) else { return false };
    claim.write(&emit, Some(segment));
    let counter = methods.eager_counter(to);
    engine.counts.message(counter, envelope.len);
    if envelope.mode == Mode::Synchronous {
        request.state = State::Sending { to, sent: true, acknowledged: false };
    } else {
        engine.complete(id, Status::EMPTY);
    }
    true
}
