//! The single-producer ring of 64-byte cells between one ordered pair of ranks.
//!
//! It lies in the [`Node`] segment, reached through `memory`. A record is one or more whole cells in a row:
//!
//! ```text
//! cell 0:  seq u32 | len u32 | header 24 bytes | payload 32 bytes      further cells: payload 64 bytes each
//! ```
//!
//! The writer fills the record and stores `seq` last; so the reader's first touch of the cell that announces
//! a short message brings the whole message (one cache line crosses). What must stay true:
//! * `seq` counts laps and is never 0. A cell whose last use was payload could hold anything where a reader
//!   looks for `seq`; the writer remembers such cells and clears the word *before* it publishes the record in
//!   front of it. Streams of one-cell records never pay for that.
//! * the writer keeps one cell free, so that the next place to look at is always its own to clear;
//! * a reader can throttle messages ([`Reader::throttle`]): a bit in the word in which it publishes room. A writer sees it
//!   when it next looks for room, so at most one ring full of messages follows; control packets still find room;
//! * everything the reader finds is checked: a length that does not fit is `Err(Malformed)`, never an overrun.

use std::sync::atomic::Ordering;

use crate::mem::{Sink, Source};
use crate::memory::{AtomicU32, Node, RingMemory};
use crate::node::{End, PAIR_CELLS};

/// Bytes of a cell.
pub const CELL: usize = 64;
/// Bytes of header that every record carries.
pub const HEADER: usize = 24;
/// Payload bytes that fit into the first cell.
pub const INLINE: usize = CELL - 8 - HEADER;
/// `len` of a record that only fills the ring up to its end.
const PAD: u32 = u32::MAX;
/// In the word in which a reader publishes room: only what is not a message may use it.
const THROTTLED: u64 = 1 << 63;

/// What a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// A message, which the reader may throttle.
    Message,
    /// Anything else: it finds room also while messages are throttled.
    Control,
    /// The same, which may wait for what comes behind it, where packets gather: whoever sends it sends that, or polls.
    Patient,
}

/// Number of cells that a record with `len` bytes of payload takes.
#[inline(always)]
pub(crate) fn cells_for(len: usize) -> usize {
    1 + len.saturating_sub(INLINE).div_ceil(CELL)
}

/// The writer's end.
#[derive(Debug)]
pub struct Writer {
    memory: RingMemory,
    cells: usize,
    /// Most cells of a record.
    most: usize,
    /// Most cells of a message.
    most_of_message: usize,
    /// Index of the next cell to fill, `0..cells`.
    at: usize,
    /// Sequence number of this lap.
    seq: u32,
    /// Cells filled since the beginning.
    filled: u64,
    /// What the reader had said it was done with when last looked at.
    head_seen: u64,
    /// One bit a cell: its last use was payload.
    payload: [u64; 4],
}

/// The reader's end.
#[derive(Debug)]
pub struct Reader {
    memory: RingMemory,
    cells: usize,
    at: usize,
    seq: u32,
    /// Cells read since the beginning.
    done: u64,
    /// `done` as last published to the writer.
    published: u64,
    /// [`THROTTLED`] while messages are throttled, else 0.
    throttled: u64,
    /// Freed space has been published since [`Reader::has_published`] was last asked.
    has_published: bool,
    /// Cells of the record that `peek` returned last, 0 when it was released.
    peeked: usize,
}

/// A record that broke the ring's rules; the ring cannot be trusted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Room for one record: fill header and payload, then commit. Dropped without commit, nothing was sent.
#[derive(Debug)]
pub struct Claim<'a> {
    writer: &'a mut Writer,
    len: usize,
}

/// One record that has arrived; its cells are free again once [`Reader::release`] is called.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    /// The packet header, copied out: the peer can no longer change it.
    pub header: [u8; HEADER],
    /// The payload, still in the ring.
    pub payload: Source<'a>,
}

/// Largest payload of one record.
pub fn max_payload(node: &Node) -> usize {
    payload_of(most_cells(node.ring_cells()))
}

/// The same in the segment of two processes of different jobs.
pub const MAX_PAYLOAD_OF_PAIR: usize = payload_of(most_cells(PAIR_CELLS));

/// Most cells of a record: so many that three are under way at once, as beside the free cell a quarter of the ring lets. The few cells
/// more than that hold what goes in front of a round number of bytes.
const fn most_cells(cells: usize) -> usize {
    cells / 4 + cells / 64
}

const fn payload_of(cells: usize) -> usize {
    cells * CELL - (CELL - INLINE)
}

impl Writer {
    /// The writing end of the ring from `from` to `to`; process `from` makes it.
    ///
    /// # Panics
    /// When this process has it already.
    pub fn new(node: &Node, to: usize, from: usize) -> Self {
        node.take_end(End::Writer, to, from);
        assert!(node.ring_cells() <= 256);
        Self {
            memory: RingMemory::new(node, to, from),
            cells: node.ring_cells(),
            most: most_cells(node.ring_cells()),
            most_of_message: most_cells(node.ring_cells()),
            at: 0,
            seq: 1,
            filled: 0,
            head_seen: 0,
            payload: [0; 4],
        }
    }

    /// Longer messages than this, in bytes, find no room from now on.
    pub fn limit_messages(&mut self, bytes: usize) {
        self.most_of_message = cells_for(bytes).min(self.most);
    }

    /// From now on there is no room for messages.
    pub fn refuse_messages(&mut self) {
        self.most_of_message = 0;
    }

    /// Room for a record with `len` bytes of payload, or `None` while the reader is behind (or `len` is larger
    /// than [`max_payload`], or is a message and longer than those may be or throttled by the reader).
    #[inline(always)]
    pub fn claim(&mut self, len: usize, load: Load) -> Option<Claim<'_>> {
        let cells = cells_for(len);
        let most = match load {
            Load::Message => self.most_of_message,
            Load::Control | Load::Patient => self.most,
        };
        if cells > most {
            return None;
        }
        if self.at + cells > self.cells {
            self.pad(load)?;
        }
        // One cell more than the record: the next place to look at must be free to clear.
        if self.room() <= cells && !self.look_for_room(cells, load) {
            return None;
        }
        Some(Claim { writer: self, len })
    }

    #[inline(always)]
    fn room(&self) -> usize {
        self.cells - (self.filled - self.head_seen) as usize
    }

    #[cold]
    fn look_for_room(&mut self, cells: usize, load: Load) -> bool {
        // SYNC: pairs with the Release store in `Reader::publish`: the reader's copies out of those cells are over.
        let word = self.memory.head().load(Ordering::Acquire);
        let (head, throttled) = (word & !THROTTLED, word & THROTTLED != 0);
        if throttled && load == Load::Message {
            return false;
        }
        // A reader that claims more than there was, or goes back, gains nothing but its own confusion.
        if head >= self.head_seen && head <= self.filled {
            self.head_seen = head;
        }
        let found = self.room() > cells;
        if throttled && found {
            // Room for this record and no more: a message after it must look here again.
            self.head_seen = self.filled + cells as u64 - self.cells as u64;
        }
        found
    }

    /// Fills the ring up to its end, so that the next record begins at cell 0.
    #[cold]
    fn pad(&mut self, load: Load) -> Option<()> {
        let cells = self.cells - self.at;
        if self.room() <= cells && !self.look_for_room(cells, load) {
            return None;
        }
        // SAFETY: the cell at `at` is ours (room was found).
        unsafe { self.memory.set_len(self.at, PAD) };
        self.publish(cells);
        Some(())
    }

    /// Makes the record of `cells` cells at `at` visible and moves on.
    #[inline(always)]
    fn publish(&mut self, cells: usize) {
        let at = self.at;
        let next = if at + cells == self.cells { 0 } else { at + cells };
        if self.payload[next / 64] & (1 << (next % 64)) != 0 {
            self.payload[next / 64] &= !(1 << (next % 64));
            self.flag(next).store(0, Ordering::Relaxed);
        }
        // SYNC: pairs with the Acquire load in `Reader::peek`: header, payload and the cleared word above are
        // visible to whoever sees this sequence number.
        self.flag(at).store(self.seq, Ordering::Release);
        self.filled += cells as u64;
        self.at = next;
        if next == 0 {
            self.seq = self.seq.checked_add(1).unwrap_or(1);
        }
    }

    #[inline(always)]
    fn flag(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at < cells`: inside the ring; this word is only reached as an atomic while the cell may be
        // looked at by the reader.
        unsafe { self.memory.flag(at) }
    }
}

impl Claim<'_> {
    /// Writes the packet header.
    #[inline(always)]
    pub fn set_header(&mut self, header: &[u8; HEADER]) {
        // SAFETY: the claimed cells are ours until `commit`.
        unsafe { self.writer.memory.set_header(self.writer.at, header) };
    }

    /// Where the payload goes.
    #[inline(always)]
    pub fn payload(&mut self) -> Sink<'_> {
        // Noted before the first byte is written: a claim may be dropped without being committed.
        let at = self.writer.at;
        for cell in at + 1..at + cells_for(self.len) {
            self.writer.payload[cell / 64] |= 1 << (cell % 64);
        }
        // SAFETY: the claimed cells are contiguous, ours until `commit`, and hold `len` bytes from here.
        unsafe { self.writer.memory.sink(at, self.len) }
    }

    /// Makes the record visible to the reader.
    #[inline(always)]
    pub fn commit(self) {
        let writer = self.writer;
        let cells = cells_for(self.len);
        // SAFETY: as in `set_header`.
        unsafe { writer.memory.set_len(writer.at, self.len as u32) };
        writer.publish(cells);
    }
}

impl Reader {
    /// The reading end of the ring from `from` to `to`; process `to` makes it.
    ///
    /// # Panics
    /// When this process has it already.
    pub fn new(node: &Node, to: usize, from: usize) -> Self {
        node.take_end(End::Reader, to, from);
        Self {
            memory: RingMemory::new(node, to, from),
            cells: node.ring_cells(),
            at: 0,
            seq: 1,
            done: 0,
            published: 0,
            throttled: 0,
            has_published: false,
            peeked: 0,
        }
    }

    /// Whether something has arrived.
    #[inline(always)]
    pub fn is_ready(&self) -> bool {
        // SAFETY: `at < cells`: inside the ring; the word is only reached as an atomic. Whoever goes on to read the
        // record loads it again by `peek`.
        unsafe { self.memory.flag(self.at) }.load(Ordering::Relaxed) == self.seq
    }

    /// The next record, if one has arrived. It stays the next one until [`Reader::release`].
    ///
    /// # Errors
    /// [`Malformed`] when the writer broke the rules.
    #[inline(always)]
    pub fn peek(&mut self) -> Result<Option<Record<'_>>, Malformed> {
        loop {
            // SAFETY: `at < cells`: inside the ring; the word is only reached as an atomic.
            let flag = unsafe { self.memory.flag(self.at) };
            // SYNC: pairs with the Release store in `Writer::publish`.
            if flag.load(Ordering::Acquire) != self.seq {
                return Ok(None);
            }
            // SAFETY: `at < cells`, and a record has been published there.
            let len = unsafe { self.memory.len(self.at) };
            if len == PAD {
                self.advance(self.cells - self.at);
                continue;
            }
            let cells = cells_for(len as usize);
            if self.at + cells > self.cells {
                return Err(Malformed);
            }
            // SAFETY: as for the length.
            let header = unsafe { self.memory.header(self.at) };
            // SAFETY: the `cells` cells from `at` are inside the ring (checked), mapped while `memory` lives, and
            // the writer leaves them alone until `release` publishes them.
            let payload = unsafe { self.memory.source(self.at, len as usize) };
            self.peeked = cells;
            return Ok(Some(Record { header, payload }));
        }
    }

    /// Gives the cells of the record that `peek` returned last back to the writer.
    #[inline(always)]
    pub fn release(&mut self) {
        let cells = std::mem::take(&mut self.peeked);
        self.advance(cells);
    }

    /// Whether freed space has been published since this was last asked; it may sleep for want of room.
    #[inline(always)]
    pub fn has_published(&mut self) -> bool {
        std::mem::take(&mut self.has_published)
    }

    #[inline(always)]
    fn advance(&mut self, cells: usize) {
        self.at += cells;
        self.done += cells as u64;
        if self.at >= self.cells {
            self.at = 0;
            self.seq = self.seq.checked_add(1).unwrap_or(1);
        }
        // Published in quarters of the ring: that line crosses rarely, and a writer that waits needs little more.
        if self.done - self.published >= self.cells as u64 / 4 {
            self.publish();
        }
    }

    /// Throttles messages, or lets them come again.
    pub fn throttle(&mut self, on: bool) {
        self.throttled = if on { THROTTLED } else { 0 };
        self.publish();
    }

    fn publish(&mut self) {
        self.published = self.done;
        self.has_published = true;
        // SYNC: pairs with the Acquire load in `Writer::look_for_room`.
        self.memory.head().store(self.done | self.throttled, Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    fn pair() -> (Writer, Reader) {
        let node = Node::create(2).unwrap();
        (Writer::new(&node, 1, 0), Reader::new(&node, 1, 0))
    }

    /// Against a queue, with lengths up to the longest that make every kind of wrap and every byte look like a sequence number.
    #[test]
    fn behaves_like_a_queue() {
        let (mut writer, mut reader) = pair();
        let longest = MAX_PAYLOAD_OF_PAIR;
        let mut model: VecDeque<(u8, usize)> = VecDeque::new();
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for step in 0..200_000u32 {
            if next() % 2 == 0 {
                let (few, many) = ((next() % 4) as usize, (next() % 1400) as usize);
                let len = if few == 3 { longest + 1 - many % 300 } else { few * many };
                // Payload bytes that look like recent sequence numbers.
                let fill = (step / 256 % 7) as u8;
                if let Some(mut claim) = writer.claim(len, Load::Message) {
                    assert!(len <= longest);
                    claim.set_header(&[fill; HEADER]);
                    claim.payload().copy_from(&vec![fill; len]);
                    claim.commit();
                    model.push_back((fill, len));
                } else {
                    assert!(
                        len > longest || !model.is_empty(),
                        "no room for {len} bytes where all has been read"
                    );
                }
            } else {
                match reader.peek().unwrap() {
                    None => assert!(model.is_empty()),
                    Some(record) => {
                        let (fill, len) = model.pop_front().unwrap();
                        assert_eq!(
                            (record.header, record.payload.to_vec()),
                            ([fill; HEADER], vec![fill; len])
                        );
                        reader.release();
                    }
                }
            }
        }
    }

    #[test]
    fn a_full_ring_refuses_and_recovers() {
        let (mut writer, mut reader) = pair();
        let mut sent = 0;
        while let Some(claim) = writer.claim(0, Load::Message) {
            claim.commit();
            sent += 1;
        }
        assert_eq!(sent, 255);
        for _ in 0..sent {
            assert!(reader.peek().unwrap().is_some());
            reader.release();
        }
        assert!(reader.peek().unwrap().is_none());
        assert!(writer.claim(100, Load::Message).is_some());
    }

    /// One ring full of messages at most comes after the reader has said so, and other packets always find room.
    #[test]
    fn messages_are_throttled_and_control_is_not() {
        let (mut writer, mut reader) = pair();
        let read = |reader: &mut Reader| {
            while reader.peek().unwrap().is_some() {
                reader.release();
            }
        };
        writer.claim(0, Load::Message).unwrap().commit();
        read(&mut reader);
        reader.throttle(true);
        let mut late = 0;
        for round in 0..2000 {
            while let Some(claim) = writer.claim(round % 100, Load::Message) {
                claim.commit();
                late += 1;
            }
            for _ in 0..round % 7 {
                writer.claim(round % 300, Load::Control).expect("room for control").commit();
            }
            read(&mut reader);
        }
        assert!(late <= 256, "{late} messages came after they were throttled");
        reader.throttle(false);
        assert!(writer.claim(100, Load::Message).is_some());
    }

    #[test]
    fn an_uncommitted_claim_sends_nothing() {
        let (mut writer, mut reader) = pair();
        assert!(writer.claim(8, Load::Message).is_some());
        assert!(reader.peek().unwrap().is_none());
    }

    #[test]
    fn a_forged_length_is_noticed() {
        let (mut writer, mut reader) = pair();
        writer.claim(8, Load::Message).unwrap().commit();
        // SAFETY: the test owns the ring.
        unsafe { writer.memory.set_len(0, 1 << 20) };
        assert_eq!(reader.peek().err(), Some(Malformed));
    }

    #[test]
    fn two_threads() {
        let (mut writer, mut reader) = pair();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..100_000u32 {
                    let len = (i % 97) as usize;
                    let mut claim = loop {
                        match writer.claim(len, Load::Message) {
                            Some(claim) => break claim,
                            None => std::thread::yield_now(),
                        }
                    };
                    claim.set_header(&[i as u8; HEADER]);
                    claim.payload().copy_from(&vec![i as u8; len]);
                    claim.commit();
                }
            });
            for i in 0..100_000u32 {
                loop {
                    if let Some(record) = reader.peek().unwrap() {
                        assert_eq!(record.payload.to_vec(), vec![i as u8; (i % 97) as usize]);
                        break;
                    }
                    std::thread::yield_now();
                }
                reader.release();
            }
        });
    }
}
