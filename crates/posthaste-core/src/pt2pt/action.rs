//! What packet handlers ask for, and the one place that does it; also what leaves when there is room again.
//!
//! What must stay true: messages to one peer leave in the order in which they were started.

use crate::config::LongProtocol;
use crate::error::Error;
use crate::ids::{ContextId, Peer, RequestId};
use crate::method::{Drain, GrantedSend, Load, Methods, OpenReceive, Outcome, Owner, Transfer};
use crate::pt2pt::pending::Waiting;
use crate::pt2pt::protocol::Protocol;
use crate::pt2pt::{Engine, cancel, eager, flow, loss, rendezvous, revoked, send};
use crate::request::{State, Status};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Granted, Mode, RemoteMemory};

/// I/O that a handler asks for.
#[derive(Debug)]
pub enum Action {
    /// Sends a packet without message data.
    Control(Peer, Emit),
    /// Reads a long message of so many bytes where it lies, as far as there is room.
    Get(Transfer, u64),
    /// Writes one where it goes.
    Put(Transfer),
    /// Copies one out of a bounce buffer; the packet, if any, goes to its sender first.
    Drain(Drain, Option<Emit>),
    /// Opens a receive and says so to the sender's request.
    Grant(OpenReceive, RequestId),
    /// The same in fragments: what was granted before is refused.
    GrantAgain(OpenReceive, RequestId),
    /// Opens a receive for a message that begins to arrive; the packet, if any, goes to its sender.
    Open(OpenReceive, Option<Emit>),
    /// Sends a message that was granted.
    Send(GrantedSend),
    /// Throttles a peer; the envelope is that of the last one.
    Throttle(Peer, Envelope),
    /// Shows a peer messages that it throttles.
    Show(Peer),
    /// Ends what this peer may do with memory.
    Forget(Peer, Owner),
    /// Revokes the communicator with this context, as a peer has said.
    Revoke(ContextId, Peer),
    /// Ends what concerns a peer that is lost.
    Lose {
        /// The peer.
        peer: Peer,
        /// What has become of it.
        why: Error,
        /// Others have found that it is lost, and its method has not.
        may_live: bool,
    },
}

impl Action {
    /// The peer with which this begins or goes on with a long message.
    fn transfers_with(&self) -> Option<Peer> {
        match self {
            Self::Get(transfer, _) | Self::Put(transfer) => Some(transfer.peer),
            Self::Drain(drain, _) => Some(drain.from),
            Self::Grant(opened, _) | Self::GrantAgain(opened, _) | Self::Open(opened, _) => Some(opened.from),
            Self::Send(send) => Some(send.to),
            Self::Control(..)
            | Self::Throttle(..)
            | Self::Show(_)
            | Self::Forget(..)
            | Self::Revoke(..)
            | Self::Lose { .. } => None,
        }
    }
}

/// Does what was asked. Nothing begins with a peer that is lost: its request has ended or is about to, and the buffer is the
/// user's again.
pub fn perform(engine: &mut Engine, methods: &mut Methods, action: Action) {
    if let Some(peer) = action.transfers_with()
        && engine.losses.check(peer).is_err()
    {
        if let Action::Drain(drain, _) = &action {
            methods.decline(peer, drain.cursor);
        }
        return loss::sweep(engine, methods);
    }
    match action {
        Action::Control(to, emit) => send_control(engine, methods, to, emit),
        Action::Get(transfer, len) => {
            let counter = methods.get_counter(&transfer);
            engine.counts.message(counter, len);
            let started = if is_worth_reading(engine, methods, &transfer) {
                methods.get(transfer)
            } else {
                Err(transfer)
            };
            if let Err(Transfer { owner, segment, .. }) = started {
                over(engine, methods, owner, Outcome::Refused(segment));
            }
        }
        Action::Put(transfer) => {
            // It may have been offered for reading, which the receiver could not.
            methods.forget(transfer.peer, transfer.owner);
            if let Err(Transfer { owner, segment, .. }) = methods.put(transfer) {
                over(engine, methods, owner, Outcome::Refused(segment));
            }
        }
        Action::Drain(drain, first) => {
            if let Some(emit) = first {
                send_control(engine, methods, drain.from, emit);
            }
            engine.counts.message(Counter::StreamShm, drain.len);
            if let Err(Drain { receiver, segment, .. }) = methods.drain(drain) {
                over(engine, methods, Owner::Receive(receiver), Outcome::Refused(segment));
            }
        }
        Action::Grant(opened, sender) => {
            let memory = rendezvous::writable(engine, methods, &opened, sender);
            grant(engine, methods, opened, sender, memory);
        }
        Action::GrantAgain(opened, sender) => {
            methods.forget(opened.from, Owner::Receive(opened.receiver));
            grant(engine, methods, opened, sender, None);
        }
        Action::Open(opened, answer) => {
            let from = opened.from;
            methods.receive_arriving(opened);
            if let Some(emit) = answer {
                send_control(engine, methods, from, emit);
            }
        }
        Action::Send(send) => {
            methods.forget(send.to, Owner::Send(send.sender));
            methods.send_granted(send);
        }
        Action::Throttle(from, envelope) => flow::throttle(engine, methods, from, &envelope),
        Action::Show(to) => flow::show(engine, methods, to),
        Action::Forget(peer, owner) => methods.forget(peer, owner),
        Action::Revoke(context, from) => revoked::hear(engine, methods, context, Some(from)),
        Action::Lose { peer, why, may_live } => loss::lose(engine, methods, peer, why, may_live),
    }
}

/// Says to a sender how its message is to come.
fn grant(
    engine: &mut Engine,
    methods: &mut Methods,
    opened: OpenReceive,
    sender: RequestId,
    memory: Option<RemoteMemory>,
) {
    let OpenReceive { from, receiver, len, .. } = opened;
    let granted = match memory {
        Some(memory) => Granted::Memory(memory),
        None => methods.open_receive(opened),
    };
    let counter = methods.put_counter(from, granted);
    engine.counts.message(counter, len);
    send_control(engine, methods, from, Emit::ok_to_send(sender, receiver, granted));
}

/// Very short pieces come faster as packets or through a bounce buffer, unless the method copies by itself.
fn is_worth_reading(engine: &Engine, methods: &mut Methods, transfer: &Transfer) -> bool {
    let Transfer { peer, memory, segment, .. } = transfer;
    engine.config.long_protocol == LongProtocol::Get
        || matches!(memory, RemoteMemory::Shared { .. })
        || segment.contiguous_rest().is_some()
        || segment.mean_run() >= engine.config.run_limit as u64
        || methods.caps(*peer).get_any
}

/// A one-sided operation of a message was over before it began.
#[cold]
fn over(engine: &mut Engine, methods: &mut Methods, owner: Owner, outcome: Outcome) {
    if let Some(action) = rendezvous::over(engine, owner, outcome) {
        perform(engine, methods, action);
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

/// Does what handlers have left to be done. Whether there was anything.
#[cold]
pub fn perform_asked(engine: &mut Engine, methods: &mut Methods) -> bool {
    let mut busy = false;
    while let Some(asked) = engine.next_asked() {
        perform(engine, methods, asked);
        busy = true;
    }
    busy
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
        let receiver = RequestId::NONE;
        request.state = State::Sending { to, receiver, sent: true, acknowledged: false };
    } else {
        engine.complete(id, Status::EMPTY);
    }
    true
}
