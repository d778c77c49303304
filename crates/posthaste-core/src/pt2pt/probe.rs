//! Looking at a message before receiving it.
//!
//! Called by `comm`; calls `matching`. MPI-5.0 §3.8.

use crate::pt2pt::Engine;
use crate::pt2pt::matching::{Held, Pattern};
use crate::request::Status;

/// The message that a receive with this pattern would get, if one has arrived.
pub fn probe(engine: &mut Engine, pattern: &Pattern) -> Option<Status> {
    engine.matching.peek_held(pattern).map(status)
}

/// Takes that message out of the queue, so that only the caller can receive it (MPI_Improbe).
pub fn take(engine: &mut Engine, pattern: &Pattern) -> Option<Held> {
    engine.matching.take_held(pattern)
}

/// What a probe tells of a held message.
pub fn status(held: &Held) -> Status {
    let envelope = &held.envelope;
    Status { source: envelope.source, tag: envelope.tag, bytes: envelope.len, ..Status::EMPTY }
}
