//! Groups, communicators and attributes (MPI-5.0 chapter 7).

pub mod group;
pub mod communicator;
pub mod from_group;
pub mod attribute;
