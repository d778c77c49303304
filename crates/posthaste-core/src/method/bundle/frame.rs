//! What two bundles say to each other over any of their links: a few words in front of what they carry.
//!
//! ```text
//!   frame (4 bytes) | number (4) | seen (4) | body
//! ```
//!
//! Does no I/O. What must stay true: everything from a peer is checked.

use posthaste_os::mem::Source;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::ids::RequestId;

/// Bytes in front of a body.
pub(super) const FRONT: usize = size_of::<Words>();

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Words {
    frame: U32,
    number: U32,
    seen: U32,
}

/// What is said. The first four have a number, and are looked at in the order of their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A packet: its header and its payload.
    Packet,
    /// Throttle your messages.
    Throttle,
    /// They may come again.
    Resume,
    /// A range of a long message is in its place ([`Placed`]).
    Placed,
    /// How far numbers have been seen; in the place of the number, which links are lost (bit 0 for the first).
    Seen,
    /// Say how far you have seen: a link has been silent for long.
    Ask,
    /// Nothing more comes: links that end now are not lost.
    Bye,
}

/// The words in front of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) frame: Frame,
    pub(super) number: u32,
    /// Everything in front of this number has been looked at by who says so.
    pub(super) seen: u32,
}

impl Mark {
    pub(super) fn write(self) -> [u8; FRONT] {
        let frame = match self.frame {
            Frame::Packet => 0,
            Frame::Throttle => 1,
            Frame::Resume => 2,
            Frame::Placed => 3,
            Frame::Seen => 4,
            Frame::Bye => 5,
            Frame::Ask => 6,
        };
        let words = Words { frame: U32::new(frame), number: self.number.into(), seen: self.seen.into() };
        zerocopy::transmute!(words)
    }

    /// The mark of what has arrived, and its body; `None` if it cannot be read.
    pub(super) fn read(bytes: Source<'_>) -> Option<(Self, Source<'_>)> {
        let (front, body) = bytes.split_at(FRONT);
        let mut words = [0; FRONT];
        if front.copy_to(&mut words) < FRONT {
            return None;
        }
        let words: Words = zerocopy::transmute!(words);
        let frame = match words.frame.get() {
            0 => Frame::Packet,
            1 => Frame::Throttle,
            2 => Frame::Resume,
            3 => Frame::Placed,
            4 => Frame::Seen,
            5 => Frame::Bye,
            6 => Frame::Ask,
            _ => return None,
        };
        Some((Self { frame, number: words.number.get(), seen: words.seen.get() }, body))
    }
}

/// Bytes `from..to` of the message for this receive are in their place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) receiver: RequestId,
    pub(super) from: u64,
    pub(super) to: u64,
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct PlacedBody {
    slot: U32,
    generation: U32,
    from: U64,
    to: U64,
}

impl Placed {
    pub(super) fn write(self) -> Vec<u8> {
        let Self { receiver: RequestId { slot, generation }, from, to } = self;
        let (slot, generation) = (slot.into(), generation.into());
        PlacedBody { slot, generation, from: from.into(), to: to.into() }.as_bytes().to_vec()
    }

    pub(super) fn read(body: Source<'_>) -> Option<Self> {
        let mut bytes = [0; size_of::<PlacedBody>()];
        if body.len() != bytes.len() || body.copy_to(&mut bytes) < bytes.len() {
            return None;
        }
        let body: PlacedBody = zerocopy::transmute!(bytes);
        let receiver = RequestId { slot: body.slot.get(), generation: body.generation.get() };
        Some(Self { receiver, from: body.from.get(), to: body.to.get() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_survives_and_other_bytes_are_refused() {
        for frame in [
            Frame::Packet,
            Frame::Throttle,
            Frame::Resume,
            Frame::Placed,
            Frame::Seen,
            Frame::Ask,
            Frame::Bye,
        ] {
            let mark = Mark { frame, number: u32::MAX, seen: 7 };
            let bytes = [&mark.write()[..], b"body"].concat();
            let (read, body) = Mark::read(bytes[..].into()).unwrap();
            assert_eq!((read, body.to_vec()), (mark, b"body".to_vec()));
        }
        let mut bytes = Mark { frame: Frame::Bye, number: 0, seen: 0 }.write();
        assert!(Mark::read(bytes[..FRONT - 1].into()).is_none());
        bytes[0] = 7;
        assert!(Mark::read(bytes[..].into()).is_none());
        let placed = Placed { receiver: RequestId { slot: 3, generation: 4 }, from: 1 << 40, to: u64::MAX };
        let bytes = placed.write();
        assert_eq!(Placed::read(bytes[..].into()), Some(placed));
        assert_eq!(Placed::read(bytes[1..].into()), None);
    }
}
