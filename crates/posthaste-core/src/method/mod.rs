//! Methods: the ways bytes travel between processes, and the whole contract between them and the engine.
//!
//! The contract:
//!
//! * [`Methods::claim`] gives room for one packet, or `None` while there is none; writing it commits it.
//! * [`Methods::hold_back`] keeps a peer from sending further messages: its claims for them are refused, soon if not at
//!   once. Everything else it sends still finds room.
//! * [`Methods::offer_stream`], [`Methods::offer_memory`] and [`Methods::offer_shared`] make a long message reachable
//!   for the receiver, [`Methods::get`] brings it;
//! * [`Methods::expose`] opens a receive for fragments, [`Methods::put`] sends them. Data packets that arrive for
//!   an exposed receive are the method's own business: the engine hears only [`Event::Received`].
//! * [`Methods::send_in_place`] sends a whole message in one packet without copying it. Its beginning is told
//!   ([`Event::Arriving`]); a receive that the engine opens before the next poll ([`Methods::receive_arriving`]) takes
//!   the data, else the method keeps it and hands it over ([`Event::Arrived`]).
//! * [`Methods::poll`] tells what happened.
//! * A method says once that it has lost a peer ([`Event::PeerDown`]). Messages to that peer find no room from then on;
//!   everything else towards it disappears.
//! * A method may let short packets gather; [`Methods::flush_gathered`] sends them, and so does every poll.
//!
//! What must stay true: packets between two processes stay in order; a segment handed to a method comes back
//! only through [`Event::Refused`]; nothing here knows what a message is for.

mod features;
pub mod bundle;
mod contract;
pub mod fabric;
pub mod reassembly;
pub mod loopback;
pub mod pinned;
pub mod plugin;
mod rarely;
mod routes;
pub mod shm;
pub mod sim;
pub mod tcp;
pub mod windows;

use std::sync::Arc;
use std::time::Duration;

use posthaste_os::heap::Heap;
use posthaste_os::machine;
pub use posthaste_os::ring::Load;

use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::trace::{Counter, Counts};
use crate::wire::{Emit, Envelope, Granted, Offer, Packet, Place, Through};

use bundle::Bundle;
pub use contract::{Caps, Event, Expose, Get, Put, SHORT_RUN};
use contract::{Done, packing, tell};
use fabric::Fabric;
use loopback::Loopback;
use plugin::Plugin;
pub use routes::{Route, Routes};
use shm::Shm;
use sim::Sim;
use tcp::Tcp;

/// What [`Methods::take_next`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing has arrived.
    Nothing,
    /// A packet, which was taken.
    Taken,
    /// Something that needs the general way.
    Left,
}

/// All methods of this process and the way to each peer.
#[derive(Debug)]
pub struct Methods {
    routes: Routes,
    loopback: Loopback,
    shm: Option<Shm>,
    tcp: Option<Tcp>,
    fabric: Option<Fabric>,
    bundle: Option<Bundle>,
    plugin: Option<Plugin>,
    sim: Option<Sim>,
    /// Counts of messages and bytes, by protocol and method.
    pub counts: Counts,
}

/// Room for one packet on its way to a peer.
#[derive(Debug)]
pub enum Claim<'a> {
    /// In the queue to ourselves.
    Loopback(loopback::Claim<'a>),
    /// In a ring.
    Shm(shm::Claim<'a>),
    /// In the buffer of a connection.
    Tcp(tcp::Claim<'a>),
    /// In a buffer that the network sends from.
    Fabric(fabric::Claim<'a>),
    /// Among what is kept for all links.
    Bundle(bundle::Claim<'a>),
    /// On its way into a plug-in.
    Plugin(plugin::Claim<'a>),
    /// In the simulated network.
    Sim(sim::Claim<'a>),
}

/// A buffer that networks know.
#[derive(Debug, Default)]
pub struct Holds {
    fabric: Option<pinned::Hold>,
    sim: Option<pinned::Hold>,
}

impl Methods {
    /// The methods with the way to each peer.
    pub fn new(routes: Routes, shm: Option<Shm>, tcp: Option<Tcp>, sim: Option<Sim>, me: Peer) -> Self {
        // Of those that a network leads to the network tells, when what they have sent has come.
        let shm = shm.map(|shm| shm.watching(|peer| matches!(routes.to(peer), Route::Shm(_))));
        Self {
            routes,
            loopback: Loopback::new(me),
            shm,
            tcp,
            fabric: None,
            bundle: None,
            plugin: None,
            sim,
            counts: Counts::default(),
        }
    }

    /// The same with a network of libfabric.
    #[must_use]
    pub fn with_fabric(self, fabric: Option<Fabric>) -> Self {
        Self { fabric, ..self }
    }

    /// The same with a bundle of links.
    #[must_use]
    pub fn with_bundle(self, bundle: Option<Bundle>) -> Self {
        Self { bundle, ..self }
    }

    /// The same with a method from a plug-in.
    #[must_use]
    pub fn with_plugin(self, plugin: Option<Plugin>) -> Self {
        Self { plugin, ..self }
    }

    /// The way to a peer ([`Routes::to`]).
    #[inline(always)]
    pub fn route(&self, to: Peer) -> Route {
        self.routes.to(to)
    }

    /// How each peer is reached, in words.
    pub fn ways(&self) -> impl Fn(Peer) -> &'static str + Send + Sync + use<> {
        let (routes, links) = (self.routes.clone(), self.bundle.as_ref().map(Bundle::name));
        move |peer| match (routes.to(peer), links) {
            (Route::Bundle, Some(links)) => links,
            (route, _) => route.name(),
        }
    }

    /// Takes in a process that this one meets, behind all others: its number.
    pub fn join(&mut self, route: Route) -> Peer {
        self.routes.add(route)
    }

    /// From now on this peer is the one with this address in the simulated network.
    pub fn name_simulated(&mut self, peer: Peer, address: Peer) {
        self.sim().name(peer, address);
    }

    /// What the way to `to` can do.
    pub fn caps(&mut self, to: Peer) -> Caps {
        match self.route(to) {
            Route::Loopback => self.loopback.caps(),
            Route::Shm(rank) => self.shm().caps(rank as usize),
            Route::Tcp => self.tcp().caps(),
            Route::Fabric => self.fabric().caps(),
            Route::Bundle => self.bundle().caps(),
            Route::Plugin => self.plugin().caps(),
            Route::Sim => self.sim().caps(),
        }
    }

    /// Whether data for this peer has to travel in the canonical form. On one host formats are alike, or the job does
    /// not start.
    #[inline]
    pub fn is_heterogeneous(&mut self, to: Peer) -> bool {
        match self.route(to) {
            Route::Loopback | Route::Shm(_) => false,
            Route::Tcp => self.tcp().is_heterogeneous(to),
            Route::Fabric => self.fabric().is_heterogeneous(to),
            Route::Bundle => self.bundle().is_heterogeneous(to),
            Route::Plugin => self.plugin().is_heterogeneous(to),
            Route::Sim => self.sim.as_ref().is_some_and(|sim| sim.is_heterogeneous(to)),
        }
    }

    /// Whether [`Methods::claim`] would give room.
    pub fn has_room(&mut self, to: Peer, len: usize, load: Load) -> bool {
        match self.route(to) {
            Route::Loopback => self.loopback.has_room(load),
            Route::Fabric => match self.fabric().claim(to, len, load) {
                Some(claim) => claim.abandon(),
                None => false,
            },
            Route::Shm(_) | Route::Tcp | Route::Bundle | Route::Plugin | Route::Sim => {
                self.claim(to, len, load).is_some()
            }
        }
    }

    /// Room for a packet with `len` bytes of payload, or `None` while there is none, or while the packet is a message
    /// and the peer holds those back.
    #[inline]
    pub fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        match self.route(to) {
            Route::Shm(rank) => match &mut self.shm {
                Some(shm) => shm.claim(rank as usize, len, load).map(Claim::Shm),
                None => None,
            },
            Route::Loopback => self.loopback.claim(len, load).map(Claim::Loopback),
            Route::Tcp => self.tcp().claim(to, len, load).map(Claim::Tcp),
            Route::Fabric => self.fabric().claim(to, len, load).map(Claim::Fabric),
            Route::Bundle => self.bundle().claim(to, len, load).map(Claim::Bundle),
            Route::Plugin => self.plugin().claim(to, len, load).map(Claim::Plugin),
            Route::Sim => self.sim().claim(to, len, load).map(Claim::Sim),
        }
    }

    /// Holds back the messages of a peer that have not left yet, or lets them come again.
    pub fn hold_back(&mut self, from: Peer, hold: bool) {
        match self.route(from) {
            Route::Shm(rank) => self.shm().hold_back(rank as usize, hold),
            Route::Loopback => self.loopback.hold_back(hold),
            Route::Tcp => self.tcp().hold_back(from, hold),
            Route::Fabric => self.fabric().hold_back(from, hold),
            Route::Bundle => self.bundle().hold_back(from, hold),
            Route::Plugin => self.plugin().hold_back(from, hold),
            Route::Sim => self.sim().hold_back(from, hold),
        }
    }

    /// The time, by the clock of the simulated network where there is one.
    pub fn now(&self) -> Duration {
        self.sim.as_ref().map_or_else(machine::now, Sim::now)
    }

    /// The process that these methods belong to.
    pub fn me(&self) -> Peer {
        self.loopback.me()
    }

    /// Sends a whole short message in one packet, if there is room for it now. This is the first half of the
    /// fast path: for a peer on this host, a claim in the ring, three words of header, the data, one store. The packet
    /// says nothing of types.
    #[inline(always)]
    pub fn send_eager(&mut self, to: Peer, envelope: &Envelope, segment: &mut Segment) -> bool {
        let len = envelope.len as usize;
        if let (Route::Shm(rank), Some(shm)) = (self.route(to), &mut self.shm)
            && !envelope.context.spans_jobs()
        {
            let Some(claim) = shm.claim(rank as usize, len, Load::Message) else { return false };
            claim.write_eager(envelope, segment);
            self.counts.message(Counter::EagerShm, envelope.len);
            return true;
        }
        self.send_eager_elsewhere(to, envelope, segment)
    }

    #[inline(never)]
    fn send_eager_elsewhere(&mut self, to: Peer, envelope: &Envelope, segment: &mut Segment) -> bool {
        if self.is_heterogeneous(to) {
            return false; // has to be converted first
        }
        let counter = self.eager_counter(to);
        let len = envelope.front() + envelope.len as usize;
        let Some(claim) = self.claim(to, len, Load::Message) else { return false };
        claim.write(&Emit::eager(envelope), Some(segment));
        self.counts.message(counter, envelope.len);
        true
    }

    /// Sends a whole message of medium length through the bounce buffer that we keep at the receiver, if that is free
    /// and the message fits: copied in, told, done, without a request.
    #[inline]
    pub fn send_buffered(&mut self, to: Peer, envelope: &Envelope, segment: &mut Segment) -> bool {
        match (self.route(to), &mut self.shm) {
            (Route::Shm(rank), Some(shm)) => shm.send_buffered(rank as usize, envelope, segment),
            _ => false,
        }
    }

    /// Copies out a message that lies whole in a bounce buffer.
    #[inline]
    pub fn drain_whole(&mut self, from: Peer, through: Through, segment: &mut Segment, len: u64) {
        if let (Route::Shm(rank), Some(shm)) = (self.route(from), &mut self.shm) {
            shm.drain_whole(rank as usize, through, segment, len);
            self.counts.message(Counter::StreamShm, len);
        }
    }

    /// Whether [`Methods::take_next`] would certainly find something: as cheap as a look can be.
    #[inline(always)]
    pub fn is_next_there(&mut self, from: Peer) -> bool {
        match (self.route(from), &mut self.shm) {
            (Route::Shm(rank), Some(shm)) => shm.is_next_there(rank as usize),
            (Route::Tcp, _) => self.tcp.as_ref().is_some_and(|tcp| tcp.is_next_there(from)),
            _ => false,
        }
    }

    /// The second half of the fast path: shows the next packet from `from`, if one has arrived, to `take`, which
    /// says whether it has taken it. What is not taken is [`Methods::poll`]'s.
    #[inline(always)]
    pub fn take_next(&mut self, from: Peer, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        if let (Route::Shm(rank), Some(shm)) = (self.route(from), &mut self.shm) {
            return shm.take_next(rank as usize, take);
        }
        match (self.route(from), &mut self.tcp, &mut self.sim) {
            (Route::Tcp, Some(tcp), _) => tcp.take_next(from, take),
            (Route::Sim, _, Some(sim)) => sim.take_next(from, take),
            _ => Next::Left,
        }
    }

    /// As [`Methods::take_next`] for the packets that are next from each process of this host: the first one decides. What
    /// may come from others needs the general way.
    #[inline]
    pub fn take_next_of_any(&mut self, take: impl FnMut(Peer, &Packet<'_>) -> bool) -> Next {
        let next = self.shm.as_mut().map_or(Next::Left, |shm| shm.take_next_of_any(take));
        let elsewhere =
            self.tcp.is_some() || self.fabric.is_some() || self.bundle.is_some() || self.plugin.is_some();
        if next == Next::Nothing && elsewhere { Next::Left } else { next }
    }

    /// Sends a packet without message data; false while there is no room.
    pub fn send(&mut self, to: Peer, emit: &Emit) -> bool {
        let Some(claim) = self.claim(to, emit.front().len(), Load::Control) else { return false };
        claim.write(emit, None);
        true
    }

    /// Begins to copy a long message through a buffer: the offer, and whether all of it has left already (then no
    /// [`Event::Sent`] follows). `ready`: its receive is promised to be posted. `None`: not possible at this time.
    pub fn offer_stream(
        &mut self,
        to: Peer,
        sender: RequestId,
        segment: &Segment,
        ready: bool,
    ) -> Option<(Offer, bool)> {
        match self.route(to) {
            Route::Shm(rank) => self.shm().offer_stream(rank as usize, sender, segment, ready),
            Route::Loopback | Route::Tcp | Route::Fabric | Route::Bundle | Route::Plugin | Route::Sim => None,
        }
    }

    /// Makes a long message readable where it lies.
    pub fn offer_memory(&mut self, to: Peer, sender: RequestId, segment: &Segment) -> Option<Offer> {
        match self.route(to) {
            Route::Shm(_) => {
                let (buffer, _) = segment.contiguous_rest()?;
                Some(Offer::Memory(Place { address: buffer.address() as u64, key: 0 }))
            }
            Route::Loopback => Some(self.loopback.offer(sender, segment)),
            Route::Tcp | Route::Bundle | Route::Plugin => None,
            Route::Fabric => self.fabric().offer(sender, segment),
            Route::Sim => self.sim().offer(sender, segment),
        }
    }

    /// Tells where a long message lies in memory that this process shares with its peers, if it lies there.
    pub fn offer_shared(&mut self, to: Peer, segment: &Segment) -> Option<Offer> {
        self.shared_place(to, segment).map(|place| Offer::Shared { place })
    }

    /// The memory that this process shares with its peers, if it has peers to share with.
    pub fn heap(&self) -> Option<&Arc<Heap>> {
        self.shm.as_ref().map(Shm::heap)
    }

    /// Whether [`Methods::offer_shared`] would offer anything.
    #[inline]
    pub fn lies_shared(&self, to: Peer, segment: &Segment) -> bool {
        self.shared_place(to, segment).is_some()
    }

    #[inline]
    fn shared_place(&self, to: Peer, segment: &Segment) -> Option<u64> {
        match (self.route(to), &self.shm) {
            (Route::Shm(_), Some(shm)) => shm.shared_place(segment),
            _ => None,
        }
    }

    /// Takes back what [`Methods::offer_memory`] made readable: nobody will ask for it.
    pub fn withdraw(&mut self, to: Peer, sender: RequestId) {
        match self.route(to) {
            Route::Shm(_) | Route::Tcp | Route::Bundle | Route::Plugin => {}
            Route::Loopback => self.loopback.withdraw(sender),
            Route::Fabric => self.fabric().withdraw(sender),
            Route::Sim => self.sim().withdraw(sender),
        }
    }

    /// Brings a long message; ends with [`Event::Received`] or [`Event::Refused`].
    pub fn get(&mut self, get: Get) {
        match (self.route(get.from), get.offer) {
            (Route::Loopback, _) => self.loopback.get(get),
            (Route::Shm(rank), _) => self.shm().get(rank as usize, get),
            (Route::Tcp, _) => self.tcp().get(get),
            (Route::Fabric, _) => self.fabric().get(get),
            (Route::Bundle, _) => self.bundle().get(get),
            (Route::Plugin, _) => self.plugin().get(get),
            (Route::Sim, _) => self.sim().get(get),
        }
    }

    /// The offer of a process that is lost is not taken.
    pub fn decline(&mut self, from: Peer, offer: Offer) {
        if let (Route::Shm(_), Some(shm), Offer::Stream { through, .. }) =
            (self.route(from), &self.shm, offer)
        {
            shm.decline(through);
        }
    }

    /// This process sends no more messages of its own: what it waits for now can only come from those that have not left.
    pub fn begin_finalizing(&mut self) {
        if let Some(shm) = &mut self.shm {
            shm.begin_finalizing();
        }
    }

    /// Opens a receive for what is granted, and says how it is to come; ends with [`Event::Received`].
    pub fn expose(&mut self, expose: Expose) -> Granted {
        match self.route(expose.from) {
            Route::Shm(_) => self.shm().expose(expose),
            Route::Fabric => self.fabric().expose(expose),
            Route::Sim => self.sim().expose(expose),
            Route::Tcp => {
                self.tcp().expose(expose);
                Granted::Fragments
            }
            Route::Bundle => {
                self.bundle().expose(expose);
                Granted::Fragments
            }
            Route::Plugin => {
                self.plugin().expose(expose);
                Granted::Fragments
            }
            Route::Loopback => {
                self.loopback.reassembly.open(expose);
                Granted::Fragments
            }
        }
    }

    /// Sends a whole message in one packet from where it lies, if there is room for it: whether all of it has left
    /// already; otherwise it ends with [`Event::Sent`].
    ///
    /// # Errors
    /// The message, if there is no room.
    pub fn send_in_place(
        &mut self,
        to: Peer,
        emit: &Emit,
        sender: RequestId,
        segment: Segment,
    ) -> Result<bool, Segment> {
        match self.route(to) {
            Route::Tcp => self.tcp().send_in_place(to, emit, sender, segment),
            _ => Err(segment),
        }
    }

    /// Opens a receive for the message that begins to arrive; ends with [`Event::Received`].
    pub fn receive_arriving(&mut self, expose: Expose) {
        if let Route::Tcp = self.route(expose.from) {
            self.tcp().receive_arriving(expose);
        }
    }

    /// Sends a message that was granted; ends with [`Event::Sent`].
    pub fn put(&mut self, put: Put) {
        match self.route(put.to) {
            Route::Loopback => self.loopback.put(put),
            Route::Shm(rank) => self.shm().put(rank as usize, put),
            Route::Tcp => self.tcp().put(put),
            Route::Fabric => self.fabric().put(put),
            Route::Bundle => self.bundle().put(put),
            Route::Plugin => self.plugin().put(put),
            Route::Sim => self.sim().put(put),
        }
    }

    /// Makes a buffer known to the networks that want that, for messages that are sent from it or received into it again
    /// and again. The buffer stays until [`Methods::let_go`].
    pub fn hold(&mut self, segment: &Segment, writing: bool) -> Holds {
        if segment.is_on_device() {
            return Holds { fabric: None, sim: None };
        }
        let fabric = self.fabric.as_mut().and_then(|fabric| fabric.hold(segment, writing));
        let sim = self.sim.as_mut().and_then(|sim| sim.hold(segment, writing));
        Holds { fabric, sim }
    }

    /// Ends that.
    pub fn let_go(&mut self, Holds { fabric, sim }: Holds) {
        if let (Some(method), Some(hold)) = (&mut self.fabric, fabric) {
            method.let_go(hold);
        }
        if let (Some(method), Some(hold)) = (&mut self.sim, sim) {
            method.let_go(hold);
        }
    }

    /// Looks at all methods once; tells `on` what happened. Returns whether anything did.
    #[inline]
    pub fn poll(&mut self, mut on: impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
        let counts = &mut self.counts;
        if let Some(shm) = &mut self.shm {
            busy |= shm.poll(counts, &mut on);
        }
        if !self.loopback.is_idle() {
            busy |= self.loopback.poll(counts, &mut on);
        }
        if let Some(tcp) = &mut self.tcp {
            busy |= tcp.poll(counts, &mut on);
        }
        if let Some(fabric) = &mut self.fabric {
            busy |= fabric.poll(counts, &mut on);
        }
        if let Some(bundle) = &mut self.bundle {
            busy |= bundle.poll(counts, &mut on);
        }
        if let Some(plugin) = &mut self.plugin {
            busy |= plugin.poll(counts, &mut on);
        }
        if let Some(sim) = &mut self.sim {
            busy |= sim.poll(counts, &mut on);
        }
        busy
    }

    /// Whether no long message is being copied by this process; a sleeper must not stop such a copy.
    pub fn is_quiet(&self) -> bool {
        self.loopback.is_idle()
            && self.shm.as_ref().is_none_or(Shm::is_quiet)
            && self.tcp.as_ref().is_none_or(Tcp::is_quiet)
            && self.fabric.as_ref().is_none_or(Fabric::is_quiet)
            && self.bundle.as_ref().is_none_or(Bundle::is_quiet)
            && self.plugin.as_ref().is_none_or(Plugin::is_quiet)
    }

    /// Sends what has gathered: called by whoever blocks, waits, or may not come back soon.
    #[inline(always)]
    pub fn flush_gathered(&mut self) {
        if let Some(tcp) = &mut self.tcp {
            tcp.flush_gathered();
        }
        if let Some(bundle) = &mut self.bundle {
            bundle.flush_gathered();
        }
    }

    /// Tells all peers that nothing more will come from here. Everything handed over must have left.
    pub fn begin_leaving(&mut self) {
        if let Some(tcp) = &mut self.tcp {
            tcp.begin_leaving();
        }
        if let Some(fabric) = &mut self.fabric {
            fabric.begin_leaving();
        }
        if let Some(bundle) = &mut self.bundle {
            bundle.begin_leaving();
        }
        if let Some(plugin) = &mut self.plugin {
            plugin.begin_leaving();
        }
    }

    /// Whether all peers have taken leave as well, so that this process may end without cutting anything off.
    pub fn has_left(&self) -> bool {
        self.tcp.as_ref().is_none_or(Tcp::has_left)
            && self.fabric.as_ref().is_none_or(Fabric::has_left)
            && self.bundle.as_ref().is_none_or(Bundle::has_left)
            && self.plugin.as_ref().is_none_or(Plugin::has_left)
    }

    /// The next poll looks at the sockets, too, and whether processes have ended.
    pub fn look_at_sockets(&mut self) {
        if let Some(shm) = &mut self.shm {
            shm.look_soon();
        }
        if let Some(tcp) = &mut self.tcp {
            tcp.look_soon();
        }
        if let Some(fabric) = &mut self.fabric {
            fabric.look_soon();
        }
        if let Some(bundle) = &mut self.bundle {
            bundle.look_soon();
        }
        if let Some(plugin) = &mut self.plugin {
            plugin.look_soon();
        }
    }

    /// Whether a connection is being made: its next step may be due without anything coming.
    pub fn is_connecting(&self) -> bool {
        self.tcp.as_ref().is_some_and(Tcp::is_connecting)
            || self.bundle.as_ref().is_some_and(Bundle::is_connecting)
    }

    /// Whether everything that was handed to the methods has left this process.
    pub fn is_drained(&self) -> bool {
        self.loopback.is_idle()
            && self.shm.as_ref().is_none_or(Shm::is_drained)
            && self.tcp.as_ref().is_none_or(Tcp::is_drained)
            && self.fabric.as_ref().is_none_or(Fabric::is_drained)
            && self.bundle.as_ref().is_none_or(Bundle::is_drained)
            && self.plugin.as_ref().is_none_or(Plugin::is_drained)
            && self.sim.as_ref().is_none_or(Sim::is_drained)
    }

    /// The counter of eager messages on the way to `to`.
    #[inline]
    pub fn eager_counter(&self, to: Peer) -> Counter {
        match self.route(to) {
            Route::Loopback => Counter::EagerLoopback,
            Route::Tcp => Counter::EagerTcp,
            Route::Fabric => Counter::EagerFabric,
            Route::Bundle => Counter::EagerLinks,
            Route::Plugin => Counter::EagerPlugin,
            Route::Shm(_) | Route::Sim => Counter::EagerShm,
        }
    }

    /// The counter of a long message that is granted.
    pub fn put_counter(&self, from: Peer, granted: Granted) -> Counter {
        let fabric = self.route(from) == Route::Fabric;
        match granted {
            Granted::Memory(_) if fabric => Counter::WriteFabric,
            Granted::Windows { .. } if fabric => Counter::PipelineFabric,
            Granted::Fragments if fabric => Counter::PutFabric,
            Granted::Shared { .. } => Counter::SharedShm,
            Granted::Memory(_) => Counter::WriteShm,
            Granted::Windows { .. } => Counter::PipelineShm,
            Granted::Fragments if self.route(from) == Route::Tcp => Counter::PutTcp,
            Granted::Fragments if self.route(from) == Route::Bundle => Counter::PutLinks,
            Granted::Fragments if self.route(from) == Route::Plugin => Counter::PutPlugin,
            Granted::Fragments => Counter::PutShm,
        }
    }

    /// The counter of a long message that is brought.
    pub fn get_counter(&self, get: &Get) -> Counter {
        match (self.route(get.from), get.offer) {
            (Route::Loopback, _) => Counter::GetLoopback,
            (Route::Fabric, _) => Counter::GetFabric,
            (_, Offer::Stream { .. }) => Counter::StreamShm,
            (_, Offer::Shared { .. }) => Counter::SharedShm,
            (_, Offer::Memory(_) | Offer::Write | Offer::Pipeline | Offer::Nothing) => Counter::GetShm,
        }
    }

    fn shm(&mut self) -> &mut Shm {
        self.shm.as_mut().expect("a route by shared memory exists only with that method")
    }

    fn tcp(&mut self) -> &mut Tcp {
        self.tcp.as_mut().expect("a route by TCP exists only with that method")
    }

    fn fabric(&mut self) -> &mut Fabric {
        self.fabric.as_mut().expect("a route by libfabric exists only with that method")
    }

    fn bundle(&mut self) -> &mut Bundle {
        self.bundle.as_mut().expect("a route over several links exists only with that method")
    }

    fn plugin(&mut self) -> &mut Plugin {
        self.plugin.as_mut().expect("a route by a plug-in exists only with that method")
    }

    fn sim(&mut self) -> &mut Sim {
        self.sim.as_mut().expect("a simulated route exists only with that method")
    }
}

impl Claim<'_> {
    /// Writes the packet with the next bytes of `data` behind it, and commits it.
    #[inline]
    pub fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        match self {
            Self::Shm(claim) => claim.write(emit, data),
            Self::Loopback(claim) => claim.write(emit, data),
            Self::Tcp(claim) => claim.write(emit, data),
            Self::Fabric(claim) => claim.write(emit, data),
            Self::Bundle(claim) => claim.write(emit, data),
            Self::Plugin(claim) => claim.write(emit, data),
            Self::Sim(claim) => claim.write(emit, data),
        }
    }
}
