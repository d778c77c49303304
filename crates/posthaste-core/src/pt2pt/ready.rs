//! Ready mode: a message that came before its receive was posted (MPI-5.0 §3.4: such a program is erroneous).
//!
//! Called by the receiving sides of the protocols where a message finds no receive, and by `recv` when it is received
//! after all. The message is delivered like any other; this room says so, as a warning or as the error of the receive.
//!
//! What must stay true: a message is called early only when it certainly was: it had arrived before its receive was
//! posted. One that arrived unseen, just before, may pass. The same sender, tag and communicator are told once.

use crate::config::ReadyCheck;
use crate::error::{Error, ErrorClass};
use crate::explain::names;
use crate::ids::{ContextId, Peer};
use crate::method::{Methods, Next};
use crate::pt2pt::Engine;
use crate::trace::Counter;
use crate::wire::{Envelope, Mode, Packet};

/// Warnings that one process gives, so that a program that does nothing else is not drowned in them.
const MOST: usize = 32;

/// What has been told: context, source and tag of messages.
#[derive(Debug, Default)]
pub(super) struct Told(Vec<(ContextId, i32, i32)>);

/// A message in ready mode has found no receive. The error of the receive that gets it, if that is wanted.
#[cold]
#[inline(never)]
pub(crate) fn came_early(engine: &mut Engine, envelope: &Envelope) -> Option<Error> {
    engine.counts.add(Counter::EarlyReady, 1);
    if engine.config.ready_check == ReadyCheck::Warn {
        warn(&mut engine.told_early, envelope);
    }
    error(engine, envelope)
}

fn warn(Told(told): &mut Told, envelope: &Envelope) {
    let this = (envelope.context, envelope.source, envelope.tag);
    if told.len() == MOST || told.contains(&this) {
        return;
    }
    told.push(this);
    let last = if told.len() == MOST { "; further ones are only counted" } else { "" };
    eprint!("posthaste: warning: {}{last}\n", sentence(envelope));
}

/// The error of the receive that gets such a message later, if that is wanted.
pub(super) fn error(engine: &Engine, envelope: &Envelope) -> Option<Error> {
    let wanted = envelope.mode == Mode::Ready && engine.config.ready_check == ReadyCheck::Error;
    wanted.then(|| Error::other(ErrorClass::Other, sentence(envelope)))
}

/// Whether the next packet from a peer is a message in ready mode.
#[cold]
pub(crate) fn is_next(methods: &mut Methods, from: Peer) -> bool {
    let mut ready = false;
    let next = methods.take_next(from, |packet| {
        if let Packet::Eager { envelope, .. } | Packet::RequestToSend { envelope, .. } = packet {
            ready = envelope.mode == Mode::Ready;
        }
        false
    });
    next == Next::Left && ready
}

fn sentence(envelope: &Envelope) -> String {
    let context = envelope.context.point_to_point().0;
    let receiver = names::find(context).map_or_else(String::new, |known| format!(" to rank {}", known.own()));
    let Envelope { source, tag, len, .. } = envelope;
    format!(
        "rank {source} sent {len} bytes with tag {tag}{receiver} of {} in ready mode before the receive was posted; \
         they are delivered all the same (POSTHASTE_READY_CHECK)",
        names::of(context)
    )
}
