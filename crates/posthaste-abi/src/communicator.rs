//! Communicators by their handles, and their error handlers.
//!
//! Used by all entries with a communicator. What must stay true: a predefined communicator is found without a
//! lock and without counting references.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use posthaste_core::comm::Comm;
use posthaste_core::error::Result;

use crate::constants::{MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD};
use crate::failure::{self, Handler};
use crate::handle::{Held, Kind, Table};
use crate::library::library;
use crate::types::MPI_Comm;

/// All communicators that were made and not freed.
pub(crate) static COMMS: Table<Comm> = Table::new(Kind::Comm);

/// The communicator with this handle.
#[inline(always)]
pub(crate) fn find(argument: &'static str, handle: MPI_Comm) -> Result<Held<Comm>> {
    if handle == MPI_COMM_WORLD {
        return Ok(Held::Predefined(library().world.world()));
    }
    find_other(argument, handle)
}

#[inline(never)]
fn find_other(argument: &'static str, handle: MPI_Comm) -> Result<Held<Comm>> {
    if handle == MPI_COMM_SELF {
        return Ok(Held::Predefined(library().world.own()));
    }
    COMMS.get(argument, handle.0).map(Held::User)
}

/// Gives a new communicator to the program; `MPI_COMM_NULL` where this process is no member.
pub(crate) fn store(comm: Option<Arc<Comm>>) -> Result<MPI_Comm> {
    comm.map_or(Ok(MPI_COMM_NULL), |comm| COMMS.insert(comm).map(MPI_Comm))
}

/// The error handler of a communicator; every communicator begins with the initial one or takes over its parent's
/// (MPI-5.0 §9.3).
pub(crate) fn handler(comm: &Comm) -> Handler {
    let set = comm.handler().and_then(|handler| handler.downcast::<Handler>().ok());
    set.map_or_else(failure::initial, |handler| Handler::clone(&handler))
}

/// Sets the error handler of a communicator.
pub(crate) fn set_handler(comm: &Comm, handler: Handler) {
    comm.set_handler(Some(Arc::new(handler)));
}

/// Communicators in the making whose handles the program has already (`MPI_Comm_idup`), with the error handlers that
/// were set meanwhile.
static UNFINISHED: LazyLock<Mutex<HashMap<usize, Option<Handler>>>> = LazyLock::new(Mutex::default);

/// A handle for a communicator in the making.
pub(crate) fn reserve() -> Result<MPI_Comm> {
    let handle = COMMS.reserve()?;
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(handle, None);
    Ok(MPI_Comm(handle))
}

/// The communicator behind a reserved handle is ready.
pub(crate) fn fill(handle: MPI_Comm, comm: Arc<Comm>) {
    let waiting = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&handle.0);
    if let Some(handler) = waiting.flatten() {
        set_handler(&comm, handler);
    }
    COMMS.fill(handle.0, comm);
}

/// Sets the error handler of a communicator in the making; false if the handle names none.
pub(crate) fn set_handler_later(handle: MPI_Comm, handler: &Handler) -> bool {
    match UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&handle.0) {
        Some(place) => {
            *place = Some(handler.clone());
            true
        }
        None => false,
    }
}
