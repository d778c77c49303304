//! What methods and the engine hand each other: what a way can do, what a poll found, long messages on their way.
//!
//! What must stay true: as said in `method`.

use std::collections::VecDeque;

use posthaste_os::mem::Sink;

use crate::buffer::UserBuf;
use crate::datatype::Segment;
use crate::error::Error;
use crate::ids::{Peer, RequestId};
use crate::trace::Counts;
use crate::wire::{Envelope, Granted, Offer, Packet};

/// The system takes data from where it lies if it lies in pieces of this mean length at least, in bytes; shorter ones are
/// copied together first.
pub const SHORT_RUN: u64 = 512;

/// What the way to a peer can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caps {
    /// Longest payload of one packet, in bytes.
    pub packet: usize,
    /// Longest message that can leave in one packet from where it lies, in bytes.
    pub in_place: usize,
    /// Both sides can copy through a common buffer.
    pub stream: bool,
    /// The receiver can read a contiguous message where it lies.
    pub get: bool,
    /// The same for a message that is not contiguous.
    pub get_any: bool,
    /// The sender can write into the receiver's memory, if it lies in one piece.
    pub put: bool,
    /// The same part by part.
    pub windows: bool,
    /// Memory has to be registered for each message, which is better done part by part.
    pub registers: bool,
    /// Messages to there are likely to be received into memory that the receiver shares with this process.
    pub into: bool,
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
    /// All bytes of an incoming long message are in place.
    Received(RequestId),
    /// Bytes from here to there of a long message that comes over several links are in place: told by a link, and no
    /// news for the engine.
    Placed(RequestId, u64, u64),
    /// All bytes of an outgoing long message have left; the buffer is the user's again.
    Sent(RequestId),
    /// A get cannot be done: the receive and its buffer, untouched.
    Refused(RequestId, Segment),
    /// A direct copy cannot be done: one of the buffers cannot be accessed.
    Unreadable(RequestId),
    /// Something unreadable came from this peer; nothing more is read from it.
    Malformed(Peer),
    /// This peer cannot be reached any more: nothing comes from it, and nothing more of what was handed over for it ends.
    PeerDown(Peer, Error),
}

/// An event that a method keeps until it is polled.
#[derive(Debug)]
pub(super) enum Done {
    Received(RequestId),
    Sent(RequestId),
    Refused(RequestId, Segment),
}

impl Done {
    pub(super) fn event(self) -> Event<'static> {
        match self {
            Self::Received(id) => Event::Received(id),
            Self::Sent(id) => Event::Sent(id),
            Self::Refused(id, segment) => Event::Refused(id, segment),
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

/// Tells what a method has kept for its poll; whether there was anything.
pub(super) fn tell(
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

/// Where a long message goes: what the receiver's side needs to get it.
#[derive(Debug)]
pub struct Get {
    /// The sender.
    pub from: Peer,
    /// The sender's request.
    pub sender: RequestId,
    /// What it offered.
    pub offer: Offer,
    /// The receive.
    pub receiver: RequestId,
    /// Where the message goes.
    pub segment: Segment,
    /// Length of the message, which may exceed the segment's.
    pub len: u64,
}

/// A long message that was granted, on its way out.
#[derive(Debug)]
pub struct Put {
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

impl Put {
    /// Bytes that have not left.
    pub(super) fn left(&self) -> u64 {
        self.until.saturating_sub(self.segment.position())
    }
}

/// A receive that is opened for a message that comes in parts.
#[derive(Debug)]
pub struct Expose {
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

impl Expose {
    /// The memory that takes all of the message in one piece, if the receive buffer is like that.
    pub(super) fn whole(&self) -> Option<UserBuf> {
        let (buffer, room) = self.segment.contiguous_rest()?;
        (self.arrived == 0 && room >= self.len).then_some(buffer)
    }
}
