//! TCP: connections between processes of different nodes, made when they are first needed.
//!
//! Parts: `abroad` knows the processes of other jobs, `card` says how a process can be reached, `reach` makes connections, `door` and `handshake` see to who is at
//! the other end, `siblings` are the VCIs of this process, `pair` whether the two share memory instead, `outgoing` and `incoming` move bytes over a connection that
//! stands, `progress` looks at all of them.
//!
//! What must stay true: nothing here blocks (only asking for a business card may take as long as the launcher's answer); packets to
//! one peer stay in order, whether its connection stands yet or not; the first records since the last poll are written at
//! once, and those behind them gather until they are enough or until the next poll, blocking call or wait; a peer that is
//! lost is reported once, and what is still sent to it disappears; a process that leaves closes its connections only when
//! its peers have everything.

mod abroad;
mod card;
mod door;
mod handshake;
mod incoming;
mod outgoing;
mod pair;
mod reach;
mod siblings;
mod progress;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use posthaste_os::copying::Copying;
use posthaste_os::mem::Sink;
use posthaste_os::ring::MAX_PAYLOAD_OF_PAIR;
use posthaste_os::socket::{Listener, Ready, Set, Stream, Tuning};
use posthaste_os::{machine, process};

use crate::config::Config;
use crate::datatype::{Format, Segment};
use crate::error::{Error, Result};
use crate::ids::{Peer, RequestId};
use crate::method::contract::{Counters, Method, Room};
use crate::method::features::HasTcp;
use crate::method::{Caps, Done, Event, GrantedSend, Load, Next, OpenReceive, Owner, packing};
use crate::peers::PeerMap;
use crate::trace::{Counter, Counts};
use crate::wire::{Emit, Granted, LONG_FRONT, Packet};
use door::Door;
use handshake::Identity;
use incoming::{Input, Read};
use outgoing::{BYE, Out, RESUME, THROTTLE};
use pair::Pairing;
use reach::Reaching;
use siblings::Siblings;

pub use abroad::Pass;
pub use card::{AddressBook, BusinessCard, Shelf};
pub(crate) use card::{own_addresses, push_addresses};
pub use outgoing::PACKET;
pub use pair::Settled;
pub use siblings::Opener;

/// Tokens in the epoll set: peers by their number, doors, the listener, and the sets of VCIs.
const DOORS: u64 = 1 << 32;
const LISTENER: u64 = 1 << 33;
const VCI: u64 = 1 << 34;
/// Fruitless looks of a fast path until it has to wait properly.
const PATIENCE: u32 = 256;
/// Records that are written at once between two polls or waits; those behind them gather.
const AT_ONCE: u32 = 2;
/// Messages sent between two looks at the sockets, where the receivers' word to throttle may be.
const UNLOOKED: u32 = 256;
/// Descriptors that a program needs besides one for each peer and VCI.
const OPEN_FILES: u64 = 512;

/// What the method needs to know of the job.
#[derive(Clone)]
pub struct TcpSetup {
    /// This process.
    pub me: Peer,
    /// Number of processes.
    pub peers: usize,
    /// What only processes of this job know.
    pub secret: [u8; 32],
    /// How the data of this process looks.
    pub format: Format,
    /// What this node is called in sentences.
    pub node: String,
}

/// The method.
#[derive(Debug)]
pub struct Tcp {
    built: HasTcp,
    identity: Identity,
    card: BusinessCard,
    tuning: Tuning,
    connect_time: Duration,
    set: Arc<Set>,
    /// The first VCI's, for all.
    listener: Option<Listener>,
    is_listening: bool,
    siblings: Arc<Siblings>,
    ways: PeerMap<Way>,
    /// Peers that are being reached for.
    reaching: Vec<Peer>,
    doors: Vec<Option<Door>>,
    /// Peers towards which something waits.
    pending: Vec<Peer>,
    /// Peers of whom something has been read that nobody has looked at, each once, and no others.
    loaded: Vec<Peer>,
    done: VecDeque<Done>,
    lost: VecDeque<(Peer, Error)>,
    /// What concerns peers that share memory.
    settled: Vec<Settled>,
    /// How long messages are copied to peers of other jobs.
    copying: Option<Copying>,
    /// The connection on which something came last.
    busy: Option<Peer>,
    /// Fruitless looks since.
    misses: u32,
    /// Looks at that connection alone between two looks at all.
    favour: u32,
    /// Counts polls and waits: between two of them records gather.
    round: u64,
    /// Other peers are polled, too, so sockets have their turn only now and then.
    shares: bool,
    until_look: u32,
    interval: u32,
    looks: u32,
    /// Messages sent since the last one.
    unlooked: u32,
    /// Packets that left together with others and have not been counted.
    gathered: u64,
    checked: Duration,
    ready: Vec<Ready>,
    warned_of_strangers: bool,
    warned_of_accept: bool,
    /// Connections that end now are not lost.
    is_leaving: bool,
    /// By how much the clock goes ahead.
    #[cfg(test)]
    ahead: Duration,
}

/// The way to one peer.
#[derive(Debug, Default)]
struct Way {
    state: State,
    /// How the peer's data looks, once it is known.
    format: Option<Format>,
    /// The peer throttles our messages.
    throttled: bool,
    /// The round in which a record was last sent, and how many have been in it.
    wrote: (u64, u32),
    /// Why nothing more can be written. What has arrived is read before the peer is lost.
    unwritable: Option<String>,
    is_pending: bool,
    is_loaded: bool,
    /// This process has nothing more to say to the peer.
    is_parting: bool,
    /// It has said so, and closes its half when that has left.
    is_closing: bool,
    /// Since when its system has not answered.
    silent_since: Option<Duration>,
    /// The set reports when there is room.
    watched_for_room: bool,
    pairing: Pairing,
    out: Out,
    input: Input,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    None,
    Reaching(Box<Reaching>),
    Up(Stream),
    Down,
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    _built: HasTcp,
    tcp: &'a mut Tcp,
    to: Peer,
    len: usize,
    /// It may wait for what comes behind it.
    waits: bool,
}

impl std::fmt::Debug for TcpSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TcpSetup").field("me", &self.me).field("node", &self.node).finish_non_exhaustive()
    }
}

impl Way {
    fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }
}

#[cfg(test)]
impl Tcp {
    /// How often something was written for a peer.
    pub(crate) fn writes(&mut self, peer: Peer) -> usize {
        self.known(peer).map_or(0, |way| way.out.writes)
    }
}

impl Tcp {
    /// Opens the listener; the business card is for the other processes.
    ///
    /// # Errors
    /// When no port is free, no interface can be used, or there are no descriptors left.
    pub fn new(setup: TcpSetup, config: &Config, book: Box<dyn AddressBook>) -> Result<(Self, BusinessCard)> {
        HasTcp::proof("tcp")?;
        let addresses = own_addresses(config)?;
        let (first, last) = config.tcp_ports;
        let listener = Listener::open(first..=last).map_err(|e| {
            Error::system(format!("listening for other ranks (POSTHASTE_TCP_PORTS is {first}-{last})"), e)
        })?;
        let port = listener.port().map_err(|e| Error::system("asking for the port of the listener", e))?;
        let TcpSetup { me, peers, secret, format, node } = setup;
        // One for each peer, and the program's own.
        process::allow_open_files(OPEN_FILES + peers as u64);
        let card = BusinessCard { format, port, addresses, host: 0, node };
        let tuning =
            Tuning { buffer: config.tcp_buffer, dead: Duration::from_secs(config.tcp_dead_s.into()) };
        let times = (tuning, Duration::from_secs(config.tcp_connect_s.into()));
        let identity = Identity::new(me, peers, format, secret);
        let tcp = Self::with(identity, card.clone(), times, Some(listener), Arc::new(Siblings::new(book)))?;
        Ok((tcp, card))
    }

    /// That of one VCI.
    fn with(
        identity: Identity,
        card: BusinessCard,
        (tuning, connect_time): (Tuning, Duration),
        listener: Option<Listener>,
        siblings: Arc<Siblings>,
    ) -> Result<Self> {
        let set = Set::new().map_err(|e| Error::system("making an epoll set", e))?;
        if let Some(listener) = &listener {
            set.add(listener, LISTENER, false).map_err(|e| Error::system("watching the listener", e))?;
        }
        Ok(Self {
            built: HasTcp::proof("tcp")?,
            identity,
            card,
            tuning,
            connect_time,
            set: Arc::new(set),
            listener,
            is_listening: true,
            siblings,
            ways: PeerMap::default(),
            reaching: Vec::new(),
            doors: Vec::new(),
            pending: Vec::new(),
            loaded: Vec::new(),
            done: VecDeque::new(),
            lost: VecDeque::new(),
            settled: Vec::new(),
            copying: None,
            busy: None,
            misses: 0,
            favour: progress::FAVOUR,
            round: 1,
            shares: false,
            until_look: 0,
            interval: 0,
            looks: 0,
            unlooked: 0,
            gathered: 0,
            checked: machine::now(),
            ready: Vec::new(),
            warned_of_strangers: false,
            warned_of_accept: false,
            is_leaving: false,
            #[cfg(test)]
            ahead: Duration::ZERO,
        })
    }

    /// Other peers are polled, too: most polls leave the sockets alone.
    #[must_use]
    pub fn sharing(self) -> Self {
        Self { shares: true, ..self }
    }

    /// The same from now on.
    pub fn share(&mut self) {
        self.shares = true;
    }

    /// What a sleeper has to watch.
    pub fn set(&self) -> Arc<Set> {
        self.set.clone()
    }

    fn now(&self) -> Duration {
        #[cfg(test)]
        return machine::now() + self.ahead;
        #[cfg(not(test))]
        machine::now()
    }

    fn way(&mut self, peer: Peer) -> &mut Way {
        self.ways.get_or_make(peer, Way::default)
    }

    fn known(&mut self, peer: Peer) -> Option<&mut Way> {
        self.ways.get_mut(peer)
    }

    /// The way to a peer, which is reached for if it has not been yet.
    fn wanted(&mut self, peer: Peer) -> &mut Way {
        if matches!(self.way(peer).state, State::None) {
            self.reach(peer);
        }
        self.way(peer)
    }

    /// The same for a receive whose fragments come over other links as well, until [`Tcp::close`].
    pub(super) fn expose_shared(&mut self, opened: OpenReceive) {
        let way = self.way(opened.from);
        if !matches!(way.state, State::Down) {
            way.input.reassembly.open_shared(opened);
        }
    }

    /// Takes no more fragments for such a receive.
    pub(super) fn close(&mut self, from: Peer, receiver: RequestId) {
        if let Some(way) = self.known(from) {
            way.input.reassembly.close(from, receiver);
        }
    }

    /// Begins to reach for a peer, if that has not been done yet.
    pub(super) fn want(&mut self, peer: Peer) {
        self.wanted(peer);
    }

    /// Whether no more messages leave before the next look at the sockets, which is at the next poll then.
    #[inline]
    fn has_to_look(&mut self) -> bool {
        let has_to = self.unlooked >= UNLOOKED;
        if has_to {
            self.until_look = 0;
        }
        has_to
    }

    /// Whether the connection to a peer stands.
    pub(super) fn stands(&self, to: Peer) -> bool {
        self.ways.get(to).is_some_and(Way::is_up)
    }
}

impl Method for Tcp {
    type To = Peer;
    type Claim<'a> = Claim<'a>;
    const COUNTERS: Counters = Counters { eager: Counter::EagerTcp, put: Counter::PutTcp, ..Counters::NODE };

    fn caps(&mut self, to: Peer) -> Caps {
        let caps = Caps { in_order: true, sockets: true, ..Caps::default() };
        if self.wanted(to).pairing.is_open() {
            return Caps { packet: MAX_PAYLOAD_OF_PAIR, ..caps }; // it may go either way;
        }
        Caps { packet: PACKET, in_place: incoming::MOST - LONG_FRONT, ..caps }
    }

    fn is_heterogeneous(&mut self, to: Peer) -> bool {
        let own = self.identity.format;
        self.wanted(to).format.is_some_and(|format| format != own)
    }

    #[inline]
    fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        if load == Load::Message && self.has_to_look() {
            return None;
        }
        let way = self.wanted(to);
        match way.state {
            State::Down if load == Load::Message => return None,
            State::Down => {}
            _ if way.pairing.is_open() => return None,
            _ => {
                if way.throttled && load == Load::Message {
                    return None;
                }
                if !way.out.has_room(len) {
                    self.flush(to);
                    if !self.way(to).out.has_room(len) {
                        return None;
                    }
                }
            }
        }
        Some(Claim { _built: self.built, tcp: self, to, len, waits: load == Load::Patient })
    }

    fn attend(&mut self, to: Peer) {
        self.wanted(to);
    }

    /// The peer hears of it by the end of the connection.
    fn exclude(&mut self, peer: Peer) -> bool {
        if !matches!(self.way(peer).state, State::Down) {
            self.end_way(peer, State::Down);
        }
        false
    }

    fn throttle(&mut self, from: Peer, on: bool) {
        if let Some(way) = self.known(from)
            && !matches!(way.state, State::Down)
        {
            way.out.push_own(if on { THROTTLE } else { RESUME });
            self.flush(from);
        }
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        let way = self.way(opened.from);
        if !matches!(way.state, State::Down) {
            way.input.reassembly.open(opened);
        }
        Granted::Fragments
    }

    fn send_in_place(
        &mut self,
        to: Peer,
        emit: &Emit,
        owner: Option<Owner>,
        segment: Segment,
    ) -> std::result::Result<bool, Segment> {
        let has_to_look = self.has_to_look();
        let way = self.wanted(to);
        let throttled = way.throttled && matches!(owner, Some(Owner::Send(_)));
        if throttled || way.pairing.is_open() || matches!(way.state, State::Down) || has_to_look {
            return Err(segment);
        }
        way.out.push_in_place(emit, owner, segment)?;
        self.unlooked += 1;
        self.flush(to);
        let has_left = |done: &Done| match done {
            Done::Sent(id) => owner == Some(Owner::Send(*id)),
            Done::Over(over, _) => owner == Some(*over),
            Done::Received(_) => false,
        };
        let left = self.done.iter().position(has_left);
        Ok(left.and_then(|at| self.done.remove(at)).is_some())
    }

    /// What leaves from there leaves from a copy.
    fn forget(&mut self, owner: Owner) {
        if let Owner::Exposed(_) = owner {
            self.ways.iter_mut().for_each(|(_, way)| way.out.take_from(owner));
        }
    }

    fn receive_arriving(&mut self, opened: OpenReceive) {
        if let Some(way) = self.known(opened.from)
            && !matches!(way.state, State::Down)
        {
            way.input.open_arriving(opened);
        }
    }

    fn send_granted(&mut self, to: Peer, send: GrantedSend) {
        let way = self.way(to);
        if !matches!(way.state, State::Down) {
            way.out.send_granted(send);
            self.flush(to);
        }
    }

    #[inline]
    fn is_next_there(&mut self, from: Peer) -> bool {
        self.ways.get(from).is_some_and(|way| way.is_loaded)
    }

    /// Looks at the peer's socket itself.
    #[inline]
    fn take_next(&mut self, from: Peer, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        let Some(way) = self.ways.get_mut(from) else { return Next::Left };
        let State::Up(stream) = &way.state else { return Next::Left };
        if !way.is_loaded {
            if way.input.arriving().is_some() {
                return Next::Left; // the poll asks where it goes
            }
            match way.input.read(stream, None) {
                Ok(Read::Nothing) => {
                    self.misses += 1;
                    let patient = !self.misses.is_multiple_of(PATIENCE);
                    return if patient { Next::Nothing } else { Next::Left };
                }
                Ok(Read::Full | Read::Some) => {}
                // Polling comes to the same and deals with it.
                Ok(Read::End) | Err(_) => return Next::Left,
            }
            (self.busy, self.misses) = (Some(from), 0);
        }
        let next = way.input.take_next(take);
        let loaded = way.input.has_something();
        if loaded && !way.is_loaded {
            self.loaded.push(from);
        } else if way.is_loaded && !loaded {
            self.loaded.retain(|other| *other != from);
        }
        way.is_loaded = loaded;
        next
    }

    /// Whether nothing waits here that a sleeper would not be woken for.
    fn is_quiet(&self) -> bool {
        let is_heard = self.done.is_empty() && self.lost.is_empty() && self.settled.is_empty();
        is_heard && self.loaded.is_empty() && !self.siblings.has_letters(self.identity.vci)
    }

    /// Begins to leave: lets all peers know that nothing more comes.
    fn begin_leaving(&mut self) {
        if std::mem::replace(&mut self.is_leaving, true) {
            return;
        }
        self.siblings.is_leaving.store(true, Ordering::Relaxed);
        let known: Vec<Peer> = self.ways.iter().map(|(peer, _)| peer).collect();
        for peer in known {
            self.say_last(peer, BYE);
        }
    }

    /// Whether all peers have closed their ends, so that everything has arrived and nothing is cut off.
    fn has_left(&self) -> bool {
        !self.ways.iter().any(|(_, way)| way.is_up())
    }

    /// Whether a connection is being made.
    fn is_connecting(&self) -> bool {
        !self.reaching.is_empty() || !self.is_listening
    }

    /// Whether everything handed over has left.
    fn is_drained(&self) -> bool {
        self.pending.is_empty() && self.done.is_empty()
    }

    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        self.progress(counts, on)
    }

    fn flush_gathered(&mut self) {
        self.flush_pending();
    }

    fn look_soon(&mut self) {
        self.look_at_sockets();
    }
}

impl Room for Claim<'_> {
    #[inline]
    fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        self.write_with(emit, packing(data));
    }
}

impl Claim<'_> {
    /// The same with `data` writing what stands behind the front of the packet.
    #[inline]
    pub(super) fn write_with(self, emit: &Emit, data: impl FnOnce(Sink<'_>)) {
        let Self { tcp, to, len, waits, .. } = self;
        let round = tcp.round;
        tcp.unlooked += 1;
        let way = tcp.way(to);
        if matches!(way.state, State::Down) {
            return;
        }
        way.out.push(emit, len, data);
        if way.wrote.0 != round {
            way.wrote = (round, 0);
        }
        way.wrote.1 += u32::from(!waits);
        if !waits && way.wrote.1 <= AT_ONCE || way.out.is_worth_a_write() {
            tcp.flush(to);
            return;
        }
        if !way.is_pending {
            way.is_pending = true;
            tcp.pending.push(to);
        }
        tcp.gathered += 1;
    }
}

#[cfg(test)]
mod tests;
