//! Which bounce buffer a message goes through, and medium messages, which go through it as a whole.
//!
//! `posthaste_os::pool` holds the rules of one buffer. What must stay true: what has been granted goes before what
//! nobody has matched; a persistent buffer is filled by one message at a time, and is back in `persistent` when that
//! message has been copied in.

use super::*;

impl Shm {
    /// See [`super::super::Methods::offer_stream`].
    pub(super) fn begin_stream(
        &mut self,
        to: usize,
        sender: RequestId,
        segment: &Segment,
        ready: bool,
    ) -> Option<(Offer, bool)> {
        self.doubts[to] = self.doubts[to].saturating_sub(1);
        if self.has_granted(to) {
            return None;
        }
        let receive = if ready { Receive::Promised } else { Receive::Unknown };
        let (mut filler, persistent) = self.bounce_buffer_after_yields(to, receive, segment.len())?;
        let (cursor, store) = self.choosing.begin(&mut filler, persistent, self.copying);
        let mut filling = self.filling_of(to, (filler, persistent, store), segment.clone(), sender, false);
        // The first piece is there before the receiver hears of the message; of a shorter message everything, for
        // publishing twice would cost more than copying in turns. Its two pieces are three where the end of the buffer divides one.
        let whole = segment.len() <= 2 * self.chunk as u64;
        filling.pump(if whole { 3 } else { 1 }, self.chunk);
        let offer = Offer::Stream { cursor, filled: filling.segment.position() };
        let all_left = filling.segment.remaining() == 0;
        if all_left {
            self.end_filling(&mut filling);
        } else {
            self.filling.push(filling);
        }
        Some((offer, all_left))
    }

    /// A message that is to be copied into `filler`.
    pub(super) fn filling_of(
        &self,
        to: usize,
        (filler, persistent, store): (Filler, bool, Store),
        segment: Segment,
        sender: RequestId,
        granted: bool,
    ) -> Filling {
        Filling { to, filler: Some(filler), persistent, segment, piece: self.chunk, store, granted, sender }
    }

    /// Everything of a message has been copied in: a persistent buffer is free for the next one.
    pub(super) fn end_filling(&mut self, filling: &mut Filling) {
        let Some(mut filler) = filling.filler.take().filter(|_| filling.persistent) else { return };
        if !filling.granted {
            filler.mark_uncertain();
        }
        self.persistent[filling.to] = Persistent::Idle(filler);
    }

    /// Copies in what is left of the message in the persistent buffer, if then so many bytes of the next one still fit: rather now
    /// than have that one ask. The next poll says that the first has left.
    fn finish_filling(&mut self, to: usize, next: u64) {
        let is_persistent =
            |filling: &Filling| filling.to == to && filling.persistent && filling.filler.is_some();
        let Some(at) = self.filling.iter().position(is_persistent) else { return };
        let mut filling = self.filling.swap_remove(at);
        let needed = filling.segment.remaining().saturating_add(next);
        if filling.filler.as_mut().is_some_and(|filler| filler.has_room(needed)) {
            while filling.pump(1, self.chunk) {}
            self.doorbell.ring(to);
            self.end_filling(&mut filling);
        }
        self.filling.push(filling);
    }

    /// See [`super::super::Methods::send_buffered`].
    pub(in crate::method) fn send_buffered(
        &mut self,
        to: usize,
        envelope: &Envelope,
        segment: &mut Segment,
    ) -> bool {
        if envelope.len > self.buffered || self.has_granted(to) {
            return false;
        }
        match self.persistent[to] {
            Persistent::NotYet if self.copying.own_buffer > 0 => self.claim_persistent(to),
            Persistent::InUse => self.finish_filling(to, envelope.len),
            _ => {}
        }
        let Persistent::Idle(filler) = &mut self.persistent[to] else { return false };
        // Messages of two chunks find their room even if the buffer is to become empty: programs count on leaving them there.
        let short = envelope.len <= 2 * self.chunk as u64;
        if !filler.has_room(envelope.len) || (!short && filler.has_to_drain()) {
            return false;
        }
        let (cursor, store) = self.choosing.begin(filler, true, self.copying);
        // Of a longer one the packet announces the first chunk, which a receiver with a CPU copies out while the rest is copied in.
        let whole = short || self.oversubscribed;
        let announced = if whole { envelope.len } else { self.chunk as u64 };
        let offer = Offer::Stream { cursor, filled: announced };
        let emit = Emit::request_to_send(envelope, RequestId::NONE, offer);
        // Room for the packet first: what is in the buffer cannot be taken back.
        if self.claim(to, emit.front().len(), Load::Message).is_none() {
            return false;
        }
        let Persistent::Idle(filler) = &mut self.persistent[to] else { return false };
        while segment.position() < announced {
            let left = (announced - segment.position()) as usize;
            if filler.fill(left, |sink| segment.pack_with(sink, store)).is_none() {
                break;
            }
        }
        filler.mark_uncertain();
        if let Some(claim) = self.claim(to, emit.front().len(), Load::Message) {
            claim.write(&emit, None);
        }
        if !whole {
            self.doubts[to] = self.doubts[to].saturating_sub(1);
            self.copy_rest(to, segment, store);
        }
        true
    }

    /// Copies what is left of a message into the persistent buffer, where there is room for it.
    #[inline]
    fn copy_rest(&mut self, to: usize, segment: &mut Segment, store: Store) {
        let Persistent::Idle(filler) = &mut self.persistent[to] else { return };
        let mut due = self.chunk;
        while segment.remaining() > 0 {
            let piece = long::piece_of(segment.remaining(), due, self.chunk);
            if filler.fill(piece, |sink| segment.pack_with(sink, store)).is_none() {
                break;
            }
            due = long::piece_after(due, self.chunk);
        }
        filler.mark_uncertain();
        self.doorbell.ring(to);
    }

    /// Gets the bounce buffer that is to persist for messages to `to`, if there is one: its own, or a small one.
    #[cold]
    fn claim_persistent(&mut self, to: usize) {
        let own = if self.copying.own_buffer > 0 {
            pool::claim_own(&self.node, to, self.copying.own_buffer, self.choosing.small)
        } else {
            None
        };
        if own.is_none() {
            self.longest_eager[to] = self.packet;
            if let Some(writer) = &mut self.writers[to] {
                writer.limit_messages(self.packet);
            }
        }
        let small_persists = pool::suffice_for_all(&self.node);
        self.persistent[to] = match own {
            Some(filler) => Persistent::Idle(filler),
            None if small_persists => pool::claim(&self.node, to, 0)
                .map_or(Persistent::NotYet, |filler| Persistent::Idle(filler.learning(self.choosing.learns))),
            None => Persistent::Never,
        };
    }

    /// How long messages are copied here, and why so.
    pub fn copying(&self, config: &Config) -> (Copying, &'static str) {
        let why = if self.choosing.small && self.copying.own_buffer > 0 {
            "a small part of it at first, because nothing is known of this processor: messages will tell"
        } else if config.bounce_buffer != BounceBuffer::Auto || config.copy_store.is_some() {
            "as POSTHASTE_BOUNCE_BUFFER and POSTHASTE_COPY_STORE say"
        } else if self.oversubscribed {
            "because ranks share CPUs"
        } else if self.node.copying() == 0 {
            "because nothing is known of this processor"
        } else {
            "as was found out for this processor"
        };
        (self.copying, why)
    }

    /// Whether a message that has been granted waits for a bounce buffer. It goes first: it is certain to be drained.
    #[inline]
    fn has_granted(&self, to: usize) -> bool {
        !self.granted.is_empty() && self.granted.iter().any(|(waiting, _)| *waiting == to)
    }

    /// See [`super::super::Methods::drain_whole`].
    pub(in crate::method) fn drain_whole(
        &mut self,
        from: usize,
        cursor: BufferCursor,
        segment: &Segment,
        len: u64,
    ) {
        let Some((mut borrowed, mut cursor)) = self.open(from, cursor, len) else { return };
        let is_borrowed = borrowed.is_some();
        let Some(buffer) = borrowed.as_mut().or(self.incoming[from].as_mut()) else { return };
        let store = self.copying.store_of(buffer.is_own());
        let mut position = 0;
        while cursor.drained() < len {
            let left = (len - cursor.drained()) as usize;
            let unpack = |source: Source<'_>| {
                position += segment.unpack_with_at(position, source, store) as u64;
            };
            if buffer.drain(&mut cursor, left, unpack).is_none() {
                break;
            }
        }
        let wanted = is_borrowed && buffer.give_back();
        if !is_borrowed {
            let change = buffer.finish(&cursor);
            self.explain(from, change);
        }
        self.doorbell.ring_for_room(from);
        self.call_if(wanted);
    }

    /// Messages of a rank have shown a better way, and somebody wants to know.
    #[inline]
    pub(super) fn explain(&self, from: usize, change: Option<Change>) {
        if let Some(change) = change.filter(|_| self.choosing.explains) {
            let [rank, peer] = [self.me, from].map(|rank| self.peers[rank].0);
            let from = self.other.map_or_else(|| format!("rank {peer}"), |name| name.to_string());
            let Change { way: Way { store, small }, took: [before, now] } = change;
            let part = if small { "a small part" } else { "all" };
            say(format_args!(
                "rank {rank} now copies long messages of {from} through {part} of their bounce buffer, by \
                 {store} copies: 1 MiB takes {} us, before {}",
                now / 1000,
                before / 1000
            ));
        }
    }

    /// A bounce buffer has come back, for which senders may wait.
    #[inline]
    pub(super) fn call_if(&self, wanted: bool) {
        if wanted {
            self.call_all();
        }
    }

    #[cold]
    fn call_all(&self) {
        (0..self.node.ranks())
            .filter(|rank| *rank != self.me)
            .for_each(|rank| self.doorbell.ring_for_room(rank));
    }

    /// The beginning of a message of `from` through a bounce buffer, and the buffer if it is borrowed for this message only;
    /// a persistent one is that of `incoming`. `None`: there is no such buffer.
    #[inline]
    pub(super) fn open(
        &mut self,
        from: usize,
        cursor: BufferCursor,
        filled: u64,
    ) -> Option<(Option<Buffer>, Cursor)> {
        let BufferCursor { buffer, persistent, start } = cursor;
        let (index, cursor) = (buffer as usize, Cursor::new(start, filled));
        if !persistent {
            let borrowed = Buffer::open(&self.node, self.me, index).filter(|buffer| !buffer.is_own())?;
            return Some((Some(borrowed), cursor));
        }
        if self.incoming[from].as_ref().is_none_or(|buffer| buffer.index() != index) {
            let buffer = Buffer::open(&self.node, self.me, index)?;
            let usual = Way { store: self.copying.own_store, small: self.choosing.small };
            self.incoming[from] = Some(buffer.choosing(usual, self.choosing.may));
        } else if let Some(buffer) = &mut self.incoming[from] {
            buffer.begin();
        }
        Some((None, cursor))
    }

    /// The same as [`Shm::bounce_buffer`], but where ranks share CPUs and there is none, others run first: the receiver may copy out what
    /// is there.
    fn bounce_buffer_after_yields(
        &mut self,
        to: usize,
        receive: Receive,
        len: u64,
    ) -> Option<(Filler, bool)> {
        let found = self.bounce_buffer(to, receive, len);
        if found.is_some() || !self.oversubscribed {
            return found;
        }
        // Once is enough before the next poll: in a window of messages each would let everybody run for its sake alone.
        if std::mem::replace(&mut self.yielded, self.polls) == self.polls {
            return None;
        }
        let mut began = machine::now();
        for _ in 0..YIELDS {
            machine::yield_now();
            let found = self.bounce_buffer(to, receive, len);
            if found.is_some() {
                return found;
            }
            let now = machine::now();
            if now.saturating_sub(began) > LONGEST_YIELD {
                break;
            }
            began = now;
        }
        None
    }

    /// A bounce buffer of receiver `to` for a message of `len` bytes whose receive has been matched, or not yet. A message that
    /// fits as a whole may begin behind anything. One that needs room while it is copied must not queue behind a message
    /// that nobody has matched, which may sit there for long: only behind granted ones, and only if it is certain to be
    /// drained, too. A promise is not that certain: nothing queues behind a promised one.
    pub(super) fn bounce_buffer(&mut self, to: usize, receive: Receive, len: u64) -> Option<(Filler, bool)> {
        match self.persistent[to] {
            Persistent::NotYet => self.claim_persistent(to),
            Persistent::InUse => self.finish_filling(to, len),
            _ => {}
        }
        let persistent = &mut self.persistent[to];
        match persistent {
            Persistent::Idle(filler) => {
                let may_begin = (filler.has_room(len)
                    && !(receive == Receive::Unknown && filler.has_to_drain()))
                    || filler.is_drained()
                    || (receive != Receive::Unknown && filler.is_certain());
                if may_begin {
                    let Persistent::Idle(filler) = std::mem::replace(persistent, Persistent::InUse) else {
                        return None;
                    };
                    return Some((filler, true));
                }
            }
            // All are lent to others at this time.
            Persistent::NotYet => return None,
            Persistent::InUse | Persistent::Never => {}
        }
        let persists = !matches!(persistent, Persistent::Never);
        let fills = || {
            let fills = |filling: &Filling| filling.to == to && filling.granted && filling.filler.is_some();
            self.filling.iter().any(fills)
        };
        // One buffer at a time is enough, and stays in the cache; another one only gets past a message in the persistent
        // one that nobody has matched.
        if persists && (receive == Receive::Unknown || fills()) {
            return None;
        }
        Some((
            pool::claim(&self.node, to, if receive == Receive::Matched { 0 } else { pool::FOR_MATCHED })?,
            false,
        ))
    }
}

/// What messages may change of how they are copied, on a pair's own buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Choosing {
    may: May,
    /// A small part of it is used at first.
    small: bool,
    /// The sender of a small one learns how it is filled best.
    learns: bool,
    /// A line says what has changed.
    explains: bool,
}

impl Choosing {
    pub(super) fn new(node: &Node, config: &Config, oversubscribed: bool) -> Self {
        let sizes = !oversubscribed && config.bounce_buffer == BounceBuffer::Auto;
        let may = May { stores: !oversubscribed && config.copy_store.is_none(), sizes };
        let is_known = Copying::from_word(node.copying()).is_some();
        // Where both sides copy at once, how long one of them takes says nothing of the message.
        let learns = oversubscribed && config.copy_store.is_none();
        Self { may, small: sizes && !is_known, learns, explains: config.explain }
    }

    /// The next message begins: where, for the packet that announces it, and how it is copied in. As the receiver asks, unless a setting
    /// of this process says how.
    #[inline]
    pub(super) fn begin(
        self,
        filler: &mut Filler,
        persistent: bool,
        copying: Copying,
    ) -> (BufferCursor, Store) {
        let usual = copying.store_of(filler.is_own());
        let store = filler.begin(usual, self.may);
        (BufferCursor { buffer: filler.index() as u32, persistent, start: filler.position() }, store)
    }
}

/// Bytes of the longest message that is copied in before its send returns: it has to fit into the smallest part of a buffer that is used.
/// Such a message leaves before a protocol is chosen for it, so what `pt2pt/protocol.rs` would have copied directly is not among them.
pub(super) fn buffered(node: &Node, config: &Config, oversubscribed: bool, chunk: usize) -> u64 {
    let most = (8 * chunk).min(pool::bytes(node)) as u64;
    let copied_directly = oversubscribed && config.long_protocol == LongProtocol::Auto;
    let limit = if copied_directly { (config.get_limit as u64).saturating_sub(1) } else { most };
    most.min(limit.max(2 * chunk as u64))
}

/// How long messages are to be copied: as the settings say, else as was found out when the segment was made. Where nothing is known,
/// through buffers of the pairs' own, for there messages can tell. Where ranks share CPUs they do not copy at once, and what was found
/// out says nothing.
pub(super) fn copying(node: &Node, config: &Config, oversubscribed: bool) -> Copying {
    let found = match Copying::from_word(node.copying()) {
        _ if oversubscribed => Copying::default(),
        Some(found) => found,
        None => Copying { own_buffer: node.own_buffer_bytes(), ..Copying::default() },
    };
    let own_buffer = match config.bounce_buffer {
        BounceBuffer::Auto => found.own_buffer,
        BounceBuffer::Small => 0,
        BounceBuffer::Own(bytes) => bytes,
    };
    let streams = matches!(config.long_protocol, LongProtocol::Auto | LongProtocol::Stream);
    let there = if node.own_buffers() > 0 { node.own_buffer_bytes() } else { 0 };
    let own_buffer = if streams { own_buffer.min(there) } else { 0 };
    Copying {
        own_buffer,
        own_store: config.copy_store.unwrap_or(found.own_store),
        store: config.copy_store.unwrap_or(found.store),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Types;
    use crate::ids::ContextId;
    use crate::wire::Mode;

    /// The bounce buffers of rank 1 through which messages of rank 0 begin that nobody matches, until one has to ask.
    fn begun(ranks: usize, cpus: usize, len: usize) -> (Vec<BufferCursor>, Shm) {
        let node = Node::create_on(ranks, cpus).unwrap();
        let config = Config { bounce_buffer: BounceBuffer::Small, ..Config::default() };
        let peers = (0..ranks as u32).map(Peer).collect();
        let mut shm = Shm::new(&node, 0, peers, &config, ranks > cpus).unwrap();
        let data = OwnedBuf::new(len);
        let segment = Segment::contiguous(data.user_buf(), len as u64);
        let mut begin = || match shm.begin_stream(1, RequestId::NONE, &segment, false)? {
            (Offer::Stream { cursor, filled }, true) if filled == len as u64 => Some(cursor),
            other => panic!("{other:?}"),
        };
        (std::iter::from_fn(&mut begin).collect(), shm)
    }

    #[test]
    fn what_the_persistent_buffer_does_not_hold_asks() {
        for (ranks, cpus) in [(4, 4), (4, 2), (16, 2), (32, 2)] {
            let len = 8_000;
            let (begun, mut shm) = begun(ranks, cpus, len);
            assert!(begun.iter().all(|cursor| cursor.persistent && cursor.buffer == begun[0].buffer));
            assert_eq!(begun.len(), pool::bytes(&shm.node) / len);
            // All others find one, too, and what is matched begins all the same.
            for _ in 2..ranks {
                assert!(pool::claim(&shm.node, 1, 0).is_some());
            }
            assert!(shm.bounce_buffer(1, Receive::Matched, len as u64).is_some());
        }
    }

    /// How many bytes of a message the packet announces whose send is over at once; its content comes out whole.
    fn announced(senders: &mut [Shm; 2], data: &OwnedBuf, len: u64) -> Option<u64> {
        let (context, mode) = (ContextId::WORLD, Mode::Standard);
        let envelope = Envelope { context, source: 0, tag: 1, len, mode, types: Types::UNKNOWN };
        let mut segment = Segment::contiguous(data.user_buf(), len);
        let [sender, receiver] = senders;
        if !sender.send_buffered(1, &envelope, &mut segment) {
            assert_eq!(segment.position(), 0);
            return None;
        }
        let mut found = None;
        receiver.take_next(0, |packet| {
            let Packet::RequestToSend { offer: Offer::Stream { cursor, filled }, .. } = packet else {
                panic!("{packet:?}");
            };
            found = Some((*cursor, *filled));
            true
        });
        let (cursor, filled) = found?;
        let into = OwnedBuf::new(len as usize);
        receiver.drain_whole(0, cursor, &Segment::contiguous(into.user_buf(), len), len);
        assert!(into.source().to_vec() == data.source().to_vec()[..len as usize], "{len} bytes");
        Some(filled)
    }

    #[test]
    fn a_message_of_up_to_eight_chunks_is_copied_in_at_once_and_announced_with_its_first() {
        for (cpus, chunk, own) in [
            (2, 8 << 10, 0),
            (1, 8 << 10, 0),
            (2, 512, 0),
            (1, 512, 0),
            (2, 8 << 10, 20_000),
            (2, 1 << 30, 0),
        ] {
            let node = Node::create_on(2, cpus).unwrap().with_own_buffers(32 << 10, 1);
            let bounce_buffer = if own > 0 { BounceBuffer::Own(own) } else { BounceBuffer::Small };
            let config = Config { bounce_buffer, stream_chunk: chunk, ..Config::default() };
            let mut ranks =
                [0, 1].map(|me| Shm::new(&node, me, vec![Peer(0), Peer(1)], &config, cpus < 2).unwrap());
            ranks[0].claim_persistent(1);
            let chunk = chunk.min(pool::bytes(&node) / 2) as u64;
            let Persistent::Idle(filler) = &ranks[0].persistent[1] else { panic!("no buffer persists") };
            assert_eq!(filler.is_own(), own > 0);
            let fits = filler.size().min(pool::bytes(&node)) as u64;
            let longest = (8 * chunk).min(fits);
            let bytes: Vec<u8> = (0..longest + 1).map(|i| ((i * i) >> 3) as u8).collect();
            let mut data = OwnedBuf::new(bytes.len());
            data.sink().copy_from(&bytes);
            // Often enough to go round the buffer, so that its end divides first chunks and later ones.
            for round in 0..40 {
                for len in [chunk, 2 * chunk, 2 * chunk + 1 + round * 37 % chunk, longest - 1, longest] {
                    let len = len.min(longest);
                    let expected = if len <= 2 * chunk || cpus < 2 { len } else { chunk };
                    assert_eq!(
                        announced(&mut ranks, &data, len),
                        Some(expected),
                        "{len} by chunks of {chunk}"
                    );
                }
            }
            assert_eq!(announced(&mut ranks, &data, longest + 1), None);
        }
    }

    #[test]
    fn where_there_are_fewer_buffers_than_ranks_none_persists() {
        let (begun, shm) = begun(40, 2, 5_000);
        assert!(begun.iter().all(|cursor| !cursor.persistent));
        let left = std::iter::from_fn(|| pool::claim(&shm.node, 1, 0)).count();
        assert!(begun.len() > left);
        assert_eq!(left, pool::FOR_MATCHED);
    }
}
