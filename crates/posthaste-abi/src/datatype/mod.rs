//! Datatypes (MPI-5.0 chapter 5).

pub mod derived;
pub mod pack;
