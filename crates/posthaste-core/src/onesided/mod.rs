//! One-sided transport: a process exposes memory, and its peers read it, write it and combine it with their data. Beneath
//! messages and windows; MPI-5.0 chapter 12 is its first user.
//!
//! ```text
//!   origin                                        target
//!                                                 expose, memory_for   (key and memory go to the peers as data of theirs)
//!   put, get          == by the method itself =>
//!   put, get, atomic  ===== by packets =====>
//!   next_done         <---- for what is fetched -
//!   flush             ---------------------->
//!   next_done         <---------------------- all that came before has been done
//!                                                 forget
//! ```
//!
//! A method that has a one-sided transport reads and writes memory itself, without any help of the target; whoever wants
//! that shows where the method finds it ([`Target::memory`]). What it refuses, and everything else, goes by packets, which
//! whoever makes progress at the target serves.
//!
//! An operation has a token of its caller's and no request; when it is over, [`OneSided::next_done`] gives the token back
//! with the outcome. Over means:
//! * a put, and an atomic operation that fetches nothing: the origin's buffer may be used again. Whether the target has
//!   done it is reported by the next flush for its memory, whose outcome is the error of the first one that was refused since the
//!   flush before;
//! * a get, and an atomic operation that fetches: what it fetches is in place;
//! * a flush: the target has done everything that was started towards it before.
//!
//! What must stay true: operations on one target between two flushes may be done in any order (methods that reach memory
//! by themselves do so), atomic ones element by element, and all atomic operations on elements of one kind in a memory are done by
//! its owner, or all by the network ([`OneSided::change`]), so that there is one mechanism for each element. Nothing that a peer sends reaches memory that is not exposed.
//!
//! Parts: [`target`], the memory of this process; `attached`, memory found by its addresses; `lock`, who may use it;
//! `emulation`, the packets.

mod attached;
mod emulation;
mod layouts;
mod lock;
pub mod target;

use std::collections::{BTreeMap, VecDeque};

use posthaste_os::fabric::Step;

use crate::buffer::OwnedBuf;
use crate::datatype::{Builtin, Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::Peer;
use crate::method::{self, AtomicTransfer, Methods, Outcome, Owner, Transfer};
use crate::op::Predefined;
use crate::peers::PeerMap;
use crate::trace::{Counter, Counts};
use crate::wire::{Access, Atomically};
pub use crate::wire::{RemoteKey, RemoteMemory, Scattered};
use emulation::{Asked, Outgoing, Traffic, Wanted};
use target::Exposed;

/// What its caller calls an operation by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(pub u64);

impl Token {
    /// The mark of the operations of windows, whose ends are told apart from all others.
    pub const OF_WINDOW: u64 = 1 << 63;
}

/// An operation that is over.
#[derive(Debug)]
pub struct Done {
    /// Which.
    pub token: Token,
    /// Whether it was done.
    pub outcome: Result<()>,
}

/// A place in exposed memory.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Whose memory.
    pub peer: Peer,
    /// Which.
    pub key: RemoteKey,
    /// Where a method with a one-sided transport finds it, as its owner said ([`OneSided::memory_for`]).
    pub memory: Option<RemoteMemory>,
    /// Where in it, in bytes.
    pub offset: u64,
    /// How the elements lie there, if they are not one run ([`OneSided::scatter`]). Only packets go there.
    pub scattered: Option<Scattered>,
}

/// What an atomic operation does to each element of its target (MPI-5.0 §12.3.4).
#[derive(Debug)]
pub enum Atomic {
    /// Combines the target's elements with the operands, which are as many packed elements.
    Combine(Predefined, Segment),
    /// Replaces one element if it equals the first segment by the second one.
    CompareAndSwap(Segment, Segment),
}

/// The number that stands for compare-and-swap in packets.
const COMPARE_AND_SWAP: u32 = 0;

/// One-sided communication of one VCI.
#[derive(Debug, Default)]
pub struct OneSided {
    exposed: Exposed,
    traffic: PeerMap<Traffic>,
    /// Peers for whom something is queued that could leave if there were room, each once.
    waiting: VecDeque<Peer>,
    /// Operations that end with an answer, by their numbers.
    asked: BTreeMap<u64, Asked>,
    serial: u64,
    done: VecDeque<Done>,
    /// The same of windows.
    done_of_windows: VecDeque<Done>,
    ends: u64,
}

impl OneSided {
    /// Lets peers that have the key at this memory, until [`OneSided::forget`].
    ///
    /// # Errors
    /// `MPI_ERR_BASE` when the memory does not lie in one piece; `MPI_ERR_BUFFER` when it lies on a device.
    pub fn expose(&mut self, memory: &Segment) -> Result<RemoteKey> {
        on_host(memory)?;
        match memory.contiguous_rest() {
            Some((memory, len)) => Ok(self.exposed.add(memory, len)),
            None => {
                let text = "memory for one-sided communication has to lie in one piece";
                Err(Error::other(ErrorClass::Base, text.to_owned()))
            }
        }
    }

    /// Lets peers that know a name read these bytes, and lock this memory, until [`OneSided::forget`] of the name. Not if the name is
    /// taken.
    pub fn name(&mut self, name: RemoteKey, of: RemoteKey, bytes: &[u8]) -> bool {
        self.exposed.name(name, of, bytes)
    }

    /// Where reads and writes of this peer find such memory without our help, if the way to the peer has a one-sided
    /// transport: the peer needs that beside the key.
    pub fn memory_for(&mut self, methods: &mut Methods, key: RemoteKey, peer: Peer) -> Option<RemoteMemory> {
        let (memory, len) = self.exposed.memory(key)?;
        let memory = Segment::contiguous(memory, len);
        methods
            .shared(peer, &memory)
            .or_else(|| methods.expose(peer, &memory, method::Access::Write, owner(key)))
    }

    /// Ends that: what comes for this memory from now on is refused.
    pub fn forget(&mut self, methods: &mut Methods, key: RemoteKey) {
        methods.forget_for_all(owner(key));
        self.exposed.remove(key);
    }

    /// So many elements of a datatype as they lie in a peer's memory, for one access: the peer is told how, unless it knows.
    /// `None`: that takes too long, so each run has to be an access.
    pub fn scatter(
        &mut self,
        methods: &mut Methods,
        peer: Peer,
        (datatype, count): (&Datatype, u64),
    ) -> Option<Scattered> {
        let count = u32::try_from(count).ok()?;
        let description = layouts::describe(datatype)?;
        if !emulation::fits(methods, peer, &description) {
            return None;
        }
        let (layout, is_new) = self.traffic.get_or_make(peer, Traffic::default).told.number(datatype);
        if is_new {
            self.start(methods, peer, Outgoing::Layout(layout, description));
        }
        Some(Scattered { layout, count, from: 0 })
    }

    /// Writes the rest of `data` to the target.
    ///
    /// # Errors
    /// The peer is lost, or `MPI_ERR_BUFFER`: the buffer lies on a device. Nothing has begun.
    pub fn put(&mut self, methods: &mut Methods, to: Target, data: Segment, token: Token) -> Result<()> {
        self.check(to.peer)?;
        on_host(&data)?;
        let access = self.access(to);
        if let Err(data) = self.transfer(methods, &to, (access, token), data, Methods::put, Wanted::Placed) {
            self.start(methods, to.peer, Outgoing::Put { access, data, token, begun: false });
        }
        Ok(())
    }

    /// Reads as many bytes of the target as `into` takes.
    ///
    /// # Errors
    /// As [`OneSided::put`].
    pub fn get(&mut self, methods: &mut Methods, from: Target, into: Segment, token: Token) -> Result<()> {
        self.check(from.peer)?;
        on_host(&into)?;
        let (access, len) = (self.access(from), into.remaining());
        let moved = self.transfer(methods, &from, (access, token), into, Methods::get, Wanted::Fetched);
        let Err(into) = moved else { return Ok(()) };
        self.asked.insert(access.serial, Asked::new(from.peer, token, Wanted::Bytes(into)));
        self.start(methods, from.peer, Outgoing::Get { access, len });
        Ok(())
    }

    /// Does something to elements of this predefined type that begin at the target; `old` gets what they were, packed, for
    /// as many elements as there are operands.
    ///
    /// # Errors
    /// As [`OneSided::put`]; `MPI_ERR_OP` for an operation that the type does not have; `MPI_ERR_COUNT` for segments that do
    /// not fit each other; `MPI_ERR_UNSUPPORTED_OPERATION` for a peer whose data looks different.
    pub fn atomic(
        &mut self,
        methods: &mut Methods,
        to: Target,
        element: &'static Builtin,
        what: Atomic,
        old: Option<Segment>,
        token: Token,
    ) -> Result<()> {
        let (operation, operands, owner) = self.prepare(methods, to.peer, element, what, old.as_ref())?;
        if operands.remaining() == 0 {
            self.end(token, Ok(()));
            return Ok(());
        }
        let access = self.access(to);
        let what = Atomically { operation, element: element.named.on_the_wire(), fetches: old.is_some() };
        let ends_here = old.is_none().then_some(token);
        if let Some(old) = old {
            self.asked.insert(access.serial, Asked::new(to.peer, token, Wanted::Bytes(old)));
        }
        let outgoing =
            Outgoing::Atomic { access, what, element, operands, _owner: owner, ends_here, begun: false };
        self.start(methods, to.peer, outgoing);
        Ok(())
    }

    /// As [`OneSided::atomic`], by the network, which does all operations on elements of this type there, those of their owner
    /// included. When it is over it has been done.
    ///
    /// # Errors
    /// As [`OneSided::atomic`]; `MPI_ERR_INTERN` where the network does not do that.
    pub fn change(
        &mut self,
        methods: &mut Methods,
        to: Target,
        element: &'static Builtin,
        what: Atomic,
        old: Option<Segment>,
        token: Token,
    ) -> Result<()> {
        let (number, operands, owned) = self.prepare(methods, to.peer, element, what, old.as_ref())?;
        if operands.remaining() == 0 {
            self.end(token, Ok(()));
            return Ok(());
        }
        let (peer, serial) = (to.peer, self.next_serial());
        let memory = to.memory.map(|memory| memory.behind(to.offset));
        let step = step_of(Predefined::from_the_wire(number));
        let change = memory.zip(step).map(|(memory, step)| AtomicTransfer {
            peer,
            memory,
            element,
            step,
            operands,
            owned,
            old,
            owner: Owner::OneSided(serial),
        });
        if !change.is_some_and(|change| methods.change(change)) {
            let text =
                format!("the network does not change {} of rank {} of the world", element.name, peer.0);
            return Err(Error::other(ErrorClass::Intern, text));
        }
        self.asked.insert(serial, Asked::new(peer, token, Wanted::Changed));
        self.traffic.get_or_make(peer, Traffic::default).transfers += 1;
        Ok(())
    }

    /// The number of an atomic operation, its operands as they travel, and their memory, if it is ours.
    fn prepare(
        &self,
        methods: &mut Methods,
        peer: Peer,
        element: &'static Builtin,
        what: Atomic,
        old: Option<&Segment>,
    ) -> Result<(u32, Segment, Option<OwnedBuf>)> {
        self.check(peer)?;
        if methods.is_heterogeneous(peer) {
            let text =
                format!("atomic operations on rank {} of the world, whose data looks different", peer.0);
            return Err(Error::other(ErrorClass::UnsupportedOperation, text));
        }
        old.into_iter().try_for_each(on_host)?;
        let (operation, operands, owner) = operands(element, what)?;
        let fetched = if operation == COMPARE_AND_SWAP { element.size } else { operands.remaining() };
        if let Some(old) = old.filter(|old| old.remaining() != fetched) {
            let got = format_args!("{} bytes", old.remaining());
            return Err(Error::invalid(ErrorClass::Count, "result", got, format_args!("{fetched}")));
        }
        Ok((operation, operands, owner))
    }

    /// Asks a peer whether all that was started towards it before has been done. What it has refused of this memory is the
    /// outcome.
    ///
    /// # Errors
    /// The peer is lost.
    pub fn flush(
        &mut self,
        methods: &mut Methods,
        (peer, key): (Peer, RemoteKey),
        token: Token,
    ) -> Result<()> {
        self.check(peer)?;
        let serial = self.next_serial();
        self.asked.insert(serial, Asked::new(peer, token, Wanted::Flush(key)));
        self.start(methods, peer, Outgoing::Flush(serial));
        Ok(())
    }

    /// This process has parted from a peer, which may begin anew: it knows no layout any more.
    pub fn parted(&mut self, peer: Peer) {
        if let Some(traffic) = self.traffic.get_mut(peer) {
            traffic.begins_anew();
        }
    }

    /// The next operation that is over, of all but windows.
    pub fn next_done(&mut self) -> Option<Done> {
        self.done.pop_front()
    }

    /// The next operation of a window that is over.
    pub fn next_done_of_window(&mut self) -> Option<Done> {
        self.done_of_windows.pop_front()
    }

    /// Whether an operation of a window is over whose end nobody has taken.
    #[inline]
    pub fn has_done_of_window(&self) -> bool {
        !self.done_of_windows.is_empty()
    }

    /// Operations that have ended so far.
    pub fn ends(&self) -> u64 {
        self.ends
    }

    /// Whether something waits to leave.
    #[inline]
    pub fn has_work(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A peer is lost: everything towards it ends with the reason, and nothing begins any more. `moving`: the network may still be at
    /// work on buffers of what the method does by itself, which ends when this is called again.
    pub fn lose(&mut self, peer: Peer, why: &Error, moving: bool) {
        self.waiting.retain(|waiting| *waiting != peer);
        let traffic = self.traffic.get_or_make(peer, Traffic::default);
        traffic.lost = Some(why.clone());
        traffic.answers.clear();
        let mut over: Vec<(u64, Token)> =
            std::mem::take(&mut traffic.queue).into_iter().filter_map(Outgoing::ends_by_itself).collect();
        over.extend(
            self.asked
                .extract_if(.., |_, asked| asked.peer == peer && !(moving && asked.wanted.is_by_method()))
                .map(|(serial, asked)| (serial, asked.token)),
        );
        over.sort_unstable();
        over.dedup(); // a put of which some has left from where it lies
        over.into_iter().for_each(|(_, token)| self.end(token, Err(why.clone())));
        let granted = self.exposed.slots().flat_map(|slot| slot.lock.lost(peer)).collect();
        self.tell_holders(granted);
    }

    /// Has the method read or write by itself.
    ///
    /// # Errors
    /// The segment, if it cannot.
    fn transfer(
        &mut self,
        methods: &mut Methods,
        target: &Target,
        (access, token): (Access, Token),
        segment: Segment,
        start: impl FnOnce(&mut Methods, Transfer) -> std::result::Result<(), Transfer>,
        wanted: impl FnOnce(Access) -> Wanted,
    ) -> std::result::Result<(), Segment> {
        let Target { peer, memory: Some(memory), offset, scattered: None, .. } = *target else {
            return Err(segment);
        };
        if segment.position() > 0 {
            return Err(segment);
        }
        let (len, owner) = (segment.len(), Owner::OneSided(access.serial));
        // Some end at once, and are heard of with the next poll.
        start(methods, Transfer { peer, memory: memory.behind(offset), segment, len, owner })
            .map_err(|transfer| transfer.segment)?;
        let wanted = wanted(access);
        let unseen = matches!(wanted, Wanted::Placed(_)) && !methods.caps(peer).put_seen;
        self.asked.insert(access.serial, Asked::new(peer, token, wanted));
        let traffic = self.traffic.get_or_make(peer, Traffic::default);
        traffic.transfers += 1;
        // A flush goes behind it.
        traffic.unconfirmed |= unseen;
        Ok(())
    }

    /// What the method did by itself is over. What it refuses goes by packets.
    pub fn over(&mut self, serial: u64, outcome: Outcome, counts: &mut Counts) {
        let Some(Asked { peer, token, wanted, .. }) = self.asked.remove(&serial) else { return };
        if let Wanted::Sent = wanted {
            return self.end(token, Ok(()));
        }
        let traffic = self.traffic.get_or_make(peer, Traffic::default);
        traffic.transfers = traffic.transfers.saturating_sub(1);
        self.goes_on(peer);
        let traffic = self.traffic.get_or_make(peer, Traffic::default);
        if let (Outcome::Refused(_), Some(why)) = (&outcome, &traffic.lost) {
            let why = why.clone();
            return self.end(token, Err(why));
        }
        match (outcome, wanted) {
            (Outcome::Refused(data), Wanted::Placed(access)) => {
                self.queue_first(peer, Outgoing::Put { access, data, token, begun: false });
            }
            (Outcome::Refused(into), Wanted::Fetched(access)) => {
                let len = into.remaining();
                self.asked.insert(serial, Asked::new(peer, token, Wanted::Bytes(into)));
                self.queue_first(peer, Outgoing::Get { access, len });
            }
            (Outcome::Unreadable, _) => {
                self.end(token, Err(unreadable(peer)));
            }
            (Outcome::Done, Wanted::Changed) => {
                counts.add(Counter::OneSidedChanges, 1);
                self.end(token, Ok(()));
            }
            (Outcome::Done, _)
            | (
                Outcome::Refused(_),
                Wanted::Bytes(_) | Wanted::Flush(_) | Wanted::Lock | Wanted::Changed | Wanted::Sent,
            ) => {
                counts.add(Counter::OneSidedTransfers, 1);
                self.end(token, Ok(()));
            }
        }
    }

    fn check(&self, peer: Peer) -> Result<()> {
        match self.traffic.get(peer) {
            Some(Traffic { lost: Some(why), .. }) => Err(why.clone()),
            _ => Ok(()),
        }
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    fn access(&mut self, Target { key, offset, scattered, .. }: Target) -> Access {
        Access { serial: self.next_serial(), key, offset, scattered }
    }

    fn end(&mut self, token: Token, outcome: Result<()>) {
        self.ends += 1;
        let done = if token.0 & Token::OF_WINDOW == 0 { &mut self.done } else { &mut self.done_of_windows };
        done.push_back(Done { token, outcome });
    }
}

/// The system cannot copy between the program's memory and a peer's.
fn unreadable(peer: Peer) -> Error {
    let text = format!(
        "memory of rank {} of the world, or the buffer here, cannot be accessed: it was freed, or is protected",
        peer.0
    );
    Error::other(ErrorClass::Buffer, text)
}

/// What methods call exposed memory by.
fn owner(key: RemoteKey) -> Owner {
    Owner::Exposed(key)
}

/// Packets are written and read by the processor: what lies on a device has to be copied to the host first.
fn on_host(memory: &Segment) -> Result<()> {
    if !memory.is_on_device() {
        return Ok(());
    }
    let text = "one-sided communication with memory of a device, which has to be copied to the host first";
    Err(Error::other(ErrorClass::Buffer, text.to_owned()))
}

/// An operation as networks know it; `None` stands for compare-and-swap.
fn step_of(operation: Option<Predefined>) -> Option<Step> {
    Some(match operation {
        None => Step::CompareSwap,
        Some(Predefined::Sum) => Step::Sum,
        Some(Predefined::Min) => Step::Min,
        Some(Predefined::Max) => Step::Max,
        Some(Predefined::Prod) => Step::Product,
        Some(Predefined::Band) => Step::BitAnd,
        Some(Predefined::Bor) => Step::BitOr,
        Some(Predefined::Bxor) => Step::BitXor,
        Some(Predefined::Land) => Step::And,
        Some(Predefined::Lor) => Step::Or,
        Some(Predefined::Lxor) => Step::Xor,
        Some(Predefined::Replace) => Step::Write,
        Some(Predefined::NoOp) => Step::Read,
        Some(Predefined::Minloc | Predefined::Maxloc) => return None,
    })
}

/// The operation's number, its operands as they travel, and their memory, if it is ours.
fn operands(element: &'static Builtin, what: Atomic) -> Result<(u32, Segment, Option<OwnedBuf>)> {
    match what {
        Atomic::Combine(operation, operands) => {
            on_host(&operands)?;
            let operation = operation.on_the_wire();
            target::operation(operation, element)?;
            if operands.remaining().is_multiple_of(element.size) {
                return Ok((operation, operands, None));
            }
            let got = format_args!("{} bytes", operands.remaining());
            let expected = format_args!("whole elements of {}", element.name);
            Err(Error::invalid(ErrorClass::Count, "origin_count", got, expected))
        }
        Atomic::CompareAndSwap(mut expected, mut replacement) => {
            [&expected, &replacement].into_iter().try_for_each(on_host)?;
            if (expected.remaining(), replacement.remaining()) != (element.size, element.size) {
                let got = format_args!("{} and {} bytes", expected.remaining(), replacement.remaining());
                let expected = format_args!("one element of {}", element.name);
                return Err(Error::invalid(ErrorClass::Count, "compare_addr", got, expected));
            }
            let mut both = OwnedBuf::new(2 * element.size as usize);
            let (first, second) = both.sink().split_at(element.size as usize);
            expected.pack(first);
            replacement.pack(second);
            let operands = Segment::contiguous(both.user_buf(), 2 * element.size);
            Ok((COMPARE_AND_SWAP, operands, Some(both)))
        }
    }
}

#[cfg(test)]
mod tests;
