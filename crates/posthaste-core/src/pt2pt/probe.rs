//! Looking at a message before receiving it.
//!
//! MPI-5.0 §3.8.

use std::ops::ControlFlow;

use crate::ids::Peer;
use crate::method::Methods;
use crate::pt2pt::arrival::{self, Found};
use crate::pt2pt::matching::{Pattern, Unexpected};
use crate::pt2pt::policy::{MatchedProbe, Probe};
use crate::pt2pt::{Engine, flow};
use crate::request::Status;
use crate::wire::Envelope;

/// The message that a receive with this pattern would get, if one has arrived.
pub fn probe(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Status> {
    match engine.matching.peek_unexpected(pattern) {
        Some(message) => Some(status(message)),
        None if engine.flow.is_throttling() => {
            flow::probe(engine, methods, pattern).map(|found| status_of(&found))
        }
        None => None,
    }
}

/// Takes that message out of the queue, so that only the caller can receive it (MPI_Improbe).
pub fn take(engine: &mut Engine, methods: &mut Methods, pattern: &Pattern) -> Option<Unexpected> {
    match engine.matching.take_unexpected(pattern) {
        None if engine.flow.is_throttling() => flow::take(engine, methods, pattern),
        message => message,
    }
}

/// What a probe says of an unexpected message.
pub fn status(message: &Unexpected) -> Status {
    status_of(&message.envelope)
}

fn status_of(envelope: &Envelope) -> Status {
    Status { source: envelope.source, tag: envelope.tag, bytes: envelope.len, ..Status::EMPTY }
}

/// The fast path of a probe: looks at what is next from one peer or from any, and leaves it there for the receive.
///
/// The caller has made sure that no unexpected message fits. `Continue`: nothing has come yet; `Break(None)`: what is next
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
) -> ControlFlow<Option<Unexpected>> {
    let found = arrival::look(engine, methods, from, pattern, &mut MatchedProbe);
    found.map_break(|found| {
        let Found::Taken(message) = found else { return None };
        arrival::count(engine, &message.envelope, &message.content);
        Some(message)
    })
}
