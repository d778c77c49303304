//! Buffered sends: the program's buffers and the messages that leave from them (MPI-5.0 §3.6).
//!
//! A message is packed into a free place of the buffer and sent from there in standard mode; its place is free again
//! when that send is over, which a handler marks: messages of one buffer go through the VCIs of several communicators.
//! With automatic buffering each message has memory of its own, which serves later ones of its length, too: fresh memory costs
//! a page fault for each page, more than the copy into it.
//!
//! What must stay true: a buffered send never waits for a receive, and nothing is written outside of the buffer; a
//! buffer is given back only when no message is left in it. Bookkeeping lies outside of the buffer, so the
//! `MPI_BSEND_OVERHEAD` that programs add for each message is room to spare.

use std::collections::BTreeMap;
use std::ptr::with_exposed_provenance_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posthaste_core::buffer::Base;
use posthaste_core::comm::Comm;
use posthaste_core::datatype::Segment;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::{Engine, recv};
use posthaste_core::request::{Composite, Status, Table, complete, composite};
use posthaste_core::wait::Awaited;
use posthaste_core::wire::Mode;

use super::communicator::session_of;
use super::library::{has_had_sessions, library, open_sessions};
use super::request::{self, CommKey};

/// Whose buffer it is, as one number that is compared at once: contexts of communicators leave its two lowest bits free, which tell
/// the kinds of owners apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Owner(u64);

impl Owner {
    /// All communicators that come from no session and have none of their own.
    pub(crate) const PROCESS: Self = Self(1);

    /// A communicator.
    pub(crate) fn of(comm: &Comm) -> Self {
        Self(comm.context().0)
    }

    /// Those of the session with this number that have none of their own.
    pub(crate) fn session(number: usize) -> Self {
        Self((number as u64) << 2 | 2)
    }

    /// Who owns the buffer of a communicator that has none of its own.
    #[cold]
    #[inline(never)]
    fn common(comm: &Comm, buffers: &BTreeMap<Self, Buffer>) -> Self {
        let session = session_of(comm).map(Self::session);
        session.filter(|session| buffers.contains_key(session)).unwrap_or(Self::PROCESS)
    }
}

/// A buffer and what lies in it.
struct Buffer {
    /// Its address, whose provenance was exposed; `None` for automatic buffering.
    base: Option<usize>,
    size: u64,
    /// In ascending order of their places.
    messages: Vec<Message>,
    /// Memory of messages that were buffered automatically and have left.
    spare: Vec<Vec<u8>>,
}

/// Most bytes of memory that are kept for further messages that are buffered automatically, and most pieces of it.
const SPARE_BYTES: usize = 64 << 20;
const SPARES: usize = 8;

struct Message {
    at: u64,
    len: u64,
    id: RequestId,
    departure: Arc<Departure>,
    /// The memory of a message that is buffered automatically.
    memory: Vec<u8>,
}

/// Whether a message has left, and who waits for that.
#[derive(Default)]
struct Departure {
    over: AtomicBool,
    /// Flushes that wait for it.
    flushes: Mutex<Vec<RequestId>>,
}

impl Departure {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Acquire)
    }

    fn flushes(&self) -> MutexGuard<'_, Vec<RequestId>> {
        self.flushes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The message has left.
    fn happens(&self) {
        self.over.store(true, Ordering::Release);
        let flushes = std::mem::take(&mut *self.flushes());
        flushes.into_iter().for_each(one_has_left);
    }

    /// A flush waits for it.
    fn ends_part_of(&self, flush: RequestId) {
        let mut flushes = self.flushes();
        if self.is_over() {
            drop(flushes);
            one_has_left(flush);
        } else {
            flushes.push(flush);
        }
    }
}

/// One of the messages that a flush waits for has left.
fn one_has_left(flush: RequestId) {
    let mut vci = library().world.vci_with(flush.slot as usize);
    let Engine { requests, finished, .. } = &mut vci.engine;
    complete::part_ended(requests, finished, flush, Status::EMPTY, false);
}

/// Attached buffers by owner.
static BUFFERS: Mutex<BTreeMap<Owner, Buffer>> = Mutex::new(BTreeMap::new());

fn buffers() -> MutexGuard<'static, BTreeMap<Owner, Buffer>> {
    BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Attaches a buffer, by its exposed address; without one, messages are buffered automatically.
pub(crate) fn attach(owner: Owner, base: Option<usize>, size: i64) -> Result<()> {
    // Of automatic buffering it says nothing.
    let size = if base.is_none() { 0 } else { size };
    let size = u64::try_from(size).map_err(|_| Error::invalid(ErrorClass::Arg, "size", size, "0 or more"))?;
    if base == Some(0) && size > 0 {
        return Err(Error::invalid(ErrorClass::Buffer, "buffer", "NULL", "the address of a buffer"));
    }
    let mut buffers = buffers();
    if let Some(attached) = buffers.get(&owner) {
        let got = format_args!("a second buffer beside one of {} bytes", attached.size);
        return Err(Error::invalid(ErrorClass::Buffer, "buffer", got, "none attached yet"));
    }
    buffers.insert(owner, Buffer { base, size, messages: Vec::new(), spare: Vec::new() });
    Ok(())
}

/// Waits until all messages have left the buffer and gives it back: its address and size, or `None` where messages were buffered
/// automatically.
pub(crate) fn detach(owner: Owner) -> Result<Option<(usize, u64)>> {
    flush(owner)?;
    let Some(mut buffer) = buffers().remove(&owner) else { return Err(none_attached()) };
    buffer.reap();
    Ok(buffer.base.map(|base| (base, buffer.size)))
}

/// Waits until all messages have left the buffer.
pub(crate) fn flush(owner: Owner) -> Result<()> {
    for (id, departure) in under_way(owner)? {
        let awaited = |_: &Vci| Awaited::Departure;
        let is_over = |_: &mut Vci| departure.is_over().then_some(());
        library().world.wait_until(id.slot as usize, "MPI_Buffer_flush", awaited, is_over);
    }
    Ok(())
}

/// The same as a request, whose communicator is that of this process alone.
pub(crate) fn iflush(owner: Owner, own_key: CommKey) -> Result<RequestId> {
    let messages = under_way(owner)?;
    let world = &library().world;
    let whole = Composite::of(messages.len());
    let flush = composite::begin(&mut world.vci_of(world.own()).engine.requests, whole, Status::EMPTY)?;
    request::belongs(flush, own_key);
    messages.iter().for_each(|(_, departure)| departure.ends_part_of(flush));
    Ok(flush)
}

/// The messages in a buffer.
fn under_way(owner: Owner) -> Result<Vec<(RequestId, Arc<Departure>)>> {
    let buffers = buffers();
    let Some(buffer) = buffers.get(&owner) else { return Err(none_attached()) };
    Ok(buffer.messages.iter().map(|message| (message.id, message.departure.clone())).collect())
}

/// A communicator goes: its buffer, if it has one, is detached (MPI-5.0 §7.4.3).
pub(crate) fn leave(comm: &Comm) -> Result<()> {
    let owner = Owner::of(comm);
    if buffers().contains_key(&owner) {
        _ = detach(owner)?;
    }
    Ok(())
}

/// Waits until every buffer is empty, and forgets them; at the end of MPI (MPI-5.0 §3.6.1). Those of sessions that go on, and of
/// communicators while there are such, are only emptied.
pub(crate) fn finish() -> Result<()> {
    let go_on = open_sessions() > 0;
    let owners: Vec<Owner> = buffers().keys().copied().collect();
    let end = |owner| if go_on && owner != Owner::PROCESS { flush(owner) } else { detach(owner).map(drop) };
    owners.into_iter().try_for_each(end)
}

/// A session goes: its buffer, if it has one, is detached.
pub(crate) fn leave_session(session: usize) -> Result<()> {
    let owner = Owner::session(session);
    if buffers().contains_key(&owner) {
        _ = detach(owner)?;
    }
    Ok(())
}

/// Sends; the caller's buffer is its own again when this returns.
pub(crate) fn send(comm: &Comm, dest: i32, tag: i32, data: &Segment) -> Result<()> {
    if comm.destination(dest)?.is_none() {
        return Ok(()); // to MPI_PROC_NULL nothing leaves (MPI-5.0 §3.11)
    }
    let world = &library().world;
    let mut buffers = buffers();
    let common = || if has_had_sessions() { Owner::common(comm, &buffers) } else { Owner::PROCESS };
    let owner = Some(Owner::of(comm)).filter(|own| buffers.contains_key(own)).unwrap_or_else(common);
    let mut buffer = buffers.get_mut(&owner).ok_or_else(none_attached)?;
    if !buffer.messages.is_empty() {
        // What has left makes room; one step of progress helps it.
        let slots = buffer.messages.iter().map(|message| message.id.slot as usize);
        let vcis = slots.fold(0, |vcis, slot| vcis | 1 << world.vci_number(slot));
        drop(buffers);
        world.step_among(vcis);
        buffers = self::buffers();
        buffer = buffers.get_mut(&owner).ok_or_else(none_attached)?;
    }
    buffer.reap();
    let fits = buffer.base.is_none() || data.len() <= buffer.size;
    if buffer.messages.is_empty() && fits && world.send_at_once(comm, dest, tag, data)? {
        return Ok(()); // it needs no place
    }
    let (at, place, memory) = buffer.place(data.len())?;
    // SAFETY: `place` has room for the packed data, and is nobody else's until the message has left.
    let packed = data.repacked_at(unsafe { Base::new(place) });
    world.copy(data.clone(), packed.clone())?;
    let id = world.isend(comm, dest, tag, packed, Mode::Standard)?;
    if id == Table::DONE {
        return Ok(());
    }
    let departure = Arc::new(Departure::default());
    let happens = departure.clone();
    let mut vci = world.vci_of(comm);
    let Engine { requests, finished, .. } = &mut vci.engine;
    complete::attach(requests, finished, id, Box::new(move |_, _| happens.happens()));
    drop(vci);
    let index = buffer.messages.partition_point(|message| message.at <= at);
    buffer.messages.insert(index, Message { at, len: data.len(), id, departure, memory });
    Ok(())
}

#[cold]
fn none_attached() -> Error {
    Error::other(
        ErrorClass::Buffer,
        "no buffer is attached, expected MPI_Buffer_attach before (MPI_Session_attach_buffer for a communicator of a session)",
    )
}

impl Buffer {
    /// Forgets the messages that have left, and keeps their memory.
    fn reap(&mut self) {
        let Self { messages, spare, .. } = self;
        messages.retain_mut(|message| {
            let over = message.departure.is_over();
            if over {
                let mut vci = library().world.vci_with(message.id.slot as usize);
                recv::detach(&mut vci.engine, message.id);
                let memory = std::mem::take(&mut message.memory);
                let kept: usize = spare.iter().map(Vec::len).sum();
                if !memory.is_empty() && spare.len() < SPARES && kept + memory.len() <= SPARE_BYTES {
                    spare.push(memory);
                }
            }
            !over
        });
    }

    /// A place for a message: its position, its address, and its memory if it has its own.
    fn place(&mut self, len: u64) -> Result<(u64, *mut u8, Vec<u8>)> {
        let Some(base) = self.base else {
            let fits = |spare: &Vec<u8>| spare.len() as u64 >= len && spare.len() as u64 / 4 <= len;
            let spare = self.spare.iter().position(fits).map(|at| self.spare.swap_remove(at));
            let mut memory = spare.map_or_else(|| memory(len), Ok)?;
            return Ok((0, memory.as_mut_ptr(), memory));
        };
        let (mut at, mut longest) = (0, 0);
        for message in &self.messages {
            if message.at >= at + len {
                break;
            }
            longest = longest.max(message.at.saturating_sub(at));
            // One without data may lie where another one begins.
            at = at.max(message.at + message.len);
        }
        if at + len > self.size {
            return Err(self.full(len, longest.max(self.size - at)));
        }
        Ok((at, with_exposed_provenance_mut(base + at as usize), Vec::new()))
    }

    #[cold]
    fn full(&self, len: u64, longest: u64) -> Error {
        let Self { size, messages, .. } = self;
        let used: u64 = messages.iter().map(|message| message.len).sum();
        let got = format_args!(
            "{size} bytes, of which {} messages take {used}: {} are free, {longest} of them in one piece",
            messages.len(),
            size - used
        );
        let expected = format_args!("{len} free bytes in one piece");
        Error::invalid(ErrorClass::Buffer, "attached buffer", got, expected)
    }
}

/// Memory of a message that is buffered automatically.
fn memory(len: u64) -> Result<Vec<u8>> {
    let mut memory = Vec::new();
    if memory.try_reserve_exact(len as usize).is_err() {
        return Err(Error::no_memory(format!("there is no memory to buffer a message of {len} bytes")));
    }
    memory.resize(len as usize, 0);
    Ok(memory)
}
