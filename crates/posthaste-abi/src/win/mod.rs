//! One-sided communication (MPI-5.0 chapter 12).

mod short;

pub mod access;
pub mod synchronize;
pub mod window;
