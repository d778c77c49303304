//! A simulated network: any number of engines in one process, a virtual clock, and a seed that is printed when
//! something fails.
//!
//! For tests. Packets between two engines stay in order, as on every real link; packets on different links overtake
//! each other. The network refuses packets at random (back-pressure), delays them, and can offer direct gets or not; in
//! some weather it insists on registration, as networks with remote memory do: what is fetched or written must be
//! registered on both sides, or it is refused. What must stay true: a run is a function of its seed.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use posthaste_os::mem::Sink;

use crate::buffer::UserBuf;
use crate::config::Config;
use crate::datatype::{self, Format, Segment};
use crate::error::{Error, ErrorClass};
use crate::ids::{Peer, RequestId};
use crate::method::contract::{Method, Room};
use crate::method::pinned::{Lease, Pin, Pinned};
use crate::method::reassembly::Reassembly;
use crate::method::windows::Windows;
use crate::method::{
    Access, Caps, Done, Event, GrantedSend, Load, Next, OpenReceive, Outcome, Owner, Transfer, packing,
};
use crate::trace::{Counter, Counts};
use crate::wire::{DATA_FRONT, Emit, Granted, HEADER, Packet, Part, RemoteMemory};

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
    /// Memory has to be registered on both sides to be fetched or written.
    pub registers: bool,
}

#[derive(Debug)]
struct Flying {
    due: u64,
    header: [u8; HEADER],
    payload: Vec<u8>,
}

/// Memory that is exposed.
#[derive(Clone, Debug)]
struct Exposed {
    memory: Segment,
    /// The address of its first byte; 0 where it lies in many pieces.
    start: u64,
    /// Peers may write there.
    writable: bool,
    /// Its registration.
    region: u64,
}

#[derive(Debug)]
struct Net {
    seed: u64,
    clock: u64,
    weather: Weather,
    links: HashMap<(Peer, Peer), VecDeque<Flying>>,
    /// Who has sent something to an engine, or has been cut off from it.
    senders: HashMap<Peer, BTreeSet<Peer>>,
    /// Memory that is exposed: whose, under which key.
    exposed: HashMap<(Peer, u64), Exposed>,
    /// Receives whose messages come through windows.
    open: HashMap<(Peer, RequestId), Segment>,
    /// Memory that is registered: whose, under which key, where.
    registered: HashMap<(Peer, u64), (usize, usize)>,
    next_key: u64,
    /// How often memory has been exposed.
    exposures: u64,
    /// Transfers that were refused because some memory was not registered.
    unregistered: u64,
    /// Links whose messages are throttled, and how many still leave because their sender has not noticed.
    throttled: HashMap<(Peer, Peer), u64>,
    /// Links on which everything disappears, and nobody hears of it.
    silent: HashSet<(Peer, Peer)>,
    /// Links that have been cut, both ways.
    cut: HashSet<(Peer, Peer)>,
    /// Engines reach each other's memory though they have excluded each other, as on one host.
    is_one_host: bool,
    /// What each engine said of itself in the handshake.
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
            senders: HashMap::new(),
            exposed: HashMap::new(),
            open: HashMap::new(),
            registered: HashMap::new(),
            next_key: 1,
            exposures: 0,
            unregistered: 0,
            throttled: HashMap::new(),
            silent: HashSet::new(),
            cut: HashSet::new(),
            is_one_host: false,
            formats: HashMap::new(),
        };
        Self { net: Arc::new(Mutex::new(net)) }
    }

    /// The connection of one engine, whose data has this format.
    pub fn join(&self, me: Peer, format: Format, config: &Config) -> Sim {
        self.lock().formats.insert(me, format.word());
        Sim {
            network: self.clone(),
            me,
            names: Names::default(),
            lost: HashSet::new(),
            excluded: HashSet::new(),
            done: VecDeque::new(),
            granted: VecDeque::new(),
            writing: HashMap::new(),
            parts: VecDeque::new(),
            pinned: Pinned::new(config.leave_pinned, config.pinned_bytes),
            exposed: HashMap::new(),
            windows: Windows::new(config.pipeline_part),
            reassembly: Reassembly::default(),
        }
    }

    /// Cuts the link between two engines. What is under way on it is lost.
    pub fn cut(&self, a: Peer, b: Peer) {
        let mut net = self.lock();
        for way in [(a, b), (b, a)] {
            net.cut.insert(way);
            net.senders.entry(way.1).or_default().insert(way.0);
            net.links.remove(&way);
        }
    }

    /// From now on engines that exclude each other are as processes of one host: no link between them breaks, and memory is reached
    /// until it is said that it is not.
    pub fn is_one_host(&self) {
        self.lock().is_one_host = true;
    }

    /// Lets everything disappear that is on the link between two engines or comes there.
    pub fn silence(&self, a: Peer, b: Peer) {
        let mut net = self.lock();
        for way in [(a, b), (b, a)] {
            net.silent.insert(way);
            net.links.remove(&way);
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

    /// Transfers so far that were refused because some memory was not registered.
    pub fn unregistered(&self) -> u64 {
        self.lock().unregistered
    }

    /// Pairs of engines between which a packet has gone.
    pub fn connections(&self) -> usize {
        let pairs = |(from, to): &(Peer, Peer)| (from.0.min(to.0), from.0.max(to.0));
        self.lock().links.keys().map(pairs).collect::<HashSet<_>>().len()
    }

    /// Pieces of memory that are registered at this time, and how many have been so far.
    pub fn registered(&self) -> (usize, u64) {
        let net = self.lock();
        (net.registered.len(), net.next_key - 1)
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
    /// Our address. Inside this file a process is called by its address; `names` has the engine's numbers.
    me: Peer,
    names: Names,
    /// Peers that were reported down, and those of them that the engine takes for lost.
    lost: HashSet<Peer>,
    excluded: HashSet<Peer>,
    done: VecDeque<Done>,
    granted: VecDeque<GrantedSend>,
    /// Granted messages that go into windows: what of the windows has not been written yet.
    writing: HashMap<(Peer, RequestId), Writing>,
    /// Windows whose part has been written, or so many bytes of it sent in fragments, whose receiver has not been notified.
    parts: VecDeque<(Peer, Part, u64)>,
    pinned: Pinned<Region>,
    /// What we have exposed: its key and its registration.
    exposed: HashMap<Owner, (u64, Option<Lease>)>,
    windows: Windows,
    reassembly: Reassembly,
}

/// What an engine calls the processes of the network, where that is not their address: its peers are numbered as it has
/// met them.
#[derive(Debug, Default)]
struct Names {
    addresses: HashMap<Peer, Peer>,
    peers: HashMap<Peer, Peer>,
}

impl Names {
    fn address(&self, peer: Peer) -> Peer {
        self.addresses.get(&peer).copied().unwrap_or(peer)
    }

    fn peer(&self, address: Peer) -> Peer {
        self.peers.get(&address).copied().unwrap_or(address)
    }

    /// An event with the engine's number of the process.
    fn translate<'a>(&self, event: Event<'a>) -> Event<'a> {
        match event {
            Event::Packet(from, packet) => Event::Packet(self.peer(from), packet),
            Event::PeerDown(peer, why) => Event::PeerDown(self.peer(peer), why),
            other => other,
        }
    }
}

/// A message on its way into windows.
#[derive(Debug)]
struct Writing {
    segment: Segment,
    sender: RequestId,
    left: u64,
}

/// A registration.
#[derive(Debug)]
struct Region {
    network: Network,
    me: Peer,
    key: u64,
}

impl Region {
    fn new(network: &Network, me: Peer, start: usize, len: usize) -> Self {
        let mut net = network.lock();
        let key = net.next_key;
        net.next_key += 1;
        net.registered.insert((me, key), (start, start + len));
        Self { network: network.clone(), me, key }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        self.network.lock().registered.remove(&(self.me, self.key));
    }
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    sim: &'a mut Sim,
    to: Peer,
    payload: Vec<u8>,
}

impl Sim {
    /// From now on the engine calls the process with this address so.
    pub(super) fn name(&mut self, peer: Peer, address: Peer) {
        self.names.addresses.insert(peer, address);
        self.names.peers.insert(address, peer);
    }

    /// Longest payload.
    pub(super) fn packet(&self) -> usize {
        self.network.lock().weather.packet
    }

    fn claim_to(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        let mut net = self.network.lock();
        if net.cut.contains(&(self.me, to)) {
            // Messages wait for the bad news; everything else disappears.
            drop(net);
            return (load != Load::Message).then_some(Claim { sim: self, to, payload: vec![0; len] });
        }
        if load == Load::Message && self.excluded.contains(&to) {
            return None;
        }
        if load == Load::Message
            && let Some(late) = net.throttled.get_mut(&(self.me, to))
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

    /// A registration of this memory; `None` in it: the network wants none.
    fn pin(&mut self, memory: UserBuf, len: u64) -> Option<Option<Lease>> {
        if !self.network.lock().weather.registers {
            return Some(None);
        }
        let (network, me) = (self.network.clone(), self.me);
        let register = |start, len| Ok((Region::new(&network, me, start, len), true));
        self.pinned.acquire(memory.address(), len as usize, true, register).ok().map(Some)
    }

    fn region(&self, lease: &Option<Lease>) -> u64 {
        lease.as_ref().map_or(0, |lease| self.pinned.region(lease).key)
    }

    /// Does a transfer at once, if the network lets us.
    fn transfer(
        &mut self,
        mut transfer: Transfer,
        writing: bool,
        copy: impl FnOnce(&mut Segment, &mut Segment) -> u64,
    ) -> Result<(), Transfer> {
        transfer.peer = self.names.address(transfer.peer);
        let net = self.network.lock();
        if net.cut.contains(&(self.me, transfer.peer)) {
            return Ok(()); // ends with the bad news
        }
        let RemoteMemory::Address { address, key } = transfer.memory else { return Err(transfer) };
        let exposed = net.exposed.get(&(transfer.peer, key)).cloned();
        drop(net);
        let Transfer { peer, ref segment, len, owner, .. } = transfer;
        let at = exposed.as_ref().map(|exposed| address.wrapping_sub(exposed.start));
        let fits = |exposed: &Exposed| {
            (exposed.writable || !writing)
                && at.and_then(|at| at.checked_add(len)).is_some_and(|end| end <= exposed.memory.len())
        };
        let Some(Exposed { mut memory, region, .. }) = exposed.filter(fits) else {
            self.done.push_back(Done::Over(owner, Outcome::Refused(transfer.segment)));
            return Ok(());
        };
        let outcome = if len == 0 || self.may_transfer(peer, (region, address), segment, len) {
            memory.seek(at.unwrap_or(0));
            copy(&mut memory, &mut transfer.segment);
            Outcome::Done
        } else {
            Outcome::Refused(transfer.segment)
        };
        self.done.push_back(Done::Over(owner, outcome));
        Ok(())
    }

    /// Whether the network lets us at this memory of a peer, and at our own.
    fn may_transfer(&mut self, peer: Peer, (region, address): (u64, u64), own: &Segment, len: u64) -> bool {
        let mut net = self.network.lock();
        let refuse = net.weather.refuse_get;
        if refuse > 0 && net.random(refuse) == 0 {
            return false;
        }
        if !net.weather.registers {
            return true;
        }
        let from = address as usize;
        let covers = |(start, end): &(usize, usize)| *start <= from && from + len as usize <= *end;
        let theirs = net.registered.get(&(peer, region)).is_some_and(covers);
        net.unregistered += u64::from(!theirs);
        drop(net);
        // A transfer is over at once here, and so is the registration of this side.
        let Some((memory, _)) = own.contiguous_rest() else { return false };
        let ours = self.pin(memory, len).flatten();
        let has_ours = ours.is_some();
        if let Some(lease) = ours {
            self.pinned.release(lease);
        }
        theirs && has_ours
    }

    /// Opens a receive whose fragments come over other links as well, until [`Sim::close`].
    pub(super) fn expose_shared(&mut self, opened: OpenReceive) {
        self.reassembly.open_shared(opened);
    }

    /// Takes no more fragments for such a receive.
    pub(super) fn close(&mut self, from: Peer, receiver: RequestId) {
        self.reassembly.close(from, receiver);
    }

    /// Whether the link to a peer has not been cut.
    pub(super) fn stands(&self, to: Peer) -> bool {
        !self.network.lock().cut.contains(&(self.me, to))
    }

    /// Cuts the link to a peer.
    pub(super) fn cut(&self, peer: Peer) {
        self.network.cut(self.me, peer);
    }

    /// The clock of the network: a tick counts as a millisecond.
    pub(super) fn now(&self) -> Duration {
        Duration::from_millis(self.network.lock().clock)
    }

    /// The receiver has opened a window: copies the part, or queues it in fragments.
    fn fill(&mut self, to: Peer, part: Part, counts: &mut Counts) {
        let key = (to, part.receiver);
        let Some(writing) = self.writing.get_mut(&key).filter(|writing| writing.left >= part.len) else {
            return counts.add(Counter::StalePackets, 1);
        };
        writing.left -= part.len;
        let mut own = writing.segment.clone();
        own.seek(part.offset);
        let open = self.network.lock().open.get(&key).cloned();
        match (part.memory, open) {
            (Some(RemoteMemory::Address { address, key }), Some(mut theirs))
                if self.may_transfer(to, (key, address), &own, part.len) =>
            {
                let mut bytes = vec![0; part.len as usize];
                own.pack(Sink::from(&mut bytes[..]));
                theirs.seek(part.offset);
                theirs.unpack(bytes[..].into());
                self.parts.push_back((to, part, part.len));
            }
            _ => self.parts.push_back((to, Part { memory: None, ..part }, 0)),
        }
    }

    /// Notifies receivers of parts that have been written, sends those that could not be, opens windows. Whether there was one.
    fn advance_windows(&mut self) -> bool {
        let mut busy = false;
        while let Some((to, part, sent)) = self.parts.pop_front() {
            if let Err(sent) = self.advance_part(to, part, sent) {
                self.parts.push_front((to, part, sent));
                break;
            }
            busy = true;
            let key = (to, part.receiver);
            let is_over = !self.has_parts(key)
                && self.writing.get(&key).is_some_and(|writing| writing.left == 0)
                && !self.granted.iter().any(|put| (put.to, put.receiver) == key);
            if is_over && let Some(writing) = self.writing.remove(&key) {
                self.done.push_back(Done::Sent(writing.sender));
            }
        }
        while let Some(next) = self.windows.next_window() {
            let receiver = next.receiver;
            let pinned = self.pin(next.memory, next.len);
            let address = next.memory.address() as u64;
            let memory =
                pinned.as_ref().map(|lease| RemoteMemory::Address { address, key: self.region(lease) });
            let emit = Emit::window(Part { receiver, offset: next.offset, len: next.len, memory });
            let claim = self.claim_to(next.from, emit.front().len(), Load::Control);
            let has_room = claim.is_some();
            if let Some(claim) = claim {
                claim.write(&emit, None);
                self.windows.opened(&next, pinned.flatten());
                busy = true;
            } else if let Some(Some(lease)) = pinned {
                self.pinned.release(lease);
            }
            if !has_room {
                break;
            }
        }
        busy
    }

    fn has_parts(&self, key: (Peer, RequestId)) -> bool {
        self.parts.iter().any(|(to, part, _)| (*to, part.receiver) == key)
    }

    /// Sends a part in fragments, as far as that has to be, and notifies the receiver.
    ///
    /// # Errors
    /// How many of its bytes have left when there is no more room.
    fn advance_part(&mut self, to: Peer, part: Part, mut sent: u64) -> Result<(), u64> {
        let Some(writing) = self.writing.get(&(to, part.receiver)) else { return Ok(()) };
        let mut segment = writing.segment.clone();
        let most = (self.packet() - DATA_FRONT) as u64;
        while sent < part.len {
            let n = (part.len - sent).min(most);
            let claim = self.claim_to(to, DATA_FRONT + n as usize, Load::Control).ok_or(sent)?;
            segment.seek(part.offset + sent);
            claim.write(&Emit::data(part.receiver, part.offset + sent), Some(&mut segment));
            sent += n;
        }
        let emit = Emit::filled(part);
        self.claim_to(to, emit.front().len(), Load::Control).ok_or(sent)?.write(&emit, None);
        Ok(())
    }

    fn step(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
        let senders = self.network.lock().senders.get(&self.me).cloned().unwrap_or_default();
        for from in senders {
            let mut net = self.network.lock();
            if net.cut.contains(&(self.me, from)) {
                drop(net);
                busy |= self.lose(from, counts, on);
                continue;
            }
            let clock = net.clock;
            let flying = match net.links.get_mut(&(from, self.me)) {
                Some(link) if link.front().is_some_and(|packet| packet.due <= clock) => link.pop_front(),
                _ => None,
            };
            drop(net);
            let Some(Flying { header, payload, .. }) = flying else { continue };
            busy = true;
            match Packet::parse(&header, payload[..].into()) {
                Ok(packet) if self.excluded.contains(&from) && !matches!(packet, Packet::Excluded) => {
                    counts.add(Counter::StalePackets, 1);
                }
                Ok(Packet::Data { receiver, offset, data }) => {
                    let event = self.reassembly.fragment(from, receiver, offset, data, counts);
                    if let Some(Event::Received(receiver)) = event {
                        self.landed(receiver);
                    }
                    if let Some(event) = event {
                        on(event, counts);
                    }
                }
                Ok(Packet::Window(part)) => self.fill(from, part, counts),
                Ok(Packet::Filled(part)) => match self.windows.filled(from, &part) {
                    Some(lease) => {
                        if let Some(lease) = lease {
                            self.pinned.release(lease);
                        }
                        if part.memory.is_some() && self.reassembly.placed(part.receiver, part.len) {
                            self.landed(part.receiver);
                            on(Event::Received(part.receiver), counts);
                        }
                    }
                    None => counts.add(Counter::StalePackets, 1),
                },
                Ok(packet) => on(Event::Packet(from, packet), counts),
                Err(_) => counts.add(Counter::MalformedPackets, 1),
            }
        }
        for _ in 0..self.granted.len() {
            let Some(mut put) = self.granted.pop_front() else { break };
            let most = (self.packet() - DATA_FRONT) as u64;
            while put.left() > 0 {
                let n = put.left().min(most) as usize;
                let Some(claim) = self.claim_to(put.to, DATA_FRONT + n, Load::Control) else { break };
                claim.write(&Emit::data(put.receiver, put.segment.position()), Some(&mut put.segment));
                busy = true;
            }
            let key = (put.to, put.receiver);
            if put.left() > 0 {
                self.granted.push_back(put);
            } else if self.writing.get(&key).is_none_or(|writing| writing.left == 0) && !self.has_parts(key) {
                self.writing.remove(&key);
                self.done.push_back(Done::Sent(put.sender));
            }
        }
        busy |= self.advance_windows();
        while let Some(done) = self.done.pop_front() {
            busy = true;
            on(done.event(), counts);
        }
        busy
    }
}

impl Sim {
    /// Everything of this message is in place.
    fn landed(&mut self, receiver: RequestId) {
        for lease in self.windows.close(receiver) {
            self.pinned.release(lease);
        }
        self.network.lock().open.remove(&(self.me, receiver));
    }

    /// The link to this peer has been cut: reports it down, once.
    fn lose(&mut self, peer: Peer, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        if !self.lost.insert(peer) {
            return false;
        }
        self.forget_peer(peer);
        let text = format!("the link to rank {} of the world was cut", peer.0);
        on(Event::PeerDown(peer, Error::other(ErrorClass::ProcAborted, text)), counts);
        true
    }

    /// Nothing goes to a peer any more, nor comes from it.
    fn forget_peer(&mut self, peer: Peer) {
        self.granted.retain(|put| put.to != peer);
        self.parts.retain(|(to, ..)| *to != peer);
        self.writing.retain(|(to, _), _| *to != peer);
        let mut net = self.network.lock();
        for receiver in self.reassembly.lose(peer) {
            net.open.remove(&(self.me, receiver));
        }
        drop(net);
        for lease in self.windows.lose(peer) {
            self.pinned.release(lease);
        }
    }
}

impl Method for Sim {
    type To = Peer;
    type Claim<'a> = Claim<'a>;

    fn caps(&mut self, _: Peer) -> Caps {
        let mut net = self.network.lock();
        let Weather { packet, get, registers, refuse, .. } = net.weather;
        // Now one side copies what lies in many pieces, now the other.
        let get_any = get && !registers && net.random(2) == 0;
        let in_order = refuse == 0 || net.random(2) == 0;
        let put_seen = !registers;
        let registers = registers && !self.pinned.caches();
        Caps {
            packet,
            get,
            get_any,
            put: get,
            put_seen,
            windows: get,
            in_order,
            registers,
            ..Caps::default()
        }
    }

    fn is_heterogeneous(&mut self, to: Peer) -> bool {
        let formats = &self.network.lock().formats;
        formats.get(&self.names.address(to)) != formats.get(&self.me)
    }

    fn throttle(&mut self, from: Peer, on: bool) {
        let from = self.names.address(from);
        let mut net = self.network.lock();
        if on {
            let window = net.weather.window as u64;
            let late = net.random(window + 1);
            net.throttled.insert((from, self.me), late);
        } else {
            net.throttled.remove(&(from, self.me));
        }
    }

    fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        self.claim_to(self.names.address(to), len, load)
    }

    fn expose(&mut self, memory: &Segment, access: Access, owner: Owner) -> Option<RemoteMemory> {
        let start = memory.contiguous_rest().map_or(0, |(start, _)| start.address() as u64);
        if let Some((key, _)) = self.exposed.get(&owner) {
            return Some(RemoteMemory::Address { address: start, key: *key });
        }
        let lease = match memory.contiguous_rest() {
            Some((memory, len)) => self.pin(memory, len)?,
            None if self.network.lock().weather.registers => return None,
            None => None,
        };
        let (region, writable) = (self.region(&lease), access == Access::Write);
        let mut net = self.network.lock();
        net.exposures += 1;
        let key = net.exposures;
        let memory = memory.clone();
        net.exposed.insert((self.me, key), Exposed { memory, start, writable, region });
        self.exposed.insert(owner, (key, lease));
        Some(RemoteMemory::Address { address: start, key })
    }

    fn forget(&mut self, owner: Owner) {
        let Some((key, lease)) = self.exposed.remove(&owner) else { return };
        self.network.lock().exposed.remove(&(self.me, key));
        if let Some(lease) = lease {
            self.pinned.release(lease);
        }
    }

    fn pin(&mut self, segment: &Segment, writing: bool) -> Option<Pin> {
        let (memory, len) = segment.contiguous_rest().filter(|_| self.network.lock().weather.registers)?;
        let (network, me) = (self.network.clone(), self.me);
        let register = |start, len| Ok((Region::new(&network, me, start, len), true));
        self.pinned.pin(memory.address(), len as usize, writing, register).ok()
    }

    fn unpin(&mut self, pin: Pin) {
        self.pinned.unpin(pin);
    }

    fn get(&mut self, _: Peer, transfer: Transfer) -> Result<(), Transfer> {
        self.transfer(transfer, false, datatype::copy)
    }

    fn put(&mut self, _: Peer, transfer: Transfer) -> Result<(), Transfer> {
        self.transfer(transfer, true, |theirs, ours| datatype::copy(ours, theirs))
    }

    fn open_receive(&mut self, mut opened: OpenReceive) -> Granted {
        opened.from = self.names.address(opened.from);
        let until = self.windows.take(&opened);
        self.network.lock().open.insert((self.me, opened.receiver), opened.segment.clone());
        self.reassembly.open(opened);
        until.map_or(Granted::Fragments, |until| Granted::Windows { until })
    }

    fn send_granted(&mut self, _: Peer, mut send: GrantedSend) {
        send.to = self.names.address(send.to);
        if self.network.lock().cut.contains(&(self.me, send.to)) {
            return;
        }
        if let Granted::Windows { until } = send.granted {
            let (segment, sender) = (send.segment.clone(), send.sender);
            let left = until.saturating_sub(segment.position());
            self.writing.insert((send.to, send.receiver), Writing { segment, sender, left });
            send.segment.seek(until);
        }
        self.granted.push_back(send);
    }

    fn exclude(&mut self, peer: Peer) -> bool {
        let peer = self.names.address(peer);
        self.forget_peer(peer);
        self.excluded.insert(peer);
        if self.network.lock().is_one_host {
            return !self.network.lock().cut.contains(&(self.me, peer));
        }
        self.lost.insert(peer);
        self.cut(peer);
        false
    }

    fn take_next(&mut self, from: Peer, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        let from = self.names.address(from);
        if self.excluded.contains(&from) {
            return Next::Nothing;
        }
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

    fn is_drained(&self) -> bool {
        self.granted.is_empty() && self.done.is_empty() && self.writing.is_empty()
    }

    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let names = std::mem::take(&mut self.names);
        let busy = self.step(counts, &mut |event, counts| on(names.translate(event), counts));
        self.names = names;
        busy
    }
}

impl Room for Claim<'_> {
    fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        self.write_with(emit, packing(data));
    }
}

impl Claim<'_> {
    /// The same with `data` writing what stands behind the front of the packet.
    pub(super) fn write_with(mut self, emit: &Emit, data: impl FnOnce(Sink<'_>)) {
        data(emit.write_front(Sink::from(&mut self.payload[..])));
        self.sim.windows.granted(emit);
        let mut net = self.sim.network.lock();
        let way = (self.sim.me, self.to);
        if net.cut.contains(&way) || net.silent.contains(&way) {
            return;
        }
        let delay = net.weather.delay;
        let link_ready =
            net.links.get(&(self.sim.me, self.to)).and_then(|link| link.back()).map_or(0, |last| last.due);
        let due = (net.clock + net.random(delay + 1)).max(link_ready);
        let flying = Flying { due, header: emit.header, payload: self.payload };
        net.senders.entry(self.to).or_default().insert(self.sim.me);
        net.links.entry(way).or_default().push_back(flying);
    }
}
