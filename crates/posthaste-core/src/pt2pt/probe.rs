//! Looking at a message before receiving it.
//!
//! Called by `world`; calls `matching`, and `flow` where messages are held back. MPI-5.0 §3.8.

use crate::method::Methods;
use crate::pt2pt::matching::{Held, Pattern};
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
