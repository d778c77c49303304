//! Long messages in shared memory: who copies what through which buffer, a piece at a time.
//!
//! What must stay true: no step takes long, so that packets have their turn in between; whoever has filled or drained
//! wakes a partner that may sleep.

use posthaste_os::peer_copy::EFAULT;

use super::*;

/// Bytes of a direct copy between two looks at everything else.
const DIRECT_PIECE: u64 = 4 << 20;
/// Runs of user memory in one direct copy.
const DIRECT_RUNS: usize = 1024;
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
        while let Some(draining) = self.draining.get(at) {
            let from = draining.from;
            let draining = &mut self.draining[at];
            let mut borrowed = draining.borrowed.take();
            let is_borrowed = borrowed.is_some();
            let Some(buffer) = borrowed.as_mut().or(self.incoming[from].as_mut()) else {
                at += 1;
                continue;
            };
            let store = self.copying.store_of(buffer.is_own());
            busy |= draining.pump(buffer, store, looks);
            if buffer.has_published() {
                self.doorbell.ring_for_room(from);
            }
            if draining.cursor.drained() < draining.len {
                draining.borrowed = borrowed;
                at += 1;
                continue;
            }
            let Draining { receiver, .. } = self.draining.remove(at);
            if is_borrowed {
                buffer.give_back()
            } else {
                buffer.finish()
            }
            self.doorbell.ring_for_room(from);
            on(Event::Received(receiver), counts);
        }
        busy
    }

    /// Copies the next piece of the first message that is copied directly by its receiver.
    pub(super) fn copy_from_peer(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let Some(mut get) = self.gets.pop_front() else { return false };
        let rank = self.local(get.from);
        let piece = match get.offer {
            Offer::Memory(Place { address, .. })
                if get.segment.position() > 0 || get.segment.mean_run() >= self.run_limit =>
            {
                get_piece(self.node.pid(rank), address, &mut get, &mut self.runs)
            }
            // Very short pieces are faster through a bounce buffer.
            Offer::Memory { .. } => Piece::Declined,
            Offer::Shared { place } => self.get_shared_piece(rank, place, &mut get),
            Offer::Nothing | Offer::Write | Offer::Pipeline | Offer::Stream { .. } => Piece::Refused,
        };
        if piece == Piece::More {
            self.gets.push_front(get);
            return true;
        }
        let Get { receiver, mut segment, offer, .. } = get;
        match piece {
            Piece::Unreadable => on(Event::Unreadable(receiver), counts),
            Piece::Refused | Piece::Declined => {
                if piece == Piece::Refused && matches!(offer, Offer::Memory(_)) {
                    self.reachable[rank] = Some(false);
                }
                segment.seek(0);
                on(Event::Refused(receiver, segment), counts);
            }
            Piece::More | Piece::Last => on(Event::Received(receiver), counts),
        }
        true
    }

    /// Copies the next piece of the first message that is copied directly by its sender.
    pub(super) fn copy_to_peer(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let Some((to, mut put)) = self.writes.pop_front() else { return false };
        let piece = match put.granted {
            Granted::Shared { place } => self.put_shared_piece(to, place, &mut put),
            Granted::Memory(Place { address, .. }) => {
                let piece = put_piece(self.node.pid(to), address, &mut put, &mut self.runs);
                if piece == Piece::Refused {
                    self.reachable[to] = Some(false);
                }
                piece
            }
            Granted::Fragments | Granted::Windows { .. } => Piece::Refused,
        };
        match piece {
            Piece::More => self.writes.push_front((to, put)),
            Piece::Refused | Piece::Declined => {
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
                // A buffer that cannot be accessed is the receiver's to answer for: it says so.
                if piece == Piece::Last {
                    on(Event::Sent(put.sender), counts);
                }
            }
        }
        true
    }

    /// Sends what has been granted, as far as there is room.
    pub(super) fn send_granted(
        &mut self,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
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
    /// Copies the next piece of a message out of memory that its sender shares.
    fn get_shared_piece(&mut self, rank: usize, place: u64, get: &mut Get) -> Piece {
        let Some(heap) = self.reach(rank) else { return Piece::Refused };
        let at = get.segment.position();
        let left = get.len.min(get.segment.len()) - at;
        let Ok(source) = heap.source(place.saturating_add(at), left.min(DIRECT_PIECE) as usize) else {
            return Piece::Refused;
        };
        get.segment.unpack(source);
        if left > DIRECT_PIECE { Piece::More } else { Piece::Last }
    }

    /// Copies the next piece of a message into memory that its receiver shares.
    fn put_shared_piece(&mut self, to: usize, place: u64, put: &mut Put) -> Piece {
        let Some(heap) = self.reach(to) else { return Piece::Refused };
        let (at, left) = (put.segment.position(), put.segment.remaining());
        let Ok(sink) = heap.sink(place.saturating_add(at), left.min(DIRECT_PIECE) as usize) else {
            return Piece::Refused;
        };
        put.segment.pack(sink);
        if left > DIRECT_PIECE { Piece::More } else { Piece::Last }
    }

    /// Begins to copy a granted message through a buffer; the message comes back while there is none.
    fn send_stream(&mut self, to: usize, put: Put) -> Result<Option<RequestId>, Put> {
        let Some((filler, persistent)) = self.bounce_buffer(to, Receive::Matched, put.segment.remaining())
        else {
            return Err(put);
        };
        let cursor = BufferCursor { buffer: filler.index() as u32, persistent, start: filler.position() };
        let emit = Emit::stream(put.receiver, cursor);
        match self.claim(to, emit.front().len(), Load::Control) {
            Some(claim) => claim.write(&emit, None),
            None if persistent => {
                self.persistent[to] = Persistent::Idle(filler);
                return Err(put);
            }
            None => {
                filler.give_back_unused();
                return Err(put);
            }
        }
        let Put { segment, sender, .. } = put;
        self.filling.push(self.filling_of(to, filler, persistent, segment, sender, true));
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
fn put_piece(pid: u32, address: u64, put: &mut Put, runs: &mut Vec<(usize, usize)>) -> Piece {
    let at = put.segment.position();
    if put.segment.remaining() > 0 {
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
    pub(super) fn pump(&mut self, turns: usize, chunk: usize) -> bool {
        let mut busy = false;
        for _ in 0..turns {
            let left = self.segment.remaining();
            if left == 0 {
                break;
            }
            // A last piece of less than half a chunk goes along with the one before it.
            let half = if left <= chunk as u64 * 3 / 2 { left } else { (left / 2).max(chunk as u64) };
            let piece = self.piece.min(half as usize);
            let (segment, store) = (&mut self.segment, self.store);
            let Some(filler) = &mut self.filler else { break };
            if filler.fill(piece, |sink| segment.pack_with(sink, store)).is_none() {
                break;
            }
            self.piece = (self.piece * 2).min(4 * chunk);
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
