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
//! - Requests are futures. [`Communicator::scope_async`] has them for borrowed buffers; [`Communicator::send_owned`],
//!   [`Communicator::receive_owned`] and their kin own their buffers, so that they can be raced, dropped and forgotten, on any
//!   executor; [`Communicator::incoming`] is a stream of messages, [`Universe::descriptor`] is for event loops.
//! - Buffers are elements, slices, or views of some elements ([`Strided`], [`Indexed`]); elements are numbers, arrays, and structures with
//!   `#[derive(Equivalence)]` ([`Equivalence`](trait@Equivalence)). With the feature `serde` values of any type are messages.
//! - [`Communicator::persistent_send`], [`Communicator::partitioned_send`] and their kin have elements of their own, so that they can be
//!   started again and again.
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
mod completion;
mod descriptor;
mod error;
mod future;
mod group;
mod indexed;
mod intercommunicator;
mod matched;
mod operation;
mod owned;
mod partitioned;
mod persistent;
mod point_to_point;
mod scope;
mod session;
mod stream;
mod strided;
mod topology;
mod universe;
#[cfg(feature = "serde")]
mod value;

pub use argument::{ANY, Any, Destination, Source, Status, TAG_MAX, Tag};
pub use collective::{Counts, Persistent, Plan, Plans, Started};
pub use communicator::{Communicator, SplitType};
pub use completion::{test_all, test_any, test_some, wait_all, wait_any, wait_some};
pub use descriptor::Descriptor;
pub use error::{Error, ErrorClass, Result};
pub use group::Group;
pub use indexed::{Indexed, IndexedMut};
pub use intercommunicator::Intercommunicator;
pub use matched::Message;
pub use operation::{Operation, Reduction, UserOperation};
pub use owned::{InFlight, OwnedBuffer};
pub use partitioned::{PartitionedReceive, PartitionedSend};
pub use persistent::{PersistentReceive, PersistentSend};
#[doc(hidden)]
pub use posthaste_core::buffer::equivalence_of_fields;
pub use posthaste_core::buffer::{Equivalence, Locate, Located, Memory};
pub use posthaste_core::group::Comparison;
pub use posthaste_core::slice::{Buffer, BufferMut, RecvBuf, SendBuf};
/// Says what numbers a structure is made of, so that it can be an element of messages.
///
/// The structure may have named or numbered fields, of numbers, arrays, and other such structures; it may be generic. It is `Copy`. What
/// travels are the fields in the order of their declaration; padding is neither sent nor written. With `#[repr(C)]` and no padding,
/// a slice of them travels as it lies in memory, without being packed.
///
/// ```
/// use posthaste::Equivalence;
///
/// #[derive(Clone, Copy, Equivalence, PartialEq, Debug)]
/// struct Particle {
///     position: [f64; 3],
///     charge: i8,
///     cell: Cell<u32>,
/// }
///
/// #[derive(Clone, Copy, Equivalence, PartialEq, Debug)]
/// struct Cell<T>(T, T);
///
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let particles = [Particle { position: [1.5; 3], charge: -1, cell: Cell(3, 4) }; 10];
/// world.send(&particles, 0, 0)?;
/// let (got, status) = world.receive_vec::<Particle>(0, 0)?;
/// assert_eq!(got, particles);
/// assert_eq!(status.bytes(), 10 * (24 + 1 + 8)); // no padding
/// # Ok(())
/// # }
/// ```
///
/// What is not made of numbers is refused: a peer could send bytes that are none of its values.
///
/// ```compile_fail
/// #[derive(Clone, Copy, posthaste::Equivalence)]
/// struct Wrong { flag: bool } // error: a bool cannot be received: not all bytes that may arrive are true or false
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, posthaste::Equivalence)]
/// struct Wrong { letter: char } // error: a char cannot be received
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, posthaste::Equivalence)]
/// struct Wrong { name: &'static str } // error: a reference cannot be sent
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, posthaste::Equivalence)]
/// enum Wrong { Red, Green(u8) } // error: an enumeration cannot be received
/// ```
///
/// ```compile_fail
/// #[derive(Clone, Copy, posthaste::Equivalence)]
/// union Wrong { number: u32, real: f32 } // error: a union cannot be sent
/// ```
///
/// ```compile_fail,E0277
/// #[derive(Clone, Copy, posthaste::Equivalence)]
/// struct Wrong { number: std::num::NonZeroU32 } // error: `NonZero<u32>` cannot be an element of a message
/// ```
///
/// Code that forbids unsafe code may use it:
///
/// ```
/// #![forbid(unsafe_code)]
/// #[derive(Clone, Copy, posthaste::Equivalence)]
/// struct Fine { number: u32 }
/// ```
#[cfg(feature = "derive")]
pub use posthaste_derive::Equivalence;
pub use scope::{Request, Scope};
pub use session::Session;
pub use stream::Incoming;
pub use strided::{Parts, Strided, StridedMut};
pub use topology::{Topology, balanced_sizes};
pub use universe::{Universe, init, init_with_progress};
