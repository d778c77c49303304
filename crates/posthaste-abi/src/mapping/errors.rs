//! Error classes by their numbers (MPI-5.0 §9.4). An error code is its class, or a code of the program.
//!
//! What must stay true: the class of a lost process has the number that programs compare with which survive one; where the
//! standard's own is another one, it is understood too.

use std::ffi::c_int;

use posthaste_core::error::{Error, ErrorClass};

use crate::abi::constants;

macro_rules! classes {
    ($($class:ident $name:ident)*) => {
        /// The number of a class.
        pub(crate) fn of_class(class: ErrorClass) -> c_int {
            match class { $(ErrorClass::$class => constants::$name,)* }
        }

        /// The class with this number, if there is one.
        #[allow(unreachable_patterns)] // where a lost process has one number
        pub(crate) fn class(number: c_int) -> Option<ErrorClass> {
            match number {
                $(constants::$name => Some(ErrorClass::$class),)*
                constants::MPI_ERR_PROC_ABORTED => Some(ErrorClass::ProcAborted),
                _ => None,
            }
        }
    };
}

classes! {
    Buffer MPI_ERR_BUFFER
    Count MPI_ERR_COUNT
    Type MPI_ERR_TYPE
    Tag MPI_ERR_TAG
    Comm MPI_ERR_COMM
    Rank MPI_ERR_RANK
    Request MPI_ERR_REQUEST
    Root MPI_ERR_ROOT
    Group MPI_ERR_GROUP
    Op MPI_ERR_OP
    Topology MPI_ERR_TOPOLOGY
    Dims MPI_ERR_DIMS
    Arg MPI_ERR_ARG
    Unknown MPI_ERR_UNKNOWN
    Truncate MPI_ERR_TRUNCATE
    Other MPI_ERR_OTHER
    Intern MPI_ERR_INTERN
    Pending MPI_ERR_PENDING
    InStatus MPI_ERR_IN_STATUS
    Access MPI_ERR_ACCESS
    Amode MPI_ERR_AMODE
    Assert MPI_ERR_ASSERT
    BadFile MPI_ERR_BAD_FILE
    Base MPI_ERR_BASE
    Conversion MPI_ERR_CONVERSION
    Disp MPI_ERR_DISP
    DupDatarep MPI_ERR_DUP_DATAREP
    FileExists MPI_ERR_FILE_EXISTS
    FileInUse MPI_ERR_FILE_IN_USE
    File MPI_ERR_FILE
    InfoKey MPI_ERR_INFO_KEY
    InfoNokey MPI_ERR_INFO_NOKEY
    InfoValue MPI_ERR_INFO_VALUE
    Info MPI_ERR_INFO
    Io MPI_ERR_IO
    Keyval MPI_ERR_KEYVAL
    Locktype MPI_ERR_LOCKTYPE
    Name MPI_ERR_NAME
    NoMem MPI_ERR_NO_MEM
    NotSame MPI_ERR_NOT_SAME
    NoSpace MPI_ERR_NO_SPACE
    NoSuchFile MPI_ERR_NO_SUCH_FILE
    Port MPI_ERR_PORT
    Quota MPI_ERR_QUOTA
    ReadOnly MPI_ERR_READ_ONLY
    RmaAttach MPI_ERR_RMA_ATTACH
    RmaConflict MPI_ERR_RMA_CONFLICT
    RmaRange MPI_ERR_RMA_RANGE
    RmaShared MPI_ERR_RMA_SHARED
    RmaSync MPI_ERR_RMA_SYNC
    Service MPI_ERR_SERVICE
    Size MPI_ERR_SIZE
    Spawn MPI_ERR_SPAWN
    UnsupportedDatarep MPI_ERR_UNSUPPORTED_DATAREP
    UnsupportedOperation MPI_ERR_UNSUPPORTED_OPERATION
    Win MPI_ERR_WIN
    RmaFlavor MPI_ERR_RMA_FLAVOR
    ProcAborted MPIX_ERR_PROC_FAILED
    ValueTooLarge MPI_ERR_VALUE_TOO_LARGE
    Session MPI_ERR_SESSION
    Errhandler MPI_ERR_ERRHANDLER
    Abi MPI_ERR_ABI
    ProcFailedPending MPIX_ERR_PROC_FAILED_PENDING
    Revoked MPIX_ERR_REVOKED
}

/// The code of an error.
pub(crate) fn code(error: &Error) -> c_int {
    error.program_code().unwrap_or_else(|| of_class(error.class()))
}

/// A function of the program failed with this code.
#[cold]
pub(crate) fn program(code: c_int, text: impl Into<String>) -> Error {
    Error::program(code, class(code).unwrap_or(ErrorClass::Other), text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_has_a_number_of_its_own() {
        for one in ErrorClass::ALL {
            assert_eq!(class(of_class(*one)), Some(*one));
        }
        assert_eq!(class(constants::MPI_SUCCESS), None);
    }

    #[test]
    fn the_code_of_a_function_of_the_program_is_kept() {
        let error = program(constants::MPI_ERR_LASTCODE + 1, "");
        assert_eq!((error.class(), code(&error)), (ErrorClass::Other, constants::MPI_ERR_LASTCODE + 1));
        assert_eq!(program(constants::MPI_ERR_NO_SPACE, "").class(), ErrorClass::NoSpace);
    }
}
