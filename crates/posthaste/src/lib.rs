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
//! - [`Communicator::window`] makes windows: elements of every rank that the others read, write and combine, with or without its
//!   help. An epoch is a closure, which borrows the buffers of its accesses ([`Window`]).
//! - [`Communicator::spawn`] starts processes, whose [`Universe::parent`] are those who asked for them; [`Universe::open_port`],
//!   [`Communicator::accept`] and [`Communicator::connect`] join jobs that were started apart.
//! - Ranks are `usize`, tags are `i32` from 0 on; [`ANY`] is the wildcard for both; `None` is nobody.
//! - A rank that ends is an [`Error`] that [says who](Error::lost_rank), for programs that go on without it: [`Communicator::revoke`],
//!   [`Communicator::agree`] and [`Communicator::shrink`] bring those together that are left.
//! - Every call returns a `Result`; an [`Error`] names the rank, the call, the wrong value and what was expected.
//!
//! `docs/rust.md` has every function of MPI's chapters 3 to 8 with its name here, `docs/rsmpi.md` those of the crate `mpi`.
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
mod jobs;
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
mod window;

pub use argument::{ANY, Any, Destination, Source, Status, TAG_MAX, Tag};
pub use collective::{Counts, Persistent, Plan, Plans, Started};
pub use communicator::{Agreed, Communicator, Deciding, SplitType};
pub use completion::{join_all, test_all, test_any, test_some, wait_all, wait_any, wait_some};
pub use descriptor::Descriptor;
pub use error::{Error, ErrorClass, Result};
pub use group::Group;
pub use indexed::{Indexed, IndexedMut};
pub use intercommunicator::{InterPlans, InterScope, Intercommunicator, Root};
pub use jobs::{Command, Port};
pub use matched::Message;
pub use operation::{Operation, Reduction, UserOperation};
pub use owned::{InFlight, OwnedBuffer};
pub use partitioned::{PartitionedReceive, PartitionedSend};
pub use persistent::{PersistentReceive, PersistentSend};
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let window = world.window().allocate::<u32>(4)?;
/// window.lock_all(|epoch| {
///     if let Some(cells) = epoch.cells(world.rank())? {
///         cells.set(3, 7);
///         assert_eq!((cells.get(3), cells.len()), (7, 4));
///     }
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::buffer::Cells;
/// The derive macro of the same name is for structures; a function of any element has it as a bound:
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Communicator, Equivalence, Result};
/// fn echo<T: Equivalence + Default>(world: &Communicator<'_>, value: T) -> Result<T> {
///     world.send_one(value, world.rank(), 0)?;
///     Ok(world.receive_one(world.rank(), 0)?.0)
/// }
/// assert_eq!((echo(&world, 1.5)?, echo(&world, [1, 2])?), (1.5, [1, 2]));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::buffer::Equivalence;
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut field = universe.allocate::<f64>(1000)?; // reached by the other ranks of this host
/// field[7..9].copy_from_slice(&[1.5, 2.5]);
/// world.send(&field[7..9], 0, 0)?;
/// assert_eq!(world.receive_vec::<f64>(0, 0)?.0, [1.5, 2.5]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::buffer::Memory;
#[doc(hidden)]
pub use posthaste_core::buffer::equivalence_of_fields;
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Located, Operation};
/// // The largest value of all ranks, and which rank has it.
/// let mine = Located { value: -(world.rank() as f64), index: world.rank() as i64 };
/// let largest = world.all_reduce_one(mine, Operation::MaximumLocation)?;
/// assert_eq!((largest.value, largest.index), (0.0, 0));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::buffer::{Locate, Located};
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::Comparison;
/// let all = world.group();
/// let backwards = all.include_ranges(&[(all.size() - 1, 0, -1)])?;
/// let expected = if world.size() == 1 { Comparison::Ident } else { Comparison::Similar };
/// assert_eq!(all.compare(&backwards), expected);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::group::Comparison;
/// A function of the program takes what [`Communicator::send`] and [`Communicator::receive`] take:
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Buffer, BufferMut, Communicator, Result};
/// fn to_myself<B: Buffer + ?Sized, C: BufferMut + ?Sized>(world: &Communicator<'_>, data: &B, room: &mut C) -> Result<()> {
///     world.send(data, world.rank(), 0)?;
///     world.receive(room, world.rank(), 0).map(drop)
/// }
/// let (mut list, mut number) = (vec![0; 3], 0);
/// to_myself(&world, &[1, 2, 3], &mut list)?;
/// to_myself(&world, &posthaste::Strided::new(&list, 2, 1, 1)?, &mut number)?;
/// assert_eq!((list, number), (vec![1, 2, 3], 3));
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::slice::{Buffer, BufferMut};
/// What the calls of a [`Scope`] take, made of anything that is a [`Buffer`] or a [`BufferMut`]:
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{RecvBuf, SendBuf};
/// let (data, mut rooms) = ([7u8; 4], [[0u8; 2]; 2]);
/// world.scope(|s| {
///     // Buffers of any kind in one list.
///     let room: Vec<RecvBuf<'_>> = rooms.iter_mut().map(RecvBuf::from).collect();
///     let halves: Vec<SendBuf<'_>> = data.chunks(2).map(SendBuf::from).collect();
///     for (room, half) in room.into_iter().zip(halves) {
///         s.send_receive(half, 0, 0, room, 0, 0)?;
///     }
///     Ok(())
/// })?;
/// assert_eq!(rooms, [[7; 2]; 2]);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::slice::{RecvBuf, SendBuf};
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
pub use window::{Comparable, Epoch, Exposure, Lock, LockEpoch, NewWindow, Update, Window};
