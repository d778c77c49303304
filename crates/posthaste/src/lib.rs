//! posthaste: message passing between processes (MPI), typed, in Rust.
//!
//! This crate contains the implementation; no C library and no bindings are involved. A program is started by
//! `mpiexec -n 4 ./program`, or by itself as the only rank.
//!
//! ```
//! fn main() -> Result<(), posthaste::Error> {
//!     let universe = posthaste::init()?;
//!     let world = universe.world();
//!     let (rank, size) = (world.rank(), world.size());
//!
//!     // Everybody sends the next one its rank.
//!     let mut left = [0];
//!     world.send_receive(&[rank], (rank + 1) % size, 0, &mut left, (rank + size - 1) % size, 0)?;
//!     println!("rank {rank} of {size}: the one before me is {}", left[0]);
//!     world.barrier()
//! }
//! ```
//!
//! - [`init`] joins the job and returns the [`Universe`]; its end is the rank's end.
//! - A [`Session`] is a part in the job that comes and goes on each rank alone, for libraries.
//! - A [`Communicator`] has the blocking calls: [`send`](Communicator::send), [`receive`](Communicator::receive) and
//!   their kin, and the collectives such as [`all_reduce`](Communicator::all_reduce).
//! - [`Communicator::cartesian`], [`Communicator::graph`] and their kin say who is whose neighbour; neighbours exchange blocks by
//!   [`neighbor_all_to_all`](Communicator::neighbor_all_to_all).
//! - [`Communicator::scope`] has the nonblocking calls. It borrows their buffers until they are over, so that
//!   a program that touches a buffer in flight does not compile.
//! - Buffers are slices of numbers ([`Equivalence`]), or evenly spaced elements of a slice ([`Strided`]).
//! - Ranks are `usize`, tags are `i32` from 0 on; [`ANY`] is the wildcard for both; `None` is nobody.
//! - Every call returns a `Result`; an [`Error`] names the rank, the call, the wrong value and what was expected.
//!
//! The sections of MPI-5.0 named here are those that say what the calls mean; the names of the C functions stand
//! beside them.
// Nothing here makes a buffer of an address, so the proofs are those of core's types that carry a borrow.
#![forbid(unsafe_code)]

mod argument;
mod collective;
mod communicator;
mod error;
mod operation;
mod point_to_point;
mod scope;
mod session;
mod strided;
mod topology;
mod universe;

pub use argument::{ANY, Any, Destination, Source, Status, TAG_MAX, Tag};
pub use communicator::Communicator;
pub use error::{Error, ErrorClass, Result};
pub use operation::Operation;
pub use posthaste_core::buffer::{Equivalence, Memory};
pub use scope::{Request, Scope};
pub use session::Session;
pub use strided::{Parts, Strided, StridedMut};
pub use universe::{Universe, init};
