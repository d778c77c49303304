//! The method to ourselves: a queue of packets in private memory, and one direct copy for long messages.
//!
//! What must stay true: packets stay in order; exposed memory stays until it is forgotten.

use std::collections::{BTreeMap, VecDeque};

use posthaste_os::mem::Sink;

use crate::datatype::{self, Segment};
use crate::ids::Peer;
use crate::method::contract::{Counters, Method, Room};
use crate::method::reassembly::Reassembly;
use crate::method::{Access, Caps, Done, Event, GrantedSend, Load, OpenReceive, Outcome, Owner, Transfer};
use crate::trace::{Counter, Counts};
use crate::wire::{Emit, Granted, HEADER, Packet, RemoteMemory};

/// Longest eager message to ourselves.
const PACKET: usize = 4 << 10;

#[derive(Debug)]
struct Queued {
    header: [u8; HEADER],
    payload: Vec<u8>,
}

/// The method.
#[derive(Debug)]
pub struct Loopback {
    me: Peer,
    queue: VecDeque<Queued>,
    spare: Vec<Vec<u8>>,
    /// Memory that is exposed, by the keys that stand for it.
    exposed: BTreeMap<u64, (Owner, Segment)>,
    keys: u64,
    done: VecDeque<Done>,
    /// Messages are throttled.
    throttled: bool,
    reassembly: Reassembly,
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    queue: &'a mut VecDeque<Queued>,
    payload: Vec<u8>,
}

impl Loopback {
    /// The method of process `me`.
    pub fn new(me: Peer) -> Self {
        Self {
            me,
            queue: VecDeque::new(),
            spare: Vec::new(),
            exposed: BTreeMap::new(),
            keys: 0,
            done: VecDeque::new(),
            throttled: false,
            reassembly: Reassembly::default(),
        }
    }

    fn may_send(&self, load: Load) -> bool {
        !self.throttled || load != Load::Message
    }

    fn room(&mut self, len: usize) -> Claim<'_> {
        let mut payload = self.spare.pop().unwrap_or_default();
        payload.clear();
        payload.resize(len, 0);
        Claim { queue: &mut self.queue, payload }
    }

    /// Copies between exposed memory, in which an address is a position, and a segment.
    fn copy(
        &mut self,
        mut transfer: Transfer,
        copy: impl FnOnce(&mut Segment, &mut Segment) -> u64,
    ) -> Result<(), Transfer> {
        let RemoteMemory::Address { address, key } = transfer.memory else { return Err(transfer) };
        let Some((_, memory)) = self.exposed.get(&key) else { return Err(transfer) };
        if address.checked_add(transfer.len).is_none_or(|end| end > memory.len()) {
            return Err(transfer);
        }
        let mut theirs = memory.clone();
        theirs.seek(address);
        copy(&mut theirs, &mut transfer.segment);
        self.done.push_back(Done::Over(transfer.owner, Outcome::Done));
        Ok(())
    }

    #[cold]
    fn step(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        // What the handlers send to ourselves meanwhile waits for the next poll.
        for _ in 0..self.queue.len() {
            let Some(Queued { header, payload }) = self.queue.pop_front() else { break };
            match Packet::parse(&header, payload[..].into()) {
                Ok(Packet::Data { receiver, offset, data }) => {
                    if self.reassembly.arrived(self.me, receiver, offset, data, counts) {
                        on(Event::Received(receiver), counts);
                    }
                }
                Ok(packet) => on(Event::Packet(self.me, packet), counts),
                Err(_) => counts.add(Counter::MalformedPackets, 1),
            }
            if self.spare.len() < 64 {
                self.spare.push(payload);
            }
        }
        while let Some(done) = self.done.pop_front() {
            on(done.event(), counts);
        }
        true
    }
}

impl Method for Loopback {
    type To = Peer;
    type Claim<'a> = Claim<'a>;
    const COUNTERS: Counters =
        Counters { eager: Counter::EagerLoopback, get: Counter::GetLoopback, ..Counters::NODE };
    const ELSEWHERE: bool = false;

    fn caps(&mut self, _: Peer) -> Caps {
        Caps { packet: PACKET, get: true, get_any: true, in_order: true, ..Caps::default() }
    }

    fn claim(&mut self, _: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        self.may_send(load).then(|| self.room(len))
    }

    fn throttle(&mut self, _: Peer, on: bool) {
        self.throttled = on;
    }

    #[inline]
    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        !self.is_quiet() && self.step(counts, on)
    }

    fn expose(&mut self, memory: &Segment, _: Access, owner: Owner) -> Option<RemoteMemory> {
        let known = self.exposed.iter().find(|(_, (other, _))| *other == owner).map(|(key, _)| *key);
        let key = known.unwrap_or_else(|| {
            self.keys += 1;
            self.exposed.insert(self.keys, (owner, memory.clone()));
            self.keys
        });
        Some(RemoteMemory::Address { address: 0, key })
    }

    fn forget(&mut self, owner: Owner) {
        self.exposed.retain(|_, (other, _)| *other != owner);
    }

    fn get(&mut self, _: Peer, transfer: Transfer) -> Result<(), Transfer> {
        self.copy(transfer, datatype::copy)
    }

    fn put(&mut self, _: Peer, transfer: Transfer) -> Result<(), Transfer> {
        self.copy(transfer, |theirs, ours| datatype::copy(ours, theirs))
    }

    fn send_granted(&mut self, _: Peer, mut send: GrantedSend) {
        // Everything fits: the queue is as long as memory allows, and the receiver is this very process.
        let mut left = send.segment.remaining();
        while left > 0 {
            let n = left.min(PACKET as u64);
            let emit = Emit::data(send.receiver, send.segment.position());
            self.room(emit.front().len() + n as usize).write(&emit, Some(&mut send.segment));
            left -= n;
        }
        self.done.push_back(Done::Sent(send.sender));
    }

    fn has_room(&mut self, _: Peer, _: usize, load: Load) -> bool {
        self.may_send(load)
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        self.reassembly.open(opened);
        Granted::Fragments
    }

    /// Nobody takes himself for lost.
    fn exclude(&mut self, _: Peer) -> bool {
        false
    }

    fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.done.is_empty()
    }

    #[inline]
    fn is_drained(&self) -> bool {
        self.is_quiet()
    }
}

impl Room for Claim<'_> {
    fn write(mut self, emit: &Emit, data: Option<&mut Segment>) {
        let rest = emit.write_front(Sink::from(&mut self.payload[..]));
        if let Some(segment) = data {
            segment.pack(rest);
        }
        self.queue.push_back(Queued { header: emit.header, payload: self.payload });
    }
}
