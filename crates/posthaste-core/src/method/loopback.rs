//! The method to ourselves: a queue of packets in private memory, and one direct copy for long messages.
//!
//! What must stay true: packets stay in order; an offered segment is stored until it is fetched.

use std::collections::{HashMap, VecDeque};

use posthaste_os::mem::Sink;

use crate::datatype::{self, Segment};
use crate::ids::{Peer, RequestId};
use crate::method::contract::{Counters, Method, Room};
use crate::method::reassembly::Reassembly;
use crate::method::{Caps, Done, Event, Expose, Get, Load, Put};
use crate::trace::{Counter, Counts};
use crate::wire::{Emit, Granted, HEADER, Offer, Packet, Place};

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
    offered: HashMap<RequestId, Segment>,
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
            offered: HashMap::new(),
            done: VecDeque::new(),
            throttled: false,
            reassembly: Reassembly::default(),
        }
    }

    fn may_send(&self, load: Load) -> bool {
        !self.throttled || load == Load::Control
    }

    fn room(&mut self, len: usize) -> Claim<'_> {
        let mut payload = self.spare.pop().unwrap_or_default();
        payload.clear();
        payload.resize(len, 0);
        Claim { queue: &mut self.queue, payload }
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
        Caps { packet: PACKET, get: true, get_any: true, ..Caps::default() }
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

    fn offer_memory(&mut self, sender: RequestId, segment: &Segment) -> Option<Offer> {
        self.offered.insert(sender, segment.clone());
        Some(Offer::Memory(Place { address: 0, key: 0 }))
    }

    fn withdraw(&mut self, sender: RequestId) {
        self.offered.remove(&sender);
    }

    fn get(&mut self, _: Peer, mut get: Get) {
        match self.offered.remove(&get.sender) {
            Some(mut from) => {
                datatype::copy(&mut from, &mut get.segment);
                self.done.push_back(Done::Received(get.receiver));
            }
            None => self.done.push_back(Done::Refused(get.receiver, get.segment)),
        }
    }

    fn put(&mut self, _: Peer, mut put: Put) {
        // Everything fits: the queue is as long as memory allows, and the receiver is this very process.
        let mut left = put.segment.remaining();
        while left > 0 {
            let n = left.min(PACKET as u64);
            let emit = Emit::data(put.receiver, put.segment.position());
            self.room(emit.front().len() + n as usize).write(&emit, Some(&mut put.segment));
            left -= n;
        }
        self.done.push_back(Done::Sent(put.sender));
    }

    fn has_room(&mut self, _: Peer, _: usize, load: Load) -> bool {
        self.may_send(load)
    }

    fn expose(&mut self, expose: Expose) -> Granted {
        self.reassembly.open(expose);
        Granted::Fragments
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
