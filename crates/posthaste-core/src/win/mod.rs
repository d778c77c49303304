//! Windows: memory of all members of a communicator that each of them reads and writes (MPI-5.0 chapter 12).
//!
//! ```text
//!   a call    short: mapped here, in order and simple?    done
//!               |
//!             epoch: may it be now?   place: where is it?
//!               |
//!               +-- mapped here:  direct, words     loads, stores and steps of the processor
//!               +-- anywhere else: packets           core/onesided, done by the method or by the owner
//! ```
//!
//! Parts: `short`, what is over in a few instructions; `epoch`, which calls are in order; `parts`, the memory of the members;
//! `attachments`, what members of a node have attached; `place`, where the elements of an access lie; `hints`; `direct`, operations
//! on mapped memory; `words`, locks, fences and epochs there; `packets`, operations elsewhere. Nothing here blocks: `world` waits.
//!
//! What must stay true: all members of a window do all atomic operations on an element by one mechanism. Either the memory
//! of all members is mapped by all of them, and each member does them itself: by a step of the processor where it has one
//! for the element's size and place, else, and in some windows always, under a lock of the target. Or each member does those on its memory for all, in
//! its VCI; or, of the kinds of elements that it knows, a network that leads from each member to all others. Which of these is
//! agreed when the window is made. The target of an access is checked by its origin with the
//! sizes that its owner has told, and again by the owner when packets do it.

mod attachments;
mod direct;
mod epoch;
#[cfg(test)]
mod epoch_tests;
mod hints;
#[cfg(test)]
mod history_tests;
mod packets;
mod parts;
mod place;
mod short;
#[cfg(test)]
mod tests;
mod words;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_os::mapped::Mapped;

use crate::attribute::Attributes;
use crate::buffer::{Block, UserBuf};
use crate::comm::{Comm, MAX_NAME};
use crate::datatype::{Builtin, Datatype, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::ids::{PROC_NULL, Peer, RequestId, Wrong};
use crate::info::Info;
use crate::method::change_bit;
use crate::onesided::{RemoteKey, RemoteMemory};

pub(crate) use attachments::Attachments;
pub(crate) use direct::Operands;
pub use direct::Update;
pub(crate) use direct::WIDE;
pub use epoch::{Assert, Epochs, LockKind, Locked};
pub(crate) use hints::{Facts, alignment, granularity, noncontiguous};
pub use hints::{Hints, wanted_alignment};
pub use packets::{Age, Operations, Origin, Targets, Traffic};
pub(crate) use packets::{FEW, is_short};
pub(crate) use parts::{Alike, Many, Parts};
pub use place::{At, Place};
pub use short::Spot;
pub use words::{EpochWords, Heeded, Word, Words, control};

/// An error handler of the API layer that has made the window; the engine only hands it on.
pub type Handler = Arc<dyn Any + Send + Sync>;

/// How a window was made (MPI-5.0 §12.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// Of memory of the program.
    Create,
    /// Of memory of the library.
    Allocate,
    /// Of memory that all members have mapped.
    Shared,
    /// Of memory that is attached later.
    Dynamic,
}

impl Flavor {
    /// The function that makes such windows.
    pub fn call(self) -> &'static str {
        match self {
            Self::Create => "MPI_Win_create",
            Self::Allocate => "MPI_Win_allocate",
            Self::Shared => "MPI_Win_allocate_shared",
            Self::Dynamic => "MPI_Win_create_dynamic",
        }
    }
}

/// The memory of one member.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    /// By which its owner knows it, where packets reach it.
    pub(crate) key: RemoteKey,
    /// Where the method that leads to its owner finds it, if it reads and writes memory by itself.
    pub(crate) memory: Option<RemoteMemory>,
    /// Bytes; nothing is known of a dynamic window.
    pub(crate) size: u64,
    /// Bytes of a unit of displacement.
    pub(crate) unit: u64,
    /// Where it is here, if loads and stores reach it.
    pub(crate) base: Option<UserBuf>,
}

/// What a window keeps alive.
#[derive(Debug)]
pub(crate) enum Memory {
    /// The program does that.
    Program,
    /// Of this member, for what peers write to it, until the window is freed.
    Block(Mutex<Option<Block>>),
    /// The program does that, and the members on this node tell each other what they have attached.
    Attached(Attachments),
    /// Of all members, mapped by all of them: the words by which they synchronise, what has been heeded of these, and, if it is
    /// the library's, the elements behind them.
    Mapped(Mapped, Heeded),
}

/// An exposure epoch that `MPI_Win_post` has begun: what ends it.
#[derive(Debug)]
pub(crate) enum Exposure {
    /// Words of these origins in mapped memory.
    Words(Vec<usize>),
    /// Messages.
    Messages {
        /// Receives of the word that an origin is done, and sends of the word that it may begin.
        requests: Vec<RequestId>,
        /// The former, with the origins' ranks.
        completed: Vec<(usize, RequestId)>,
        /// Why an origin could not be told, or has not told.
        failed: Option<Error>,
    },
}

/// A window.
pub struct Window {
    comm: Arc<Comm>,
    flavor: Flavor,
    parts: Parts,
    memory: Memory,
    /// What is mapped here of the memory that other members on this node have allocated.
    near: Vec<Mapped>,
    /// The kinds of elements that the network changes for all members ([`Methods::changes`](crate::method::Methods::changes)).
    changes: u64,
    /// Elements of all kinds are changed under the lock of their target, if memory is mapped.
    under_lock: bool,
    epochs: Epochs,
    flushes: short::Flushes,
    traffic: Arc<Traffic>,
    pub(crate) exposure: Mutex<Option<Exposure>>,
    name: Mutex<String>,
    hints: Hints,
    attributes: Attributes,
    handler: Mutex<Option<Handler>>,
}

#[cold]
fn unknown(rank: usize) -> Error {
    let text = format!("nothing is known of the memory of rank {rank} in the window");
    Error::other(ErrorClass::Intern, text)
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("flavor", &self.flavor).field("parts", &self.parts).finish()
    }
}

impl Window {
    /// `comm` is the window's own; `given`: the hints of the program; `apart`: the memory of each member begins at a place of its
    /// own, and not behind that of the one before.
    pub(crate) fn new(
        comm: Arc<Comm>,
        flavor: Flavor,
        parts: Parts,
        (memory, near): (Memory, Vec<Mapped>),
        (given, apart): (&Info, bool),
    ) -> Self {
        let alike = parts.alike();
        let facts = Facts { apart, same_size: alike.size, same_unit: alike.unit };
        let hints = Hints::new(flavor, facts, given);
        let (epochs, traffic) = (Epochs::new(parts.len()), Arc::new(Traffic::default()));
        comm.marks(epochs.word());
        Self {
            comm,
            flavor,
            parts,
            memory,
            near,
            changes: 0,
            under_lock: false,
            epochs,
            flushes: short::Flushes::default(),
            traffic,
            exposure: Mutex::default(),
            name: Mutex::default(),
            hints,
            attributes: Attributes::default(),
            handler: Mutex::default(),
        }
    }

    /// A window as many members make it: tests count what it takes. All have so many bytes, or each has another number of them.
    #[doc(hidden)]
    pub fn counted(comm: Arc<Comm>, unit: u64, same: Option<u64>) -> Self {
        let (members, me) = (comm.size() as usize, comm.rank() as usize);
        let part = |size| {
            let key = RemoteKey { slot: 0, generation: 1 };
            Part { key, memory: None, size, unit, base: None }
        };
        let own = Part { base: Some(UserBuf::none()), ..part(same.unwrap_or(me as u64)) };
        let alike = Alike { size: same.is_some(), unit: true, all: same.map(part) };
        let parts = Parts::Many(Box::new(Many::new(members, (me, own), 1, alike, [])));
        Self::new(comm, Flavor::Create, parts, (Memory::Program, Vec::new()), (&Info::new(), false))
    }

    /// As if these members of a window of [`Window::counted`] had been asked for memory of unlike length.
    #[doc(hidden)]
    pub fn count_asked(&self, ranks: &[usize]) {
        for rank in ranks.iter().filter(|rank| self.parts.must_ask(**rank)) {
            self.parts.learn(*rank, Part { size: *rank as u64, ..self.own() }, None);
        }
    }

    /// The same, of which the network changes elements of these kinds.
    pub(crate) fn changed_by_network(self, changes: u64) -> Self {
        Self { changes, ..self }
    }

    /// The same, of which elements of all kinds are changed under the lock of their target: all its members have to agree on that.
    pub(crate) fn changed_under_lock(self, under_lock: bool) -> Self {
        Self { under_lock, ..self }
    }

    /// Whether the network does all atomic operations on such elements.
    pub(crate) fn is_changed_by_network(&self, element: &Builtin) -> bool {
        self.changes & change_bit(element) != 0
    }

    /// The members, in a communicator of the window's own.
    pub fn comm(&self) -> &Arc<Comm> {
        &self.comm
    }

    /// How it was made.
    pub fn flavor(&self) -> Flavor {
        self.flavor
    }

    /// Which calls are in order.
    #[inline]
    pub fn epochs(&self) -> &Epochs {
        &self.epochs
    }

    /// The member that calls.
    pub(crate) fn own(&self) -> Part {
        const NONE: Part =
            Part { key: RemoteKey { slot: 0, generation: 0 }, memory: None, size: 0, unit: 1, base: None };
        self.parts.get(self.comm.rank() as usize).unwrap_or(NONE)
    }

    /// The memory of a member.
    ///
    /// # Errors
    /// It has not been asked, or there is no such member.
    #[inline]
    pub(crate) fn part(&self, rank: usize) -> Result<Part> {
        self.parts.get(rank).ok_or_else(|| unknown(rank))
    }

    /// The members' memory.
    #[inline]
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// By which the lock of a member's memory is known: where members have to be asked for their memory, by the name under which all
    /// show it.
    ///
    /// # Errors
    /// As [`Window::part`].
    pub(crate) fn key_of_lock(&self, rank: usize) -> Result<RemoteKey> {
        self.parts
            .name()
            .map_or_else(|| self.part(rank).map(|part| part.key), |name| Ok(RemoteKey::named(name)))
    }

    /// The process with a rank.
    #[inline]
    pub(crate) fn peer(&self, rank: usize) -> Peer {
        self.comm.group().peer(rank as u32).unwrap_or(Peer(u32::MAX))
    }

    /// What goes on by packets.
    pub(crate) fn traffic(&self) -> &Arc<Traffic> {
        &self.traffic
    }

    /// The words of a window whose memory all members have mapped; nothing in any other window.
    #[inline]
    pub(crate) fn mapped(&self) -> Option<&Mapped> {
        match &self.memory {
            Memory::Mapped(mapped, _) => Some(mapped),
            Memory::Program | Memory::Block(_) | Memory::Attached(_) => None,
        }
    }

    /// What the members on this node have attached to a dynamic window, where they tell each other.
    pub(crate) fn attachments(&self) -> Option<&Attachments> {
        match &self.memory {
            Memory::Attached(attachments) => Some(attachments),
            Memory::Program | Memory::Block(_) | Memory::Mapped(..) => None,
        }
    }

    /// The words of fences and epochs in memory that all members have mapped, and what has been heeded of them.
    #[inline]
    pub(crate) fn epoch_words(&self) -> Option<(EpochWords<'_>, &Heeded)> {
        match &self.memory {
            Memory::Mapped(mapped, heeded) => Some((EpochWords::of(mapped, self.parts.len()), heeded)),
            Memory::Program | Memory::Block(_) | Memory::Attached(_) => None,
        }
    }

    /// Address, length and unit of the own memory.
    pub fn memory(&self) -> (usize, u64, u64) {
        let own = self.own();
        (own.base.map_or(0, UserBuf::address), own.size, own.unit)
    }

    /// Address here, length and unit of a member's memory (MPI-5.0 §12.2.3). `MPI_PROC_NULL` is the first member that has
    /// any. Of memory that loads and stores do not reach the address and the length are 0.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`; `MPI_ERR_RMA_FLAVOR` for a dynamic window.
    pub fn query(&self, rank: i32) -> Result<(usize, u64, u64)> {
        if self.flavor == Flavor::Dynamic {
            let expected = "a window with memory: MPI_Win_create, MPI_Win_allocate, MPI_Win_allocate_shared";
            return Err(Error::invalid(ErrorClass::RmaFlavor, "win", "a dynamic window", expected));
        }
        let part = match rank {
            PROC_NULL => match self.parts.first_with_memory() {
                Some(part) => part,
                None => return Ok((0, 0, 1)),
            },
            rank => self.part(self.target(rank)?)?,
        };
        match part.base {
            Some(base) => Ok((base.address(), part.size, part.unit)),
            None => Ok((0, 0, part.unit)),
        }
    }

    /// Fails when some member has revoked it, as far as this process has heard.
    ///
    /// # Errors
    /// `MPIX_ERR_REVOKED`.
    #[inline]
    pub fn check_revoked(&self) -> Result<()> {
        if self.comm.is_revoked() { Err(self.revoked()) } else { Ok(()) }
    }

    #[cold]
    fn revoked(&self) -> Error {
        let text = match &*self.name() {
            "" => "the window, which has no name, has been revoked".to_owned(),
            name => format!("the window \"{name}\" has been revoked"),
        };
        Error::other(ErrorClass::Revoked, text)
    }

    /// `MPI_Win_free`: whether all its epochs are over, unless it is revoked, so that none can be ended.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`.
    pub fn check_free(&self) -> Result<()> {
        if self.comm.is_revoked() {
            return Ok(());
        }
        self.epochs.check_free(lock(&self.exposure).is_some())
    }

    /// The library's memory that peers reach without this process knowing.
    pub(crate) fn has_block(&self) -> bool {
        matches!(self.memory, Memory::Block(_))
    }

    /// The window has been freed, and no peer accesses its memory any more: that goes now, however long a thread keeps the
    /// window that it used last.
    pub(crate) fn let_go(&self) {
        self.epochs.freed();
        match &self.memory {
            Memory::Program => {}
            Memory::Block(block) => drop(lock(block).take()),
            Memory::Attached(attachments) => attachments.let_go(),
            Memory::Mapped(mapped, _) => mapped.let_go(),
        }
        self.near.iter().for_each(Mapped::let_go);
        self.parts.let_go();
    }

    /// The member with a rank.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`.
    #[inline]
    pub(crate) fn target(&self, rank: i32) -> Result<usize> {
        if (rank as u32 as usize) < self.parts.len() {
            return Ok(rank as u32 as usize);
        }
        let expected = format_args!("0..={} or MPI_PROC_NULL", self.parts.len() - 1);
        Err(Error::invalid(ErrorClass::Rank, "target_rank", Wrong(rank), expected))
    }

    /// The ranks of a group's members.
    ///
    /// # Errors
    /// `MPI_ERR_GROUP`: somebody is no member of the window.
    pub fn members(&self, group: &crate::group::Group) -> Result<Vec<usize>> {
        let rank = |peer: Peer| {
            self.comm.group().rank_of(peer).map(|rank| rank as usize).ok_or_else(|| {
                let got = format_args!("a group with the process {} of the world", peer.0);
                Error::invalid(ErrorClass::Group, "group", got, "members of the window's group")
            })
        };
        group.peers().map(rank).collect()
    }

    /// The elements of an access in mapped memory, as a segment.
    #[inline]
    pub(crate) fn segment(&self, place: Place, count: u64, datatype: &Datatype) -> Option<Segment> {
        let base = self.parts.get(place.target)?.base?;
        Some(Segment::new(base.offset(place.offset as isize), count, datatype))
    }

    /// The name, empty at first.
    pub fn name(&self) -> String {
        lock(&self.name).clone()
    }

    /// Names it; of a name that is too long the beginning is kept.
    pub fn set_name(&self, name: &str) {
        let name = &name[..name.floor_char_boundary(MAX_NAME)];
        *lock(&self.name) = name.to_owned();
        if !name.is_empty() {
            self.comm.set_name(name); // which reports of waiting ranks show
        }
    }

    /// The hints.
    pub fn hints(&self) -> &Hints {
        &self.hints
    }

    /// The attributes.
    pub fn attributes(&self) -> &Attributes {
        &self.attributes
    }

    /// The error handler, if one was set.
    pub fn handler(&self) -> Option<Handler> {
        lock(&self.handler).clone()
    }

    /// Sets the error handler.
    pub fn set_handler(&self, handler: Option<Handler>) {
        *lock(&self.handler) = handler;
    }
}

/// No panic leaves anything half done under these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
