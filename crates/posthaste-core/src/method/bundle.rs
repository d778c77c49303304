//! Several links to one peer: whole methods side by side, over which packets and parts of long messages go where they come
//! soonest, and which stand in for each other.
//!
//! ```text
//!   sender                                              receiver
//!   packet n    --- any link: number n, packet --->     looked at in the order of numbers, each once
//!   queued      <-- any link: all before n seen ---
//!
//!   put         === part ===== first link ========>     placed by whichever link brings it,
//!               === next part = second link ======>     in any order
//!   part left   <-- numbered: range placed --------     acked by range
//!   sent        (every byte is in its place)            landed
//! ```
//!
//! Parts: `link` is one of them, `frame` what two bundles say to each other, `packets` the numbers, `parts` the long
//! messages, `pace` the speed of a link, `pairs` what is known of each peer. Seed 003 (links per request).
//!
//! What must stay true: a packet is stored, and a send buffer is the method's, until the peer has said that it has them; so
//! when a link is lost, everything that may have been on it goes over the others, and what comes twice counts once; a
//! message that has landed takes no more fragments from any link before the engine hears of it; a peer is lost when its
//! last link is, and reported once.

mod frame;
mod link;
mod pace;
mod packets;
mod pairs;
mod parts;

use std::sync::Arc;
use std::time::Duration;

use posthaste_os::mem::Sink;
use posthaste_os::socket::Set;

use crate::config::Config;
use crate::datatype::Segment;
use crate::ids::Peer;
use crate::method::contract::{Counters, Method, Room};
use crate::method::{Caps, Done, Event, GrantedSend, Load, OpenReceive, report};
use crate::trace::{Counter, Counts};
use crate::wire::{Emit, Granted, HEADER, Packet};
use frame::{FRONT, Frame, Mark};
use pace::Pace;
use pairs::{Pair, Pairs};
use parts::{Incoming, Outgoing};

pub use link::Link;

/// Most links.
pub const MOST: usize = 4;
/// Bytes sent over each link.
const BYTES: [Counter; MOST] =
    [Counter::Link1Bytes, Counter::Link2Bytes, Counter::Link3Bytes, Counter::Link4Bytes];
/// Fruitless polls until peers get an acknowledgement of their own: until then something may leave that carries
/// them as well.
const PATIENCE: u32 = 8;

/// The method.
#[derive(Debug)]
pub struct Bundle {
    links: Vec<Link>,
    pairs: Pairs,
    /// Shortest message that goes over several links.
    limit: u64,
    packet: usize,
    /// After so long a link is lost that says nothing while others do.
    dead: Duration,
    /// When that was last looked for.
    looked: Duration,
    /// Fruitless polls.
    idle: u32,
    /// Bytes sent over each link and not counted yet.
    sent: [u64; MOST],
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    bundle: &'a mut Bundle,
    to: Peer,
    len: usize,
}

impl Bundle {
    /// A bundle of up to [`MOST`] links, the favourite first: it takes what may go over any.
    pub fn new(me: Peer, links: Vec<Link>, config: &Config) -> Self {
        debug_assert!(links.len() <= MOST);
        let names = links.iter().map(|link| link.name.clone()).collect();
        let longest = links.iter().map(Link::packet).min().unwrap_or(0);
        Self {
            pairs: Pairs::new(me, names),
            links,
            limit: config.stripe_limit as u64,
            packet: longest.saturating_sub(FRONT + HEADER),
            dead: Duration::from_secs(config.tcp_dead_s.into()),
            looked: Duration::ZERO,
            idle: 0,
            sent: [0; MOST],
        }
    }

    /// Other peers are polled, too: most polls leave the sockets alone.
    #[must_use]
    pub fn sharing(self) -> Self {
        Self { links: self.links.into_iter().map(Link::sharing).collect(), ..self }
    }

    /// Adds what a sleeper has to watch to this set.
    pub fn watch_in(&self, set: &Arc<Set>) {
        self.links.iter().for_each(|link| link.watch_in(set));
    }

    /// The way to a peer, in words.
    pub(super) fn name(&self) -> &'static str {
        match (self.links.iter().any(Link::is_tcp), self.links.iter().any(Link::is_fabric)) {
            (true, true) => "over links by TCP and libfabric",
            (true, false) => "over several TCP links",
            (false, true) => "over several links of libfabric",
            (false, false) => "over several links of the simulated network",
        }
    }

    /// Whether a connection to a peer stands that breaks when its process ends, behind all that it has sent.
    pub(super) fn breaks_with(&self, peer: Peer) -> bool {
        self.links.iter().any(|link| link.breaks_with(peer))
    }

    /// Reaches for a peer, if that has not been done yet: over all links, for those that fail only cost time.
    fn want(&mut self, peer: Peer) {
        if !std::mem::replace(&mut self.pairs.pair(peer).is_wanted, true) {
            self.links.iter_mut().for_each(|link| link.want(peer));
        }
    }

    fn push(&mut self, to: Peer, frame: Frame, body: Vec<u8>) {
        let pair = self.pairs.pair(to);
        if !pair.is_down {
            pair.packets.push(frame, body);
            send_packets(pair, &mut self.links, to, &mut self.sent);
            self.pairs.activate(to);
        }
    }

    fn now(&self) -> Duration {
        self.links.first().map_or(Duration::ZERO, Link::now)
    }

    /// Sends what has to be sent to those peers that wait for something. Returns whether anything left.
    fn serve(&mut self, now: Duration) -> bool {
        let mut busy = false;
        let looks = now.saturating_sub(self.looked) >= self.dead / 16;
        self.looked = if looks { now } else { self.looked };
        for peer in self.pairs.take_active() {
            let pair = self.pairs.pair(peer);
            for placed in std::mem::take(&mut pair.placed) {
                pair.packets.push(Frame::Placed, placed.write());
            }
            busy |= send_packets(pair, &mut self.links, peer, &mut self.sent);
            busy |= send_parts(pair, &mut self.links, peer, now, &mut self.sent);
            if looks {
                let silent = pair.silent(now, self.dead);
                let why = "nothing has come of what was sent over it, although the rank hears";
                self.pairs.given_up.extend(silent.into_iter().map(|link| (link, peer, why)));
            }
            let pair = self.pairs.pair(peer);
            if std::mem::take(&mut pair.asks) {
                let mark = Mark { frame: Frame::Ask, number: 0, seen: pair.packets.seen() };
                for link in standing(pair, &mut self.links, peer) {
                    link.send(peer, mark, &[]);
                }
            }
            if pair.acks_all || pair.packets.owes_much() || (self.idle >= PATIENCE && pair.packets.owes()) {
                send_ack(pair, &mut self.links, peer);
            }
            self.pairs.activate(peer);
        }
        busy
    }
}

impl Method for Bundle {
    type To = Peer;
    type Claim<'a> = Claim<'a>;
    const COUNTERS: Counters =
        Counters { eager: Counter::EagerLinks, put: Counter::PutLinks, ..Counters::NODE };

    fn caps(&mut self, _: Peer) -> Caps {
        Caps { packet: self.packet, sockets: true, ..Caps::default() }
    }

    fn is_heterogeneous(&mut self, to: Peer) -> bool {
        self.want(to);
        self.links.iter_mut().any(|link| link.is_heterogeneous(to))
    }

    fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        self.want(to);
        let (pair, is_message) = (self.pairs.pair(to), load == Load::Message);
        let may_leave = match is_message {
            true => !pair.is_down && !pair.throttled,
            false => true,
        };
        let fits = len <= self.packet && pair.packets.has_room(is_message);
        (may_leave && fits).then_some(Claim { bundle: self, to, len })
    }

    fn attend(&mut self, to: Peer) {
        self.want(to);
    }

    fn throttle(&mut self, from: Peer, on: bool) {
        self.push(from, if on { Frame::Throttle } else { Frame::Resume }, Vec::new());
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        let OpenReceive { from, offer, receiver, ref segment, len, arrived } = opened;
        if self.pairs.pair(from).is_down {
            return Granted::Fragments;
        }
        self.pairs.incoming.insert(receiver, Incoming::new(from, len, arrived));
        for link in &mut self.links {
            link.open_receive(OpenReceive { from, offer, receiver, segment: segment.clone(), len, arrived });
        }
        Granted::Fragments
    }

    fn send_granted(&mut self, to: Peer, send: GrantedSend) {
        let (links, limit) = (self.links.len(), self.limit);
        let pair = self.pairs.pair(to);
        if pair.is_down {
            return;
        }
        if send.left() == 0 {
            return self.pairs.done.push_back(Done::Sent(send.sender));
        }
        pair.outgoing.push(Outgoing::new(send.receiver, send.sender, send.segment, links, limit));
        let now = self.now();
        let pair = self.pairs.pair(to);
        send_parts(pair, &mut self.links, to, now, &mut self.sent);
        self.pairs.activate(to);
    }

    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let now = self.now();
        let Self { links, pairs, .. } = self;
        let mut busy = false;
        for at in 0..links.len() {
            busy |= links[at].poll(counts, &mut |event, counts| match event {
                Event::Packet(peer, Packet::Bundled(bytes)) => {
                    pairs.arrived((at, peer), bytes, now, counts, on);
                }
                Event::Placed(receiver, from, to) => pairs.placed(receiver, from, to),
                Event::PeerDown(peer, why) | Event::PeerGone(peer, why) => pairs.lose(at, peer, why, counts),
                Event::Malformed(peer) => on(Event::Malformed(peer), counts),
                // A link by itself says that the peer takes this process for lost.
                Event::Packet(peer, packet @ Packet::Excluded) => on(Event::Packet(peer, packet), counts),
                // The link's own end of a part, which says nothing of the other side.
                Event::Sent(sender) => pairs.read(at, sender),
                Event::Packet(..)
                | Event::Arriving(..)
                | Event::Arrived(..)
                | Event::DataArriving(..)
                | Event::DataPlaced(..)
                | Event::Received(_)
                | Event::Over(..) => {
                    counts.add(Counter::StalePackets, 1);
                }
            });
            // Before another link can write there.
            for (peer, receiver) in pairs.landed.drain(..) {
                links.iter_mut().for_each(|link| link.close(peer, receiver));
                pairs.done.push_back(Done::Received(receiver));
            }
        }
        for (link, peer, why) in pairs.given_up.drain(..) {
            links[link].give_up(peer, why);
        }
        for peer in std::mem::take(&mut pairs.callers) {
            self.want(peer);
        }
        self.idle = if busy { 0 } else { self.idle.saturating_add(1) };
        if !self.pairs.active.is_empty() {
            busy |= self.serve(now);
        }
        for (counter, bytes) in BYTES.into_iter().zip(&mut self.sent) {
            counts.add(counter, std::mem::take(bytes));
        }
        busy | report(&mut self.pairs.done, &mut self.pairs.lost, counts, on)
    }

    /// Whether nothing waits here that a sleeper would not be woken for.
    fn is_quiet(&self) -> bool {
        let owes =
            |peer: &Peer| self.pairs.known().any(|(known, pair)| known == *peer && pair.packets.owes());
        self.pairs.done.is_empty()
            && self.pairs.lost.is_empty()
            && self.links.iter().all(Link::is_quiet)
            && !self.pairs.active.iter().any(owes)
    }

    /// Whether everything handed over has arrived.
    fn is_drained(&self) -> bool {
        self.pairs.done.is_empty()
            && (self.pairs.active.is_empty() || self.pairs.known().all(|(_, pair)| pair.is_drained()))
    }

    /// The peer hears of it as each link says it.
    fn exclude(&mut self, peer: Peer) -> bool {
        if !self.pairs.pair(peer).is_down {
            self.push(peer, Frame::Packet, Emit::excluded().header.to_vec());
            self.links.iter_mut().for_each(|link| link.exclude(peer));
            self.pairs.exclude(peer);
        }
        false
    }

    fn look_soon(&mut self) {
        self.links.iter_mut().for_each(Link::look_soon);
    }

    fn flush_gathered(&mut self) {
        self.links.iter_mut().for_each(Link::flush_gathered);
    }

    fn is_connecting(&self) -> bool {
        self.links.iter().any(Link::is_connecting)
    }

    /// Says good-bye to all peers, and what of theirs has been seen, so that they need not wait for that.
    fn begin_leaving(&mut self) {
        let peers: Vec<Peer> =
            self.pairs.known().filter(|(_, pair)| !pair.is_down).map(|(peer, _)| peer).collect();
        for peer in peers {
            let pair = self.pairs.pair(peer);
            let mark = Mark { frame: Frame::Bye, number: 0, seen: pair.packets.seen() };
            for link in standing(pair, &mut self.links, peer) {
                link.send(peer, mark, &[]);
            }
            pair.packets.acked();
        }
        self.links.iter_mut().for_each(Link::begin_leaving);
    }

    fn has_left(&self) -> bool {
        self.links.iter().all(Link::has_left)
    }
}

/// The links to a peer that stand.
fn standing<'a>(pair: &Pair, links: &'a mut [Link], peer: Peer) -> impl Iterator<Item = &'a mut Link> {
    let is_lost: Vec<bool> = pair.strands.iter().map(|strand| strand.lost.is_some()).collect();
    let all = links.iter_mut().zip(is_lost);
    all.filter(move |(link, is_lost)| !is_lost && link.stands(peer)).map(|(link, _)| link)
}

/// The link that stands and would have brought so many bytes first, of those that `may` take them.
fn soonest(
    pair: &Pair,
    links: &[Link],
    peer: Peer,
    (now, bytes): (Duration, u64),
    may: impl Fn(usize) -> bool,
) -> Option<usize> {
    let fastest = pair.strands.iter().map(|strand| strand.pace.speed()).fold(0.0, f64::max);
    let until = |link: usize| pair.strands[link].pace.until(now, bytes, fastest);
    let stands = |link: &usize| pair.strands[*link].lost.is_none() && links[*link].stands(peer);
    let able = (0..links.len()).filter(|link| may(*link)).filter(stands);
    able.min_by(|a, b| until(*a).total_cmp(&until(*b)))
}

/// Sends packets that no link has. Returns whether any left.
fn send_packets(pair: &mut Pair, links: &mut [Link], peer: Peer, sent: &mut [u64; MOST]) -> bool {
    let mut busy = false;
    let mut full = [false; MOST];
    while let Some((mark, body)) = pair.packets.next_unsent() {
        // Behind what is under way; of idle links the favourite.
        let Some(link) = soonest(pair, links, peer, (Duration::ZERO, 0), |link| !full[link]) else { break };
        if links[link].send(peer, mark, body) {
            sent[link] += body.len() as u64;
            pair.packets.sent(link);
            busy = true;
        } else {
            full[link] = true;
        }
    }
    busy
}

/// Gives parts of long messages to links. Returns whether there were any.
fn send_parts(
    pair: &mut Pair,
    links: &mut [Link],
    peer: Peer,
    now: Duration,
    sent: &mut [u64; MOST],
) -> bool {
    let mut busy = false;
    for at in 0..pair.outgoing.len() {
        while let Some(bytes) = pair.outgoing[at].next_len() {
            let Some(link) = soonest(pair, links, peer, (now, bytes), |_| true) else { return busy };
            let pace: &mut Pace = &mut pair.strands[link].pace;
            if !pace.has_room(bytes) {
                return busy; // it is worth waiting for
            }
            let Outgoing { receiver, sender, ref segment, .. } = pair.outgoing[at];
            let mut segment = segment.clone();
            let Some((from, until)) = pair.outgoing[at].take(link) else { break };
            segment.seek(from);
            pace.begin(now, until - from);
            sent[link] += until - from;
            let (to, granted) = (peer, Granted::Fragments);
            links[link].send_granted(GrantedSend { to, receiver, sender, segment, until, granted });
            busy = true;
        }
    }
    busy
}

/// Acknowledges to a peer how far its packets have been seen, and says which links are lost: over one link, or over all
/// that are left.
fn send_ack(pair: &mut Pair, links: &mut [Link], peer: Peer) {
    let mark = Mark { frame: Frame::Seen, number: pair.lost_links(), seen: pair.packets.seen() };
    let mut acked = false;
    let acks_all = pair.acks_all;
    for link in standing(pair, links, peer) {
        acked |= link.send(peer, mark, &[]);
        if acked && !acks_all {
            break;
        }
    }
    if acked {
        pair.packets.acked();
        pair.acks_all = false;
    }
}

impl Room for Claim<'_> {
    fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        let Self { bundle, to, len } = self;
        let mut body = vec![0; HEADER + len];
        let (header, payload) = body.split_at_mut(HEADER);
        header.copy_from_slice(&emit.header);
        let rest = emit.write_front(Sink::from(payload));
        if let Some(segment) = data {
            segment.pack(rest);
        }
        bundle.push(to, Frame::Packet, body);
    }
}

#[cfg(test)]
mod tests;
