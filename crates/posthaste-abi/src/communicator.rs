//! Communicator objects of C programs: the engine's communicator and what only C sees of it.
//!
//! Used by all entries with a communicator. What must stay true: a predefined communicator is found without a
//! lock and without counting references.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use posthaste_core::comm::Comm;
use posthaste_core::error::Result;
use posthaste_core::info::Info;

use crate::attribute::Attributes;
use crate::constants::{MPI_COMM_SELF, MPI_COMM_WORLD};
use crate::failure::Handler;
use crate::handle::{Held, Kind, Table};
use crate::library::library;
use crate::types::MPI_Comm;

/// A communicator.
pub(crate) struct Communicator {
    /// The engine's part.
    pub(crate) core: Arc<Comm>,
    /// What happens when a call on it fails.
    handler: RwLock<Handler>,
    name: Mutex<String>,
    /// Attributes (MPI-5.0 §7.7).
    pub(crate) attributes: Mutex<Attributes>,
    /// Hints that the user gave.
    pub(crate) info: Mutex<Info>,
}

/// All communicators that were made and not freed.
pub(crate) static COMMS: Table<Communicator> = Table::new(Kind::Comm);

impl Communicator {
    /// `MPI_COMM_WORLD` or `MPI_COMM_SELF`.
    pub(crate) fn predefined(core: Arc<Comm>, name: &str) -> Self {
        Self {
            core,
            handler: RwLock::new(Handler::Fatal),
            name: Mutex::new(name.to_string()),
            attributes: Mutex::default(),
            info: Mutex::default(),
        }
    }

    /// A communicator made from `parent`, whose error handler it takes over (MPI-5.0 §9.3).
    pub(crate) fn child(core: Arc<Comm>, parent: &Self) -> Self {
        Self {
            core,
            handler: RwLock::new(parent.handler()),
            name: Mutex::default(),
            attributes: Mutex::default(),
            info: Mutex::default(),
        }
    }

    /// Stores the object and returns its handle.
    pub(crate) fn store(self) -> Result<MPI_Comm> {
        COMMS.insert(Arc::new(self)).map(MPI_Comm)
    }

    /// Its error handler.
    pub(crate) fn handler(&self) -> Handler {
        self.handler.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets its error handler.
    pub(crate) fn set_handler(&self, handler: Handler) {
        *self.handler.write().unwrap_or_else(PoisonError::into_inner) = handler;
    }

    /// Its name.
    pub(crate) fn name(&self) -> String {
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Names it.
    pub(crate) fn set_name(&self, name: String) {
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name;
    }
}

/// The communicator with this handle.
#[inline(always)]
pub(crate) fn find(argument: &'static str, handle: MPI_Comm) -> Result<Held<Communicator>> {
    if handle == MPI_COMM_WORLD {
        return Ok(Held::Predefined(&library().comm_world));
    }
    find_other(argument, handle)
}

#[inline(never)]
fn find_other(argument: &'static str, handle: MPI_Comm) -> Result<Held<Communicator>> {
    if handle == MPI_COMM_SELF {
        return Ok(Held::Predefined(&library().comm_self));
    }
    COMMS.get(argument, handle.0).map(Held::User)
}
