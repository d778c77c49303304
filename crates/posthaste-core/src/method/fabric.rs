//! Networks with remote memory, by libfabric: packets from and into registered buffers, long messages by reads and writes.
//!
//! Parts: `card` says how a process can be reached; `link` keeps the packets of one peer in order; `transfer` moves
//! long messages; `atomics` changes elements; `silence` finds out about peers that nothing is heard of; `farewell` tells a peer that it is taken for lost. Seed 000 (VIA), seed 003 (RDMA Direct Get,
//! RDMA Direct Put, RDMA Pipeline).
//!
//! What must stay true: nothing here blocks, but for asking where a peer is, once; every packet bears the job's mark, its
//! sender and a number, so that packets of others are dropped and those of a peer are looked at in order whatever order they
//! arrive in; user memory is registered as long as the network may touch it; a peer that is lost is reported, and once more when the
//! network has done what was under way; what is still sent to it disappears, and what it might write to is closed.

mod atomics;
mod card;
mod farewell;
mod link;
mod silence;
mod transfer;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use posthaste_os::fabric::{
    Arrived, Completion, Endpoint, FILE, Library, NotStarted, Registration, Sizes, Slot, Wanted,
};
use posthaste_os::mem::{Sink, Source};
use posthaste_os::socket::Set;

use crate::config::{Config, FabricAtomics};
use crate::datatype::{Format, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{Peer, RequestId};
use crate::method::contract::{Counters, Method, Room};
use crate::method::features::HasFabric;
use crate::method::pinned::{Lease, Pin, Pinned};
use crate::method::rarely::Rarely;
use crate::method::windows::Windows;
use crate::method::{
    Access, Caps, Done, Event, GrantedSend, Load, OpenReceive, Outcome, Owner, Transfer, packing, report,
};
use crate::peers::PeerMap;
use crate::trace::{Counter, Counts};
use crate::wire::{Emit, Granted, HEADER, Packet, Part, RemoteMemory};
use atomics::Atomics;
use farewell::Farewell;
use link::{Frame, Link, Mark, PREAMBLE, Turn};
use silence::{Listening, Silence};
use transfer::{Purpose, Transfers};

pub(crate) use atomics::bit_of;
pub use card::{FabricBook, FabricCard, FabricShelf};

/// Bytes of a buffer, and of the longest payload in it.
const BUFFER: usize = 8 << 10;
/// Longest payload of a packet.
pub const PACKET: usize = BUFFER - PREAMBLE - HEADER;
/// Buffers to send from; the last ones are reserved for packets that make room elsewhere.
const SENDS: usize = 64;
const RESERVE: usize = 16;
/// Buffers to receive into, and reads and writes under way.
const RECEIVES: usize = 64;
const TRANSFERS: usize = 64;
/// What the set of descriptors says of the network's.
const TOKEN: u64 = 1 << 34;

/// What the method needs to know of the job.
#[derive(Clone, Copy, Debug)]
pub struct FabricSetup {
    /// This process.
    pub me: Peer,
    /// Number of processes.
    pub peers: usize,
    /// What the packets of this job bear.
    pub mark: u64,
    /// How the data of this process looks.
    pub format: Format,
}

/// The method.
#[derive(Debug)]
pub struct Fabric {
    built: HasFabric,
    setup: FabricSetup,
    own: FabricCard,
    book: Box<dyn FabricBook>,
    links: PeerMap<Link>,
    /// Peers towards which packets wait for the network.
    waiting: Vec<Peer>,
    found: Vec<Completion>,
    pinned: Pinned<Registration>,
    /// What is registered for memory of ours that is exposed.
    exposed: HashMap<Owner, Lease>,
    windows: Windows,
    /// Windows that peers have opened, for the next poll: the message that goes there may have been granted in this one.
    opened: Vec<(Peer, Part)>,
    transfers: Transfers,
    atomics: Atomics,
    done: VecDeque<Done>,
    lost: VecDeque<(Peer, Error)>,
    listening: Listening,
    farewells: Vec<Farewell>,
    turns: Rarely,
    /// The endpoint itself is broken.
    broken: bool,
    /// Everything is over.
    is_leaving: bool,
    endpoint: Endpoint,
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    _built: HasFabric,
    fabric: &'a mut Fabric,
    to: Peer,
    len: usize,
    /// None for a peer that is down.
    slot: Option<Slot>,
}

impl Fabric {
    /// Opens an endpoint of the provider that the settings name, or of the best one; the business card is for the other processes.
    ///
    /// # Errors
    /// When there is no libfabric, or no provider in it that can be used.
    pub fn new(setup: FabricSetup, config: &Config, book: Box<dyn FabricBook>) -> Result<(Self, FabricCard)> {
        let built = HasFabric::proof("fabric")?;
        let file = config.fabric_library.as_deref().unwrap_or(FILE);
        let library = Library::open(file).map_err(|e| {
            Error::system(format!("loading libfabric from {file} (POSTHASTE_FABRIC_LIBRARY)"), e)
        })?;
        let (provider, domain) = config.fabric_wanted();
        let wrong = |e| {
            let version = library.version();
            Error::system(
                format!("looking for a network with libfabric {version} (POSTHASTE_FABRIC_PROVIDER)"),
                e,
            )
        };
        let found = library.providers(Wanted { provider, domain, atomics: false }).map_err(wrong)?;
        let flaw = found.iter().find_map(|found| Some(format!("{}: {}", found.name(), found.flaw()?)));
        let mut usable = found.into_iter().filter(|found| found.flaw().is_none());
        let chosen = usable.find(|found| provider.is_some() || !found.is_second_choice());
        let chosen = chosen.ok_or_else(|| {
            let why = flaw.map_or(String::new(), |flaw| format!(" ({flaw})"));
            wrong(std::io::Error::other(format!("there is none that can be used{why}")))
        })?;
        let wants = match config.fabric_atomics {
            FabricAtomics::Auto => chosen.needs_no_help(),
            FabricAtomics::On => true,
            FabricAtomics::Off => false,
        };
        let chosen = if wants { chosen.with_atomics().unwrap_or(chosen) } else { chosen };
        let sizes = Sizes { packet: BUFFER, sends: SENDS, receives: RECEIVES, transfers: TRANSFERS };
        let name = chosen.to_string();
        let doing = || format!("opening an endpoint of libfabric's provider {name}");
        let provider = chosen.name();
        let endpoint = Endpoint::open(chosen, sizes).map_err(|e| Error::system(doing(), e))?;
        let own = FabricCard { format: setup.format, provider, address: endpoint.address().to_vec() };
        let fabric = Self {
            built,
            setup,
            own: own.clone(),
            book,
            links: PeerMap::default(),
            waiting: Vec::new(),
            found: Vec::new(),
            pinned: Pinned::new(config.leave_pinned, config.pinned_bytes),
            exposed: HashMap::new(),
            windows: Windows::new(config.pipeline_part.min(endpoint.longest_transfer())),
            opened: Vec::new(),
            transfers: Transfers::default(),
            atomics: Atomics::new(&endpoint),
            done: VecDeque::new(),
            lost: VecDeque::new(),
            listening: Listening::new(config),
            farewells: Vec::new(),
            turns: Rarely::default(),
            broken: false,
            is_leaving: false,
            endpoint,
        };
        Ok((fabric, own))
    }

    /// The provider, and where it leads.
    pub fn provider(&self) -> String {
        self.endpoint.provider().to_string()
    }

    /// Other peers are polled, too: most polls leave the network alone.
    #[must_use]
    pub fn sharing(mut self) -> Self {
        self.turns.share();
        self
    }

    /// Adds what a sleeper has to watch to this set; without it, sleepers stay awake.
    pub fn watch_in(&self, set: &Arc<Set>) -> bool {
        self.endpoint.wait_fd().is_some_and(|fd| set.add(&fd, TOKEN, false).is_ok())
    }

    fn known(&mut self, peer: Peer) -> Option<&mut Link> {
        self.links.get_mut(peer)
    }

    /// The link to a peer, made on first use; `None` if there can be none.
    fn wanted(&mut self, peer: Peer) -> Option<&mut Link> {
        if peer.index() >= self.setup.peers {
            return None;
        }
        if self.links.get(peer).is_none() {
            let link = match self.reach(peer) {
                Ok(link) => link,
                Err(why) => {
                    if peer != self.setup.me {
                        self.lost.push_back((peer, why));
                    }
                    Link::down(self.setup.format)
                }
            };
            self.links.get_or_make(peer, || link);
        }
        self.known(peer)
    }

    #[cold]
    fn reach(&mut self, peer: Peer) -> Result<Link> {
        if self.broken {
            let text = format!("rank {} of the world: libfabric's endpoint is broken", peer.0);
            return Err(Error::other(ErrorClass::ProcAborted, text));
        }
        let card = self.book.card(peer)?;
        if card.provider != self.own.provider {
            let text = format!(
                "rank {} of the world uses libfabric's provider {}, this one {}: POSTHASTE_FABRIC_PROVIDER must be the same \
                 for all ranks",
                peer.0, card.provider, self.own.provider
            );
            return Err(Error::other(ErrorClass::Other, text));
        }
        let doing = || format!("reaching rank {} of the world by libfabric", peer.0);
        let remote = self.endpoint.connect(&card.address).map_err(|e| Error::system(doing(), e))?;
        let silence = Silence::of(&card.provider, &card.address);
        Ok(Link::new(remote, card.format, silence))
    }

    /// Opens a receive whose fragments come over other links as well, until [`Fabric::close`].
    pub(super) fn expose_shared(&mut self, opened: OpenReceive) {
        if let Some(link) = self.wanted(opened.from).filter(|link| !link.is_down()) {
            link.reassembly.open_shared(opened);
        }
    }

    /// Takes no more fragments for such a receive.
    pub(super) fn close(&mut self, from: Peer, receiver: RequestId) {
        if let Some(link) = self.known(from) {
            link.reassembly.close(from, receiver);
        }
    }

    /// Finds out where a peer is, if that has not been done yet.
    pub(super) fn want(&mut self, peer: Peer) {
        self.wanted(peer);
    }

    /// Whether the network leads to a peer, as far as it has reported.
    pub(super) fn stands(&self, to: Peer) -> bool {
        self.links.get(to).is_some_and(|link| !link.is_down())
    }

    /// Everything of this message is in place.
    fn landed(&mut self, receiver: RequestId) {
        for lease in self.windows.close(receiver) {
            self.pinned.release(lease);
        }
        self.done.push_back(Done::Received(receiver));
    }

    /// A packet has come: looks at it in its turn.
    fn arrived(
        &mut self,
        arrived: Arrived,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let mark = self.setup.mark;
        let bytes = self.endpoint.bytes(&arrived);
        let Some((mark, body)) = Mark::read(bytes).filter(|(read, _)| read.job == mark) else {
            counts.add(Counter::MalformedPackets, 1);
            return self.endpoint.repost(arrived);
        };
        let peer = Peer(mark.from);
        // One that we have not spoken to yet has found us.
        let turn = self.wanted(peer).map(|link| {
            link.saw(mark.seen);
            link.silence.heard();
            if mark.frame == Frame::Ask { Turn::None } else { link.turn(mark.number) }
        });
        match turn {
            Some(Turn::Now) => {
                let bytes = self.endpoint.bytes(&arrived);
                let (_, body) = bytes.split_at(bytes.len() - body);
                let later = deliver(peer, &mut self.links, mark.frame, body, counts, on);
                self.endpoint.repost(arrived);
                self.later(peer, later, counts);
            }
            Some(Turn::Later) => {
                let bytes = self.endpoint.bytes(&arrived);
                let (_, body) = bytes.split_at(bytes.len() - body);
                let body = body.to_vec();
                if let Some(link) = self.known(peer) {
                    link.store_early(mark, body);
                }
                return self.endpoint.repost(arrived);
            }
            Some(Turn::None) => return self.endpoint.repost(arrived),
            Some(Turn::Never) | None => {
                counts.add(Counter::StalePackets, 1);
                return self.endpoint.repost(arrived);
            }
        }
        while let Some((frame, body)) = self.known(peer).and_then(Link::next) {
            let later = deliver(peer, &mut self.links, frame, body[..].into(), counts, on);
            self.later(peer, later, counts);
        }
        if self.known(peer).is_some_and(Link::is_due) {
            self.transfers.send_control(peer, Frame::Seen);
        }
    }

    /// What a packet asks of the method itself.
    fn later(&mut self, peer: Peer, later: Later, counts: &mut Counts) {
        match later {
            Later::Nothing => {}
            Later::Received(receiver) => self.landed(receiver),
            Later::Window(part) => self.opened.push((peer, part)),
            Later::Filled(part) => match self.windows.filled(peer, &part) {
                None => counts.add(Counter::StalePackets, 1),
                Some(lease) => {
                    if let Some(lease) = lease {
                        self.pinned.release(lease);
                    }
                    let placed = |link: &mut Link| link.reassembly.placed(part.receiver, part.len);
                    if part.memory.is_some() && self.known(peer).is_some_and(placed) {
                        self.landed(part.receiver);
                    }
                }
            },
        }
    }

    /// Hands a packet in a buffer to the network, or queues it behind those that wait.
    fn post(&mut self, to: Peer, slot: Slot, len: usize) {
        let Some(link) = self.links.get_mut(to) else { return self.endpoint.unclaim(slot) };
        let slot = match link.remote() {
            Some(remote) if link.backlog.is_empty() => match self.endpoint.send(slot, len, remote) {
                Ok(()) => return,
                Err(NotStarted::Full(slot)) => slot,
                Err(NotStarted::Failed(slot, why)) => {
                    self.endpoint.unclaim(slot);
                    return self.lose(to, &why.to_string());
                }
            },
            Some(_) => slot,
            None => return self.endpoint.unclaim(slot),
        };
        if link.backlog.is_empty() {
            self.waiting.push(to);
        }
        link.backlog.push_back((slot, len));
    }

    /// Tries again what the network refused. Returns whether anything left.
    fn send_waiting(&mut self) -> bool {
        let mut busy = false;
        for peer in std::mem::take(&mut self.waiting) {
            let mut failed = None;
            let Some(link) = self.links.get_mut(peer) else { continue };
            let Some(remote) = link.remote() else { continue };
            while let Some((slot, len)) = link.backlog.pop_front() {
                match self.endpoint.send(slot, len, remote) {
                    Ok(()) => busy = true,
                    Err(NotStarted::Full(slot)) => {
                        link.backlog.push_front((slot, len));
                        break;
                    }
                    Err(NotStarted::Failed(slot, why)) => {
                        self.endpoint.unclaim(slot);
                        failed = Some(why);
                        break;
                    }
                }
            }
            if let Some(why) = failed {
                self.lose(peer, &why.to_string());
            } else if !link.backlog.is_empty() {
                self.waiting.push(peer);
            }
        }
        busy
    }

    /// A peer cannot be reached any more.
    #[cold]
    pub(super) fn lose(&mut self, peer: Peer, why: &str) {
        if self.links.get(peer).is_none_or(Link::is_down) {
            return;
        }
        self.shut(peer);
        // So is the peer; and a process is not lost to itself, though the network may not lead back to it.
        if self.is_leaving || peer == self.setup.me {
            return;
        }
        self.report(peer, why);
    }

    fn report(&mut self, peer: Peer, why: &str) {
        let text =
            format!("rank {} of the world is lost to libfabric's {}: {why}", peer.0, self.own.provider);
        self.lost.push_back((peer, Error::other(ErrorClass::ProcAborted, text)));
    }

    /// Forgets everything about a peer but that it is down.
    fn shut(&mut self, peer: Peer) {
        let format = self.setup.format;
        let link = self.links.get_or_make(peer, || Link::down(format));
        let backlog = std::mem::take(&mut link.backlog);
        *link = Link::down(link.format);
        for (slot, _) in backlog {
            self.endpoint.unclaim(slot);
        }
        self.waiting.retain(|other| *other != peer);
        // Should it live, it may write there.
        for lease in self.windows.lose(peer) {
            self.pinned.revoke(lease);
        }
        self.transfers.lose(peer);
        let ended = self.atomics.lose(peer);
        if peer == self.setup.me {
            let over = |owner| Done::Over(owner, Outcome::Unreadable);
            self.done.extend(ended.into_iter().map(over));
        }
    }

    /// The endpoint is broken, and with it every link.
    #[cold]
    fn give_up(&mut self, why: &std::io::Error) {
        self.broken = true;
        for peer in self.links.iter().map(|(peer, _)| peer).collect::<Vec<_>>() {
            self.lose(peer, &why.to_string());
        }
        // Of those that were lost before nothing more is heard, either.
        for peer in self.transfers.peers() {
            self.report(peer, &why.to_string());
        }
    }
}

/// A registration of user memory (address, length).
fn pin(
    pinned: &mut Pinned<Registration>,
    endpoint: &mut Endpoint,
    (address, len): (usize, usize),
    writing: bool,
) -> std::io::Result<Lease> {
    pinned.acquire(address, len, writing, |start, len| {
        let registration = endpoint.register(start, len)?;
        let writable = registration.is_writable();
        Ok((registration, writable))
    })
}

fn memory_in(registration: &Registration, address: usize) -> RemoteMemory {
    let (address, key) = registration.place(address);
    RemoteMemory::Address { address, key }
}

/// What a packet asks of the method itself.
enum Later {
    Nothing,
    Received(RequestId),
    Window(Part),
    Filled(Part),
}

/// Looks at a packet whose turn it is.
fn deliver(
    peer: Peer,
    links: &mut PeerMap<Link>,
    frame: Frame,
    body: Source<'_>,
    counts: &mut Counts,
    on: &mut impl FnMut(Event<'_>, &mut Counts),
) -> Later {
    let Some(link) = links.get_mut(peer) else { return Later::Nothing };
    match frame {
        Frame::Throttle | Frame::Resume => {
            link.throttled = frame == Frame::Throttle;
            return Later::Nothing;
        }
        Frame::Bye => {
            link.is_leaving = true;
            return Later::Nothing;
        }
        Frame::Seen | Frame::Ask => return Later::Nothing,
        Frame::Packet => {}
    }
    let (front, payload) = body.split_at(HEADER);
    let mut header = [0; HEADER];
    let packet = if front.copy_to(&mut header) == HEADER {
        Packet::parse(&header, payload)
    } else {
        Err(crate::wire::Malformed)
    };
    match packet {
        Ok(Packet::Data { receiver, offset, data }) => {
            match link.reassembly.fragment(peer, receiver, offset, data, counts) {
                Some(Event::Received(receiver)) => return Later::Received(receiver),
                Some(placed) => on(placed, counts),
                None => {}
            }
        }
        Ok(Packet::Window(part)) => return Later::Window(part),
        Ok(Packet::Filled(part)) => return Later::Filled(part),
        Ok(packet) => on(Event::Packet(peer, packet), counts),
        Err(_) => counts.add(Counter::MalformedPackets, 1),
    }
    Later::Nothing
}

impl Method for Fabric {
    type To = Peer;
    type Claim<'a> = Claim<'a>;
    const COUNTERS: Counters = Counters {
        eager: Counter::EagerFabric,
        get: Counter::GetFabric,
        put: Counter::PutFabric,
        write: Counter::WriteFabric,
        pipeline: Counter::PipelineFabric,
    };

    fn caps(&mut self, _: Peer) -> Caps {
        let registers = !self.pinned.caches();
        Caps { packet: PACKET, get: true, put: true, windows: true, registers, ..Caps::default() }
    }

    /// Whether the numbers of this peer look different from ours.
    fn is_heterogeneous(&mut self, to: Peer) -> bool {
        let own = self.setup.format;
        self.wanted(to).is_some_and(|link| link.format != own)
    }

    #[inline]
    fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        let is_message = load == Load::Message;
        match self.wanted(to) {
            Some(link) if link.is_down() => {
                // Messages wait for the bad news; everything else disappears.
                return (!is_message).then_some(Claim {
                    _built: self.built,
                    fabric: self,
                    to,
                    len,
                    slot: None,
                });
            }
            // What waits for the network has a buffer: a peer that does not look takes no more of them.
            Some(link) if is_message && (link.throttled || !link.has_room() || !link.backlog.is_empty()) => {
                return None;
            }
            Some(_) => {}
            None => return None,
        }
        let reserve = if is_message { RESERVE } else { 0 };
        if len > PACKET || self.endpoint.free() <= reserve {
            return None;
        }
        let slot = self.endpoint.claim()?;
        Some(Claim { _built: self.built, fabric: self, to, len, slot: Some(slot) })
    }

    fn attend(&mut self, to: Peer) {
        self.wanted(to);
    }

    fn throttle(&mut self, from: Peer, on: bool) {
        let frame = if on { Frame::Throttle } else { Frame::Resume };
        if self.wanted(from).is_some_and(|link| !link.is_down()) {
            self.transfers.send_control(from, frame);
        }
    }

    fn expose(&mut self, memory: &Segment, access: Access, owner: Owner) -> Option<RemoteMemory> {
        let (memory, len) = memory.contiguous_rest()?;
        if !self.exposed.contains_key(&owner) {
            let run = (memory.address(), len as usize);
            let lease = pin(&mut self.pinned, &mut self.endpoint, run, access == Access::Write).ok()?;
            self.exposed.insert(owner, lease);
        }
        let lease = self.exposed.get(&owner)?;
        Some(memory_in(self.pinned.region(lease), memory.address()))
    }

    fn forget(&mut self, owner: Owner) {
        if let Some(lease) = self.exposed.remove(&owner) {
            self.pinned.release(lease);
        }
    }

    fn revoke(&mut self, owner: Owner) {
        if let Some(lease) = self.exposed.remove(&owner) {
            self.pinned.revoke(lease);
        }
    }

    fn get(&mut self, from: Peer, transfer: Transfer) -> std::result::Result<(), Transfer> {
        self.start_transfer(from, transfer, Purpose::Get)
    }

    fn put(&mut self, to: Peer, transfer: Transfer) -> std::result::Result<(), Transfer> {
        self.start_transfer(to, transfer, Purpose::Put)
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        let until = self.windows.take(&opened);
        let Some(link) = self.known(opened.from) else { return Granted::Fragments };
        link.reassembly.open(opened);
        until.map_or(Granted::Fragments, |until| Granted::Windows { until })
    }

    fn pin(&mut self, segment: &Segment, writing: bool) -> Option<Pin> {
        let (memory, len) = segment.contiguous_rest().filter(|(_, len)| *len > PACKET as u64)?;
        let endpoint = &mut self.endpoint;
        let register = |start, len| {
            let registration = endpoint.register(start, len)?;
            let writable = registration.is_writable();
            Ok((registration, writable))
        };
        self.pinned.pin(memory.address(), len as usize, writing, register).ok()
    }

    fn unpin(&mut self, pin: Pin) {
        self.pinned.unpin(pin);
    }

    /// Says good-bye to all peers that were spoken to.
    fn begin_leaving(&mut self) {
        self.is_leaving = true;
        for (peer, _) in self.links.iter().filter(|(_, link)| !link.is_down()) {
            self.transfers.send_control(peer, Frame::Bye);
        }
    }

    /// Whether all these peers have done so, too: closing earlier could cut off what they have not read.
    fn has_left(&self) -> bool {
        let has = |link: &Link| link.is_down() || link.is_leaving;
        self.is_drained() && self.links.iter().all(|(_, link)| has(link))
    }

    /// Whether nothing waits here that a sleeper would not be woken for.
    fn is_quiet(&self) -> bool {
        self.is_drained() && self.lost.is_empty() && self.farewells.is_empty() && self.endpoint.may_sleep()
    }

    /// Whether everything handed over has left.
    fn is_drained(&self) -> bool {
        self.broken
            || self.waiting.is_empty()
                && self.done.is_empty()
                && self.opened.is_empty()
                && self.transfers.is_empty()
                && self.atomics.is_empty()
                && self.endpoint.is_drained()
    }

    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        for (peer, part) in std::mem::take(&mut self.opened) {
            if !self.fill(peer, part) {
                counts.add(Counter::StalePackets, 1);
            }
        }
        if self.turns.is_due() {
            if !self.broken
                && let Err(why) = self.endpoint.poll(&mut self.found)
            {
                self.give_up(&why);
            }
            self.turns.looked(!self.found.is_empty());
        }
        let mut busy = !self.found.is_empty();
        let mut found = std::mem::take(&mut self.found);
        for completion in found.drain(..) {
            match completion {
                Completion::Arrived(arrived) => self.arrived(arrived, counts, on),
                Completion::Sent => {}
                Completion::Moved(token) => self.moved(token, None),
                Completion::Failed(token, why) => self.moved(token, Some(why)),
                Completion::Changed(token, ended) => self.changed(token, ended),
                Completion::Lost(remote, why) => {
                    let found =
                        self.links.iter().find(|(_, link)| link.leads_to(remote)).map(|(peer, _)| peer);
                    if let Some(peer) = found {
                        self.lose(peer, &why.to_string());
                    }
                }
            }
        }
        self.found = found;
        if !self.waiting.is_empty() {
            busy |= self.send_waiting();
        }
        if !self.farewells.is_empty() {
            busy |= self.send_farewells();
        }
        if self.listening.is_time() {
            self.ask_the_silent();
        }
        busy |= self.advance();
        if !self.atomics.is_empty() {
            busy |= self.advance_changes();
        }
        busy | report(&mut self.done, &mut self.lost, counts, on)
    }

    fn has_room(&mut self, to: Peer, len: usize, load: Load) -> bool {
        self.claim(to, len, load).is_some_and(Claim::abandon)
    }

    fn send_granted(&mut self, _: Peer, send: GrantedSend) {
        self.start_granted(send);
    }

    /// The network may be reading or writing for the peer: when it has ended that, the peer is reported.
    fn exclude(&mut self, peer: Peer) -> bool {
        // It has to hear of it, also if nothing was ever sent there.
        if !self.is_leaving {
            self.wanted(peer);
        }
        self.say_farewell(peer);
        self.shut(peer);
        self.is_moving(peer)
    }

    fn is_moving(&self, peer: Peer) -> bool {
        !self.broken && self.transfers.are_under_way(peer)
    }

    fn look_soon(&mut self) {
        self.look_at_network();
    }
}

impl Room for Claim<'_> {
    #[inline]
    fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        self.write_with(emit, packing(data));
    }
}

impl Claim<'_> {
    /// Gives the room back; it was only asked whether there is some.
    pub(super) fn abandon(self) -> bool {
        if let Some(slot) = self.slot {
            self.fabric.endpoint.unclaim(slot);
        }
        true
    }

    /// The same with `data` writing what stands behind the front of the packet.
    #[inline]
    pub(super) fn write_with(self, emit: &Emit, data: impl FnOnce(Sink<'_>)) {
        let Self { fabric, to, len, slot, .. } = self;
        let Some(slot) = slot else { return };
        fabric.windows.granted(emit);
        let FabricSetup { me, mark, .. } = fabric.setup;
        let mark = fabric.known(to).map(|link| link.mark(mark, me.0, Frame::Packet));
        let Some(mark) = mark else { return fabric.endpoint.unclaim(slot) };
        let (mut front, rest) = fabric.endpoint.sink(&slot).split_at(PREAMBLE + HEADER);
        let (mut preamble, mut header) = front.reborrow().split_at(PREAMBLE);
        preamble.copy_from(&mark.write());
        header.copy_from(&emit.header);
        let (payload, _) = rest.split_at(len);
        data(emit.write_front(payload));
        fabric.post(to, slot, PREAMBLE + HEADER + len);
    }
}

impl Fabric {
    /// Sends one of the method's own frames; false while there is no room.
    fn send_frame(&mut self, to: Peer, frame: Frame) -> bool {
        let Some(slot) = self.endpoint.claim() else { return false };
        let FabricSetup { me, mark, .. } = self.setup;
        let Some(mark) = self.known(to).map(|link| link.mark(mark, me.0, frame)) else {
            self.endpoint.unclaim(slot);
            return true;
        };
        self.endpoint.sink(&slot).copy_from(&mark.write());
        self.post(to, slot, PREAMBLE);
        true
    }
}
