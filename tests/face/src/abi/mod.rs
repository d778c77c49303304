//! The ABI of the tests: nobody's, and unlike the standard's in all that a C library writes down in its header. The
//! fields of a status are MPICH's.

#[path = "../../../../crates/posthaste-abi/src/abi/define.rs"]
pub(crate) mod define;
pub mod types;
pub mod constants;
#[path = "../../../../crates/posthaste-mpich/src/abi/status.rs"]
pub(crate) mod status;
#[path = "../../../../crates/posthaste-abi/src/abi/pointer.rs"]
pub(crate) mod pointer;

/// The ABI in words.
pub(crate) const NAME: &str = "an ABI of nobody";
