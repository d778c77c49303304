//! Bounce buffers: shared memory through which a long message is copied by both sides at once, and a medium one before its send returns.
//!
//! They lie in the [`Node`] segment, reached through `memory`. Each receiver has a few buffers that senders borrow by
//! setting a bit, message by message or for good; where the processor wants larger ones ([`crate::copying`]), a pair
//! gets one of its own at its first message ([`claim_own`]), as long as there are some. The sender copies in from the
//! front while the receiver copies out behind it, round and round.
//!
//! What must stay true:
//! * `filled` has one writer (the sender), `drained` has one writer (the receiver), both only grow,
//!   `drained ≤ filled ≤ drained + size`;
//! * a message begins where the one before it in the same buffer ended. `drained` passes a message when it and all before it
//!   have been copied out, in whatever order that happens (`Buffer::pass`);
//! * a message that fits into the buffer as a whole when it begins may wait there for its receive, behind others that do.
//!   One that needs more room begins only behind messages that are certain to be drained ([`Filler::is_certain`]): else it
//!   could wait for room that only its own receive brings;
//! * where a byte lies follows from its position and the size in use, which the sender of an own buffer changes only when everything
//!   has been copied out ([`Filler::begin`]), before it announces the next message;
//! * the receiver gives a borrowed buffer back when it has drained the whole message, and wakes those that have found none free.
//!
//! Parts: `choice`, how a pair's own buffer is filled: by which kind of copy, and all of it or a small part; `learned`, by which kind of copy
//! a small one is where ranks share CPUs.

mod choice;
mod learned;

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) use self::choice::Talk;
pub use self::choice::{Change, May, Way};
use self::choice::{Chooser, Heeding};
use self::learned::Learned;
use crate::machine;
use crate::mem::{Sink, Source, Store};
use crate::memory::{BufferMemory, Node};

/// The sender's end of a bounce buffer.
#[derive(Debug)]
pub struct Filler {
    memory: BufferMemory,
    /// Bytes in use.
    size: usize,
    /// Bytes that may be.
    whole: usize,
    /// Bytes whose pages are there.
    populated: usize,
    at: u64,
    drained_seen: u64,
    /// Behind this, every message is certain to be drained.
    uncertain_until: u64,
    heeding: Heeding,
    learned: Option<Box<Learned>>,
    to: usize,
    index: usize,
}

/// The receiver's end of a bounce buffer.
#[derive(Debug)]
pub struct Buffer {
    memory: BufferMemory,
    /// Bytes in use, and those whose pages are there.
    size: usize,
    populated: usize,
    /// Everything before this has been copied out.
    passed: u64,
    /// As last published to the sender.
    published: u64,
    /// Stretches behind `passed` that have been copied out already: begin and end, none touching another. Each is at least
    /// a byte of the buffer, so there is no more of them than the buffer holds messages.
    beyond: BTreeMap<u64, u64>,
    /// Freed space has been published since [`Buffer::has_published`] was last asked.
    has_published: bool,
    /// Finds out how the buffer is filled best.
    chooser: Option<Chooser>,
    to: usize,
    index: usize,
}

/// How far the receiver has come in one message of a [`Buffer`].
#[derive(Clone, Copy, Debug)]
pub struct Cursor {
    /// Where this message begins.
    start: u64,
    at: u64,
    /// Where the sender has come to, as far as we know.
    known: u64,
    /// When the first bytes were looked at, if the time of the message is taken.
    began: Option<Duration>,
}

/// In the bitmap of those that are taken: somebody has found none free, and is woken when one comes back.
const WANTED: u64 = 1 << 63;

/// Bytes of a bounce buffer that is borrowed.
pub fn bytes(node: &Node) -> usize {
    node.buffer_bytes()
}

/// Bounce buffers of a receiver that are left for messages that have been matched, which always drain: those that nobody has matched
/// could hold all the others for good.
pub const FOR_MATCHED: usize = 2;

/// Whether each sender may keep a bounce buffer of each receiver for good, so that those are left.
#[cfg(not(loom))]
pub fn suffice_for_all(node: &Node) -> bool {
    node.ranks() - 1 + FOR_MATCHED <= node.buffers()
}

/// Borrows a free bounce buffer of receiver `to`, leaving at least `spare` others free; `None` when there is none. Whoever would
/// have taken the last one is to be woken when one comes back.
pub fn claim(node: &Node, to: usize, spare: usize) -> Option<Filler> {
    let taken = node.buffers_taken(to);
    let all = node.buffers();
    let mut seen = taken.load(Ordering::Relaxed);
    let index = loop {
        let index = (!seen).trailing_zeros() as usize;
        let is_free = index < all && (seen & !WANTED).count_ones() as usize + spare < all;
        let next = match is_free {
            true => seen | 1 << index,
            // Wanted while they were taken, so whoever gives one back finds it.
            false if spare == 0 => seen | WANTED,
            false => seen,
        };
        // SYNC: Acquire pairs with the Release in `give_back`: the last receiver's reads are over.
        let set = |now, next| taken.compare_exchange_weak(now, next, Ordering::Acquire, Ordering::Relaxed);
        match if next == seen { Ok(seen) } else { set(seen, next) } {
            Ok(_) if is_free => break index,
            Ok(_) => return None,
            Err(now) => seen = now,
        }
    };
    Some(Filler::new(BufferMemory::new(node, to, index), node.buffer_bytes(), to, index))
}

/// A buffer of receiver `to` is free for the next sender. Whether senders are to be woken for it.
fn give_back(node: &Node, to: usize, index: usize) -> bool {
    // SYNC: pairs with the Acquire in `claim`.
    node.buffers_taken(to).fetch_and(!(1 << index | WANTED), Ordering::Release) & WANTED != 0
}

/// Takes a bounce buffer for messages to receiver `to`, for good, and uses so many bytes of it, at most what there is, or at first as
/// many as a `small` one has; `None` when all are in use or the system has no memory.
#[cfg(not(loom))]
pub fn claim_own(node: &Node, to: usize, bytes: usize, small: bool) -> Option<Filler> {
    let whole = bytes.min(node.own_buffer_bytes());
    let number = node.take_own_buffer(whole)?;
    let memory = BufferMemory::own(node, number)?;
    let mut filler = Filler::new(memory, whole, to, node.buffers() + number);
    filler.use_size(filler.size_of(small));
    Some(filler)
}

impl Filler {
    fn new(memory: BufferMemory, size: usize, to: usize, index: usize) -> Self {
        let at = memory.drained().load(Ordering::Relaxed);
        Self {
            memory,
            size,
            whole: size,
            populated: 0,
            at,
            drained_seen: at,
            uncertain_until: at,
            heeding: Heeding::default(),
            learned: None,
            to,
            index,
        }
    }

    /// Learns from what copying in takes by which kind of copy that is done, unless the receiver says so; if `learns`.
    #[must_use]
    pub fn learning(self, learns: bool) -> Self {
        let learns = learns && cfg!(target_arch = "x86_64") && self.memory.talk().is_none();
        let learned = learns.then(|| Box::new(Learned::new(self.at, self.size as u64)));
        Self { learned, ..self }
    }

    /// Number of the buffer, for the packet that announces it to the receiver.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether it is one of this pair alone.
    pub fn is_own(&self) -> bool {
        self.index >= self.memory.node().buffers()
    }

    /// Bytes of the buffer that are in use.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Where the next message would begin.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// The next message begins, before any packet announces it. Gives the kind of copy by which it is copied in: as the receiver has found
    /// out to be best if that may be changed, or this sender has learned; else as usual.
    #[inline]
    pub fn begin(&mut self, usual: Store, may: May) -> Store {
        let asked = match self.memory.talk() {
            Some(talk) => self.heeding.asked(&talk),
            None => return self.learned(usual),
        };
        if let Some(asked) = asked {
            self.heed(asked, may);
        }
        self.heeding.store().unwrap_or(usual)
    }

    /// As this sender has learned, else as usual.
    #[inline]
    fn learned(&mut self, usual: Store) -> Store {
        self.learned.as_mut().map_or(usual, |learned| learned.begin(self.at, self.size as u64))
    }

    /// Goes the way that the receiver asks for: another size when it has copied out everything.
    #[cold]
    fn heed(&mut self, asked: u64, may: May) {
        let Some(wanted) = self.heeding.allows(asked, may) else { return };
        let size = wanted.small.map_or(self.size, |small| self.size_of(small));
        if size != self.size {
            if !self.is_drained() {
                return self.heeding.wait();
            }
            self.use_size(size);
        }
        if let Some(talk) = self.memory.talk() {
            // Once round: before, the lines lie where the way before has left them.
            self.heeding.heed(&talk, self.at + self.size as u64, asked);
        }
    }

    /// Bytes in use of a buffer that is used as a small one, or whole.
    fn size_of(&self, small: bool) -> usize {
        if small { self.whole.min(self.memory.node().buffer_bytes()) } else { self.whole }
    }

    /// Uses so many bytes from the next message on. The buffer is empty: a byte that lay there would lie elsewhere for the receiver.
    fn use_size(&mut self, bytes: usize) {
        self.size = bytes;
        if let Some(size) = self.memory.own_size() {
            // SYNC: read by the receiver in `Buffer::open` and `Buffer::begin` behind the packet that announces the message.
            size.store(bytes as u64, Ordering::Relaxed);
            populate(&self.memory, bytes, &mut self.populated);
        }
    }

    /// Whether nothing that could wait elsewhere should begin before the buffer is empty: the receiver has asked for another size
    /// for long, and what comes one behind the other would put that off for ever.
    #[inline]
    pub fn has_to_drain(&mut self) -> bool {
        self.heeding.is_impatient() && !self.is_drained()
    }

    /// Gives a buffer back through which nothing was sent. Whether senders are to be woken for it.
    #[must_use]
    pub fn give_back_unused(self) -> bool {
        give_back(self.memory.node(), self.to, self.index)
    }

    /// Whether the receiver has copied out everything.
    pub fn is_drained(&mut self) -> bool {
        self.look();
        self.drained_seen == self.at
    }

    /// Nobody knows when the messages that are in the buffer now will be received.
    pub fn mark_uncertain(&mut self) {
        self.uncertain_until = self.at;
    }

    /// Whether everything that is still in the buffer is certain to be drained, so that a message may begin that has to
    /// wait for room.
    pub fn is_certain(&mut self) -> bool {
        if self.drained_seen < self.uncertain_until {
            self.look();
        }
        self.drained_seen >= self.uncertain_until
    }

    /// Whether so many bytes fit now. The receiver's word is looked at only when they do not fit by what is known.
    #[inline]
    pub fn has_room(&mut self, bytes: u64) -> bool {
        if self.room() < bytes {
            self.look();
        }
        self.room() >= bytes
    }

    #[inline]
    fn room(&self) -> u64 {
        self.size as u64 - (self.at - self.drained_seen)
    }

    /// Looks how far the receiver has come.
    fn look(&mut self) {
        // SYNC: pairs with the Release store in `Buffer::publish`: those bytes have been copied out.
        let drained = self.memory.drained().load(Ordering::Acquire);
        // A receiver that claims more than there was, or goes back, gains nothing.
        if drained > self.drained_seen && drained <= self.at {
            self.drained_seen = drained;
        }
    }

    /// Lets `fill` write the next piece, at most `most` bytes; `None` when the buffer is full. `fill` returns
    /// how many bytes it wrote.
    #[inline]
    pub fn fill(&mut self, most: usize, fill: impl FnOnce(Sink<'_>) -> usize) -> Option<usize> {
        if !self.has_room(1) {
            return None;
        }
        let offset = (self.at % self.size as u64) as usize;
        let len = most.min(self.room() as usize).min(self.size - offset);
        // SAFETY: `offset + len ≤ size`, inside the buffer; these bytes are ours until `filled` says otherwise.
        let sink = unsafe { self.memory.sink(offset, len) };
        let is_timing = self.heeding.is_timing(self.at, len as u64)
            || self.learned.as_ref().is_some_and(|learned| learned.is_timing(self.at, len as u64));
        let began = if is_timing { Some(machine::now()) } else { None };
        let written = fill(sink).min(len);
        self.at += written as u64;
        if let Some(began) = began {
            self.took(machine::now().saturating_sub(began), written as u64);
        }
        // SYNC: pairs with the Acquire load in `Buffer::drain`.
        self.memory.filled().store(self.at, Ordering::Release);
        Some(written)
    }

    /// So many bytes have been copied in.
    #[inline(never)]
    fn took(&mut self, time: Duration, bytes: u64) {
        match (self.memory.talk(), &mut self.learned) {
            (Some(talk), _) => self.heeding.took(&talk, time, bytes),
            (None, Some(learned)) => learned.took(time, bytes, self.at, self.size as u64),
            (None, None) => {}
        }
    }
}

impl Cursor {
    /// At the beginning of a message that begins at `start`, of which `filled` bytes are there already; both are said by
    /// the packet of the sender. For those bytes no shared word has to be read.
    pub fn new(start: u64, filled: u64) -> Self {
        Self { start, at: start, known: start.saturating_add(filled), began: None }
    }

    /// Bytes of this message drained so far.
    pub fn drained(&self) -> u64 {
        self.at - self.start
    }
}

impl Buffer {
    /// Buffer `index` of receiver `to`, as a packet names it. `None` when there is no such buffer.
    pub fn open(node: &Node, to: usize, index: usize) -> Option<Self> {
        let (memory, size, populated) = match index.checked_sub(node.buffers()) {
            None => (BufferMemory::new(node, to, index), node.buffer_bytes(), 0),
            #[cfg(not(loom))]
            Some(number) => {
                let memory = BufferMemory::own(node, number)?;
                let size = said_size(&memory)?;
                memory.populate(size);
                (memory, size, size)
            }
            #[cfg(loom)]
            Some(_) => return None,
        };
        let passed = memory.drained().load(Ordering::Relaxed);
        let beyond = BTreeMap::new();
        let (published, has_published, chooser) = (passed, false, None);
        Some(Self { memory, size, populated, passed, published, beyond, has_published, chooser, to, index })
    }

    /// Finds out which way the buffer is filled best, if it is one of a pair's own; so far it is this one. What of it may be changed.
    #[must_use]
    pub fn choosing(self, usual: Way, may: May) -> Self {
        let may = May { stores: may.stores && cfg!(target_arch = "x86_64"), ..may };
        let chooses = (may.stores || may.sizes) && self.memory.talk().is_some();
        let chooser = chooses.then(|| Chooser::new(usual, may, self.passed));
        Self { chooser, ..self }
    }

    /// A message begins, if the buffer is one of a pair's own perhaps in another size.
    #[inline]
    pub fn begin(&mut self) {
        let said = self.memory.own_size().map(|size| size.load(Ordering::Relaxed) as usize);
        if said.is_some_and(|said| said != self.size) {
            self.resize();
        }
    }

    #[cold]
    fn resize(&mut self) {
        if let Some(size) = said_size(&self.memory) {
            self.size = size;
            populate(&self.memory, size, &mut self.populated);
        }
    }

    /// Number of the buffer.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Whether it is one of this pair alone.
    pub fn is_own(&self) -> bool {
        self.index >= self.memory.node().buffers()
    }

    /// Lets `drain` read what has been filled of a message, at most `most` bytes; `None` when nothing is there.
    #[inline]
    pub fn drain(
        &mut self,
        cursor: &mut Cursor,
        most: usize,
        drain: impl FnOnce(Source<'_>),
    ) -> Option<usize> {
        if cursor.known <= cursor.at {
            // SYNC: pairs with the Release store in `Filler::fill`.
            cursor.known = self.memory.filled().load(Ordering::Acquire);
        }
        // A sender that claims more than fits, or goes back, gains nothing, not even our time.
        let there = cursor.known.saturating_sub(cursor.at);
        if !(1..=self.size as u64).contains(&there) {
            cursor.known = cursor.at;
            return None;
        }
        if let Some(chooser) = &self.chooser
            && chooser.is_timing(most as u64)
            && cursor.at == cursor.start
        {
            cursor.began = Some(machine::now());
        }
        let offset = (cursor.at % self.size as u64) as usize;
        let len = most.min(there as usize).min(self.size - offset);
        // SAFETY: `offset + len ≤ size`, inside the buffer.
        drain(unsafe { self.memory.source(offset, len) });
        self.pass(cursor.at, cursor.at + len as u64);
        cursor.at += len as u64;
        Some(len)
    }

    /// This stretch has been copied out. What comes before it may still be in the buffer: then `drained` passes it later.
    fn pass(&mut self, start: u64, end: u64) {
        if start == self.passed {
            self.passed = end;
            if !self.beyond.is_empty() {
                self.pass_beyond();
            }
        } else if start > self.passed && end - self.passed <= self.size as u64 {
            self.insert_beyond(start, end);
        }
        // Published in quarters: the sender looks only when it lacks room, and that line crosses rarely.
        if self.passed - self.published >= self.size as u64 / 4 {
            self.publish();
        }
    }

    #[cold]
    fn insert_beyond(&mut self, start: u64, end: u64) {
        let (mut start, mut end) = (start, end);
        // Whatever touches it, also as a sender that lies would have it, becomes part of it.
        while let Some((first, last)) =
            self.beyond.range(..=end).next_back().map(|(first, last)| (*first, *last))
            && last >= start
        {
            self.beyond.remove(&first);
            (start, end) = (start.min(first), end.max(last));
        }
        self.beyond.insert(start, end);
    }

    #[cold]
    fn pass_beyond(&mut self) {
        while let Some(first) = self.beyond.first_entry().filter(|first| *first.key() <= self.passed) {
            self.passed = self.passed.max(first.remove());
        }
    }

    /// Publishes freed space: how far we have come.
    fn publish(&mut self) {
        if self.published != self.passed {
            self.published = self.passed;
            self.has_published = true;
            // SYNC: pairs with the Acquire load in `Filler::look`.
            self.memory.drained().store(self.passed, Ordering::Release);
        }
    }

    /// Whether freed space has been published since this was last asked; it may sleep for want of room.
    pub fn has_published(&mut self) -> bool {
        std::mem::take(&mut self.has_published)
    }

    /// A message has been copied out up to here, which was its end; the buffer persists. The change, if the pair goes another way from
    /// now on.
    pub fn finish(&mut self, cursor: &Cursor) -> Option<Change> {
        self.publish();
        let took = || cursor.began.map(|began| machine::now().saturating_sub(began));
        self.chooser.as_mut()?.ended(&self.memory.talk()?, cursor.start, cursor.drained(), took)
    }

    /// A message is over; a borrowed buffer is free for the next sender then. One of a pair's own stays with its sender. Whether
    /// senders are to be woken for it.
    #[must_use]
    pub fn give_back(&mut self) -> bool {
        self.publish();
        !self.is_own() && give_back(self.memory.node(), self.to, self.index)
    }
}

/// Gets the pages of so many bytes that are not there yet: no page faults on the message path.
fn populate(memory: &BufferMemory, bytes: usize, there: &mut usize) {
    if bytes > *there {
        memory.populate(bytes);
        *there = bytes;
    }
}

/// Bytes in use of an own buffer, as its sender says, whatever that is: no more than there are.
fn said_size(memory: &BufferMemory) -> Option<usize> {
    let size = memory.own_size()?.load(Ordering::Relaxed) as usize;
    (1..=memory.node().own_buffer_bytes()).contains(&size).then_some(size)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const ALL: May = May { stores: true, sizes: true };

    fn pattern(message: u8, len: usize) -> Vec<u8> {
        (0..len).map(|at| (at % 251) as u8 ^ message).collect()
    }

    fn fill(filler: &mut Filler, bytes: &[u8]) -> usize {
        let mut at = 0;
        while let Some(n) = filler.fill(5000.min(bytes.len() - at), |mut sink| sink.copy_from(&bytes[at..])) {
            at += n;
            if at == bytes.len() {
                break;
            }
        }
        at
    }

    fn drain(buffer: &mut Buffer, start: u64, filled: u64) -> Vec<u8> {
        let (mut cursor, mut got) = (Cursor::new(start, filled), Vec::new());
        while cursor.drained() < filled {
            let most = (filled - cursor.drained()) as usize;
            buffer.drain(&mut cursor, most, |source| got.extend(source.to_vec())).unwrap();
        }
        got
    }

    #[test]
    fn a_stream_longer_than_the_buffer_arrives_whole() {
        let node = Node::create(2).unwrap();
        let mut filler = claim(&node, 1, 0).unwrap();
        let mut buffer = Buffer::open(&node, 1, filler.index()).unwrap();
        let mut cursor = Cursor::new(filler.position(), 0);
        let total = node.buffer_bytes() * 3 + 77;
        let sent = pattern(0, total);
        let mut got = Vec::new();
        let mut at = 0;
        while got.len() < total {
            at += if at < total { fill(&mut filler, &sent[at..]) } else { 0 };
            while buffer.drain(&mut cursor, 7000, |source| got.extend(source.to_vec())).is_some() {}
        }
        assert_eq!(got, sent);
        assert!(!buffer.give_back(), "nobody waits for it");
        assert_eq!(node.buffers_taken(1).load(Ordering::Relaxed), 0);
    }

    #[test]
    fn messages_are_copied_out_in_any_order_and_passed_in_their_own() {
        let node = Node::create(2).unwrap();
        let mut filler = claim(&node, 1, 0).unwrap();
        let mut buffer = Buffer::open(&node, 1, filler.index()).unwrap();
        let len = filler.size() / 4;
        for round in 0..9 {
            let starts: Vec<u64> = (0..4)
                .map(|message| {
                    let start = filler.position();
                    assert!(filler.has_room(len as u64), "round {round}, message {message}");
                    assert_eq!(fill(&mut filler, &pattern(message, len)), len);
                    start
                })
                .collect();
            assert!(!filler.has_room(1) && filler.fill(1, |_| 1).is_none());
            filler.mark_uncertain();
            for message in [[2usize, 0, 3, 1], [3, 2, 1, 0], [0, 1, 2, 3]][round % 3] {
                assert!(!filler.is_certain());
                let got = drain(&mut buffer, starts[message], len as u64);
                assert_eq!(got, pattern(message as u8, len));
                let _ = buffer.finish(&Cursor::new(0, 0));
            }
            assert!(buffer.beyond.is_empty() && filler.is_certain() && filler.is_drained());
        }
    }

    #[test]
    fn however_many_short_messages_wait_all_are_passed_in_the_end() {
        let node = Node::create(2).unwrap();
        let mut filler = claim(&node, 1, 0).unwrap();
        let mut buffer = Buffer::open(&node, 1, filler.index()).unwrap();
        let count = filler.size() as u64 / 10;
        for order in 0..3 {
            let start = filler.position();
            (0..count).for_each(|_| assert_eq!(fill(&mut filler, &[7; 10]), 10));
            let all: Vec<u64> = match order {
                0 => (0..count).rev().collect(),
                // Every second one first, so that nothing touches anything for long.
                1 => (1..count).step_by(2).chain((0..count).step_by(2)).collect(),
                _ => (0..count).map(|at| at * 7919 % count).collect(),
            };
            assert_eq!(
                all.iter().collect::<std::collections::HashSet<_>>().len() as u64,
                count,
                "order {order}"
            );
            all.into_iter().for_each(|at| drop(drain(&mut buffer, start + 10 * at, 10)));
            let _ = buffer.finish(&Cursor::new(0, 0));
            assert!(filler.is_drained() && buffer.beyond.is_empty(), "order {order}");
        }
    }

    #[test]
    fn a_buffer_of_another_pair_is_not_given_back_as_one_that_was_borrowed() {
        let node = Node::create(9).unwrap().with_own_buffers(1 << 16, 72);
        (0..72).for_each(|_| drop(claim_own(&node, 1, 1 << 16, false).unwrap()));
        let borrowed = claim(&node, 0, 0).unwrap();
        for index in [node.buffers(), 64, 79] {
            let _ = Buffer::open(&node, 0, index).unwrap().give_back();
        }
        assert_eq!(node.buffers_taken(0).load(Ordering::Relaxed), 1 << borrowed.index());
    }

    #[test]
    fn a_sender_that_claims_too_much_gains_nothing() {
        let node = Node::create(2).unwrap();
        let filler = claim(&node, 1, 0).unwrap();
        for (start, filled) in [(0, u64::MAX), (u64::MAX, 7), (u64::MAX - 9, u64::MAX), (1 << 62, 0)] {
            let mut buffer = Buffer::open(&node, 1, filler.index()).unwrap();
            let (mut cursor, mut got) = (Cursor::new(start, filled), 0);
            while let Some(n) = buffer.drain(&mut cursor, usize::MAX >> 1, |_| ()) {
                got += n;
                assert!(got <= node.buffer_bytes());
            }
            // Nor by the shared word.
            for lie in [u64::MAX / 3, 0, 100] {
                filler.memory.filled().store(lie, Ordering::Release);
                let more = buffer.drain(&mut cursor, usize::MAX >> 1, |_| ());
                assert!(more.is_none_or(|n| got == 0 && n == 100));
            }
        }
    }

    #[test]
    fn buffers_run_out_and_come_back() {
        let node = Node::create(2).unwrap();
        let all: Vec<_> = std::iter::from_fn(|| claim(&node, 0, 1)).collect();
        assert_eq!(all.len(), node.buffers() - 1);
        let last = claim(&node, 0, 0).unwrap();
        assert!(claim(&node, 0, 0).is_none());
        assert!(Buffer::open(&node, 0, last.index()).unwrap().give_back(), "one was wanted");
        assert!(!claim(&node, 0, 0).unwrap().give_back_unused(), "nobody waits any more");
        assert!(claim(&node, 0, 2).is_none() && claim(&node, 0, 0).is_some());
        assert!(Buffer::open(&node, 0, 99).is_none());
    }

    /// Through the words of the buffer itself, and with two messages under way.
    #[test]
    fn the_receiver_of_an_own_buffer_asks_for_other_ways() {
        const LEN: usize = 8 << 10;
        let node = Node::create(2).unwrap().with_own_buffers(1 << 20, 1);
        let peer = Node::attach(node.as_fd().try_clone_to_owned().unwrap()).unwrap();
        let mut filler = claim_own(&node, 1, 1 << 20, true).unwrap();
        let usual = Way { store: Store::Plain, small: true };
        let mut buffer = Buffer::open(&peer, 1, filler.index()).unwrap().choosing(usual, ALL);
        let sent = pattern(1, LEN);
        let (mut streamed, mut whole) = (0, 0);
        let mut sizes = Vec::new();
        for _ in 0..1300 {
            let cursors = [(); 2].map(|()| {
                let start = filler.position();
                streamed += usize::from(filler.begin(Store::Plain, ALL) == Store::Streaming);
                whole += usize::from(filler.size() == 1 << 20);
                assert_eq!(fill(&mut filler, &sent), LEN);
                Cursor::new(start, LEN as u64)
            });
            // The second one ends before the first one.
            let [mut first, mut second] = cursors;
            let mut take = |cursor: &mut Cursor, most| {
                buffer.begin();
                buffer.drain(cursor, most, |source| assert!(sent.starts_with(&source.to_vec()))).unwrap()
            };
            for cursor in [&mut first, &mut second] {
                while cursor.drained() < LEN as u64 {
                    take(cursor, LEN);
                }
            }
            sizes.push(buffer.size);
            assert!(first.began <= second.began);
            let _ = buffer.finish(&second);
            let _ = buffer.finish(&first);
        }
        let asked = filler.memory.talk().unwrap().ask.load(Ordering::Relaxed);
        sizes.dedup();
        assert!(sizes.starts_with(&[node.buffer_bytes(), 1 << 20]), "{sizes:?}");
        let kinds = if cfg!(target_arch = "x86_64") { 2 } else { 1 };
        assert_eq!(asked >> 4, 2 * kinds + 1, "each way, and the one that is kept");
        assert!(streamed >= 16 * (kinds as usize - 1) && whole >= 8 * kinds as usize, "{streamed} {whole}");
    }

    #[test]
    fn another_size_is_used_when_everything_has_been_copied_out() {
        let node = Node::create(2).unwrap().with_own_buffers(1 << 20, 1);
        let mut filler = claim_own(&node, 1, 1 << 20, false).unwrap();
        let mut buffer = Buffer::open(&node, 1, filler.index()).unwrap();
        let small = node.buffer_bytes();
        let (sent, len) = (pattern(3, small), small as u64);
        let talk_asks = |filler: &Filler, word: u64| {
            filler.memory.talk().unwrap().ask.store(word, Ordering::Relaxed);
        };
        // Stores past the caches and a small part, then plain ones and all of it.
        for (word, (now, then)) in [(1 << 4 | 5, (1 << 20, small)), (2 << 4, (small, 1 << 20))] {
            let start = filler.position();
            assert_eq!(fill(&mut filler, &sent), small);
            talk_asks(&filler, word);
            let store = [Store::Plain, Store::Streaming][(word & 3) as usize];
            for _ in 0..40 {
                assert_eq!(filler.begin(Store::Plain, ALL), store, "that may change at once");
            }
            assert_eq!(filler.size(), now, "one message waits");
            assert_ne!(filler.memory.talk().unwrap().heeded.load(Ordering::Relaxed), word);
            assert!(filler.has_to_drain());
            buffer.begin();
            assert_eq!(drain(&mut buffer, start, len), sent);
            let _ = buffer.finish(&Cursor::new(0, 0));
            assert!(!filler.has_to_drain());
            filler.begin(Store::Plain, ALL);
            assert_eq!(filler.size(), then);
            let talk = filler.memory.talk().unwrap();
            assert_eq!(talk.heeded.load(Ordering::Relaxed), word);
            assert_eq!(talk.since.load(Ordering::Relaxed), filler.position() + then as u64, "once round");
        }
        // A size that makes no sense is not used.
        for lie in [0, 1 << 40, u64::MAX] {
            filler.memory.own_size().unwrap().store(lie, Ordering::Relaxed);
            buffer.begin();
            assert_eq!(buffer.size, small);
        }
    }

    #[test]
    fn own_buffers_are_taken_until_there_are_none() {
        let node = Node::create(2).unwrap().with_own_buffers(1 << 20, 3);
        assert!(Buffer::open(&node, 0, node.buffers()).is_none(), "none is taken yet");
        let peer = Node::attach(node.as_fd().try_clone_to_owned().unwrap()).unwrap();
        for number in 0..3 {
            let mut filler = claim_own(&node, 1, 1 << (19 + number), false).unwrap();
            let size = 1 << (19 + number).min(20);
            assert_eq!((filler.index(), filler.size()), (node.buffers() + number, size));
            let mut buffer = Buffer::open(&peer, 1, filler.index()).unwrap();
            let sent = pattern(number as u8, size);
            assert_eq!(fill(&mut filler, &sent), size);
            assert_eq!(drain(&mut buffer, 0, size as u64), sent);
            for lie in [0, size as u64 * 4, u64::MAX] {
                filler.memory.own_size().unwrap().store(lie, Ordering::Relaxed);
                assert!(Buffer::open(&peer, 1, filler.index()).is_none(), "{lie}");
            }
        }
        assert!(claim_own(&node, 1, 1 << 20, false).is_none());
        assert!(Buffer::open(&peer, 1, node.buffers() + 3).is_none());
        assert!(claim_own(&Node::create(2).unwrap(), 1, 1 << 20, false).is_none());
    }
}
