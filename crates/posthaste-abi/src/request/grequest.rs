//! Generalised requests: operations of the program that are completed like messages (MPI-5.0 §13.2).
//!
//! Each has a place in the engine's table of requests that only `MPI_Grequest_complete` ends. What must stay true: the
//! query function runs before the free function, and both outside the engine's lock.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU8, Ordering};

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::request::{Request, State, Status, complete};

use super::completion;
use crate::abi::constants::{MPI_COMM_SELF, MPI_SUCCESS};
use crate::abi::pointer::Out;
use crate::abi::types::{
    MPI_Grequest_cancel_function, MPI_Grequest_free_function, MPI_Grequest_query_function, MPI_Request,
    MPI_Status,
};
use crate::handle::{self, Kind};
use crate::layer::library::library;
use crate::layer::request::{self, AtEnd, SharedAtEnd};
use crate::mapping::errors;

struct Generalised {
    query: MPI_Grequest_query_function,
    free: MPI_Grequest_free_function,
    cancel: MPI_Grequest_cancel_function,
    state: AtomicPtr<c_void>,
    /// Which of [`FREED`] and [`COMPLETE`] it is: whichever comes last lets it go.
    ends: AtomicU8,
}

/// The program does not want to hear of it again.
const FREED: u8 = 1;
/// The program has completed it.
const COMPLETE: u8 = 2;

impl AtEnd for Generalised {
    fn completed(&self, status: &mut Status) -> Result<()> {
        let asked = self.looked_at(status);
        self.release()?;
        asked
    }

    fn looked_at(&self, status: &mut Status) -> Result<()> {
        let Some(query) = self.query else { return Ok(()) };
        let mut queried = MPI_Status::of(status);
        // SAFETY: the program gave the function and its state for this use; the status lives through the call.
        let answer = checked("query_fn", unsafe { query(self.state(), &mut queried) });
        *status = queried.read();
        answer
    }

    fn cancel(&self, over: bool) -> Result<bool> {
        if let Some(cancel) = self.cancel {
            // SAFETY: as above.
            checked("cancel_fn", unsafe { cancel(self.state(), c_int::from(over)) })?;
        }
        Ok(true)
    }

    fn freed(&self) -> Result<bool> {
        let is_last = self.ends.fetch_or(FREED, Ordering::AcqRel) & COMPLETE != 0;
        if is_last {
            self.release()?;
        }
        Ok(is_last)
    }
}

impl Generalised {
    fn state(&self) -> *mut c_void {
        self.state.load(Ordering::Relaxed)
    }

    fn release(&self) -> Result<()> {
        // SAFETY: as above.
        self.free.map_or(Ok(()), |free| checked("free_fn", unsafe { free(self.state()) }))
    }
}

/// What a callback answered, as our outcome.
fn checked(which: &'static str, code: c_int) -> Result<()> {
    if code == MPI_SUCCESS {
        return Ok(());
    }
    Err(errors::program(code, format!("{which} of the generalised request returned error {code}")))
}

/// `MPI_Grequest_start`.
pub(crate) fn start(
    query: MPI_Grequest_query_function,
    free: MPI_Grequest_free_function,
    cancel: MPI_Grequest_cancel_function,
    state: *mut c_void,
    request: Out<MPI_Request>,
) -> Result<()> {
    request.ready("request")?;
    let id = library().world.vci().engine.requests.insert(Request::new(State::External))?;
    let state = AtomicPtr::new(state);
    let ends = AtomicU8::new(0);
    let at_end = Arc::new(Generalised { query, free, cancel, state, ends });
    ALL.insert(id.slot, &at_end);
    completion::give_special(id, MPI_COMM_SELF, at_end, request)
}

/// `MPI_Grequest_complete`.
pub(crate) fn complete(request: MPI_Request) -> Result<()> {
    let mut vci = library().world.vci();
    let id = completion::find(&vci, request)?;
    // Before it ends: another thread may take it, and another one start in its slot.
    let Some(generalised) = ALL.remove(id.slot) else {
        return Err(match request::special(id) {
            Some(known) if is_generalised(&known) => {
                Error::other(ErrorClass::Request, "the generalized request is complete already")
            }
            _ => handle::invalid(Kind::Request, "request", request.number()),
        });
    };
    let engine = &mut vci.engine;
    complete::complete(&mut engine.requests, &mut engine.finished, id, Status::EMPTY);
    drop(vci);
    if generalised.ends.fetch_or(COMPLETE, Ordering::AcqRel) & FREED != 0 {
        request::forget(id);
        generalised.release()?;
    }
    request::update();
    Ok(())
}

/// Generalised requests that are not complete, by their slot in the engine's table.
static ALL: Slots = Slots(std::sync::Mutex::new(Vec::new()));

struct Slots(std::sync::Mutex<Vec<(u32, Arc<Generalised>)>>);

impl Slots {
    fn list(&self) -> std::sync::MutexGuard<'_, Vec<(u32, Arc<Generalised>)>> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn insert(&self, slot: u32, generalised: &Arc<Generalised>) {
        self.list().push((slot, generalised.clone()));
    }

    fn remove(&self, slot: u32) -> Option<Arc<Generalised>> {
        let mut list = self.list();
        let at = list.iter().position(|(known, _)| *known == slot)?;
        Some(list.swap_remove(at).1)
    }
}

fn is_generalised(at_end: &SharedAtEnd) -> bool {
    let at_end: &dyn Any = &**at_end;
    at_end.is::<Generalised>()
}
