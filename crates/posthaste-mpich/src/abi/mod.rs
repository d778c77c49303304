//! The ABI of MPICH 3.1 and later, as its header and its library say it.

#[path = "../../../posthaste-abi/src/abi/define.rs"]
pub(crate) mod define;
pub mod types;
pub mod constants;
pub(crate) mod status;
#[path = "../../../posthaste-abi/src/abi/pointer.rs"]
pub(crate) mod pointer;

/// The ABI in words.
pub(crate) const NAME: &str = "MPICH's ABI";
