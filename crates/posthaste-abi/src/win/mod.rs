//! One-sided communication (MPI-5.0 chapter 12).

pub mod access;
pub mod synchronize;
pub mod window;
