//! Packets: the only list of packet kinds, how they look in memory, and how to read them.
//!
//! All numbers are little-endian. A packet is a fixed [`Header`] of 24 bytes and a payload; what a kind needs beyond
//! the header stands at the front of the payload. Short messages with their header fit into one 64-byte cell. A header
//! may announce an [`Extension`] in front of the payload (signature hash, operation at the destination). Peer data is
//! checked: an unknown kind or a short payload is [`Malformed`], never a panic.

mod emit;
mod onesided;
mod shown;

use posthaste_os::mem::{Sink, Source};
use zerocopy::little_endian::{I32, U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, TryFromBytes, Unaligned};

use crate::datatype::Types;
use crate::ids::{ContextId, RequestId};
use crate::jobs::JobId;

pub use emit::{Emit, FRONT};
pub use onesided::{Access, Atomically, OneSided, OneSidedData, Refusal, Refused, RemoteKey, Scattered};

/// Bytes of a header.
pub const HEADER: usize = 24;

/// What a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, TryFromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(u8)]
pub enum Kind {
    /// A whole short message.
    Eager = 1,
    /// Asks to send a long message (or a synchronous one).
    RequestToSend = 2,
    /// Answer: the receive is matched, send.
    OkToSend = 3,
    /// A fragment of a message that was granted.
    Data = 4,
    /// The receiver has copied the whole message.
    Fin = 5,
    /// A synchronous send has been matched.
    SyncAck = 6,
    /// A message that was granted comes through a bounce buffer.
    Stream = 7,
    /// The sender has written the whole message, or found that it cannot.
    Written = 8,
    /// The receiver asks for throttled messages.
    Seek = 9,
    /// Answer: the envelope of one that fits, or that none does.
    Found = 10,
    /// Messages need not be throttled any more.
    Resume = 11,
    /// The sender wants its message back (the anti-send).
    TakeBack = 12,
    /// Answer: whether it was still to be had.
    TakenBack = 13,
    /// Part of a granted message may be written to this place of the receiver.
    Window = 14,
    /// The sender has written that part.
    Filled = 15,
    /// What two bundles of links say to each other.
    Bundled = 16,
    /// Bytes for memory that the receiver has exposed.
    Put = 17,
    /// Bytes of such memory are wanted.
    Get = 18,
    /// Operands for elements of such memory.
    Atomic = 19,
    /// Asks whether all that came before has been done to such memory.
    Flush = 20,
    /// Answer: what was wanted, or that all has been done.
    Answer = 21,
    /// Answer: the memory cannot be accessed like that.
    Refused = 22,
    /// The lock of such memory is wanted.
    Lock = 23,
    /// The lock of such memory is given back.
    Unlock = 24,
    /// What processes say to each other that agree.
    Agreement = 25,
    /// A communicator is revoked.
    Revoke = 26,
    /// The sender takes the receiver for lost.
    Excluded = 27,
    /// How elements of such memory lie, for the accesses that name it from now on.
    Layout = 28,
    /// As [`Kind::Put`], to elements that lie so.
    PutScattered = 29,
    /// As [`Kind::Get`], of elements that lie so.
    GetScattered = 30,
    /// As [`Kind::Atomic`], with elements that lie so.
    AtomicScattered = 31,
}

/// The header of every packet. Kinds that carry no message leave the envelope fields 0.
#[derive(Clone, Copy, Debug, TryFromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub struct Header {
    kind: Kind,
    flags: u8,
    context_high: U16,
    context_low: U32,
    source: I32,
    tag: I32,
    len: U64,
}

const _: () = assert!(size_of::<Header>() == HEADER && HEADER == posthaste_os::ring::HEADER);

/// An [`Extension`] stands in front of the payload.
const EXTENDED: u8 = 2;
/// The data is in the canonical form, for a receiver of unlike format.
const CANONICAL: u8 = 4;
/// The context is one of several jobs: a [`JobWord`] follows the header.
const SPANS_JOBS: u8 = 16;

/// The job in which a context was allocated.
type JobWord = U64;

/// What the sender wants or promises (MPI-5.0 §3.4); buffered mode is standard mode from another buffer. As it stands in
/// the flags of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// Nothing.
    Standard = 0,
    /// It wants to know when the message is matched.
    Synchronous = 1,
    /// It promises that the receive has been posted.
    Ready = 8,
}

/// The flags that are a [`Mode`].
const MODES: u8 = Mode::Synchronous as u8 | Mode::Ready as u8;

/// Who a message is from and how long it is: what matching looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// Communication context.
    pub context: ContextId,
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// Tag.
    pub tag: i32,
    /// Length of the message in bytes.
    pub len: u64,
    /// What the sender wants or promises.
    pub mode: Mode,
    /// What the message says of its types; most say nothing.
    pub types: Types,
}

/// Optional words in front of the payload.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned,
)]
#[repr(C)]
pub struct Extension {
    /// Hash of the type signature, 0 when unknown.
    pub signature: U32,
    /// Not used, 0.
    pub spare: U32,
    /// What to do with the data at the destination (0 copy; reduction or append otherwise).
    pub operation: U32,
    /// Handle of the first basic type of the data; bit 16: all elements are of that type.
    pub first: U32,
}

/// All elements are of the first type.
const UNIFORM: u32 = 1 << 16;

impl From<Types> for Extension {
    fn from(types: Types) -> Self {
        let uniform = if types.uniform { UNIFORM } else { 0 };
        let first = U32::new(u32::from(types.first) | uniform);
        Self { signature: U32::new(types.hash), first, ..Self::default() }
    }
}

impl From<Extension> for Types {
    fn from(extension: Extension) -> Self {
        let first = extension.first.get();
        let hash = extension.signature.get();
        Self { hash, first: first as u16, uniform: first & UNIFORM != 0, canonical: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct WireId {
    slot: U32,
    generation: U32,
}

impl From<RequestId> for WireId {
    fn from(id: RequestId) -> Self {
        Self { slot: id.slot.into(), generation: id.generation.into() }
    }
}

impl From<WireId> for RequestId {
    fn from(id: WireId) -> Self {
        Self { slot: id.slot.get(), generation: id.generation.get() }
    }
}

/// Where a message begins in a bounce buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferCursor {
    /// Number of the receiver's bounce buffer.
    pub buffer: u32,
    /// The buffer persists: it serves the next message of its sender, too; otherwise the receiver gives it back.
    pub persistent: bool,
    /// Where in the buffer's endless stream of bytes the message begins.
    pub start: u64,
}

/// Memory that a process exposes, in the words of the method by which a peer reaches it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteMemory {
    /// Where it lies in its process.
    Address {
        /// Its first byte.
        address: u64,
        /// The remote key that a peer has to show; 0 where the method needs none.
        key: u64,
    },
    /// In the memory that its process shares with its node.
    Shared {
        /// Its first byte, counted from the first one of that memory.
        offset: u64,
    },
}

impl RemoteMemory {
    /// The memory that begins so many bytes behind.
    #[must_use]
    pub fn behind(self, bytes: u64) -> Self {
        match self {
            Self::Address { address, key } => Self::Address { address: address.wrapping_add(bytes), key },
            Self::Shared { offset } => Self::Shared { offset: offset.wrapping_add(bytes) },
        }
    }

    /// As it travels: which kind, never 0; address or offset; key.
    pub fn numbers(self) -> (u32, u64, u64) {
        match self {
            Self::Address { address, key } => (1, address, key),
            Self::Shared { offset } => (3, offset, 0),
        }
    }

    /// What travelled like this, if there is such a kind.
    pub fn of_numbers((kind, address, key): (u32, u64, u64)) -> Option<Self> {
        match kind {
            1 => Some(Self::Address { address, key }),
            3 => Some(Self::Shared { offset: address }),
            _ => None,
        }
    }
}

/// How a message went that its sender was to write into the receiver's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It is there.
    Done,
    /// The system says that one of the buffers cannot be accessed.
    Unreadable,
    /// The system or the network does not let the sender; nothing has been written that counts.
    Refused,
}

/// How a message that was granted is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// In fragments.
    Fragments,
    /// The sender may write it here, where there is room for all of it in one piece.
    Memory(RemoteMemory),
    /// What lies in front of `until` is written into windows that the receiver opens, the rest comes in fragments.
    Windows {
        /// Place in the message, in bytes.
        until: u64,
    },
}

/// Where the receiver can get a long message from: the sender's proposal in a request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Nowhere: answer with an ok-to-send.
    Nothing,
    /// The sender copies into this bounce buffer of the receiver as we speak.
    Stream {
        /// Where in which buffer.
        cursor: BufferCursor,
        /// Bytes that are there already.
        filled: u64,
    },
    /// The receiver may read the message here, in the sender's memory.
    Memory(RemoteMemory),
    /// The sender can copy the message into one piece of the receiver's memory.
    Write,
    /// The first bytes are in the packet; the sender can copy the rest into the receiver's memory part by part.
    Pipeline,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct AskBody {
    sender: WireId,
    offer: U32,
    buffer: U32,
    address: U64,
    filled: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct OkBody {
    sender: WireId,
    receiver: WireId,
    /// 0: in fragments; 1: to an address; 2: into windows; 3: into shared memory.
    granted: U32,
    address: U64,
    key: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct PartBody {
    receiver: WireId,
    offset: U64,
    len: U64,
    /// 0: in fragments; 1: to an address; 3: into shared memory.
    granted: U32,
    address: U64,
    key: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct DataBody {
    receiver: WireId,
    offset: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct FinBody {
    sender: WireId,
    unreadable: U32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct WrittenBody {
    receiver: WireId,
    /// 0: done; 1: unreadable; 2: refused.
    outcome: U32,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct StreamBody {
    receiver: WireId,
    buffer: U32,
    persistent: U32,
    start: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct SeekBody {
    serial: U32,
    most: U32,
    first: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct FoundBody {
    sender: WireId,
    serial: U32,
    place: U64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct TakenBackBody {
    sender: WireId,
    taken: U32,
}

/// A question for throttled messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seek {
    /// Number of the question; the answer bears it.
    pub serial: u32,
    /// Place in the queue of the first message to look at.
    pub first: u64,
    /// What fits.
    pub what: Sought,
}

/// What a [`Seek`] asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// The first message with this context, source and tag, of which the latter two may be wildcards.
    Fitting(ContextId, i32, i32),
    /// The same, but while there is none the question stays open.
    Next(ContextId, i32, i32),
    /// All messages, but not more than so many. Stays open while there are fewer.
    All(u32),
}

/// A throttled message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// Number of the question.
    pub serial: u32,
    /// Its place in the queue.
    pub place: u64,
    /// Its request and envelope; `None`: no message in front of `place` fits.
    pub message: Option<(RequestId, Envelope)>,
}

/// Part of a message that was granted in windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The receiver's request.
    pub receiver: RequestId,
    /// Where in the message the part begins.
    pub offset: u64,
    /// Its length.
    pub len: u64,
    /// Where it goes; `None`: in fragments.
    pub memory: Option<RemoteMemory>,
}

/// A part of what one process says to another about an agreement of a communicator.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// The communicator.
    pub context: ContextId,
    /// Which of its agreements.
    pub serial: u32,
    /// Words from the first one here to the last one of the message.
    pub rest: u64,
    /// Words, of 32 bits each; at least one.
    pub words: Source<'a>,
}

/// Words that a packet carries of what processes say that agree.
pub const SAID: usize = (FRONT - size_of::<JobWord>()) / size_of::<u32>();

/// Bytes that a [`Packet::Data`] carries in front of its data.
pub const DATA_FRONT: usize = size_of::<DataBody>();

/// A packet as it was found, its payload still where it arrived.
#[derive(Clone, Copy, Debug)]
pub enum Packet<'a> {
    /// A whole short message.
    Eager {
        /// Its envelope.
        envelope: Envelope,
        /// The sender's request, if it waits for a [`Packet::SyncAck`].
        sender: Option<RequestId>,
        /// Its data.
        data: Source<'a>,
    },
    /// Asks to send a long message.
    RequestToSend {
        /// Its envelope.
        envelope: Envelope,
        /// The sender's request.
        sender: RequestId,
        /// Where the receiver could get it.
        offer: Offer,
        /// The first bytes of it; none but with [`Offer::Pipeline`].
        first: Source<'a>,
    },
    /// The receive is matched, send.
    OkToSend {
        /// The sender's request.
        sender: RequestId,
        /// The receiver's request, under which the data is to arrive.
        receiver: RequestId,
        /// How the message is to come.
        granted: Granted,
    },
    /// Part of a message that was granted may be written.
    Window(Part),
    /// Part of a message has been written.
    Filled(Part),
    /// What two bundles of links say to each other: see `method::bundle`.
    Bundled(Source<'a>),
    /// One-sided communication: see `onesided`.
    OneSided(OneSided<'a>),
    /// A fragment.
    Data {
        /// The receiver's request.
        receiver: RequestId,
        /// Place of the fragment in the message, in bytes.
        offset: u64,
        /// The fragment.
        data: Source<'a>,
    },
    /// The granted message comes through a bounce buffer.
    Stream {
        /// The receiver's request.
        receiver: RequestId,
        /// Where in which buffer.
        cursor: BufferCursor,
    },
    /// The sender was to write the whole message into the receiver's memory.
    Written {
        /// The receiver's request.
        receiver: RequestId,
        /// How that went.
        outcome: WriteOutcome,
    },
    /// The receiver has everything.
    Fin {
        /// The sender's request.
        sender: RequestId,
        /// It could not: the system says that the send buffer is no readable memory.
        unreadable: bool,
    },
    /// A synchronous send has been matched.
    SyncAck {
        /// The sender's request.
        sender: RequestId,
    },
    /// The receiver asks for throttled messages.
    Seek(Seek),
    /// What was found.
    Found(Found),
    /// Messages need not be throttled any more.
    Resume,
    /// The sender wants its message back.
    TakeBack {
        /// The sender's request.
        sender: RequestId,
    },
    /// The receiver's answer to that.
    TakenBack {
        /// The sender's request.
        sender: RequestId,
        /// The message was still unexpected, and is gone now.
        taken: bool,
    },
    /// Processes agree.
    Agreement(Said<'a>),
    /// The communicator with this context is revoked.
    Revoke(ContextId),
    /// The sender takes this process for lost: it sends nothing more, and touches no memory of this process.
    Excluded,
}

/// A packet that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

impl Envelope {
    /// The header of an eager message or of a request to send.
    #[inline]
    pub fn header(&self, kind: Kind) -> [u8; HEADER] {
        let types = if self.types.is_known() { EXTENDED } else { 0 };
        let jobs = if self.context.spans_jobs() { SPANS_JOBS } else { 0 };
        self.header_with(kind, types | jobs | if self.types.canonical { CANONICAL } else { 0 })
    }

    /// The header of an eager message that says nothing of its types and was not converted. `spans_jobs`: what
    /// [`ContextId::spans_jobs`] says of its context.
    #[inline(always)]
    pub fn plain_header(&self, spans_jobs: bool) -> [u8; HEADER] {
        self.header_with(Kind::Eager, if spans_jobs { SPANS_JOBS } else { 0 })
    }

    /// Where the data of such a message goes, behind the name of the job if its context has to name one.
    #[inline(always)]
    pub fn plain_room<'a>(&self, spans_jobs: bool, payload: Sink<'a>) -> Sink<'a> {
        if !spans_jobs {
            return payload;
        }
        let (mut job, data) = payload.split_at(size_of::<JobWord>());
        job.copy_from(self.job_word().as_bytes());
        data
    }

    /// The data of such a message, if this packet is one with this envelope, or a longer one that has no more bytes than `room`.
    #[inline(always)]
    pub fn plain_data<'a>(
        &self,
        spans_jobs: bool,
        header: &[u8; HEADER],
        payload: Source<'a>,
        room: u64,
    ) -> Option<Source<'a>> {
        let (flags, data) = if spans_jobs {
            let (job, data) = front::<JobWord>(payload).ok()?;
            (SPANS_JOBS, (job == self.job_word()).then_some(data)?)
        } else {
            (0, payload)
        };
        let len = data.len() as u64;
        let ours = Self { len, ..*self }.words_with(Kind::Eager, flags);
        let [a, b, c]: [u64; 3] = zerocopy::transmute!(*header);
        let is_alike = (ours[0] ^ a) | (ours[1] ^ b) | (ours[2] ^ c) == 0;
        (self.len <= len && len <= room && is_alike).then_some(data)
    }

    /// The job that has to be named with its context, 0 if none has.
    #[inline]
    fn job_word(&self) -> JobWord {
        JobWord::new(self.context.job().map_or(0, |job| job.0))
    }

    #[inline(always)]
    fn header_with(&self, kind: Kind, flags: u8) -> [u8; HEADER] {
        zerocopy::transmute!(self.words_with(kind, flags))
    }

    /// A [`Header`] as three words: what is written field by field and then read as a whole makes the processor wait.
    #[inline(always)]
    fn words_with(&self, kind: Kind, flags: u8) -> [u64; 3] {
        let flags = flags | self.mode as u8;
        let context = self.context.0 << 32 | (self.context.0 >> 32 & 0xffff) << 16;
        let match_by = u64::from(self.source as u32) | u64::from(self.tag as u32) << 32;
        [context | u64::from(flags) << 8 | kind as u64, match_by, self.len].map(u64::to_le)
    }

    /// Bytes that the packet of an eager message carries in front of its data.
    #[inline]
    pub fn front(&self) -> usize {
        let extension = if self.types.is_known() { size_of::<Extension>() } else { 0 };
        let job = if self.context.spans_jobs() { size_of::<JobWord>() } else { 0 };
        job + extension + if self.mode == Mode::Synchronous { size_of::<WireId>() } else { 0 }
    }
}

/// What packets that are no messages have in the place of an envelope.
const NO_ENVELOPE: Envelope = Envelope {
    context: ContextId(0),
    source: 0,
    tag: 0,
    len: 0,
    mode: Mode::Standard,
    types: Types::UNKNOWN,
};

/// Most bytes that a packet carries in front of data that need not be here.
pub const LONG_FRONT: usize = {
    let eager = size_of::<JobWord>() + size_of::<Extension>() + size_of::<WireId>();
    if eager > onesided::PUT_FRONT { eager } else { onesided::PUT_FRONT }
};

/// What a packet says in front of data that need not be here.
#[derive(Clone, Copy, Debug)]
pub enum Long {
    /// A whole message; its sender's request, if that waits for a [`Packet::SyncAck`].
    Message(Envelope, Option<RequestId>),
    /// Bytes of a one-sided operation.
    OneSided(OneSidedData),
}

/// Reads the front of a packet whose data need not be here: what it says, and the bytes from the first one of data on. `None`: it is
/// another packet.
///
/// # Errors
/// As [`Packet::parse`].
pub fn parse_long<'a>(
    header: &[u8; HEADER],
    payload: Source<'a>,
) -> Result<Option<(Long, Source<'a>)>, Malformed> {
    let (kind, envelope, payload) = parse_envelope(header, payload)?;
    Ok(match kind {
        Kind::Eager => {
            let (envelope, sender, data) = eager(envelope, payload)?;
            Some((Long::Message(envelope, sender), data))
        }
        Kind::Put | Kind::PutScattered => {
            let (access, data) = onesided::access(kind == Kind::PutScattered, payload)?;
            Some((Long::OneSided(OneSidedData::Put(access)), data))
        }
        Kind::Answer => {
            let (serial, data) = front::<U64>(payload)?;
            Some((Long::OneSided(OneSidedData::Answer(serial.get())), data))
        }
        _ => None,
    })
}

/// Envelope, the sender's request if it waits, data.
type Eager<'a> = (Envelope, Option<RequestId>, Source<'a>);

#[inline(always)]
fn eager(envelope: Envelope, payload: Source<'_>) -> Result<Eager<'_>, Malformed> {
    if envelope.mode != Mode::Synchronous {
        return Ok((envelope, None, payload));
    }
    let (id, data) = front::<WireId>(payload)?;
    Ok((envelope, Some(id.into()), data))
}

/// Reads a header with its extension; the rest of the payload follows that.
#[inline(always)]
fn parse_envelope<'a>(
    header: &[u8; HEADER],
    payload: Source<'a>,
) -> Result<(Kind, Envelope, Source<'a>), Malformed> {
    let header = Header::try_read_from_bytes(header).map_err(|_| Malformed)?;
    let context = u64::from(header.context_high.get()) << 32 | u64::from(header.context_low.get());
    let (context, types, payload) = if header.flags & (EXTENDED | SPANS_JOBS) == 0 {
        (ContextId(context), Types::UNKNOWN, payload)
    } else {
        extended(header.flags, ContextId(context), payload)?
    };
    const STANDARD: u8 = Mode::Standard as u8;
    const SYNCHRONOUS: u8 = Mode::Synchronous as u8;
    const READY: u8 = Mode::Ready as u8;
    let mode = match header.flags & MODES {
        STANDARD => Mode::Standard,
        SYNCHRONOUS => Mode::Synchronous,
        READY => Mode::Ready,
        _ => return Err(Malformed),
    };
    let envelope = Envelope {
        context,
        source: header.source.get(),
        tag: header.tag.get(),
        len: header.len.get(),
        mode,
        types: Types { canonical: header.flags & CANONICAL != 0, ..types },
    };
    Ok((header.kind, envelope, payload))
}

/// Reads what stands between a header and its packet: the job of the context, the types.
fn extended(
    flags: u8,
    mut context: ContextId,
    mut payload: Source<'_>,
) -> Result<(ContextId, Types, Source<'_>), Malformed> {
    if flags & SPANS_JOBS != 0 {
        let (job, rest) = front::<JobWord>(payload)?;
        let job = JobId(job.get());
        (context, payload) = (context.allocated_in(job).ok_or(Malformed)?, rest);
    }
    if flags & EXTENDED == 0 {
        return Ok((context, Types::UNKNOWN, payload));
    }
    let (extension, payload) = front::<Extension>(payload)?;
    Ok((context, extension.into(), payload))
}

impl<'a> Packet<'a> {
    /// Reads a packet.
    ///
    /// # Errors
    /// [`Malformed`] for an unknown kind or a payload that is too short.
    #[inline(always)]
    pub fn parse(header: &[u8; HEADER], payload: Source<'a>) -> Result<Self, Malformed> {
        let (kind, envelope, payload) = parse_envelope(header, payload)?;
        Ok(match kind {
            Kind::Eager => {
                let (envelope, sender, data) = eager(envelope, payload)?;
                if envelope.len != data.len() as u64 {
                    return Err(Malformed);
                }
                Self::Eager { envelope, sender, data }
            }
            Kind::RequestToSend => {
                let (body, first) = front::<AskBody>(payload)?;
                let offer = match body.offer.get() {
                    0 => Offer::Nothing,
                    kind @ (1 | 3) => {
                        let (buffer, start) = (body.buffer.get(), body.address.get());
                        let cursor = BufferCursor { buffer, persistent: kind == 3, start };
                        Offer::Stream { cursor, filled: body.filled.get() }
                    }
                    2 => {
                        let (address, key) = (body.address.get(), body.filled.get());
                        Offer::Memory(RemoteMemory::Address { address, key })
                    }
                    4 => Offer::Write,
                    5 => Offer::Pipeline,
                    6 => Offer::Memory(RemoteMemory::Shared { offset: body.address.get() }),
                    _ => return Err(Malformed),
                };
                let (first, _) = first.split_at(if offer == Offer::Pipeline { first.len() } else { 0 });
                if offer == Offer::Pipeline && first.len() as u64 >= envelope.len {
                    return Err(Malformed); // something is left to be granted
                }
                Self::RequestToSend { envelope, sender: body.sender.into(), offer, first }
            }
            Kind::OkToSend => {
                let (body, _) = front::<OkBody>(payload)?;
                let (address, key) = (body.address.get(), body.key.get());
                let granted = match body.granted.get() {
                    0 => Granted::Fragments,
                    1 => Granted::Memory(RemoteMemory::Address { address, key }),
                    2 => Granted::Windows { until: address },
                    3 => Granted::Memory(RemoteMemory::Shared { offset: address }),
                    _ => return Err(Malformed),
                };
                Self::OkToSend { sender: body.sender.into(), receiver: body.receiver.into(), granted }
            }
            Kind::Window => Self::Window(part(payload)?),
            Kind::Filled => Self::Filled(part(payload)?),
            Kind::Bundled => Self::Bundled(payload),
            Kind::Put
            | Kind::Get
            | Kind::Atomic
            | Kind::Flush
            | Kind::Lock
            | Kind::Unlock
            | Kind::Answer
            | Kind::Refused
            | Kind::Layout
            | Kind::PutScattered
            | Kind::GetScattered
            | Kind::AtomicScattered => Self::OneSided(onesided::parse(kind, payload)?),
            Kind::Data => {
                let (body, data) = front::<DataBody>(payload)?;
                Self::Data { receiver: body.receiver.into(), offset: body.offset.get(), data }
            }
            Kind::Stream => {
                let (body, _) = front::<StreamBody>(payload)?;
                let (buffer, persistent, start) =
                    (body.buffer.get(), body.persistent.get() != 0, body.start.get());
                Self::Stream {
                    receiver: body.receiver.into(),
                    cursor: BufferCursor { buffer, persistent, start },
                }
            }
            Kind::Written => {
                let (body, _) = front::<WrittenBody>(payload)?;
                let outcome = match body.outcome.get() {
                    0 => WriteOutcome::Done,
                    1 => WriteOutcome::Unreadable,
                    2 => WriteOutcome::Refused,
                    _ => return Err(Malformed),
                };
                Self::Written { receiver: body.receiver.into(), outcome }
            }
            Kind::Fin => {
                let (body, _) = front::<FinBody>(payload)?;
                Self::Fin { sender: body.sender.into(), unreadable: body.unreadable.get() != 0 }
            }
            Kind::SyncAck => Self::SyncAck { sender: front::<WireId>(payload)?.0.into() },
            Kind::Seek => {
                let (body, _) = front::<SeekBody>(payload)?;
                let what = match body.most.get() {
                    0 => Sought::Fitting(envelope.context, envelope.source, envelope.tag),
                    u32::MAX => Sought::Next(envelope.context, envelope.source, envelope.tag),
                    most => Sought::All(most),
                };
                Self::Seek(Seek { serial: body.serial.get(), first: body.first.get(), what })
            }
            Kind::Found => {
                let (body, _) = front::<FoundBody>(payload)?;
                let sender = RequestId::from(body.sender);
                let message = (sender != RequestId::NONE).then_some((sender, envelope));
                Self::Found(Found { serial: body.serial.get(), place: body.place.get(), message })
            }
            Kind::Resume => Self::Resume,
            Kind::TakeBack => Self::TakeBack { sender: front::<WireId>(payload)?.0.into() },
            Kind::TakenBack => {
                let (body, _) = front::<TakenBackBody>(payload)?;
                Self::TakenBack { sender: body.sender.into(), taken: body.taken.get() != 0 }
            }
            Kind::Agreement => {
                let words = payload.len() / size_of::<u32>();
                if words == 0
                    || !payload.len().is_multiple_of(size_of::<u32>())
                    || envelope.len < words as u64
                {
                    return Err(Malformed);
                }
                let (context, serial, rest) = (envelope.context, envelope.tag as u32, envelope.len);
                Self::Agreement(Said { context, serial, rest, words: payload })
            }
            Kind::Revoke => Self::Revoke(envelope.context),
            Kind::Excluded => Self::Excluded,
        })
    }
}

/// Reads a [`Part`].
fn part(payload: Source<'_>) -> Result<Part, Malformed> {
    let (body, _) = front::<PartBody>(payload)?;
    let (address, key) = (body.address.get(), body.key.get());
    let memory = match body.granted.get() {
        0 => None,
        kind => Some(RemoteMemory::of_numbers((kind, address, key)).ok_or(Malformed)?),
    };
    let (offset, len) = (body.offset.get(), body.len.get());
    offset.checked_add(len).ok_or(Malformed)?;
    Ok(Part { receiver: body.receiver.into(), offset, len, memory })
}

/// Reads a `T` from the front of the payload; the rest follows it.
#[inline]
fn front<T: FromBytes + IntoBytes>(payload: Source<'_>) -> Result<(T, Source<'_>), Malformed> {
    let (bytes, rest) = payload.split_at(size_of::<T>());
    if bytes.len() < size_of::<T>() {
        return Err(Malformed);
    }
    let mut value = T::new_zeroed();
    bytes.copy_to(value.as_mut_bytes());
    Ok((value, rest))
}

#[cfg(test)]
mod tests;
