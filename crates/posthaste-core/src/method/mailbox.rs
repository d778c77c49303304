//! The smallest method there can be, for tests: a queue in memory for each pair of engines of this process. It has what
//! every method must have and nothing else, so it shows what that is.
//!
//! What must stay true: packets stay in order; there is always room, unless messages are throttled.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use posthaste_os::mem::Sink;

use crate::datatype::Segment;
use crate::ids::Peer;
use crate::method::contract::{Method, Room};
use crate::method::reassembly::Reassembly;
use crate::method::{Caps, Done, Event, GrantedSend, Load, OpenReceive, packing};
use crate::trace::{Counter, Counts};
use crate::wire::{DATA_FRONT, Emit, Granted, HEADER, Packet};

/// Longest payload of a packet.
const PACKET: usize = 200;

/// A packet under way.
#[derive(Debug)]
struct Letter {
    from: Peer,
    header: [u8; HEADER],
    payload: Vec<u8>,
}

/// What two ends share: packets by receiver and sender, and whose messages are throttled by whom.
#[derive(Debug, Default)]
pub struct Post {
    packets: HashMap<Peer, VecDeque<Letter>>,
    throttled: HashSet<(Peer, Peer)>,
    /// Between whom the network is taken to be at work.
    pub(crate) moving: HashSet<(Peer, Peer)>,
}

/// The mailboxes of all engines.
pub(crate) type PostOffice = Arc<Mutex<Post>>;

/// The method of one engine.
#[derive(Debug)]
pub struct Mailbox {
    me: Peer,
    office: PostOffice,
    done: VecDeque<Done>,
    reassembly: Reassembly,
    /// Peers that this engine takes for lost.
    excluded: HashSet<Peer>,
}

/// Room for one packet.
#[derive(Debug)]
pub struct Claim<'a> {
    mailbox: &'a Mailbox,
    to: Peer,
    len: usize,
}

impl Mailbox {
    /// The mailbox of an engine.
    pub fn new(me: Peer, office: PostOffice) -> Self {
        Self {
            me,
            office,
            done: VecDeque::new(),
            reassembly: Reassembly::default(),
            excluded: HashSet::new(),
        }
    }
}

impl Method for Mailbox {
    type To = Peer;
    type Claim<'a> = Claim<'a>;

    fn caps(&mut self, _: Peer) -> Caps {
        Caps { packet: PACKET, in_order: true, ..Caps::default() }
    }

    fn claim(&mut self, to: Peer, len: usize, load: Load) -> Option<Claim<'_>> {
        let throttled = self.office.lock().unwrap().throttled.contains(&(self.me, to));
        let fits = len <= PACKET && !((throttled || self.excluded.contains(&to)) && load == Load::Message);
        fits.then_some(Claim { mailbox: self, to, len })
    }

    fn throttle(&mut self, from: Peer, on: bool) {
        let throttled = &mut self.office.lock().unwrap().throttled;
        if on {
            throttled.insert((from, self.me))
        } else {
            throttled.remove(&(from, self.me))
        };
    }

    fn open_receive(&mut self, opened: OpenReceive) -> Granted {
        self.reassembly.open(opened);
        Granted::Fragments
    }

    fn send_granted(&mut self, to: Peer, mut send: GrantedSend) {
        while send.left() > 0 {
            let n = send.left().min((PACKET - DATA_FRONT) as u64) as usize;
            let emit = Emit::data(send.receiver, send.segment.position());
            Claim { mailbox: self, to, len: DATA_FRONT + n }.write(&emit, Some(&mut send.segment));
        }
        self.done.push_back(Done::Sent(send.sender));
    }

    fn exclude(&mut self, peer: Peer) -> bool {
        self.reassembly.lose(peer);
        self.excluded.insert(peer)
    }

    fn is_moving(&self, peer: Peer) -> bool {
        self.office.lock().unwrap().moving.contains(&(self.me, peer))
    }

    fn is_drained(&self) -> bool {
        self.done.is_empty()
    }

    fn poll(&mut self, counts: &mut Counts, on: &mut impl FnMut(Event<'_>, &mut Counts)) -> bool {
        let packets = self.office.lock().unwrap().packets.remove(&self.me).unwrap_or_default();
        let busy = !packets.is_empty() || !self.done.is_empty();
        for Letter { from, header, payload } in packets {
            match Packet::parse(&header, payload[..].into()) {
                Ok(Packet::Data { receiver, offset, data }) => {
                    if self.reassembly.arrived(from, receiver, offset, data, counts) {
                        on(Event::Received(receiver), counts);
                    }
                }
                Ok(packet) if self.excluded.contains(&from) && !matches!(packet, Packet::Excluded) => {
                    counts.add(Counter::StalePackets, 1);
                }
                Ok(packet) => on(Event::Packet(from, packet), counts),
                Err(_) => counts.add(Counter::MalformedPackets, 1),
            }
        }
        self.done.drain(..).for_each(|done| on(done.event(), counts));
        busy
    }
}

impl Room for Claim<'_> {
    fn write(self, emit: &Emit, data: Option<&mut Segment>) {
        let mut payload = vec![0; self.len];
        packing(data)(emit.write_front(Sink::from(&mut payload[..])));
        let Mailbox { me, office, .. } = self.mailbox;
        let letter = Letter { from: *me, header: emit.header, payload };
        office.lock().unwrap().packets.entry(self.to).or_default().push_back(letter);
    }
}
