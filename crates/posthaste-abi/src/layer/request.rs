//! How requests of programs end: the communicator of each, and what runs at its end.
//!
//! What must stay true: a request that has ended leaves the table exactly once; what a request runs at its end runs
//! outside the engine's lock, on the thread that completes it.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::progress::Vci;
use posthaste_core::pt2pt::{Engine, cancel, recv};
use posthaste_core::request::{Status, Table, complete, table};
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
/// The mark of a persistent request alone. While it is active the engine knows the request of its start; what runs at its
/// end is for rare cases only.
const PERSISTENT: u32 = 1 << 30;
const MARKS: u32 = SPECIAL | PERSISTENT;

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
    /// The program frees the request. Whether nothing will run at its end.
    fn freed(&self) -> Result<bool> {
        Ok(false)
    }
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
        _ if note & PERSISTENT != 0 => return take_started(vci, id, note),
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

/// Whether there is anything to wait for: not inactive.
#[inline]
pub(crate) fn is_live(number: u32) -> bool {
    NOTES[number as usize % table::MOST].load(Ordering::Relaxed) & PERSISTENT == 0 || is_active(number)
}

#[cold]
fn is_active(number: u32) -> bool {
    let Engine { requests, persistent, .. } = &library().world.vci_with(number as usize).engine;
    requests.by_handle(number as usize).is_none_or(|id| persistent.active(id).is_some())
}

/// The request whose end a wait for this one waits for. `None` if that is over.
pub(crate) fn waited_for(vci: &Vci, id: RequestId) -> Option<RequestId> {
    let Engine { requests, persistent, .. } = &vci.engine;
    let waited_for = persistent.waited_for(id)?;
    let goes_on = requests.get(waited_for).is_some_and(|found| !complete::is_complete(found));
    goes_on.then_some(waited_for)
}

/// The status of a request that is over, which stays. Its error is for whoever completes it.
pub(crate) fn look(vci: Entered<'_>, id: RequestId) -> Result<Option<Status>> {
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
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).get(&Table::handle(id)).cloned()
}

/// Takes out what runs at the end of a request.
pub(crate) fn forget(id: RequestId) -> Option<SharedAtEnd> {
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).remove(&Table::handle(id))
}
