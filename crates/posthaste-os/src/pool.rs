//! Copy buffers: cache-resident memory through which a long message is copied by both sides at once.
//!
//! Called by `core::method::shm`; lives in the [`Node`] segment, reached through `memory`. Each receiver has a few buffers; a sender
//! borrows one by setting its bit, copies in from the front while the receiver copies out behind it, round and
//! round. A sender may keep a buffer for its next message to the same receiver, so that nothing has to be agreed
//! on again. What must stay true: `filled` has one writer (the sender), `drained` has one writer (the receiver),
//! both only grow, `drained ≤ filled ≤ drained + size`; a message begins where the one before it in the same buffer
//! ended, and is drained after it; the receiver gives a buffer back when it has drained the whole message.

use std::sync::atomic::Ordering;

use crate::mem::{Sink, Source};
use crate::memory::{BufferMemory, Node};

/// The sender's end of a copy buffer.
#[derive(Debug)]
pub struct Filler {
    memory: BufferMemory,
    size: usize,
    at: u64,
    drained_seen: u64,
    to: usize,
    index: usize,
}

/// The receiver's end of a copy buffer.
#[derive(Debug)]
pub struct Drainer {
    memory: BufferMemory,
    size: usize,
    /// Where this message begins.
    start: u64,
    at: u64,
    /// Where the sender has come to, as far as we know.
    known: u64,
    /// `at` as last told to the sender.
    told: u64,
    /// The sender has been told since [`Drainer::has_told`] was last asked.
    has_told: bool,
    to: usize,
    index: usize,
}

/// Bytes of a copy buffer.
pub fn bytes(node: &Node) -> usize {
    node.buffer_bytes()
}

/// Borrows a free copy buffer of receiver `to`, leaving at least `spare` others free; `None` when there is none.
pub fn claim(node: &Node, to: usize, spare: usize) -> Option<Filler> {
    let taken = node.buffers_taken(to);
    let all = node.buffers();
    let mut seen = taken.load(Ordering::Relaxed);
    let index = loop {
        let index = (!seen).trailing_zeros() as usize;
        if index >= all || seen.count_ones() as usize + spare >= all {
            return None;
        }
        // SYNC: Acquire pairs with the Release in `Drainer::give_back`: the last receiver's reads are over.
        match taken.compare_exchange_weak(seen, seen | 1 << index, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => break index,
            Err(now) => seen = now,
        }
    };
    let memory = BufferMemory::new(node, to, index);
    let at = memory.drained().load(Ordering::Relaxed);
    let size = node.buffer_bytes();
    Some(Filler { memory, size, at, drained_seen: at, to, index })
}

/// The receiver's end of buffer `index` of receiver `to`, for a message that begins at `start`; both are named by
/// the packet of the sender that borrowed it, and so is how many bytes are there already: for those no shared word
/// has to be read, at most what fits. `None` when there is no such buffer.
pub fn attach(node: &Node, to: usize, index: usize, start: u64, filled: u64) -> Option<Drainer> {
    if index >= node.buffers() {
        return None;
    }
    let memory = BufferMemory::new(node, to, index);
    let (size, at) = (node.buffer_bytes(), start);
    let known = start.saturating_add(filled.min(size as u64));
    Some(Drainer { memory, size, start, at, known, told: at, has_told: false, to, index })
}

impl Filler {
    /// Number of the buffer, for the packet that tells the receiver.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Where the next message would begin.
    pub fn position(&self) -> u64 {
        self.at
    }

    /// Gives a buffer back through which nothing was sent.
    pub fn give_back_unused(self) {
        // SYNC: pairs with the Acquire in `claim`.
        self.memory.node().buffers_taken(self.to).fetch_and(!(1 << self.index), Ordering::Release);
    }

    /// Whether the receiver has copied out everything, so that another message may begin.
    pub fn is_drained(&self) -> bool {
        // SYNC: pairs with the Release store in `Drainer::drain`.
        self.memory.drained().load(Ordering::Acquire) == self.at
    }

    /// Looks how far the receiver has come.
    fn look(&mut self) {
        // SYNC: pairs with the Release store in `Drainer::drain`: those bytes have been copied out.
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
        if (self.at - self.drained_seen) as usize == self.size {
            self.look();
            if (self.at - self.drained_seen) as usize == self.size {
                return None;
            }
        }
        let offset = (self.at % self.size as u64) as usize;
        let room = self.size - (self.at - self.drained_seen) as usize;
        let len = most.min(room).min(self.size - offset);
        // SAFETY: `offset + len ≤ size`, inside the buffer; these bytes are ours until `filled` says otherwise.
        let written = fill(unsafe { self.memory.sink(offset, len) }).min(len);
        self.at += written as u64;
        // SYNC: pairs with the Acquire load in `Drainer::drain`.
        self.memory.filled().store(self.at, Ordering::Release);
        Some(written)
    }
}

impl Drainer {
    /// Lets `drain` read what has been filled, at most `most` bytes; `None` when nothing is there.
    #[inline]
    pub fn drain(&mut self, most: usize, drain: impl FnOnce(Source<'_>)) -> Option<usize> {
        if self.known <= self.at {
            // SYNC: pairs with the Release store in `Filler::fill`.
            let filled = self.memory.filled().load(Ordering::Acquire);
            // A sender that claims more than fits, or goes back, gains nothing, not even our time.
            if !(1..=self.size as u64).contains(&filled.saturating_sub(self.at)) {
                return None;
            }
            self.known = filled;
        }
        let offset = (self.at % self.size as u64) as usize;
        let there = (self.known - self.at) as usize;
        let len = most.min(there).min(self.size - offset);
        // SAFETY: `offset + len ≤ size`, inside the buffer.
        drain(unsafe { self.memory.source(offset, len) });
        self.at += len as u64;
        // Told in quarters: the sender looks only when the buffer is full, and that line crosses rarely.
        if self.at - self.told >= self.size as u64 / 4 {
            self.tell();
        }
        Some(len)
    }

    /// Tells the sender how far we have come.
    fn tell(&mut self) {
        self.told = self.at;
        self.has_told = true;
        // SYNC: pairs with the Acquire loads in `Filler::look` and `Filler::is_drained`.
        self.memory.drained().store(self.at, Ordering::Release);
    }

    /// Whether the sender has been told of room since this was last asked; it may sleep for want of room.
    pub fn has_told(&mut self) -> bool {
        std::mem::take(&mut self.has_told)
    }

    /// Bytes of this message drained so far.
    pub fn drained(&self) -> u64 {
        self.at - self.start
    }

    /// The message is over; the sender keeps the buffer.
    pub fn finish(mut self) {
        self.tell();
    }

    /// The message is over; gives the buffer back for the next sender.
    pub fn give_back(mut self) {
        self.tell();
        // SYNC: pairs with the Acquire in `claim`.
        self.memory.node().buffers_taken(self.to).fetch_and(!(1 << self.index), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stream_longer_than_the_buffer_arrives_whole() {
        let node = Node::create(2).unwrap();
        let mut filler = claim(&node, 1, 0).unwrap();
        let mut drainer = attach(&node, 1, filler.index(), filler.position(), 0).unwrap();
        let total = node.buffer_bytes() * 3 + 77;
        let sent: Vec<u8> = (0..total).map(|i| (i % 251) as u8).collect();
        let mut got = Vec::new();
        let mut at = 0;
        while got.len() < total {
            while at < total {
                let Some(n) = filler.fill(5000, |mut sink| sink.copy_from(&sent[at..])) else { break };
                at += n;
            }
            while drainer.drain(7000, |source| got.extend(source.to_vec())).is_some() {}
        }
        assert_eq!(got, sent);
        drainer.give_back();
        assert_eq!(node.buffers_taken(1).load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_kept_buffer_serves_the_next_message_once_it_is_drained() {
        let node = Node::create(2).unwrap();
        let mut filler = claim(&node, 1, 0).unwrap();
        for message in 0..5 {
            assert!(filler.is_drained());
            let sent = vec![message as u8; 3000];
            assert_eq!(filler.fill(5000, |mut sink| sink.copy_from(&sent)), Some(3000));
            assert!(!filler.is_drained());
            let mut drainer = attach(&node, 1, filler.index(), filler.position() - 3000, 3000).unwrap();
            let mut got = Vec::new();
            while drainer.drained() < 3000 {
                drainer.drain(3000 - drainer.drained() as usize, |source| got.extend(source.to_vec()));
            }
            drainer.finish();
            assert_eq!(got, sent);
        }
    }

    #[test]
    fn a_sender_that_claims_too_much_gains_nothing() {
        let node = Node::create(2).unwrap();
        let filler = claim(&node, 1, 0).unwrap();
        for (start, filled) in [(0, u64::MAX), (u64::MAX, 7), (u64::MAX - 9, u64::MAX), (1 << 62, 0)] {
            let mut drainer = attach(&node, 1, filler.index(), start, filled).unwrap();
            let mut got = 0;
            while let Some(n) = drainer.drain(usize::MAX, |_| ()) {
                got += n;
                assert!(got <= node.buffer_bytes());
            }
            // Nor by the shared word.
            for lie in [u64::MAX / 3, 0, 100] {
                filler.memory.filled().store(lie, Ordering::Release);
                assert!(drainer.drain(usize::MAX, |_| ()).is_none_or(|n| got == 0 && n == 100));
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
        attach(&node, 0, last.index(), last.position(), 0).unwrap().give_back();
        claim(&node, 0, 0).unwrap().give_back_unused();
        assert!(claim(&node, 0, 0).is_some());
        assert!(attach(&node, 0, 99, 0, 0).is_none());
    }
}
