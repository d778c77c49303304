//! A simulated network: any number of engines in one process, a virtual clock, and a seed that is printed when
//! something fails.
//!
//! Called through [`crate::method::Methods`] by tests. Packets between two engines stay in order, as on every real
//! link; packets on different links overtake each other. The network refuses packets at random (back-pressure),
//! delays them, and can offer direct gets or not. What must stay true: a run is a function of its seed.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_os::mem::Sink;

use crate::datatype::{self, Format, Segment};
use crate::ids::{Peer, RequestId};
use crate::method::landing::Landing;
use crate::method::{Caps, Done, Event, Get, Load, Next, Put};
use crate::trace::{Counter, Counts};
use crate::wire::{DATA_FRONT, Emit, HEADER, Offer, Packet};

/// How the network behaves.
#[derive(Clone, Copy, Debug)]
pub struct Weather {
    /// Longest payload of a packet; at least [`crate::wire::FRONT`], or some packets never leave.
    pub packet: usize,
    /// Most packets under way on one link.
    pub window: usize,
    /// One packet in so many is refused although there is room; 0 for none.
    pub refuse: u64,
    /// Longest delay, in ticks.
    pub delay: u64,
    /// Whether messages can be fetched where they lie.
    pub get: bool,
    /// One get in so many is refused by the receiver's side; 0 for none.
    pub refuse_get: u64,
}

#[derive(Debug)]
struct Flying {
    due: u64,
    header: [u8; HEADER],
    payload: Vec<u8>,
}

#[derive(Debug)]
struct Net {
    seed: u64,
    clock: u64,
    weather: Weather,
    links: HashMap<(Peer, Peer), VecDeque<Flying>>,
    offered: HashMap<(Peer, RequestId), Segment>,
    exposed: HashMap<(Peer, RequestId), Segment>,
    /// Links whose messages are held back, and how many still leave because their sender has not noticed.
    held_back: HashMap<(Peer, Peer), u64>,
    /// What each engine told of itself in the handshake.
    formats: HashMap<Peer, u32>,
}

/// The network, shared by its engines.
#[derive(Clone, Debug)]
pub struct Network {
    net: Arc<Mutex<Net>>,
}

impl Network {
    /// A network in the given weather.
    pub fn new(seed: u64, weather: Weather) -> Self {
        let net = Net {
            seed: seed.wrapping_mul(2).wrapping_add(1),
            clock: 0,
            weather,
            links: HashMap::new(),
            offered: HashMap::new(),
            exposed: HashMap::new(),
            held_back: HashMap::new(),
            formats: HashMap::new(),
        };
        Self { net: Arc::new(Mutex::new(net)) }
    }

    /// The connection of one engine, whose data has this format.
    pub fn join(&self, me: Peer, engines: u32, format: Format) -> Sim {
        self.lock().formats.insert(me, format.word());
        Sim {
            network: self.clone(),
            me,
            engines,
            done: VecDeque::new(),
            puts: VecDeque::new(),
            landing: Landing::default(),
        }
    }

    /// Lets time pass.
    pub fn tick(&self) {
        self.lock().clock += 1;
    }

    /// A random number below `n`; also for tests, so that one seed rules everything.
    pub fn random(&self, n: u64) -> u64 {
        self.lock().random(n)
    }

    /// Whether nothing is under way.
    pub fn is_quiet(&self) -> bool {
        self.lock().links.values().all(VecDeque::is_empty)
    }

    fn lock(&self) -> MutexGuard<'_, Net> {
        self.net.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Net {
    fn random(&mut self, n: u64) -> u64 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        self.seed % n.max(1)
    }
}

/// One engine's connection to the network.
#[derive(Debug)]
pub struct Sim {
    network: Network,
    me: Peer,
    engines: u32,
    done: VecDeque<Done>,
    puts: VecDeque<Put>,
    pub(super) landing: Landing,
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    sim: &'a Sim,
    to: Peer,
    payload: Vec<u8>,
}

impl Sim {
    pub(super) fn caps(&self) -> Caps {
        let mut net = self.network.lock();
        let Weather { packet, get, .. } = net.weather;
        // Now one side copies what lies in many pieces, now the other.
        let get_any = get && net.random(2) == 0;
        Caps { packet, stream: false, get, get_any, into: false, crowded: false }
    }

    /// Whether the numbers of this peer look different from ours.
    pub(super) fn is_unlike(&self, to: Peer) -> bool {
        let formats = &self.network.lock().formats;
        formats.get(&to) != formats.get(&self.me)
    }

    pub(super) fn hold_back(&mut self, from: Peer, hold: bool) {
        let mut net = self.network.lock();
        if hold {
            let window = net.weather.window as u64;
            let late = net.random(window + 1);
            net.held_back.insert((from, self.me), late);
        } else {
            net.held_back.remove(&(from, self.me));
        }
    }

    pub(super) fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        let mut net = self.network.lock();
        if load == Load::Message
            && let Some(late) = net.held_back.get_mut(&(self.me, to))
        {
            if *late == 0 {
                return None;
            }
            *late -= 1;
        }
        if len > net.weather.packet {
            return None;
        }
        let under_way = net.links.get(&(self.me, to)).map_or(0, VecDeque::len);
        let refuse = net.weather.refuse;
        if under_way >= net.weather.window || (refuse > 0 && net.random(refuse) == 0) {
            return None;
        }
        drop(net);
        Some(Claim { sim: self, to, payload: vec![0; len] })
    }

    pub(super) fn offer(&mut self, sender: RequestId, segment: &Segment) -> Option<Offer> {
        let mut net = self.network.lock();
        net.offered.insert((self.me, sender), segment.clone());
        Some(Offer::Memory { address: 0 })
    }

    pub(super) fn withdraw(&mut self, sender: RequestId) {
        self.network.lock().offered.remove(&(self.me, sender));
    }

    pub(super) fn get(&mut self, mut get: Get) {
        let mut net = self.network.lock();
        let refuse = net.weather.refuse_get;
        let refused = refuse > 0 && net.random(refuse) == 0;
        match net.offered.remove(&(get.from, get.sender)) {
            Some(mut from) if !refused => {
                datatype::copy(&mut from, &mut get.segment);
                self.done.push_back(Done::Landed(get.receiver));
            }
            _ => self.done.push_back(Done::Refused(get.receiver, get.segment)),
        }
    }

    pub(super) fn expose(&mut self, from: Peer, receiver: RequestId, segment: Segment, len: u64) {
        self.network.lock().exposed.insert((self.me, receiver), segment.clone());
        self.landing.open(from, receiver, segment, len);
    }

    pub(super) fn put(&mut self, mut put: Put) {
        let mut net = self.network.lock();
        let exposed = net.exposed.remove(&(put.to, put.receiver));
        let refuse = net.weather.refuse_get;
        let refused = refuse > 0 && net.random(refuse) == 0;
        drop(net);
        match exposed {
            Some(mut to) if put.memory.is_some() && !refused => {
                datatype::copy(&mut put.segment, &mut to);
            }
            _ => put.memory = None,
        }
        self.puts.push_back(put);
    }

    pub(super) fn take_next(&mut self, from: Peer, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        let mut net = self.network.lock();
        let clock = net.clock;
        let Some(link) = net.links.get_mut(&(from, self.me)) else { return Next::Nothing };
        let Some(flying) = link.front().filter(|packet| packet.due <= clock) else { return Next::Nothing };
        match Packet::parse(&flying.header, flying.payload[..].into()) {
            Ok(packet) if take(&packet) => {
                link.pop_front();
                Next::Taken
            }
            _ => Next::Left,
        }
    }

    pub(super) fn is_drained(&self) -> bool {
        self.puts.is_empty() && self.done.is_empty()
    }

    pub(super) fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
        for from in (0..self.engines).map(Peer) {
            let mut net = self.network.lock();
            let clock = net.clock;
            let flying = match net.links.get_mut(&(from, self.me)) {
                Some(link) if link.front().is_some_and(|packet| packet.due <= clock) => link.pop_front(),
                _ => None,
            };
            drop(net);
            let Some(Flying { header, payload, .. }) = flying else { continue };
            busy = true;
            match Packet::parse(&header, payload[..].into()) {
                Ok(Packet::Data { receiver, offset, data }) => {
                    if self.landing.arrived(from, receiver, offset, data, counts) {
                        on(Event::Landed(receiver), counts);
                    }
                }
                Ok(Packet::Written { receiver, .. }) if self.landing.close(from, receiver).is_some() => {
                    on(Event::Landed(receiver), counts);
                }
                Ok(packet) => on(Event::Packet(from, packet), counts),
                Err(_) => counts.add(Counter::MalformedPackets, 1),
            }
        }
        for _ in 0..self.puts.len() {
            let Some(mut put) = self.puts.pop_front() else { break };
            let most = (self.caps().packet - DATA_FRONT) as u64;
            while put.segment.remaining() > 0 {
                let n = put.segment.remaining().min(most) as usize;
                let Some(claim) = self.claim(put.to, DATA_FRONT + n, Load::Control) else { break };
                claim.write(&Emit::data(put.receiver, put.segment.position()), Some(&mut put.segment));
                busy = true;
            }
            if put.memory.is_some() {
                let emit = Emit::written(put.receiver, false);
                match self.claim(put.to, emit.front().len(), Load::Control) {
                    Some(claim) => claim.write(&emit, None),
                    None => {
                        self.puts.push_back(put);
                        continue;
                    }
                }
                busy = true;
            }
            if put.segment.remaining() == 0 {
                self.done.push_back(Done::Sent(put.sender));
            } else {
                self.puts.push_back(put);
            }
        }
        while let Some(done) = self.done.pop_front() {
            busy = true;
            on(done.event(), counts);
        }
        busy
    }
}

impl Claim<'_> {
    pub(super) fn write(mut self, emit: &Emit, data: Option<&mut Segment>) {
        let rest = emit.write_front(Sink::from(&mut self.payload[..]));
        if let Some(segment) = data {
            segment.pack(rest);
        }
        let mut net = self.sim.network.lock();
        let delay = net.weather.delay;
        let link_ready =
            net.links.get(&(self.sim.me, self.to)).and_then(|link| link.back()).map_or(0, |last| last.due);
        let due = (net.clock + net.random(delay + 1)).max(link_ready);
        let flying = Flying { due, header: emit.header, payload: self.payload };
        net.links.entry((self.sim.me, self.to)).or_default().push_back(flying);
    }
}
