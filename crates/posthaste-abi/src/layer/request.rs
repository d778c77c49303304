//! How requests of programs end: the communicator of each, and what runs at its end. Requests with handlers are told by a
//! mark, so that the way of all others has no look at them (`core::pt2pt::handlers`).
//!
//! What must stay true: a request that has ended leaves the table exactly once; what a request runs at its end runs
//! outside the engine's lock, on the thread that completes it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::handlers::Taken;
use posthaste_core::pt2pt::{Engine, cancel, recv};
use posthaste_core::request::complete::{self, Due};
use posthaste_core::request::{Handler, Request, State, Status, Table, table};
use posthaste_core::runtime::Entered;
use posthaste_core::world::deadlock;

use super::library::{is_watched, library};

/// The number by which a face knows a communicator, or a window: opaque here, and less than 2^30.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommKey(pub(crate) u32);

/// An error and the communicator of the request that it belongs to, if it belongs to one.
pub(crate) struct Failure {
    /// The communicator.
    pub(crate) comm: Option<CommKey>,
    /// The error.
    pub(crate) error: Error,
}

/// For each slot of the engine's table the communicator of the request in it, and a mark.
static NOTES: [AtomicU32; table::MOST] = [const { AtomicU32::new(0) }; table::MOST];
/// The mark: something runs at the end of the request.
const SPECIAL: u32 = 1 << 31;
/// The mark of a persistent request alone. While it is active the engine knows the request of its start; what runs at its
/// end is for rare cases only.
const PERSISTENT: u32 = 1 << 30;
const MARKS: u32 = SPECIAL | PERSISTENT;
/// Both marks: it has a handler, or had one, whatever else it is.
const HANDLED: u32 = MARKS;

/// What runs at the end of a request.
pub(crate) trait AtEnd: Any + Send + Sync {
    /// The request was completed by a wait or test; the status may be changed.
    fn completed(&self, _status: &mut Status) -> Result<()> {
        Ok(())
    }
    /// Starts a persistent request.
    fn start(&self) -> std::result::Result<(), Failure> {
        let got = "a request that is not persistent";
        let error = Error::invalid(ErrorClass::Request, "request", got, "a persistent request");
        Err(Failure { comm: None, error })
    }
    /// Somebody looks at the status of the request, which goes on.
    fn looked_at(&self, _status: &mut Status) -> Result<()> {
        Ok(())
    }
    /// The program asks to cancel the request. Whether that was seen to.
    fn cancel(&self, _complete: bool) -> Result<bool> {
        Ok(false)
    }
    /// Somebody waits for the request, or tests it: what has to be run for that, and was not to be run before. `None` while
    /// there is nothing, or somebody else runs it.
    fn polled(self: Arc<Self>) -> Option<Handler> {
        None
    }
    /// Whether its end waits for handlers to run.
    fn waits_for_handlers(&self) -> bool {
        false
    }
    /// The program frees the request. Whether nothing will run at its end.
    fn freed(&self) -> Result<bool> {
        Ok(false)
    }
}

pub(crate) type SharedAtEnd = Arc<dyn AtEnd>;

/// What runs at the ends of requests, by their numbers in the table.
static SPECIALS: LazyLock<Mutex<HashMap<u32, SharedAtEnd>>> = LazyLock::new(Mutex::default);
/// How many they are: where there is none, nobody looks for one.
static SPECIALS_LEN: AtomicUsize = AtomicUsize::new(0);

fn note(id: RequestId) -> &'static AtomicU32 {
    &NOTES[id.slot as usize % table::MOST]
}

/// A new request of the program.
#[inline(always)]
pub(crate) fn belongs(id: RequestId, comm: CommKey) {
    note(id).store(comm.0, Ordering::Relaxed);
}

/// The same with something to run at its end.
pub(crate) fn ends_with(id: RequestId, comm: CommKey, at_end: SharedAtEnd) {
    let mut specials = SPECIALS.lock().unwrap_or_else(PoisonError::into_inner);
    specials.insert(Table::handle(id), at_end);
    SPECIALS_LEN.store(specials.len(), Ordering::Relaxed);
    note(id).store(comm.0 | SPECIAL, Ordering::Relaxed);
}

/// A new persistent request.
pub(crate) fn persists(id: RequestId, comm: CommKey, at_end: SharedAtEnd) {
    ends_with(id, comm, at_end);
    note(id).store(comm.0 | PERSISTENT, Ordering::Relaxed);
}

/// The communicator of a request.
pub(crate) fn comm_of(id: RequestId) -> CommKey {
    CommKey(note(id).load(Ordering::Relaxed) & !MARKS)
}

/// A request that is over and was taken.
pub(crate) struct Ended {
    id: RequestId,
    note: u32,
    /// What it reports.
    pub(crate) status: Status,
    /// It stays in the table.
    pub(crate) stays: bool,
    how: How,
}

/// How a request ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// By whoever asks.
    Completed,
    /// It was not even active.
    Inactive,
    /// Its handler has completed it, and its status is nobody else's.
    ByHandler,
    /// Not at all: whoever waits for it waits for ever.
    Never,
}

impl Ended {
    /// Whether nothing else is to be done: what stays ends another time.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        (self.note & SPECIAL == 0 || self.stays) && self.status.error.is_none()
    }

    /// One that its handler has completed.
    #[cold]
    fn by_handler(id: RequestId, stays: bool) -> Self {
        // What stands in the status takes it to `settle`, and is told to nobody.
        let error = Some(Error::other(ErrorClass::Other, "its handler has completed it"));
        let status = Status { error, ..Status::EMPTY };
        Self { id, note: 0, status, stays, how: How::ByHandler }
    }

    /// One that a wait would never see the end of.
    #[cold]
    fn never(id: RequestId, note: u32) -> Self {
        let status = Status { error: Some(deadlock()), ..Status::EMPTY };
        Self { id, note, status, stays: true, how: How::Never }
    }

    /// Whether it was not even active.
    #[inline(always)]
    pub(crate) fn is_inactive(&self) -> bool {
        self.how == How::Inactive
    }

    /// Runs what is to run at the end, outside the engine's lock. The status, if it is to be told, and the message's outcome.
    pub(crate) fn settle(self) -> (Option<Status>, std::result::Result<(), Failure>) {
        let comm = Some(CommKey(self.note & !MARKS));
        match self.how {
            How::ByHandler => return (None, Ok(())),
            How::Never => return (None, Err(Failure { comm, error: deadlock() })),
            How::Completed | How::Inactive => {}
        }
        let mut status = self.status;
        let mut outcome = status.error.take().map_or(Ok(()), |error| Err(Failure { comm, error }));
        if self.note & SPECIAL != 0
            && !self.stays
            && let Some(at_end) = forget(self.id)
            && outcome.is_ok()
        {
            outcome = at_end.completed(&mut status).map_err(|error| Failure { comm, error });
        }
        (Some(status), outcome)
    }
}

/// The status of a request that is over, went well, and needs nothing else: the common case, without moving it. A number is
/// what the table calls a request; without one it is none.
#[inline(always)]
pub(crate) fn take_plain(vci: &mut Vci, number: Option<u32>) -> Option<Status> {
    vci.methods.flush_gathered();
    let number = number? as usize;
    if NOTES[number % table::MOST].load(Ordering::Relaxed) & MARKS != 0 {
        return None;
    }
    vci.engine.requests.take_ended(number)
}

/// Who takes a request: a test.
pub(crate) const TESTS: u8 = 0;
/// A wait for this one request, which is told if that could never end.
pub(crate) const WAITS: u8 = 1;
/// A wait for this one among others, or for all of them.
pub(crate) const WAITS_AMONG: u8 = 2;

/// Takes a request out of the table if it is over. `ASKS`: who takes it.
#[inline(always)]
pub(crate) fn take<const ASKS: u8>(vci: &mut Vci, id: RequestId) -> Option<Ended> {
    vci.methods.flush_gathered();
    let note = note(id).load(Ordering::Relaxed);
    if let Some(status) = vci.engine.requests.take_ended(Table::handle(id) as usize) {
        return Some(Ended { id, note, status, stays: false, how: How::Completed });
    }
    match vci.engine.requests.get(id) {
        Some(found) if complete::is_complete(found) => {}
        _ if note & PERSISTENT != 0 => return take_started::<ASKS>(vci, id, note),
        _ => return None,
    }
    if let Some(status) = halted(vci, id) {
        return Some(Ended { id, note, status, stays: true, how: How::Completed });
    }
    let ended = vci.engine.requests.remove(id);
    ended.map(|ended| Ended { id, note, status: ended.status, stays: false, how: How::Completed })
}

/// What a receive from anybody says that goes on when the program has acknowledged who is lost: its request stays.
#[cold]
fn halted(vci: &mut Vci, id: RequestId) -> Option<Status> {
    if !recv::is_halted(&vci.engine, id) {
        return None;
    }
    let why = vci.engine.requests.get(id)?.status.error.as_ref()?;
    let text =
        format!("{why}; the receive from anybody goes on when that is acknowledged (MPIX_Comm_ack_failed)");
    let error = Some(Error::other(ErrorClass::ProcFailedPending, text));
    Some(Status { error, ..Status::EMPTY })
}

/// The same for a persistent request, which stays.
#[inline]
fn take_started<const ASKS: u8>(vci: &mut Vci, id: RequestId, note: u32) -> Option<Ended> {
    let engine = &mut vci.engine;
    let Some(active) = engine.persistent.active_plain(id) else {
        return take_handled(vci, id, note, ASKS);
    };
    let status = match engine.requests.take_ended(Table::handle(active) as usize) {
        Some(status) => status,
        None if engine.requests.get(active).is_some_and(|found| !complete::is_complete(found)) => {
            return None;
        }
        None => match halted(vci, active) {
            Some(status) => return Some(Ended { id, note, status, stays: true, how: How::Completed }),
            None => vci.engine.requests.remove(active).map_or(Status::EMPTY, |failed| failed.status),
        },
    };
    vci.engine.persistent.end(id);
    Some(Ended { id, note, status, stays: true, how: How::Completed })
}

/// The same for one that has a handler or may have one, and for a persistent one that is inactive.
#[cold]
fn take_handled(vci: &mut Vci, id: RequestId, note: u32, asks: u8) -> Option<Ended> {
    let world = &library().world;
    let (disabled, by_us) = world.handlers_disabled();
    if !disabled && vci.engine.requests.get(id).is_some_and(|found| complete::is_active(&found.state)) {
        return None; // an ordinary request whose transfer goes on
    }
    if asks != TESTS
        && !disabled
        && let Some(handler) = special(id).and_then(AtEnd::polled)
    {
        vci.engine.finished.handlers.push_back(Due::Run(id, handler, Status::EMPTY));
    }
    let stays = vci.engine.persistent.is_persistent(id);
    if asks == WAITS
        && by_us
        && special(id).is_some_and(|behind| behind.waits_for_handlers())
        && waited_for(vci, id).is_some()
    {
        return Some(Ended::never(id, note));
    }
    let ended = |status, how| Some(Ended { id, note, status, stays, how });
    match world.take_handled(vci, id, asks == WAITS) {
        Taken::Completed(status) => ended(status, How::Completed),
        Taken::Inactive => ended(Status::EMPTY, How::Inactive),
        Taken::ByHandler => Some(Ended::by_handler(id, stays)),
        Taken::Deadlock => Some(Ended::never(id, note)),
        Taken::NotYet { .. } => None,
    }
}

/// A request that is gone: whether its handler has completed it, which is told once.
#[cold]
pub(crate) fn take_gone(vci: &mut Vci, number: u32) -> Option<Ended> {
    let told = vci.engine.handlers.report_gone(number);
    told.then(|| Ended::by_handler(Table::DONE, false))
}

/// Whether a request may have a handler.
#[inline]
pub(crate) fn may_be_handled(number: u32) -> bool {
    NOTES[number as usize % table::MOST].load(Ordering::Relaxed) & MARKS == HANDLED
}

/// The request has a handler from now on. `is_new`: it had no place in the table. Called inside its VCI, where nobody else changes
/// its note, or before the program knows it.
pub(crate) fn is_handled(id: RequestId, is_new: Option<CommKey>) {
    if let Some(comm) = is_new {
        belongs(id, comm);
    }
    let note = note(id);
    note.store(note.load(Ordering::Relaxed) | HANDLED, Ordering::Relaxed);
}

/// The error of a wait for this request that could never end, if it is one.
#[cold]
pub(crate) fn never_ends(vci: &mut Vci, id: RequestId) -> Option<Error> {
    let has_handler = vci.engine.handlers.get(id).is_some();
    let never = has_handler && matches!(library().world.take_handled(vci, id, true), Taken::Deadlock);
    never.then(deadlock)
}

/// A test of this request is about to say that it is not over: what was left to be run for a test runs first, and the handler
/// that runs for it on another thread returns.
#[cold]
pub(crate) fn tested(id: RequestId, call: &'static str) {
    let world = &library().world;
    if !world.handlers_disabled().0
        && let Some(handler) = special(id).and_then(AtEnd::polled)
    {
        handler(id, &Status::EMPTY);
    }
    if world.vci_with(id.slot as usize).engine.handler_runs_elsewhere(id) {
        world.await_return(id, call);
    }
}

/// A persistent request was started that has a handler, or may have one.
pub(crate) fn started(id: RequestId) -> Result<()> {
    let world = &library().world;
    world.vci_with(id.slot as usize).engine.arm(id)?;
    update();
    Ok(())
}

/// A call has changed a request: a handler may be due.
pub(crate) fn update() {
    if is_watched() {
        library().world.run_due_handlers();
    }
}

/// Whether there is anything to wait for: not inactive.
#[inline]
pub(crate) fn is_live(number: u32) -> bool {
    NOTES[number as usize % table::MOST].load(Ordering::Relaxed) & PERSISTENT == 0 || is_active(number)
}

#[cold]
fn is_active(number: u32) -> bool {
    let Engine { requests, persistent, .. } = &library().world.vci_with(number as usize).engine;
    requests.by_handle(number as usize).is_none_or(|id| persistent.waited_for(id).is_some())
}

/// Whether a wait for this request among others may end: not inactive, nor kept from ending by the calling thread, which has
/// disabled its handler.
#[inline]
pub(crate) fn can_end(number: u32) -> bool {
    NOTES[number as usize % table::MOST].load(Ordering::Relaxed) & PERSISTENT == 0 || may_end(number)
}

#[cold]
fn may_end(number: u32) -> bool {
    let mut vci = library().world.vci_with(number as usize);
    let Some(id) = vci.engine.requests.by_handle(number as usize) else { return true };
    vci.engine.persistent.waited_for(id).is_some() && never_ends(&mut vci, id).is_none()
}

/// The request whose end a wait for this one waits for. `None` if that is over.
pub(crate) fn waited_for(vci: &Vci, id: RequestId) -> Option<RequestId> {
    let Engine { requests, persistent, .. } = &vci.engine;
    let waited_for = persistent.waited_for(id)?;
    let goes_on = requests.get(waited_for).is_some_and(|found| !complete::is_complete(found));
    goes_on.then_some(waited_for)
}

/// The status of a request that is over, which stays. Its error is for whoever completes it.
///
/// # Errors
/// `MPIX_ERR_PROC_FAILED_PENDING`: it is not over, and goes on when the program has acknowledged who is lost.
pub(crate) fn look(mut vci: Entered<'_>, id: RequestId) -> Result<Option<Status>> {
    if let Some(waited_for) = vci.engine.persistent.waited_for(id)
        && let Some(Status { error: Some(why), .. }) = halted(&mut vci, waited_for)
    {
        return Err(why);
    }
    let Engine { requests, persistent, .. } = &vci.engine;
    let found = persistent.waited_for(id).and_then(|waited_for| requests.get(waited_for));
    let mut status = match found {
        Some(found) if !complete::is_complete(found) => return Ok(None),
        Some(found) => found.status.clone(),
        None => Status::EMPTY,
    };
    drop(vci);
    status.error = None;
    if let Some(at_end) = special(id) {
        at_end.looked_at(&mut status)?;
    }
    Ok(Some(status))
}

/// The program does not want to hear of the request again (MPI-5.0 §3.7.3).
pub(crate) fn free(mut vci: Entered<'static>, id: RequestId) -> Result<()> {
    check_collective(&vci, id)?;
    if vci.engine.handlers.get(id).is_some() {
        drop(vci);
        library().world.detach(id)?;
        vci = library().world.vci_with(id.slot as usize);
    }
    if let Some(at_end) = special(id) {
        drop(vci);
        if at_end.freed()? {
            forget(id);
        }
        vci = library().world.vci_with(id.slot as usize);
    }
    recv::detach(&mut vci.engine, id);
    Ok(())
}

/// Cancels a request where that is still possible (MPI-5.0 §3.8.4).
pub(crate) fn cancel(mut vci: Entered<'_>, id: RequestId) -> Result<()> {
    check_collective(&vci, id)?;
    if let Some(at_end) = special(id) {
        let over = vci.engine.requests.get(id).is_some_and(complete::is_complete);
        drop(vci);
        at_end.cancel(over)?;
        update();
        return Ok(());
    }
    take_back(&mut vci, id);
    drop(vci);
    update();
    Ok(())
}

/// A collective operation under way is neither freed nor cancelled; other libraries let programs do that (docs/strict.md).
fn check_collective(vci: &Vci, id: RequestId) -> Result<()> {
    let is_active =
        |request: &Request| matches!(request.state, State::Schedule(_)) && !complete::is_complete(request);
    if !library().strict || !vci.engine.requests.get(id).is_some_and(is_active) {
        return Ok(());
    }
    let expected = "a request of another operation, or one that is over";
    Err(Error::invalid(ErrorClass::Request, "request", "a collective operation under way", expected))
}

/// Cancels a request of the engine. Of a message to ourselves the answer is there when this returns: programs look at
/// once whether it was cancelled, and would wait for it for ever if that came later.
pub(crate) fn take_back(vci: &mut Vci, id: RequestId) {
    let Vci { engine, methods, .. } = &mut *vci;
    cancel::cancel(engine, methods, id);
    for _ in 0..2 {
        vci.progress();
    }
}

/// What runs at the end of a request, if anything.
pub(crate) fn special(id: RequestId) -> Option<SharedAtEnd> {
    if SPECIALS_LEN.load(Ordering::Relaxed) == 0 {
        return None;
    }
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).get(&Table::handle(id)).cloned()
}

/// Takes out what runs at the end of a request.
pub(crate) fn forget(id: RequestId) -> Option<SharedAtEnd> {
    if SPECIALS_LEN.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let mut specials = SPECIALS.lock().unwrap_or_else(PoisonError::into_inner);
    let forgotten = specials.remove(&Table::handle(id));
    SPECIALS_LEN.store(specials.len(), Ordering::Relaxed);
    forgotten
}
