//! Methods: the ways bytes travel between processes, and the whole contract between them and the engine.
//!
//! A method is an implementation of [`Method`] in a file of its own and a line in `list.rs`, which makes the rest: the way's
//! name ([`Route`]), the method's place, and the `match` that calls it. Only shared memory is named here besides, for its
//! fast paths.
//!
//! The contract:
//!
//! * [`Methods::claim`] gives room for one packet, or `None` while there is none; writing it commits it.
//! * [`Methods::throttle`] throttles a peer: its claims for messages are refused, soon if not at
//!   once. Everything else it sends still finds room.
//! * [`Methods::offer_stream`] copies a long message into a bounce buffer of the receiver, [`Methods::drain`] copies it out.
//! * [`Methods::open_receive`] opens a receive for fragments, [`Methods::send_granted`] sends them. Data packets that arrive
//!   for an open receive are the method's own business: the engine hears only [`Event::Received`].
//! * One-sided transport, where a method has it: [`Methods::expose`] lets peers at memory, [`Methods::get`] and
//!   [`Methods::put`] read and write theirs ([`Event::Over`]). Long messages stand on it, and `onesided`, which does by
//!   packets what a method cannot.
//! * [`Methods::send_in_place`] sends a whole message in one packet without copying it. Its beginning is announced
//!   ([`Event::Arriving`]); a receive that the engine opens before the next poll ([`Methods::receive_arriving`]) takes
//!   the data, else the method stores it and hands it over ([`Event::Arrived`]). In the same way it sends bytes of
//!   one-sided operations, which go where the engine says each time that some are here ([`Event::DataArriving`]).
//! * [`Methods::poll`] reports what happened.
//! * A method says that it has lost a peer ([`Event::PeerDown`]), and again when its network has done what was under way
//!   ([`Methods::is_moving`]). Messages to that peer find no room from then on; everything else towards it disappears. The same holds
//!   for a peer that the engine takes for lost ([`Methods::exclude`]).
//! * A method may let short packets gather; [`Methods::flush_gathered`] sends them, and so does every poll.
//!
//! What must stay true: packets between two processes stay in order; a segment handed to a method comes back
//! only through [`Outcome::Refused`]; nothing here knows what a message is for.

mod features;
pub mod bundle;
mod contract;
pub mod fabric;
#[macro_use]
mod list;
pub mod loopback;
pub mod near;
mod news;
pub mod pinned;
pub mod plugin;
mod rarely;
pub mod reassembly;
mod routes;
pub mod shm;
pub mod sim;
pub mod tcp;
pub mod windows;

use std::ops::ControlFlow;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use posthaste_os::heap::Heap;
use posthaste_os::machine;
use posthaste_os::mapped::Mapped;
use posthaste_os::mem::Source;
use posthaste_os::node::Node;
pub use posthaste_os::ring::Load;

use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::trace::{Counter, Counts};
use crate::wire::{BufferCursor, Emit, Envelope, Granted, Offer, Packet, RemoteMemory};

use bundle::Bundle;
pub use contract::{
    Access, AtomicTransfer, Caps, Counters, Direction, Drain, Event, GrantedSend, Method, OpenReceive,
    Outcome, Owner, Piece, Room, SHORT_RUN, Transfer,
};
use contract::{Done, packing, report};
use fabric::Fabric;
pub(crate) use fabric::bit_of as change_bit;
use list::All;
pub use list::{Claim, Listed, Pins, Route};
use loopback::Loopback;
use near::Near;
use news::News;
use plugin::Plugin;
pub use routes::Routes;
use shm::Shm;
use sim::Sim;
use tcp::{Settled, Tcp};

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
    /// The same for who explains messages, if somebody does.
    shown: Option<Arc<RwLock<Routes>>>,
    all: All,
    me: Peer,
    /// Some method brings packets that a look at the rings of this host does not find.
    elsewhere: bool,
    /// What the launcher says of ranks that are lost, where a network leads to others.
    news: Option<Box<News>>,
    /// Counts of messages and bytes, by protocol and method.
    pub counts: Counts,
}

impl Methods {
    /// The ways to all peers of process `me`, of which none has its method yet but that to ourselves.
    pub fn new(routes: Routes, me: Peer) -> Self {
        let (all, counts) = (All::default(), Counts::default());
        Self { routes, shown: None, all, me, elsewhere: false, news: None, counts }
            .with(Some(Loopback::new(me)))
    }

    /// The same with a method, if there is one.
    #[must_use]
    pub fn with<M: Listed>(mut self, method: Option<M>) -> Self {
        if let Some(method) = method {
            self.add(method);
        }
        self
    }

    /// A method that comes later.
    pub fn add<M: Listed>(&mut self, method: M) {
        self.elsewhere |= M::ELSEWHERE;
        *M::place(&mut self.all) = Some(method.joining(&self.routes));
    }

    /// From now on ranks of the job are lost when the launcher has said so in this segment, unless a connection tells more.
    #[must_use]
    pub fn hearing_of(mut self, losses: Node) -> Self {
        let peers = self.routes.size();
        self.news = Some(Box::new(News::new(losses, peers)));
        self
    }

    /// TCP, by which processes of other jobs are reached.
    pub fn tcp(&mut self) -> Option<&mut Tcp> {
        self.all.tcp.as_mut()
    }

    /// Whether memory can be shared with processes of other jobs.
    pub fn has_near(&self) -> bool {
        self.all.near.is_some()
    }

    /// The way to a peer ([`Routes::to`]).
    #[inline(always)]
    pub fn route(&self, to: Peer) -> Route {
        self.routes.to(to)
    }

    /// How each peer is reached, in words.
    pub fn ways(&mut self) -> impl Fn(Peer) -> &'static str + Send + Sync + use<> {
        let routes = self.shown.get_or_insert_with(|| Arc::new(RwLock::new(self.routes.clone()))).clone();
        let links = self.all.bundle.as_ref().map(Bundle::name);
        move |peer| match (routes.read().unwrap_or_else(PoisonError::into_inner).to(peer), links) {
            (Route::Bundle, Some(links)) => links,
            (route, _) => route.name(),
        }
    }

    /// Takes in a process that this one meets, behind all others: its number.
    pub fn join(&mut self, route: Route) -> Peer {
        let peer = self.routes.add(route);
        self.show_routes();
        peer
    }

    /// From now on this way leads to a peer.
    fn lead(&mut self, peer: Peer, route: Route) {
        self.routes.set(peer, route);
        self.show_routes();
    }

    fn show_routes(&self) {
        if let Some(shown) = &self.shown {
            shown.write().unwrap_or_else(PoisonError::into_inner).clone_from(&self.routes);
        }
    }

    /// From now on this peer is the one with this address in the simulated network.
    pub fn name_simulated(&mut self, peer: Peer, address: Peer) {
        if let Some(sim) = &mut self.all.sim {
            sim.name(peer, address);
        }
    }

    /// What the way to `to` can do.
    pub fn caps(&mut self, to: Peer) -> Caps {
        leading_to!(self, to, |method, at| method.caps(at))
    }

    /// Whether data for this peer has to travel in the canonical form. On one host formats are alike, or the job does
    /// not start.
    #[inline]
    pub fn is_heterogeneous(&mut self, to: Peer) -> bool {
        leading_to!(self, to, |method, at| method.is_heterogeneous(at))
    }

    /// Whether [`Methods::claim`] would give room.
    pub fn has_room(&mut self, to: Peer, len: usize, load: Load) -> bool {
        leading_to!(self, to, |method, at| method.has_room(at, len, load))
    }

    /// Throttles a peer, whose messages that have not left yet stay there, or resumes it.
    pub fn throttle(&mut self, from: Peer, on: bool) {
        leading_to!(self, from, |method, at| method.throttle(at, on));
    }

    /// Somebody waits for a message of this peer: from now on its end is heard of, though nothing was ever sent to it.
    pub fn attend(&mut self, to: Peer) {
        leading_to!(self, to, |method, at| method.attend(at));
    }

    /// Takes a peer for lost, whatever its method says: see [`Method::exclude`].
    pub fn exclude(&mut self, peer: Peer) -> bool {
        let reaches = leading_to!(self, peer, |method, at| method.exclude(at));
        if let (Route::Near(_), Some(tcp)) = (self.route(peer), &mut self.all.tcp) {
            tcp.exclude(peer);
        }
        if !reaches {
            self.leave_pair(peer);
        }
        reaches
    }

    /// Nothing connects this process with these peers of other jobs any more.
    pub fn forget_peers(&mut self, peers: &[Peer]) {
        peers.iter().for_each(|peer| self.leave_pair(*peer));
        if let Some(tcp) = &mut self.all.tcp {
            tcp.forget_peers(peers);
        }
    }

    /// The segment that this process shares with a peer of another job, if there is one, is no more.
    fn leave_pair(&mut self, peer: Peer) {
        if let (Route::Near(at), Some(near)) = (self.route(peer), &mut self.all.near) {
            near.remove(at as usize);
            self.lead(peer, Route::Tcp);
        }
    }

    /// TCP has settled how peers of other jobs are reached.
    #[cold]
    fn settle(&mut self, settled: Vec<Settled>, on: &mut impl FnMut(Event<'_>, &mut Counts)) {
        for settled in settled {
            match settled {
                Settled::Shares(peer, name, node, me) => {
                    self.leave_pair(peer);
                    let Some(near) = &mut self.all.near else { continue };
                    match near.add(peer, name, &node, me) {
                        Ok(pair) => self.lead(peer, Route::Near(pair)),
                        Err(why) => on(Event::PeerDown(peer, why), &mut self.counts),
                    }
                    self.all.tcp.iter_mut().for_each(Tcp::share);
                }
                Settled::Lost(peer, why) => {
                    let mut may_live = false;
                    if let (Route::Near(at), Some(near)) = (self.route(peer), &mut self.all.near) {
                        near.take_rest(at as usize, &mut self.counts, on);
                        may_live = near.may_live(at as usize);
                    }
                    let end = if may_live { Event::PeerGone(peer, why) } else { Event::PeerDown(peer, why) };
                    on(end, &mut self.counts);
                }
            }
        }
    }

    /// Whether the network may still do something to memory on account of a peer that is lost: see [`Method::is_moving`].
    pub fn is_moving(&mut self, peer: Peer) -> bool {
        leading_to!(self, peer, |method, at| method.is_moving(at))
    }

    /// The time, by the clock of the simulated network where there is one.
    pub fn now(&self) -> Duration {
        self.all.sim.as_ref().map_or_else(machine::now, Sim::now)
    }

    /// The process that these methods belong to.
    pub fn me(&self) -> Peer {
        self.me
    }

    /// Sends a whole short message in one packet, if there is room for it now. This is the first half of the
    /// fast path: for a peer on this host, a claim in the ring, three words of header, the data, one store. The packet
    /// says nothing of types.
    #[inline(always)]
    pub fn send_eager(&mut self, to: Peer, envelope: &Envelope, segment: &mut Segment) -> bool {
        let len = envelope.len as usize;
        if let (Route::Shm(rank), Some(shm)) = (self.route(to), &mut self.all.shm)
            && !envelope.context.spans_jobs()
        {
            let Some(claim) = shm.claim(rank as usize, len, Load::Message) else { return false };
            claim.write_eager(envelope, false, segment);
            self.counts.message(Counter::EagerShm, envelope.len);
            return true;
        }
        self.send_eager_elsewhere(to, envelope, segment)
    }

    #[inline(never)]
    fn send_eager_elsewhere(&mut self, to: Peer, envelope: &Envelope, segment: &mut Segment) -> bool {
        let len = envelope.front() + envelope.len as usize;
        if let Some((shm, rank)) = self.memory_of(to) {
            let Some(claim) = shm.claim(rank, len, Load::Message) else { return false };
            match envelope.types.is_known() {
                false => claim.write_eager(envelope, envelope.context.spans_jobs(), segment),
                true => claim.write(&Emit::eager(envelope), Some(segment)),
            }
            self.counts.message(Counter::EagerShm, envelope.len);
            return true;
        }
        if self.is_heterogeneous(to) {
            return false; // has to be converted first
        }
        let counter = self.eager_counter(to);
        let Some(claim) = self.claim(to, len, Load::Message) else { return false };
        claim.write(&Emit::eager(envelope), Some(segment));
        self.counts.message(counter, envelope.len);
        true
    }

    /// Sends a whole message of medium length through the persistent bounce buffer at the receiver, if that is free
    /// and the message fits: without a request.
    #[inline]
    pub fn send_buffered(&mut self, to: Peer, envelope: &Envelope, segment: &mut Segment) -> bool {
        self.memory_of(to).is_some_and(|(shm, rank)| shm.send_buffered(rank, envelope, segment))
    }

    /// Copies out a message that lies whole in a bounce buffer.
    #[inline]
    pub fn drain_whole(&mut self, from: Peer, cursor: BufferCursor, segment: &Segment, len: u64) {
        if let Some((shm, rank)) = self.memory_of(from) {
            shm.drain_whole(rank, cursor, segment, len);
            self.counts.message(Counter::StreamShm, len);
        }
    }

    /// The receives of messages from a peer in shared memory of which everything was there: they have ended.
    pub fn end_drains(&mut self, from: Peer) -> Vec<RequestId> {
        self.memory_of(from).map_or_else(Vec::new, |(shm, rank)| shm.end_drains(rank))
    }

    /// Copies out a message of a peer that is about to be lost, if all of it is in its bounce buffer; whether it is.
    pub fn drain_rest(
        &mut self,
        from: Peer,
        (cursor, filled): (BufferCursor, u64),
        segment: Segment,
        len: u64,
    ) -> bool {
        self.memory_of(from).is_some_and(|(shm, rank)| shm.drain_rest(rank, (cursor, filled), segment, len))
    }

    /// The shared memory that leads to a peer, and the peer's rank there.
    #[inline]
    fn memory_of(&mut self, peer: Peer) -> Option<(&mut Shm, usize)> {
        match (self.route(peer), &mut self.all) {
            (Route::Shm(rank), All { shm: Some(shm), .. }) => Some((shm, rank as usize)),
            (Route::Near(at), All { near: Some(near), .. }) => Some(near.shm(at as usize)),
            _ => None,
        }
    }

    /// Whether [`Methods::take_next`] would certainly find something: as cheap as a look can be.
    #[inline(always)]
    pub fn is_next_there(&mut self, from: Peer) -> bool {
        if let (Route::Shm(rank), Some(shm)) = (self.route(from), &mut self.all.shm) {
            return shm.is_next_there(rank as usize);
        }
        leading_to!(self, from, |method, at| method.is_next_there(at))
    }

    /// The second half of the fast path: shows the next packet from `from`, if one has arrived, to `take`, which
    /// says whether it has taken it. What is not taken is [`Methods::poll`]'s.
    #[inline(always)]
    pub fn take_next(&mut self, from: Peer, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        if let (Route::Shm(rank), Some(shm)) = (self.route(from), &mut self.all.shm) {
            return shm.take_next(rank as usize, take);
        }
        leading_to!(self, from, |method, at| method.take_next(at, take))
    }

    /// The same for most messages: takes the next packet from `from` if it is a whole message with this envelope, or a longer one
    /// for which there is room, that needs nothing but a copy by `put`; its length. `Continue`: nothing has arrived.
    /// `Break(None)`: this is for [`Methods::take_next`].
    #[inline(always)]
    pub fn take_plain(
        &mut self,
        from: Peer,
        envelope: &Envelope,
        room: u64,
        put: impl FnOnce(Source<'_>),
    ) -> ControlFlow<Option<u64>> {
        match (self.route(from), &mut self.all.shm) {
            (Route::Shm(rank), Some(shm)) if !envelope.context.spans_jobs() => {
                shm.take_plain(rank as usize, envelope, false, room, put)
            }
            _ => self.take_plain_elsewhere(from, envelope, room, put),
        }
    }

    #[inline(never)]
    fn take_plain_elsewhere(
        &mut self,
        from: Peer,
        wanted: &Envelope,
        room: u64,
        put: impl FnOnce(Source<'_>),
    ) -> ControlFlow<Option<u64>> {
        if let Some((shm, rank)) = self.memory_of(from) {
            return shm.take_plain(rank, wanted, wanted.context.spans_jobs(), room, put);
        }
        let mut taken = None;
        let next = self.take_next(from, |packet| {
            if let Packet::Eager { envelope, sender: None, data } = packet
                && (wanted.len..=room).contains(&envelope.len)
                && *envelope == (Envelope { len: envelope.len, ..*wanted })
            {
                put(*data);
                taken = Some(envelope.len);
            }
            taken.is_some()
        });
        if next == Next::Nothing { ControlFlow::Continue(()) } else { ControlFlow::Break(taken) }
    }

    /// As [`Methods::take_next`] for the packets that are next from each process of this host: the first one decides. What
    /// may come from others needs the general way.
    #[inline]
    pub fn take_next_of_any(&mut self, take: impl FnMut(Peer, &Packet<'_>) -> bool) -> Next {
        let next = self.all.shm.as_mut().map_or(Next::Left, |shm| shm.take_next_of_any(take));
        if next == Next::Nothing && self.elsewhere { Next::Left } else { next }
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
        leading_to!(self, to, |method, at| method.offer_stream(at, sender, segment, ready))
    }

    /// The memory that this process shares with its peers, if it has peers to share with.
    pub fn heap(&self) -> Option<&Arc<Heap>> {
        self.all.shm.as_ref().map(Shm::heap)
    }

    /// Where this memory lies in memory that this process shares with the peer, if it lies there.
    #[inline]
    pub fn shared(&self, to: Peer, memory: &Segment) -> Option<RemoteMemory> {
        match (self.route(to), &self.all.shm) {
            (Route::Shm(_), Some(shm)) => shm.shared(memory),
            _ => None,
        }
    }

    /// Memory that a peer shares with us, in a mapping of its own, and where in it.
    pub fn map(&mut self, peer: Peer, memory: RemoteMemory, len: u64) -> Option<(Mapped, usize)> {
        match (self.route(peer), &mut self.all.shm) {
            (Route::Shm(rank), Some(shm)) => shm.map(rank as usize, memory, len),
            _ => None,
        }
    }

    /// Copies the next piece between a segment and memory of a peer that begins at this address, if the system does that for us.
    pub fn copy_at_once(
        &mut self,
        peer: Peer,
        direction: Direction,
        address: u64,
        segment: &mut Segment,
    ) -> Piece {
        match (self.route(peer), &mut self.all.shm) {
            (Route::Shm(rank), Some(shm)) => shm.copy_at_once(rank as usize, direction, address, segment),
            _ => Piece::Refused,
        }
    }

    /// Lets a peer read or write this memory, until [`Methods::forget`]; the same owner again: the same memory. `None`: the
    /// way to it has no one-sided transport, or not for memory like this.
    pub fn expose(
        &mut self,
        to: Peer,
        memory: &Segment,
        access: Access,
        owner: Owner,
    ) -> Option<RemoteMemory> {
        leading_to!(self, to, |method, _at| method.expose(memory, access, owner))
    }

    /// Ends that.
    pub fn forget(&mut self, to: Peer, owner: Owner) {
        leading_to!(self, to, |method, _at| method.forget(owner));
    }

    /// The same for a peer that is lost: see [`Method::revoke`].
    pub fn revoke(&mut self, to: Peer, owner: Owner) {
        leading_to!(self, to, |method, _at| method.revoke(owner));
    }

    /// Ends that for all peers.
    pub fn forget_for_all(&mut self, owner: Owner) {
        each!(self.all, as_mut, |method| method.forget(owner));
    }

    /// Reads memory of a peer; ends with [`Event::Over`].
    ///
    /// # Errors
    /// The transfer, if the way to it has no one-sided transport.
    pub fn get(&mut self, transfer: Transfer) -> Result<(), Transfer> {
        leading_to!(self, transfer.peer, |method, at| method.get(at, transfer))
    }

    /// Writes memory of a peer; ends with [`Event::Over`], when the peer can see it.
    ///
    /// # Errors
    /// As [`Methods::get`].
    pub fn put(&mut self, transfer: Transfer) -> Result<(), Transfer> {
        leading_to!(self, transfer.peer, |method, at| method.put(at, transfer))
    }

    /// The kinds of elements that the network changes by itself if it leads to all other members of a window: a set of bits, in
    /// which `change_bit` finds them.
    pub fn changes(&mut self) -> u64 {
        self.all.fabric.as_mut().map_or(0, Fabric::changes)
    }

    /// Changes elements of a peer by the network, or of this process; ends with [`Event::Over`], when that is done. False where no
    /// network leads there that does it.
    pub fn change(&mut self, atomic: AtomicTransfer) -> bool {
        match (self.route(atomic.peer), &mut self.all.fabric) {
            (Route::Fabric | Route::Loopback, Some(fabric)) => fabric.change(atomic),
            _ => false,
        }
    }

    /// Copies a message out of a bounce buffer; ends with [`Event::Received`].
    ///
    /// # Errors
    /// The message, if there is no such buffer.
    pub fn drain(&mut self, drain: Drain) -> Result<(), Drain> {
        leading_to!(self, drain.from, |method, at| method.drain(at, drain))
    }

    /// The bounce buffer of a message that is not received is free again.
    pub fn decline(&mut self, from: Peer, cursor: BufferCursor) {
        leading_to!(self, from, |method, at| method.decline(at, cursor));
    }

    /// This process sends no more messages of its own: what it waits for now can only come from those that have not left.
    pub fn begin_finalizing(&mut self) {
        each!(self.all, as_mut, |method| method.begin_finalizing());
    }

    /// Takes that back: nobody leaves.
    pub fn stay(&mut self) {
        each!(self.all, as_mut, |method| method.stay());
    }

    /// Opens a receive for what is granted, and says how it is to come; ends with [`Event::Received`].
    pub fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        leading_to!(self, opened.from, |method, _at| method.open_receive(opened))
    }

    /// Sends a packet with data from where that lies, if there is room for it: a whole message, or bytes of a one-sided operation.
    /// Whether all of it has left already; otherwise its owner hears of it ([`Event::Sent`], [`Event::Over`]). What lies in exposed
    /// memory has left or been copied when that is forgotten.
    ///
    /// # Errors
    /// The data, if there is no room.
    pub fn send_in_place(
        &mut self,
        to: Peer,
        emit: &Emit,
        owner: Option<Owner>,
        segment: Segment,
    ) -> Result<bool, Segment> {
        leading_to!(self, to, |method, at| method.send_in_place(at, emit, owner, segment))
    }

    /// Opens a receive for the message that begins to arrive; ends with [`Event::Received`].
    pub fn receive_arriving(&mut self, opened: OpenReceive) {
        leading_to!(self, opened.from, |method, _at| method.receive_arriving(opened));
    }

    /// Sends a message that was granted; ends with [`Event::Sent`].
    pub fn send_granted(&mut self, send: GrantedSend) {
        leading_to!(self, send.to, |method, at| method.send_granted(at, send));
    }

    /// Looks at all methods once; reports to `on` what happened. Returns whether anything did.
    #[inline]
    pub fn poll(&mut self, mut on: impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let mut busy = false;
        let Self { all, counts, .. } = self;
        each!(all, as_mut, |method| busy |= method.poll(counts, &mut on));
        let settled = self.all.tcp.as_mut().map_or_else(Vec::new, Tcp::settled);
        if !settled.is_empty() {
            self.settle(settled, &mut on);
            busy = true;
        }
        if self.news.as_ref().is_some_and(|news| news.is_some()) {
            busy |= self.hear_news(busy, &mut on);
        }
        busy
    }

    /// Ranks are lost of which the launcher says so: those that no connection tells of. `busy`: something else has come.
    #[cold]
    fn hear_news(&mut self, busy: bool, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let Some(news) = &mut self.news else { return false };
        let due = news.due(busy);
        // Most polls leave sockets alone while shared memory is polled, too.
        self.look_at_sockets();
        let mut any = false;
        for loss in due {
            let tells = match self.route(loss.peer) {
                Route::Tcp => {
                    self.all.tcp.as_ref().is_some_and(|tcp| tcp.stands(loss.peer)) && !loss.whole_host
                }
                // When that connection is gone, links of another kind may not know it.
                Route::Bundle
                    if !loss.whole_host
                        && self.all.bundle.as_ref().is_some_and(|links| links.breaks_with(loss.peer)) =>
                {
                    self.news.iter_mut().for_each(|news| news.rest_again(loss));
                    true
                }
                // The system says it of processes of this host.
                Route::Shm(_) | Route::Near(_) | Route::Loopback => true,
                _ => false,
            };
            if !tells {
                on(Event::PeerDown(loss.peer, loss.why()), &mut self.counts);
                any = true;
            }
        }
        any
    }

    /// Whether no long message is being copied by this process; a sleeper must not stop such a copy.
    pub fn is_quiet(&self) -> bool {
        each!(self.all, as_ref, |method| if !method.is_quiet() {
            return false;
        });
        true
    }

    /// Sends what has gathered: called by whoever blocks, waits, or may not come back soon.
    #[inline(always)]
    pub fn flush_gathered(&mut self) {
        // Within this host nothing gathers.
        if self.elsewhere {
            self.flush_elsewhere();
        }
    }

    #[inline(never)]
    fn flush_elsewhere(&mut self) {
        each!(self.all, as_mut, |method| method.flush_gathered());
    }

    /// Says to all peers that nothing more will come from here. Everything handed over must have left.
    pub fn begin_leaving(&mut self) {
        each!(self.all, as_mut, |method| method.begin_leaving());
    }

    /// Whether all peers have taken leave as well, so that this process may end without cutting anything off.
    pub fn has_left(&self) -> bool {
        each!(self.all, as_ref, |method| if !method.has_left() {
            return false;
        });
        true
    }

    /// The next poll looks at the sockets, too, and whether processes have ended.
    pub fn look_at_sockets(&mut self) {
        each!(self.all, as_mut, |method| method.look_soon());
    }

    /// Whether a connection is being made, or news rests: the next step may be due without anything coming.
    pub fn is_connecting(&self) -> bool {
        each!(self.all, as_ref, |method| if method.is_connecting() {
            return true;
        });
        self.news.as_ref().is_some_and(|news| news.is_some())
    }

    /// Whether everything that was handed to the methods has left this process.
    #[inline]
    pub fn is_drained(&self) -> bool {
        let All { shm, loopback, .. } = &self.all;
        shm.as_ref().is_none_or(Shm::is_drained)
            && loopback.as_ref().is_none_or(Loopback::is_drained)
            && (!self.elsewhere || self.is_drained_elsewhere())
    }

    #[inline(never)]
    fn is_drained_elsewhere(&self) -> bool {
        each!(self.all, as_ref, |method| if !method.is_drained() {
            return false;
        });
        true
    }

    fn counters(&mut self, peer: Peer) -> Counters {
        leading_to!(self, peer, |method, _at| counters(method))
    }

    /// The counter of eager messages on the way to `to`.
    #[inline]
    pub fn eager_counter(&mut self, to: Peer) -> Counter {
        self.counters(to).eager
    }

    /// The counter of a long message that is granted.
    pub fn put_counter(&mut self, from: Peer, granted: Granted) -> Counter {
        let counters = self.counters(from);
        match granted {
            Granted::Fragments => counters.put,
            Granted::Memory(RemoteMemory::Shared { .. }) => Counter::SharedShm,
            Granted::Memory(RemoteMemory::Address { .. }) => counters.write,
            Granted::Windows { .. } => counters.pipeline,
        }
    }

    /// The counter of a long message that is read where it lies.
    pub fn get_counter(&mut self, transfer: &Transfer) -> Counter {
        match transfer.memory {
            RemoteMemory::Shared { .. } => Counter::SharedShm,
            RemoteMemory::Address { .. } => self.counters(transfer.peer).get,
        }
    }
}

/// What a method's messages are counted by.
fn counters<M: Method>(_: &mut M) -> Counters {
    M::COUNTERS
}

#[cfg(test)]
pub(crate) mod mailbox;
