//! What leaves over one connection: records that gather in a buffer, and data that leaves from where it lies: granted
//! messages in fragments, whole ones and parts of puts behind their heads.
//!
//! ```text
//!   record:    length of the payload (4 bytes), header of `wire` (24), payload
//!   own word:  OWN | what (4 bytes), between the two methods only
//! ```
//!
//! What must stay true: records and packets in place leave in the order in which they came here (fragments of granted messages anywhere
//! between them), and nothing leaves
//! inside of a fragment; a user's buffer is read by the kernel only, unless its pieces are short or have to be
//! converted.

use std::collections::VecDeque;
use std::io;

use posthaste_os::mem::{Sink, Source};
use posthaste_os::socket::{self, PIECES, Stream};

use crate::buffer::{self, OwnedBuf};
use crate::datatype::Segment;
use crate::method::{Done, GrantedSend, Outcome, Owner, SHORT_RUN, packing};
use crate::wire::{DATA_FRONT, Emit, FRONT, HEADER};

/// Bytes in front of every payload.
pub(super) const PREFIX: usize = 4 + HEADER;
/// Longest payload of a record.
pub const PACKET: usize = 16 << 10;
/// Bytes that may wait in the buffer.
const MOST_WAITING: usize = 64 << 10;
/// So many bytes are not gathered any longer.
const ENOUGH: usize = 32 << 10;
/// Data of one fragment. Other packets wait behind it.
const FRAGMENT: u64 = 512 << 10;
/// Messages in place that wait to leave, that which is leaving included, and as many packets of one-sided operations.
const WHOLE: usize = 2;
/// Writes in one go, so that one connection does not keep from the others.
const TURNS: usize = 8;

/// A word between the two methods.
pub(super) const OWN: u32 = 1 << 31;
/// Send no messages until this is revoked.
pub(super) const THROTTLE: u32 = OWN | 1;
/// Messages may come again.
pub(super) const RESUME: u32 = OWN | 2;
/// Nothing more comes: the sender is finalising.
pub(super) const BYE: u32 = OWN | 3;
/// Nothing more comes: the sender has parted from the receiver (`abroad`).
pub(super) const PART: u32 = OWN | 4;

/// Where a segment of the two is, in the [`OFFERED`](super::pair::OFFERED) bytes behind it.
pub(super) const OFFER: u32 = OWN | 5;
/// Packets go through that segment from now on.
pub(super) const SHARED: u32 = OWN | 6;
/// They go over the connection.
pub(super) const FAR: u32 = OWN | 7;

/// Nothing: data in place begins a multiple of [`ALIGNED`] bytes from where it is copied to.
pub(super) const PAD: u32 = OWN | 8;
/// Systems copy by instructions that take twice as long where source and destination lie less than this apart in their pages, but not at the same
/// place. Their own memory for a socket begins with a page, as that of long blocks of the heap does but for 16 bytes.
const ALIGNED: usize = 16;

/// What leaves over one connection.
#[derive(Debug, Default)]
pub(super) struct Out {
    /// Whole records, of which the first `sent` bytes have left.
    bytes: Vec<u8>,
    sent: usize,
    /// What leaves from where it lies: fragments of granted messages, one at a time, and packets.
    fragments: VecDeque<Fragment>,
    granted: VecDeque<GrantedSend>,
    /// A fragment of those is next, though packets wait that came before.
    granted_is_next: bool,
    /// The kernel has no room at present.
    pub(super) blocked: bool,
    /// Calls of the system so far.
    #[cfg(test)]
    pub(super) writes: usize,
}

#[derive(Debug)]
struct Fragment {
    /// Bytes of records that leave before it, and behind the fragment in front of it.
    behind: usize,
    head: [u8; ALIGNED + PREFIX + FRONT],
    head_len: usize,
    head_sent: usize,
    runs: VecDeque<(usize, usize)>,
    /// What is not among the runs yet.
    rest: Option<Segment>,
    /// The memory of the runs, where it is this.
    _copy: Option<OwnedBuf>,
    /// It is of a message that was granted.
    is_granted: bool,
    /// Who hears that it has left.
    owner: Option<Owner>,
}

impl Out {
    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting() == 0 && self.fragments.is_empty() && self.granted.is_empty()
    }

    fn waiting(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Whether a record with so much payload finds room.
    pub(super) fn has_room(&self, len: usize) -> bool {
        len <= PACKET && self.waiting() + PREFIX + len <= MOST_WAITING
    }

    /// Whether enough has gathered to be worth a write.
    pub(super) fn is_worth_a_write(&self) -> bool {
        self.waiting() >= ENOUGH
    }

    /// Appends a record whose payload has `len` bytes: the front of the packet, then what `data` writes.
    pub(super) fn push(&mut self, emit: &Emit, len: usize, data: impl FnOnce(Sink<'_>)) {
        if self.sent > MOST_WAITING / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
        self.bytes.extend_from_slice(&(len as u32).to_le_bytes());
        self.bytes.extend_from_slice(&emit.header);
        let at = self.bytes.len();
        self.bytes.resize(at + len, 0);
        data(emit.write_front(Sink::from(&mut self.bytes[at..])));
    }

    /// Appends a word between the methods, or what is behind one; there is always room.
    pub(super) fn push_own(&mut self, word: u32) {
        self.bytes.extend_from_slice(&word.to_le_bytes());
    }

    /// Takes a granted message on.
    pub(super) fn send_granted(&mut self, send: GrantedSend) {
        self.granted.push_back(send);
    }

    /// Takes a packet on, behind everything that is here, if there is room: its head, and its data where it lies.
    ///
    /// # Errors
    /// The data, if there is no room.
    pub(super) fn push_in_place(
        &mut self,
        emit: &Emit,
        owner: Option<Owner>,
        segment: Segment,
    ) -> Result<(), Segment> {
        let is_message = |owner| matches!(owner, Some(Owner::Send(_)));
        let alike =
            |fragment: &&Fragment| !fragment.is_granted && is_message(fragment.owner) == is_message(owner);
        if self.fragments.iter().filter(alike).count() >= WHOLE {
            return Err(segment);
        }
        let behind = self.waiting() - self.fragments.iter().map(|fragment| fragment.behind).sum::<usize>();
        let len = segment.len();
        let mut fragment = Fragment { rest: Some(segment), owner, ..Fragment::of_runs([]) };
        fragment.refill();
        self.fragments.push_back(fragment.headed(behind, emit, len));
        Ok(())
    }

    /// The memory of this owner is the program's again: what would leave from there leaves from a copy.
    pub(super) fn take_from(&mut self, owner: Owner) {
        for fragment in self.fragments.iter_mut().filter(|fragment| fragment.owner == Some(owner)) {
            fragment.copy();
            fragment.owner = None;
        }
    }

    /// Writes as much as there is room for. Returns whether anything left; ends of messages go to `done`.
    ///
    /// # Errors
    /// What became of the connection.
    pub(super) fn write(&mut self, stream: &Stream, done: &mut VecDeque<Done>) -> io::Result<bool> {
        let mut busy = false;
        for _ in 0..TURNS {
            self.prepare(done);
            if self.waiting() == 0 && self.fragments.is_empty() {
                break;
            }
            let (written, wanted) = match self.write_once(stream) {
                Err(error) if socket::is_of_memory(&error) => {
                    // The program has no such memory: it ends here, as with any other way.
                    self.fragments.iter_mut().take(1).for_each(Fragment::copy);
                    self.write_once(stream)?
                }
                written => written?,
            };
            #[cfg(test)]
            {
                self.writes += 1;
            }
            self.advance(written, done);
            busy |= written > 0;
            if written < wanted {
                self.blocked = true;
                break;
            }
        }
        Ok(busy)
    }

    /// One write; how much of how much left.
    fn write_once(&self, stream: &Stream) -> io::Result<(usize, usize)> {
        let mut pieces = [Source::from(&[][..]); PIECES];
        let mut count = 0;
        let mut add = |piece| {
            pieces[count] = piece;
            count += 1;
        };
        let records = self.next_records();
        if records > 0 {
            add(Source::from(&self.bytes[self.sent..][..records]));
        }
        if let Some(fragment) = self.fragments.front() {
            let head = &fragment.head[fragment.head_sent..fragment.head_len];
            if !head.is_empty() {
                add(Source::from(head));
            }
            fragment.runs.iter().for_each(|run| add(buffer::run(*run)));
        }
        let pieces = &pieces[..count];
        let wanted = pieces.iter().map(Source::len).sum();
        Ok((stream.write(pieces)?.unwrap_or(0), wanted))
    }

    /// So many bytes have left.
    fn advance(&mut self, mut n: usize, done: &mut VecDeque<Done>) {
        let records = n.min(self.next_records());
        self.sent += records;
        n -= records;
        if self.sent == self.bytes.len() {
            self.bytes.clear();
            self.sent = 0;
        }
        if let Some(fragment) = self.fragments.front_mut() {
            fragment.behind -= records;
            if fragment.advance(n) {
                done.extend(fragment.owner.and_then(report_of));
                self.granted_is_next = !fragment.is_granted;
                self.fragments.pop_front();
            }
        }
    }

    /// Bytes of records that are next, in front of the fragment if there is one.
    fn next_records(&self) -> usize {
        self.fragments.front().map_or(self.waiting(), |fragment| fragment.behind)
    }

    /// Makes the next fragment of the message whose turn it is, or packs some of it: where nothing else is in place, and between what is.
    fn prepare(&mut self, done: &mut VecDeque<Done>) {
        while (self.fragments.is_empty() || self.granted_is_next && !self.has_begun())
            && let Some(mut put) = self.granted.pop_front()
        {
            // Behind the records that go before what is next: one of them may have left in part.
            let behind = self.next_records();
            let is_in_place = put.segment.mean_run() >= SHORT_RUN.min(put.segment.len());
            let fragment = if is_in_place { Fragment::of(&mut put, behind) } else { None };
            if fragment.is_none() {
                self.pack(&mut put); // short pieces, or to be converted
            }
            self.granted_is_next = false;
            let is_left = put.left() > 0;
            match fragment {
                Some(fragment) => {
                    if let Some(next) = self.fragments.front_mut() {
                        next.behind = 0;
                    }
                    let owner = (!is_left).then_some(Owner::Send(put.sender));
                    self.fragments.push_front(Fragment { owner, is_granted: true, ..fragment });
                }
                None if !is_left => done.push_back(Done::Sent(put.sender)),
                None => {}
            }
            if is_left {
                return self.granted.push_front(put);
            }
        }
    }

    /// Whether some of what is in place and next has left.
    fn has_begun(&self) -> bool {
        self.fragments.front().is_some_and(|fragment| fragment.head_sent > 0)
    }

    /// Packs as much of a message as there is room for.
    fn pack(&mut self, put: &mut GrantedSend) {
        while put.left() > 0 && self.has_room(PACKET) {
            let n = put.left().min((PACKET - DATA_FRONT) as u64) as usize;
            let emit = Emit::data(put.receiver, put.segment.position());
            self.push(&emit, DATA_FRONT + n, packing(Some(&mut put.segment)));
        }
    }
}

impl Fragment {
    /// Data that lies so, without a head.
    fn of_runs(runs: impl Into<VecDeque<(usize, usize)>>) -> Self {
        let head = [0; ALIGNED + PREFIX + FRONT];
        Self {
            behind: 0,
            head,
            head_len: 0,
            head_sent: 0,
            runs: runs.into(),
            rest: None,
            _copy: None,
            is_granted: false,
            owner: None,
        }
    }

    /// The same with a head for so many bytes of data, behind so many bytes of records: with words in front of it that let the data go
    /// where it is copied fast.
    fn headed(mut self, behind: usize, emit: &Emit, data: u64) -> Self {
        let front = emit.front();
        let len = PREFIX + front.len();
        let begins = self.runs.front().map_or(0, |(address, _)| *address);
        let (pads, unpadded) = self.head.split_at_mut(Self::pads(behind + len, begins));
        pads.as_chunks_mut().0.fill(PAD.to_le_bytes());
        unpadded[..4].copy_from_slice(&((front.len() as u64 + data) as u32).to_le_bytes());
        unpadded[4..PREFIX].copy_from_slice(&emit.header);
        unpadded[PREFIX..][..front.len()].copy_from_slice(front);
        (self.behind, self.head_len) = (behind, pads.len() + len);
        self
    }

    /// Bytes, whole words, that bring a length to the place of an address within so many, if that can be.
    fn pads(len: usize, address: usize) -> usize {
        let missing = address.wrapping_sub(len) % ALIGNED;
        if missing.is_multiple_of(4) { missing } else { 0 }
    }

    /// The next fragment of a granted message, if the kernel can take it from where it lies.
    fn of(put: &mut GrantedSend, behind: usize) -> Option<Self> {
        let offset = put.segment.position();
        let mut list = Vec::new();
        // Room for the records in front and for the head.
        let n = put.segment.runs(PIECES - 2, FRAGMENT.min(put.left()), &mut list);
        if n == 0 {
            return None;
        }
        Some(Self::of_runs(list).headed(behind, &Emit::data(put.receiver, offset), n))
    }

    /// Copies the pieces that are listed: they are nobody else's any more.
    fn copy(&mut self) {
        let copy = OwnedBuf::new(self.runs.iter().map(|(_, len)| len).sum());
        let mut at = 0;
        for run in self.runs.drain(..) {
            copy.user_buf().copy_in(at as isize, buffer::run(run));
            at += run.1;
        }
        self.runs.push_back((copy.user_buf().address(), at));
        self._copy = Some(copy);
    }

    /// Lists the next pieces of what is left.
    fn refill(&mut self) {
        if let Some(rest) = &mut self.rest {
            let mut list = Vec::new();
            rest.runs(PIECES - 2, u64::MAX, &mut list);
            self.runs = list.into();
        }
    }

    /// So many bytes have left; whether all have.
    fn advance(&mut self, n: usize) -> bool {
        let head = n.min(self.head_len - self.head_sent);
        self.head_sent += head;
        let mut n = n - head;
        while let Some((address, len)) = self.runs.front_mut() {
            let now = n.min(*len);
            (*address, *len, n) = (*address + now, *len - now, n - now);
            if *len > 0 {
                break;
            }
            self.runs.pop_front();
        }
        if self.runs.is_empty() {
            self.refill();
        }
        self.head_sent == self.head_len && self.runs.is_empty()
    }
}

/// What is reported when the data of this owner has left.
fn report_of(owner: Owner) -> Option<Done> {
    match owner {
        Owner::Send(sender) => Some(Done::Sent(sender)),
        Owner::OneSided(_) => Some(Done::Over(owner, Outcome::Done)),
        Owner::Receive(_) | Owner::Exposed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Types;
    use crate::ids::{ContextId, Peer, RequestId};
    use crate::wire::{Envelope, Granted, Mode};

    /// Memory of the system for a socket begins with a page; behind records whose lengths are no whole words nothing can be done.
    #[test]
    fn data_in_place_begins_where_it_is_copied_fast() {
        let id = RequestId { slot: 1, generation: 1 };
        let (mode, types) = (Mode::Standard, Types::UNKNOWN);
        let envelope = Envelope { context: ContextId::WORLD, source: 0, tag: 0, len: 1000, mode, types };
        for emit in [Emit::data(id, 0), Emit::eager(&envelope), Emit::eager_synchronous(&envelope, id)] {
            for (behind, address) in
                (0..100).flat_map(|behind| [0, 4096 + 16, 24, 36, 7].map(|at| (behind, at)))
            {
                let fragment = Fragment::of_runs([(address, 1000)]).headed(behind, &emit, 1000);
                let (begins, plain) = (behind + fragment.head_len, PREFIX + emit.front().len());
                let is_near = begins.abs_diff(address).is_multiple_of(ALIGNED);
                assert!(is_near || behind % 4 != address % 4, "behind {behind}, at {address}");
                let (pads, head) = fragment.head[..fragment.head_len].split_at(fragment.head_len - plain);
                assert!(pads.as_chunks::<4>().0.iter().all(|word| *word == PAD.to_le_bytes()));
                assert_eq!(head[..4], (emit.front().len() as u32 + 1000).to_le_bytes());
                assert!(head.ends_with(emit.front()));
            }
        }
    }

    const SENDER: RequestId = RequestId { slot: 1, generation: 1 };

    /// A message that was granted.
    fn granted(segment: Segment) -> GrantedSend {
        let (to, until, granted) = (Peer(1), segment.len(), Granted::Fragments);
        GrantedSend { to, receiver: SENDER, sender: SENDER, segment, until, granted }
    }

    /// A long message that was granted does not wait for packets that keep coming, nor they for it.
    #[test]
    fn granted_messages_and_packets_in_place_take_turns() {
        let (mut out, mut done) = (Out::default(), VecDeque::new());
        let memory = OwnedBuf::new(4 << 20);
        let segment = |len: u64| Segment::contiguous(memory.user_buf(), len);
        let put = |out: &mut Out| out.push_in_place(&Emit::answer(1), None, segment(100_000));
        let message =
            |out: &mut Out| out.push_in_place(&Emit::answer(1), Some(Owner::Send(SENDER)), segment(100_000));
        assert!(put(&mut out).is_ok() && put(&mut out).is_ok() && put(&mut out).is_err());
        // Those of messages have room of their own.
        assert!(message(&mut out).is_ok() && message(&mut out).is_ok() && message(&mut out).is_err());
        out.send_granted(granted(segment(2 << 20)));
        let mut leaves = || {
            out.prepare(&mut done);
            let front = out.fragments.front().expect("something is left");
            let len = front.head_len + front.runs.iter().map(|(_, len)| len).sum::<usize>();
            let is_granted = front.is_granted;
            // Not all at once: nothing comes in between.
            out.advance(1000, &mut done);
            out.prepare(&mut done);
            out.advance(len - 1000, &mut done);
            is_granted
        };
        let order: Vec<bool> = (0..8).map(|_| leaves()).collect();
        assert_eq!(order, [false, true, false, true, false, true, false, true]);
        assert!(out.is_empty() && done.len() == 3, "{done:?}");
    }

    /// Records that are in front stay there, also where one of them has left in part.
    #[test]
    fn no_granted_message_parts_a_record() {
        let (mut out, mut done) = (Out::default(), VecDeque::new());
        let memory = OwnedBuf::new(1 << 20);
        let segment = |len: u64| Segment::contiguous(memory.user_buf(), len);
        let put = |out: &mut Out| assert!(out.push_in_place(&Emit::answer(1), None, segment(50_000)).is_ok());
        // What makes it a granted message's turn.
        put(&mut out);
        out.prepare(&mut done);
        let all = out.fragments[0].head_len + 50_000;
        out.advance(all, &mut done);
        out.push(&Emit::flush(7), Emit::flush(7).front().len(), |_| ());
        put(&mut out);
        let record = out.waiting();
        out.prepare(&mut done);
        out.advance(5, &mut done);
        out.send_granted(granted(segment(1 << 20)));
        out.prepare(&mut done);
        assert!(out.fragments[0].is_granted && !out.fragments[1].is_granted);
        assert_eq!((out.next_records(), out.fragments[1].behind), (record - 5, 0));
    }
}
