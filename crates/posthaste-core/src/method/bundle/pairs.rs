//! What a bundle knows of each peer: what it has been sent and has not seen, what is coming from it, which links to it are
//! lost.
//!
//! Does no I/O: the bundle owns the links. What must stay true: packets reach the engine in the order in which they
//! were sent, each once; a peer is down when its last link is lost, and then nothing of it is stored.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use posthaste_os::mem::Source;

use super::frame::{Frame, Mark, Placed};
use super::pace::Pace;
use super::packets::{Packets, Turn};
use super::parts::{Incoming, Outgoing};
use crate::error::{Error, say};
use crate::ids::{Peer, RequestId};
use crate::method::{Done, Event};
use crate::peers::PeerMap;
use crate::trace::{Counter, Counts};
use crate::wire::{HEADER, Packet};

/// Everything of one peer.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) strands: Vec<Strand>,
    pub(super) packets: Packets,
    pub(super) outgoing: Vec<Outgoing>,
    /// Ranges that have come and of which the peer does not know.
    pub(super) placed: Vec<Placed>,
    /// The peer throttles our messages.
    pub(super) throttled: bool,
    /// The peer has to hear at once how far we have seen and which links are lost, over all links.
    pub(super) acks_all: bool,
    /// The peer has to be asked whether it hears us.
    pub(super) asks: bool,
    /// When it was last asked, and when it last said how far it has seen.
    asked: Duration,
    heard: Duration,
    /// When it was last looked for silent links.
    looked: Duration,
    /// The links are being reached for.
    pub(super) is_wanted: bool,
    pub(super) is_down: bool,
    /// It has said that nothing more comes.
    has_left: bool,
    /// It is in the list of those that something has to be done for.
    is_active: bool,
}

/// One link to the peer.
#[derive(Debug, Default)]
pub(super) struct Strand {
    pub(super) pace: Pace,
    /// It is lost, and why.
    pub(super) lost: Option<Error>,
    /// Since when something is on it and nothing has come of that, nor anything else over it.
    silent_since: Option<Duration>,
}

/// All peers.
#[derive(Debug)]
pub(super) struct Pairs {
    pairs: PeerMap<Pair>,
    links: Vec<String>,
    /// Links whose first loss has been reported.
    reported: Vec<bool>,
    /// Peers that something may have to be done for.
    pub(super) active: Vec<Peer>,
    /// Long messages that are coming.
    pub(super) incoming: HashMap<RequestId, Incoming>,
    /// Those of them that are here, and not closed yet.
    pub(super) landed: Vec<(Peer, RequestId)>,
    /// Links that are lost without knowing it, and why.
    pub(super) given_up: Vec<(usize, Peer, &'static str)>,
    pub(super) done: VecDeque<Done>,
    pub(super) lost: VecDeque<(Peer, Error)>,
    /// Peers that have spoken first.
    pub(super) callers: Vec<Peer>,
    me: Peer,
}

impl Pair {
    fn new(links: usize) -> Self {
        Self {
            strands: (0..links).map(|_| Strand::default()).collect(),
            packets: Packets::default(),
            outgoing: Vec::new(),
            placed: Vec::new(),
            throttled: false,
            acks_all: false,
            asks: false,
            asked: Duration::ZERO,
            heard: Duration::ZERO,
            looked: Duration::ZERO,
            is_wanted: false,
            is_down: false,
            has_left: false,
            is_active: false,
        }
    }

    /// Whether the peer has everything that was sent to it, as far as is known here.
    pub(super) fn is_drained(&self) -> bool {
        self.packets.is_seen() && self.outgoing.is_empty() && self.placed.is_empty()
    }

    /// Whether something is left to be done.
    fn is_busy(&self) -> bool {
        !self.is_down && (!self.is_drained() || self.packets.owes() || self.acks_all)
    }

    /// The links that are lost, as bits.
    pub(super) fn lost_links(&self) -> u32 {
        let bits =
            self.strands.iter().enumerate().map(|(link, strand)| u32::from(strand.lost.is_some()) << link);
        bits.fold(0, |all, bit| all | bit)
    }

    /// Looks for links that have been silent for `dead` although the peer, over another one, has answered since: what they
    /// had should have come by then. A method may not notice for long that its network has gone. Time in which nobody
    /// looked says nothing: this process was not in MPI, and what came meanwhile has not been read.
    pub(super) fn silent(&mut self, now: Duration, dead: Duration) -> Vec<usize> {
        let mut silent = Vec::new();
        if now.saturating_sub(std::mem::replace(&mut self.looked, now)) > dead / 4 {
            self.strands.iter_mut().for_each(|strand| strand.silent_since = None);
        }
        for (link, strand) in self.strands.iter_mut().enumerate().filter(|(_, strand)| strand.lost.is_none())
        {
            let reads = self.outgoing.iter().any(|outgoing| outgoing.is_read_by(link));
            if !strand.pace.is_busy() && !reads && !self.packets.is_on(link) {
                strand.silent_since = None;
                continue;
            }
            let since = *strand.silent_since.get_or_insert(now);
            if now.saturating_sub(since) < dead / 2 {
                continue;
            }
            // The answer to a question that was put in this silence, and some time to read what else has come.
            let answered = self.asked >= since + dead / 2 && self.heard >= self.asked;
            let rested = now.saturating_sub(self.heard) >= dead / 8;
            if now.saturating_sub(since) >= dead && answered && rested {
                silent.push(link);
            } else if !answered && now.saturating_sub(self.asked) >= dead / 8 {
                (self.asks, self.asked) = (true, now);
            }
        }
        silent
    }

    fn placed(&mut self, placed: Placed, now: Duration, done: &mut VecDeque<Done>) -> bool {
        let is_it = |outgoing: &Outgoing| outgoing.receiver == placed.receiver;
        let Some(at) = self.outgoing.iter().position(is_it) else { return false };
        let strands = &mut self.strands;
        self.outgoing[at].placed(placed.from, placed.to, |link, bytes| {
            if bytes > 0 {
                strands[link].silent_since = None;
                strands[link].pace.end(now, bytes);
            }
        });
        self.end_outgoing(at, done);
        true
    }

    fn end_outgoing(&mut self, at: usize, done: &mut VecDeque<Done>) {
        if self.outgoing[at].is_over() {
            done.push_back(Done::Sent(self.outgoing.remove(at).sender));
        }
    }
}

impl Pairs {
    pub(super) fn new(me: Peer, links: Vec<String>) -> Self {
        Self {
            pairs: PeerMap::default(),
            reported: vec![false; links.len()],
            links,
            active: Vec::new(),
            incoming: HashMap::new(),
            landed: Vec::new(),
            given_up: Vec::new(),
            done: VecDeque::new(),
            lost: VecDeque::new(),
            callers: Vec::new(),
            me,
        }
    }

    pub(super) fn pair(&mut self, peer: Peer) -> &mut Pair {
        let links = self.links.len();
        self.pairs.get_or_make(peer, || Pair::new(links))
    }

    pub(super) fn known(&self) -> impl Iterator<Item = (Peer, &Pair)> {
        self.pairs.iter()
    }

    /// Something may have to be done for this peer.
    pub(super) fn activate(&mut self, peer: Peer) {
        let pair = self.pair(peer);
        if pair.is_busy() && !std::mem::replace(&mut pair.is_active, true) {
            self.active.push(peer);
        }
    }

    /// Those for whom something may have to be done, who then are not in the list any more.
    pub(super) fn take_active(&mut self) -> Vec<Peer> {
        let active = std::mem::take(&mut self.active);
        for peer in &active {
            self.pair(*peer).is_active = false;
        }
        active
    }

    /// Something has come over a link.
    pub(super) fn arrived(
        &mut self,
        (link, peer): (usize, Peer),
        bytes: Source<'_>,
        now: Duration,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let Some((mark, body)) = Mark::read(bytes) else {
            return counts.add(Counter::MalformedPackets, 1);
        };
        let pair = self.pair(peer);
        if pair.is_down {
            return counts.add(Counter::StalePackets, 1);
        }
        pair.packets.saw(mark.seen);
        pair.strands[link].silent_since = None;
        match mark.frame {
            Frame::Seen => {
                pair.heard = now;
                self.other_side_lost(peer, mark.number);
            }
            Frame::Ask => pair.acks_all = true,
            Frame::Bye => pair.has_left = true,
            Frame::Packet | Frame::Throttle | Frame::Resume | Frame::Placed => {
                match pair.packets.turn(mark.number, body.len()) {
                    Turn::Now => self.deliver(peer, mark.frame, body, now, counts, on),
                    Turn::Later => pair.packets.store_early(mark.number, mark.frame, body.to_vec()),
                    Turn::Never => {} // it has come by a link that is lost, too
                }
                while let Some((frame, body)) = self.pair(peer).packets.next_early() {
                    self.deliver(peer, frame, body[..].into(), now, counts, on);
                }
            }
        }
        // Its end shows on all links, also on those that it does not use.
        let pair = self.pair(peer);
        if !pair.is_wanted && !pair.has_left && !self.callers.contains(&peer) {
            self.callers.push(peer);
        }
        self.activate(peer);
    }

    /// A numbered frame whose turn it is.
    fn deliver(
        &mut self,
        peer: Peer,
        frame: Frame,
        body: Source<'_>,
        now: Duration,
        counts: &mut Counts,
        on: &mut impl FnMut(Event<'_>, &mut Counts),
    ) {
        let Some(pair) = self.pairs.get_mut(peer) else { return };
        let is_known = match frame {
            Frame::Packet => {
                let (front, payload) = body.split_at(HEADER);
                let mut header = [0; HEADER];
                let is_whole = front.copy_to(&mut header) == HEADER;
                let packet = Packet::parse(&header, payload).ok().filter(|_| is_whole);
                let is_known = packet.is_some();
                if let Some(packet) = packet {
                    on(Event::Packet(peer, packet), counts);
                }
                is_known
            }
            Frame::Throttle | Frame::Resume => {
                pair.throttled = frame == Frame::Throttle;
                true
            }
            Frame::Placed => {
                Placed::read(body).is_some_and(|placed| pair.placed(placed, now, &mut self.done))
            }
            Frame::Seen | Frame::Ask | Frame::Bye => false,
        };
        if !is_known {
            counts.add(Counter::MalformedPackets, 1);
        }
    }

    /// A link has read a part of a message.
    pub(super) fn read(&mut self, link: usize, sender: RequestId) {
        let Self { pairs, active, done, .. } = self;
        for peer in active {
            let Some(pair) = pairs.get_mut(*peer) else { continue };
            let is_it = |outgoing: &Outgoing| outgoing.sender == sender;
            if let Some(at) = pair.outgoing.iter().position(is_it) {
                pair.outgoing[at].read(link);
                return pair.end_outgoing(at, done);
            }
        }
    }

    fn other_side_lost(&mut self, peer: Peer, bits: u32) {
        let strands = self.pair(peer).strands.iter().enumerate();
        let meant = |(link, strand): &(usize, &Strand)| bits >> link & 1 == 1 && strand.lost.is_none();
        let links: Vec<usize> = strands.filter(meant).map(|(link, _)| link).collect();
        self.given_up.extend(links.into_iter().map(|link| (link, peer, "the other side has lost it")));
    }

    /// A range of a long message has come.
    pub(super) fn placed(&mut self, receiver: RequestId, from: u64, to: u64) {
        let Some(incoming) = self.incoming.get_mut(&receiver) else { return };
        let (peer, is_whole) = (incoming.from, incoming.placed(from, to));
        if is_whole {
            self.incoming.remove(&receiver);
            self.landed.push((peer, receiver));
        }
        let spans = &mut self.pair(peer).placed;
        match spans.last_mut() {
            Some(last) if last.receiver == receiver && last.to == from => last.to = to,
            _ => spans.push(Placed { receiver, from, to }),
        }
        self.activate(peer);
    }

    /// A link to a peer is lost: the others take over; with none left the peer is down.
    pub(super) fn lose(&mut self, link: usize, peer: Peer, why: Error, counts: &mut Counts) {
        let me = self.me;
        let pair = self.pair(peer);
        if pair.is_down || pair.strands[link].lost.is_some() {
            return;
        }
        let has_left = pair.has_left;
        counts.add(Counter::LinksDown, u64::from(!has_left));
        counts.add(Counter::Resent, pair.packets.lose(link));
        for outgoing in &mut pair.outgoing {
            counts.add(Counter::ResentBytes, outgoing.lose(link));
        }
        // It may have been the last that read data which had come by another one.
        for over in self
            .pairs
            .get_mut(peer)
            .into_iter()
            .flat_map(|pair| pair.outgoing.extract_if(.., |out| out.is_over()))
        {
            self.done.push_back(Done::Sent(over.sender));
        }
        let pair = self.pair(peer);
        pair.strands[link].pace.forget();
        let sentence = why.to_string();
        pair.strands[link].lost = Some(why);
        pair.acks_all = true;
        if pair.strands.iter().any(|strand| strand.lost.is_none()) {
            self.activate(peer);
            if !has_left && !std::mem::replace(&mut self.reported[link], true) {
                say(format_args!(
                    "rank {} of the world has lost its link {} to rank {} and goes on over others: {sentence} (more losses of \
                     such links will only be counted, as links.down)",
                    me.0, self.links[link], peer.0
                ));
            }
            return;
        }
        self.fail(peer);
    }

    /// Nothing more goes to a peer or comes from it. What became of the links.
    pub(super) fn exclude(&mut self, peer: Peer) -> Vec<Strand> {
        let links = self.links.len();
        let strands = std::mem::replace(self.pair(peer), Pair { is_down: true, ..Pair::new(links) }).strands;
        self.active.retain(|other| *other != peer);
        self.incoming.retain(|_, incoming| incoming.from != peer);
        strands
    }

    fn fail(&mut self, peer: Peer) {
        let lost = self.exclude(peer).into_iter().map(|strand| strand.lost);
        let lost: Vec<(&String, Error)> = self.links.iter().zip(lost.flatten()).collect();
        let each: Vec<String> = lost.iter().map(|(name, why)| format!("{name}: {why}")).collect();
        let Some((_, last)) = lost.last() else { return };
        let text = format!("rank {} of the world is lost on every link: {}", peer.0, each.join("; "));
        self.lost.push_back((peer, Error::other(last.class(), text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::OwnedBuf;
    use crate::datatype::Segment;
    use crate::error::ErrorClass;

    /// Its data has come by a link that is lost, another one had begun with it, and is lost, too; a third one stands.
    #[test]
    fn a_message_ends_with_the_link_that_was_the_last_to_read_it() {
        let peer = Peer(1);
        let mut pairs = Pairs::new(Peer(0), vec![String::new(); 3]);
        let mut counts = Counts::default();
        let why = || Error::other(ErrorClass::Other, "cut");
        let data = OwnedBuf::new(100);
        let id = RequestId { slot: 1, generation: 1 };
        let segment = Segment::contiguous(data.user_buf(), 100);
        pairs.pair(peer).outgoing.push(Outgoing::new(id, id, segment, 3, 1000));
        pairs.activate(peer);
        assert!(pairs.pair(peer).outgoing[0].take(0).is_some());
        pairs.lose(0, peer, why(), &mut counts);
        assert!(pairs.pair(peer).outgoing[0].take(1).is_some());
        let placed = Placed { receiver: id, from: 0, to: 100 };
        let mut done = VecDeque::new();
        assert!(pairs.pair(peer).placed(placed, Duration::ZERO, &mut done) && done.is_empty());
        pairs.lose(1, peer, why(), &mut counts);
        assert!(matches!(pairs.done.pop_front(), Some(Done::Sent(sender)) if sender == id));
        assert!(pairs.pair(peer).outgoing.is_empty());
    }
}
