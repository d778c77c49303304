//! Packets as they are written: header, and what stands in front of the message data.
//!
//! The protocols decide what is said, the methods write it. The way back is [`Packet::parse`](super::Packet::parse).
//! What must stay true: each kind of packet is made in one function here.

use zerocopy::IntoBytes;

use super::*;

/// A packet ready to be written: header and the front of its payload. Message data, if any, follows.
#[derive(Clone, Copy, Debug)]
pub struct Emit {
    /// The header.
    pub header: [u8; HEADER],
    front: [u8; FRONT],
    front_len: usize,
}

/// Most bytes in front of the message data.
pub const FRONT: usize = size_of::<JobWord>() + size_of::<Extension>() + size_of::<AskBody>();

impl Emit {
    /// A whole short message; its data follows.
    #[inline]
    pub fn eager(envelope: &Envelope) -> Self {
        Self::message(Kind::Eager, envelope, &[])
    }

    /// A whole short synchronous message; its data follows.
    pub fn eager_synchronous(envelope: &Envelope, sender: RequestId) -> Self {
        let envelope = Envelope { mode: Mode::Synchronous, ..*envelope };
        Self::message(Kind::Eager, &envelope, WireId::from(sender).as_bytes())
    }

    /// Asks to send.
    pub fn request_to_send(envelope: &Envelope, sender: RequestId, offer: Offer) -> Self {
        let (kind, buffer, address, filled) = match offer {
            Offer::Nothing => (0, 0, 0, 0),
            Offer::Stream { cursor: BufferCursor { buffer, persistent, start }, filled } => {
                (if persistent { 3 } else { 1 }, buffer, start, filled)
            }
            Offer::Memory(RemoteMemory::Address { address, key }) => (2, 0, address, key),
            Offer::Write => (4, 0, 0, 0),
            Offer::Pipeline => (5, 0, 0, 0),
            Offer::Memory(RemoteMemory::Shared { offset }) => (6, 0, offset, 0),
        };
        let body = AskBody {
            sender: sender.into(),
            offer: U32::new(kind),
            buffer: buffer.into(),
            address: address.into(),
            filled: filled.into(),
        };
        Self::message(Kind::RequestToSend, envelope, body.as_bytes())
    }

    /// The receive is matched, send.
    pub fn ok_to_send(sender: RequestId, receiver: RequestId, granted: Granted) -> Self {
        let (granted, address, key) = match granted {
            Granted::Fragments => (0, 0, 0),
            Granted::Memory(memory) => memory.numbers(),
            Granted::Windows { until } => (2, until, 0),
        };
        let body = OkBody {
            sender: sender.into(),
            receiver: receiver.into(),
            granted: U32::new(granted),
            address: address.into(),
            key: key.into(),
        };
        Self::control(Kind::OkToSend, body.as_bytes())
    }

    /// Part of a granted message may be written to its place, or is to come in fragments.
    pub fn window(part: Part) -> Self {
        Self::part(Kind::Window, part)
    }

    /// Part of a message has been written.
    pub fn filled(part: Part) -> Self {
        Self::part(Kind::Filled, part)
    }

    fn part(kind: Kind, part: Part) -> Self {
        let (granted, address, key) = part.memory.map_or((0, 0, 0), RemoteMemory::numbers);
        let body = PartBody {
            receiver: part.receiver.into(),
            offset: part.offset.into(),
            len: part.len.into(),
            granted: U32::new(granted),
            address: address.into(),
            key: key.into(),
        };
        Self::control(kind, body.as_bytes())
    }

    /// How the sender's write has gone.
    pub fn written(receiver: RequestId, outcome: WriteOutcome) -> Self {
        let outcome = U32::new(match outcome {
            WriteOutcome::Done => 0,
            WriteOutcome::Unreadable => 1,
            WriteOutcome::Refused => 2,
        });
        Self::control(Kind::Written, WrittenBody { receiver: receiver.into(), outcome }.as_bytes())
    }

    /// A fragment; its data follows.
    pub fn data(receiver: RequestId, offset: u64) -> Self {
        Self::control(Kind::Data, DataBody { receiver: receiver.into(), offset: offset.into() }.as_bytes())
    }

    /// A granted message comes through a bounce buffer.
    pub fn stream(receiver: RequestId, cursor: BufferCursor) -> Self {
        let BufferCursor { buffer, persistent, start } = cursor;
        let persistent = U32::new(u32::from(persistent));
        let body =
            StreamBody { receiver: receiver.into(), buffer: buffer.into(), persistent, start: start.into() };
        Self::control(Kind::Stream, body.as_bytes())
    }

    /// The receiver has everything, or found the send buffer unreadable.
    pub fn fin(sender: RequestId, unreadable: bool) -> Self {
        let body = FinBody { sender: sender.into(), unreadable: U32::new(u32::from(unreadable)) };
        Self::control(Kind::Fin, body.as_bytes())
    }

    /// A synchronous send has been matched.
    pub fn sync_ack(sender: RequestId) -> Self {
        Self::control(Kind::SyncAck, WireId::from(sender).as_bytes())
    }

    /// Asks for throttled messages.
    pub fn seek(seek: &Seek) -> Self {
        let (most, context, source, tag) = match seek.what {
            Sought::Fitting(context, source, tag) => (0, context, source, tag),
            Sought::Next(context, source, tag) => (u32::MAX, context, source, tag),
            Sought::All(most) => (most, ContextId(0), 0, 0),
        };
        let body = SeekBody { serial: seek.serial.into(), most: most.into(), first: seek.first.into() };
        Self::message(Kind::Seek, &Envelope { context, source, tag, ..NO_ENVELOPE }, body.as_bytes())
    }

    /// Reports a throttled message.
    pub fn found(found: &Found) -> Self {
        let (sender, envelope) = found.message.unwrap_or((RequestId::NONE, NO_ENVELOPE));
        let body =
            FoundBody { sender: sender.into(), serial: found.serial.into(), place: found.place.into() };
        Self::message(Kind::Found, &envelope, body.as_bytes())
    }

    /// What a bundle of links says to another one follows.
    pub fn bundled() -> Self {
        Self::control(Kind::Bundled, &[])
    }

    /// Messages need not be throttled any more.
    pub fn resume() -> Self {
        Self::control(Kind::Resume, &[])
    }

    /// Asks for a message back.
    pub fn take_back(sender: RequestId) -> Self {
        Self::control(Kind::TakeBack, WireId::from(sender).as_bytes())
    }

    /// Says whether a message was still to be had.
    pub fn taken_back(sender: RequestId, taken: bool) -> Self {
        let body = TakenBackBody { sender: sender.into(), taken: U32::new(u32::from(taken)) };
        Self::control(Kind::TakenBack, body.as_bytes())
    }

    /// The first [`SAID`] words of what is said about an agreement, or all if there are less.
    pub fn agreement(context: ContextId, serial: u32, words: &[u32]) -> Self {
        let envelope = Envelope { context, tag: serial as i32, len: words.len() as u64, ..NO_ENVELOPE };
        let mut part = [[0; size_of::<u32>()]; SAID];
        part.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        Self::message(Kind::Agreement, &envelope, part[..words.len().min(SAID)].as_flattened())
    }

    /// A communicator is revoked.
    pub fn revoke(context: ContextId) -> Self {
        Self::message(Kind::Revoke, &Envelope { context, ..NO_ENVELOPE }, &[])
    }

    /// Its receiver is taken for lost.
    pub fn excluded() -> Self {
        Self::control(Kind::Excluded, &[])
    }

    pub(super) fn control(kind: Kind, body: &[u8]) -> Self {
        Self::message(kind, &NO_ENVELOPE, body)
    }

    #[inline]
    fn message(kind: Kind, envelope: &Envelope, body: &[u8]) -> Self {
        let mut emit = Self { header: envelope.header(kind), front: [0; FRONT], front_len: 0 };
        if let Some(job) = envelope.context.job() {
            emit.push(JobWord::new(job.0).as_bytes());
        }
        if envelope.types.is_known() {
            emit.push(Extension::from(envelope.types).as_bytes());
        }
        emit.push(body);
        emit
    }

    #[inline(always)]
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let end = self.front_len + bytes.len();
        self.front[self.front_len..end].copy_from_slice(bytes);
        self.front_len = end;
    }

    /// The receiver's request, if this is an ok-to-send that announces windows.
    pub fn grants_windows(&self) -> Option<RequestId> {
        if self.header[0] != Kind::OkToSend as u8 {
            return None;
        }
        match Packet::parse(&self.header, self.front().into()) {
            Ok(Packet::OkToSend { receiver, granted: Granted::Windows { .. }, .. }) => Some(receiver),
            _ => None,
        }
    }

    /// What stands in front of the message data.
    pub fn front(&self) -> &[u8] {
        &self.front[..self.front_len]
    }

    /// Writes the front of the payload, returns the rest of the payload for the message data.
    #[inline]
    pub fn write_front<'a>(&self, payload: Sink<'a>) -> Sink<'a> {
        let (mut front, rest) = payload.split_at(self.front_len);
        front.copy_from(self.front());
        rest
    }
}
