//! Long messages: reads and writes of remote memory, the fragments that take their place, and who is notified of what.
//!
//! A [`Moving`] moves the bytes of a segment piece by piece; each piece is registered while it is under way, where
//! the network wants that. What must stay true: memory is registered until its last read or write is over, also when
//! one of them fails or the peer is lost; a get or put that failed is refused, a part of a message that failed goes in fragments.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;

use posthaste_os::fabric::{self, NotStarted};

use super::{Fabric, PACKET, RESERVE, memory_in, pin};
use crate::buffer;
use crate::datatype::Segment;
use crate::ids::{Peer, RequestId};
use crate::method::contract::{Method, Room};
use crate::method::fabric::link::Frame;
use crate::method::pinned::Lease;
use crate::method::{Done, GrantedSend, Load, Outcome, Owner, Transfer};
use crate::wire::{DATA_FRONT, Emit, Granted, Part, RemoteMemory};

/// Bytes of one read or write, at most: a hand full of them is under way at a time.
const PIECE: usize = 1 << 20;
/// Runs of user memory that are looked up at a time.
const RUNS: usize = 64;

/// What reads or writes are for.
#[derive(Debug)]
pub(super) enum Purpose {
    /// A one-sided read.
    Get(Owner),
    /// A one-sided write.
    Put(Owner),
    /// Part of a message that is written into a window of its receiver.
    Part(Part),
}

/// Bytes on their way by reads or writes.
#[derive(Debug)]
struct Moving {
    peer: Peer,
    purpose: Purpose,
    /// Stands where the next run begins.
    segment: Segment,
    end: u64,
    /// Where the byte at position `base` is on the other side, and the key to that.
    address: u64,
    key: u64,
    base: u64,
    /// Runs of memory that are next: address, length, position in the message.
    runs: VecDeque<(usize, usize, u64)>,
    under_way: usize,
    failed: bool,
}

/// A read or write under way.
#[derive(Debug)]
struct Piece {
    transfer: u64,
    lease: Option<Lease>,
}

/// Part of a message that leaves in fragments.
#[derive(Debug)]
struct Fragments {
    to: Peer,
    receiver: RequestId,
    /// Stands where the next fragment begins.
    segment: Segment,
    end: u64,
    then: Then,
}

/// What follows the last fragment, or the last write.
#[derive(Clone, Copy, Debug)]
enum Then {
    /// The send is over.
    Sent(RequestId),
    /// The rest of a message that goes into windows is over.
    Rest,
    /// The receiver is notified of the part.
    Filled(Part),
}

/// A message that goes into windows.
#[derive(Debug)]
struct Writing {
    segment: Segment,
    sender: RequestId,
    /// Bytes of which no window has come yet.
    left: u64,
    /// Parts that nobody has been notified of, and the rest.
    open: usize,
}

/// What the peer is sent when there is room.
#[derive(Debug)]
enum Note {
    Frame(Frame),
    Filled(Part),
}

/// All of them.
#[derive(Debug, Default)]
pub(super) struct Transfers {
    next: u64,
    transfers: HashMap<u64, Moving>,
    /// Those that have something to start.
    ready: VecDeque<u64>,
    pieces: HashMap<u64, Piece>,
    fragments: VecDeque<Fragments>,
    writing: HashMap<(Peer, RequestId), Writing>,
    notes: VecDeque<(Peer, Note)>,
}

impl Transfers {
    pub(super) fn is_empty(&self) -> bool {
        self.transfers.is_empty()
            && self.fragments.is_empty()
            && self.writing.is_empty()
            && self.notes.is_empty()
    }

    /// Sends a peer a control frame when there is room.
    pub(super) fn send_control(&mut self, to: Peer, frame: Frame) {
        self.notes.push_back((to, Note::Frame(frame)));
    }

    /// Forgets everything about a peer but what the network may still do to memory.
    pub(super) fn lose(&mut self, peer: Peer) {
        self.fragments.retain(|fragments| fragments.to != peer);
        self.writing.retain(|(to, _), _| *to != peer);
        self.notes.retain(|(to, _)| *to != peer);
        for transfer in self.transfers.values_mut().filter(|transfer| transfer.peer == peer) {
            transfer.failed = true;
        }
        self.transfers.retain(|_, transfer| transfer.peer != peer || transfer.under_way > 0);
    }

    /// Whether the network may still do something to memory on account of a peer.
    pub(super) fn are_under_way(&self, peer: Peer) -> bool {
        self.transfers.values().any(|transfer| transfer.peer == peer)
    }

    /// The peers of all transfers.
    pub(super) fn peers(&self) -> BTreeSet<Peer> {
        self.transfers.values().map(|transfer| transfer.peer).collect()
    }

    fn begin(&mut self, transfer: Moving) {
        self.next += 1;
        self.transfers.insert(self.next, transfer);
        self.ready.push_back(self.next);
    }
}

impl Moving {
    fn new(peer: Peer, purpose: Purpose, segment: Segment, end: u64, (address, key): (u64, u64)) -> Self {
        let base = segment.position();
        let runs = VecDeque::new();
        Self { peer, purpose, segment, end, address, key, base, runs, under_way: 0, failed: false }
    }

    /// The next bytes to be moved.
    fn take_run(&mut self, most: usize) -> Option<(usize, usize, u64)> {
        if self.runs.is_empty() && self.segment.position() < self.end {
            let mut at = self.segment.position();
            let mut list = Vec::new();
            self.segment.runs(RUNS, self.end - at, &mut list);
            for (address, len) in list {
                self.runs.push_back((address, len, at));
                at += len as u64;
            }
        }
        let (address, len, at) = self.runs.pop_front()?;
        if len > most {
            self.runs.push_front((address + most, len - most, at + most as u64));
        }
        Some((address, len.min(most), at))
    }

    fn is_over(&self) -> bool {
        let has_begun_all = self.runs.is_empty() && self.segment.position() >= self.end;
        self.under_way == 0 && (self.failed || has_begun_all)
    }
}

impl Fabric {
    /// Starts a one-sided read or write.
    pub(super) fn start_transfer(
        &mut self,
        peer: Peer,
        transfer: Transfer,
        purpose: impl FnOnce(Owner) -> Purpose,
    ) -> Result<(), Transfer> {
        let RemoteMemory::Address { address, key } = transfer.memory else { return Err(transfer) };
        if self.wanted(peer).is_none_or(|link| link.is_down()) {
            return Ok(()); // ends with the bad news
        }
        let Transfer { segment, len, owner, .. } = transfer;
        self.transfers.begin(Moving::new(peer, purpose(owner), segment, len, (address, key)));
        Ok(())
    }

    pub(super) fn start_granted(&mut self, send: GrantedSend) {
        let GrantedSend { to, receiver, sender, mut segment, until: end, granted } = send;
        if self.known(to).is_none_or(|link| link.is_down()) {
            return;
        }
        match granted {
            Granted::Windows { until } => {
                let left = until.saturating_sub(segment.position());
                let writing = Writing { segment: segment.clone(), sender, left, open: 1 };
                self.transfers.writing.insert((to, receiver), writing);
                segment.seek(until);
                self.transfers.fragments.push_back(Fragments {
                    to,
                    receiver,
                    segment,
                    end,
                    then: Then::Rest,
                });
            }
            Granted::Fragments | Granted::Memory(_) => {
                let then = Then::Sent(sender);
                self.transfers.fragments.push_back(Fragments { to, receiver, segment, end, then });
            }
        }
    }

    /// The receiver has opened a window. False if it is for nothing of ours.
    pub(super) fn fill(&mut self, to: Peer, part: Part) -> bool {
        let Some(writing) = self.transfers.writing.get_mut(&(to, part.receiver)) else { return false };
        if writing.left < part.len || part.offset + part.len > writing.segment.len() {
            return false;
        }
        writing.left -= part.len;
        writing.open += 1;
        let mut segment = writing.segment.clone();
        segment.seek(part.offset);
        let end = part.offset + part.len;
        match part.memory {
            Some(RemoteMemory::Address { address, key }) => {
                self.transfers.begin(Moving::new(to, Purpose::Part(part), segment, end, (address, key)));
            }
            Some(RemoteMemory::Shared { .. }) | None => self.send_part_in_fragments(to, part, segment),
        }
        true
    }

    fn send_part_in_fragments(&mut self, to: Peer, part: Part, mut segment: Segment) {
        segment.seek(part.offset);
        let (receiver, end) = (part.receiver, part.offset + part.len);
        let then = Then::Filled(Part { memory: None, ..part });
        self.transfers.fragments.push_back(Fragments { to, receiver, segment, end, then });
    }

    /// A read or write is over.
    pub(super) fn moved(&mut self, token: u64, error: Option<io::Error>) {
        let Some(Piece { transfer: id, lease }) = self.transfers.pieces.remove(&token) else { return };
        if let Some(lease) = lease {
            self.pinned.release(lease);
        }
        let Some(transfer) = self.transfers.transfers.get_mut(&id) else { return };
        transfer.under_way -= 1;
        transfer.failed |= error.is_some();
        if transfer.is_over() {
            self.end(id);
        }
    }

    /// Starts what there is room for, notifies peers of what they wait for, opens windows. Whether anything was done.
    pub(super) fn advance(&mut self) -> bool {
        let mut busy = false;
        for _ in 0..self.transfers.ready.len() {
            let Some(id) = self.transfers.ready.pop_front() else { break };
            match self.start_pieces(id) {
                Progress::Begun => {
                    busy = true;
                    if self.transfers.transfers.get(&id).is_some_and(Moving::is_over) {
                        self.end(id);
                    }
                }
                Progress::Full => {
                    self.transfers.ready.push_front(id);
                    break;
                }
            }
        }
        if !self.transfers.notes.is_empty() {
            busy |= self.send_notes();
        }
        if !self.transfers.fragments.is_empty() {
            busy |= self.send_fragments();
        }
        busy | self.open_windows()
    }

    /// Starts all reads or writes of a transfer, as far as the network takes them.
    fn start_pieces(&mut self, id: u64) -> Progress {
        let most = PIECE.min(self.endpoint.longest_transfer());
        let Some(transfer) = self.transfers.transfers.get_mut(&id) else { return Progress::Begun };
        let Some(link) = self.links.get(transfer.peer) else { return Progress::Begun };
        let Some(remote) = link.remote() else { return Progress::Begun };
        let reading = matches!(transfer.purpose, Purpose::Get(_));
        while !transfer.failed
            && let Some((address, len, at)) = transfer.take_run(most)
        {
            let run = (address, len);
            let lease = match self.endpoint.needs_local() {
                true => pin(&mut self.pinned, &mut self.endpoint, run, reading).map(Some),
                false => Ok(None),
            };
            let Ok(lease) = lease else {
                transfer.failed = true;
                break;
            };
            let local = lease.as_ref().map(|lease| self.pinned.region(lease));
            let address = transfer.address.wrapping_add(at - transfer.base);
            let place = fabric::Place { address, key: transfer.key };
            self.transfers.next += 1;
            let token = self.transfers.next;
            let started = if reading {
                buffer::read_remote(&mut self.endpoint, run, local, remote, place, token)
            } else {
                buffer::write_remote(&mut self.endpoint, run, local, remote, place, token)
            };
            if started.is_ok() {
                transfer.under_way += 1;
                self.transfers.pieces.insert(token, Piece { transfer: id, lease });
                continue;
            }
            if let Some(lease) = lease {
                self.pinned.release(lease);
            }
            if let Err(NotStarted::Full(())) = started {
                transfer.runs.push_front((run.0, run.1, at));
                return Progress::Full;
            }
            transfer.failed = true;
        }
        Progress::Begun
    }

    /// A transfer is over, one way or the other.
    fn end(&mut self, id: u64) {
        let Some(transfer) = self.transfers.transfers.remove(&id) else { return };
        let Moving { peer, purpose, mut segment, failed, base, .. } = transfer;
        if self.known(peer).is_none_or(|link| link.is_down()) {
            if !self.transfers.are_under_way(peer) {
                self.report(peer, "the network has done what was under way");
            }
            return;
        }
        segment.seek(base);
        match purpose {
            Purpose::Get(owner) | Purpose::Put(owner) => {
                let outcome = if failed { Outcome::Refused(segment) } else { Outcome::Done };
                self.done.push_back(Done::Over(owner, outcome));
            }
            Purpose::Part(part) if failed => self.send_part_in_fragments(peer, part, segment),
            Purpose::Part(part) => self.transfers.notes.push_back((peer, Note::Filled(part))),
        }
    }

    fn send_notes(&mut self) -> bool {
        let mut busy = false;
        while let Some((to, note)) = self.transfers.notes.pop_front() {
            let emit = match note {
                Note::Frame(_) => None,
                Note::Filled(part) => Some(Emit::filled(part)),
            };
            let left = match (&note, emit) {
                (Note::Frame(frame), _) => self.send_frame(to, *frame),
                (_, Some(emit)) => self.send(to, &emit),
                _ => true,
            };
            if !left {
                self.transfers.notes.push_front((to, note));
                break;
            }
            busy = true;
            match note {
                Note::Frame(_) => {}
                Note::Filled(part) => self.close_part(to, part.receiver),
            }
        }
        busy
    }

    fn send(&mut self, to: Peer, emit: &Emit) -> bool {
        let Some(claim) = self.claim(to, emit.front().len(), Load::Control) else { return false };
        claim.write(emit, None);
        true
    }

    fn send_fragments(&mut self) -> bool {
        let mut busy = false;
        for _ in 0..self.transfers.fragments.len() {
            let Some(mut next) = self.transfers.fragments.pop_front() else { break };
            let (to, receiver) = (next.to, next.receiver);
            while next.segment.position() < next.end && self.endpoint.free() > RESERVE / 2 {
                let at = next.segment.position();
                let n = (next.end - at).min((PACKET - DATA_FRONT) as u64) as usize;
                let Some(claim) = self.claim(to, DATA_FRONT + n, Load::Control) else { break };
                claim.write(&Emit::data(receiver, at), Some(&mut next.segment));
                busy = true;
            }
            if next.segment.position() < next.end {
                self.transfers.fragments.push_back(next);
                continue;
            }
            busy = true;
            match next.then {
                Then::Sent(sender) => self.done.push_back(Done::Sent(sender)),
                Then::Rest => self.close_part(to, receiver),
                Then::Filled(part) => self.transfers.notes.push_back((to, Note::Filled(part))),
            }
        }
        busy
    }

    /// One more part of a message, or its rest, has left, and the receiver knows.
    fn close_part(&mut self, to: Peer, receiver: RequestId) {
        let key = (to, receiver);
        let Some(writing) = self.transfers.writing.get_mut(&key) else { return };
        writing.open -= 1;
        if writing.open == 0 && writing.left == 0 {
            self.done.push_back(Done::Sent(writing.sender));
            self.transfers.writing.remove(&key);
        }
    }

    fn open_windows(&mut self) -> bool {
        let mut busy = false;
        while let Some(next) = self.windows.next_window() {
            if self.endpoint.free() == 0 {
                break;
            }
            let run = (next.memory.address(), next.len as usize);
            let lease = pin(&mut self.pinned, &mut self.endpoint, run, true).ok();
            let memory = lease.as_ref().map(|lease| memory_in(self.pinned.region(lease), run.0));
            let part = Part { receiver: next.receiver, offset: next.offset, len: next.len, memory };
            self.send(next.from, &Emit::window(part)); // there is room, as just seen
            self.windows.opened(&next, lease);
            busy = true;
        }
        busy
    }
}

enum Progress {
    /// Everything that can be has been started.
    Begun,
    /// The network takes no more now.
    Full,
}
