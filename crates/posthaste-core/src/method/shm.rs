//! Shared memory: rings for packets, bounce buffers and direct copies for long messages.
//!
//! What must stay true: only rings whose bit is set are looked at, and a bit that is taken back is followed by one more
//! look (see `posthaste_os::wake`); whoever copies through a buffer wakes a sleeping partner. Parts: `buffers`, which
//! bounce buffer a message goes through; `long`, the copies of long messages; `ends`, ranks that have ended or are taken for lost.

mod buffers;
mod ends;
mod long;

use std::collections::{HashMap, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use posthaste_os::copying::Copying;
use posthaste_os::heap::{Heap, PeerHeap};
use posthaste_os::lives::Lives;
use posthaste_os::machine;
use posthaste_os::mapped::Mapped;
use posthaste_os::mem::{Source, Store};
use posthaste_os::node::{ACTIVE_BITS, ACTIVE_WORDS, Life, Node};
use posthaste_os::peer_copy::{self};
use posthaste_os::pool::{self, Buffer, Change, Cursor, Filler, May, Way};
use posthaste_os::ring::{self, Load, Reader, Writer};
use posthaste_os::wake::Doorbell;

use crate::buffer::{self, OwnedBuf};
use crate::config::{BounceBuffer, Config, LongProtocol};
use crate::datatype::Segment;
use crate::error::{self, Error, ErrorClass, say};
use crate::ids::{Peer, RequestId};
use crate::jobs::ProcessName;
use crate::method::contract::{Method, Room};
use crate::method::features::HasShm;
use crate::method::reassembly::Reassembly;
use crate::method::{
    Access, Caps, Drain, Event, GrantedSend, Next, OpenReceive, Outcome, Owner, Route, Routes, Transfer,
};
use crate::trace::{Counter, Counts};
use crate::wire::{BufferCursor, DATA_FRONT, Emit, Envelope, Granted, Offer, Packet, RemoteMemory};

/// Records taken from one ring before the next ring has its turn.
pub(super) const TURN: usize = 64;
/// Polls between two looks for rings that have gone idle.
const SWEEP: u32 = 1 << 15;
/// Yields of the CPU for a message without a bounce buffer where CPUs are shared, and how long one takes at most while nobody computes.
const YIELDS: usize = 8;
const LONGEST_YIELD: Duration = Duration::from_millis(1);
/// Messages to a peer between two questions whether its receive buffers lie in memory that we can reach.
const DOUBTS: u8 = 64;
/// Time between two questions who has ended.
const BETWEEN_QUESTIONS: Duration = Duration::from_millis(200);
/// How long who finalises waits for others before those that have finalised are taken for gone: one that has lost somebody
/// may have left without waiting for us.
const PATIENCE: Duration = Duration::from_secs(1);
/// Longest eager message where pairs have bounce buffers of their own: beyond, those are faster than rings. A whole number of
/// cells.
const SHORT: usize = (2 << 10) - ring::INLINE;

/// The method.
#[derive(Debug)]
pub struct Shm {
    built: HasShm,
    node: Node,
    me: usize,
    peers: Vec<Peer>,
    /// The one peer, if it is of another job.
    other: Option<ProcessName>,
    doorbell: Doorbell,
    writers: Vec<Option<Writer>>,
    readers: Vec<Option<Reader>>,
    words: usize,
    /// Rings to be looked at once more although their bit was taken back.
    again: [u64; ACTIVE_WORDS],
    /// Rings that had something since the last sweep.
    lively: [u64; ACTIVE_WORDS],
    sweep: u32,
    /// The persistent bounce buffer, by receiver.
    persistent: Vec<Persistent>,
    /// The persistent bounce buffer of a peer for its messages to this process, by sender.
    incoming: Vec<Option<Buffer>>,
    filling: Vec<Filling>,
    draining: Vec<Draining>,
    /// Memory of peers that this process reads and writes itself.
    gets: VecDeque<(usize, Transfer)>,
    puts: VecDeque<(usize, Transfer)>,
    /// Messages that leave through a bounce buffer or in fragments.
    granted: VecDeque<(usize, GrantedSend)>,
    runs: Vec<(usize, usize)>,
    /// Memory for what has been copied from a peer and is to be combined, once there was such a thing.
    taken: Option<OwnedBuf>,
    reachable: Vec<Option<bool>>,
    /// Memory that this process shares with its peers.
    heap: Arc<Heap>,
    /// Memory that they share with it.
    reached: Vec<Reached>,
    /// Messages to go before a peer is asked again whether its receive buffers lie in such memory.
    doubts: Vec<u8>,
    /// Messages may be copied directly from and into shared memory.
    shares: bool,
    /// Rings that have shown something unreadable.
    broken: Vec<bool>,
    oversubscribed: bool,
    /// Polls so far, and when this process has yielded last to get a bounce buffer.
    polls: u64,
    yielded: u64,
    /// How long messages are copied.
    copying: Copying,
    /// What it finds out with its peers about copying through buffers of a pair's own.
    choosing: buffers::Choosing,
    /// Bytes of the longest message that is copied in before its send returns.
    buffered: u64,
    chunk: usize,
    packet: usize,
    /// Longest eager message, by receiver.
    longest_eager: Vec<usize>,
    /// Granted messages leave in fragments, because a setting says so.
    fragments: bool,
    pub(super) reassembly: Reassembly,
    /// Rings of ranks that are lost: of what comes from there only the last word counts.
    lost: HashMap<usize, Reader>,
    /// Bounce buffers that such a rank may still write to, as long as it lives and has not heard of it.
    withheld: HashMap<usize, Vec<Buffer>>,
    lives: Lives,
    /// When it was last asked who has ended, and whether the next poll that finds nothing asks.
    asked: Duration,
    ask_soon: bool,
    /// Since when this process finalises.
    finalizing: Option<Duration>,
}

/// The persistent bounce buffer of this process at a receiver.
#[derive(Debug)]
enum Persistent {
    /// None, and there can be none: there are more ranks than buffers.
    Never,
    /// None so far.
    NotYet,
    /// A message is being copied through it.
    InUse,
    /// It waits for the next message.
    Idle(Filler),
}

/// Memory that a peer shares.
#[derive(Debug)]
enum Reached {
    /// There was no need so far.
    NotYet,
    /// The system does not let us.
    Never,
    /// Mapped here.
    Yes(PeerHeap),
}

/// What is known of the receive of a message that is to go through a bounce buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Receive {
    /// Nothing.
    Unknown,
    /// The sender has promised that it is posted (ready mode).
    Promised,
    /// It has been matched.
    Matched,
}

#[derive(Debug)]
struct Filling {
    to: usize,
    /// The buffer, until everything has been copied in.
    filler: Option<Filler>,
    persistent: bool,
    segment: Segment,
    /// Bytes of the next piece, at most.
    piece: usize,
    store: Store,
    /// The message was matched before it began.
    granted: bool,
    sender: RequestId,
}

#[derive(Debug)]
struct Draining {
    from: usize,
    cursor: Cursor,
    /// The buffer, if it is borrowed for this message; else it is that of `incoming`.
    borrowed: Option<Buffer>,
    segment: Segment,
    len: u64,
    receiver: RequestId,
}

/// Room for one packet in a ring.
#[derive(Debug)]
pub struct Claim<'a> {
    _built: HasShm,
    claim: ring::Claim<'a>,
    doorbell: &'a Doorbell,
    to: usize,
}

impl Shm {
    /// The method of local rank `me`; `peers[i]` is the process with local rank `i`. `oversubscribed`: the ranks of
    /// this host outnumber the CPUs.
    ///
    /// # Errors
    /// When this build has no shared memory.
    pub fn new(
        node: &Node,
        me: usize,
        peers: Vec<Peer>,
        config: &Config,
        oversubscribed: bool,
    ) -> error::Result<Self> {
        Self::of_vci(node, me, peers, config, oversubscribed, Heap::new(node, me))
    }

    /// The method of a VCI, that of `node`, in a process with this memory for its peers.
    ///
    /// # Errors
    /// As [`Shm::new`].
    pub fn of_vci(
        node: &Node,
        me: usize,
        peers: Vec<Peer>,
        config: &Config,
        oversubscribed: bool,
        heap: Arc<Heap>,
    ) -> error::Result<Self> {
        let (ranks, packet) = (node.ranks(), ring::max_payload(node));
        let copying = buffers::copying(node, config, oversubscribed);
        let chunk = config.stream_chunk.min(pool::bytes(node) / 2);
        Ok(Self {
            built: HasShm::proof("shm")?,
            node: node.clone(),
            me,
            peers,
            other: None,
            doorbell: Doorbell::new(node, me),
            writers: (0..ranks).map(|_| None).collect(),
            readers: (0..ranks).map(|_| None).collect(),
            words: ranks.div_ceil(64).min(ACTIVE_WORDS),
            again: [0; ACTIVE_WORDS],
            lively: [0; ACTIVE_WORDS],
            sweep: 0,
            filling: Vec::new(),
            draining: Vec::new(),
            gets: VecDeque::new(),
            puts: VecDeque::new(),
            granted: VecDeque::new(),
            runs: Vec::new(),
            taken: None,
            persistent: (0..ranks)
                .map(|_| {
                    if pool::suffice_for_all(node) || copying.own_buffer > 0 {
                        Persistent::NotYet
                    } else {
                        Persistent::Never
                    }
                })
                .collect(),
            incoming: (0..ranks).map(|_| None).collect(),
            reachable: vec![None; ranks],
            heap,
            reached: (0..ranks).map(|_| Reached::NotYet).collect(),
            doubts: vec![0; ranks],
            shares: matches!(config.long_protocol, LongProtocol::Auto | LongProtocol::Shared),
            broken: vec![false; ranks],
            oversubscribed,
            polls: 1,
            yielded: 0,
            copying,
            choosing: buffers::Choosing::new(node, config, oversubscribed),
            buffered: buffers::buffered(node, config, oversubscribed, chunk),
            chunk,
            packet,
            longest_eager: vec![if copying.own_buffer > 0 { SHORT.min(packet) } else { packet }; ranks],
            fragments: config.long_protocol == LongProtocol::Put,
            reassembly: Reassembly::default(),
            lost: HashMap::new(),
            withheld: HashMap::new(),
            lives: Lives::none(),
            asked: Duration::ZERO,
            ask_soon: false,
            finalizing: None,
        })
    }

    /// The method of process `me` of the two that share `node`, of which the other is of another job and called `name`.
    ///
    /// # Errors
    /// As [`Shm::new`].
    pub(super) fn of_pair(
        node: &Node,
        me: usize,
        peers: Vec<Peer>,
        config: &Config,
        oversubscribed: bool,
        name: ProcessName,
    ) -> error::Result<Self> {
        let lives = Lives::new(node, |rank| rank != me);
        Ok(Self { lives, other: Some(name), ..Self::new(node, me, peers, config, oversubscribed)? })
    }

    /// The memory that this process shares with its peers.
    pub fn heap(&self) -> &Arc<Heap> {
        &self.heap
    }

    /// The memory that a peer shares, if the system lets us reach it.
    fn reach(&mut self, rank: usize) -> Option<&mut PeerHeap> {
        if let Reached::NotYet = self.reached[rank] {
            self.reached[rank] = PeerHeap::open(&self.node, rank).map_or(Reached::Never, Reached::Yes);
        }
        match &mut self.reached[rank] {
            Reached::Yes(heap) => Some(heap),
            Reached::NotYet | Reached::Never => None,
        }
    }

    /// Memory that a peer shares, in a mapping of its own, and where in it. `None`: it shares no such memory, or not with us.
    pub(super) fn map(&mut self, peer: usize, memory: RemoteMemory, len: u64) -> Option<(Mapped, usize)> {
        let RemoteMemory::Shared { offset } = memory else { return None };
        self.reach(peer)?.part(offset, usize::try_from(len).ok()?).ok()
    }

    /// Whether the system is known not to let us at this memory.
    fn is_refused(&self, peer: usize, transfer: &Transfer) -> bool {
        self.reachable[peer] == Some(false) && matches!(transfer.memory, RemoteMemory::Address { .. })
    }

    /// Whether the system lets processes of this pair read each other's memory; tried once. The receiver reads,
    /// so this is a guess by the sender that the receiver's refusal corrects.
    fn can_read(&mut self, peer: usize) -> bool {
        if let Some(known) = self.reachable[peer] {
            return known;
        }
        // The address is said last, so that with it everything is there.
        let address = self.node.probe_address(peer);
        let pid = self.node.pid(peer);
        if address == 0 {
            return false; // not attached yet: asked again next time
        }
        let can = peer_copy::probe(pid, address);
        self.reachable[peer] = Some(can);
        can
    }

    /// A granted message comes through a bounce buffer.
    fn stream_begins(&mut self, from: usize, receiver: RequestId, cursor: BufferCursor, counts: &mut Counts) {
        match self.open(from, cursor, 0) {
            Some((borrowed, cursor))
                if let Some((segment, len)) = self.reassembly.close(self.peers[from], receiver) =>
            {
                self.draining.push(Draining { from, cursor, borrowed, segment, len, receiver });
            }
            _ => counts.add(Counter::StalePackets, 1),
        }
    }

    /// See [`super::Methods::take_plain`]. `spans_jobs`: as in [`Envelope::plain_data`].
    #[inline(always)]
    pub(super) fn take_plain(
        &mut self,
        from: usize,
        envelope: &Envelope,
        spans_jobs: bool,
        room: u64,
        put: impl FnOnce(Source<'_>),
    ) -> ControlFlow<Option<u64>> {
        // Nobody has looked there yet, or the rank is lost: `take_next` knows.
        let Some(reader) = &mut self.readers[from] else { return ControlFlow::Break(None) };
        let record = match reader.peek() {
            Ok(None) => return ControlFlow::Continue(()),
            Ok(Some(record)) => record,
            Err(ring::Malformed) => return ControlFlow::Break(None),
        };
        let Some(data) = envelope.plain_data(spans_jobs, &record.header, record.payload, room) else {
            return ControlFlow::Break(None);
        };
        let len = data.len() as u64;
        put(data);
        took(reader, &self.doorbell, &mut self.lively, from);
        ControlFlow::Break(Some(len))
    }

    /// See [`super::Methods::take_next_of_any`].
    #[inline]
    pub(super) fn take_next_of_any(&mut self, mut take: impl FnMut(Peer, &Packet<'_>) -> bool) -> Next {
        for word in 0..self.words {
            let mut bits = self.doorbell.active(word) | self.again[word];
            while bits != 0 {
                let mut from = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                while let Some(peer) = self.peers.get(from).copied() {
                    let next = self.take_next(from, |packet| take(peer, packet));
                    if next != Next::Nothing {
                        return next;
                    }
                    from += ACTIVE_BITS;
                }
            }
        }
        Next::Nothing
    }

    /// Looks at the rings that share one bit: one ring, unless there are very many ranks.
    #[inline]
    fn poll_bit(
        &mut self,
        bit: usize,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let mut busy = false;
        let mut from = bit;
        while from < self.readers.len() {
            busy |= self.poll_ring(from, counts, on);
            from += ACTIVE_BITS;
        }
        busy
    }

    #[inline]
    pub(super) fn poll_ring(
        &mut self,
        from: usize,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let (node, me, peer) = (&self.node, self.me, self.peers[from]);
        let reader = match &mut self.readers[from] {
            Some(reader) => reader,
            none => match make_reader(none, node, me, from, &self.lost) {
                Some(reader) => reader,
                None => return self.hear_the_lost(from, counts, on),
            },
        };
        let (mut taken, mut began) = (0, None);
        while taken < TURN {
            let record = match reader.peek() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(ring::Malformed) => {
                    if !std::mem::replace(&mut self.broken[from], true) {
                        on(Event::Malformed(peer), counts);
                    }
                    return false;
                }
            };
            taken += 1;
            match Packet::parse(&record.header, record.payload) {
                Ok(Packet::Data { receiver, offset, data }) => {
                    if self.reassembly.arrived(peer, receiver, offset, data, counts) {
                        on(Event::Received(receiver), counts);
                    }
                }
                Ok(Packet::Stream { receiver, cursor }) => began = Some((receiver, cursor)),
                Ok(packet) => on(Event::Packet(peer, packet), counts),
                Err(_) => counts.add(Counter::MalformedPackets, 1),
            }
            reader.release();
            if began.is_some() {
                break;
            }
        }
        if reader.has_published() {
            self.doorbell.ring_for_room(from);
        }
        if let Some((receiver, cursor)) = began {
            self.stream_begins(from, receiver, cursor, counts);
        }
        if taken == TURN || began.is_some() {
            // More may be there although the bit was taken back.
            self.again[from % ACTIVE_BITS / 64] |= 1 << (from % 64);
        }
        taken > 0
    }

    /// Takes back the bits of rings that had nothing for a long time, so that idle peers cost nothing.
    #[cold]
    fn sweep(&mut self) {
        self.sweep = 0;
        let idle: [u64; ACTIVE_WORDS] =
            std::array::from_fn(|word| self.doorbell.active(word) & !self.lively[word]);
        self.lively = [0; ACTIVE_WORDS];
        // One or two idle rings cost less than the barrier.
        if idle.iter().map(|word| word.count_ones()).sum::<u32>() > 2 {
            self.doorbell.clear_active(&idle);
            for (again, idle) in self.again.iter_mut().zip(idle) {
                *again |= idle;
            }
        }
    }
}

#[cold]
fn make_writer<'a>(
    place: &'a mut Option<Writer>,
    node: &Node,
    to: usize,
    me: usize,
    longest: usize,
) -> &'a mut Writer {
    let writer = place.insert(Writer::new(node, to, me));
    writer.limit_messages(longest);
    writer
}

/// The packet that is next from there has been taken.
#[inline(always)]
fn took(reader: &mut Reader, doorbell: &Doorbell, lively: &mut [u64; ACTIVE_WORDS], from: usize) {
    reader.release();
    if reader.has_published() {
        doorbell.ring_for_room(from);
    }
    lively[from % ACTIVE_BITS / 64] |= 1 << (from % 64);
}

/// `None`: the rank is lost.
#[cold]
fn make_reader<'a>(
    place: &'a mut Option<Reader>,
    node: &Node,
    me: usize,
    from: usize,
    lost: &HashMap<usize, Reader>,
) -> Option<&'a mut Reader> {
    (!lost.contains_key(&from)).then(|| place.insert(Reader::new(node, me, from)))
}

impl Method for Shm {
    type To = usize;
    type Claim<'a> = Claim<'a>;
    const ELSEWHERE: bool = false;

    fn joining(mut self, routes: &Routes) -> Self {
        // Of those that a network leads to the network reports, when what they have sent has come.
        let is_reached = |peer: &Peer| matches!(routes.to(*peer), Route::Shm(_));
        let watched = |rank: usize| rank != self.me && self.peers.get(rank).is_some_and(is_reached);
        self.lives = Lives::new(&self.node, watched);
        self
    }

    fn caps(&mut self, to: usize) -> Caps {
        let get = self.can_read(to);
        let into =
            self.doubts[to] == 0 && self.node.has_heap(to) && !matches!(self.reached[to], Reached::Never);
        let (packet, oversubscribed) = (self.longest_eager[to], self.oversubscribed);
        Caps {
            packet,
            bounce_buffer: pool::bytes(&self.node).max(self.copying.own_buffer),
            get,
            put: get,
            put_seen: true,
            into,
            in_order: true,
            oversubscribed,
            ..Caps::default()
        }
    }

    #[inline]
    fn shared(&self, memory: &Segment) -> Option<RemoteMemory> {
        if !self.shares {
            return None;
        }
        let (buffer, len) = memory.contiguous_rest()?;
        self.heap.find(buffer.address(), len).map(|offset| RemoteMemory::Shared { offset })
    }

    fn expose(&mut self, memory: &Segment, _: Access, _: Owner) -> Option<RemoteMemory> {
        let (buffer, _) = memory.contiguous_rest()?;
        Some(RemoteMemory::Address { address: buffer.address() as u64, key: 0 })
    }

    fn get(&mut self, from: usize, transfer: Transfer) -> Result<(), Transfer> {
        if self.is_refused(from, &transfer) {
            return Err(transfer);
        }
        self.gets.push_back((from, transfer));
        Ok(())
    }

    fn put(&mut self, to: usize, transfer: Transfer) -> Result<(), Transfer> {
        if self.is_refused(to, &transfer) {
            return Err(transfer);
        }
        if matches!(transfer.memory, RemoteMemory::Shared { .. }) {
            self.doubts[to] = 0;
        }
        self.puts.push_back((to, transfer));
        Ok(())
    }

    #[inline(always)]
    fn claim(&mut self, to: usize, len: usize, load: Load) -> Option<Claim<'_>> {
        let (node, me) = (&self.node, self.me);
        let writer = match &mut self.writers[to] {
            Some(writer) => writer,
            none => make_writer(none, node, to, me, self.longest_eager[to]),
        };
        let claim = writer.claim(len, load)?;
        Some(Claim { _built: self.built, claim, doorbell: &self.doorbell, to })
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        self.reassembly.open(opened);
        Granted::Fragments
    }

    fn drain(&mut self, from: usize, drain: Drain) -> Result<(), Drain> {
        let Some((borrowed, cursor)) = self.open(from, drain.cursor, drain.filled) else {
            return Err(drain);
        };
        let Drain { segment, len, receiver, .. } = drain;
        self.draining.push(Draining { from, cursor, borrowed, segment, len, receiver });
        Ok(())
    }

    fn send_granted(&mut self, to: usize, send: GrantedSend) {
        self.doubts[to] = DOUBTS;
        self.granted.push_back((to, send));
    }

    fn throttle(&mut self, from: usize, on: bool) {
        let (node, me) = (&self.node, self.me);
        let reader = match &mut self.readers[from] {
            Some(reader) => Some(reader),
            none => make_reader(none, node, me, from, &self.lost),
        };
        if let Some(reader) = reader {
            reader.throttle(on);
            self.doorbell.ring_for_room(from);
        }
    }

    #[inline(always)]
    fn is_next_there(&mut self, from: usize) -> bool {
        let (node, me) = (&self.node, self.me);
        match &mut self.readers[from] {
            Some(reader) => reader.is_ready(),
            none => make_reader(none, node, me, from, &self.lost).is_some_and(|reader| reader.is_ready()),
        }
    }

    #[inline(always)]
    fn take_next(&mut self, from: usize, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        let (node, me) = (&self.node, self.me);
        let reader = match &mut self.readers[from] {
            Some(reader) => reader,
            none => match make_reader(none, node, me, from, &self.lost) {
                Some(reader) => reader,
                None => return Next::Nothing,
            },
        };
        let record = match reader.peek() {
            Ok(None) => return Next::Nothing,
            Ok(Some(record)) => record,
            Err(ring::Malformed) => return Next::Left,
        };
        match Packet::parse(&record.header, record.payload) {
            Ok(packet) if take(&packet) => {
                took(reader, &self.doorbell, &mut self.lively, from);
                Next::Taken
            }
            _ => Next::Left,
        }
    }

    /// Whether no copy needs this process's CPU.
    fn is_quiet(&self) -> bool {
        self.gets.is_empty() && self.puts.is_empty()
    }

    /// Whether everything handed over has left.
    fn is_drained(&self) -> bool {
        self.is_quiet() && self.granted.is_empty() && self.filling.is_empty() && self.draining.is_empty()
    }

    #[inline]
    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
        self.polls += 1;
        for word in 0..self.words {
            let mut bits = self.doorbell.active(word) | std::mem::take(&mut self.again[word]);
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                if self.poll_bit(word * 64 + bit, counts, on) {
                    busy = true;
                    self.lively[word] |= 1 << bit;
                }
            }
        }
        self.sweep += 1;
        let is_time = self.sweep == SWEEP;
        if is_time {
            self.sweep();
        }
        // The question is a system call, which whoever has just been woken by a message does not wait for.
        if is_time || (self.ask_soon && !busy) {
            busy |= self.look_for_ends(counts, on);
        }
        if !(self.filling.is_empty() && self.draining.is_empty()) {
            busy |= self.copy_streams(counts, on);
        }
        if !(self.is_quiet() && self.granted.is_empty()) {
            busy |= self.copy_from_peers(counts, on);
            busy |= self.copy_to_peers(counts, on);
            busy |= self.send_granted(counts, on);
        }
        busy
    }

    fn exclude(&mut self, rank: usize) -> bool {
        self.lose(rank);
        self.lives.may_live(rank)
    }

    fn look_soon(&mut self) {
        self.ask_soon = true;
    }

    fn begin_finalizing(&mut self) {
        self.finalizing = Some(machine::now());
    }

    fn stay(&mut self) {
        self.finalizing = None;
    }

    fn decline(&mut self, from: usize, cursor: BufferCursor) {
        if !cursor.persistent
            && let Some(mut buffer) = Buffer::open(&self.node, self.me, cursor.buffer as usize)
        {
            match self.lost.contains_key(&from) && self.lives.may_live(from) {
                true => self.withheld.entry(from).or_default().push(buffer),
                false => self.call_if(buffer.give_back()),
            }
        }
    }

    fn offer_stream(
        &mut self,
        to: usize,
        sender: RequestId,
        segment: &Segment,
        ready: bool,
    ) -> Option<(Offer, bool)> {
        self.begin_stream(to, sender, segment, ready)
    }
}

impl Room for Claim<'_> {
    #[inline]
    fn write(mut self, emit: &Emit, data: Option<&mut Segment>) {
        self.claim.set_header(&emit.header);
        let rest = emit.write_front(self.claim.payload());
        if let Some(segment) = data {
            segment.pack(rest);
        }
        self.claim.commit();
        self.doorbell.ring(self.to);
    }
}

impl Claim<'_> {
    /// Writes a message that says nothing of its types and was not converted. `spans_jobs`: as in [`Envelope::plain_header`].
    #[inline(always)]
    pub(super) fn write_eager(mut self, envelope: &Envelope, spans_jobs: bool, segment: &mut Segment) {
        self.claim.set_header(&envelope.plain_header(spans_jobs));
        segment.pack(envelope.plain_room(spans_jobs, self.claim.payload()));
        self.claim.commit();
        self.doorbell.ring(self.to);
    }
}
