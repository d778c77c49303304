//! The environment: starting and ending MPI, errors, info objects, and the ABI itself (MPI-5.0 chapters 9 to 11
//! and 20).

mod loaded;
pub mod init;
pub mod errhandler;
pub mod info;
pub mod abi;
pub mod convert;
