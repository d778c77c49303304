//! Atomic operations that the network does by itself, for windows to whose members it alone leads (MPI-5.0 §12.3.4, §12.7.2).
//!
//! What must stay true: an operation begins when all before it have begun and none is under way on the same memory of the peer, so
//! that those of this process on one element are done in their order; memory of the program is read and written here, and what the
//! network has is a buffer of the endpoint; who changes elements of a kind by the network does so by every operation.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::ops::Range;

use posthaste_os::fabric::{Atomic, Endpoint, NotStarted, Number, Place, Slot, Step};

use super::{Fabric, Frame, RESERVE};
use crate::datatype::{Builtin, Kind, Segment};
use crate::ids::Peer;
use crate::method::{AtomicTransfer, Done, Outcome, Owner};
use crate::wire::RemoteMemory;

/// Parts of operations that are under way to one peer, at most.
const UNDER_WAY: usize = 16;

/// An operation of which not all elements have begun.
#[derive(Debug)]
struct Waiting {
    number: u64,
    atomic: AtomicTransfer,
    kind: Number,
    /// Where the next element lies, and the key to that.
    place: Place,
}

/// Elements that the network is at work on.
#[derive(Debug)]
struct Part {
    peer: Peer,
    operation: u64,
    /// Where they lie.
    addresses: Range<u64>,
    /// Gets what they were.
    old: Option<Segment>,
}

/// An operation that has begun.
#[derive(Debug, Default)]
struct Begun {
    /// Parts that are under way.
    parts: usize,
    /// Known when nothing more of it begins.
    owner: Option<Owner>,
    failed: bool,
}

/// Whether elements have begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Started {
    Yes,
    /// They may later.
    NotNow,
    /// They never will.
    Failed,
}

/// All of them.
#[derive(Debug)]
pub(super) struct Atomics {
    /// How many elements of each kind the network changes at a time.
    limits: [usize; Number::ALL.len()],
    waiting: HashMap<Peer, VecDeque<Waiting>>,
    begun: HashMap<u64, Begun>,
    /// By their tokens.
    parts: HashMap<u64, Part>,
    last: u64,
}

impl Atomics {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        let limits = Number::ALL.map(|kind| endpoint.atomic_limit(kind));
        let (waiting, begun, parts) = (HashMap::new(), HashMap::new(), HashMap::new());
        Self { limits, waiting, begun, parts, last: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.parts.is_empty()
    }

    /// Forgets what was to be done at a peer: whose operations that were. What is under way ends in a buffer.
    pub(super) fn lose(&mut self, peer: Peer) -> Vec<Owner> {
        let mut owners = Vec::new();
        for Waiting { number, atomic, .. } in self.waiting.remove(&peer).into_iter().flatten() {
            self.begun.remove(&number);
            owners.push(atomic.owner);
        }
        for (_, Part { operation, .. }) in self.parts.extract_if(|_, part| part.peer == peer) {
            owners.extend(self.begun.remove(&operation).and_then(|begun| begun.owner));
        }
        owners
    }

    fn next_number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Whether nothing is under way at these addresses of a peer, and not too much in all.
    fn admits(&self, peer: Peer, addresses: &Range<u64>) -> bool {
        let mut theirs = self.parts.values().filter(|part| part.peer == peer);
        let overlaps =
            |part: &Part| part.addresses.start < addresses.end && addresses.start < part.addresses.end;
        theirs.clone().count() < UNDER_WAY && !theirs.any(overlaps)
    }
}

/// The element as networks know it, if they do.
fn number_of(kind: Kind) -> Option<Number> {
    Some(match kind {
        Kind::Signed(1) => Number::I8,
        Kind::Unsigned(1) => Number::U8,
        Kind::Signed(2) => Number::I16,
        Kind::Unsigned(2) => Number::U16,
        Kind::Signed(4) => Number::I32,
        Kind::Unsigned(4) => Number::U32,
        Kind::Signed(8) => Number::I64,
        Kind::Unsigned(8) => Number::U64,
        Kind::Float(4) => Number::F32,
        Kind::Float(8) => Number::F64,
        _ => return None,
    })
}

/// The bit of an element in [`Fabric::changes`]; 0: no network changes it.
pub(crate) fn bit_of(element: &Builtin) -> u64 {
    number_of(element.kind).map_or(0, |number| 1 << number as u64)
}

impl Fabric {
    /// The kinds of elements that the network changes, a set of bits; none where it does not lead back to this process.
    pub(in crate::method) fn changes(&mut self) -> u64 {
        let me = self.setup.me;
        if self.atomics.limits == [0; Number::ALL.len()] || self.wanted(me).is_none_or(|link| link.is_down())
        {
            return 0;
        }
        let has = |number: &Number| self.atomics.limits[*number as usize] > 0;
        Number::ALL.into_iter().filter(has).fold(0, |bits, number| bits | 1 << number as u64)
    }

    /// Starts an operation on elements of a peer, or of this process itself. False if the network does not do it.
    pub(in crate::method) fn change(&mut self, atomic: AtomicTransfer) -> bool {
        let RemoteMemory::Address { address, key } = atomic.memory else { return false };
        let kind = number_of(atomic.element.kind).filter(|kind| self.atomics.limits[*kind as usize] > 0);
        let Some(kind) = kind else { return false };
        let peer = atomic.peer;
        if self.wanted(peer).is_none_or(|link| link.is_down()) {
            return peer != self.setup.me; // ends with the bad news
        }
        let place = Place { address, key };
        let waiting = Waiting { number: self.atomics.next_number(), atomic, kind, place };
        self.atomics.waiting.entry(peer).or_default().push_back(waiting);
        self.start_changes(peer);
        true
    }

    /// Starts whatever can be. Whether anything was.
    pub(super) fn advance_changes(&mut self) -> bool {
        let peers: Vec<Peer> = self.atomics.waiting.keys().copied().collect();
        peers.into_iter().fold(false, |busy, peer| self.start_changes(peer) | busy)
    }

    /// The same for one peer.
    fn start_changes(&mut self, peer: Peer) -> bool {
        let mut busy = false;
        while let Some(mut queue) = self.atomics.waiting.remove(&peer) {
            let started = queue.front_mut().map_or(Started::NotNow, |next| self.start_part(peer, next));
            busy |= started != Started::NotNow;
            let ends = |next: &mut Waiting| {
                started == Started::Failed
                    || (started == Started::Yes && next.atomic.operands.remaining() == 0)
            };
            if let Some(next) = queue.pop_front_if(ends) {
                self.begun_all(next.number, next.atomic.owner, started == Started::Failed);
            }
            if !queue.is_empty() && self.stands(peer) {
                self.atomics.waiting.insert(peer, queue);
            }
            if started == Started::NotNow {
                break;
            }
        }
        busy
    }

    /// Nothing more of an operation begins.
    fn begun_all(&mut self, number: u64, owner: Owner, failed: bool) {
        let begun = self.atomics.begun.entry(number).or_default();
        begun.owner = Some(owner);
        begun.failed |= failed;
        self.end_if_over(number);
    }

    /// Ends an operation of which nothing is under way and nothing more begins.
    fn end_if_over(&mut self, number: u64) {
        let Some(Begun { parts: 0, owner: Some(owner), failed }) = self.atomics.begun.get(&number) else {
            return;
        };
        let outcome = if *failed { Outcome::Unreadable } else { Outcome::Done };
        self.done.push_back(Done::Over(*owner, outcome));
        self.atomics.begun.remove(&number);
    }

    /// Starts the next elements of an operation, if that may be now.
    fn start_part(&mut self, peer: Peer, next: &mut Waiting) -> Started {
        let Waiting { number, kind, place, .. } = *next;
        let step = next.atomic.step;
        let size = kind.size();
        let most = if step == Step::CompareSwap { 1 } else { self.atomics.limits[kind as usize] };
        let count = most.min(next.atomic.operands.remaining() as usize / size);
        let addresses = place.address..place.address.wrapping_add((count * size) as u64);
        let remote = self.links.get(peer).and_then(super::Link::remote);
        let Some(remote) = remote.filter(|_| self.atomics.admits(peer, &addresses)) else {
            return Started::NotNow;
        };
        if self.endpoint.free() <= RESERVE {
            return Started::NotNow;
        }
        let Some(slot) = self.endpoint.claim() else { return Started::NotNow };
        let mut operands = next.atomic.operands.clone();
        let room = self.endpoint.atomic_room();
        let (first, second) = self.endpoint.sink(&slot).split_at(room);
        if step == Step::CompareSwap {
            operands.pack(second.split_at(size).0);
        }
        operands.pack(first.split_at(count * size).0);
        let token = self.atomics.next_number();
        match self.endpoint.atomic(slot, Atomic { number: kind, step, count }, remote, place, token) {
            Ok(()) => {}
            Err(NotStarted::Full(slot)) => {
                self.endpoint.unclaim(slot);
                return Started::NotNow;
            }
            Err(NotStarted::Failed(slot, _)) => {
                self.endpoint.unclaim(slot);
                return Started::Failed;
            }
        }
        let old = next.atomic.old.clone();
        if let Some(old) = &mut next.atomic.old {
            old.seek(old.position() + (count * size) as u64);
        }
        next.atomic.operands = operands;
        next.place.address = addresses.end;
        self.atomics.parts.insert(token, Part { peer, operation: number, addresses, old });
        self.atomics.begun.entry(number).or_default().parts += 1;
        Started::Yes
    }

    /// Elements have been changed, or the network has refused to.
    pub(super) fn changed(&mut self, token: u64, ended: io::Result<Slot>) {
        let part = self.atomics.parts.remove(&token);
        let fetched = ended.is_ok();
        if let Ok(slot) = ended {
            if let Some(Part { addresses, old: Some(old), .. }) = &part {
                let bytes = (addresses.end - addresses.start) as usize;
                old.clone().unpack(self.endpoint.fetched(&slot, bytes));
            }
            self.endpoint.unclaim(slot);
        }
        let Some(Part { peer, operation, .. }) = part else { return };
        if let Some(begun) = self.atomics.begun.get_mut(&operation) {
            begun.parts -= 1;
            begun.failed |= !fetched;
        }
        if !fetched {
            // The rest of it is not begun. Whether the peer lives shows by a packet.
            let waiting = self.atomics.waiting.get_mut(&peer);
            let rest = waiting.and_then(|waiting| waiting.pop_front_if(|next| next.number == operation));
            if let Some(rest) = rest {
                self.begun_all(operation, rest.atomic.owner, true);
            }
            if peer != self.setup.me {
                self.transfers.send_control(peer, Frame::Ask);
            }
        }
        self.end_if_over(operation);
        self.start_changes(peer);
    }
}
