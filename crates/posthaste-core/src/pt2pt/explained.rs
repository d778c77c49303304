//! One line for each message, in the mode that explains them (`POSTHASTE_EXPLAIN=1`).
//!
//! The sender writes its line to standard error when the message has got its protocol, the receiver when message and
//! receive have met. What must stay true: while the mode is off nothing here is called, and the fast paths do not ask:
//! the mode keeps messages off them ([`Engine::explain`], `wait::Waiting::explaining`).

use std::fmt;

use crate::error::say;
use crate::ids::Peer;
use crate::pt2pt::{Contexts, Engine};
use crate::wire::{Envelope, Mode, Offer, RemoteMemory};

/// How a message was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Met {
    /// Its receive had been posted.
    Posted,
    /// It had to wait for its receive.
    Unexpected,
}

/// How a peer is reached.
type Ways = Box<dyn Fn(Peer) -> &'static str + Send + Sync>;

/// Who explains.
pub(super) struct Explaining {
    /// This process.
    me: Peer,
    /// How each peer is reached, in words.
    ways: Ways,
}

impl fmt::Debug for Explaining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Explaining").field("me", &self.me).finish_non_exhaustive()
    }
}

impl Engine {
    /// From now on every message is explained; `me` is this process, and `ways` say how each peer is reached.
    pub fn explain(&mut self, me: Peer, ways: impl Fn(Peer) -> &'static str + Send + Sync + 'static) {
        self.explaining = Some(Explaining { me, ways: Box::new(ways) });
        self.eager_below = 0;
    }
}

/// The sender's line, if messages are explained.
#[inline]
pub(crate) fn sent(engine: &Engine, to: Peer, envelope: &Envelope, how: &str, why: &str) {
    if let Some(explaining) = &engine.explaining {
        say(format_args!("{}", sending((explaining, &engine.contexts), to, envelope, how, why)));
    }
}

/// The receiver's line, if messages are explained.
#[inline]
pub(crate) fn received(engine: &Engine, from: Peer, envelope: &Envelope, offer: Option<&Offer>, met: Met) {
    if let Some(explaining) = &engine.explaining {
        say(format_args!("{}", receiving((explaining, &engine.contexts), from, envelope, offer, met)));
    }
}

#[cold]
fn sending(
    (explaining, contexts): (&Explaining, &Contexts),
    to: Peer,
    envelope: &Envelope,
    how: &str,
    why: &str,
) -> String {
    let mode = match envelope.mode {
        Mode::Standard => "",
        Mode::Synchronous => " synchronously",
        Mode::Ready => " in ready mode",
    };
    let way = explaining.way(to);
    format!(
        "rank {} sends {} bytes{mode} to rank {}, {}: {how} {way}, because {why}",
        explaining.me.0,
        envelope.len,
        to.0,
        about(contexts, envelope)
    )
}

#[cold]
fn receiving(
    (explaining, contexts): (&Explaining, &Contexts),
    from: Peer,
    envelope: &Envelope,
    offer: Option<&Offer>,
    met: Met,
) -> String {
    let how = match offer {
        None => "eager",
        Some(Offer::Stream { .. }) => "stream",
        Some(Offer::Memory(RemoteMemory::Shared { .. })) => "shared",
        Some(Offer::Memory(RemoteMemory::Address { .. })) => "get",
        Some(Offer::Write) => "write",
        Some(Offer::Pipeline) => "pipeline",
        Some(Offer::Nothing) => "put",
    };
    let met = match met {
        Met::Posted => "matched a posted receive",
        Met::Unexpected => "was unexpected and waited for its receive",
    };
    let way = explaining.way(from);
    format!(
        "rank {} receives {} bytes from rank {}, {}: {how} {way}, {met}",
        explaining.me.0,
        envelope.len,
        from.0,
        about(contexts, envelope)
    )
}

fn about(contexts: &Contexts, envelope: &Envelope) -> String {
    let communicator = envelope.context.point_to_point();
    let kind = match envelope.context {
        context if context == communicator => "",
        context if context == communicator.collective() => " (collective)",
        _ => " (partitioned)",
    };
    format!("tag {}, {}{kind}", envelope.tag, contexts.name(envelope.context))
}

impl Explaining {
    fn way(&self, other: Peer) -> &'static str {
        (self.ways)(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Types;
    use crate::ids::ContextId;

    #[test]
    fn the_lines_name_envelope_protocol_method_and_reason() {
        let envelope = Envelope {
            context: ContextId(1 << 46 | 5),
            source: 0,
            tag: 7,
            len: 100,
            mode: Mode::Synchronous,
            types: Types::UNKNOWN,
        };
        let explaining = |me| Explaining {
            me: Peer(me),
            ways: Box::new(move |other| if other.0 == me { "within the process" } else { "over TCP" }),
        };
        let name = format!("the unnamed communicator {}.1 (collective)", 1 << 18);
        assert_eq!(
            sending((&explaining(0), &Contexts::default()), Peer(2), &envelope, "eager", "it is short"),
            format!(
                "rank 0 sends 100 bytes synchronously to rank 2, tag 7, {name}: eager over TCP, \
                 because it is short"
            )
        );
        assert_eq!(
            receiving(
                (&explaining(2), &Contexts::default()),
                Peer(2),
                &envelope,
                Some(&Offer::Nothing),
                Met::Unexpected
            ),
            format!(
                "rank 2 receives 100 bytes from rank 2, tag 7, {name}: put within the process, was \
                 unexpected and waited for its receive"
            )
        );
    }
}
