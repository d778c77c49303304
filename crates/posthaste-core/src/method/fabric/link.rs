//! The packets of one peer: numbered, and looked at in the order of their numbers.
//!
//! Used by `fabric`. A network of reliable messages keeps them in order only if asked to, and even then may tell of a long
//! one after a short one that came behind it. What must stay true: no number is looked at twice, and what comes too early is
//! kept only within limits.

use std::collections::{BTreeMap, VecDeque};

use posthaste_os::fabric::{Remote, Slot};
use posthaste_os::mem::Source;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::datatype::Format;
use crate::method::landing::Landing;

/// Bytes in front of a packet's header.
pub(super) const PREAMBLE: usize = size_of::<Preamble>();
/// How far in front of its turn a packet may come.
const EARLY: u32 = 4096;

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Preamble {
    job: U64,
    from: U32,
    number: U32,
    frame: U32,
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A packet.
    Packet,
    /// Nothing: the receiver of this is to hold its messages back.
    Hold,
    /// It need not any more.
    Release,
    /// Nothing more is coming, and nothing more is wanted.
    Bye,
}

/// Whose packet it is, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) job: u64,
    pub(super) from: u32,
    pub(super) number: u32,
    pub(super) frame: Frame,
}

impl Mark {
    pub(super) fn write(self) -> [u8; PREAMBLE] {
        let frame = match self.frame {
            Frame::Packet => 0,
            Frame::Hold => 1,
            Frame::Release => 2,
            Frame::Bye => 3,
        };
        let preamble = Preamble {
            job: self.job.into(),
            from: self.from.into(),
            number: self.number.into(),
            frame: U32::new(frame),
        };
        zerocopy::transmute!(preamble)
    }

    /// The mark of what has arrived, and how many bytes follow it; `None` if it cannot be read.
    pub(super) fn read(bytes: Source<'_>) -> Option<(Self, usize)> {
        let mut preamble = [0; PREAMBLE];
        if bytes.copy_to(&mut preamble) < PREAMBLE {
            return None;
        }
        let preamble: Preamble = zerocopy::transmute!(preamble);
        let frame = match preamble.frame.get() {
            0 => Frame::Packet,
            1 => Frame::Hold,
            2 => Frame::Release,
            3 => Frame::Bye,
            _ => return None,
        };
        let (job, from, number) = (preamble.job.get(), preamble.from.get(), preamble.number.get());
        Some((Self { job, from, number, frame }, bytes.len() - PREAMBLE))
    }
}

/// When a packet is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    /// Others come first.
    Later,
    /// It has been already, or cannot be one of this link.
    Never,
}

/// The link to one peer.
#[derive(Debug)]
pub(super) struct Link {
    /// `None`: the peer is down.
    remote: Option<Remote>,
    /// How the peer's data looks.
    pub(super) format: Format,
    /// The peer holds our messages back.
    pub(super) held: bool,
    /// The peer is leaving.
    pub(super) is_leaving: bool,
    /// Packets that the network has not taken yet.
    pub(super) backlog: VecDeque<(Slot, usize)>,
    /// Number of the next packet to be sent, and of the next one to be looked at.
    outgoing: u32,
    incoming: u32,
    early: BTreeMap<u32, (Frame, Vec<u8>)>,
    pub(super) landing: Landing,
}

impl Link {
    pub(super) fn new(remote: Remote, format: Format) -> Self {
        Self { remote: Some(remote), ..Self::down(format) }
    }

    /// A link to a peer that cannot be reached.
    pub(super) fn down(format: Format) -> Self {
        Self {
            remote: None,
            format,
            held: false,
            is_leaving: false,
            backlog: VecDeque::new(),
            outgoing: 0,
            incoming: 0,
            early: BTreeMap::new(),
            landing: Landing::default(),
        }
    }

    pub(super) fn is_down(&self) -> bool {
        self.remote.is_none()
    }

    pub(super) fn remote(&self) -> Option<Remote> {
        self.remote
    }

    pub(super) fn leads_to(&self, remote: Remote) -> bool {
        self.remote == Some(remote)
    }

    /// The number of a packet that is about to be sent.
    pub(super) fn count(&mut self) -> u32 {
        let number = self.outgoing;
        self.outgoing = number.wrapping_add(1);
        number
    }

    /// Whether it is this packet's turn, which then is the next one's.
    pub(super) fn turn(&mut self, number: u32) -> Turn {
        let ahead = number.wrapping_sub(self.incoming);
        if self.is_down() || ahead > EARLY {
            return Turn::Never;
        }
        if ahead > 0 {
            return Turn::Later;
        }
        self.incoming = number.wrapping_add(1);
        Turn::Now
    }

    /// Keeps a packet that has come early.
    pub(super) fn keep(&mut self, mark: Mark, body: Vec<u8>) {
        self.early.insert(mark.number, (mark.frame, body));
    }

    /// A packet that was kept, if it is its turn.
    pub(super) fn next(&mut self) -> Option<(Frame, Vec<u8>)> {
        if self.early.is_empty() {
            return None;
        }
        let kept = self.early.remove(&self.incoming)?;
        self.incoming = self.incoming.wrapping_add(1);
        Some(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mark_survives_and_others_are_refused() {
        for frame in [Frame::Packet, Frame::Hold, Frame::Release, Frame::Bye] {
            let mark = Mark { job: 7 << 60, from: 3, number: u32::MAX, frame };
            let bytes = [&mark.write()[..], b"data"].concat();
            assert_eq!(Mark::read(bytes[..].into()), Some((mark, 4)));
        }
        let mut bytes = Mark { job: 1, from: 2, number: 3, frame: Frame::Packet }.write();
        assert_eq!(Mark::read(bytes[..PREAMBLE - 1].into()), None);
        bytes[PREAMBLE - 4] = 4;
        assert_eq!(Mark::read(bytes[..].into()), None);
    }

    proptest! {
        /// Packets in any order within reach, some twice: each is looked at once, in order, over the end of the numbers.
        #[test]
        fn packets_have_their_turn(first: u32, swaps in prop::collection::vec((0..40usize, 0..40usize), 0..100), twice in 0..40usize) {
            let mut link = Link { remote: Some(Remote::nowhere()), incoming: first, ..Link::down(Format::NATIVE) };
            let mut order: Vec<u32> = (0..40).collect();
            swaps.iter().for_each(|(a, b)| order.swap(*a, *b));
            order.insert(twice, order[twice]);
            let mut seen = Vec::new();
            for number in order {
                let mark = Mark { job: 0, from: 0, number: first.wrapping_add(number), frame: Frame::Packet };
                match link.turn(mark.number) {
                    Turn::Now => seen.push(number),
                    Turn::Later => link.keep(mark, number.to_le_bytes().to_vec()),
                    Turn::Never => continue,
                }
                while let Some((_, body)) = link.next() {
                    seen.push(u32::from_le_bytes(body.try_into().unwrap()));
                }
            }
            prop_assert_eq!(seen, (0..40).collect::<Vec<u32>>());
            prop_assert_eq!(link.turn(first.wrapping_add(41 + EARLY)), Turn::Never);
        }
    }
}
