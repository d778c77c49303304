//! Sessions by their handles (MPI-5.0 §11.3).

use std::sync::{Arc, Mutex, PoisonError};

use posthaste_core::error::Result;
use posthaste_core::info::Info;

use super::errhandler::Handler;
use crate::abi::types::MPI_Session;
use crate::handle::{Kind, Table};

/// All sessions that were begun and not ended.
static SESSIONS: Table<Session> = Table::new(Kind::Session);

/// A session.
pub(crate) struct Session {
    handler: Mutex<Handler>,
    /// Its hints, with the level of thread support that it has.
    pub(crate) hints: Info,
}

impl Session {
    /// A session with this error handler.
    pub(crate) fn new(handler: Handler, hints: Info) -> Self {
        Self { handler: Mutex::new(handler), hints }
    }

    /// Its error handler.
    pub(crate) fn handler(&self) -> Handler {
        self.handler.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives it another one.
    pub(crate) fn set_handler(&self, handler: Handler) {
        *self.handler.lock().unwrap_or_else(PoisonError::into_inner) = handler;
    }
}

/// The session with this handle.
pub(crate) fn find(argument: &'static str, handle: MPI_Session) -> Result<Arc<Session>> {
    SESSIONS.get(argument, handle.number())
}

/// The session with this handle is found no more.
pub(crate) fn remove(argument: &'static str, handle: MPI_Session) -> Result<()> {
    SESSIONS.remove(argument, handle.number()).map(drop)
}

/// Gives a session to the program.
pub(crate) fn store(session: Session) -> Result<MPI_Session> {
    SESSIONS.insert(Arc::new(session)).map(MPI_Session::numbered)
}
