//! Collective communication (MPI-5.0 chapter 6). The entries of three files differ only in what they do with the schedule
//! that `plan` makes.

pub(crate) mod buffers;
pub(crate) mod plan;
pub mod op;
pub mod blocking;
pub mod nonblocking;
pub mod persistent;
