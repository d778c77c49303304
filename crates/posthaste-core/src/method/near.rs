//! Shared memory with processes of other jobs on this host: a segment for each two that talk.
//!
//! The two agree on it over the connection that TCP makes for them, before the first packet (`tcp/pair.rs`); then each has
//! the ordinary method for shared memory in a segment of two ranks.
//!
//! What must stay true: a peer's way leads here only while its pair is here; this process sleeps in all its segments.

use posthaste_os::machine;
use posthaste_os::node::{Life, Node, PAIR_CELLS};
use posthaste_os::peer_copy;
use posthaste_os::wake::Doorbell;

use crate::config::Config;
use crate::datatype::Segment;
use crate::error::Result as CoreResult;
use crate::ids::{Peer, RequestId};
use crate::jobs::ProcessName;
use crate::method::contract::Method;
use crate::method::shm::{self, Shm};
use crate::method::{Access, Caps, Drain, Event, GrantedSend, Load, Next, OpenReceive, Owner, Transfer};
use crate::trace::Counts;
use crate::wire::{BufferCursor, Granted, Offer, Packet, RemoteMemory};

/// Turns in which a ring is read from end to end, at most.
const TURNS: usize = PAIR_CELLS / shm::TURN;

/// The method.
#[derive(Debug)]
pub struct Near {
    me: Peer,
    /// What this process sleeps on.
    doorbell: Doorbell,
    config: Config,
    oversubscribed: bool,
    pairs: Vec<Option<Pair>>,
}

/// This process and one of another job.
#[derive(Debug)]
struct Pair {
    peer: Peer,
    shm: Shm,
    node: Node,
    /// Which of the two this process is.
    me: usize,
}

impl Pair {
    #[inline]
    fn other(&self) -> usize {
        1 - self.me
    }
}

impl Near {
    /// Of the process `me`, that sleeps on this doorbell. `oversubscribed`: ranks of this host outnumber its CPUs.
    pub fn new(me: Peer, doorbell: Doorbell, config: &Config, oversubscribed: bool) -> Self {
        Self { me, doorbell, config: config.clone(), oversubscribed, pairs: Vec::new() }
    }

    /// From now on this process is number `me` of the two that share a segment, and `peer`, called `name`, is the other. Where the
    /// pair is.
    ///
    /// # Errors
    /// When this build has no shared memory.
    pub(super) fn add(&mut self, peer: Peer, name: ProcessName, node: &Node, me: usize) -> CoreResult<u32> {
        let peers = if me == 0 { vec![self.me, peer] } else { vec![peer, self.me] };
        node.set_pid(me, std::process::id());
        node.set_process_namespace(me, machine::process_namespace());
        node.set_probe_address(me, peer_copy::probe_address());
        node.set_life(me, Life::Inside);
        let shm = Shm::of_pair(node, me, peers, &self.config, self.oversubscribed, name)?;
        self.doorbell.sleep_in(node, me);
        let pair = Pair { peer, shm, node: node.clone(), me };
        let at = self.pairs.iter().position(Option::is_none).unwrap_or(self.pairs.len());
        if at == self.pairs.len() {
            self.pairs.push(None);
        }
        self.pairs[at] = Some(pair);
        Ok(at as u32)
    }

    /// Takes what has come from a peer that has closed its connection: a ring of packets at most.
    pub(super) fn take_rest(
        &mut self,
        at: usize,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let pair = self.pair(at);
        let other = pair.other();
        let _ = (0..=TURNS).all(|_| pair.shm.poll_ring(other, counts, on));
    }

    /// Whether a peer may be inside our memory: it is there and has not finalised.
    pub(super) fn may_live(&mut self, at: usize) -> bool {
        let pair = self.pair(at);
        let other = pair.other();
        pair.shm.may_live(other) && pair.node.life(other) != Life::Finalised
    }

    /// The pair is no more.
    pub(super) fn remove(&mut self, at: usize) {
        if let Some(pair) = self.pairs.get_mut(at).and_then(Option::take) {
            self.doorbell.leave(&pair.node);
        }
    }

    /// The shared memory of a pair, and which of the two the peer is there.
    #[inline]
    pub(super) fn shm(&mut self, at: usize) -> (&mut Shm, usize) {
        let pair = self.pair(at);
        let other = pair.other();
        (&mut pair.shm, other)
    }

    #[inline]
    fn pair(&mut self, at: usize) -> &mut Pair {
        self.pairs.get_mut(at).and_then(Option::as_mut).expect("a way leads to a pair only while it is here")
    }

    fn of(&mut self, peer: Peer) -> Option<&mut Shm> {
        self.each_mut().find(|pair| pair.peer == peer).map(|pair| &mut pair.shm)
    }

    fn each(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().flatten()
    }

    fn each_mut(&mut self) -> impl Iterator<Item = &mut Pair> {
        self.pairs.iter_mut().flatten()
    }
}

impl Method for Near {
    type To = usize;
    type Claim<'a> = shm::Claim<'a>;

    fn caps(&mut self, at: usize) -> Caps {
        let (shm, to) = self.shm(at);
        shm.caps(to)
    }

    #[inline]
    fn claim(&mut self, at: usize, len: usize, load: Load) -> Option<Self::Claim<'_>> {
        let (shm, to) = self.shm(at);
        shm.claim(to, len, load)
    }

    fn throttle(&mut self, at: usize, on: bool) {
        let (shm, from) = self.shm(at);
        shm.throttle(from, on);
    }

    #[inline]
    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        self.each_mut().fold(false, |busy, pair| pair.shm.poll(counts, on) | busy)
    }

    #[inline]
    fn is_next_there(&mut self, at: usize) -> bool {
        let (shm, from) = self.shm(at);
        shm.is_next_there(from)
    }

    #[inline]
    fn take_next(&mut self, at: usize, take: impl FnOnce(&Packet<'_>) -> bool) -> Next {
        let (shm, from) = self.shm(at);
        shm.take_next(from, take)
    }

    fn offer_stream(
        &mut self,
        at: usize,
        sender: RequestId,
        segment: &Segment,
        ready: bool,
    ) -> Option<(Offer, bool)> {
        let (shm, to) = self.shm(at);
        shm.offer_stream(to, sender, segment, ready)
    }

    fn drain(&mut self, at: usize, drain: Drain) -> Result<(), Drain> {
        let (shm, from) = self.shm(at);
        shm.drain(from, drain)
    }

    fn decline(&mut self, at: usize, bounced: BufferCursor) {
        let (shm, from) = self.shm(at);
        shm.decline(from, bounced);
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        match self.of(opened.from) {
            Some(shm) => shm.open_receive(opened),
            None => Granted::Fragments,
        }
    }

    fn send_granted(&mut self, at: usize, send: GrantedSend) {
        let (shm, to) = self.shm(at);
        Method::send_granted(shm, to, send);
    }

    fn expose(&mut self, memory: &Segment, access: Access, owner: Owner) -> Option<RemoteMemory> {
        self.each_mut().next()?.shm.expose(memory, access, owner)
    }

    fn get(&mut self, at: usize, transfer: Transfer) -> Result<(), Transfer> {
        let (shm, from) = self.shm(at);
        shm.get(from, transfer)
    }

    fn put(&mut self, at: usize, transfer: Transfer) -> Result<(), Transfer> {
        let (shm, to) = self.shm(at);
        shm.put(to, transfer)
    }

    fn exclude(&mut self, at: usize) -> bool {
        let (shm, peer) = self.shm(at);
        shm.exclude(peer);
        self.may_live(at)
    }

    fn is_quiet(&self) -> bool {
        self.each().all(|pair| pair.shm.is_quiet())
    }

    fn is_drained(&self) -> bool {
        self.each().all(|pair| pair.shm.is_drained())
    }

    fn look_soon(&mut self) {
        self.each_mut().for_each(|pair| pair.shm.look_soon());
    }

    fn begin_finalizing(&mut self) {
        self.each_mut().for_each(|pair| pair.shm.begin_finalizing());
    }

    fn stay(&mut self) {
        self.each_mut().for_each(|pair| pair.shm.stay());
    }

    /// Its peers hear it by their connections, too.
    fn begin_leaving(&mut self) {
        self.each_mut().for_each(|pair| pair.node.set_life(pair.me, Life::Finalised));
    }
}

#[cfg(test)]
#[path = "near_tests.rs"]
mod tests;
