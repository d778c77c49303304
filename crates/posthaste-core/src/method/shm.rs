//! Shared memory: rings for packets, copy buffers and direct copies for long messages.
//!
//! Called through [`crate::method::Methods`]; calls `posthaste_os::{ring, pool, wake, peer_copy}`. What must stay
//! true: only rings whose bit is set are looked at, and a bit that is taken back is followed by one more look
//! (see `posthaste_os::wake`); whoever copies through a buffer wakes a sleeping partner.

use std::collections::VecDeque;

use posthaste_os::node::{ACTIVE_BITS, ACTIVE_WORDS, Node};
use posthaste_os::peer_copy::{self, EFAULT};
use posthaste_os::pool::{self, Drainer, Filler};
use posthaste_os::ring::{self, Load, Reader, Writer};
use posthaste_os::wake::Doorbell;

use crate::buffer;
use crate::config::{Config, LongProtocol};
use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::method::landing::Landing;
use crate::method::{Caps, Event, Get, Next, Put};
use crate::trace::{Counter, Counts};
use crate::wire::{DATA_FRONT, Emit, Envelope, Granted, Kind, Offer, Packet, Place, Through};

/// Records taken from one ring before the next ring has its turn.
const TURN: usize = 64;
/// Polls between two looks for rings that have gone idle.
const SWEEP: u32 = 1 << 15;
/// Bytes of a direct copy between two looks at everything else.
const DIRECT_PIECE: u64 = 4 << 20;
/// Runs of user memory in one direct copy.
const DIRECT_RUNS: usize = 1024;
/// Most ranks of which each may keep a copy buffer at each other.
const KEEPERS: usize = 5;

/// The method.
#[derive(Debug)]
pub struct Shm {
    node: Node,
    me: usize,
    peers: Vec<Peer>,
    doorbell: Doorbell,
    writers: Vec<Option<Writer>>,
    readers: Vec<Option<Reader>>,
    words: usize,
    /// Rings to be looked at once more although their bit was taken back.
    again: [u64; ACTIVE_WORDS],
    /// Rings that had something since the last sweep.
    lively: [u64; ACTIVE_WORDS],
    sweep: u32,
    /// The copy buffer kept for the next message, by receiver.
    kept: Vec<Kept>,
    filling: Vec<Filling>,
    draining: Vec<Draining>,
    gets: VecDeque<Get>,
    puts: VecDeque<(usize, Put)>,
    /// Granted messages that this process copies into the receiver's memory itself.
    writes: VecDeque<(usize, Put)>,
    runs: Vec<(usize, usize)>,
    reachable: Vec<Option<bool>>,
    /// Rings that have shown something unreadable.
    broken: Vec<bool>,
    crowded: bool,
    chunk: usize,
    packet: usize,
    /// Shortest mean piece of a direct copy.
    run_limit: u64,
    /// Granted messages leave in fragments, because a setting says so.
    fragments: bool,
    pub(super) landing: Landing,
}

/// The copy buffer that this process keeps at a receiver.
#[derive(Debug)]
enum Kept {
    /// None, and none may be kept: there are more ranks than buffers.
    Never,
    /// None so far.
    NotYet,
    /// A message is being copied through it.
    InUse,
    /// It waits for the next message. The receiver is certain to drain the last one if that was granted.
    Idle {
        /// The buffer.
        filler: Filler,
        /// The last message through it had been matched before it began.
        granted: bool,
    },
}

#[derive(Debug)]
struct Filling {
    to: usize,
    filler: Filler,
    kept: bool,
    segment: Segment,
    /// Bytes of the next piece, at most.
    piece: usize,
    /// The message was matched before it began.
    granted: bool,
    sender: RequestId,
}

#[derive(Debug)]
struct Draining {
    from: usize,
    drainer: Drainer,
    through: Through,
    segment: Segment,
    len: u64,
    receiver: RequestId,
}

/// Room for one packet in a ring.
#[derive(Debug)]
pub struct Claim<'a> {
    claim: ring::Claim<'a>,
    doorbell: &'a Doorbell,
    to: usize,
}

impl Shm {
    /// The method of local rank `me`; `peers[i]` is the process with local rank `i`. `crowded`: the ranks of
    /// this host outnumber the CPUs.
    pub fn new(node: &Node, me: usize, peers: Vec<Peer>, config: &Config, crowded: bool) -> Self {
        let ranks = node.ranks();
        Self {
            node: node.clone(),
            me,
            peers,
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
            writes: VecDeque::new(),
            runs: Vec::new(),
            // With few ranks each can keep a buffer at each receiver and some are left for messages in between.
            kept: (0..ranks).map(|_| if ranks <= KEEPERS { Kept::NotYet } else { Kept::Never }).collect(),
            reachable: vec![None; ranks],
            broken: vec![false; ranks],
            crowded,
            // Two chunks are copied in at once (`send_buffered`), so they have to fit.
            chunk: config.stream_chunk.min(pool::bytes(node) / 2),
            packet: ring::max_payload(node),
            run_limit: if config.long_protocol == LongProtocol::Get { 0 } else { config.run_limit as u64 },
            fragments: config.long_protocol == LongProtocol::Put,
            landing: Landing::default(),
        }
    }

    fn local(&self, peer: Peer) -> usize {
        self.peers.iter().position(|known| *known == peer).unwrap_or(self.me)
    }

    /// The doorbell, for those who wait.
    pub fn doorbell(&self) -> &Doorbell {
        &self.doorbell
    }

    pub(super) fn caps(&mut self, to: usize) -> Caps {
        let get = self.can_read(to);
        Caps { packet: self.packet, stream: true, get, put: get, crowded: self.crowded, ..Caps::default() }
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

    #[inline(always)]
    pub(super) fn claim(&mut self, to: usize, len: usize, load: Load) -> Option<Claim<'_>> {
        let (node, me) = (&self.node, self.me);
        let claim = self.writers[to].get_or_insert_with(|| Writer::new(node, to, me)).claim(len, load)?;
        Some(Claim { claim, doorbell: &self.doorbell, to })
    }

    pub(super) fn offer_stream(
        &mut self,
        to: usize,
        sender: RequestId,
        segment: &Segment,
    ) -> Option<(Offer, bool)> {
        // What has been granted goes first: it is certain to be drained.
        if self.puts.iter().any(|(waiting, _)| *waiting == to) {
            return None;
        }
        let (filler, kept) = self.copy_buffer(to, false)?;
        let through = Through { buffer: filler.index() as u32, kept, start: filler.position() };
        let mut filling =
            Filling { to, filler, kept, segment: segment.clone(), piece: self.chunk, granted: false, sender };
        // The first piece is there before the receiver hears of the message; of a shorter message everything, for
        // telling twice would cost more than copying in turns.
        let whole = segment.len() <= 2 * self.chunk as u64;
        filling.pump(if whole { 2 } else { 1 }, self.chunk);
        let offer = Offer::Stream { through, filled: filling.segment.position() };
        let all_left = filling.segment.remaining() == 0;
        match filling {
            Filling { filler, .. } if all_left && kept => {
                self.kept[to] = Kept::Idle { filler, granted: false }
            }
            _ if all_left => {}
            filling => self.filling.push(filling),
        }
        Some((offer, all_left))
    }

    /// See [`super::Methods::send_buffered`].
    pub(super) fn send_buffered(&mut self, to: usize, envelope: &Envelope, segment: &mut Segment) -> bool {
        let ready = match &self.kept[to] {
            Kept::Idle { filler, .. } => filler.is_drained(),
            Kept::Never | Kept::NotYet | Kept::InUse => false,
        };
        if !ready || envelope.len > 2 * self.chunk as u64 {
            return false;
        }
        let Kept::Idle { filler, .. } = &self.kept[to] else { return false };
        let through = Through { buffer: filler.index() as u32, kept: true, start: filler.position() };
        let offer = Offer::Stream { through, filled: envelope.len };
        let emit = Emit::request_to_send(envelope, RequestId::NONE, offer);
        // Room for the packet first: what is in the buffer cannot be taken back.
        if self.claim(to, emit.front().len(), Load::Message).is_none() {
            return false;
        }
        let Kept::Idle { filler, granted } = &mut self.kept[to] else { return false };
        while segment.remaining() > 0 && filler.fill(usize::MAX, |sink| segment.pack(sink)).is_some() {}
        *granted = false;
        if let Some(claim) = self.claim(to, emit.front().len(), Load::Message) {
            claim.write(&emit, None);
        }
        true
    }

    /// See [`super::Methods::drain_whole`].
    pub(super) fn drain_whole(&mut self, from: usize, through: Through, segment: &mut Segment, len: u64) {
        let Some(mut drainer) =
            pool::attach(&self.node, self.me, through.buffer as usize, through.start, len)
        else {
            return;
        };
        while drainer.drained() < len {
            let left = (len - drainer.drained()) as usize;
            if drainer
                .drain(left, |source| {
                    segment.unpack(source);
                })
                .is_none()
            {
                break;
            }
        }
        if through.kept {
            drainer.finish()
        } else {
            drainer.give_back()
        }
        self.doorbell.ring_for_room(from);
    }

    /// A copy buffer of receiver `to` for a message that has been granted, or not yet. A message that nobody has
    /// matched may sit in its buffer for long, so nothing else may queue behind it; behind a granted one it may.
    fn copy_buffer(&mut self, to: usize, granted: bool) -> Option<(Filler, bool)> {
        let kept = &mut self.kept[to];
        match kept {
            Kept::Idle { filler, granted: last } if (granted && *last) || filler.is_drained() => {
                let Kept::Idle { filler, .. } = std::mem::replace(kept, Kept::InUse) else { return None };
                return Some((filler, true));
            }
            Kept::NotYet => {
                let filler = pool::claim(&self.node, to, 0)?;
                *kept = Kept::InUse;
                return Some((filler, true));
            }
            Kept::Idle { .. } | Kept::InUse | Kept::Never => {}
        }
        let keeps = !matches!(kept, Kept::Never);
        let fills = || self.filling.iter().any(|filling| filling.to == to && filling.granted);
        // One buffer at a time is enough, and stays in the cache; another one only gets past a message in the kept
        // one that nobody has matched. Where none is kept, some stay free for what is granted and always drains.
        if keeps && (!granted || fills()) {
            return None;
        }
        Some((pool::claim(&self.node, to, if granted { 0 } else { 2 })?, false))
    }

    pub(super) fn get(&mut self, from: usize, get: Get) {
        let Offer::Stream { through, filled } = get.offer else { return self.gets.push_back(get) };
        match pool::attach(&self.node, self.me, through.buffer as usize, through.start, filled) {
            Some(drainer) => {
                let Get { segment, len, receiver, .. } = get;
                self.draining.push(Draining { from, drainer, through, segment, len, receiver });
            }
            None => self.gets.push_back(get), // a buffer that does not exist: refused in `poll`
        }
    }

    /// A granted message comes through a copy buffer.
    fn stream_begins(&mut self, from: usize, receiver: RequestId, through: Through, counts: &mut Counts) {
        match pool::attach(&self.node, self.me, through.buffer as usize, through.start, 0) {
            Some(drainer) if let Some((segment, len)) = self.landing.close(receiver) => {
                self.draining.push(Draining { from, drainer, through, segment, len, receiver });
            }
            _ => counts.add(Counter::StalePackets, 1),
        }
    }

    pub(super) fn put(&mut self, to: usize, put: Put) {
        let queue = match put.granted {
            Granted::Memory(_) => &mut self.writes,
            Granted::Fragments | Granted::Windows { .. } => &mut self.puts,
        };
        queue.push_back((to, put));
    }

    /// See [`super::Methods::hold_back`].
    pub(super) fn hold_back(&mut self, from: usize, hold: bool) {
        let (node, me) = (&self.node, self.me);
        self.readers[from].get_or_insert_with(|| Reader::new(node, me, from)).hold_back(hold);
        self.doorbell.ring_for_room(from);
    }

    /// See [`super::Methods::is_next_there`].
    #[inline(always)]
    pub(super) fn is_next_there(&self, from: usize) -> bool {
        self.readers[from].as_ref().is_some_and(Reader::is_ready)
    }

    /// See [`super::Methods::take_next`].
    #[inline(always)]
    pub(super) fn take_next(&mut self, from: usize, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        let (node, me) = (&self.node, self.me);
        let reader = self.readers[from].get_or_insert_with(|| Reader::new(node, me, from));
        let record = match reader.peek() {
            Ok(None) => return Next::Nothing,
            Ok(Some(record)) => record,
            Err(ring::Malformed) => return Next::Left,
        };
        match Packet::parse(&record.header, record.payload) {
            Ok(packet) if take(&packet) => {
                reader.release();
                if reader.has_told() {
                    self.doorbell.ring_for_room(from);
                }
                self.lively[from % ACTIVE_BITS / 64] |= 1 << (from % 64);
                Next::Taken
            }
            _ => Next::Left,
        }
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

    /// Whether no copy needs this process's CPU.
    pub(super) fn is_quiet(&self) -> bool {
        self.gets.is_empty() && self.writes.is_empty()
    }

    /// Whether everything handed over has left.
    pub(super) fn is_drained(&self) -> bool {
        self.is_quiet() && self.puts.is_empty() && self.filling.is_empty() && self.draining.is_empty()
    }

    #[inline]
    pub(super) fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
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
        if self.sweep == SWEEP {
            self.sweep();
        }
        if !(self.filling.is_empty() && self.draining.is_empty()) {
            busy |= self.copy_streams(counts, on);
        }
        if !(self.is_quiet() && self.puts.is_empty()) {
            busy |= self.copy_from_peer(counts, on);
            busy |= self.copy_to_peer(counts, on);
            busy |= self.send_granted(counts, on);
        }
        busy
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
    fn poll_ring(
        &mut self,
        from: usize,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let (node, me, peer) = (&self.node, self.me, self.peers[from]);
        let reader = self.readers[from].get_or_insert_with(|| Reader::new(node, me, from));
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
                    if self.landing.arrived(receiver, offset, data, counts) {
                        on(Event::Landed(receiver), counts);
                    }
                }
                Ok(Packet::Stream { receiver, through }) => began = Some((receiver, through)),
                Ok(Packet::Written { receiver, unreadable }) => match self.landing.close(receiver) {
                    Some(_) if unreadable => on(Event::Unreadable(receiver), counts),
                    Some(_) => on(Event::Landed(receiver), counts),
                    None => counts.add(Counter::StalePackets, 1),
                },
                Ok(packet) => on(Event::Packet(peer, packet), counts),
                Err(_) => counts.add(Counter::MalformedPackets, 1),
            }
            reader.release();
            if began.is_some() {
                break;
            }
        }
        if reader.has_told() {
            self.doorbell.ring_for_room(from);
        }
        if let Some((receiver, through)) = began {
            self.stream_begins(from, receiver, through, counts);
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

    fn copy_streams(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
        let (chunk, doorbell) = (self.chunk, &self.doorbell);
        let mut at = 0;
        while let Some(filling) = self.filling.get_mut(at) {
            if filling.pump(8, chunk) {
                busy = true;
                doorbell.ring(filling.to);
            }
            if filling.segment.remaining() > 0 {
                at += 1;
                continue;
            }
            let Filling { to, filler, kept, granted, sender, .. } = self.filling.remove(at);
            if kept {
                self.kept[to] = Kept::Idle { filler, granted };
            }
            on(Event::Sent(sender), counts);
        }
        let mut at = 0;
        while let Some(draining) = self.draining.get(at) {
            // In one buffer messages are drained in the order in which they were filled.
            let (from, through) = (draining.from, draining.through);
            let behind = |other: &Draining| other.from == from && other.through.buffer == through.buffer;
            if through.kept && self.draining[..at].iter().any(behind) {
                at += 1;
                continue;
            }
            let draining = &mut self.draining[at];
            busy |= draining.pump();
            if draining.drainer.has_told() {
                doorbell.ring_for_room(from);
            }
            if draining.drainer.drained() < draining.len {
                at += 1;
                continue;
            }
            let Draining { drainer, receiver, .. } = self.draining.remove(at);
            if through.kept {
                drainer.finish()
            } else {
                drainer.give_back()
            }
            doorbell.ring_for_room(from);
            on(Event::Landed(receiver), counts);
        }
        busy
    }

    /// Copies the next piece of the first message that is copied directly by its receiver.
    fn copy_from_peer(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let Some(mut get) = self.gets.pop_front() else { return false };
        let rank = self.local(get.from);
        let piece = match get.offer {
            Offer::Memory(Place { address, .. })
                if get.segment.position() > 0 || get.segment.mean_run() >= self.run_limit =>
            {
                get_piece(self.node.pid(rank), address, &mut get, &mut self.runs)
            }
            // Very short pieces are faster through a copy buffer.
            Offer::Memory { .. } => Piece::Declined,
            Offer::Nothing | Offer::Write | Offer::Pipeline | Offer::Stream { .. } => Piece::Refused,
        };
        let Get { receiver, mut segment, .. } = match piece {
            Piece::More => {
                self.gets.push_front(get);
                return true;
            }
            _ => get,
        };
        match piece {
            Piece::Unreadable => on(Event::Unreadable(receiver), counts),
            Piece::Refused | Piece::Declined => {
                if piece == Piece::Refused {
                    self.reachable[rank] = Some(false);
                }
                segment.seek(0);
                on(Event::Refused(receiver, segment), counts);
            }
            Piece::More | Piece::Last => on(Event::Landed(receiver), counts),
        }
        true
    }

    /// Copies the next piece of the first message that is copied directly by its sender.
    fn copy_to_peer(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let Some((to, mut put)) = self.writes.pop_front() else { return false };
        let piece = put_piece(self.node.pid(to), &mut put, &mut self.runs);
        match piece {
            Piece::More => self.writes.push_front((to, put)),
            Piece::Refused | Piece::Declined => {
                self.reachable[to] = Some(false);
                put.segment.seek(0);
                self.puts.push_back((to, Put { granted: Granted::Fragments, ..put }));
            }
            Piece::Last | Piece::Unreadable => {
                let emit = Emit::written(put.receiver, piece == Piece::Unreadable);
                let Some(claim) = self.claim(to, emit.front().len(), Load::Control) else {
                    // Copied already: the next look finds nothing left but to say so.
                    self.writes.push_back((to, put));
                    return false;
                };
                claim.write(&emit, None);
                // A buffer that cannot be accessed is the receiver's to answer for: it tells us.
                if piece == Piece::Last {
                    on(Event::Sent(put.sender), counts);
                }
            }
        }
        true
    }

    /// Sends what has been granted, as far as there is room.
    fn send_granted(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
        for _ in 0..self.puts.len() {
            let Some((to, put)) = self.puts.pop_front() else { break };
            let left = if self.fragments {
                self.send_fragments(to, put, &mut busy)
            } else {
                self.send_stream(to, put)
            };
            match left {
                Err(put) => self.puts.push_back((to, put)),
                Ok(Some(sender)) => on(Event::Sent(sender), counts),
                Ok(None) => busy = true,
            }
        }
        busy
    }
}

impl Shm {
    /// Begins to copy a granted message through a buffer; the message comes back while there is none.
    fn send_stream(&mut self, to: usize, put: Put) -> Result<Option<RequestId>, Put> {
        let Some((filler, kept)) = self.copy_buffer(to, true) else { return Err(put) };
        let through = Through { buffer: filler.index() as u32, kept, start: filler.position() };
        let emit = Emit::stream(put.receiver, through);
        match self.claim(to, emit.front().len(), Load::Control) {
            Some(claim) => claim.write(&emit, None),
            None if kept => {
                self.kept[to] = Kept::Idle { filler, granted: true };
                return Err(put);
            }
            None => {
                filler.give_back_unused();
                return Err(put);
            }
        }
        let Put { segment, sender, .. } = put;
        self.filling.push(Filling { to, filler, kept, segment, piece: self.chunk, granted: true, sender });
        Ok(None)
    }

    /// Sends as many fragments of a granted message as there is room for; it comes back until it has all left.
    fn send_fragments(&mut self, to: usize, mut put: Put, busy: &mut bool) -> Result<Option<RequestId>, Put> {
        while put.segment.remaining() > 0 {
            let most = (self.packet - DATA_FRONT) as u64;
            let n = put.segment.remaining().min(most) as usize;
            let Some(claim) = self.claim(to, DATA_FRONT + n, Load::Control) else { return Err(put) };
            claim.write(&Emit::data(put.receiver, put.segment.position()), Some(&mut put.segment));
            *busy = true;
        }
        Ok(Some(put.sender))
    }
}

/// How a piece of a direct copy went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// There is more to copy.
    More,
    /// That was all.
    Last,
    /// It would take longer than another way.
    Declined,
    /// The system does not let us.
    Refused,
    /// One of the buffers cannot be accessed.
    Unreadable,
}

/// Copies the next piece of a message out of its sender's memory.
fn get_piece(pid: u32, address: u64, get: &mut Get, runs: &mut Vec<(usize, usize)>) -> Piece {
    let at = get.segment.position();
    let wanted = get.len.min(get.segment.len());
    if at < wanted {
        runs.clear();
        let piece = get.segment.runs(DIRECT_RUNS, (wanted - at).min(DIRECT_PIECE), runs);
        if let Some(failed) = failed(piece, buffer::read_peer(pid, address.wrapping_add(at), runs)) {
            return failed;
        }
    }
    if get.segment.position() < wanted { Piece::More } else { Piece::Last }
}

/// Copies the next piece of a message into its receiver's memory.
fn put_piece(pid: u32, put: &mut Put, runs: &mut Vec<(usize, usize)>) -> Piece {
    let at = put.segment.position();
    if put.segment.remaining() > 0 {
        let Granted::Memory(Place { address, .. }) = put.granted else { return Piece::Refused };
        runs.clear();
        let piece = put.segment.runs(DIRECT_RUNS, DIRECT_PIECE, runs);
        if let Some(failed) = failed(piece, buffer::write_peer(pid, address.wrapping_add(at), runs)) {
            // Asked again if there is no room to say so: the same piece then fails again.
            put.segment.seek(at);
            return failed;
        }
    }
    if put.segment.remaining() > 0 { Piece::More } else { Piece::Last }
}

/// What went wrong with a piece of so many bytes.
fn failed(piece: u64, copied: std::io::Result<usize>) -> Option<Piece> {
    match copied {
        Ok(copied) if copied as u64 == piece => None,
        // Permission is settled before the memory is looked at, so this is about the memory.
        Ok(_) => Some(Piece::Unreadable),
        Err(why) if why.kind() == std::io::ErrorKind::PermissionDenied => Some(Piece::Refused),
        Err(why) if why.raw_os_error() == Some(EFAULT) => Some(Piece::Unreadable),
        Err(_) => Some(Piece::Refused),
    }
}

impl Filling {
    /// Copies in up to `turns` pieces; whether anything was copied.
    ///
    /// Pieces grow from `chunk` and shrink towards the end: each costs the crossing of a cache line, but while the
    /// first is copied in nobody copies out, and while the last is copied out nobody copies in.
    fn pump(&mut self, turns: usize, chunk: usize) -> bool {
        let mut busy = false;
        for _ in 0..turns {
            let left = self.segment.remaining();
            if left == 0 {
                break;
            }
            // A last piece of less than half a chunk goes along with the one before it.
            let half = if left <= chunk as u64 * 3 / 2 { left } else { (left / 2).max(chunk as u64) };
            let piece = self.piece.min(half as usize);
            let segment = &mut self.segment;
            if self.filler.fill(piece, |sink| segment.pack(sink)).is_none() {
                break;
            }
            self.piece = (self.piece * 2).min(4 * chunk);
            busy = true;
        }
        busy
    }
}

impl Draining {
    /// Copies out what is there; whether anything was.
    fn pump(&mut self) -> bool {
        let mut busy = false;
        while self.drainer.drained() < self.len {
            let left = (self.len - self.drainer.drained()).min(usize::MAX as u64) as usize;
            let segment = &mut self.segment;
            // What does not fit into the receive buffer is drained and dropped (MPI-5.0 §3.2.4).
            if self
                .drainer
                .drain(left, |source| {
                    segment.unpack(source);
                })
                .is_none()
            {
                break;
            }
            busy = true;
        }
        busy
    }
}

impl Claim<'_> {
    #[inline(always)]
    pub(super) fn write_eager(mut self, envelope: &Envelope, segment: &mut Segment) {
        self.claim.set_header(&envelope.plain_header(Kind::Eager));
        segment.pack(self.claim.payload());
        self.claim.commit();
        self.doorbell.ring(self.to);
    }

    #[inline]
    pub(super) fn write(mut self, emit: &Emit, data: Option<&mut Segment>) {
        self.claim.set_header(&emit.header);
        let rest = emit.write_front(self.claim.payload());
        if let Some(segment) = data {
            segment.pack(rest);
        }
        self.claim.commit();
        self.doorbell.ring(self.to);
    }
}
