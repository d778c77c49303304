//! What can go wrong, in words and as MPI error classes.
//!
//! Three channels are never mixed: `Result<_, Error>` for the caller's mistakes and local failures, a request's status
//! for a message's outcome, `PeerDown` for a link's. [`Error::class`] is the only mapping to MPI classes (MPI-5.0 §9.4).
//! The text names the wrong value and what was expected; the call and the rank are added at the door, where they are
//! known.

use std::fmt::{Arguments, Display};
use std::io::Write;

/// Result with our [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Writes a line in our name to standard error, all of it at once: other ranks write to the same place, and the
/// launcher may end this one at any moment.
#[cold]
pub fn say(line: Arguments<'_>) {
    let line = format!("posthaste: {line}\n");
    if cfg!(test) {
        return eprint!("{line}"); // which is shown only if the test fails
    }
    // Without a standard error there is nobody to report to.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

macro_rules! error_classes {
    ($($(#[$doc:meta])* $name:ident, $mpi:literal, $text:literal;)*) => {
        /// MPI error classes (MPI-5.0 §9.4, table of error classes), and two of the proposal for fault tolerance. Which number a class has is known to the API layer alone.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorClass { $(#[doc = $text] $name,)* }

        impl ErrorClass {
            /// Every class, in the order of the standard's table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];
            /// The name in C, such as `MPI_ERR_TAG`.
            pub fn name(self) -> &'static str { match self { $(Self::$name => $mpi,)* } }
            /// One sentence that explains the class.
            pub fn text(self) -> &'static str { match self { $(Self::$name => $text,)* } }
        }
    };
}

error_classes! {
    Buffer, "MPI_ERR_BUFFER", "invalid buffer address";
    Count, "MPI_ERR_COUNT", "invalid count";
    Type, "MPI_ERR_TYPE", "invalid or uncommitted datatype";
    Tag, "MPI_ERR_TAG", "invalid tag";
    Comm, "MPI_ERR_COMM", "invalid communicator";
    Rank, "MPI_ERR_RANK", "invalid rank";
    Request, "MPI_ERR_REQUEST", "invalid request";
    Root, "MPI_ERR_ROOT", "invalid root";
    Group, "MPI_ERR_GROUP", "invalid group";
    Op, "MPI_ERR_OP", "invalid reduction operation";
    Topology, "MPI_ERR_TOPOLOGY", "invalid topology";
    Dims, "MPI_ERR_DIMS", "invalid dimensions";
    Arg, "MPI_ERR_ARG", "invalid argument";
    Unknown, "MPI_ERR_UNKNOWN", "unknown error";
    Truncate, "MPI_ERR_TRUNCATE", "message longer than the receive buffer";
    Other, "MPI_ERR_OTHER", "error with no class of its own";
    Intern, "MPI_ERR_INTERN", "internal error of the library";
    Pending, "MPI_ERR_PENDING", "the request is neither complete nor failed";
    InStatus, "MPI_ERR_IN_STATUS", "the error code is in the status";
    Access, "MPI_ERR_ACCESS", "permission denied";
    Amode, "MPI_ERR_AMODE", "invalid file access mode";
    Assert, "MPI_ERR_ASSERT", "invalid assertion";
    BadFile, "MPI_ERR_BAD_FILE", "invalid file name";
    Base, "MPI_ERR_BASE", "invalid window base address";
    Conversion, "MPI_ERR_CONVERSION", "data conversion failed";
    Disp, "MPI_ERR_DISP", "invalid displacement";
    DupDatarep, "MPI_ERR_DUP_DATAREP", "data representation already defined";
    FileExists, "MPI_ERR_FILE_EXISTS", "file exists already";
    FileInUse, "MPI_ERR_FILE_IN_USE", "file is in use";
    File, "MPI_ERR_FILE", "invalid file handle";
    InfoKey, "MPI_ERR_INFO_KEY", "invalid info key";
    InfoNokey, "MPI_ERR_INFO_NOKEY", "no such info key";
    InfoValue, "MPI_ERR_INFO_VALUE", "invalid info value";
    Info, "MPI_ERR_INFO", "invalid info object";
    Io, "MPI_ERR_IO", "input/output error";
    Keyval, "MPI_ERR_KEYVAL", "invalid attribute key";
    Locktype, "MPI_ERR_LOCKTYPE", "invalid lock type";
    Name, "MPI_ERR_NAME", "no such service name";
    NoMem, "MPI_ERR_NO_MEM", "out of memory";
    NotSame, "MPI_ERR_NOT_SAME", "arguments differ between ranks";
    NoSpace, "MPI_ERR_NO_SPACE", "no space left";
    NoSuchFile, "MPI_ERR_NO_SUCH_FILE", "no such file";
    Port, "MPI_ERR_PORT", "invalid port name";
    Quota, "MPI_ERR_QUOTA", "quota exceeded";
    ReadOnly, "MPI_ERR_READ_ONLY", "file system is read-only";
    RmaAttach, "MPI_ERR_RMA_ATTACH", "memory cannot be attached to the window";
    RmaConflict, "MPI_ERR_RMA_CONFLICT", "conflicting window accesses";
    RmaRange, "MPI_ERR_RMA_RANGE", "target memory is outside the window";
    RmaShared, "MPI_ERR_RMA_SHARED", "memory cannot be shared";
    RmaSync, "MPI_ERR_RMA_SYNC", "wrong window synchronisation";
    Service, "MPI_ERR_SERVICE", "invalid service name";
    Size, "MPI_ERR_SIZE", "invalid window size";
    Spawn, "MPI_ERR_SPAWN", "processes could not be started";
    UnsupportedDatarep, "MPI_ERR_UNSUPPORTED_DATAREP", "unsupported data representation";
    UnsupportedOperation, "MPI_ERR_UNSUPPORTED_OPERATION", "operation not supported";
    Win, "MPI_ERR_WIN", "invalid window";
    RmaFlavor, "MPI_ERR_RMA_FLAVOR", "wrong window flavour";
    ProcAborted, "MPI_ERR_PROC_ABORTED", "a peer process has ended";
    ValueTooLarge, "MPI_ERR_VALUE_TOO_LARGE", "the value does not fit into the result's type";
    Session, "MPI_ERR_SESSION", "invalid session";
    Errhandler, "MPI_ERR_ERRHANDLER", "invalid error handler";
    Abi, "MPI_ERR_ABI", "ABI mismatch";
    ProcFailedPending, "MPIX_ERR_PROC_FAILED_PENDING", "a peer process has ended, and the receive from anybody goes on";
    Revoked, "MPIX_ERR_REVOKED", "the communicator has been revoked";
}

/// A failed call: whose fault, which value, what was expected. One pointer in size, so that the way of success
/// stays in registers.
#[derive(Clone, Debug)]
pub struct Error(Box<Cause>);

/// What went wrong.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Cause {
    /// The caller passed something wrong.
    #[error("{argument} is {got}, expected {expected}")]
    Invalid {
        /// Class of the mistake.
        class: ErrorClass,
        /// Which argument, by its name in the standard.
        argument: &'static str,
        /// The value found.
        got: String,
        /// What would have been right.
        expected: String,
    },
    /// A message was longer than the receive buffer; the buffer was filled and never overrun (MPI-5.0 §3.2.4).
    #[error("the message has {sent} bytes, the receive buffer has room for {room}")]
    Truncated {
        /// Length of the message, in bytes.
        sent: u64,
        /// Room in the receive buffer, in bytes.
        room: u64,
    },
    /// A resource ran out; the text says which, how much is needed, and how much there is.
    #[error("{0}")]
    NoMemory(String),
    /// A process has ended.
    #[error("{text}")]
    Lost {
        /// Its number in the table of processes, which is its rank in the world for those of this job.
        process: u32,
        /// The sentence.
        text: String,
    },
    /// A function that does not work yet.
    #[error("{0} is not implemented yet")]
    Unsupported(&'static str),
    /// The operating system refused something.
    #[error("{what}: {reason}")]
    System {
        /// What was attempted.
        what: String,
        /// The system's answer.
        reason: String,
    },
    /// A function of the program failed, with an error code of its own.
    #[error("{text}")]
    Program {
        /// The code, a number of the API layer that the program uses.
        code: i32,
        /// Its class; `Other` for one that only the program knows.
        class: ErrorClass,
        /// The sentence.
        text: String,
    },
    /// Another process has found that the ranks called different operations, and knows more of it.
    #[error("{0}")]
    Heard(String),
    /// Any other class, with its own sentence.
    #[error("{text}")]
    Other {
        /// Class of the error.
        class: ErrorClass,
        /// The sentence.
        text: String,
    },
}

impl Error {
    /// A wrong argument: which one, its value, and what was expected.
    #[cold]
    pub fn invalid(
        class: ErrorClass,
        argument: &'static str,
        got: impl Display,
        expected: impl Display,
    ) -> Self {
        Cause::Invalid { class, argument, got: got.to_string(), expected: expected.to_string() }.into()
    }

    /// A message of `sent` bytes for a receive with room for `room`.
    #[cold]
    pub fn truncated(sent: u64, room: u64) -> Self {
        Cause::Truncated { sent, room }.into()
    }

    /// A resource ran out; the text says which, how much is needed, and how much there is.
    #[cold]
    pub fn no_memory(text: impl Into<String>) -> Self {
        Cause::NoMemory(text.into()).into()
    }

    /// A process has ended, of which `why` speaks.
    #[cold]
    pub fn lost(process: u32, why: &Self) -> Self {
        Cause::Lost { process, text: why.to_string() }.into()
    }

    /// Another process has found that the ranks called different operations: this is all that it has told.
    #[cold]
    pub fn heard(text: impl Into<String>) -> Self {
        Cause::Heard(text.into()).into()
    }

    /// A function that does not work yet.
    #[cold]
    pub fn unsupported(what: &'static str) -> Self {
        Cause::Unsupported(what).into()
    }

    /// An error of `class` with its own sentence.
    #[cold]
    pub fn other(class: ErrorClass, text: impl Into<String>) -> Self {
        Cause::Other { class, text: text.into() }.into()
    }

    /// A function of the program failed with this code, which is of this class.
    #[cold]
    pub fn program(code: i32, class: ErrorClass, text: impl Into<String>) -> Self {
        Cause::Program { code, class, text: text.into() }.into()
    }

    /// The system's refusal of `what`.
    #[cold]
    pub fn system(what: impl Into<String>, reason: impl Display) -> Self {
        Cause::System { what: what.into(), reason: reason.to_string() }.into()
    }

    /// What went wrong.
    pub fn cause(&self) -> &Cause {
        &self.0
    }

    /// Whether a message was longer than its receive buffer.
    pub fn is_truncation(&self) -> bool {
        matches!(self.cause(), Cause::Truncated { .. })
    }

    /// Whether another process has found what is wrong, and has more to say of it.
    pub fn is_hearsay(&self) -> bool {
        matches!(self.cause(), Cause::Heard(_))
    }

    /// The MPI error class: the only mapping there is.
    pub fn class(&self) -> ErrorClass {
        match self.cause() {
            Cause::Invalid { class, .. } | Cause::Program { class, .. } | Cause::Other { class, .. } => {
                *class
            }
            Cause::Truncated { .. } => ErrorClass::Truncate,
            Cause::Lost { .. } => ErrorClass::ProcAborted,
            Cause::NoMemory(_) => ErrorClass::NoMem,
            Cause::Heard(_) => ErrorClass::NotSame,
            Cause::Unsupported(_) => ErrorClass::UnsupportedOperation,
            Cause::System { .. } => ErrorClass::Other,
        }
    }

    /// The number of the process that has ended, if that is what went wrong.
    pub fn lost_process(&self) -> Option<u32> {
        match self.cause() {
            Cause::Lost { process, .. } => Some(*process),
            _ => None,
        }
    }

    /// The code of the program's function, if one failed; otherwise the class says everything.
    pub fn program_code(&self) -> Option<i32> {
        match self.cause() {
            Cause::Program { code, .. } => Some(*code),
            _ => None,
        }
    }
}

impl From<Cause> for Error {
    #[cold]
    fn from(cause: Cause) -> Self {
        Self(Box::new(cause))
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_dense_and_named() {
        for (i, class) in ErrorClass::ALL.iter().enumerate() {
            assert_eq!(*class as usize, i);
            assert!(class.name().starts_with("MPI_ERR_") || class.name().starts_with("MPIX_ERR_"));
        }
    }

    #[test]
    fn an_invalid_argument_says_what_was_expected() {
        let error = Error::invalid(ErrorClass::Tag, "tag", -7, "0..=2147483647");
        assert_eq!(error.to_string(), "tag is -7, expected 0..=2147483647");
        assert_eq!((error.class(), error.program_code()), (ErrorClass::Tag, None));
    }

    #[test]
    fn the_code_of_a_function_of_the_program_is_kept() {
        let error = Error::program(16385, ErrorClass::Other, "a callback returned error 16385");
        assert_eq!((error.class(), error.program_code()), (ErrorClass::Other, Some(16385)));
    }
}
