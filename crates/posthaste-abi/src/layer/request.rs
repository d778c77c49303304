//! How requests of programs end: the communicator of each, and what runs at its end.
//!
//! What must stay true: a request that has ended leaves the table exactly once; what a request runs at its end runs
//! outside the engine's lock, on the thread that completes it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::{cancel, recv};
use posthaste_core::request::{Request, State, Status, Table, complete, table};
use posthaste_core::runtime::Entered;

use super::library::library;

/// The number by which a face knows a communicator: opaque here, and less than 2^30.
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
/// A further mark: others in the table stand behind the request, and tell whether it is over.
const DRIVEN: u32 = 1 << 30;
const MARKS: u32 = SPECIAL | DRIVEN;
/// The second mark alone: a persistent request. One other stands behind it while it is active, and the engine knows
/// which; what runs at its end is for rare cases only.
const PERSISTENT: u32 = DRIVEN;

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
    /// How the requests behind a driven one stand.
    fn stands(&self, _vci: &Vci) -> Stand {
        Stand::Inactive
    }
    /// The requests behind a driven one, as far as they are known.
    fn behind(&self) -> Vec<RequestId> {
        Vec::new()
    }
    /// A driven request was over and is completed: the requests behind it go.
    fn clear(&self, _vci: &mut Vci) {}
    /// Whether the request stays, inactive, when it was completed (persistent requests).
    fn stays(&self) -> bool {
        false
    }
    /// Somebody looks at the status of the request, which goes on.
    fn looked_at(&self, _status: &mut Status) -> Result<()> {
        Ok(())
    }
    /// The program asks to cancel the request. Whether that was seen to.
    fn cancel(&self, _complete: bool) -> Result<bool> {
        Ok(false)
    }
    /// The program lets the request go. Whether nothing will run at its end.
    fn let_go(&self) -> Result<bool> {
        Ok(false)
    }
}

/// How a driven request stands.
pub(crate) enum Stand {
    /// Not started.
    Inactive,
    /// Under way.
    Active,
    /// Over, with this status.
    Over(Status),
}

pub(crate) type SharedAtEnd = std::sync::Arc<dyn AtEnd>;

/// What runs at the ends of requests, by their numbers in the table.
static SPECIALS: LazyLock<Mutex<HashMap<u32, SharedAtEnd>>> = LazyLock::new(Mutex::default);

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
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).insert(Table::handle(id), at_end);
    note(id).store(comm.0 | SPECIAL, Ordering::Relaxed);
}

/// A new request that others in the table stand behind; it lives in the VCI of `home`, as they do.
pub(crate) fn driven(home: &Comm, comm: CommKey, at_end: SharedAtEnd) -> Result<RequestId> {
    let id = library().world.vci_of(home).engine.requests.insert(Request::new(State::Inactive))?;
    ends_with(id, comm, at_end);
    note(id).store(comm.0 | MARKS, Ordering::Relaxed);
    Ok(id)
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
    /// What it tells.
    pub(crate) status: Status,
    /// It stays in the table.
    pub(crate) stays: bool,
    /// It was not even active.
    pub(crate) inactive: bool,
}

impl Ended {
    /// Whether nothing else is to be done: what stays ends another time.
    #[inline(always)]
    pub(crate) fn is_plain(&self) -> bool {
        (self.note & SPECIAL == 0 || self.stays) && self.status.error.is_none()
    }

    /// Runs what is to run at the end, outside the engine's lock. The status, and the message's outcome.
    pub(crate) fn settle(self) -> (Status, std::result::Result<(), Failure>) {
        let mut status = self.status;
        let comm = Some(CommKey(self.note & !MARKS));
        let mut outcome = status.error.take().map_or(Ok(()), |error| Err(Failure { comm, error }));
        if self.note & SPECIAL != 0
            && !self.stays
            && let Some(at_end) = forget(self.id)
            && outcome.is_ok()
        {
            outcome = at_end.completed(&mut status).map_err(|error| Failure { comm, error });
        }
        (status, outcome)
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

/// Takes a request out of the table if it is over.
#[inline(always)]
pub(crate) fn take(vci: &mut Vci, id: RequestId) -> Option<Ended> {
    vci.methods.flush_gathered();
    let note = note(id).load(Ordering::Relaxed);
    if let Some(status) = vci.engine.requests.take_ended(Table::handle(id) as usize) {
        return Some(Ended { id, note, status, stays: false, inactive: false });
    }
    match vci.engine.requests.get(id) {
        Some(found) if complete::is_complete(found) => {}
        _ if note & MARKS == PERSISTENT => return take_started(vci, id, note),
        _ if note & DRIVEN != 0 => return take_driven(vci, id, note),
        _ => return None,
    }
    let ended = vci.engine.requests.remove(id);
    ended.map(|ended| Ended { id, note, status: ended.status, stays: false, inactive: false })
}

/// The same for a persistent request, which stays.
#[inline]
fn take_started(vci: &mut Vci, id: RequestId, note: u32) -> Option<Ended> {
    let engine = &mut vci.engine;
    let Some(active) = engine.persistent.active(id) else {
        return Some(Ended { id, note, status: Status::EMPTY, stays: true, inactive: true });
    };
    let status = match engine.requests.take_ended(Table::handle(active) as usize) {
        Some(status) => status,
        None if engine.requests.get(active).is_some_and(|found| !complete::is_complete(found)) => {
            return None;
        }
        None => engine.requests.remove(active).map_or(Status::EMPTY, |failed| failed.status),
    };
    engine.persistent.end(id);
    Some(Ended { id, note, status, stays: true, inactive: false })
}

#[cold]
#[inline(never)]
fn take_driven(vci: &mut Vci, id: RequestId, note: u32) -> Option<Ended> {
    let behind = special(id)?;
    let (status, inactive) = match behind.stands(vci) {
        Stand::Active => return None,
        Stand::Inactive => (Status::EMPTY, true),
        Stand::Over(status) => {
            behind.clear(vci);
            (status, false)
        }
    };
    let stays = behind.stays();
    if !stays {
        vci.engine.requests.remove(id);
    }
    Some(Ended { id, note, status, stays, inactive })
}

/// Whether there is anything to wait for: not inactive.
#[inline]
pub(crate) fn is_live(number: u32) -> bool {
    NOTES[number as usize % table::MOST].load(Ordering::Relaxed) & DRIVEN == 0 || is_active(number)
}

#[cold]
fn is_active(number: u32) -> bool {
    let vci = library().world.vci_with(number as usize);
    numbered(number).is_none_or(|behind| !matches!(behind.stands(&vci), Stand::Inactive))
}

/// The requests that a request which is not over waits for: itself, or those behind it. Of one that others outside
/// the engine end, its own id is all that can be said.
pub(crate) fn behind(vci: &Vci, id: RequestId) -> Vec<RequestId> {
    if has_ended(vci, id) {
        return Vec::new();
    }
    if let Some(active) = vci.engine.persistent.active(id) {
        return vec![active];
    }
    let behind = special(id).map_or_else(Vec::new, |at_end| at_end.behind());
    if behind.is_empty() { vec![id] } else { behind }
}

/// Whether a request is over.
pub(crate) fn has_ended(vci: &Vci, id: RequestId) -> bool {
    if id == Table::DONE {
        return true;
    }
    if note(id).load(Ordering::Relaxed) & DRIVEN != 0 {
        return special(id).is_none_or(|behind| !matches!(behind.stands(vci), Stand::Active));
    }
    vci.engine.requests.get(id).is_some_and(complete::is_complete)
}

/// The status of a request that is over, which stays. Its error is for whoever completes it.
pub(crate) fn look(vci: Entered<'_>, id: RequestId) -> Result<Option<Status>> {
    let mut status = match vci.engine.requests.get(id) {
        Some(found) if complete::is_complete(found) => found.status.clone(),
        _ if note(id).load(Ordering::Relaxed) & DRIVEN != 0 => {
            match special(id).map(|behind| behind.stands(&vci)) {
                Some(Stand::Over(status)) => status,
                Some(Stand::Active) => return Ok(None),
                Some(Stand::Inactive) | None => Status::EMPTY,
            }
        }
        _ => return Ok(None),
    };
    drop(vci);
    status.error = None;
    if let Some(at_end) = special(id) {
        at_end.looked_at(&mut status)?;
    }
    Ok(Some(status))
}

/// The program does not want to hear of the request again (MPI-5.0 §3.7.3).
pub(crate) fn let_go(mut vci: Entered<'static>, id: RequestId) -> Result<()> {
    if let Some(at_end) = special(id) {
        drop(vci);
        if at_end.let_go()? {
            forget(id);
        }
        vci = library().world.vci_with(id.slot as usize);
    }
    recv::detach(&mut vci.engine, id);
    Ok(())
}

/// Cancels a request where that is still possible (MPI-5.0 §3.8.4).
pub(crate) fn cancel(mut vci: Entered<'_>, id: RequestId) -> Result<()> {
    if let Some(at_end) = special(id) {
        let over = vci.engine.requests.get(id).is_some_and(complete::is_complete);
        drop(vci);
        at_end.cancel(over)?;
        return Ok(());
    }
    take_back(&mut vci, id);
    Ok(())
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
    numbered(Table::handle(id))
}

fn numbered(number: u32) -> Option<SharedAtEnd> {
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).get(&number).cloned()
}

/// Takes out what runs at the end of a request.
pub(crate) fn forget(id: RequestId) -> Option<SharedAtEnd> {
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).remove(&Table::handle(id))
}
