//! What happens when a call fails: whose error handler, and the error code (MPI-5.0 §9.3). What the handler does is in
//! `layer::failure`.
//!
//! `MPI_ERRORS_ARE_FATAL`, which is every communicator's handler until the program sets another (unless the job was started
//! with another), ends the job. Error codes are the error classes; `MPI_Error_string` adds the latest sentence of that class
//! on the calling thread.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::PoisonError;

use posthaste_core::error::Error;

use crate::abi::constants::{MPI_COMM_SELF, MPI_COMM_WORLD};
use crate::layer::errhandler::{self, Fallback, fallback, initial};
use crate::layer::failure::{Sentence, name_of, treat, treat_code};
use crate::layer::library::{inside, of_world};
use crate::mapping::errors;
use crate::object::errhandler::{FILE_NULL_HANDLER, Handler};
use crate::object::site::Site;
use crate::object::{communicator, error_code, session, window};

/// Handles the failure of `call` and returns its error code.
#[cold]
#[inline(never)]
pub(crate) fn raise(call: &'static str, site: Site, error: &Error) -> c_int {
    let (handler, object) = handler_of(site);
    raise_with(&handler, object, call, site, error)
}

/// The same with this handler, which is object of the object `object`.
pub(crate) fn raise_with(
    handler: &Handler,
    object: Site,
    call: &'static str,
    site: Site,
    error: &Error,
) -> c_int {
    let name = name(site);
    let sentence = Sentence::of(call, name.as_deref(), error);
    let (class, code) = (error.class(), errors::code(error));
    // Of a code of the program only the low byte would be seen, which may be 0.
    if let Some(function) = treat(handler, class, &sentence, errors::of_class(class)) {
        function.call(object, code);
    }
    code
}

/// Calls the error handler of an object for an error code that the program made (MPI-5.0 §9.3).
pub(crate) fn call_handler(call: &'static str, site: Site, code: c_int) {
    let (handler, site) = handler_of(site);
    if let Some(function) = treat_code(&handler, call, code, || error_code::text(code)) {
        function.call(site, code);
    }
}

thread_local! {
    /// The handler of the window that the call under way has freed.
    static PARTED: Cell<Option<Handler>> = const { Cell::new(None) };
}

/// The window of the error that this call gives is gone when it is raised; this was its handler.
pub(crate) fn of_freed_window(handler: Handler) {
    PARTED.set(Some(handler));
}

/// The handler of the object an error belongs to, and the object that it is called for. A bad handle has no object: the error
/// goes to the process.
fn handler_of(site: Site) -> (Handler, Site) {
    match site {
        Site::File(_) => (FILE_NULL_HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone(), site),
        Site::Session(session) => {
            session::find("session", session).map_or_else(|_| of_process(), |found| (found.handler(), site))
        }
        Site::Comm(comm) if inside().is_some() => communicator::find("comm", comm)
            .map_or_else(|_| of_process(), |found| (errhandler::of(&found), site)),
        Site::Win(win) if inside().is_some() => match window::find("win", win) {
            Ok(found) => (found.handler(), site),
            Err(_) => PARTED.take().map_or_else(of_process, |handler| (handler, site)),
        },
        Site::Comm(_) | Site::Win(_) | Site::Process => of_process(),
    }
}

/// The handler of errors without an object.
fn of_process() -> (Handler, Site) {
    let Some(library) = of_world() else { return (initial(), Site::Process) };
    let (comm, handle) = match fallback::<Handler>(library) {
        Fallback::World => (library.world.world(), MPI_COMM_WORLD),
        Fallback::Own => (library.world.own(), MPI_COMM_SELF),
    };
    (errhandler::of(comm), Site::Comm(handle))
}

/// How to call the window, or the communicator other than the world, that an error belongs to.
fn name(site: Site) -> Option<String> {
    match site {
        Site::Comm(comm) if comm != MPI_COMM_WORLD && inside().is_some() => {
            communicator::find("comm", comm).ok().map(|found| name_of(&found))
        }
        Site::Win(win) if inside().is_some() => window::find("win", win).ok().map(|found| found.name()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use posthaste_core::error::ErrorClass;

    use super::*;
    use crate::abi::constants::{MPI_ERR_NO_SUCH_FILE, MPI_FILE_NULL};
    use crate::layer::error_code::latest;

    #[test]
    fn file_errors_return_by_default_and_are_remembered() {
        let error = Error::other(ErrorClass::NoSuchFile, "there is no file named x");
        let site = Site::File(MPI_FILE_NULL);
        assert_eq!(raise("MPI_File_open", site, &error), MPI_ERR_NO_SUCH_FILE);
        assert_eq!(latest(ErrorClass::NoSuchFile).unwrap(), "MPI_File_open: there is no file named x");
        assert_eq!(latest(ErrorClass::Tag), None);
    }
}
