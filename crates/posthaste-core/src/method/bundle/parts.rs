//! Long messages over several links: which parts are on which link, and which ranges have come.
//!
//! Does no I/O. What must stay true: a byte is on one link at a time, and on each link at most once; a range counts
//! once, however often it comes; a message is over only when its receiver has said so of every byte, so the sender's
//! buffer can be read once more as long as that may be needed.

use std::collections::{BTreeMap, VecDeque};

use super::MOST;
use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};

/// Longest part.
const PART: u64 = 256 << 10;
/// A message is cut into about so many parts for each link, so that all links end at about the same time.
const PARTS: u64 = 8;

/// Ranges of a message, none of which touch each other: ends by beginnings.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<u64, u64>);

impl Ranges {
    /// Adds a range. How many of its bytes are new.
    pub(super) fn add(&mut self, from: u64, to: u64) -> u64 {
        let (mut begin, mut end, mut known) = (from, to, 0);
        while let Some((first, last)) = self.0.range(..=end).next_back().map(|(first, last)| (*first, *last))
        {
            if last < begin {
                break;
            }
            self.0.remove(&first);
            known += last.min(to).saturating_sub(first.max(from));
            (begin, end) = (begin.min(first), end.max(last));
        }
        self.0.insert(begin, end);
        to - from - known
    }
}

/// A message that is coming.
#[derive(Debug)]
pub(super) struct Incoming {
    pub(super) from: Peer,
    pub(super) len: u64,
    arrived: u64,
    ranges: Ranges,
}

impl Incoming {
    /// A message of which the first bytes are there.
    pub(super) fn new(from: Peer, len: u64, arrived: u64) -> Self {
        let mut ranges = Ranges::default();
        ranges.add(0, arrived);
        Self { from, len, arrived, ranges }
    }

    /// A range has come; whether that is all of the message now.
    pub(super) fn placed(&mut self, from: u64, to: u64) -> bool {
        self.arrived += self.ranges.add(from, to);
        self.arrived >= self.len
    }
}

/// A message on its way.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) receiver: RequestId,
    pub(super) sender: RequestId,
    pub(super) segment: Segment,
    part: u64,
    /// Ranges that no link has.
    rest: VecDeque<(u64, u64)>,
    /// Ranges on links.
    parts: Vec<(usize, u64, u64)>,
    /// How many parts each link has and may still read.
    reading: [u32; MOST],
}

impl Outgoing {
    /// A message that goes over so many links if it has at least `limit` bytes, and over one otherwise.
    pub(super) fn new(
        receiver: RequestId,
        sender: RequestId,
        segment: Segment,
        links: usize,
        limit: u64,
    ) -> Self {
        let (from, to) = (segment.position(), segment.len());
        let part = match to - from {
            len if len < limit => len,
            len => (len / (PARTS * links as u64)).clamp((limit / 4).clamp(1, PART), PART),
        };
        let (rest, parts, reading) = (VecDeque::from([(from, to)]), Vec::new(), [0; MOST]);
        Self { receiver, sender, segment, part, rest, parts, reading }
    }

    /// Bytes of the next part, if there is one.
    pub(super) fn next_len(&self) -> Option<u64> {
        self.rest.front().map(|(from, to)| (to - from).min(self.part))
    }

    /// The next part, which this link takes.
    pub(super) fn take(&mut self, link: usize) -> Option<(u64, u64)> {
        let (from, to) = self.rest.pop_front()?;
        let end = to.min(from + self.part);
        if end < to {
            self.rest.push_front((end, to));
        }
        self.parts.push((link, from, end));
        self.reading[link] += 1;
        Some((from, end))
    }

    /// Whether a link has a part that it has not read.
    pub(super) fn is_read_by(&self, link: usize) -> bool {
        self.reading[link] > 0
    }

    /// A link has read a part.
    pub(super) fn read(&mut self, link: usize) {
        self.reading[link] = self.reading[link].saturating_sub(1);
    }

    /// The receiver has this range; reports to `left` how many bytes of it each link had.
    pub(super) fn placed(&mut self, from: u64, to: u64, mut left: impl FnMut(usize, u64)) {
        let mut parts = Vec::with_capacity(self.parts.len());
        for (link, begin, end) in self.parts.drain(..) {
            let mut rest = 0;
            without((begin, end), (from, to), |begin, end| {
                parts.push((link, begin, end));
                rest += end - begin;
            });
            left(link, end - begin - rest);
        }
        self.parts = parts;
        let mut rest = VecDeque::with_capacity(self.rest.len());
        for range in self.rest.drain(..) {
            without(range, (from, to), |begin, end| rest.push_back((begin, end)));
        }
        self.rest = rest;
    }

    /// A link is lost: others take what it had. How many bytes that are.
    pub(super) fn lose(&mut self, link: usize) -> u64 {
        let mut lost = 0;
        self.reading[link] = 0;
        for (_, from, to) in self.parts.extract_if(.., |(with, ..)| *with == link) {
            lost += to - from;
            self.rest.push_back((from, to));
        }
        lost
    }

    /// Whether the receiver has everything, and no link reads anything: one may have what has come by another that is lost.
    pub(super) fn is_over(&self) -> bool {
        self.rest.is_empty() && self.parts.is_empty() && self.reading == [0; MOST]
    }
}

/// What is left of a range without another one.
fn without((begin, end): (u64, u64), (from, to): (u64, u64), mut emit: impl FnMut(u64, u64)) {
    let (first, last) = (from.clamp(begin, end), to.clamp(begin, end));
    if first >= last {
        return emit(begin, end);
    }
    if begin < first {
        emit(begin, first);
    }
    if last < end {
        emit(last, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::OwnedBuf;
    use proptest::prelude::*;

    /// What one link has sent before it was lost is given to another one: the data stays until that has read it.
    #[test]
    fn a_message_is_over_when_no_link_reads_it() {
        let data = OwnedBuf::new(100);
        let segment = Segment::contiguous(data.user_buf(), 100);
        let id = RequestId::NONE;
        let mut outgoing = Outgoing::new(id, id, segment, 2, 1000);
        assert_eq!(outgoing.take(0), Some((0, 100)));
        assert_eq!(outgoing.lose(0), 100);
        assert_eq!(outgoing.take(1), Some((0, 100)));
        outgoing.placed(0, 100, |_, _| ());
        assert!(!outgoing.is_over());
        outgoing.read(1);
        assert!(outgoing.is_over());
    }

    proptest! {
        /// Against a list of all bytes.
        #[test]
        fn ranges_count_each_byte_once(all in prop::collection::vec((0..200u64, 1..60u64), 0..60)) {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 260]);
            for (from, len) in all {
                let to = from + len;
                let new = (from..to).filter(|at| !std::mem::replace(&mut bytes[*at as usize], true)).count();
                prop_assert_eq!(ranges.add(from, to), new as u64);
            }
            let mut last = None;
            for (from, to) in &ranges.0 {
                prop_assert!(from < to && last.is_none_or(|last| last < *from));
                prop_assert!((*from..*to).all(|at| bytes[at as usize]));
                last = Some(*to);
            }
        }

        /// Links take parts, bring them in any pieces and order, and are lost: at the end the receiver has all of it, and
        /// no link was given a byte twice.
        #[test]
        fn parts_find_another_link(len in 1..5000u64, limit in 1..3000u64, steps in prop::collection::vec((0..5u32, 0..4usize, 1..400u64), 0..300)) {
            let buffer = OwnedBuf::new(len as usize);
            let id = RequestId { slot: 1, generation: 1 };
            let segment = Segment::contiguous(buffer.user_buf(), len);
            let mut out = Outgoing::new(id, id, segment, 4, limit);
            let mut into = Incoming::new(Peer(0), len, 0);
            let mut links = [const { Some(Vec::<(u64, u64)>::new()) }; 4];
            let (mut had, mut is_whole) = (vec![[false; 4]; len as usize], false);
            let rest = std::iter::repeat_n([(0, 0, 1), (1, 0, 5000)], 6000).flatten();
            let end = (0..4).flat_map(|link| std::iter::repeat_n((1, link, 5000), 300)).chain(rest);
            for (what, link, n) in steps.into_iter().chain(end) {
                match (what, &mut links[link]) {
                    (0 | 4, Some(with)) => {
                        let Some((from, to)) = out.take(link) else { continue };
                        prop_assert!(to - from <= len.max(PART));
                        for at in from..to {
                            prop_assert!(!std::mem::replace(&mut had[at as usize][link], true));
                        }
                        with.push((from, to));
                    }
                    (1 | 2, Some(with)) => {
                        let Some((from, to)) = with.pop() else { continue };
                        let cut = to.min(from + n);
                        if cut < to {
                            with.push((cut, to));
                        } else {
                            out.read(link);
                        }
                        is_whole |= into.placed(from, cut);
                        let mut left = 0;
                        out.placed(from, cut, |with, n| left += if with == link { n } else { 0 });
                        prop_assert!(left <= cut - from);
                    }
                    (3, with) if link > 0 => {
                        // Some of it may still have come, and nobody knows.
                        if let Some((from, to)) = with.take().and_then(|mut with| with.pop()) {
                            is_whole |= into.placed(from, to);
                        }
                        out.lose(link);
                    }
                    _ => {}
                }
            }
            prop_assert!(is_whole && out.is_over());
        }
    }

    #[test]
    fn long_messages_are_cut_so_that_all_links_get_parts() {
        let buffer = OwnedBuf::new(1 << 20);
        let id = RequestId { slot: 1, generation: 1 };
        let part = |len, links, limit| {
            Outgoing::new(id, id, Segment::contiguous(buffer.user_buf(), len), links, limit).next_len()
        };
        assert_eq!(part(1 << 20, 2, 128 << 10), Some(64 << 10));
        assert_eq!(part(128 << 10, 2, 128 << 10), Some(32 << 10));
        assert_eq!(part((128 << 10) - 1, 2, 128 << 10), Some((128 << 10) - 1));
        assert_eq!(part(1 << 40, 2, 128 << 10), Some(PART));
        assert_eq!(part(1000, 2, 1), Some(62));
    }
}
