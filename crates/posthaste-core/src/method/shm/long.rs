//! Long messages in shared memory: who copies what through which buffer, a piece at a time.
//!
//! What must stay true: no step takes long, so that packets have their turn in between; whoever has filled or drained
//! wakes a partner that may sleep.

use posthaste_os::peer_copy::EFAULT;

use super::*;
use crate::method::{Direction, Piece};

/// Bytes of a direct copy between two looks at everything else.
const DIRECT_PIECE: u64 = 4 << 20;
/// A short direct copy takes as long as one of so many bytes.
const DIRECT_COST: u64 = 16 << 10;
/// Runs of user memory in one direct copy.
const DIRECT_RUNS: usize = 1024;
/// Bytes in one direct copy of what is combined.
const TAKEN: usize = 64 << 10;
/// Looks for the next piece of a message that comes through a bounce buffer, before everything else is looked at again.
const LOOKS: u32 = 100;

impl Shm {
    pub(super) fn copy_streams(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let mut busy = false;
        let chunk = self.chunk;
        let looks = if self.oversubscribed { 0 } else { LOOKS };
        let mut at = 0;
        while let Some(filling) = self.filling.get_mut(at) {
            if filling.pump(8, chunk) {
                busy = true;
                self.doorbell.ring(filling.to);
            }
            if filling.segment.remaining() > 0 {
                at += 1;
                continue;
            }
            let mut filling = self.filling.remove(at);
            self.end_filling(&mut filling);
            let sender = filling.sender;
            on(Event::Sent(sender), counts);
        }
        let mut at = 0;
        while at < self.draining.len() {
            match self.drain_on(at, looks, &mut busy) {
                Some(receiver) => on(Event::Received(receiver), counts),
                None => at += 1,
            }
        }
        busy
    }

    /// Copies out what is there of a message, which may be `busy`. Its receive, if that was the last of it: then it is forgotten.
    fn drain_on(&mut self, at: usize, looks: u32, busy: &mut bool) -> Option<RequestId> {
        let draining = &mut self.draining[at];
        let from = draining.from;
        let mut borrowed = draining.borrowed.take();
        let is_borrowed = borrowed.is_some();
        let buffer = borrowed.as_mut().or(self.incoming[from].as_mut())?;
        let store = self.copying.store_of(buffer.is_own());
        *busy |= draining.pump(buffer, store, looks);
        if buffer.has_published() {
            self.doorbell.ring_for_room(from);
        }
        if draining.cursor.drained() < draining.len {
            draining.borrowed = borrowed;
            return None;
        }
        let Draining { receiver, cursor, .. } = self.draining.remove(at);
        let wanted = is_borrowed && buffer.give_back();
        if !is_borrowed {
            let change = buffer.finish(&cursor);
            self.explain(from, change);
        }
        self.doorbell.ring_for_room(from);
        self.call_if(wanted);
        Some(receiver)
    }

    /// Copies out a message of a rank that is lost, of which so much was there when it began: whether all of it is there now. If not, it
    /// is of no use.
    pub(in crate::method) fn drain_rest(
        &mut self,
        from: usize,
        (cursor, filled): (BufferCursor, u64),
        segment: Segment,
        len: u64,
    ) -> bool {
        let Some((borrowed, cursor)) = self.open(from, cursor, filled) else { return false };
        self.draining.push(Draining { from, cursor, borrowed, segment, len, receiver: RequestId::NONE });
        self.drain_on(self.draining.len() - 1, 0, &mut false).is_some()
    }

    /// The receives of messages from a rank of which everything was there.
    pub(in crate::method) fn end_drains(&mut self, from: usize) -> Vec<RequestId> {
        let (mut ended, mut at) = (Vec::new(), 0);
        while let Some(draining) = self.draining.get(at) {
            let drained = if draining.from == from { self.drain_on(at, 0, &mut false) } else { None };
            match drained {
                Some(receiver) => ended.push(receiver),
                None => at += 1,
            }
        }
        ended
    }

    /// Copies the next pieces out of peers' memory.
    pub(super) fn copy_from_peers(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let mut copied = 0;
        while copied < DIRECT_PIECE
            && let Some((from, get)) = self.gets.pop_front()
        {
            copied += get.len.saturating_sub(get.segment.position()).max(DIRECT_COST);
            self.copy_from_peer(from, get, counts, on);
        }
        copied > 0
    }

    fn copy_from_peer(
        &mut self,
        from: usize,
        mut get: Transfer,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let piece = match get.memory {
            RemoteMemory::Address { address, .. } => {
                let whole = (&mut get.segment, get.len);
                get_piece(self.node.pid(from), address, whole, &mut self.runs, &mut self.taken)
            }
            RemoteMemory::Shared { offset } => self.get_shared_piece(from, offset, &mut get),
        };
        match piece {
            Piece::More => self.gets.push_front((from, get)),
            piece => self.over(from, get, piece, counts, on),
        }
    }

    /// Copies the next pieces into peers' memory.
    pub(super) fn copy_to_peers(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let mut copied = 0;
        while copied < DIRECT_PIECE
            && let Some((to, put)) = self.puts.pop_front()
        {
            copied += put.len.saturating_sub(put.segment.position()).max(DIRECT_COST);
            self.copy_to_peer(to, put, counts, on);
        }
        copied > 0
    }

    fn copy_to_peer(
        &mut self,
        to: usize,
        mut put: Transfer,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let piece = match put.memory {
            RemoteMemory::Address { address, .. } => {
                put_piece(self.node.pid(to), address, (&mut put.segment, put.len), &mut self.runs)
            }
            RemoteMemory::Shared { offset } => self.put_shared_piece(to, offset, &mut put),
        };
        match piece {
            Piece::More => self.puts.push_front((to, put)),
            piece => self.over(to, put, piece, counts, on),
        }
    }

    /// A transfer has ended like this.
    fn over(
        &mut self,
        rank: usize,
        transfer: Transfer,
        piece: Piece,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let Transfer { memory, mut segment, owner, .. } = transfer;
        let outcome = match piece {
            Piece::More | Piece::Last => Outcome::Done,
            Piece::Unreadable => Outcome::Unreadable,
            // What has been combined cannot be combined once more.
            Piece::Refused if segment.is_combined() && segment.position() > 0 => Outcome::Unreadable,
            Piece::Refused => {
                if matches!(memory, RemoteMemory::Address { .. }) {
                    self.reachable[rank] = Some(false);
                }
                segment.seek(0);
                Outcome::Refused(segment)
            }
        };
        on(Event::Over(owner, outcome), counts);
    }

    /// Sends what has been granted, as far as there is room.
    pub(super) fn send_granted(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let mut busy = false;
        for _ in 0..self.granted.len() {
            let Some((to, send)) = self.granted.pop_front() else { break };
            let left = if self.fragments {
                self.send_fragments(to, send, &mut busy)
            } else {
                self.send_stream(to, send)
            };
            match left {
                Err(send) => self.granted.push_back((to, send)),
                Ok(Some(sender)) => on(Event::Sent(sender), counts),
                Ok(None) => busy = true,
            }
        }
        busy
    }
}

impl Shm {
    /// Copies the next piece between a segment and memory of a peer, which begins at this address, by the system.
    pub(in crate::method) fn copy_at_once(
        &mut self,
        peer: usize,
        direction: Direction,
        address: u64,
        segment: &mut Segment,
    ) -> Piece {
        if self.reachable[peer] == Some(false) {
            return Piece::Refused;
        }
        let pid = self.node.pid(peer);
        let len = segment.len();
        let piece = match direction {
            Direction::Put => put_piece(pid, address, (segment, len), &mut self.runs),
            Direction::Get => get_piece(pid, address, (segment, len), &mut self.runs, &mut self.taken),
        };
        if piece == Piece::Refused {
            self.reachable[peer] = Some(false);
        }
        piece
    }

    /// Copies the next piece out of memory that a peer shares.
    fn get_shared_piece(&mut self, rank: usize, offset: u64, get: &mut Transfer) -> Piece {
        let Some(heap) = self.reach(rank) else { return Piece::Refused };
        let at = get.segment.position();
        let left = get.len - at;
        let Ok(source) = heap.source(offset.saturating_add(at), left.min(DIRECT_PIECE) as usize) else {
            return Piece::Refused;
        };
        get.segment.unpack(source);
        if left > DIRECT_PIECE { Piece::More } else { Piece::Last }
    }

    /// Copies the next piece into memory that a peer shares.
    fn put_shared_piece(&mut self, to: usize, offset: u64, put: &mut Transfer) -> Piece {
        let Some(heap) = self.reach(to) else { return Piece::Refused };
        let at = put.segment.position();
        let left = put.len - at;
        let Ok(sink) = heap.sink(offset.saturating_add(at), left.min(DIRECT_PIECE) as usize) else {
            return Piece::Refused;
        };
        put.segment.pack(sink);
        if left > DIRECT_PIECE { Piece::More } else { Piece::Last }
    }

    /// Begins to copy a granted message through a buffer; the message comes back while there is none.
    fn send_stream(&mut self, to: usize, send: GrantedSend) -> Result<Option<RequestId>, GrantedSend> {
        let Some((mut filler, persistent)) =
            self.bounce_buffer(to, Receive::Matched, send.segment.remaining())
        else {
            return Err(send);
        };
        let (cursor, store) = self.choosing.begin(&mut filler, persistent, self.copying);
        let emit = Emit::stream(send.receiver, cursor);
        match self.claim(to, emit.front().len(), Load::Control) {
            Some(claim) => claim.write(&emit, None),
            None if persistent => {
                self.persistent[to] = Persistent::Idle(filler);
                return Err(send);
            }
            None => {
                self.call_if(filler.give_back_unused());
                return Err(send);
            }
        }
        let GrantedSend { segment, sender, .. } = send;
        self.filling.push(self.filling_of(to, (filler, persistent, store), segment, sender, true));
        Ok(None)
    }

    /// Sends as many fragments of a granted message as there is room for; it comes back until it has all left.
    fn send_fragments(
        &mut self,
        to: usize,
        mut send: GrantedSend,
        busy: &mut bool,
    ) -> Result<Option<RequestId>, GrantedSend> {
        while send.segment.remaining() > 0 {
            let most = (self.packet - DATA_FRONT) as u64;
            let n = send.segment.remaining().min(most) as usize;
            let Some(claim) = self.claim(to, DATA_FRONT + n, Load::Control) else { return Err(send) };
            claim.write(&Emit::data(send.receiver, send.segment.position()), Some(&mut send.segment));
            *busy = true;
        }
        Ok(Some(send.sender))
    }
}

/// Copies the next piece out of another process's memory, up to so many bytes in all. What is to be combined comes by way of `taken`,
/// which stays in the cache.
fn get_piece(
    pid: u32,
    address: u64,
    (segment, len): (&mut Segment, u64),
    runs: &mut Vec<(usize, usize)>,
    taken: &mut Option<OwnedBuf>,
) -> Piece {
    let at = segment.position();
    if at < len && segment.is_combined() {
        let taken = taken.get_or_insert_with(|| OwnedBuf::new(TAKEN)).user_buf();
        let piece = (len - at).min(TAKEN as u64);
        let run = [(taken.address(), piece as usize)];
        if let Some(failed) = failed(piece, buffer::read_peer(pid, address.wrapping_add(at), &run)) {
            return failed;
        }
        segment.unpack(taken.source(piece as usize));
    } else if at < len {
        runs.clear();
        let piece = segment.runs(DIRECT_RUNS, (len - at).min(DIRECT_PIECE), runs);
        if let Some(failed) = failed(piece, buffer::read_peer(pid, address.wrapping_add(at), runs)) {
            return failed;
        }
    }
    if segment.position() < len { Piece::More } else { Piece::Last }
}

/// Copies the next piece into another process's memory, up to so many bytes in all.
fn put_piece(
    pid: u32,
    address: u64,
    (segment, len): (&mut Segment, u64),
    runs: &mut Vec<(usize, usize)>,
) -> Piece {
    let at = segment.position();
    if at < len {
        runs.clear();
        let piece = segment.runs(DIRECT_RUNS, (len - at).min(DIRECT_PIECE), runs);
        if let Some(failed) = failed(piece, buffer::write_peer(pid, address.wrapping_add(at), runs)) {
            return failed;
        }
    }
    if segment.position() < len { Piece::More } else { Piece::Last }
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

/// How many of the bytes that are left are copied in next, if so many are due.
///
/// Pieces grow from `chunk` and shrink towards the end: each costs the crossing of a cache line, but while the first
/// is copied in nobody copies out, and while the last is copied out nobody copies in.
#[inline]
pub(super) fn piece_of(left: u64, due: usize, chunk: usize) -> usize {
    // A last piece of less than half a chunk goes along with the one before it.
    let half = if left <= chunk as u64 * 3 / 2 { left } else { (left / 2).max(chunk as u64) };
    due.min(half as usize)
}

/// How many bytes are due after so many.
#[inline]
pub(super) fn piece_after(due: usize, chunk: usize) -> usize {
    (2 * due).min(4 * chunk)
}

impl Filling {
    /// Copies in up to `turns` pieces; whether anything was copied.
    pub(super) fn pump(&mut self, turns: usize, chunk: usize) -> bool {
        let mut busy = false;
        for _ in 0..turns {
            let left = self.segment.remaining();
            if left == 0 {
                break;
            }
            let piece = piece_of(left, self.piece, chunk);
            let (segment, store) = (&mut self.segment, self.store);
            let Some(filler) = &mut self.filler else { break };
            if filler.fill(piece, |sink| segment.pack_with(sink, store)).is_none() {
                break;
            }
            self.piece = piece_after(self.piece, chunk);
            busy = true;
        }
        busy
    }
}

impl Draining {
    /// Copies out what is there; whether anything was. Once something was, the sender is at it, and the next piece shows
    /// only in the buffer: so many looks are taken for it.
    pub(super) fn pump(&mut self, buffer: &mut Buffer, store: Store, looks: u32) -> bool {
        let (mut busy, mut patience) = (false, 0);
        while self.cursor.drained() < self.len {
            let left = (self.len - self.cursor.drained()).min(usize::MAX as u64) as usize;
            let segment = &mut self.segment;
            // What does not fit into the receive buffer is drained and dropped (MPI-5.0 §3.2.4).
            let unpack = |source: Source<'_>| {
                segment.unpack_with(source, store);
            };
            if buffer.drain(&mut self.cursor, left, unpack).is_none() {
                if patience == 0 {
                    break;
                }
                patience -= 1;
                std::hint::spin_loop();
                continue;
            }
            busy = true;
            patience = looks;
        }
        busy
    }
}
