//! Process topologies (MPI-5.0 chapter 8).

pub mod cart;
pub mod neighbor;
