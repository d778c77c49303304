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
//! that has to be fast. Those come first who are below it in a binomial tree whose root is the one that revokes, so all hear of it after
//! log2(n) packets in a row, and the rest only makes up for those that end.
//!
//! What has met its receive goes on to its end, since its sender is alive: the buffer of a send is not the user's again while the
//! receiver reads it. A send that has not met its receive is asked back as if it were cancelled (`cancel`). MPIX_Comm_revoke in the
//! proposals of the MPI forum's fault tolerance working group.

use crate::ids::{ContextId, Peer, RequestId};
use crate::method::Methods;
use crate::pt2pt::{Engine, action, agreed, cancel, flow, loss, recv};
use crate::request::State;
use crate::trace::Counter;
use crate::wire::Emit;

/// Revokes the communicator with this context here, and tells all other members; done again it does nothing.
pub fn revoke(engine: &mut Engine, methods: &mut Methods, context: ContextId) {
    hear(engine, methods, context, None);
}

/// The same; a peer may have said so.
pub(super) fn hear(engine: &mut Engine, methods: &mut Methods, context: ContextId, from: Option<Peer>) {
    let context = context.point_to_point();
    if !engine.contexts.revoke(context) {
        return;
    }
    engine.counts.add(Counter::Revoked, 1);
    engine.dooms = true;
    tell(engine, methods, context, from);
    engine.persistent.revoke(context, &engine.contexts.revoked(context));
    recv::give_up(engine, context);
    loss::sweep(engine, methods);
    let sends: Vec<RequestId> = engine.requests.iter().map(|(id, _)| id).collect();
    for id in sends.into_iter().filter(|id| is_sent_in_vain(engine, *id)).collect::<Vec<_>>() {
        cancel::cancel(engine, methods, id);
    }
    forget_unexpected(engine, methods);
    engine.tell_listeners();
    // Who sleeps in a call on a window looks again: no request of its ends.
    engine.finished.ends += 1;
}

/// This process belongs to a communicator from now on: others may have said something about it before.
pub fn joined(engine: &mut Engine, methods: &mut Methods, context: ContextId) {
    if engine.contexts.is_revoked(context) {
        tell(engine, methods, context.point_to_point(), None);
    }
    agreed::joined(engine, context);
}

/// Tells the members, if this process knows them yet.
fn tell(engine: &mut Engine, methods: &mut Methods, context: ContextId, from: Option<Peer>) {
    let Some(members) = engine.contexts.get(context.collective()).cloned() else { return };
    let rank = |peer: Peer| members.rank(peer).map(|rank| rank as u32);
    for rank in order(members.own() as u32, members.group().size(), from.and_then(rank)) {
        if let Some(peer) = members.group().peer(rank) {
            action::send_control(engine, methods, peer, Emit::revoke(context));
        }
    }
}

/// In which order a rank tells all others: first those whose distance is a power of two, the farthest first, but nobody as far as the
/// one from which it has heard it, who tells those itself.
fn order(own: u32, size: u32, from: Option<u32>) -> impl Iterator<Item = u32> {
    let heard = from.map(|from| (own + size - from) % size).filter(|far| far.is_power_of_two());
    let near = heard.unwrap_or(size);
    let below = (0..u32::BITS).rev().map(|bit| 1 << bit).filter(move |far| *far < near);
    let rest = (1..size).filter(move |far| !far.is_power_of_two() || *far >= near);
    below.chain(rest).map(move |far| (own + far) % size)
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Rounds until all have heard of it but those that are lost; in each of them everybody who knows tells one other.
    fn rounds(size: u32, revoker: u32, lost: &[u32]) -> usize {
        let mut telling = BTreeMap::from([(revoker, order(revoker, size, None))]);
        for round in 0..size as usize {
            if telling.len() + lost.len() == size as usize {
                return round;
            }
            let said: Vec<(u32, u32)> =
                telling.iter_mut().filter_map(|(from, order)| Some((*from, order.next()?))).collect();
            for (from, to) in said.into_iter().filter(|(_, to)| !lost.contains(to)) {
                telling.entry(to).or_insert_with(|| order(to, size, Some(from)));
            }
        }
        panic!("some have not heard of it")
    }

    #[test]
    fn all_hear_of_it_in_a_logarithm_of_rounds() {
        for size in [1_u32, 2, 3, 16, 100, 256, 4096] {
            let log = size.next_power_of_two().ilog2() as usize;
            for revoker in [0, 1, size / 2, size - 1].into_iter().filter(|rank| *rank < size) {
                assert_eq!(rounds(size, revoker, &[]), log, "rank {revoker} of {size}");
                // The one with most to pass on, or the first few of them.
                let partners: Vec<u32> = order(revoker, size, None).take(log).collect();
                for lost in 1..=partners.len().min(3) {
                    let took = rounds(size, revoker, &partners[..lost]);
                    assert!(took <= 4 * log, "rank {revoker} of {size}, {lost} lost: {took} rounds");
                }
            }
        }
    }

    /// Each of a million: nobody is lost, or the three that have most to pass on.
    #[test]
    fn a_million_hear_of_it_in_a_logarithm_of_rounds() {
        const SIZE: u32 = 1_000_000;
        let log = SIZE.next_power_of_two().ilog2() as usize;
        assert_eq!(rounds(SIZE, 7, &[]), log);
        let partners: Vec<u32> = order(7, SIZE, None).take(3).collect();
        let took = rounds(SIZE, 7, &partners);
        println!("a million, three lost: {took} rounds");
        assert!(took <= 4 * log, "{took} rounds");
    }

    #[test]
    fn everybody_tells_everybody_once() {
        for size in [1_u32, 2, 3, 4, 7, 8, 33] {
            for (own, from) in (0..size).flat_map(|own| (0..=size).map(move |from| (own, from))) {
                let from = Some(from).filter(|from| *from < size && *from != own);
                let mut told: Vec<u32> = order(own, size, from).collect();
                told.sort_unstable();
                assert!(
                    told.iter().copied().eq((0..size).filter(|rank| *rank != own)),
                    "{own} of {size}: {told:?}"
                );
            }
        }
    }
}
