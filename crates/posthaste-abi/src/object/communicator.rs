//! Communicators by their handles.
//!
//! What must stay true: a predefined communicator, and the one that a thread used last, are found without a lock and
//! without counting references: either would make threads on different communicators wait for each other.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use posthaste_core::comm::Comm;
use posthaste_core::error::{Error, ErrorClass, Result};

use super::errhandler::Handler;
use crate::abi::constants::{MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD};
use crate::abi::types::MPI_Comm;
use crate::handle::{Kind, Table};
use crate::layer::communicator::session_of;
use crate::layer::errhandler;
use crate::layer::library::{Life, life, of_world};
use crate::layer::object_ref::{Lent, ObjectRef, Recent};

/// All communicators that were made and not freed.
static COMMS: Table<Comm> = Table::new(Kind::Comm);

/// The communicator with this handle.
#[inline(always)]
pub(crate) fn find(argument: &'static str, handle: MPI_Comm) -> Result<ObjectRef<Comm>> {
    if handle == MPI_COMM_WORLD {
        return match of_world() {
            Some(library) => Ok(ObjectRef::Predefined(library.world.world())),
            None => Err(no_world(argument, "MPI_COMM_WORLD")),
        };
    }
    find_other(argument, handle)
}

/// There is a session, and no MPI_Init.
#[cold]
fn no_world(argument: &'static str, predefined: &'static str) -> Error {
    let when = if life() == Life::After { "after MPI_Finalize" } else { "before MPI_Init" };
    Error::invalid(
        ErrorClass::Comm,
        argument,
        format_args!("{predefined} {when}"),
        "a communicator of a session",
    )
}

#[inline(never)]
fn find_other(argument: &'static str, handle: MPI_Comm) -> Result<ObjectRef<Comm>> {
    if handle == MPI_COMM_SELF {
        let Some(library) = of_world() else { return Err(no_world(argument, "MPI_COMM_SELF")) };
        return Ok(ObjectRef::Predefined(library.world.own()));
    }
    let freed = FREED.load(Ordering::Acquire);
    let recent = RECENT.try_with(|recent| recent.take((handle.number(), freed))).ok().flatten();
    let comm = match recent {
        Some(comm) => comm,
        None => COMMS.get(argument, handle.number())?,
    };
    Ok(ObjectRef::Lent(Lent::new(comm, (handle.number(), freed), give_back)))
}

/// Calls with the communicator with this handle. Where the thread has just used it, it stays in registers.
#[inline(always)]
pub(crate) fn with<T>(
    argument: &'static str,
    handle: MPI_Comm,
    call: impl FnOnce(&Comm) -> Result<T>,
) -> Result<T> {
    if handle == MPI_COMM_WORLD {
        return match of_world() {
            Some(library) => call(library.world.world()),
            None => Err(no_world(argument, "MPI_COMM_WORLD")),
        };
    }
    let mark = (handle.number(), FREED.load(Ordering::Acquire));
    if let Ok(Some(comm)) = RECENT.try_with(|recent| recent.take(mark)) {
        let result = call(&comm);
        give_back(comm, mark);
        return result;
    }
    call(&*find(argument, handle)?)
}

/// How many communicators have been freed, going round.
static FREED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The communicator that this thread used last.
    static RECENT: Recent<Comm> = const { Recent::new() };
}

/// A call is over: the next one is likely to use the same communicator.
#[inline]
fn give_back(comm: Arc<Comm>, mark: (usize, usize)) {
    let _ = RECENT.try_with(|recent| recent.give_back(comm, mark));
}

/// The communicator with this handle is found no more.
pub(crate) fn remove(argument: &'static str, handle: MPI_Comm) -> Result<()> {
    let removed = COMMS.remove(argument, handle.number())?;
    removed.leave();
    FREED.fetch_add(1, Ordering::Release);
    let _ = RECENT.try_with(Recent::forget);
    drop(removed);
    Ok(())
}

/// A communicator that comes from this session, if there is one.
pub(crate) fn any_of_session(session: usize) -> Option<MPI_Comm> {
    COMMS.find(|comm| session_of(comm) == Some(session)).map(MPI_Comm::numbered)
}

/// Gives a new communicator to the program; `MPI_COMM_NULL` where this process is no member.
pub(crate) fn store(comm: Option<Arc<Comm>>) -> Result<MPI_Comm> {
    comm.map_or(Ok(MPI_COMM_NULL), |comm| COMMS.insert(comm).map(MPI_Comm::numbered))
}

/// Communicators in the making whose handles the program has already (`MPI_Comm_idup`), with the error handlers that
/// were set meanwhile.
static UNFINISHED: LazyLock<Mutex<HashMap<usize, Option<Handler>>>> = LazyLock::new(Mutex::default);

/// A handle for a communicator in the making, given back unless the communicator comes.
pub(crate) struct Reserved(MPI_Comm);

impl Reserved {
    /// Reserves one.
    pub(crate) fn new() -> Result<Self> {
        let handle = COMMS.reserve()?;
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(handle, None);
        Ok(Self(MPI_Comm::numbered(handle)))
    }

    /// The handle.
    pub(crate) fn handle(&self) -> MPI_Comm {
        self.0
    }

    /// The communicator is ready.
    pub(crate) fn fill(self, comm: Arc<Comm>) {
        if let Some(handler) = self.forget() {
            errhandler::set(&comm, handler);
        }
        COMMS.fill(self.0.number(), comm);
        std::mem::forget(self);
    }

    /// It is in the making no more; the error handler that was set meanwhile.
    fn forget(&self) -> Option<Handler> {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0.number()).flatten()
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        drop(self.forget());
        COMMS.release(self.0.number());
    }
}

/// Sets the error handler of a communicator in the making; false if the handle names none.
pub(crate) fn set_handler_later(handle: MPI_Comm, handler: &Handler) -> bool {
    match UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).get_mut(&handle.number()) {
        Some(place) => {
            *place = Some(handler.clone());
            true
        }
        None => false,
    }
}
