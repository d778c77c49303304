//! Rendezvous: long messages (and what an offer of the sender saves).
//!
//! ```text
//!   sender                                   receiver
//!   ask        -- RequestToSend + offer -->  arrival    (match now, or keep; then matched)
//!
//!   stream: the sender already copies into a buffer of the receiver, which copies out once matched
//!   sent       ======== both copy =======>   landed
//!
//!   memory: the receiver reads the message where it lies, one-sidedly
//!   finished   <---------- Fin -----------   landed
//!
//!   write: the sender writes it where it goes, one-sidedly
//!   granted    <-- OkToSend + memory -----   matched
//!   over       --------- Written -------->   written
//!
//!   pipeline: the first bytes come with the question, the next are written into windows that the receiver opens part by
//!   part, so that only a part is registered at a time, and the last come in fragments (seed 003, RDMA Pipeline)
//!   granted    <- OkToSend + windows ----    matched
//!   put        ==== parts, fragments ====>   landed
//!   sent
//!
//!   into: as write, into memory that the receiver shares with the sender, whatever was offered
//!
//!   nothing offered, the one-sided operation refused, or the receive buffer is in many pieces as well:
//!   granted    <------- OkToSend ---------   matched
//!   put        ======== fragments =======>   landed
//!   sent
//! ```
//!
//! Only `ask` does I/O, the rest returns an [`Action`]. What must stay true: the request to send, not the data, takes
//! the place in the order of messages (MPI-5.0 §3.5); a stream's buffer is given back by the receiver, always.

use posthaste_os::mem::Source;

use crate::config::LongProtocol;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass};
use crate::ids::{Peer, RequestId};
use crate::method::{Access, Drain, GrantedSend, Load, Methods, OpenReceive, Outcome, Owner, Transfer};
use crate::pt2pt::action::send_control;
use crate::pt2pt::protocol::Protocol;
use crate::pt2pt::{Action, Engine, cancel, recv, types};
use crate::request::{Exposed, State, Status};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Granted, Mode, Offer, RemoteMemory, WriteOutcome};

/// What a sender asks.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// Its request.
    pub sender: RequestId,
    /// Where the message can be had.
    pub offer: Offer,
    /// The first bytes of it.
    pub first: Source<'a>,
}

/// Sender, step 1: asks, with an offer if there is one; false while there is no room for the question.
pub(super) fn ask(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    id: RequestId,
    envelope: &Envelope,
    proposal: Protocol,
) -> bool {
    if proposal == Protocol::Pipeline {
        return ask_with_first_bytes(engine, methods, to, id, envelope);
    }
    let front = Emit::request_to_send(envelope, id, Offer::Nothing).front().len();
    // Room first: what has been offered cannot be taken back.
    if !methods.has_room(to, front, Load::Message) {
        return false;
    }
    let Some(request) = engine.requests.get_mut(id) else { return true };
    let waiting = std::mem::replace(&mut request.state, State::Inactive);
    let State::SendPending { segment, .. } = waiting else {
        request.state = waiting;
        return true;
    };
    let mut all_left = false;
    let offer = match proposal {
        Protocol::Stream => {
            let ready = envelope.mode == Mode::Ready;
            let stream = methods.offer_stream(to, id, &segment, ready).map(|(offer, whole)| {
                all_left = whole;
                offer
            });
            let is_direct = engine.config.long_protocol == LongProtocol::Auto;
            stream.or_else(|| if is_direct { instead_of_stream(methods, to, id, &segment) } else { None })
        }
        Protocol::Get => methods.expose(to, &segment, Access::Read, Owner::Send(id)).map(Offer::Memory),
        Protocol::Write => Some(Offer::Write),
        Protocol::Shared => methods.shared(to, &segment).map(Offer::Memory),
        Protocol::Eager | Protocol::InPlace | Protocol::Pipeline | Protocol::Put | Protocol::Into => None,
    };
    request.state = match offer {
        Some(Offer::Stream { .. }) => {
            let acknowledged = envelope.mode != Mode::Synchronous;
            State::Sending { to, receiver: RequestId::NONE, sent: false, acknowledged }
        }
        _ => State::SendAsked { segment, to },
    };
    // Should the room be gone after all, this goes before everything that waits: its turn had come.
    send_control(engine, methods, to, Emit::request_to_send(envelope, id, offer.unwrap_or(Offer::Nothing)));
    if all_left {
        sent(engine, id);
    }
    true
}

/// No buffer is free. Where ranks share CPUs the receiver copies directly, if it can: to wait for a buffer, or to be asked for the message,
/// each rank would have to run once more.
fn instead_of_stream(methods: &mut Methods, to: Peer, id: RequestId, segment: &Segment) -> Option<Offer> {
    let caps = methods.caps(to);
    if !(caps.oversubscribed && caps.get) {
        return None;
    }
    methods.expose(to, segment, Access::Read, Owner::Send(id)).map(Offer::Memory)
}

/// The same for a pipeline: as many bytes as an eager message could have go along.
fn ask_with_first_bytes(
    engine: &mut Engine,
    methods: &mut Methods,
    to: Peer,
    id: RequestId,
    envelope: &Envelope,
) -> bool {
    let emit = Emit::request_to_send(envelope, id, Offer::Pipeline);
    let front = emit.front().len();
    let room = methods.caps(to).packet.saturating_sub(front).min(engine.config.eager_limit);
    let first = envelope.len.min(room as u64) as usize;
    let Some(request) = engine.requests.get_mut(id) else { return true };
    let State::SendPending { segment, .. } = &mut request.state else { return true };
    let Some(claim) = methods.claim(to, front + first, Load::Message) else { return false };
    claim.write(&emit, Some(segment));
    let segment = segment.clone();
    request.state = State::SendAsked { segment, to };
    true
}

/// Receiver, step 2: message and receive have met; says how the data is to come.
pub fn matched(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    asked: Asked<'_>,
    receiver: RequestId,
) -> Option<Action> {
    let Asked { sender, offer, first } = asked;
    let request = engine.requests.get_mut(receiver)?;
    let reassembly = |room| State::Receiving {
        room,
        len: envelope.len,
        from,
        sender,
        fin: matches!(offer, Offer::Memory(_)),
    };
    let State::Posted { mut segment, .. } = std::mem::replace(&mut request.state, reassembly(0)) else {
        let goes_on = recv::revive(engine, receiver);
        return if goes_on { matched(engine, from, envelope, asked, receiver) } else { None };
    };
    if envelope.types.canonical {
        segment = segment.canonical(engine.format);
    }
    request.state = reassembly(segment.len());
    let error = if envelope.types.is_known() { types::check(envelope, &segment) } else { None };
    request.status = Status { source: envelope.source, tag: envelope.tag, error, ..Status::EMPTY };
    let len = envelope.len;
    match offer {
        Offer::Nothing if len == 0 => {
            // Nothing to bring: over on both sides.
            if let State::Receiving { fin, .. } = &mut request.state {
                *fin = true;
            }
            landed(engine, receiver)
        }
        Offer::Nothing | Offer::Write | Offer::Pipeline => {
            segment.unpack(first);
            let arrived = first.len() as u64;
            Some(Action::Grant(OpenReceive { from, offer, receiver, segment, len, arrived }, sender))
        }
        Offer::Stream { cursor, filled } => {
            // A one-sided operation or a grant shows the sender the match; a stream may end before it.
            let ack = (envelope.mode == Mode::Synchronous).then(|| Emit::sync_ack(sender));
            Some(Action::Drain(Drain { from, cursor, filled, receiver, segment, len }, ack))
        }
        Offer::Memory(memory) => {
            let (room, owner) = (len.min(segment.len()), Owner::Receive(receiver));
            Some(Action::Get(Transfer { peer: from, memory, segment, len: room, owner }, len))
        }
    }
}

/// Receiver: where the sender may write the whole message, if it may; the receive then waits for its word.
pub(super) fn writable(
    engine: &mut Engine,
    methods: &mut Methods,
    opened: &OpenReceive,
    sender: RequestId,
) -> Option<RemoteMemory> {
    let OpenReceive { from, offer, receiver, ref segment, len, .. } = *opened;
    let whole = Segment::contiguous(opened.whole()?, len);
    let memory = match methods.shared(from, &whole) {
        Some(memory) => memory,
        None if offer == Offer::Write => {
            methods.expose(from, &whole, Access::Write, Owner::Receive(receiver))?
        }
        None => return None,
    };
    let request = engine.requests.get_mut(receiver)?;
    let exposed = Exposed { segment: segment.clone(), len, from, sender };
    request.state = State::Exposed(Box::new(exposed));
    Some(memory)
}

/// A one-sided operation of a message is over.
pub fn over(engine: &mut Engine, owner: Owner, outcome: Outcome) -> Option<Action> {
    match (owner, outcome) {
        (Owner::Receive(receiver), Outcome::Done) => landed(engine, receiver),
        (Owner::Receive(receiver), Outcome::Refused(segment)) => refused(engine, receiver, segment),
        (Owner::Receive(receiver), Outcome::Unreadable) => unreadable(engine, receiver),
        (Owner::Send(sender), outcome) => wrote(engine, sender, outcome),
        (Owner::OneSided(number), outcome) => {
            engine.with_onesided(|onesided, counts| onesided.over(number, outcome, counts));
            None
        }
        (Owner::Exposed(_), _) => None,
    }
}

/// Sender: the message has been written where it goes, or cannot be; the receiver hears of it.
fn wrote(engine: &mut Engine, sender: RequestId, outcome: Outcome) -> Option<Action> {
    let request = engine.requests.get_mut(sender)?;
    let State::Sending { to, receiver, .. } = request.state else { return None };
    let outcome = match outcome {
        Outcome::Done => {
            sent(engine, sender);
            WriteOutcome::Done
        }
        // The receiver answers for both buffers.
        Outcome::Unreadable => WriteOutcome::Unreadable,
        Outcome::Refused(segment) => {
            request.state = State::SendAsked { segment, to };
            WriteOutcome::Refused
        }
    };
    Some(Action::Control(to, Emit::written(receiver, outcome)))
}

/// Receiver: the sender has written the message, or cannot.
pub fn written(
    engine: &mut Engine,
    from: Peer,
    receiver: RequestId,
    outcome: WriteOutcome,
) -> Option<Action> {
    let Some(request) = engine.requests.get_mut(receiver) else { return stale(engine) };
    let exposed = match &request.state {
        State::Exposed(exposed) if exposed.from == from => exposed,
        _ => return stale(engine),
    };
    let Exposed { len, sender, .. } = **exposed;
    let segment = exposed.segment.clone();
    request.state = State::Receiving { room: segment.len(), len, from, sender, fin: false };
    match outcome {
        WriteOutcome::Done => {
            landed(engine, receiver);
            Some(Action::Forget(from, Owner::Receive(receiver)))
        }
        WriteOutcome::Unreadable => unreadable(engine, receiver),
        WriteOutcome::Refused => {
            let offer = Offer::Nothing;
            Some(Action::GrantAgain(OpenReceive { from, offer, receiver, segment, len, arrived: 0 }, sender))
        }
    }
}

/// Receiver, last step: every byte is in place.
pub fn landed(engine: &mut Engine, receiver: RequestId) -> Option<Action> {
    let request = engine.requests.get_mut(receiver)?;
    let State::Receiving { room, len, from, sender, fin } = request.state else { return None };
    let mut status = Status { bytes: len.min(room), ..request.status.clone() };
    if len > room {
        status.error = Some(Error::truncated(len, room));
    }
    engine.complete(receiver, status);
    fin.then(|| Action::Control(from, Emit::fin(sender, false)))
}

/// Receiver: one of the buffers is no memory that can be accessed; both sides fail.
fn unreadable(engine: &mut Engine, receiver: RequestId) -> Option<Action> {
    let request = engine.requests.get_mut(receiver)?;
    let State::Receiving { len, from, sender, .. } = request.state else { return None };
    let error = no_buffer("send buffer or the receive", len);
    let status = Status { error: Some(error), ..request.status.clone() };
    engine.complete(receiver, status);
    Some(Action::Control(from, Emit::fin(sender, true)))
}

#[cold]
fn no_buffer(whose: &str, len: u64) -> Error {
    let text = format!(
        "the {whose} buffer of a message of {len} bytes cannot be accessed: it was freed, is protected, or is on a device"
    );
    Error::other(ErrorClass::Buffer, text)
}

/// Receiver: the message cannot be read where it lies; asks for fragments instead.
fn refused(engine: &mut Engine, receiver: RequestId, segment: Segment) -> Option<Action> {
    let request = engine.requests.get_mut(receiver)?;
    let State::Receiving { len, from, sender, fin, .. } = &mut request.state else { return None };
    *fin = false;
    let (from, len, offer, sender) = (*from, *len, Offer::Nothing, *sender);
    Some(Action::Grant(OpenReceive { from, offer, receiver, segment, len, arrived: 0 }, sender))
}

/// Sender: the receiver wants the message, and says how; or, without a request of its own, keeps it for a receive to come.
pub fn granted(
    engine: &mut Engine,
    from: Peer,
    sender: RequestId,
    receiver: RequestId,
    granted: Granted,
) -> Option<Action> {
    let Some(request) = engine.requests.get_mut(sender) else { return stale(engine) };
    let sending = State::Sending { to: from, receiver, sent: false, acknowledged: true };
    match std::mem::replace(&mut request.state, sending) {
        State::SendPending { segment, to, place, .. } if to == from => {
            // The receiver throttled it, and wants it now.
            if receiver == RequestId::NONE {
                request.state = State::SendAsked { segment, to };
                engine.with_pending(to, |pending| pending.remove(place));
                return None;
            }
            engine.with_pending(to, |pending| pending.remove(place));
            Some(send(to, receiver, sender, segment, granted))
        }
        State::SendAsked { segment, to } if to == from && receiver != RequestId::NONE => {
            Some(send(to, receiver, sender, segment, granted))
        }
        other => {
            request.state = other;
            stale(engine)
        }
    }
}

/// The way that was granted.
fn send(to: Peer, receiver: RequestId, sender: RequestId, segment: Segment, granted: Granted) -> Action {
    let len = segment.len();
    match granted {
        Granted::Memory(memory) => {
            Action::Put(Transfer { peer: to, memory, segment, len, owner: Owner::Send(sender) })
        }
        Granted::Fragments | Granted::Windows { .. } => {
            Action::Send(GrantedSend { to, receiver, sender, until: len, segment, granted })
        }
    }
}

#[cold]
fn stale(engine: &mut Engine) -> Option<Action> {
    engine.counts.add(Counter::StalePackets, 1);
    None
}

/// Sender: all bytes have left.
pub fn sent(engine: &mut Engine, sender: RequestId) {
    let Some(request) = engine.requests.get_mut(sender) else { return };
    if let State::Sending { sent, acknowledged, .. } = &mut request.state {
        *sent = true;
        // One that has been asked back ends with the answer: the receiver may have dropped what has left.
        if *acknowledged && (!request.cancelling || request.status.cancelled) {
            let taken_back = request.status.cancelled;
            let status = if taken_back { cancel::cancelled(engine, sender) } else { Status::EMPTY };
            engine.complete(sender, status);
        }
    }
}

/// Sender: the receiver has copied everything, or could not read the buffer. What made the buffer readable ends.
pub fn finished(engine: &mut Engine, from: Peer, sender: RequestId, unreadable: bool) -> Option<Action> {
    match engine.requests.get(sender).map(|request| &request.state) {
        Some(State::SendAsked { to, segment }) if *to == from => {
            let error = unreadable.then(|| no_buffer("send", segment.len()));
            engine.complete(sender, Status { error, ..Status::EMPTY });
            return Some(Action::Forget(from, Owner::Send(sender)));
        }
        Some(State::Sending { to, sent: false, .. }) if *to == from && unreadable => {
            let len = engine.outgoing.find(sender).map_or(0, |(_, envelope)| envelope.len);
            let error = Some(no_buffer("send or the receive", len));
            engine.complete(sender, Status { error, ..Status::EMPTY });
        }
        Some(State::SendPending { to, place, .. }) if *to == from => {
            let place = *place;
            engine.with_pending(from, |pending| pending.remove(place));
            engine.complete(sender, Status::EMPTY);
        }
        _ => engine.counts.add(Counter::StalePackets, 1),
    }
    None
}
