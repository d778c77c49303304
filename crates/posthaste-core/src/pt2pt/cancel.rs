//! Cancelling: a receive is taken out of its queue; a send is asked back from wherever its message is.
//!
//! ```text
//!   sender                                   receiver
//!   cancel     --- TakeBack (anti-send) -->  asked_back    (still unexpected: out of the queue with it)
//!   answered   <-- TakenBack yes or no ---
//! ```
//!
//! MPI-5.0 §3.8.4: the call is local; either the cancellation succeeds or the communication does, never both; the
//! request completes. An eager message in standard mode is over when it was started, so there is nothing left to
//! cancel.
//!
//! What must stay true: the question follows the message and the answer follows what the receiver did with it, on ways
//! that keep order, so the answer is never out of date. A message that has not left and that the receiver cannot ask
//! for is cancelled without a question.

use crate::buffer::UserBuf;
use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::method::Methods;
use crate::method::Owner;
use crate::pt2pt::action::send_control;
use crate::pt2pt::matching::{Content, Unexpected};
use crate::pt2pt::rendezvous::Asked;
use crate::pt2pt::{Action, Engine, recv, rendezvous};
use crate::request::{Audience, Request, State, Status};
use crate::trace::Counter;
use crate::wire::{Emit, Envelope, Mode, Offer};

/// The status of what was cancelled: by the program, or because its communicator is revoked.
pub(super) fn cancelled(engine: &Engine, id: RequestId) -> Status {
    match engine.outgoing.find(id).and_then(|(_, sent)| engine.contexts.check_revoked(sent.context).err()) {
        None => Status { cancelled: true, ..Status::EMPTY },
        revoked => Status { error: revoked, ..Status::EMPTY },
    }
}

/// Cancels a receive or a send if that is still possible, or each part of a composite request. Either way the request
/// completes.
/// Returns false when the id names no request.
pub fn cancel(engine: &mut Engine, methods: &mut Methods, id: RequestId) -> bool {
    if recv::is_halted(engine, id) {
        return recv::cancel(engine, id);
    }
    let Some(request) = engine.requests.get_mut(id) else { return false };
    let to = match request.state {
        State::Posted { .. } => return recv::cancel(engine, id),
        State::SendPending { to, place, .. } => {
            if !engine.pending.get_mut(to).is_some_and(|pending| pending.ask_back(place)) {
                withdrawn(engine, id, to, place);
                return true;
            }
            to
        }
        // It has been taken back, and only its bytes are still on their way: asked again, nobody would know of it.
        State::Sending { .. } if request.status.cancelled => return true,
        State::SendAsked { to, .. } | State::Sending { to, .. } => to,
        State::Composite(ref composite) => {
            let parts = composite.parts().to_vec();
            parts.into_iter().for_each(|part| _ = cancel(engine, methods, part));
            return true;
        }
        State::Inactive
        | State::Receiving { .. }
        | State::Exposed(_)
        | State::Staging
        | State::Schedule(_)
        | State::Agreeing(_)
        | State::External
        | State::Finished
        | State::Complete => return true,
    };
    if !std::mem::replace(&mut request.cancelling, true) {
        send_control(engine, methods, to, Emit::take_back(id));
    }
    true
}

/// Sender: a message that has not left is not going to.
pub(super) fn withdrawn(engine: &mut Engine, id: RequestId, to: Peer, place: u64) {
    engine.with_pending(to, |pending| pending.remove(place));
    engine.complete(id, cancelled(engine, id));
}

/// Receiver: the sender wants its message back.
pub(crate) fn asked_back(engine: &mut Engine, from: Peer, sender: RequestId) -> Option<Action> {
    engine.flow.forget_seen(from);
    let answer = |taken| Some(Action::Control(from, Emit::taken_back(sender, taken)));
    if engine.requests.ensure_room().is_err() {
        return answer(false);
    }
    let Some(Unexpected { envelope, content, .. }) = engine.matching.take_back(from, sender) else {
        return answer(false);
    };
    match content {
        Content::Eager { data, .. } => engine.matching.recycle(data),
        Content::Asked { offer: offer @ Offer::Stream { .. }, .. } => {
            return drained(engine, from, &envelope, sender, offer);
        }
        Content::Asked { .. } => {}
    }
    answer(true)
}

/// Receiver: what is in the bounce buffer already has to come out, so it is received into nothing.
fn drained(
    engine: &mut Engine,
    from: Peer,
    envelope: &Envelope,
    sender: RequestId,
    offer: Offer,
) -> Option<Action> {
    let segment = Segment::contiguous(UserBuf::none(), 0);
    let nowhere = Request {
        audience: Audience::Nobody,
        ..Request::new(State::Posted { segment, entry: u32::MAX, from: None })
    };
    let receiver = engine.requests.insert(nowhere).ok()?;
    let envelope = Envelope { mode: Mode::Standard, ..*envelope };
    let asked = Asked { sender, offer, first: (&[][..]).into() };
    match rendezvous::matched(engine, from, &envelope, asked, receiver) {
        Some(Action::Drain(drain, _)) => Some(Action::Drain(drain, Some(Emit::taken_back(sender, true)))),
        other => other,
    }
}

/// Sender: the receiver's answer.
pub(crate) fn answered(engine: &mut Engine, from: Peer, sender: RequestId, taken: bool) -> Option<Action> {
    let Some(request) = engine.requests.get_mut(sender).filter(|request| request.cancelling) else {
        return None; // it has been received, and the answer came late
    };
    if let State::SendPending { to, .. } | State::SendAsked { to, .. } | State::Sending { to, .. } =
        &request.state
        && *to != from
    {
        engine.counts.add(Counter::StalePackets, 1);
        return None;
    }
    match &mut request.state {
        State::SendPending { place, .. } if !taken => {
            // The receiver knew of it and did not want it.
            let place = *place;
            withdrawn(engine, sender, from, place);
        }
        State::SendAsked { .. } if taken => {
            engine.complete(sender, cancelled(engine, sender));
            return Some(Action::Forget(from, Owner::Send(sender)));
        }
        State::Sending { sent, acknowledged, .. } => {
            // What is being copied still leaves the buffer; it comes to nothing if it was taken back.
            *acknowledged |= taken;
            let over = *sent && *acknowledged;
            request.cancelling = false;
            request.status.cancelled |= taken;
            let withdrawn = request.status.cancelled;
            if over {
                let status = if withdrawn { cancelled(engine, sender) } else { Status::EMPTY };
                engine.complete(sender, status);
            }
        }
        _ => {
            request.cancelling = false;
            engine.counts.add(Counter::StalePackets, u64::from(taken));
        }
    }
    None
}
