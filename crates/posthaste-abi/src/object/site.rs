//! The object that an error belongs to (MPI-5.0 §9.3), and errors that know it.

use posthaste_core::error::Error;

use crate::abi::types::{MPI_Comm, MPI_File, MPI_Session, MPI_Win};

/// The object an error belongs to; its error handler is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Site {
    /// A communicator.
    Comm(MPI_Comm),
    /// A window.
    Win(MPI_Win),
    /// A file, or `MPI_FILE_NULL` for calls that open or delete one.
    File(MPI_File),
    /// A session.
    Session(MPI_Session),
    /// No object: the error is raised on `MPI_COMM_SELF` (MPI-5.0 §9.3), or on `MPI_COMM_WORLD` ([`of_process`]).
    Process,
}

impl From<MPI_Comm> for Site {
    fn from(comm: MPI_Comm) -> Self {
        Self::Comm(comm)
    }
}

impl From<MPI_Win> for Site {
    fn from(win: MPI_Win) -> Self {
        Self::Win(win)
    }
}

impl From<MPI_File> for Site {
    fn from(file: MPI_File) -> Self {
        Self::File(file)
    }
}

impl From<MPI_Session> for Site {
    fn from(session: MPI_Session) -> Self {
        Self::Session(session)
    }
}

/// Outcome of an entry whose error knows its object.
pub(crate) type Outcome = Result<(), Located>;

/// An error and the object it belongs to.
pub(crate) struct Located {
    /// The object.
    pub(crate) site: Site,
    /// The error.
    pub(crate) error: Error,
}

impl From<Error> for Located {
    fn from(error: Error) -> Self {
        Self { site: Site::Process, error }
    }
}
