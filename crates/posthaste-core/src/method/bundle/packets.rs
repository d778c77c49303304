//! The numbered frames of one peer, both ways: stored until the peer has seen them, looked at in the order of their numbers.
//!
//! Does no I/O. What must stay true: each number is looked at once, whatever the links do; what is stored, and what comes
//! too early, is bounded; the numbers of what is stored have no gap.

use std::collections::{BTreeMap, VecDeque};

use super::frame::{Frame, Mark};

/// What may be unacknowledged before further messages wait: bytes, frames, and bytes that no link has taken yet.
const MOST_BYTES: usize = 512 << 10;
const MOST: usize = 1024;
const MOST_UNSENT: usize = 64 << 10;
/// How far in front of its turn a frame may come: no peer stores more.
const EARLY: u32 = 4096;
/// The peer is sent an acknowledgement at once when so many, or so many bytes, have come since.
const MANY: u32 = 64;
const MANY_BYTES: usize = 64 << 10;

/// A frame that the peer may not have.
#[derive(Debug)]
struct Unacked {
    number: u32,
    /// The link that has it, if one has.
    link: Option<usize>,
    frame: Frame,
    body: Vec<u8>,
}

/// When a frame is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Now,
    /// Others come first.
    Later,
    /// It has been already, or cannot be one of this peer.
    Never,
}

/// The numbered frames of one peer.
#[derive(Debug, Default)]
pub(super) struct Packets {
    unacked: VecDeque<Unacked>,
    unacked_bytes: usize,
    /// Numbers of those that no link has.
    unsent: VecDeque<u32>,
    unsent_bytes: usize,
    /// Number of the next frame to be sent, and of the next one to be looked at.
    outgoing: u32,
    incoming: u32,
    early: BTreeMap<u32, (Frame, Vec<u8>)>,
    /// What of `incoming` has been acknowledged, and the bytes that have come since.
    acked: u32,
    bytes: usize,
}

impl Packets {
    /// Whether another frame may be stored. Those that answer what has come may be twice as many.
    pub(super) fn has_room(&self, is_message: bool) -> bool {
        let by = if is_message { 1 } else { 2 };
        self.unacked_bytes < by * MOST_BYTES
            && self.unacked.len() < by * MOST
            && self.unsent_bytes < by * MOST_UNSENT
    }

    /// Whether the peer has seen everything.
    pub(super) fn is_seen(&self) -> bool {
        self.unacked.is_empty()
    }

    /// Queues a frame, which is to be sent.
    pub(super) fn push(&mut self, frame: Frame, body: Vec<u8>) {
        let number = self.outgoing;
        self.outgoing = number.wrapping_add(1);
        self.unacked_bytes += body.len();
        self.unsent_bytes += body.len();
        self.unsent.push_back(number);
        self.unacked.push_back(Unacked { number, link: None, frame, body });
    }

    /// The next frame that no link has.
    pub(super) fn next_unsent(&self) -> Option<(Mark, &[u8])> {
        let unacked = &self.unacked[self.place(*self.unsent.front()?)?];
        Some((Mark { frame: unacked.frame, number: unacked.number, seen: self.incoming }, &unacked.body))
    }

    /// That frame is on its way over this link, and acknowledges what we have seen.
    pub(super) fn sent(&mut self, link: usize) {
        let place = self.unsent.pop_front().and_then(|number| self.place(number));
        if let Some(unacked) = place.and_then(|place| self.unacked.get_mut(place)) {
            unacked.link = Some(link);
            self.unsent_bytes -= unacked.body.len();
            (self.acked, self.bytes) = (self.incoming, 0);
        }
    }

    /// A link is lost: what it had is to be sent once more. How many frames that are.
    pub(super) fn lose(&mut self, link: usize) -> u64 {
        let mut lost = 0;
        for unacked in self.unacked.iter_mut().filter(|unacked| unacked.link == Some(link)) {
            unacked.link = None;
            lost += 1;
        }
        let unsent = || self.unacked.iter().filter(|unacked| unacked.link.is_none());
        self.unsent_bytes = unsent().map(|unacked| unacked.body.len()).sum();
        self.unsent = unsent().map(|unacked| unacked.number).collect();
        self.ack_again(); // the last acknowledgement may be lost as well
        lost
    }

    fn place(&self, number: u32) -> Option<usize> {
        let first = self.unacked.front()?.number;
        Some(number.wrapping_sub(first) as usize).filter(|place| *place < self.unacked.len())
    }

    /// The peer has looked at everything in front of this number.
    pub(super) fn saw(&mut self, seen: u32) {
        let Some(first) = self.unacked.front().map(|unacked| unacked.number) else { return };
        let n = seen.wrapping_sub(first) as usize;
        if n > self.unacked.len() {
            return; // said before, or nothing that it can have seen
        }
        for unacked in self.unacked.drain(..n) {
            self.unacked_bytes -= unacked.body.len();
            if unacked.link.is_none() {
                // It has come by the link that is lost, after all.
                self.unsent_bytes -= unacked.body.len();
                self.unsent.pop_front();
            }
        }
    }

    /// Whether it is this frame's turn, which then is the next one's.
    pub(super) fn turn(&mut self, number: u32, bytes: usize) -> Turn {
        let ahead = number.wrapping_sub(self.incoming);
        if ahead == 0 {
            self.step(bytes);
            return Turn::Now;
        }
        if ahead > EARLY || self.early.contains_key(&number) {
            self.ack_again(); // whoever repeats it had no acknowledgement, or it is lost
            return Turn::Never;
        }
        Turn::Later
    }

    fn step(&mut self, bytes: usize) {
        self.incoming = self.incoming.wrapping_add(1);
        self.bytes += bytes;
    }

    /// Stores a frame that has come early.
    pub(super) fn store_early(&mut self, number: u32, frame: Frame, body: Vec<u8>) {
        self.early.insert(number, (frame, body));
    }

    /// A frame that came early, if it is its turn.
    pub(super) fn next_early(&mut self) -> Option<(Frame, Vec<u8>)> {
        if self.early.is_empty() {
            return None;
        }
        let (frame, body) = self.early.remove(&self.incoming)?;
        self.step(body.len());
        Some((frame, body))
    }

    /// Everything in front of this number has been looked at here.
    pub(super) fn seen(&self) -> u32 {
        self.incoming
    }

    /// Whether the peer does not know how far its frames have been seen.
    pub(super) fn owes(&self) -> bool {
        self.acked != self.incoming
    }

    /// Whether an acknowledgement is due soon, for the peer may wait.
    pub(super) fn owes_much(&self) -> bool {
        self.owes() && (self.incoming.wrapping_sub(self.acked) >= MANY || self.bytes >= MANY_BYTES)
    }

    /// An acknowledgement is due once more.
    fn ack_again(&mut self) {
        self.acked = self.incoming.wrapping_sub(1);
    }

    /// Whether this link has a frame that the peer may not have.
    pub(super) fn is_on(&self, link: usize) -> bool {
        self.unacked.iter().any(|unacked| unacked.link == Some(link))
    }

    /// An acknowledgement has been sent.
    pub(super) fn acked(&mut self) {
        (self.acked, self.bytes) = (self.incoming, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Frames over links that are lost at any time, in any order within reach: each is looked at once, in order,
        /// over the end of the numbers, and at last nothing is stored.
        #[test]
        fn each_frame_is_looked_at_once(first: u32, steps in prop::collection::vec((0..6u32, 0..3usize), 0..400)) {
            let mut sender = Packets { outgoing: first, ..Packets::default() };
            let mut receiver = Packets { incoming: first, acked: first, ..Packets::default() };
            let mut links = [const { VecDeque::<(Mark, Vec<u8>)>::new() }; 3];
            let (mut pushed, mut looked) = (0u32, Vec::new());
            let drain = std::iter::repeat_n([(1, 0), (2, 0), (2, 1), (2, 2), (3, 0)], 1500).flatten();
            for (what, link) in steps.into_iter().chain([(4, 1)]).chain(drain) {
                match what {
                    0 | 5 if sender.has_room(true) => {
                        sender.push(Frame::Packet, pushed.to_le_bytes().to_vec());
                        pushed += 1;
                    }
                    1 => {
                        if let Some((mark, body)) = sender.next_unsent() {
                            links[link].push_back((mark, body.to_vec()));
                            sender.sent(link);
                        }
                    }
                    2 => {
                        let Some((mark, body)) = links[link].pop_front() else { continue };
                        match receiver.turn(mark.number, body.len()) {
                            Turn::Now => looked.push(body),
                            Turn::Later => receiver.store_early(mark.number, mark.frame, body),
                            Turn::Never => continue,
                        }
                        while let Some((_, body)) = receiver.next_early() {
                            looked.push(body);
                        }
                    }
                    3 if receiver.owes() => {
                        sender.saw(receiver.seen());
                        receiver.acked();
                    }
                    4 => {
                        // Some of what was on the way may have come.
                        let half = links[link].len() / 2;
                        links[link].truncate(half);
                        sender.lose(link);
                    }
                    _ => {}
                }
            }
            let expected: Vec<Vec<u8>> = (0..pushed).map(|n| n.to_le_bytes().to_vec()).collect();
            prop_assert_eq!(looked, expected);
            prop_assert!(sender.is_seen() && !receiver.owes());
            prop_assert_eq!((sender.unacked_bytes, sender.unsent_bytes, sender.unsent.len()), (0, 0, 0));
        }
    }

    #[test]
    fn messages_wait_while_much_is_unacknowledged_and_answers_may_be_twice_as_many() {
        let mut packets = Packets::default();
        while packets.has_room(true) {
            packets.push(Frame::Packet, vec![0; 1000]);
            packets.sent(0);
        }
        assert_eq!(packets.unacked.len(), (512 << 10) / 1000 + 1);
        assert!(packets.has_room(false));
        packets.saw(u32::MAX); // cannot be
        assert!(!packets.has_room(true));
        packets.saw(packets.outgoing);
        assert!(packets.is_seen() && packets.has_room(true));
    }
}
