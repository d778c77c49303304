//! TCP: connections between processes of different nodes, made when they are first needed.
//!
//! Called through [`crate::method::Methods`]; calls `posthaste_os::socket`. Parts: [`card`] says how a process can be
//! reached, `reach` makes connections, `door` and `handshake` see to who is at the other end, `outgoing` and `incoming`
//! move bytes over a connection that stands.
//!
//! What must stay true: nothing here blocks (only asking for a card may take as long as the launcher's answer); packets to
//! one peer stay in order, whether its connection stands yet or not; the first records since the last poll are written at
//! once, and those behind them gather until they are enough or until the next poll, blocking call or wait; a peer that is
//! lost is reported once, and what is still sent to it disappears; a process that leaves closes its connections only when
//! its peers have everything.

mod card;
mod door;
mod handshake;
mod incoming;
mod outgoing;
mod reach;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::socket::{Listener, Ready, Set, Stream, Tuning};

use crate::config::Config;
use crate::datatype::{Format, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::method::{Caps, Done, Event, Expose, Get, Load, Next, Put};
use crate::trace::{Counter, Counts};
use crate::wire::{Emit, Packet};
use door::Door;
use handshake::Identity;
use incoming::{Garbage, Input, Read};
use outgoing::{BYE, HOLD, Out, RELEASE};
use reach::Reaching;

pub use card::{AddressBook, Card, Shelf};
pub use outgoing::PACKET;

/// Tokens in the epoll set: peers by their number, doors, and the listener.
const DOORS: u64 = 1 << 32;
const LISTENER: u64 = 1 << 33;
/// Polls between two looks at the sockets while shared memory is polled, at most.
const RARELY: u32 = 32;
/// Looks at the connection that was busy last between two looks at all of them.
const FAVOUR: u32 = 4;
/// Fruitless looks until no connection is the busy one any more.
const FORGET: u32 = 4096;
/// Fruitless looks of a fast path until it is told to wait properly.
const PATIENCE: u32 = 256;
/// Records that are written at once between two polls or waits; those behind them gather.
const AT_ONCE: u32 = 2;
/// Reads from one connection before the others have their turn.
const READS: usize = 8;
/// Looks at the sockets between two looks at the clock, and the time between two looks at everybody's health.
const LOOKS_PER_CLOCK: u32 = 256;
const BETWEEN_CHECKS: Duration = Duration::from_secs(1);

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
    identity: Identity,
    tuning: Tuning,
    connect_time: Duration,
    set: Arc<Set>,
    listener: Listener,
    is_listening: bool,
    book: Box<dyn AddressBook>,
    ways: Vec<Option<Box<Way>>>,
    /// Peers that are being reached for.
    reaching: Vec<Peer>,
    doors: Vec<Option<Door>>,
    /// Peers towards which something waits.
    pending: Vec<Peer>,
    /// Peers of whom something has been read that nobody has looked at.
    loaded: Vec<Peer>,
    done: VecDeque<Done>,
    lost: VecDeque<(Peer, Error)>,
    /// The connection on which something came last.
    busy: Option<Peer>,
    /// Fruitless looks since.
    misses: u32,
    /// Counts polls and waits: between two of them records gather.
    round: u64,
    /// Other peers are polled, too, so sockets have their turn only now and then.
    shares: bool,
    until_look: u32,
    interval: u32,
    looks: u32,
    checked: Duration,
    ready: Vec<Ready>,
    told_of_strangers: bool,
    told_of_accept: bool,
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
    /// The peer holds our messages back.
    held: bool,
    /// The round in which a record was last sent, and how many have been in it.
    wrote: (u64, u32),
    is_pending: bool,
    is_loaded: bool,
    /// Since when its system has not answered.
    silent_since: Option<Duration>,
    /// The set tells when there is room.
    watched_for_room: bool,
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
    tcp: &'a mut Tcp,
    to: Peer,
    len: usize,
}

impl std::fmt::Debug for TcpSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TcpSetup").field("me", &self.me).field("node", &self.node).finish_non_exhaustive()
    }
}

impl Tcp {
    /// Opens the listener; the card is for the other processes.
    ///
    /// # Errors
    /// When no port is free, no interface can be used, or there are no descriptors left.
    pub fn new(setup: TcpSetup, config: &Config, book: Box<dyn AddressBook>) -> Result<(Self, Card)> {
        let addresses = card::own_addresses(&config.tcp_interfaces)?;
        let (first, last) = config.tcp_ports;
        let listener = Listener::open(first..=last).map_err(|e| {
            Error::system(format!("listening for other ranks (POSTHASTE_TCP_PORTS is {first}-{last})"), e)
        })?;
        let port = listener.port().map_err(|e| Error::system("asking for the port of the listener", e))?;
        let set = Set::new().map_err(|e| Error::system("making an epoll set", e))?;
        set.add(&listener, LISTENER, false).map_err(|e| Error::system("watching the listener", e))?;
        let TcpSetup { me, peers, secret, format, node } = setup;
        let card = Card { format, port, addresses, node };
        let tcp = Self {
            identity: Identity::new(me, peers, format, secret),
            tuning: Tuning { buffer: config.tcp_buffer, dead: Duration::from_secs(config.tcp_dead_s.into()) },
            connect_time: Duration::from_secs(config.tcp_connect_s.into()),
            set: Arc::new(set),
            listener,
            is_listening: true,
            book,
            ways: (0..peers).map(|_| None).collect(),
            reaching: Vec::new(),
            doors: Vec::new(),
            pending: Vec::new(),
            loaded: Vec::new(),
            done: VecDeque::new(),
            lost: VecDeque::new(),
            busy: None,
            misses: 0,
            round: 1,
            shares: false,
            until_look: 0,
            interval: 0,
            looks: 0,
            checked: machine::now(),
            ready: Vec::new(),
            told_of_strangers: false,
            told_of_accept: false,
            is_leaving: false,
            #[cfg(test)]
            ahead: Duration::ZERO,
        };
        Ok((tcp, card))
    }

    /// Other peers are polled, too: most polls leave the sockets alone.
    #[must_use]
    pub fn sharing(self) -> Self {
        Self { shares: true, ..self }
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
        self.ways[peer.index()].get_or_insert_default()
    }

    fn known(&mut self, peer: Peer) -> Option<&mut Way> {
        self.ways.get_mut(peer.index())?.as_deref_mut()
    }

    /// The way to a peer, which is reached for if it has not been yet.
    fn wanted(&mut self, peer: Peer) -> &mut Way {
        if matches!(self.way(peer).state, State::None) {
            self.reach(peer);
        }
        self.way(peer)
    }

    pub(super) fn caps(&self) -> Caps {
        Caps { packet: PACKET, ..Caps::default() }
    }

    /// Whether the numbers of this peer look different from ours.
    pub(super) fn is_unlike(&mut self, to: Peer) -> bool {
        let own = self.identity.format;
        self.wanted(to).format.is_some_and(|format| format != own)
    }

    #[inline]
    pub(super) fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        let way = self.wanted(to);
        match way.state {
            State::Down if load == Load::Message => return None,
            State::Down => {}
            _ => {
                if way.held && load == Load::Message {
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
        Some(Claim { tcp: self, to, len })
    }

    pub(super) fn hold_back(&mut self, from: Peer, hold: bool) {
        if let Some(way) = self.known(from)
            && !matches!(way.state, State::Down)
        {
            way.out.push_own(if hold { HOLD } else { RELEASE });
            self.flush(from);
        }
    }

    pub(super) fn expose(&mut self, expose: Expose) {
        let way = self.way(expose.from);
        if !matches!(way.state, State::Down) {
            way.input.landing.open(expose);
        }
    }

    pub(super) fn put(&mut self, put: Put) {
        let to = put.to;
        let way = self.way(to);
        if !matches!(way.state, State::Down) {
            way.out.put(put);
            self.flush(to);
        }
    }

    /// Nothing can be fetched here, whatever was offered.
    pub(super) fn get(&mut self, get: Get) {
        self.done.push_back(Done::Refused(get.receiver, get.segment));
    }

    /// See [`super::Methods::is_next_there`].
    #[inline]
    pub(super) fn is_next_there(&self, from: Peer) -> bool {
        self.ways[from.index()].as_ref().is_some_and(|way| way.is_loaded)
    }

    /// See [`super::Methods::take_next`]. Looks at the peer's socket itself.
    #[inline]
    pub(super) fn take_next(&mut self, from: Peer, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        let Some(Some(way)) = self.ways.get_mut(from.index()) else { return Next::Left };
        let State::Up(stream) = &way.state else { return Next::Left };
        if !way.is_loaded {
            match way.input.read(stream) {
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
        }
        way.is_loaded = loaded;
        next
    }

    /// Whether nothing waits here that a sleeper would not be woken for.
    pub(super) fn is_quiet(&self) -> bool {
        self.done.is_empty() && self.lost.is_empty() && self.loaded.is_empty()
    }

    /// The next poll looks at the sockets, and at the clock: this process has slept.
    pub(super) fn look_soon(&mut self) {
        self.until_look = 0;
        self.looks = LOOKS_PER_CLOCK - 1;
    }

    /// Begins to leave: tells all peers that nothing more comes.
    pub(super) fn begin_leaving(&mut self) {
        self.is_leaving = true;
        for at in 0..self.ways.len() {
            let Some(way) = self.ways[at].as_deref_mut() else { continue };
            way.out.push_own(BYE);
            self.flush(Peer(at as u32));
            if let Some(Way { state: State::Up(stream), .. }) = self.ways[at].as_deref() {
                stream.close_writing();
            }
        }
    }

    /// Whether all peers have closed their ends, so that everything has arrived and nothing is cut off.
    pub(super) fn has_left(&self) -> bool {
        !self.ways.iter().flatten().any(|way| matches!(way.state, State::Up(_)))
    }

    /// Whether a connection is being made.
    pub(super) fn is_connecting(&self) -> bool {
        !self.reaching.is_empty() || !self.is_listening
    }

    /// Whether everything handed over has left.
    pub(super) fn is_drained(&self) -> bool {
        self.pending.is_empty() && self.done.is_empty()
    }

    pub(super) fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        self.round += 1;
        let mut busy = false;
        if !self.pending.is_empty() {
            busy |= self.flush_all();
        }
        if !self.loaded.is_empty() {
            for peer in std::mem::take(&mut self.loaded) {
                if let Some(way) = self.known(peer) {
                    way.is_loaded = false;
                }
                busy |= self.process(peer, counts, on);
            }
        }
        if self.until_look > 0 {
            self.until_look -= 1;
        } else {
            let found = self.look(counts, on);
            busy |= found;
            self.interval = match self.shares {
                true if !found => (self.interval * 2).clamp(1, RARELY),
                _ => 0,
            };
            self.until_look = self.interval;
        }
        while let Some(done) = self.done.pop_front() {
            busy = true;
            on(done.event(), counts);
        }
        while let Some((peer, error)) = self.lost.pop_front() {
            busy = true;
            counts.add(Counter::PeersDown, 1);
            on(Event::PeerDown(peer, error), counts);
        }
        busy
    }

    /// Looks at the sockets.
    fn look(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        self.looks = self.looks.wrapping_add(1);
        if let Some(peer) = self.busy {
            let found = self.receive(peer, counts, on);
            self.misses = if found { 0 } else { self.misses + 1 };
            if self.misses >= FORGET {
                self.busy = None;
            }
            if !self.looks.is_multiple_of(FAVOUR) && self.reaching.is_empty() {
                return found;
            }
        }
        let mut ready = std::mem::take(&mut self.ready);
        self.set.wait(Duration::ZERO, &mut ready);
        let mut busy = false;
        for Ready { token, read, write } in ready.drain(..) {
            if token == LISTENER {
                self.accept(counts);
            } else if token >> 32 == DOORS >> 32 {
                self.door_is_ready((token - DOORS) as usize, counts);
            } else if token >= self.ways.len() as u64 {
                continue; // the pipe that ends sleeps
            } else {
                let peer = Peer(token as u32);
                if write && let Some(way) = self.known(peer) {
                    way.out.blocked = false;
                    self.flush(peer);
                }
                busy |= read && self.receive(peer, counts, on);
                continue;
            }
            busy = true;
        }
        self.ready = ready;
        // Last: this process may have been away for long, and what has come meanwhile came in time.
        if self.looks.is_multiple_of(LOOKS_PER_CLOCK) || !self.reaching.is_empty() {
            self.pass_time(counts);
        }
        busy
    }

    #[cold]
    fn pass_time(&mut self, counts: &mut Counts) {
        self.look_at_the_clock(counts);
        let now = self.now();
        if now - self.checked < BETWEEN_CHECKS {
            return;
        }
        self.checked = now;
        for at in 0..self.ways.len() {
            let Some(Way { state: State::Up(stream), .. }) = self.ways[at].as_deref() else { continue };
            match stream.health() {
                // What has been said since it fell silent: before that it may have been idle for long.
                Ok(health) if health.unanswered => {
                    let dead = self.tuning.dead;
                    let Some(way) = self.known(Peer(at as u32)) else { continue };
                    let since = *way.silent_since.get_or_insert(now);
                    if health.silent.min(now - since) >= dead {
                        let why = format!("its system has not answered for {} s", dead.as_secs());
                        self.lose(Peer(at as u32), &why);
                    }
                }
                _ => self.way(Peer(at as u32)).silent_since = None,
            }
        }
    }

    /// Reads what has come from a peer, and looks at it.
    fn receive(
        &mut self,
        peer: Peer,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let mut busy = false;
        for _ in 0..READS {
            let Some(Way { state: State::Up(stream), input, .. }) = self.known(peer) else { return busy };
            let read = input.read(stream);
            let is_full = matches!(read, Ok(Read::Full));
            match read {
                Ok(Read::Nothing) => return busy,
                Ok(Read::Full | Read::Some) => {
                    (self.busy, self.misses) = (Some(peer), 0);
                    self.process(peer, counts, on);
                    busy = true;
                }
                Ok(Read::End) if input.bye => self.lose(peer, "it has finalised"),
                Ok(Read::End) => self.lose(peer, "it has closed its connection"),
                Err(error) => self.lose(peer, &error.to_string()),
            }
            if !is_full {
                return true;
            }
        }
        busy
    }

    /// Looks at what has been read from a peer.
    fn process(
        &mut self,
        peer: Peer,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) -> bool {
        let Some(way) = self.known(peer) else { return false };
        let held = way.held;
        match way.input.process(peer, &mut way.held, counts, on) {
            Ok(busy) => {
                // Messages that were held back may leave: not yet, but what waits for room looks again.
                busy || held != way.held
            }
            Err(Garbage) => {
                on(Event::Malformed(peer), counts);
                self.lose(peer, "it has sent something unreadable");
                true
            }
        }
    }

    /// Writes what has gathered.
    #[inline]
    pub(super) fn flush_gathered(&mut self) {
        self.round += 1;
        if !self.pending.is_empty() {
            self.flush_all();
        }
    }

    /// Writes what waits for any peer, as far as there is room.
    #[cold]
    fn flush_all(&mut self) -> bool {
        let mut busy = false;
        for peer in std::mem::take(&mut self.pending) {
            if let Some(way) = self.known(peer) {
                way.is_pending = false;
                busy |= self.flush(peer);
            }
        }
        busy
    }

    /// Writes what waits for a peer, as far as there is room. Returns whether anything left.
    fn flush(&mut self, peer: Peer) -> bool {
        let set = &self.set;
        let Some(Some(way)) = self.ways.get_mut(peer.index()) else { return false };
        let mut busy = Ok(false);
        if let State::Up(stream) = &way.state
            && !way.out.blocked
        {
            busy = way.out.write(stream, &mut self.done);
            if way.out.blocked != way.watched_for_room
                && set.change(stream, peer.0.into(), way.out.blocked).is_ok()
            {
                way.watched_for_room = way.out.blocked;
            }
        }
        if !way.out.is_empty() && !way.is_pending {
            way.is_pending = true;
            self.pending.push(peer);
        }
        busy.unwrap_or_else(|error| {
            self.lose(peer, &error.to_string());
            true
        })
    }

    /// The connection to a peer is gone.
    fn lose(&mut self, peer: Peer, why: &str) {
        let text = format!("the connection to rank {} of the world is lost: {why}", peer.0);
        self.fail(peer, Error::other(ErrorClass::ProcAborted, text));
    }

    /// A peer is down: forgets everything about it but that, and tells the engine.
    fn fail(&mut self, peer: Peer, error: Error) {
        self.reaching.retain(|other| *other != peer);
        self.pending.retain(|other| *other != peer);
        self.loaded.retain(|other| *other != peer);
        for door in &mut self.doors {
            door.take_if(|door| door.called() == Some(peer));
        }
        if self.busy == Some(peer) {
            self.busy = None;
        }
        let format = self.way(peer).format;
        *self.way(peer) = Way { state: State::Down, format, ..Way::default() };
        if !self.is_leaving {
            self.lost.push_back((peer, error));
        }
    }
}

impl Claim<'_> {
    #[inline]
    pub(super) fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        let Self { tcp, to, len } = self;
        let round = tcp.round;
        let way = tcp.way(to);
        if matches!(way.state, State::Down) {
            return;
        }
        way.out.push(emit, len, data);
        if way.wrote.0 != round {
            way.wrote = (round, 0);
        }
        way.wrote.1 += 1;
        if way.wrote.1 <= AT_ONCE || way.out.is_worth_a_write() {
            tcp.flush(to);
        } else if !way.is_pending {
            way.is_pending = true;
            tcp.pending.push(to);
        }
    }
}

#[cfg(test)]
mod tests;
