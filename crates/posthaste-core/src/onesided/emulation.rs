//! One-sided communication by packets, for every method: both sides, in the order of time.
//!
//! ```text
//!   origin                         target
//!         -- Layout ------------>  keeps    (before the first access to elements that lie so)
//!   queue -- Put + bytes, ... -->  copies   (long ones, and long answers, from where they lie to where they go, if the method can)
//!         -- Get --------------->  queue
//!   into  <------ Answer + bytes, ...
//!         -- Atomic + operands ->  combines, queue if it fetches
//!   into  <------ Answer + old values
//!         -- Flush ------------->  queue
//!   done  <------ Answer            (behind everything that it answers for)
//!         <------ Refused           (instead of an answer; for a put, reported with the next flush)
//! ```
//!
//! What must stay true: a queue for each peer leaves in its order, as far as the method has room, so a flush and its answer
//! come behind all they speak of; at most [`ASKED`] questions are unanswered, so nobody's queue grows because a peer asks
//! faster than it can be answered; answers have a queue of their own and never wait behind questions, or two that ask each
//! other would both wait; what is queued at the target looks its memory up again when it leaves. An answer or a refusal ends
//! nothing but an operation that has left, as far as it has: the buffers of others are still in use. Handlers do no I/O, `advance`
//! does.

use std::collections::{BTreeMap, VecDeque};

use posthaste_os::mem::Source;

use super::layouts::{Known, Told};
use super::{COMPARE_AND_SWAP, OneSided, RemoteKey, Token};
use crate::buffer::OwnedBuf;
use crate::datatype::{Builtin, Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::method::{Load, Methods, Owner};
use crate::trace::{Counter, Counts};
use crate::wire::{Access, Atomically, Emit, OneSided as Packet, OneSidedData, Refusal, Refused};

/// Questions to one peer that may be unanswered at a time.
const ASKED: usize = 64;
/// Packets for one peer before the next one has its turn, and bytes of long operations.
const TURN: usize = 64;
const TURN_BYTES: u64 = 1 << 20;
/// Most bytes of a put, or of operands, that wait for what comes behind them.
const SHORT: u64 = 1 << 10;
/// Bytes of a put, or of an answer, from which on they leave from where they lie, where the method can.
const IN_PLACE: u64 = 32 << 10;
/// Bytes of a part of those. Other packets wait behind it.
const PART: u64 = 512 << 10;
/// Memories of one peer of which it has refused puts and nobody has been told: as many windows as a process is likely to have.
const REFUSED: usize = 1 << 16;

/// What goes on with one peer.
#[derive(Debug, Default)]
pub(super) struct Traffic {
    pub(super) queue: VecDeque<Outgoing>,
    /// What it has asked for; leaves first.
    pub(super) answers: VecDeque<Outgoing>,
    /// Questions that have left and are not answered.
    unanswered: usize,
    /// What the method does by itself and has not ended.
    pub(super) transfers: usize,
    /// What is next in the queue waits for an answer, or for the end of a transfer.
    held: bool,
    /// Something has left since the last flush that only a flush confirms.
    pub(super) unconfirmed: bool,
    /// Why the first put to a memory since the last flush for it was refused.
    refused: BTreeMap<RemoteKey, Error>,
    /// The operation of the peer that was refused last: it hears that once.
    refused_last: u64,
    /// The layouts that it knows of us.
    pub(super) told: Told,
    /// Those that we know of it.
    known: Known,
    pub(super) lost: Option<Error>,
}

impl Traffic {
    /// Whether nothing could leave if there were room.
    fn is_idle(&self) -> bool {
        (self.queue.is_empty() || self.held) && self.answers.is_empty()
    }

    /// What the peer remembered of us is gone.
    pub(super) fn begins_anew(&mut self) {
        (self.told, self.refused_last) = (Told::default(), 0);
    }

    /// Whether the peer may not have done everything that has left.
    fn is_unsure(&self) -> bool {
        self.unconfirmed || self.unanswered > 0
    }

    /// How what was wanted has ended: a flush tells what was refused of its memory.
    fn outcome(&mut self, wanted: &Wanted) -> Result<()> {
        match wanted {
            Wanted::Flush(key) => self.refused.remove(key).map_or(Ok(()), Err),
            _ => Ok(()),
        }
    }

    /// The queue that something belongs to.
    fn queue_of(&mut self, outgoing: &Outgoing) -> &mut VecDeque<Outgoing> {
        match outgoing {
            Outgoing::Read { .. } | Outgoing::Answer(..) | Outgoing::Refused(_) => &mut self.answers,
            _ => &mut self.queue,
        }
    }
}

/// Something that waits to leave.
#[derive(Debug)]
pub(super) enum Outgoing {
    Put {
        access: Access,
        data: Segment,
        token: Token,
        /// Some of it has left.
        begun: bool,
    },
    Get {
        access: Access,
        len: u64,
    },
    Atomic {
        access: Access,
        what: Atomically,
        element: &'static Builtin,
        operands: Segment,
        /// Where the operands are, if they were copied.
        _owner: Option<OwnedBuf>,
        /// Over when all operands have left.
        ends_here: Option<Token>,
        /// Some of it has left.
        begun: bool,
    },
    Flush(u64),
    Lock {
        serial: u64,
        key: RemoteKey,
        exclusive: bool,
    },
    Unlock(RemoteKey),
    /// So many bytes of the memory, for a get.
    Read {
        access: Access,
        left: u64,
        /// How its elements lie, as the peer had said when it asked.
        layout: Option<Datatype>,
    },
    /// What an atomic operation has fetched; nothing, for a flush.
    Answer(u64, OwnedBuf),
    /// How elements lie, under this number.
    Layout(u32, OwnedBuf),
    Refused(Refused),
}

impl Outgoing {
    /// The operation that this is a part of, if the operation ends when it has left.
    pub(super) fn ends_by_itself(self) -> Option<(u64, Token)> {
        match self {
            Self::Put { access, token, .. } => Some((access.serial, token)),
            Self::Atomic { access, ends_here: Some(token), .. } => Some((access.serial, token)),
            _ => None,
        }
    }

    /// The operation of ours that this belongs to.
    fn operation(&self) -> Option<u64> {
        match self {
            Self::Put { access, .. } | Self::Get { access, .. } | Self::Atomic { access, .. } => {
                Some(access.serial)
            }
            Self::Flush(serial) | Self::Lock { serial, .. } => Some(*serial),
            Self::Read { .. } | Self::Answer(..) | Self::Refused(_) | Self::Unlock(_) | Self::Layout(..) => {
                None
            }
        }
    }

    /// Bytes of it that have not left.
    fn remaining(&self) -> u64 {
        match self {
            Self::Put { data, .. } => data.remaining(),
            Self::Read { left, .. } => *left,
            Self::Atomic { operands, .. } => operands.remaining(),
            _ => 0,
        }
    }

    /// Whether some of it has left already.
    fn has_begun(&self) -> bool {
        matches!(self, Self::Put { begun: true, .. } | Self::Atomic { begun: true, .. })
    }

    /// Whether it will be answered.
    fn asks(&self) -> bool {
        matches!(self, Self::Get { .. } | Self::Flush(_) | Self::Atomic { ends_here: None, .. })
    }
}

/// An operation that ends with an answer.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) peer: Peer,
    pub(super) token: Token,
    pub(super) wanted: Wanted,
    /// Bytes that the peer has been asked for and that have not come. `None`: it has not been asked, or the method does all by itself.
    pub(super) due: Option<u64>,
}

impl Asked {
    /// The peer has not been asked so far.
    pub(super) fn new(peer: Peer, token: Token, wanted: Wanted) -> Self {
        Self { peer, token, wanted, due: None }
    }
}

/// What it waits for.
#[derive(Debug)]
pub(super) enum Wanted {
    /// Bytes for the rest of this.
    Bytes(Segment),
    /// That the method has put all bytes in place.
    Placed(Access),
    /// That the method has fetched all bytes.
    Fetched(Access),
    /// That all bytes have left from where they lie: a put, some of which may be queued.
    Sent,
    /// That the network has changed all elements.
    Changed,
    /// The word that all has been done, and what was refused of this memory.
    Flush(RemoteKey),
    /// The word that it is our turn, which may take long: it is none of the questions that are counted.
    Lock,
}

impl Wanted {
    /// How much of the questions that may be unanswered it takes.
    fn counts(&self) -> usize {
        usize::from(!matches!(self, Self::Lock | Self::Sent))
    }

    /// Whether the method does it by itself.
    pub(super) fn is_by_method(&self) -> bool {
        matches!(self, Self::Placed(_) | Self::Fetched(_))
    }
}

/// How much of something has left.
enum Left {
    All,
    Nothing,
    /// Nothing, whatever room there is: it waits for an answer.
    Held,
    Part,
}

impl OneSided {
    /// Queues something for a peer and sends what there is room for.
    pub(super) fn start(&mut self, methods: &mut Methods, to: Peer, outgoing: Outgoing) {
        self.queue(to, outgoing);
        if self.traffic.get(to).is_some_and(|traffic| traffic.queue.len() == 1) {
            self.send(methods, to);
            self.waits_no_more(to);
        }
    }

    /// Nothing may be queued for a peer any more.
    fn waits_no_more(&mut self, peer: Peer) {
        if self.traffic.get(peer).is_some_and(Traffic::is_idle) {
            self.waiting.retain(|waiting| *waiting != peer);
        }
    }

    pub(super) fn queue(&mut self, to: Peer, outgoing: Outgoing) {
        if self.traffic.get_or_make(to, Traffic::default).lost.is_none() {
            self.change_traffic(to, |traffic| traffic.queue_of(&outgoing).push_back(outgoing));
        }
    }

    /// Changes what goes on with a peer, towards which something may leave after that.
    fn change_traffic(&mut self, peer: Peer, change: impl FnOnce(&mut Traffic)) {
        let traffic = self.traffic.get_or_make(peer, Traffic::default);
        let was_idle = traffic.is_idle();
        change(traffic);
        if was_idle && !traffic.is_idle() {
            self.waiting.push_back(peer);
        }
    }

    /// What is next towards a peer need not wait any longer, maybe.
    pub(super) fn goes_on(&mut self, peer: Peer) {
        self.change_traffic(peer, |traffic| traffic.held = false);
    }

    /// The same before all that is queued, for what has been started before all that.
    pub(super) fn queue_first(&mut self, to: Peer, outgoing: Outgoing) {
        self.goes_on(to);
        self.queue(to, outgoing);
        if let Some(traffic) = self.traffic.get_mut(to) {
            traffic.queue.rotate_right(1);
        }
    }

    /// Sends what waits, as far as there is room. Whether anything left.
    pub fn advance(&mut self, methods: &mut Methods) -> bool {
        let mut busy = false;
        for _ in 0..self.waiting.len() {
            let Some(peer) = self.waiting.pop_front() else { break };
            busy |= self.send(methods, peer);
            if self.traffic.get(peer).is_some_and(|traffic| !traffic.is_idle()) {
                self.waiting.push_back(peer);
            }
        }
        busy
    }

    /// The same for one peer.
    fn send(&mut self, methods: &mut Methods, to: Peer) -> bool {
        let (mut busy, packet, mut bytes) = (false, methods.caps(to).packet, 0);
        for _ in 0..TURN {
            if bytes >= TURN_BYTES {
                break;
            }
            let Some(traffic) = self.traffic.get_mut(to) else { break };
            traffic.held = false;
            let next = traffic.answers.pop_front().or_else(|| traffic.queue.pop_front());
            let Some(mut next) = next else { break };
            let (asks, before) = (next.asks(), next.remaining());
            let is_full = asks && traffic.unanswered >= ASKED;
            let left = match next {
                Outgoing::Flush(_) if traffic.transfers > 0 => Left::Held,
                // What has been asked before is answered by itself, and its answers say all that the flush would be told.
                Outgoing::Flush(_) if !traffic.unconfirmed && traffic.unanswered > 0 => Left::Held,
                // The target need not be asked.
                Outgoing::Flush(serial) if !traffic.unconfirmed => {
                    busy = true;
                    if let Some(Asked { token, wanted, .. }) = self.asked.remove(&serial) {
                        let outcome = traffic.outcome(&wanted);
                        self.end(token, outcome);
                    }
                    continue;
                }
                _ if is_full => Left::Held,
                _ => self.send_packet(methods, to, packet, &mut next),
            };
            busy |= !matches!(left, Left::Nothing | Left::Held);
            bytes += before.saturating_sub(next.remaining());
            let Some(traffic) = self.traffic.get_mut(to) else { break };
            match left {
                Left::All => {
                    traffic.unanswered += usize::from(asks);
                    traffic.unconfirmed = match next {
                        Outgoing::Flush(_) => false,
                        Outgoing::Put { .. } | Outgoing::Atomic { ends_here: Some(_), .. } => true,
                        _ => traffic.unconfirmed,
                    };
                    if let Some((serial, token)) = next.ends_by_itself()
                        && !self.asked.contains_key(&serial)
                    {
                        self.end(token, Ok(()));
                    }
                }
                Left::Part => traffic.queue_of(&next).push_front(next),
                Left::Nothing | Left::Held => {
                    traffic.held = matches!(left, Left::Held);
                    traffic.queue_of(&next).push_front(next);
                    break;
                }
            }
        }
        busy
    }

    /// Sends the next packet of something.
    fn send_packet(&mut self, methods: &mut Methods, to: Peer, packet: usize, next: &mut Outgoing) -> Left {
        match next {
            Outgoing::Put { access, data, begun, token }
                if *begun && self.asked.contains_key(&access.serial) || is_long(methods, to, data) =>
            {
                if !self.put_in_place(methods, to, access, data, *token) {
                    return Left::Nothing;
                }
                *begun = true;
                if data.remaining() > 0 { Left::Part } else { Left::All }
            }
            Outgoing::Put { access, data, begun, .. } => {
                let emit = Emit::put(*access);
                let n = room(packet, &emit).min(data.remaining());
                if !send_as(load_of(n), methods, to, &emit, n, Some(data)) {
                    return Left::Nothing;
                }
                access.go_on(n, n);
                *begun = true;
                if data.remaining() > 0 { Left::Part } else { Left::All }
            }
            Outgoing::Get { access, len } => {
                let left = send(methods, to, &Emit::get(*access, *len), 0, None);
                self.asked_for(left, access.serial, *len)
            }
            Outgoing::Atomic { access, what, element, operands, begun, .. } => {
                let emit = Emit::atomic(*access, *what);
                let elements = (room(packet, &emit) / element.size).min(operands.remaining() / element.size);
                let n = elements * element.size;
                let load = if self.asked.contains_key(&access.serial) { Load::Control } else { load_of(n) };
                if elements == 0 || !send_as(load, methods, to, &emit, n, Some(operands)) {
                    return Left::Nothing;
                }
                access.go_on(elements * element.size, elements.wrapping_mul(element.extent as u64));
                *begun = true;
                let fetched = if what.operation == COMPARE_AND_SWAP { 1 } else { elements };
                self.asked_for(true, access.serial, fetched * element.size);
                if operands.remaining() > 0 { Left::Part } else { Left::All }
            }
            Outgoing::Flush(serial) => {
                let left = send(methods, to, &Emit::flush(*serial), 0, None);
                self.asked_for(left, *serial, 0)
            }
            Outgoing::Lock { serial, key, exclusive } => {
                let left = send(methods, to, &Emit::lock(*serial, *key, *exclusive), 0, None);
                self.asked_for(left, *serial, 0)
            }
            Outgoing::Unlock(key) => whole(send(methods, to, &Emit::unlock(*key), 0, None)),
            Outgoing::Read { access, left, layout } => {
                let emit = Emit::answer(access.serial);
                let n = room(packet, &emit).min(*left);
                let mut data = match self.exposed.elements(access, layout.as_ref(), *left) {
                    Ok(elements) => elements,
                    Err(refused) => {
                        *next = Outgoing::Refused(refused);
                        return Left::Part;
                    }
                };
                if !self.exposed.is_attached(access.key) && is_long(methods, to, &data) {
                    let Some((memory, _)) = data.contiguous_rest() else { return Left::Nothing };
                    let (n, owner) = (PART.min(*left), Owner::Exposed(access.key));
                    let part = Segment::contiguous(memory, n);
                    if methods.send_in_place(to, &emit, Some(owner), part).is_err() {
                        return Left::Nothing;
                    }
                    access.go_on(n, n);
                    *left -= n;
                    return if *left > 0 { Left::Part } else { Left::All };
                }
                if !send(methods, to, &emit, n, Some(&mut data)) {
                    return Left::Nothing;
                }
                access.go_on(n, n);
                *left -= n;
                if *left > 0 { Left::Part } else { Left::All }
            }
            Outgoing::Answer(serial, bytes) => {
                let n = bytes.len() as u64;
                let mut data = Segment::contiguous(bytes.user_buf(), n);
                whole(send(methods, to, &Emit::answer(*serial), n, Some(&mut data)))
            }
            Outgoing::Refused(refused) => whole(send(methods, to, &Emit::refused(*refused), 0, None)),
            Outgoing::Layout(number, description) => {
                let n = description.len() as u64;
                let mut data = Segment::contiguous(description.user_buf(), n);
                whole(send(methods, to, &Emit::layout(*number), n, Some(&mut data)))
            }
        }
    }

    /// Sends the next part of a put from where it lies, if there is room. Its token comes back when the last one has left.
    fn put_in_place(
        &mut self,
        methods: &mut Methods,
        to: Peer,
        access: &mut Access,
        data: &mut Segment,
        token: Token,
    ) -> bool {
        let Some((memory, left)) = data.contiguous_rest() else { return false };
        let (serial, n) = (access.serial, left.min(PART));
        let owner = (n == left).then_some(Owner::OneSided(serial));
        let part = Segment::contiguous(memory, n);
        let Ok(has_left) = methods.send_in_place(to, &Emit::put(*access), owner, part) else { return false };
        access.go_on(n, n);
        data.seek(data.position() + n);
        if n < left || !has_left {
            self.asked.entry(serial).or_insert_with(|| Asked::new(to, token, Wanted::Sent));
        } else {
            self.asked.remove(&serial);
        }
        true
    }

    /// A question has left, or there was no room for it: so many bytes of its answer are due.
    fn asked_for(&mut self, left: bool, serial: u64, bytes: u64) -> Left {
        if left && let Some(asked) = self.asked.get_mut(&serial) {
            asked.due = Some(asked.due.unwrap_or(0) + bytes);
        }
        whole(left)
    }

    /// A packet has come. Out of line, so that it is in no message's way.
    #[inline(never)]
    pub fn arrived(&mut self, from: Peer, packet: Packet<'_>, counts: &mut Counts) {
        match packet {
            // What is shown under a name is only read.
            Packet::Put(access, _) | Packet::Atomic(access, ..) if access.key.is_named() => {
                self.refuse(from, Refused { access, why: Refusal::NotExposed, len: 0, size: 0 });
            }
            Packet::Put(access, data) if access.scattered.is_none() => {
                match self.exposed.range(&access, data.len() as u64) {
                    Ok(memory) => memory.copy_in(0, data),
                    Err(refused) => self.refuse(from, refused),
                }
            }
            Packet::Put(access, data) => {
                let layout = self.layout(from, &access);
                match self.exposed.elements(&access, layout.as_ref(), data.len() as u64) {
                    Ok(mut elements) => _ = elements.unpack(data),
                    Err(refused) => self.refuse(from, refused),
                }
            }
            Packet::Get(access, left) => {
                let layout = self.layout(from, &access);
                match self.exposed.elements(&access, layout.as_ref(), left) {
                    Ok(_) => self.queue(from, Outgoing::Read { access, left, layout }),
                    Err(refused) => self.refuse(from, refused),
                }
            }
            Packet::Atomic(access, what, operands) => {
                let layout = self.layout(from, &access);
                match self.exposed.atomic(&access, layout.as_ref(), what, operands) {
                    Ok(Some(old)) => self.queue(from, Outgoing::Answer(access.serial, old)),
                    Ok(None) => {}
                    Err(refused) => self.refuse(from, refused),
                }
            }
            Packet::Layout(number, description) => {
                let known = &mut self.traffic.get_or_make(from, Traffic::default).known;
                let counter = if known.learn(number, description) {
                    Counter::Layouts
                } else {
                    Counter::MalformedPackets
                };
                counts.add(counter, 1);
            }
            Packet::Flush(serial) => self.queue(from, Outgoing::Answer(serial, OwnedBuf::new(0))),
            Packet::Lock { serial, key, exclusive } => match self.exposed.slot(key) {
                Some(slot) => {
                    let granted = slot.lock.asked(from, serial, exclusive);
                    self.tell_holders(granted);
                }
                None => {
                    let access = Access { serial, key, offset: 0, scattered: None };
                    self.refuse(from, Refused { access, why: Refusal::NotExposed, len: 0, size: 0 });
                }
            },
            Packet::Unlock(key) => {
                let granted = self.exposed.slot(key).map(|slot| slot.lock.released(from));
                self.tell_holders(granted.unwrap_or_default());
            }
            Packet::Answer(serial, data) => self.answered(from, serial, data, counts),
            Packet::Refused(refused) => self.refused(from, &refused, counts),
        }
    }

    /// So many bytes come: where they go.
    pub fn arriving(&mut self, from: Peer, data: OneSidedData, len: u64) -> Option<Segment> {
        let access = match data {
            OneSidedData::Put(access) => access,
            OneSidedData::Answer(serial) => {
                let asked = self.asked.get(&serial).filter(|asked| asked.peer == from)?;
                let Wanted::Bytes(into) = &asked.wanted else { return None };
                return asked.due.filter(|due| *due >= len).map(|_| into.clone());
            }
        };
        let layout = self.layout(from, &access);
        let elements = match access.key.is_named() {
            // What is shown under a name is only read.
            true => Err(Refused { access, why: Refusal::NotExposed, len, size: 0 }),
            false => self.exposed.elements(&access, layout.as_ref(), len),
        };
        elements.map_err(|refused| self.refuse(from, refused)).ok()
    }

    /// So many of them are there.
    pub fn placed(&mut self, from: Peer, data: OneSidedData, len: u64) {
        if let OneSidedData::Answer(serial) = data
            && let Some(asked) = self.asked.get_mut(&serial)
            && let Asked { wanted: Wanted::Bytes(into), due: Some(due), .. } = asked
        {
            into.seek(into.position() + len);
            *due = due.saturating_sub(len);
            if into.remaining() == 0 {
                self.has_answered(from, serial);
            }
        }
    }

    /// How the elements of an access lie, if its peer has told that.
    fn layout(&self, from: Peer, access: &Access) -> Option<Datatype> {
        let number = access.scattered?.layout;
        self.traffic.get(from)?.known.get(number).cloned()
    }

    fn refuse(&mut self, from: Peer, refused: Refused) {
        let traffic = self.traffic.get_or_make(from, Traffic::default);
        if traffic.refused_last != refused.access.serial {
            traffic.refused_last = refused.access.serial;
            self.queue(from, Outgoing::Refused(refused));
        }
    }

    /// The target has answered.
    fn answered(&mut self, from: Peer, serial: u64, data: Source<'_>, counts: &mut Counts) {
        let asked = self.asked.get_mut(&serial).filter(|asked| asked.peer == from);
        let Some(Asked { wanted, due: Some(due), .. }) = asked else {
            return counts.add(Counter::StalePackets, 1);
        };
        if let Wanted::Bytes(into) = wanted {
            let Some(rest) = due.checked_sub(data.len() as u64) else {
                return counts.add(Counter::MalformedPackets, 1);
            };
            *due = rest;
            into.unpack(data);
            if into.remaining() > 0 {
                return;
            }
        }
        self.has_answered(from, serial);
    }

    /// All that was asked for is here.
    fn has_answered(&mut self, from: Peer, serial: u64) {
        let Some(Asked { token, wanted, .. }) = self.asked.remove(&serial) else { return };
        let traffic = self.traffic.get_or_make(from, Traffic::default);
        traffic.unanswered = traffic.unanswered.saturating_sub(wanted.counts());
        let outcome = traffic.outcome(&wanted);
        self.end(token, outcome);
        self.goes_on(from);
    }

    /// The target has refused: what is left of the operation does not leave, but for what leaves from where it lies.
    fn refused(&mut self, from: Peer, refused: &Refused, counts: &mut Counts) {
        let why = error(from, refused);
        let Access { serial, key, .. } = refused.access;
        let traffic = self.traffic.get_or_make(from, Traffic::default);
        let queued = traffic.queue.iter().position(|next| next.operation() == Some(serial));
        let asked = self.asked.get(&serial).filter(|asked| asked.peer == from);
        // All of it leaves, whatever becomes of it, and the next flush tells.
        if asked.is_some_and(|asked| matches!(asked.wanted, Wanted::Sent)) {
            if traffic.refused.len() < REFUSED {
                traffic.refused.entry(key).or_insert(why);
            }
            return;
        }
        // Nobody has been told of it yet.
        if asked.is_some_and(|asked| asked.due.is_none())
            || queued.is_some_and(|at| !traffic.queue[at].has_begun())
        {
            return counts.add(Counter::StalePackets, 1);
        }
        let queued = queued.and_then(|at| traffic.queue.remove(at));
        let counts_as = asked.map_or(0, |asked| asked.wanted.counts());
        match (asked.is_some(), queued.map(Outgoing::ends_by_itself)) {
            (true, queued) => {
                if queued.is_none() {
                    traffic.unanswered = traffic.unanswered.saturating_sub(counts_as);
                }
                if let Some(Asked { token, .. }) = self.asked.remove(&serial) {
                    self.end(token, Err(why));
                }
            }
            (false, Some(Some((_, token)))) => self.end(token, Err(why)),
            // What nobody waits for: it has left, and no flush behind it has been answered.
            (false, None) if traffic.is_unsure() && traffic.refused.len() < REFUSED => {
                traffic.refused.entry(key).or_insert(why);
            }
            (false, _) => counts.add(Counter::StalePackets, 1),
        }
        self.goes_on(from);
        self.waits_no_more(from);
    }
}

/// Whether a packet holds the description of a layout.
pub(super) fn fits(methods: &mut Methods, to: Peer, description: &OwnedBuf) -> bool {
    description.len() as u64 <= room(methods.caps(to).packet, &Emit::layout(0))
}

/// Whether the rest of a put leaves from where it lies.
fn is_long(methods: &mut Methods, to: Peer, data: &Segment) -> bool {
    data.remaining() >= IN_PLACE
        && data.contiguous_rest().is_some()
        && methods.caps(to).in_place >= PART as usize
}

/// Bytes that a packet has room for behind its front.
fn room(packet: usize, emit: &Emit) -> u64 {
    packet.saturating_sub(emit.front().len()) as u64
}

fn whole(left: bool) -> Left {
    if left { Left::All } else { Left::Nothing }
}

/// What nobody is asked about may wait for the flush behind it, which saves a call of the system, but where its bytes take time to travel.
fn load_of(bytes: u64) -> Load {
    if bytes <= SHORT { Load::Patient } else { Load::Control }
}

/// Sends a packet with the next `n` bytes of `data`, if there is room.
fn send(methods: &mut Methods, to: Peer, emit: &Emit, n: u64, data: Option<&mut Segment>) -> bool {
    send_as(Load::Control, methods, to, emit, n, data)
}

fn send_as(
    load: Load,
    methods: &mut Methods,
    to: Peer,
    emit: &Emit,
    n: u64,
    data: Option<&mut Segment>,
) -> bool {
    let Some(claim) = methods.claim(to, emit.front().len() + n as usize, load) else { return false };
    claim.write(emit, data);
    true
}

#[cold]
fn error(from: Peer, refused: &Refused) -> Error {
    let Refused { access: Access { offset, .. }, why, len, size } = *refused;
    let (class, reason) = match why {
        Refusal::NotExposed => (ErrorClass::RmaAttach, "the memory is not exposed".to_owned()),
        Refusal::OutOfRange => (ErrorClass::RmaRange, format!("the memory has {size} bytes")),
        Refusal::NotAttached => (ErrorClass::RmaRange, "no attached memory has all of them".to_owned()),
        Refusal::NoSuchLayout => (ErrorClass::Intern, "it does not know how the elements lie".to_owned()),
        Refusal::NoSuchOperation => (ErrorClass::Op, "it does not know the operation".to_owned()),
    };
    let text = format!("rank {} of the world refuses access to {len} bytes at {offset}: {reason}", from.0);
    Error::other(class, text)
}
