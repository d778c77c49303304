//! Looking at a message before receiving it.
//!
//! MPI-5.0 §3.8.

use std::ops::ControlFlow;

use crate::ids::Peer;
use crate::method::{Methods, Next};
use crate::pt2pt::matching::{Content, Held, Pattern};
use crate::pt2pt::{Engine, flow};
use crate::request::Status;
use crate::trace::Counter;
use crate::wire::{Envelope, Mode, Packet};

/// The message that a receive with this pattern would get, if one has arrived.
pub fn probe(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Status> {
    match engine.matching.peek_held(pattern) {
        Some(held) => Some(status(held)),
        None if engine.flow.is_holding() => flow::probe(engine, methods, pattern).map(|found| told(&found)),
        None => None,
    }
}

/// Takes that message out of the queue, so that only the caller can receive it (MPI_Improbe).
pub fn take(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Held> {
    match engine.matching.take_held(pattern) {
        None if engine.flow.is_holding() => flow::take(engine, methods, pattern),
        held => held,
    }
}

/// What a probe tells of a held message.
pub fn status(held: &Held) -> Status {
    told(&held.envelope)
}

fn told(envelope: &Envelope) -> Status {
    Status { source: envelope.source, tag: envelope.tag, bytes: envelope.len, ..Status::EMPTY }
}

/// The fast path of a probe: looks at what is next from one peer or from any, and leaves it there for the receive.
///
/// The caller has made sure that no held message fits. `Continue`: nothing has come yet; `Break(None)`: what is next
/// needs the general way.
#[inline]
pub fn at_once(
    engine: &Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
) -> ControlFlow<Option<Status>> {
    let mut found = None;
    let mut look = |packet: &Packet<'_>| {
        if let Packet::Eager { envelope, .. } | Packet::RequestToSend { envelope, .. } = packet
            && pattern.fits(envelope)
            && !engine.matching.expects(envelope)
        {
            found = Some(told(envelope));
        }
        false
    };
    let next = match from {
        Some(from) => methods.take_next(from, look),
        None => methods.take_next_of_any(|_, packet| look(packet)),
    };
    if next == Next::Nothing { ControlFlow::Continue(()) } else { ControlFlow::Break(found) }
}

/// The fast path of a matched probe: as [`at_once`], and takes the message if it came whole.
#[inline]
pub fn take_at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
) -> ControlFlow<Option<Held>> {
    let mut found = None;
    let matching = &mut engine.matching;
    let mut take = |from: Peer, packet: &Packet<'_>| {
        if let Packet::Eager { envelope, sender, data } = packet
            && pattern.fits(envelope)
            && envelope.mode != Mode::Ready
            && !matching.expects(envelope)
        {
            let content = Content::Eager { data: matching.copy_of(*data), sender: *sender };
            found = Some(Held { envelope: *envelope, from, content });
        }
        found.is_some()
    };
    let next = match from {
        Some(from) => methods.take_next(from, |packet| take(from, packet)),
        None => methods.take_next_of_any(take),
    };
    if let Some(held) = &found {
        engine.counts.message(Counter::Unexpected, held.envelope.len);
    }
    if next == Next::Nothing { ControlFlow::Continue(()) } else { ControlFlow::Break(found) }
}
