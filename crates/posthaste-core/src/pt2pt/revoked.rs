//! A communicator is revoked: everything on it that waits for another process ends with an error at all of its members, and
//! so does what they start there later.
//!
//! ```text
//!   a member         others
//!   revoke  -------> revoke, and so on: everybody tells everybody, once
//! ```
//!
//! What must stay true: if one member knows and stays alive, or has told another one that does, all that are alive come to know, whoever ends
//! in between. So each member tells all others when it first hears of it, which is one packet for each pair: nobody revokes on a path
//! that has to be fast.
//!
//! What has met its receive goes on to its end, since its sender is alive: the buffer of a send is not the user's again while the
//! receiver reads it. A send that has not met its receive is asked back as if it were cancelled (`cancel`). MPIX_Comm_revoke in the
//! proposals of the MPI forum's fault tolerance working group.

use crate::ids::{ContextId, RequestId};
use crate::method::Methods;
use crate::pt2pt::{Engine, action, agreed, cancel, flow, loss, recv};
use crate::request::State;
use crate::trace::Counter;
use crate::wire::Emit;

/// Revokes the communicator with this context here, and tells all other members; done again it does nothing.
pub fn revoke(engine: &mut Engine, methods: &mut Methods, context: ContextId) {
    let context = context.point_to_point();
    if !engine.contexts.revoke(context) {
        return;
    }
    engine.counts.add(Counter::Revoked, 1);
    engine.dooms = true;
    tell(engine, methods, context);
    engine.persistent.revoke(context, &engine.contexts.revoked(context));
    recv::give_up(engine, context);
    loss::sweep(engine, methods);
    let sends: Vec<RequestId> = engine.requests.iter().map(|(id, _)| id).collect();
    for id in sends.into_iter().filter(|id| is_sent_in_vain(engine, *id)).collect::<Vec<_>>() {
        cancel::cancel(engine, methods, id);
    }
    forget_unexpected(engine, methods);
    engine.tell_listeners();
}

/// This process belongs to a communicator from now on: others may have said something about it before.
pub fn joined(engine: &mut Engine, methods: &mut Methods, context: ContextId) {
    if engine.contexts.is_revoked(context) {
        tell(engine, methods, context.point_to_point());
    }
    agreed::joined(engine, context);
}

/// Tells the members, if this process knows them yet.
fn tell(engine: &mut Engine, methods: &mut Methods, context: ContextId) {
    let Some(members) = engine.contexts.get(context.collective()).cloned() else { return };
    let me = members.peer(members.own());
    for peer in members.group().peers().filter(|peer| Some(*peer) != me) {
        action::send_control(engine, methods, peer, Emit::revoke(context));
    }
}

/// Nobody receives what has come; what its sender waits for is asked back.
fn forget_unexpected(engine: &mut Engine, methods: &mut Methods) {
    let Engine { matching, contexts, .. } = engine;
    matching.forget(|message| message.is_over() && contexts.is_revoked(message.envelope.context));
    if engine.flow.is_throttling() {
        flow::ease(engine, methods);
    }
}

/// Whether a request sends in a context that is revoked.
fn is_sent_in_vain(engine: &Engine, id: RequestId) -> bool {
    let is_send = engine.requests.get(id).is_some_and(|request| {
        matches!(request.state, State::SendPending { .. } | State::SendAsked { .. } | State::Sending { .. })
    });
    is_send && engine.outgoing.find(id).is_some_and(|(_, sent)| engine.contexts.is_revoked(sent.context))
}
