//! What methods and the engine hand each other: what a way can do, what a poll found, long messages on their way.
//!
//! What must stay true: as said in `method`.

use std::collections::VecDeque;

use posthaste_os::fabric::Step;
use posthaste_os::mem::Sink;

use crate::buffer::{OwnedBuf, UserBuf};
use crate::datatype::{Builtin, Segment};
use crate::error::Error;
use crate::ids::{Peer, RequestId};
use crate::method::pinned::Pin;
use crate::method::{Load, Next, Routes};
use crate::trace::{Counter, Counts};
use crate::wire::{
    BufferCursor, Emit, Envelope, Granted, Offer, OneSidedData, Packet, RemoteKey, RemoteMemory,
};

/// The system takes data from where it lies if it lies in pieces of this mean length at least, in bytes; shorter ones are
/// copied together first.
pub const SHORT_RUN: u64 = 512;

/// A way of bytes to peers: what each method is, for [`Methods`](super::Methods). Most of what few have is left out by
/// those that lack it.
///
/// What must stay true: packets between two processes stay in order; a segment comes back only through [`Outcome::Refused`].
pub trait Method {
    /// What the method calls a peer.
    type To: Copy;
    /// Room for one packet.
    type Claim<'a>: Room
    where
        Self: 'a;
    /// What its messages are counted by.
    const COUNTERS: Counters = Counters::NODE;
    /// It brings packets that a look at the rings of this host does not find.
    const ELSEWHERE: bool = true;

    /// It becomes one of the methods of a process, whose peers have these ways.
    #[must_use]
    fn joining(self, _routes: &Routes) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// What the way to `to` can do.
    fn caps(&mut self, to: Self::To) -> Caps;

    /// Whether data for this peer has to travel in the canonical form.
    fn is_heterogeneous(&mut self, _to: Self::To) -> bool {
        false
    }

    /// Room for a packet with `len` bytes of payload; see [`Methods::claim`](super::Methods::claim).
    fn claim(&mut self, to: Self::To, len: usize, load: Load) -> Option<Self::Claim<'_>>;

    /// Whether there would be room.
    fn has_room(&mut self, to: Self::To, len: usize, load: Load) -> bool {
        self.claim(to, len, load).is_some()
    }

    /// Throttles a peer, whose messages that have not left yet stay there, or resumes it.
    fn throttle(&mut self, from: Self::To, on: bool);

    /// Looks once; reports to `on` what happened. Returns whether anything did.
    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool;

    /// Whether [`Method::take_next`] would certainly find something.
    fn is_next_there(&mut self, _from: Self::To) -> bool {
        false
    }

    /// Shows the next packet from `from` to `take`, which says whether it has taken it.
    fn take_next(&mut self, _from: Self::To, _take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        Next::Left
    }

    /// See [`Methods::offer_stream`](super::Methods::offer_stream).
    fn offer_stream(
        &mut self,
        _to: Self::To,
        _sender: RequestId,
        _segment: &Segment,
        _ready: bool,
    ) -> Option<(Offer, bool)> {
        None
    }

    /// Copies a message out of a bounce buffer; ends with [`Event::Received`].
    ///
    /// # Errors
    /// The message, if there is no such buffer.
    fn drain(&mut self, _from: Self::To, drain: Drain) -> Result<(), Drain> {
        Err(drain)
    }

    /// The bounce buffer of a message that is not received is free again.
    fn decline(&mut self, _from: Self::To, _bounced: BufferCursor) {}

    /// Opens a receive for what is granted, and says how it is to come; ends with [`Event::Received`].
    fn open_receive(&mut self, opened: OpenReceive) -> Granted;

    /// Sends a message that was granted, in fragments or into windows; ends with [`Event::Sent`].
    fn send_granted(&mut self, to: Self::To, send: GrantedSend);

    /// Where this memory lies in memory that this process shares with its peers, if it lies there: they may then read and
    /// write it without any more ado.
    fn shared(&self, _memory: &Segment) -> Option<RemoteMemory> {
        None
    }

    /// Lets peers read or write this memory, until [`Method::forget`]; the same owner again: the same memory. `None`: the
    /// method has no one-sided transport, or not for memory like this.
    fn expose(&mut self, _memory: &Segment, _access: Access, _owner: Owner) -> Option<RemoteMemory> {
        None
    }

    /// Ends that.
    fn forget(&mut self, _owner: Owner) {}

    /// The same because the peer is lost, which may live: the memory is closed to it, and not kept open for the next message.
    fn revoke(&mut self, owner: Owner) {
        self.forget(owner);
    }

    /// Reads memory of a peer; ends with [`Event::Over`].
    ///
    /// # Errors
    /// The transfer, if the method has no one-sided transport.
    fn get(&mut self, _from: Self::To, transfer: Transfer) -> Result<(), Transfer> {
        Err(transfer)
    }

    /// Writes memory of a peer; ends with [`Event::Over`], when the peer can see it ([`Caps::put_seen`]), or will at the latest
    /// with a packet that is sent from then on.
    ///
    /// # Errors
    /// As [`Method::get`].
    fn put(&mut self, _to: Self::To, transfer: Transfer) -> Result<(), Transfer> {
        Err(transfer)
    }

    /// See [`Methods::send_in_place`](super::Methods::send_in_place).
    ///
    /// # Errors
    /// The data, if there is no room.
    fn send_in_place(
        &mut self,
        _to: Self::To,
        _emit: &Emit,
        _owner: Option<Owner>,
        segment: Segment,
    ) -> Result<bool, Segment> {
        Err(segment)
    }

    /// Opens a receive for the message that begins to arrive; ends with [`Event::Received`].
    fn receive_arriving(&mut self, _opened: OpenReceive) {}

    /// Registers a buffer for all messages from or into it.
    fn pin(&mut self, _segment: &Segment, _writing: bool) -> Option<Pin> {
        None
    }

    /// Ends that.
    fn unpin(&mut self, _pin: Pin) {}

    /// Somebody waits for a message of this peer, to which nothing may ever be sent: a method that hears of a peer's end by
    /// their connection makes one.
    fn attend(&mut self, _to: Self::To) {}

    /// This process takes a peer for lost, which may live: nothing more goes there or comes from there, and what was under way
    /// is forgotten. It is told so, as far as that is possible. Whether memory of this process may still be reached on account of
    /// it, until [`Event::PeerDown`] or until it says that it takes this process for lost, too. Done again it does nothing more.
    fn exclude(&mut self, peer: Self::To) -> bool;

    /// Whether the network itself may still do something to memory of this process on account of a peer that is lost, whatever that
    /// peer does. When it has ended that, there is an [`Event::PeerDown`] once more.
    fn is_moving(&self, _peer: Self::To) -> bool {
        false
    }

    /// Whether nothing waits here that a sleeper would not be woken for.
    fn is_quiet(&self) -> bool {
        true
    }

    /// Whether everything handed over has left.
    fn is_drained(&self) -> bool;

    /// Sends what has gathered.
    fn flush_gathered(&mut self) {}

    /// The next poll looks at the system, too: this process has slept.
    fn look_soon(&mut self) {}

    /// Whether a connection is being made.
    fn is_connecting(&self) -> bool {
        false
    }

    /// This process sends no more messages of its own.
    fn begin_finalizing(&mut self) {}

    /// Takes [`Method::begin_finalizing`] back: nobody leaves.
    fn stay(&mut self) {}

    /// Says to all peers that nothing more will come from here.
    fn begin_leaving(&mut self) {}

    /// Whether all peers have done so, too.
    fn has_left(&self) -> bool {
        true
    }
}

/// Room for one packet.
pub trait Room {
    /// Writes the packet with the next bytes of `data` behind it, and commits it.
    fn write(self, emit: &Emit, data: Option<&mut Segment>);
}

/// What the messages of a method are counted by.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// In one packet.
    pub eager: Counter,
    /// Fetched where they lie.
    pub get: Counter,
    /// In fragments.
    pub put: Counter,
    /// Written where they go.
    pub write: Counter,
    /// Written part by part.
    pub pipeline: Counter,
}

impl Counters {
    /// Those of shared memory.
    pub const NODE: Self = Self {
        eager: Counter::EagerShm,
        get: Counter::GetShm,
        put: Counter::PutShm,
        write: Counter::WriteShm,
        pipeline: Counter::PipelineShm,
    };
}

/// What the way to a peer can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Longest payload of one packet, in bytes.
    pub packet: usize,
    /// Most data that can leave in one packet from where it lies, in bytes.
    pub in_place: usize,
    /// Bytes of a bounce buffer, through which both sides can copy; 0: there is none.
    pub bounce_buffer: usize,
    /// The receiver can read a contiguous message where it lies.
    pub get: bool,
    /// The same for a message that is not contiguous.
    pub get_any: bool,
    /// The sender can write into the receiver's memory, if it lies in one piece.
    pub put: bool,
    /// What has been written so can be seen by the peer as soon as that is over; otherwise only behind a packet that is sent then.
    pub put_seen: bool,
    /// The same part by part.
    pub windows: bool,
    /// Memory has to be registered for each message, which is better done part by part.
    pub registers: bool,
    /// Messages to there are likely to be received into memory that the receiver shares with this process.
    pub into: bool,
    /// Packets go through sockets, which has a limit of its own for short messages.
    pub sockets: bool,
    /// The bytes of a message come in their order, and each of them once: they may be combined where they arrive.
    pub in_order: bool,
    /// Sender and receiver may have to share a CPU, so handing over often is dear.
    pub oversubscribed: bool,
}

/// What a poll found.
#[derive(Debug)]
pub enum Event<'a> {
    /// A packet for the engine.
    Packet(Peer, Packet<'a>),
    /// A message with this envelope begins to come in one packet; its sender's request, if that waits for an
    /// acknowledgement.
    Arriving(Peer, Envelope, Option<RequestId>),
    /// A message that began to come and that nobody opened a receive for is here whole.
    Arrived(Peer, Envelope, Option<RequestId>, Vec<u8>),
    /// So many bytes of a one-sided operation come in one packet: whoever hears of it says where they go now, or they go nowhere.
    DataArriving(Peer, OneSidedData, u64, &'a mut Option<Segment>),
    /// So many of them are where they belong.
    DataPlaced(Peer, OneSidedData, u64),
    /// All bytes of an incoming long message are in place.
    Received(RequestId),
    /// Bytes from here to there of a long message that comes over several links are in place: reported by a link, and no
    /// news for the engine.
    Placed(RequestId, u64, u64),
    /// All bytes of an outgoing long message have left; the buffer is the user's again.
    Sent(RequestId),
    /// A one-sided operation is over.
    Over(Owner, Outcome),
    /// Something unreadable came from this peer; nothing more is read from it.
    Malformed(Peer),
    /// This peer cannot be reached any more: nothing comes from it, and nothing more of what was handed over for it ends.
    PeerDown(Peer, Error),
    /// The same, but it may live on this host, and be inside our memory: a [`Event::PeerDown`] follows when it is not.
    PeerGone(Peer, Error),
}

/// An event that a method stores until it is polled.
#[derive(Debug)]
pub(super) enum Done {
    Received(RequestId),
    Sent(RequestId),
    Over(Owner, Outcome),
}

impl Done {
    pub(super) fn event(self) -> Event<'static> {
        match self {
            Self::Received(id) => Event::Received(id),
            Self::Sent(id) => Event::Sent(id),
            Self::Over(owner, outcome) => Event::Over(owner, outcome),
        }
    }
}

/// Writes the next bytes of a segment, if there is one.
#[inline]
pub(super) fn packing(data: Option<&mut Segment>) -> impl FnOnce(Sink<'_>) {
    |room| {
        if let Some(segment) = data {
            segment.pack(room);
        }
    }
}

/// Reports the events that a method has stored until its poll; whether there was any.
pub(super) fn report(
    done: &mut VecDeque<Done>,
    lost: &mut VecDeque<(Peer, Error)>,
    counts: &mut Counts,
    on: &mut impl FnMut(Event<'_>, &mut Counts),
) -> bool {
    let busy = !done.is_empty() || !lost.is_empty();
    done.drain(..).for_each(|done| on(done.event(), counts));
    for (peer, error) in lost.drain(..) {
        on(Event::PeerDown(peer, error), counts);
    }
    busy
}

/// What peers may do with memory that is exposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it.
    Read,
    /// Read and write it.
    Write,
}

/// What a one-sided operation or exposed memory belongs to; methods only hand it back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A receive.
    Receive(RequestId),
    /// A send.
    Send(RequestId),
    /// Whoever uses `onesided`, by its own number.
    OneSided(u64),
    /// Memory that is exposed, by its key; it hears nothing.
    Exposed(RemoteKey),
}

/// A one-sided operation: so many bytes between memory of a peer and a segment that stands at its beginning.
#[derive(Debug)]
pub struct Transfer {
    /// Whose memory.
    pub peer: Peer,
    /// Where the first byte is read or written there.
    pub memory: RemoteMemory,
    /// Where they come from or go to here.
    pub segment: Segment,
    /// How many; not more than the segment's.
    pub len: u64,
    /// What for.
    pub owner: Owner,
}

/// An atomic operation on elements of a peer, or of this process, that the network does (MPI-5.0 §12.3.4).
#[derive(Debug)]
pub struct AtomicTransfer {
    /// Whose memory.
    pub peer: Peer,
    /// Where the first element lies there.
    pub memory: RemoteMemory,
    /// What they are.
    pub element: &'static Builtin,
    /// What is done to them.
    pub step: Step,
    /// The operands, packed; for a compare-and-swap what the element is expected to be, and the new one.
    pub operands: Segment,
    /// Their memory, if it is the library's.
    pub owned: Option<OwnedBuf>,
    /// Gets what they were, packed.
    pub old: Option<Segment>,
    /// What for.
    pub owner: Owner,
}

/// Which way bytes go between our memory and a peer's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Out of ours.
    Put,
    /// Into ours.
    Get,
}

/// How a piece of a copy between processes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// There is more to copy.
    More,
    /// That was all.
    Last,
    /// The system does not let us.
    Refused,
    /// One of the buffers cannot be accessed.
    Unreadable,
}

/// How a one-sided operation has gone.
#[derive(Debug)]
pub enum Outcome {
    /// All bytes are in place.
    Done,
    /// The system or the network does not let this process; the segment stands at its beginning again.
    Refused(Segment),
    /// The memory at one of the ends cannot be accessed.
    Unreadable,
}

/// A message that comes through a bounce buffer.
#[derive(Debug)]
pub struct Drain {
    /// The sender.
    pub from: Peer,
    /// Where in which buffer it begins.
    pub cursor: BufferCursor,
    /// Bytes that are there already.
    pub filled: u64,
    /// The receive.
    pub receiver: RequestId,
    /// Where the message goes.
    pub segment: Segment,
    /// Length of the message, which may exceed the segment's.
    pub len: u64,
}

/// A long message that was granted, on its way out.
#[derive(Debug)]
pub struct GrantedSend {
    /// The receiver.
    pub to: Peer,
    /// The receiver's request.
    pub receiver: RequestId,
    /// The send.
    pub sender: RequestId,
    /// What is sent.
    pub segment: Segment,
    /// Where in the segment that ends: at its end, but for a part of a message.
    pub until: u64,
    /// How it is to go.
    pub granted: Granted,
}

impl GrantedSend {
    /// Bytes that have not left.
    pub(super) fn left(&self) -> u64 {
        self.until.saturating_sub(self.segment.position())
    }
}

/// A receive that is to be opened for a message.
#[derive(Debug)]
pub struct OpenReceive {
    /// The sender.
    pub from: Peer,
    /// What it offered.
    pub offer: Offer,
    /// The receive.
    pub receiver: RequestId,
    /// Where the message goes.
    pub segment: Segment,
    /// Length of the message, which may exceed the segment's.
    pub len: u64,
    /// Bytes of it that are in place already.
    pub arrived: u64,
}

impl OpenReceive {
    /// The memory that takes all of the message in one piece, if the receive buffer is like that.
    pub(crate) fn whole(&self) -> Option<UserBuf> {
        let (buffer, room) = self.segment.contiguous_rest()?;
        (self.arrived == 0 && room >= self.len).then_some(buffer)
    }
}
