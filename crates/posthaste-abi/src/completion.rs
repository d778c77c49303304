//! How requests of C programs end: the handle in the engine's table, its communicator, what runs at its end.
//!
//! Called by every entry that makes or completes a request; calls the engine's table of requests.
//!
//! What must stay true: a request that has ended leaves the table exactly once; what a request runs at its end runs
//! outside the engine's lock, on the thread that completes it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use posthaste_core::error::{Error, Result};
use posthaste_core::ids::RequestId;
use posthaste_core::progress::Lane;
use posthaste_core::pt2pt::recv;
use posthaste_core::request::{Status, Table, complete, table};

use crate::call::{Located, Outcome};
use crate::constants::MPI_REQUEST_NULL;
use crate::failure::Site;
use crate::handle::{self, Kind};
use crate::library::library;
use crate::pointer::Out;
use crate::types::{MPI_Comm, MPI_Request, MPI_Status};

/// For each slot of the engine's table the communicator of the request in it, and a mark.
static NOTES: [AtomicU32; table::MOST] = [const { AtomicU32::new(0) }; table::MOST];
/// The mark: something runs at the end of the request.
const SPECIAL: u32 = 1 << 31;

/// What runs at the end of a request.
pub(crate) trait AtEnd: Send + Sync {
    /// The request was completed by a wait or test; the status may be changed.
    fn completed(&self, status: &mut MPI_Status) -> Result<()>;
    /// Somebody looks at the status of the request, which goes on.
    fn looked_at(&self, _status: &mut MPI_Status) -> Result<()> {
        Ok(())
    }
    /// The program asks to cancel the request. Whether that was seen to.
    fn cancel(&self, _complete: bool) -> Result<bool> {
        Ok(false)
    }
    /// The program lets the request go. Whether that was seen to.
    fn let_go(&self) -> Result<bool> {
        Ok(false)
    }
}

type SharedAtEnd = std::sync::Arc<dyn AtEnd>;

static SPECIALS: Mutex<Option<HashMap<usize, SharedAtEnd>>> = Mutex::new(None);

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
    let number = handle::of_request(Table::handle(id));
    SPECIALS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(number, at_end);
    NOTES[id.slot as usize % table::MOST].store(comm.0 as u32 | SPECIAL, Ordering::Relaxed);
    request.set("request", MPI_Request(number))
}

/// A request that was taken out of the table.
pub(crate) struct Ended {
    handle: MPI_Request,
    note: u32,
    status: Status,
}

impl Ended {
    /// The status, if nothing else is to be done.
    #[inline(always)]
    pub(crate) fn plain(self) -> std::result::Result<MPI_Status, Self> {
        if self.note & SPECIAL == 0 && self.status.error.is_none() {
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
        let site = Site::Comm(MPI_Comm((self.note & !SPECIAL) as usize));
        let mut fate = self.status.error.map_or(Ok(()), |error| Err(Located { site, error: *error }));
        if self.note & SPECIAL != 0
            && let Some(at_end) = forget(self.handle)
            && fate.is_ok()
        {
            fate = at_end.completed(&mut status).map_err(|error| Located { site, error });
        }
        (status, fate)
    }
}

/// Takes a request out of the table if it is over.
///
/// # Errors
/// A handle that names no request.
#[inline(always)]
pub(crate) fn take(lane: &mut Lane, request: MPI_Request) -> Result<Option<Ended>> {
    let id = find(lane, request)?;
    match lane.engine.requests.get(id) {
        Some(found) if complete::is_complete(found) => {}
        _ => return Ok(None),
    }
    let note = NOTES[id.slot as usize % table::MOST].load(Ordering::Relaxed);
    let ended = lane.engine.requests.remove(id);
    Ok(ended.map(|ended| Ended { handle: request, note, status: ended.status }))
}

/// Whether a request is over.
pub(crate) fn has_ended(lane: &Lane, request: MPI_Request) -> Result<bool> {
    let id = find(lane, request)?;
    Ok(lane.engine.requests.get(id).is_some_and(complete::is_complete))
}

/// The status of a request that is over, which stays; the empty one for a null request.
pub(crate) fn look(request: MPI_Request) -> Result<Option<MPI_Status>> {
    if request == MPI_REQUEST_NULL {
        return Ok(Some(MPI_Status::EMPTY));
    }
    let mut status = {
        let lane = library().world.lane();
        let id = find(&lane, request)?;
        match lane.engine.requests.get(id) {
            Some(found) if complete::is_complete(found) => MPI_Status::of(&found.status),
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
    let mut lane = library().world.lane();
    let id = find(&lane, request)?;
    if let Some(at_end) = special(request) {
        drop(lane);
        if at_end.let_go()? {
            return Ok(());
        }
        lane = library().world.lane();
    }
    recv::detach(&mut lane.engine, id);
    Ok(())
}

/// Cancels a request where that is still possible (MPI-5.0 §3.8.4).
pub(crate) fn cancel(request: MPI_Request) -> Result<()> {
    let mut lane = library().world.lane();
    let id = find(&lane, request)?;
    if let Some(at_end) = special(request) {
        let over = lane.engine.requests.get(id).is_some_and(complete::is_complete);
        drop(lane);
        at_end.cancel(over)?;
        return Ok(());
    }
    recv::cancel(&mut lane.engine, id);
    Ok(())
}

/// The engine's name of a request.
#[inline(always)]
pub(crate) fn find(lane: &Lane, request: MPI_Request) -> Result<RequestId> {
    match handle::to_request(request.0).and_then(|number| lane.engine.requests.by_handle(number as usize)) {
        Some(id) => Ok(id),
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
    specials.as_ref()?.get(&request.0).cloned()
}

/// Takes out what runs at the end of a request.
pub(crate) fn forget(request: MPI_Request) -> Option<SharedAtEnd> {
    let mut specials = SPECIALS.lock().unwrap_or_else(PoisonError::into_inner);
    specials.as_mut()?.remove(&request.0)
}
