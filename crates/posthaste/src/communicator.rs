//! Communicators: who talks with whom, apart from everybody else.
//!
//! The operations on a communicator are in `point_to_point`, `collective` and `scope`; new ones are made in `create`; `faults`:
//! what those do that are left when ranks end. MPI-5.0 §7.2, §7.4.
//!
//! What must stay true: a communicator lives within its [`Universe`], so nothing is sent after its end.

mod create;
mod faults;

use std::fmt;
use std::sync::Arc;

use posthaste_core::coll::Schedule;
use posthaste_core::comm::{Comm, Creation};
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::group::Comparison;
use posthaste_core::ids::Peer;
use posthaste_core::info::Info;
use posthaste_core::op;
use posthaste_core::world::{Buffered, World};

use crate::error::{Error, Result};
use crate::group::Group;
use crate::universe::Universe;

pub use create::SplitType;
pub use faults::{Agreed, Deciding};

/// A group of ranks that talk with each other: messages of different communicators never meet.
///
/// Ranks count from 0 to `size() - 1`. A clone is the same communicator; [`Communicator::dup`] makes another one
/// with the same ranks.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let (rank, size) = (world.rank(), world.size());
/// assert!(rank < size);
/// // A library talks in a communicator of its own.
/// let own = world.dup()?;
/// own.set_name("solver");
/// own.send_one(rank, (rank + 1) % size, 0)?;
/// assert_eq!(own.receive_one::<usize>((rank + size - 1) % size, 0)?.0, (rank + size - 1) % size);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias = "MPI_Comm", alias = "SimpleCommunicator")]
pub struct Communicator<'u> {
    universe: &'u Universe,
    comm: Arc<Comm>,
}

impl<'u> Communicator<'u> {
    pub(crate) fn new(universe: &'u Universe, comm: Arc<Comm>) -> Self {
        Self { universe, comm }
    }

    /// This process's rank in the communicator, from 0.
    #[doc(alias = "MPI_Comm_rank")]
    #[inline]
    pub fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    /// Number of ranks in the communicator.
    #[doc(alias = "MPI_Comm_size")]
    #[inline]
    pub fn size(&self) -> usize {
        self.comm.size() as usize
    }

    /// The communicator's name, for diagnostics; empty when it has none (`MPI_Comm_get_name`, MPI-5.0 §7.8).
    #[doc(alias = "MPI_Comm_get_name")]
    pub fn name(&self) -> String {
        self.comm.name()
    }

    /// Names the communicator on this rank (`MPI_Comm_set_name`). Of a name that is too long for MPI, the
    /// beginning is kept.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let world = universe.world();
    /// assert_eq!(world.name(), "MPI_COMM_WORLD");
    /// world.set_name("everybody");
    /// assert_eq!(world.name(), "everybody");
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_set_name")]
    pub fn set_name(&self, name: &str) {
        self.comm.set_name(name);
    }

    /// How alike two communicators are (`MPI_Comm_compare`, MPI-5.0 §7.4.1).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Comparison;
    /// assert_eq!(world.compare(&world.clone()), Comparison::Ident);
    /// assert_eq!(world.compare(&world.dup()?), Comparison::Congruent);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_compare")]
    pub fn compare(&self, other: &Communicator<'_>) -> Comparison {
        self.comm.compare(&other.comm)
    }

    /// The ranks of the communicator as a group (`MPI_Comm_group`, MPI-5.0 §7.3.2).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let group = world.group();
    /// assert_eq!((group.size(), group.rank()), (world.size(), Some(world.rank())));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_group")]
    pub fn group(&self) -> Group {
        Group::of(self.comm.group(), self.me())
    }

    /// A hint that is in use (`MPI_Comm_get_info`, MPI-5.0 §7.4.4).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let own = world.dup()?;
    /// own.set_hints([("mpi_assert_no_any_tag", "true")])?;
    /// assert_eq!(own.hint("mpi_assert_no_any_tag").as_deref(), Some("true"));
    /// assert_eq!(own.hint("never heard of"), None);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_get_info")]
    pub fn hint(&self, key: &str) -> Option<String> {
        let value = self.comm.hints().get(key.as_bytes())?;
        Some(String::from_utf8_lossy(&value).into_owned())
    }

    /// Gives hints (`MPI_Comm_set_info`, MPI-5.0 §7.4.4): pairs of a key and a value. Of the promises `mpi_assert_no_any_source`,
    /// `mpi_assert_no_any_tag`, `mpi_assert_exact_length` and `mpi_assert_allow_overtaking` those count that are `true`.
    ///
    /// # Errors
    /// A key that is empty or longer than 255 bytes, a value longer than 1023; a promise that a receive under way breaks.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let own = world.dup()?;
    /// own.set_hints([("mpi_assert_no_any_source", "true")])?;
    /// let error = own.receive(&mut [0], posthaste::ANY, 0).unwrap_err();
    /// assert!(error.to_string().contains("promises"));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_set_info")]
    pub fn set_hints<'h>(&self, hints: impl IntoIterator<Item = (&'h str, &'h str)>) -> Result<()> {
        let info = Info::new();
        let set = hints.into_iter().try_for_each(|(key, value)| info.set(key.as_bytes(), value.as_bytes()));
        self.named("set_hints", set.and_then(|()| self.engine().set_hints(&self.comm, &info)))
    }

    /// This process.
    pub(crate) fn me(&self) -> Option<Peer> {
        self.comm.group().peer(self.comm.rank() as u32)
    }

    /// Makes what has been planned for the ranks of one group.
    pub(crate) fn create(
        &self,
        call: &'static str,
        plan: Checked<(Schedule, Creation)>,
    ) -> Result<Option<Self>> {
        self.named(call, self.of_one_group())?;
        self.create_of_any(call, plan)
    }

    /// An error for what stands for the messages of an intercommunicator.
    pub(crate) fn of_one_group(&self) -> Checked<()> {
        if self.comm.remote().is_none() {
            return Ok(());
        }
        let (got, expected) = ("the messages of an intercommunicator", "a communicator of one group");
        Err(Cause::invalid(ErrorClass::Comm, "comm", got, expected))
    }

    /// Makes what has been planned.
    pub(crate) fn create_of_any(
        &self,
        call: &'static str,
        plan: Checked<(Schedule, Creation)>,
    ) -> Result<Option<Self>> {
        let (schedule, creation) = self.named(call, plan)?;
        self.named(call, self.during(call, |engine| engine.run(schedule)))?;
        let made = self.named(call, self.engine().finish(creation))?;
        Ok(made.map(|comm| Self::new(self.universe, comm)))
    }

    #[inline]
    pub(crate) fn engine(&self) -> &'u World {
        self.universe.engine()
    }

    #[inline]
    pub(crate) fn core(&self) -> &Comm {
        &self.comm
    }

    /// The same, to be kept.
    pub(crate) fn shared(&self) -> &Arc<Comm> {
        &self.comm
    }

    pub(crate) fn universe(&self) -> &'u Universe {
        self.universe
    }

    /// Copies of messages in buffered mode.
    pub(crate) fn buffer(&self) -> &'u Buffered {
        self.universe.buffered()
    }

    /// How many ranks messages can go to or come from.
    #[inline]
    pub(crate) fn peers(&self) -> i32 {
        self.comm.peers()
    }

    /// Adds call and rank to an error.
    #[inline]
    pub(crate) fn named<T>(&self, call: &'static str, result: Checked<T>) -> Result<T> {
        result.map_err(|cause| Error::new(call, Some(self.engine().rank() as usize), cause))
    }

    /// What the engine does for a call, which is named should that panic: the function of an operation must not make it.
    #[inline(always)]
    pub(crate) fn during<T>(&self, call: &'static str, does: impl FnOnce(&'u World) -> T) -> T {
        let naming = Naming { call, engine: self.engine() };
        let done = does(naming.engine);
        std::mem::forget(naming);
        done
    }
}

/// Is dropped by a panic alone.
struct Naming<'u> {
    call: &'static str,
    engine: &'u World,
}

impl Drop for Naming<'_> {
    #[cold]
    fn drop(&mut self) {
        op::leaves_by_panic(self.call, self.engine.rank() as usize);
    }
}

impl fmt::Debug for Communicator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Communicator(rank {} of {})", self.rank(), self.size())
    }
}
