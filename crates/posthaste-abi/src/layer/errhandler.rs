//! Error handlers: what they do, which one a communicator has, and whose serves errors without an object (MPI-5.0 §9.3).
//!
//! Functions of the program are opaque here (`U`).

use std::sync::OnceLock;

use posthaste_core::comm::Comm;
use posthaste_core::config::InitialHandler;
use posthaste_core::instance;

use super::library::{Library, open_sessions};

/// What to do with an error: an error handler.
#[derive(Clone, Debug)]
pub(crate) enum Handler<U> {
    /// `MPI_ERRORS_ARE_FATAL`: print the sentence and end all processes of the job.
    Fatal,
    /// `MPI_ERRORS_ABORT`: print the sentence and end the processes of the communicator.
    Abort,
    /// `MPI_ERRORS_RETURN`: return the error code.
    Return,
    /// A function of the program.
    User(U),
}

/// The handler that the job was started with: that of the first communicators, and of calls before `MPI_Init` and after
/// `MPI_Finalize`. `MPI_Init` refuses a setting that cannot be read.
pub(crate) fn initial<U>() -> Handler<U> {
    static INITIAL: OnceLock<InitialHandler> = OnceLock::new();
    match INITIAL.get_or_init(instance::initial_handler) {
        InitialHandler::Fatal => Handler::Fatal,
        InitialHandler::Abort => Handler::Abort,
        InitialHandler::Return => Handler::Return,
    }
}

/// The error handler of a communicator; every communicator begins with the initial one or takes over its parent's.
pub(crate) fn of<U: Clone + Send + Sync + 'static>(comm: &Comm) -> Handler<U> {
    comm.handler::<Handler<U>>().map_or_else(initial, |handler| Handler::clone(&handler))
}

/// Sets the error handler of a communicator.
pub(crate) fn set<U: Send + Sync + 'static>(comm: &Comm, handler: Handler<U>) {
    comm.set_handler(handler);
}

/// The communicator whose handler serves errors without an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fallback {
    /// `MPI_COMM_WORLD`.
    World,
    /// `MPI_COMM_SELF`.
    Own,
}

/// MPI-4.0 moved these errors from `MPI_COMM_WORLD` to `MPI_COMM_SELF`; programs written before set the handler of the world
/// alone, so it stands in until `MPI_COMM_SELF` is given one, except with `POSTHASTE_STRICT` and while a session is open: who
/// uses those does not expect it.
pub(crate) fn fallback<H: Send + Sync + 'static>(library: &Library) -> Fallback {
    let is_set = library.world.own().handler::<H>().is_some();
    if library.strict || is_set || open_sessions() > 0 { Fallback::Own } else { Fallback::World }
}
