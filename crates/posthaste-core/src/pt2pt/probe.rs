//! Looking at a message before receiving it.
//!
//! MPI-5.0 §3.8.

use std::ops::ControlFlow;

use crate::ids::Peer;
use crate::method::Methods;
use crate::pt2pt::arrival::{self, Found};
use crate::pt2pt::matching::{Held, Pattern};
use crate::pt2pt::policy::{MatchedProbe, Probe};
use crate::pt2pt::{Engine, flow};
use crate::request::Status;
use crate::wire::Envelope;

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
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
) -> ControlFlow<Option<Status>> {
    let found = arrival::look(engine, methods, from, pattern, &mut Probe);
    found.map_break(|found| if let Found::Message(status) = found { Some(status) } else { None })
}

/// The fast path of a matched probe: as [`at_once`], and takes the message.
#[inline]
pub fn take_at_once(
    engine: &mut Engine,
    methods: &mut Methods,
    from: Option<Peer>,
    pattern: &Pattern,
) -> ControlFlow<Option<Held>> {
    let found = arrival::look(engine, methods, from, pattern, &mut MatchedProbe);
    found.map_break(|found| {
        let Found::Held(held) = found else { return None };
        arrival::count(engine, &held.envelope, &held.content);
        Some(held)
    })
}
