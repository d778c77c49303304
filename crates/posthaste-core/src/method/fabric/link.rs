//! The packets of one peer: numbered, and looked at in the order of their numbers.
//!
//! A network of reliable messages keeps them in order only if asked to, and even then may report a long one after a
//! short one that came behind it. What must stay true: no number is looked at twice, and what comes too early is stored
//! only within limits.

use std::collections::{BTreeMap, VecDeque};

use posthaste_os::fabric::{Remote, Slot};
use posthaste_os::mem::Source;
use zerocopy::little_endian::{U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::silence::Silence;
use crate::datatype::Format;
use crate::method::reassembly::Reassembly;

/// Bytes in front of a packet's header.
pub(super) const PREAMBLE: usize = size_of::<Preamble>();
/// Packets that may be under way before further messages wait: what a peer that throttles still gets.
const WINDOW: u32 = 128;
/// How far in front of its turn a packet may come.
const EARLY: u32 = 4096;

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Preamble {
    job: U64,
    from: U32,
    number: U32,
    seen: U32,
    frame: U32,
}

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// A packet.
    Packet,
    /// Nothing: the receiver of this is to send no messages.
    Throttle,
    /// It need not any more.
    Resume,
    /// Nothing more is coming, and nothing more is wanted.
    Bye,
    /// Nothing: the receiver of this has to know how far its packets have been looked at.
    Seen,
    /// Nothing: whether the network gets it there is what the sender has to know. It bears the next number without taking
    /// it, so that however many come to a peer that does not look, they keep no message waiting.
    Ask,
}

/// Whose packet it is, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub(super) job: u64,
    pub(super) from: u32,
    pub(super) number: u32,
    /// Number of the next packet that the sender of this wants.
    pub(super) seen: u32,
    pub(super) frame: Frame,
}

impl Mark {
    pub(super) fn write(self) -> [u8; PREAMBLE] {
        let frame = match self.frame {
            Frame::Packet => 0,
            Frame::Throttle => 1,
            Frame::Resume => 2,
            Frame::Bye => 3,
            Frame::Seen => 4,
            Frame::Ask => 5,
        };
        let preamble = Preamble {
            job: self.job.into(),
            from: self.from.into(),
            number: self.number.into(),
            seen: self.seen.into(),
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
            1 => Frame::Throttle,
            2 => Frame::Resume,
            3 => Frame::Bye,
            4 => Frame::Seen,
            5 => Frame::Ask,
            _ => return None,
        };
        let (job, from) = (preamble.job.get(), preamble.from.get());
        let (number, seen) = (preamble.number.get(), preamble.seen.get());
        Some((Self { job, from, number, seen, frame }, bytes.len() - PREAMBLE))
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
    /// It has none.
    None,
}

/// The link to one peer.
#[derive(Debug)]
pub(super) struct Link {
    /// `None`: the peer is down.
    remote: Option<Remote>,
    /// How the peer's data looks.
    pub(super) format: Format,
    /// The peer throttles our messages.
    pub(super) throttled: bool,
    /// The peer is leaving.
    pub(super) is_leaving: bool,
    /// Packets that the network has not taken yet.
    pub(super) backlog: VecDeque<(Slot, usize)>,
    /// Number of the next packet to be sent, and of the next one to be looked at.
    outgoing: u32,
    incoming: u32,
    /// What the peer has said that it has looked at, and how far that has been acknowledged to it.
    seen: u32,
    acked: u32,
    early: BTreeMap<u32, (Frame, Vec<u8>)>,
    pub(super) silence: Silence,
    pub(super) reassembly: Reassembly,
}

impl Link {
    pub(super) fn new(remote: Remote, format: Format, silence: Silence) -> Self {
        Self { remote: Some(remote), silence, ..Self::down(format) }
    }

    /// A link to a peer that cannot be reached.
    pub(super) fn down(format: Format) -> Self {
        Self {
            remote: None,
            format,
            throttled: false,
            is_leaving: false,
            backlog: VecDeque::new(),
            outgoing: 0,
            incoming: 0,
            seen: 0,
            acked: 0,
            early: BTreeMap::new(),
            silence: Silence::default(),
            reassembly: Reassembly::default(),
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

    /// What a packet that is about to be sent bears.
    pub(super) fn mark(&mut self, job: u64, from: u32, frame: Frame) -> Mark {
        let number = self.outgoing;
        self.outgoing = number.wrapping_add(u32::from(frame != Frame::Ask));
        self.acked = self.incoming;
        Mark { job, from, number, seen: self.incoming, frame }
    }

    /// Whether messages may leave, as far as those under way are concerned.
    pub(super) fn has_room(&self) -> bool {
        self.outgoing.wrapping_sub(self.seen) < WINDOW
    }

    /// The peer has looked at everything before this number.
    pub(super) fn saw(&mut self, seen: u32) {
        if self.outgoing.wrapping_sub(seen) <= self.outgoing.wrapping_sub(self.seen) {
            self.seen = seen;
        }
    }

    /// Whether an acknowledgement is due, for the peer may wait; then it counts as sent.
    pub(super) fn is_due(&mut self) -> bool {
        let is_due = self.incoming.wrapping_sub(self.acked) >= WINDOW / 2;
        if is_due {
            self.acked = self.incoming;
        }
        is_due
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

    /// Stores a packet that has come early.
    pub(super) fn store_early(&mut self, mark: Mark, body: Vec<u8>) {
        self.early.insert(mark.number, (mark.frame, body));
    }

    /// A packet that came early, if it is its turn.
    pub(super) fn next(&mut self) -> Option<(Frame, Vec<u8>)> {
        if self.early.is_empty() {
            return None;
        }
        let packet = self.early.remove(&self.incoming)?;
        self.incoming = self.incoming.wrapping_add(1);
        Some(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_mark_survives_and_others_are_refused() {
        for frame in [Frame::Packet, Frame::Throttle, Frame::Resume, Frame::Bye, Frame::Seen, Frame::Ask] {
            let mark = Mark { job: 7 << 60, from: 3, number: u32::MAX, seen: 9, frame };
            let bytes = [&mark.write()[..], b"data"].concat();
            assert_eq!(Mark::read(bytes[..].into()), Some((mark, 4)));
        }
        let mut bytes = Mark { job: 1, from: 2, number: 3, seen: 0, frame: Frame::Packet }.write();
        assert_eq!(Mark::read(bytes[..PREAMBLE - 1].into()), None);
        bytes[PREAMBLE - 4] = 6;
        assert_eq!(Mark::read(bytes[..].into()), None);
    }

    #[test]
    fn messages_wait_for_what_the_peer_has_seen() {
        let mut link = Link { outgoing: u32::MAX - 5, seen: u32::MAX - 5, ..Link::down(Format::NATIVE) };
        let mut last = 0;
        while link.has_room() {
            last = link.mark(0, 0, Frame::Packet).number;
        }
        assert_eq!(last, (u32::MAX - 5).wrapping_add(WINDOW - 1));
        link.saw(last.wrapping_add(2)); // not sent yet: not believed
        link.saw(u32::MAX - 6); // seen long ago
        assert!(!link.has_room());
        link.saw(last);
        assert!(link.has_room());
        link.incoming = link.acked.wrapping_add(WINDOW / 2);
        assert_eq!((link.is_due(), link.is_due()), (true, false));
        assert_eq!(link.mark(0, 0, Frame::Seen).seen, link.incoming);
    }

    #[test]
    fn asking_takes_no_number() {
        let mut link = Link::down(Format::NATIVE);
        let numbers = [Frame::Ask, Frame::Packet, Frame::Ask, Frame::Packet];
        assert_eq!(numbers.map(|frame| link.mark(0, 0, frame).number), [0, 0, 1, 1]);
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
                let (number_there, frame) = (first.wrapping_add(number), Frame::Packet);
                let mark = Mark { job: 0, from: 0, number: number_there, seen: 0, frame };
                match link.turn(mark.number) {
                    Turn::Now => seen.push(number),
                    Turn::Later => link.store_early(mark, number.to_le_bytes().to_vec()),
                    Turn::Never | Turn::None => continue,
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
