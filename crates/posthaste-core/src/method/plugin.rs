//! A method from a shared object: packets by a plug-in, everything else made of them here.
//!
//! A plug-in moves packets, reliably and in order, and knows nothing else; so long messages come in fragments, and
//! throttling a peer is a word to it:
//!
//! ```text
//!   packet:    FRAME (4 bytes), header of `wire` (24), payload
//!   gathered:  GATHERED (4 bytes), then records: length of the payload (4 bytes), header, payload
//!   word:      THROTTLE, RESUME or BYE (4 bytes), between the two methods only
//! ```
//!
//! What must stay true: a packet that the plug-in has no room for waits here, one for each peer and words behind it, and
//! nothing overtakes it, nor what gathers; a peer that is lost is reported once, and what is still sent to it disappears; a process that
//! leaves closes the plug-in only when its peers have everything.

mod card;

use std::collections::VecDeque;
use std::sync::Arc;

use posthaste_os::mem::{Sink, Source};
use posthaste_os::plugin::{self, Found, Started};
use posthaste_os::socket::Set;

use crate::config::Config;
use crate::datatype::{Format, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::method::contract::{Counters, Method, Room};
use crate::method::features::HasPlugin;
use crate::method::rarely::Rarely;
use crate::method::reassembly::Reassembly;
use crate::method::{Caps, Done, Event, GrantedSend, Load, OpenReceive, report};
use crate::peers::PeerMap;
use crate::trace::{Counter, Counts};
use crate::wire::{DATA_FRONT, Emit, Granted, HEADER, Packet};

pub use card::PluginCard;

/// What is sent, as its first word.
const FRAME: u32 = 0;
const THROTTLE: u32 = 1;
const RESUME: u32 = 2;
const BYE: u32 = 3;
const GATHERED: u32 = 4;
/// Bytes of that word, and of everything in front of a payload.
const WORD: usize = 4;
const PREFIX: usize = WORD + HEADER;
/// Bytes that are not gathered any longer.
const ENOUGH: usize = 32 << 10;
/// Fragments for one peer before the others have their turn.
const TURNS: usize = 16;
/// Messages sent between two looks at the plug-in, where the receivers' word to throttle may be.
const UNLOOKED: u32 = 64;
/// What the set of descriptors says of the plug-in's.
const TOKEN: u64 = 1 << 35;

/// What the method needs to know of the job.
#[derive(Clone)]
pub struct PluginSetup {
    /// This process.
    pub me: Peer,
    /// Number of processes.
    pub peers: usize,
    /// What only processes of this job know.
    pub secret: [u8; 32],
    /// How the data of this process looks.
    pub format: Format,
}

/// Finds the business card of a peer; may take as long as an answer of the launcher.
pub type Cards = Box<dyn FnMut(Peer) -> Result<PluginCard> + Send>;

/// The method.
pub struct Plugin {
    built: HasPlugin,
    own: PluginCard,
    cards: Cards,
    links: PeerMap<Link>,
    /// Processes of the job.
    peers: usize,
    /// Peers for whom something waits.
    waiting: Vec<Peer>,
    done: VecDeque<Done>,
    lost: VecDeque<(Peer, Error)>,
    /// Where data in pieces is put together.
    scratch: Vec<u8>,
    /// Longest payload.
    packet: usize,
    turns: Rarely,
    /// Messages sent since the plug-in was looked at.
    unlooked: u32,
    /// Packets that left together with others and have not been counted.
    gathered: u64,
    can_wake: bool,
    /// Losses do not matter any more.
    is_leaving: bool,
    started: Started,
}

/// The way to one peer.
#[derive(Debug, Default)]
struct Link {
    state: State,
    /// How the peer's data looks, once it is known.
    format: Option<Format>,
    /// The peer throttles our messages.
    throttled: bool,
    /// The peer has said that nothing more comes.
    has_left: bool,
    is_waiting: bool,
    /// What the plug-in had no room for.
    backlog: VecDeque<Vec<u8>>,
    /// Short packets that leave together, behind the backlog.
    gathering: Vec<u8>,
    granted: VecDeque<GrantedSend>,
    reassembly: Reassembly,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum State {
    /// It has spoken to us, perhaps.
    #[default]
    New,
    Up,
    Down,
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    _built: HasPlugin,
    plugin: &'a mut Plugin,
    to: Peer,
    len: usize,
    /// The packet leaves together with others.
    gathers: bool,
}

impl std::fmt::Debug for PluginSetup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PluginSetup").field("me", &self.me).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("own", &self.own).field("links", &self.links).finish_non_exhaustive()
    }
}

impl Plugin {
    /// Loads and starts the plug-in that the settings name; the business card is for the other processes.
    ///
    /// # Errors
    /// When there is none, or it is none of ours, or it cannot start.
    pub fn new(setup: PluginSetup, config: &Config, cards: Cards) -> Result<(Self, PluginCard)> {
        let built = HasPlugin::proof("plugin")?;
        let Some(setting) = &config.plugin else {
            let text = "POSTHASTE_METHODS names plugin, but POSTHASTE_PLUGIN does not say which one to load";
            return Err(Error::other(ErrorClass::Other, text));
        };
        let wrong = |doing: String| move |why: String| Error::system(doing, why);
        let plugin = plugin::Plugin::load(setting)
            .map_err(wrong("loading a method from a plug-in (POSTHASTE_PLUGIN)".into()))?;
        let (name, longest) = (plugin.name().to_owned(), plugin.longest());
        let PluginSetup { me, peers, secret, format } = setup;
        let doing = format!("starting the plug-in {name}");
        let started = plugin.start(me.0, peers as u32, &secret).map_err(wrong(doing.clone()))?;
        let address = started.address().map_err(wrong(doing))?;
        let own = PluginCard { format, name, address };
        let method = Self {
            built,
            own: own.clone(),
            cards,
            links: PeerMap::default(),
            peers,
            waiting: Vec::new(),
            done: VecDeque::new(),
            lost: VecDeque::new(),
            scratch: Vec::new(),
            packet: longest - PREFIX,
            turns: Rarely::default(),
            unlooked: 0,
            gathered: 0,
            can_wake: false,
            is_leaving: false,
            started,
        };
        Ok((method, own))
    }

    /// Other peers are polled, too: most polls leave the plug-in alone.
    #[must_use]
    pub fn sharing(mut self) -> Self {
        self.turns.share();
        self
    }

    /// Adds what a sleeper has to watch to this set; without it, sleepers stay awake.
    pub fn watch_in(&mut self, set: &Arc<Set>) {
        self.can_wake = self.started.descriptor().is_some_and(|fd| set.add(&fd, TOKEN, false).is_ok());
    }

    fn known(&mut self, peer: Peer) -> Option<&mut Link> {
        self.links.get_mut(peer)
    }

    fn link(&mut self, peer: Peer) -> &mut Link {
        self.links.get_or_make(peer, Link::default)
    }

    /// The way to a peer, which is connected if it has not been yet.
    fn wanted(&mut self, peer: Peer) -> &mut Link {
        if self.link(peer).state == State::New {
            match self.reach(peer) {
                Ok(format) => {
                    let link = self.link(peer);
                    (link.state, link.format) = (State::Up, Some(format));
                }
                Err(why) => self.fail(peer, why),
            }
        }
        self.link(peer)
    }

    #[cold]
    fn reach(&mut self, peer: Peer) -> Result<Format> {
        let card = (self.cards)(peer)?;
        if card.name != self.own.name {
            let text = format!(
                "rank {} of the world uses the plug-in {}, this one {}: POSTHASTE_PLUGIN must be the same for all ranks",
                peer.0, card.name, self.own.name
            );
            return Err(Error::other(ErrorClass::Other, text));
        }
        let doing = || format!("reaching rank {} of the world by the plug-in {}", peer.0, self.own.name);
        self.started.connect(peer.0, &card.address).map_err(|why| Error::system(doing(), why))?;
        Ok(card.format)
    }

    /// Sends a word to the peer's method; there is always room.
    fn send_control(&mut self, peer: Peer, word: u32) {
        let link = self.wanted(peer);
        if link.state == State::Up {
            link.close_gathering();
            link.backlog.push_back(word.to_le_bytes().to_vec());
            self.advance(peer);
        }
    }

    /// Lets the plug-in say what has come.
    fn look(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        // What was refused for want of a look may leave now.
        let refused = std::mem::take(&mut self.unlooked) >= UNLOOKED;
        let mut down = Vec::new();
        let (links, peers) = (&mut self.links, self.peers);
        let busy = self.started.poll(&mut |found| match found {
            Found::Packet(from, bytes) if (from as usize) < peers => {
                links.get_or_make(Peer(from), Link::default).arrived(Peer(from), bytes, counts, on);
            }
            Found::Packet(..) => counts.add(Counter::MalformedPackets, 1),
            Found::Down(peer, why) if (peer as usize) < peers => down.push((Peer(peer), why)),
            Found::Down(..) => {}
        });
        for (peer, why) in down {
            let has_left = self.known(peer).is_some_and(|link| link.has_left);
            let why = if has_left { "it has finalised" } else { &why };
            let text =
                format!("rank {} of the world is lost to the plug-in {}: {why}", peer.0, self.own.name);
            self.fail(peer, Error::other(ErrorClass::ProcAborted, text));
        }
        busy || refused
    }

    /// Sends what waits for a peer, as far as there is room. Returns whether anything left.
    fn advance(&mut self, peer: Peer) -> bool {
        let Some(link) = self.links.get_mut(peer) else { return false };
        let mut busy = false;
        link.close_gathering();
        while let Some(packet) = link.backlog.front()
            && self.started.send(peer.0, &[packet[..].into()])
        {
            link.backlog.pop_front();
            busy = true;
        }
        for _ in 0..TURNS {
            if !link.backlog.is_empty() {
                break;
            }
            let Some(put) = link.granted.front_mut() else { break };
            let n = put.segment.remaining().min((self.packet - DATA_FRONT) as u64) as usize;
            if n > 0 {
                let emit = Emit::data(put.receiver, put.segment.position());
                let refused =
                    send(&mut self.started, peer, &emit, n, Some(&mut put.segment), &mut self.scratch);
                link.backlog.extend(refused);
            }
            if put.segment.remaining() == 0 {
                self.done.push_back(Done::Sent(put.sender));
                link.granted.pop_front();
            }
            busy = true;
        }
        if !link.backlog.is_empty() || !link.granted.is_empty() {
            link.wait(peer, &mut self.waiting);
        }
        busy
    }

    /// Sends what waits for any peer, as far as there is room. Returns whether anything left.
    fn advance_all(&mut self) -> bool {
        let mut busy = false;
        for peer in std::mem::take(&mut self.waiting) {
            if let Some(link) = self.known(peer) {
                link.is_waiting = false;
                busy |= self.advance(peer);
            }
        }
        busy
    }

    /// A peer is down, which is reported to the engine.
    fn fail(&mut self, peer: Peer, error: Error) {
        if self.shut(peer) && !self.is_leaving {
            self.lost.push_back((peer, error));
        }
    }

    /// Forgets everything about a peer but that it is down. Whether that is new.
    fn shut(&mut self, peer: Peer) -> bool {
        self.waiting.retain(|other| *other != peer);
        let link = self.link(peer);
        let (is_new, format) = (link.state != State::Down, link.format);
        *link = Link { state: State::Down, format, ..Link::default() };
        is_new
    }
}

impl Link {
    /// Something waits for the peer.
    fn wait(&mut self, peer: Peer, waiting: &mut Vec<Peer>) {
        if !self.is_waiting {
            self.is_waiting = true;
            waiting.push(peer);
        }
    }

    /// Nothing more joins what has gathered.
    fn close_gathering(&mut self) {
        if !self.gathering.is_empty() {
            self.backlog.push_back(std::mem::take(&mut self.gathering));
        }
    }

    /// Appends a packet whose payload has `len` bytes to those that leave together.
    fn gather(&mut self, emit: &Emit, len: usize, data: Option<&mut Segment>) {
        let gathering = &mut self.gathering;
        if gathering.is_empty() {
            gathering.extend_from_slice(&GATHERED.to_le_bytes());
        }
        gathering.extend_from_slice(&(len as u32).to_le_bytes());
        gathering.extend_from_slice(&emit.header);
        let at = gathering.len();
        gathering.resize(at + len, 0);
        let rest = emit.write_front(Sink::from(&mut gathering[at..]));
        if let Some(segment) = data {
            segment.pack(rest);
        }
    }

    /// Something of the plug-in has come.
    fn arrived(
        &mut self,
        from: Peer,
        bytes: Source<'_>,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        if self.state == State::Down {
            return counts.add(Counter::StalePackets, 1);
        }
        let (word, rest) = bytes.split_at(WORD);
        match (number(word), rest.len()) {
            (Some(FRAME), HEADER..) => self.packet(from, rest, counts, on),
            (Some(GATHERED), _) => self.records(from, rest, counts, on),
            (Some(THROTTLE), 0) => self.throttled = true,
            (Some(RESUME), 0) => self.throttled = false,
            (Some(BYE), 0) => self.has_left = true,
            _ => counts.add(Counter::MalformedPackets, 1),
        }
    }

    /// Packets that were sent together have come.
    fn records(
        &mut self,
        from: Peer,
        mut rest: Source<'_>,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        while !rest.is_empty() {
            let (len, records) = rest.split_at(WORD);
            let end = number(len).map(|len| HEADER + len as usize).filter(|end| *end <= records.len());
            let Some(end) = end else { return counts.add(Counter::MalformedPackets, 1) };
            let (packet, others) = records.split_at(end);
            self.packet(from, packet, counts, on);
            rest = others;
        }
    }

    /// A packet has come: its header and its payload.
    fn packet(
        &mut self,
        from: Peer,
        bytes: Source<'_>,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let mut header = [0; HEADER];
        let (front, payload) = bytes.split_at(HEADER);
        front.copy_to(&mut header);
        match Packet::parse(&header, payload) {
            Ok(Packet::Data { receiver, offset, data }) => {
                if self.reassembly.arrived(from, receiver, offset, data, counts) {
                    on(Event::Received(receiver), counts);
                }
            }
            Ok(packet) => on(Event::Packet(from, packet), counts),
            Err(_) => counts.add(Counter::MalformedPackets, 1),
        }
    }
}

/// A number of four bytes, if there are as many.
fn number(bytes: Source<'_>) -> Option<u32> {
    let mut number = [0; WORD];
    (bytes.len() == WORD).then(|| bytes.copy_to(&mut number))?;
    Some(u32::from_le_bytes(number))
}

/// Sends a packet with the next `n` bytes of `data`. Returns it as it is to wait, if there is no room for it.
fn send(
    started: &mut Started,
    to: Peer,
    emit: &Emit,
    n: usize,
    data: Option<&mut Segment>,
    scratch: &mut Vec<u8>,
) -> Option<Vec<u8>> {
    let mut prefix = [0; PREFIX];
    prefix[..WORD].copy_from_slice(&FRAME.to_le_bytes());
    prefix[WORD..].copy_from_slice(&emit.header);
    let data = data.map_or(Source::from(&[][..]), |segment| match segment.contiguous_rest() {
        Some((memory, _)) => {
            segment.seek(segment.position() + n as u64);
            memory.source(n)
        }
        None => {
            scratch.resize(n, 0);
            segment.pack(Sink::from(&mut scratch[..]));
            Source::from(&scratch[..])
        }
    });
    if started.send(to.0, &[prefix[..].into(), emit.front().into(), data]) {
        return None;
    }
    Some([&prefix[..], emit.front(), &data.to_vec()].concat())
}

impl Method for Plugin {
    type To = Peer;
    type Claim<'a> = Claim<'a>;
    const COUNTERS: Counters =
        Counters { eager: Counter::EagerPlugin, put: Counter::PutPlugin, ..Counters::NODE };

    fn caps(&mut self, _: Peer) -> Caps {
        Caps { packet: self.packet, ..Caps::default() }
    }

    fn is_heterogeneous(&mut self, to: Peer) -> bool {
        let own = self.own.format;
        self.wanted(to).format.is_some_and(|format| format != own)
    }

    #[inline]
    fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        let is_message = load == Load::Message;
        if is_message && self.unlooked >= UNLOOKED {
            self.turns.soon();
            return None;
        }
        let longest = self.packet.min(ENOUGH);
        let link = self.wanted(to);
        // What may wait joins others; everything else sends them first.
        let gathers = load == Load::Patient && len <= longest - WORD;
        let joins = gathers && link.gathering.len() + len <= longest;
        match link.state {
            // Messages wait for the bad news; everything else disappears.
            State::Down if is_message => return None,
            State::Down => {}
            _ if is_message && link.throttled => return None,
            _ => {
                if !link.backlog.is_empty() || !(joins || link.gathering.is_empty()) {
                    self.advance(to);
                }
                if len > self.packet || !self.link(to).backlog.is_empty() {
                    return None;
                }
            }
        }
        self.unlooked += u32::from(is_message);
        Some(Claim { _built: self.built, plugin: self, to, len, gathers })
    }

    fn throttle(&mut self, from: Peer, on: bool) {
        self.send_control(from, if on { THROTTLE } else { RESUME });
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        let link = self.link(opened.from);
        if link.state != State::Down {
            link.reassembly.open(opened);
        }
        Granted::Fragments
    }

    fn send_granted(&mut self, to: Peer, send: GrantedSend) {
        let link = self.wanted(to);
        if link.state == State::Up {
            link.granted.push_back(send);
            self.advance(to);
        }
    }

    fn exclude(&mut self, peer: Peer) -> bool {
        // It has to hear of it, also if nothing was ever sent there.
        if self.wanted(peer).state == State::Up
            && let Some(claim) = self.claim(peer, 0, Load::Control)
        {
            claim.write(&Emit::excluded(), None);
        }
        self.shut(peer);
        false
    }

    /// Whether nothing waits here that a sleeper would not be woken for.
    fn is_quiet(&self) -> bool {
        let may_send = self.unlooked < UNLOOKED;
        self.can_wake && may_send && self.waiting.is_empty() && self.done.is_empty() && self.lost.is_empty()
    }

    /// The next poll looks at the plug-in: this process has slept.
    fn look_soon(&mut self) {
        self.turns.soon();
    }

    /// Whether everything handed over has left.
    fn is_drained(&self) -> bool {
        self.waiting.is_empty() && self.done.is_empty() && self.started.flush()
    }

    /// Says good-bye to all peers that were spoken to.
    fn begin_leaving(&mut self) {
        self.is_leaving = true;
        let up = self.links.iter().filter(|(_, link)| link.state != State::Down);
        for peer in up.map(|(peer, _)| peer).collect::<Vec<_>>() {
            self.send_control(peer, BYE);
        }
    }

    /// Whether all these peers have done so, too: closing earlier could cut off what they have not read.
    fn has_left(&self) -> bool {
        let has = |link: &Link| link.state == State::Down || link.has_left;
        self.is_drained() && self.links.iter().all(|(_, link)| has(link))
    }

    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        counts.add(Counter::Gathered, std::mem::take(&mut self.gathered));
        let mut busy = self.advance_all();
        if self.turns.is_due() {
            let found = self.look(counts, on);
            busy |= found;
            self.turns.looked(found);
        }
        busy | report(&mut self.done, &mut self.lost, counts, on)
    }

    fn flush_gathered(&mut self) {
        self.advance_all();
    }
}

impl Room for Claim<'_> {
    #[inline]
    fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        let Self {
            plugin: Plugin { links, started, scratch, waiting, gathered, .. }, to, len, gathers, ..
        } = self;
        let Some(link) = links.get_mut(to) else { return };
        if link.state == State::Down {
            return;
        }
        if gathers {
            link.gather(emit, len, data);
            link.wait(to, waiting);
            *gathered += 1;
            return;
        }
        let n = len - emit.front().len();
        if let Some(packet) = send(started, to, emit, n, data, scratch) {
            link.backlog.push_back(packet);
            link.wait(to, waiting);
        }
    }
}
