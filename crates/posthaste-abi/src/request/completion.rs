//! How requests of C programs end: the handle in the engine's table, its communicator, what runs at its end.
//!
//! Called by every entry that makes or completes a request; calls the engine's table of requests.
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
use posthaste_core::progress::Lane;
use posthaste_core::pt2pt::{cancel, recv};
use posthaste_core::request::{Request, State, Status, Table, complete, table};
use posthaste_core::wait::Entered;

use crate::abi::constants::MPI_REQUEST_NULL;
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Comm, MPI_Request, MPI_Status};
use crate::handle::{self, Kind};
use crate::layer::library::library;
use crate::object::site::{Located, Outcome, Site};

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
    fn completed(&self, _status: &mut MPI_Status) -> Result<()> {
        Ok(())
    }
    /// Starts a persistent request.
    fn start(&self) -> Outcome {
        let got = "a request that is not persistent";
        Err(Error::invalid(ErrorClass::Request, "request", got, "a persistent request").into())
    }
    /// How the requests behind a driven one stand.
    fn stands(&self, _lane: &Lane) -> Stand {
        Stand::Inactive
    }
    /// The requests behind a driven one, as far as they are known.
    fn behind(&self) -> Vec<RequestId> {
        Vec::new()
    }
    /// A driven request was over and is completed: the requests behind it go.
    fn clear(&self, _lane: &mut Lane) {}
    /// Whether the request stays, inactive, when it was completed (persistent requests).
    fn stays(&self) -> bool {
        false
    }
    /// Somebody looks at the status of the request, which goes on.
    fn looked_at(&self, _status: &mut MPI_Status) -> Result<()> {
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

static SPECIALS: LazyLock<Mutex<HashMap<usize, SharedAtEnd>>> = LazyLock::new(Mutex::default);

/// Gives a new request to the program.
#[inline(always)]
pub(crate) fn give(id: RequestId, comm: MPI_Comm, request: Out<MPI_Request>) -> Result<()> {
    NOTES[id.slot as usize % table::MOST].store(comm.0 as u32, Ordering::Relaxed);
    request.set("request", MPI_Request(handle::of_request(Table::handle(id))))
}

/// Gives a new request with something to run at its end to the program.
pub(crate) fn give_special(
    id: RequestId,
    comm: MPI_Comm,
    at_end: SharedAtEnd,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    let number = handle::of_request(Table::handle(id));
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).insert(number, at_end);
    NOTES[id.slot as usize % table::MOST].store(comm.0 as u32 | SPECIAL, Ordering::Relaxed);
    request.set("request", MPI_Request(number))
}

/// Gives a new request that others in the table stand behind to the program; it lives in the lane of `home`, as they do.
pub(crate) fn give_driven(
    home: &Comm,
    comm: MPI_Comm,
    at_end: SharedAtEnd,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    let id = library().world.lane_of(home).engine.requests.insert(Request::new(State::Inactive))?;
    give_special(id, comm, at_end, request)?;
    NOTES[id.slot as usize % table::MOST].store(comm.0 as u32 | MARKS, Ordering::Relaxed);
    Ok(())
}

/// Gives a new persistent request to the program.
pub(crate) fn give_persistent(
    id: RequestId,
    comm: MPI_Comm,
    at_end: SharedAtEnd,
    request: Out<MPI_Request>,
) -> Result<()> {
    give_special(id, comm, at_end, request)?;
    NOTES[id.slot as usize % table::MOST].store(comm.0 as u32 | PERSISTENT, Ordering::Relaxed);
    Ok(())
}

/// The communicator of a request.
pub(crate) fn comm_of(id: RequestId) -> MPI_Comm {
    MPI_Comm((NOTES[id.slot as usize % table::MOST].load(Ordering::Relaxed) & !MARKS) as usize)
}

/// A request that is over and was taken.
pub(crate) struct Ended {
    handle: MPI_Request,
    note: u32,
    status: Status,
    /// It stays in the table.
    pub(crate) stays: bool,
    /// It was not even active.
    pub(crate) inactive: bool,
}

impl Ended {
    /// The status, if nothing else is to be done: what stays ends another time.
    #[inline(always)]
    pub(crate) fn plain(self) -> std::result::Result<MPI_Status, Self> {
        if (self.note & SPECIAL == 0 || self.stays) && self.status.error.is_none() {
            Ok(MPI_Status::of(&self.status))
        } else {
            Err(self)
        }
    }

    /// Runs what is to run at the end, outside the engine's lock. The status, and the message's fate.
    #[inline(always)]
    pub(crate) fn settle(self) -> (MPI_Status, Outcome) {
        match self.plain() {
            Ok(status) => (status, Ok(())),
            Err(odd) => odd.settle_odd(),
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_odd(self) -> (MPI_Status, Outcome) {
        let mut status = MPI_Status::of(&self.status);
        let site = Site::Comm(MPI_Comm((self.note & !MARKS) as usize));
        let mut fate = self.status.error.map_or(Ok(()), |error| Err(Located { site, error }));
        if self.note & SPECIAL != 0
            && !self.stays
            && let Some(at_end) = forget(self.handle)
            && fate.is_ok()
        {
            fate = at_end.completed(&mut status).map_err(|error| Located { site, error });
        }
        (status, fate)
    }
}

/// The status of a request that is over, went well, and needs nothing else: the common case, without moving it.
#[inline(always)]
pub(crate) fn take_plain(lane: &mut Lane, request: MPI_Request) -> Option<MPI_Status> {
    lane.methods.flush_gathered();
    let number = handle::to_request(request.0)? as usize;
    if NOTES[number % table::MOST].load(Ordering::Relaxed) & MARKS != 0 {
        return None;
    }
    lane.engine.requests.take_ended(number).map(|status| MPI_Status::of(&status))
}

/// Whether this is the request that is over and has nothing to tell; it belongs to no lane.
#[inline(always)]
pub(crate) fn is_done(request: MPI_Request) -> bool {
    request.0 == handle::of_request(Table::handle(Table::DONE))
}

/// The lane of a request, whether it exists or not.
#[inline]
pub(crate) fn lane_of(request: MPI_Request) -> Entered<'static> {
    library().world.lane_with(request.0)
}

/// Takes a request out of the table if it is over.
///
/// # Errors
/// A handle that names no request.
#[inline(always)]
pub(crate) fn take(lane: &mut Lane, request: MPI_Request) -> Result<Option<Ended>> {
    lane.methods.flush_gathered();
    let id = find(lane, request)?;
    let note = NOTES[id.slot as usize % table::MOST].load(Ordering::Relaxed);
    if let Some(status) = lane.engine.requests.take_ended(Table::handle(id) as usize) {
        return Ok(Some(Ended { handle: request, note, status, stays: false, inactive: false }));
    }
    match lane.engine.requests.get(id) {
        Some(found) if complete::is_complete(found) => {}
        _ if note & MARKS == PERSISTENT => return Ok(take_started(lane, id, request, note)),
        _ if note & DRIVEN != 0 => return Ok(take_driven(lane, id, request, note)),
        _ => return Ok(None),
    }
    let ended = lane.engine.requests.remove(id);
    Ok(ended.map(|ended| Ended {
        handle: request,
        note,
        status: ended.status,
        stays: false,
        inactive: false,
    }))
}

/// The same for a persistent request, which stays.
#[inline]
fn take_started(lane: &mut Lane, id: RequestId, request: MPI_Request, note: u32) -> Option<Ended> {
    let engine = &mut lane.engine;
    let Some(active) = engine.persistent.active(id) else {
        return Some(Ended { handle: request, note, status: Status::EMPTY, stays: true, inactive: true });
    };
    let status = match engine.requests.take_ended(Table::handle(active) as usize) {
        Some(status) => status,
        None if engine.requests.get(active).is_some_and(|found| !complete::is_complete(found)) => {
            return None;
        }
        None => engine.requests.remove(active).map_or(Status::EMPTY, |failed| failed.status),
    };
    engine.persistent.end(id);
    Some(Ended { handle: request, note, status, stays: true, inactive: false })
}

#[cold]
#[inline(never)]
fn take_driven(lane: &mut Lane, id: RequestId, request: MPI_Request, note: u32) -> Option<Ended> {
    let behind = special(request)?;
    let (status, inactive) = match behind.stands(lane) {
        Stand::Active => return None,
        Stand::Inactive => (Status::EMPTY, true),
        Stand::Over(status) => {
            behind.clear(lane);
            (status, false)
        }
    };
    let stays = behind.stays();
    if !stays {
        lane.engine.requests.remove(id);
    }
    Some(Ended { handle: request, note, status, stays, inactive })
}

/// Whether there is anything to wait for: neither null nor inactive.
#[inline]
pub(crate) fn is_live(request: MPI_Request) -> bool {
    request != MPI_REQUEST_NULL
        && (NOTES[request.0 % table::MOST].load(Ordering::Relaxed) & DRIVEN == 0 || is_active(request))
}

#[cold]
fn is_active(request: MPI_Request) -> bool {
    let lane = lane_of(request);
    special(request).is_none_or(|behind| !matches!(behind.stands(&lane), Stand::Inactive))
}

/// The requests that a request which is not over waits for: itself, or those behind it. Of one that others outside
/// the engine end, its own id is all that can be said.
pub(crate) fn behind(lane: &Lane, request: MPI_Request) -> Vec<RequestId> {
    let Ok(id) = find(lane, request) else { return Vec::new() };
    if has_ended(lane, request).unwrap_or(true) {
        return Vec::new();
    }
    if let Some(active) = lane.engine.persistent.active(id) {
        return vec![active];
    }
    let behind = special(request).map_or_else(Vec::new, |at_end| at_end.behind());
    if behind.is_empty() { vec![id] } else { behind }
}

/// Whether a request is over.
pub(crate) fn has_ended(lane: &Lane, request: MPI_Request) -> Result<bool> {
    let id = find(lane, request)?;
    if id == Table::DONE {
        return Ok(true);
    }
    if NOTES[id.slot as usize % table::MOST].load(Ordering::Relaxed) & DRIVEN != 0 {
        return Ok(special(request).is_none_or(|behind| !matches!(behind.stands(lane), Stand::Active)));
    }
    Ok(lane.engine.requests.get(id).is_some_and(complete::is_complete))
}

/// The status of a request that is over, which stays; the empty one for a null request.
pub(crate) fn look(request: MPI_Request) -> Result<Option<MPI_Status>> {
    if request == MPI_REQUEST_NULL {
        return Ok(Some(MPI_Status::EMPTY));
    }
    let mut status = {
        let lane = lane_of(request);
        let id = find(&lane, request)?;
        match lane.engine.requests.get(id) {
            Some(found) if complete::is_complete(found) => MPI_Status::of(&found.status),
            _ if NOTES[id.slot as usize % table::MOST].load(Ordering::Relaxed) & DRIVEN != 0 => {
                match special(request).map(|behind| behind.stands(&lane)) {
                    Some(Stand::Over(status)) => MPI_Status::of(&status),
                    Some(Stand::Active) => return Ok(None),
                    Some(Stand::Inactive) | None => MPI_Status::EMPTY,
                }
            }
            _ => return Ok(None),
        }
    };
    if let Some(at_end) = special(request) {
        at_end.looked_at(&mut status)?;
    }
    Ok(Some(status))
}

/// The program does not want to hear of the request again (MPI-5.0 §3.7.3).
pub(crate) fn let_go(request: MPI_Request) -> Result<()> {
    let mut lane = lane_of(request);
    let id = find(&lane, request)?;
    if let Some(at_end) = special(request) {
        drop(lane);
        if at_end.let_go()? {
            forget(request);
        }
        lane = lane_of(request);
    }
    recv::detach(&mut lane.engine, id);
    Ok(())
}

/// Cancels a request where that is still possible (MPI-5.0 §3.8.4).
pub(crate) fn cancel(request: MPI_Request) -> Result<()> {
    let mut lane = lane_of(request);
    let id = find(&lane, request)?;
    if let Some(at_end) = special(request) {
        let over = lane.engine.requests.get(id).is_some_and(complete::is_complete);
        drop(lane);
        at_end.cancel(over)?;
        return Ok(());
    }
    take_back(&mut lane, id);
    Ok(())
}

/// Cancels a request of the engine. Of a message to ourselves the answer is there when this returns: programs look at
/// once whether it was cancelled, and would wait for it for ever if that came later.
pub(crate) fn take_back(lane: &mut Lane, id: RequestId) {
    let Lane { engine, methods, .. } = &mut *lane;
    cancel::cancel(engine, methods, id);
    for _ in 0..2 {
        lane.progress();
    }
}

/// The engine's name of a request.
#[inline(always)]
pub(crate) fn find(lane: &Lane, request: MPI_Request) -> Result<RequestId> {
    match handle::to_request(request.0).and_then(|number| lane.engine.requests.by_handle(number as usize)) {
        Some(id) => Ok(id),
        None if is_done(request) => Ok(Table::DONE), // as good in any lane
        None => Err(stale(request)),
    }
}

#[cold]
fn stale(request: MPI_Request) -> Error {
    handle::invalid(Kind::Request, "request", request.0)
}

/// What runs at the end of a request, if anything.
pub(crate) fn special(request: MPI_Request) -> Option<SharedAtEnd> {
    let specials = SPECIALS.lock().unwrap_or_else(PoisonError::into_inner);
    specials.get(&request.0).cloned()
}

/// Takes out what runs at the end of a request.
pub(crate) fn forget(request: MPI_Request) -> Option<SharedAtEnd> {
    let mut specials = SPECIALS.lock().unwrap_or_else(PoisonError::into_inner);
    specials.remove(&request.0)
}
