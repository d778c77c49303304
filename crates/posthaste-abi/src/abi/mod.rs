//! The facts of the standard ABI (MPI-5.0 chapter 20): types, numbers, and the layouts that C callers see.

pub mod types;
pub mod constants;
pub(crate) mod pointer;
pub(crate) mod status;
