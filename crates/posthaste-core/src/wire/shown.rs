//! Packets and envelopes in words, for those who read traces.

use std::fmt;

use super::*;

impl fmt::Display for Packet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eager { envelope, .. } => write!(f, "eager {envelope}"),
            Self::RequestToSend { envelope, sender, offer, first } => {
                write!(f, "request-to-send {sender} {envelope} offer {offer:?}")?;
                if first.is_empty() { Ok(()) } else { write!(f, ", {} bytes", first.len()) }
            }
            Self::OkToSend { sender, receiver, granted } => {
                write!(f, "ok-to-send {sender} into {receiver}")?;
                match granted {
                    Granted::Fragments => Ok(()),
                    Granted::Memory(memory) => write!(f, " {memory}"),
                    Granted::Windows { until } => write!(f, ", windows up to {until}"),
                }
            }
            Self::Window(Part { receiver, offset, len, memory: None }) => {
                write!(f, "window for {receiver} at {offset}, {len} bytes in fragments")
            }
            Self::Window(Part { receiver, offset, len, memory: Some(memory) }) => {
                write!(f, "window for {receiver} at {offset}, {len} bytes {memory}")
            }
            Self::Filled(Part { receiver, offset, len, .. }) => {
                write!(f, "filled {receiver} at {offset}, {len} bytes")
            }
            Self::Bundled(body) => write!(f, "bundled, {} bytes", body.len()),
            Self::OneSided(packet) => write!(f, "{packet}"),
            Self::Written { receiver, outcome: WriteOutcome::Done } => write!(f, "written {receiver}"),
            Self::Written { receiver, outcome: WriteOutcome::Unreadable } => {
                write!(f, "written {receiver}, unreadable")
            }
            Self::Written { receiver, outcome: WriteOutcome::Refused } => {
                write!(f, "written {receiver}, refused")
            }
            Self::Data { receiver, offset, data } => {
                write!(f, "data for {receiver} at {offset}, {} bytes", data.len())
            }
            Self::Stream { receiver, cursor } => write!(f, "stream for {receiver} at {cursor:?}"),
            Self::Fin { sender, unreadable: false } => write!(f, "fin {sender}"),
            Self::Fin { sender, unreadable: true } => write!(f, "fin {sender}, unreadable"),
            Self::SyncAck { sender } => write!(f, "sync-ack {sender}"),
            Self::Seek(Seek { serial, first, what }) => write!(f, "seek {serial} from {first}: {what:?}"),
            Self::Found(Found { serial, place, message: None }) => {
                write!(f, "found {serial}: nothing up to {place}")
            }
            Self::Found(Found { serial, place, message: Some((sender, envelope)) }) => {
                write!(f, "found {serial}: {sender} {envelope} at {place}")
            }
            Self::Resume => f.write_str("resume"),
            Self::TakeBack { sender } => write!(f, "take-back {sender}"),
            Self::TakenBack { sender, taken } => write!(f, "taken-back {sender}: {taken}"),
            Self::Agreement(Said { context, serial, rest, words }) => {
                write!(f, "agreement {serial} in context {}, {} of {rest} words", context.0, words.len() / 4)
            }
            Self::Revoke(context) => write!(f, "revoke context {}", context.0),
            Self::Excluded => f.write_str("excluded"),
        }
    }
}

impl fmt::Display for RemoteMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { address, key: 0 } => write!(f, "at {address:#x}"),
            Self::Address { address, key } => write!(f, "at {address:#x}, key {key:#x}"),
            Self::Shared { offset } => write!(f, "at {offset:#x} of its shared memory"),
        }
    }
}

impl fmt::Display for OneSided<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Put(access, data) => write!(f, "put {access}, {} bytes", data.len()),
            Self::Get(access, len) => write!(f, "get {access}, {len} bytes"),
            Self::Atomic(access, Atomically { operation, element, fetches }, data) => {
                let fetch = if *fetches { "fetch and " } else { "" };
                write!(f, "{fetch}atomic {operation:#x} of {element:#x} {access}, {} bytes", data.len())
            }
            Self::Flush(serial) => write!(f, "flush {serial}"),
            Self::Lock { serial, key: RemoteKey { slot, generation }, exclusive } => {
                let kind = if *exclusive { "exclusive" } else { "shared" };
                write!(f, "{kind} lock {serial} of memory {slot}.{generation}")
            }
            Self::Unlock(RemoteKey { slot, generation }) => write!(f, "unlock memory {slot}.{generation}"),
            Self::Answer(serial, data) => write!(f, "answer {serial}, {} bytes", data.len()),
            Self::Refused(Refused { access, why, len, size }) => {
                write!(f, "refused {access}: {why:?}, {len} bytes of {size}")
            }
            Self::Layout(number, data) => write!(f, "layout {number}, {} bytes", data.len()),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { serial, key: RemoteKey { slot, generation }, offset, scattered } = self;
        write!(f, "{serial} at {offset} of memory {slot}.{generation}")?;
        let Some(Scattered { layout, count, from }) = scattered else { return Ok(()) };
        write!(f, ", from {from} of {count} of layout {layout}")
    }
}

impl fmt::Display for Envelope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "(context {}{}, source {}, tag {}, {} bytes{}{}",
            self.context.within_job(),
            self.context.job().map_or_else(String::new, |job| format!(" of job {:x}", job.0)),
            self.source,
            self.tag,
            self.len,
            match self.mode {
                Mode::Standard => "",
                Mode::Synchronous => ", synchronous",
                Mode::Ready => ", ready",
            },
            if self.types.canonical { ", canonical" } else { "" },
        )?;
        if self.types.is_known() {
            write!(f, ", types {:08x} from {:#x}", self.types.hash, self.types.first)?;
        }
        f.write_str(")")
    }
}
