//! What happens when a call fails: the sentence, the error handler, the error code (MPI-5.0 §9.3).
//!
//! The sentence names the call, the rank and the communicator; the error itself names the argument.
//! `MPI_ERRORS_ARE_FATAL`, which is every communicator's handler until the program sets another (unless the job was
//! started with another), prints it once and ends the job. Error codes are the error classes; `MPI_Error_string` adds
//! the latest sentence of that class on the calling thread.

use std::ffi::c_int;
use std::fmt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use posthaste_core::error::{Error, say};

use crate::abi::constants::{MPI_COMM_SELF, MPI_COMM_WORLD};
use crate::abi::types::MPI_Comm;
use crate::layer::errhandler::{self, Fallback, fallback, initial};
use crate::layer::error_code::remember;
use crate::layer::library::{WORLD_RANK, abort, inside};
use crate::mapping::errors;
use crate::object::errhandler::{FILE_NULL_HANDLER, Handler, SESSION_HANDLER};
use crate::object::site::Site;
use crate::object::{communicator, error_code};

/// Handles the failure of `call` and returns its error code.
#[cold]
#[inline(never)]
pub(crate) fn raise(call: &'static str, site: Site, error: &Error) -> c_int {
    let (handler, told) = handler_of(site);
    raise_with(&handler, told, call, site, error)
}

/// The same with this handler, which is told of the object `told`.
pub(crate) fn raise_with(
    handler: &Handler,
    told: Site,
    call: &'static str,
    site: Site,
    error: &Error,
) -> c_int {
    let class = error.class();
    let sentence = Sentence { call, rank: WORLD_RANK.load(Ordering::Relaxed), site, error }.to_string();
    let code = errors::code(error);
    match handler {
        Handler::Fatal | Handler::Abort => {
            say(format_args!("{sentence} ({})", class.name()));
            // Of a code of the program only the low byte would be seen, which may be 0.
            abort(errors::of_class(class));
        }
        Handler::Return | Handler::User(_) => {
            remember(class, sentence);
            if let Handler::User(function) = handler {
                function.call(told, code);
            }
        }
    }
    code
}

/// Calls the error handler of an object for an error code that the program made (MPI-5.0 §9.3).
pub(crate) fn call_handler(call: &'static str, site: Site, code: c_int) {
    let (handler, site) = handler_of(site);
    match handler {
        Handler::Fatal | Handler::Abort => {
            let rank = WORLD_RANK.load(Ordering::Relaxed);
            say(format_args!(
                "{call} on rank {rank} of MPI_COMM_WORLD: the program raised error {code}: {}",
                error_code::text(code)
            ));
            abort(code);
        }
        Handler::Return => {}
        Handler::User(function) => function.call(site, code),
    }
}

/// The handler of the object an error belongs to, and the object that it is told. A bad handle has no object: the error
/// goes to the process.
fn handler_of(site: Site) -> (Handler, Site) {
    match site {
        Site::File(_) => (FILE_NULL_HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone(), site),
        Site::Session(_) => {
            let given = SESSION_HANDLER.read().unwrap_or_else(PoisonError::into_inner).clone();
            given.map_or_else(of_process, |handler| (handler, site))
        }
        Site::Comm(comm) if inside().is_some() => communicator::find("comm", comm)
            .map_or_else(|_| of_process(), |found| (errhandler::of(&found), site)),
        Site::Comm(_) | Site::Win(_) | Site::Process => of_process(),
    }
}

/// The handler of errors without an object.
fn of_process() -> (Handler, Site) {
    let Some(library) = inside() else { return (initial(), Site::Process) };
    let (comm, handle) = match fallback(library) {
        Fallback::World => (library.world.world(), MPI_COMM_WORLD),
        Fallback::Own => (library.world.own(), MPI_COMM_SELF),
    };
    (errhandler::of(comm), Site::Comm(handle))
}

/// `MPI_Send on rank 2 of MPI_COMM_WORLD: tag is -7, expected 0..=2147483647`.
struct Sentence<'a> {
    call: &'static str,
    rank: i32,
    site: Site,
    error: &'a Error,
}

impl fmt::Display for Sentence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.call)?;
        if self.rank >= 0 {
            write!(f, " on rank {} of MPI_COMM_WORLD", self.rank)?;
        }
        if let Site::Comm(comm) = self.site
            && let Some(name) = name_of(comm)
        {
            write!(f, " (in {name})")?;
        }
        let text = self.error.to_string();
        // A collective operation begins with its name, which is news only where another call found its error.
        let text = text.strip_prefix(self.call).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(&text);
        write!(f, ": {text}")
    }
}

/// How to call a communicator other than the world.
fn name_of(comm: MPI_Comm) -> Option<String> {
    if comm == MPI_COMM_WORLD || inside().is_none() {
        return None;
    }
    let found = communicator::find("comm", comm).ok()?;
    let name = found.name();
    if name.is_empty() {
        return Some(format!("a communicator of size {}, as rank {}", found.size(), found.rank()));
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use posthaste_core::error::ErrorClass;

    use super::*;
    use crate::layer::error_code::latest;

    #[test]
    fn the_sentence_names_call_rank_argument_and_what_was_expected() {
        let error = Error::invalid(ErrorClass::Tag, "tag", -7, "0..=2147483647");
        let sentence = Sentence { call: "MPI_Send", rank: 2, site: MPI_COMM_WORLD.into(), error: &error };
        assert_eq!(
            sentence.to_string(),
            "MPI_Send on rank 2 of MPI_COMM_WORLD: tag is -7, expected 0..=2147483647"
        );
    }

    #[test]
    fn the_sentence_names_a_collective_operation_once() {
        let error = Error::other(ErrorClass::Truncate, "MPI_Ibcast: rank 0 sent 20 bytes");
        let said = |call| Sentence { call, rank: 1, site: Site::Process, error: &error }.to_string();
        assert_eq!(said("MPI_Ibcast"), "MPI_Ibcast on rank 1 of MPI_COMM_WORLD: rank 0 sent 20 bytes");
        assert_eq!(
            said("MPI_Wait"),
            "MPI_Wait on rank 1 of MPI_COMM_WORLD: MPI_Ibcast: rank 0 sent 20 bytes"
        );
    }

    #[test]
    fn file_errors_return_by_default_and_are_remembered() {
        let site = Site::File(crate::abi::constants::MPI_FILE_NULL);
        let error = Error::other(ErrorClass::NoSuchFile, "there is no file named x");
        assert_eq!(raise("MPI_File_open", site, &error), crate::abi::constants::MPI_ERR_NO_SUCH_FILE);
        assert_eq!(latest(ErrorClass::NoSuchFile).unwrap(), "MPI_File_open: there is no file named x");
        assert_eq!(latest(ErrorClass::Tag), None);
    }
}
