//! Ready mode: a message that came before its receive was posted (MPI-5.0 §3.4: such a program is erroneous).
//!
//! The message is delivered like any other. That it came early is seen in one place, `arrival::set_aside`, and said here: as
//! a warning or as the error of the receive.
//!
//! What must stay true: a message is called early only when it certainly was: it had arrived before its receive was
//! posted. One that arrived unseen, just before, may pass. The same sender, tag and communicator are reported once.

use crate::config::ReadyCheck;
use crate::error::{Error, ErrorClass, say};
use crate::ids::ContextId;
use crate::pt2pt::{Contexts, Engine};
use crate::trace::Counter;
use crate::wire::{Envelope, Mode};

/// Warnings that one process gives, so that a program that does nothing else is not drowned in them.
const MOST: usize = 32;

/// What has been reported: context, source and tag of messages.
#[derive(Debug, Default)]
pub(super) struct Reported(Vec<(ContextId, i32, i32)>);

/// A message has come before its receive: the error of that receive, if it is in ready mode and an error is wanted.
#[inline]
pub(super) fn check(engine: &mut Engine, envelope: &Envelope) -> Option<Error> {
    if envelope.mode == Mode::Ready { came_early(engine, envelope) } else { None }
}

#[cold]
#[inline(never)]
fn came_early(engine: &mut Engine, envelope: &Envelope) -> Option<Error> {
    engine.counts.add(Counter::EarlyReady, 1);
    match engine.config.ready_check {
        ReadyCheck::Off => None,
        ReadyCheck::Warn => {
            warn(engine, envelope);
            None
        }
        ReadyCheck::Error => Some(Error::other(ErrorClass::Other, sentence(&engine.contexts, envelope))),
    }
}

fn warn(Engine { early_reported: Reported(reported), contexts, .. }: &mut Engine, envelope: &Envelope) {
    let this = (envelope.context, envelope.source, envelope.tag);
    if reported.len() == MOST || reported.contains(&this) {
        return;
    }
    reported.push(this);
    let last = if reported.len() == MOST { "; further ones are only counted" } else { "" };
    say(format_args!("warning: {}{last}", sentence(contexts, envelope)));
}

fn sentence(contexts: &Contexts, envelope: &Envelope) -> String {
    let known = contexts.get(envelope.context);
    let receiver = known.map_or_else(String::new, |known| format!(" to rank {}", known.own()));
    let Envelope { source, tag, len, .. } = envelope;
    format!(
        "rank {source} sent {len} bytes with tag {tag}{receiver} of {} in ready mode before the receive was posted; \
         they are delivered all the same (POSTHASTE_READY_CHECK)",
        contexts.name(envelope.context)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::OwnedBuf;
    use crate::config::Config;
    use crate::datatype::{Segment, Types};
    use crate::ids::Peer;
    use crate::progress::Vci;
    use crate::pt2pt::send::{self, Started};
    use crate::request::Status;
    use crate::testing::{Bench, ROUGH};

    /// Sends `len` bytes in ready mode, received before or after they came; the receive's status and the count.
    fn exchange(seed: u64, len: usize, early: bool, ready_check: ReadyCheck) -> (Status, u64) {
        let config = Config { ready_check, eager_limit: 64, ..Config::default() };
        let mut bench = Bench::new(seed, 2, ROUGH, &config);
        let (mut data, into) = (OwnedBuf::new(len), OwnedBuf::new(len));
        data.sink().copy_from(&(0..len).map(|i| i as u8).collect::<Vec<_>>());
        let receive = (!early).then(|| bench.recv(1, 0, 5, &into));
        let segment = Segment::contiguous(data.user_buf(), len as u64);
        let (context, len, types) = (ContextId::WORLD, len as u64, Types::UNKNOWN);
        let envelope = Envelope { context, source: 0, tag: 5, len, mode: Mode::Ready, types };
        let Vci { engine, methods, .. } = &mut bench.vcis[0];
        let started = send::start(engine, methods, Peer(1), &envelope, segment).unwrap();
        (0..2000).for_each(|_| bench.step());
        let id = receive.unwrap_or_else(|| bench.recv(1, 0, 5, &into));
        let status = bench.finish(1, id);
        if let Started::Request(id) = started {
            bench.finish(0, id);
        }
        assert_eq!(into.source().to_vec(), data.source().to_vec());
        (status, bench.vcis[1].engine.counts.get(Counter::EarlyReady))
    }

    #[test]
    fn a_message_is_early_if_it_came_before_its_receive_and_is_delivered_in_any_case() {
        for seed in 1..=10 {
            for len in [0, 8, 64, 65, 3000] {
                let (status, counted) = exchange(seed, len, false, ReadyCheck::Error);
                assert!(status.error.is_none() && counted == 0, "seed {seed}: {len} bytes are accused");
                let (status, counted) = exchange(seed, len, true, ReadyCheck::Off);
                assert!(status.error.is_none() && counted == 1, "seed {seed}: {len} bytes are not found");
                let (status, counted) = exchange(seed, len, true, ReadyCheck::Error);
                assert_eq!((status.bytes, counted), (len as u64, 1), "seed {seed}");
                let error = status.error.expect("an error");
                assert_eq!(error.class(), ErrorClass::Other);
                assert!(
                    error.to_string().starts_with(&format!("rank 0 sent {len} bytes with tag 5")),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn the_same_is_reported_once_and_not_without_end() {
        let types = Types::UNKNOWN;
        let mut engine = Engine::new(Config::default());
        for tag in (0..200).flat_map(|tag| [tag, tag]) {
            let context = ContextId::WORLD;
            warn(&mut engine, &Envelope { context, source: 0, tag, len: 0, mode: Mode::Ready, types });
        }
        assert_eq!(engine.early_reported.0.len(), MOST);
    }
}
