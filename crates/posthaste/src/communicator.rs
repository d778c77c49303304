//! Communicators: who talks with whom, apart from everybody else.
//!
//! The operations on a communicator are in `point_to_point`, `collective` and `scope`. MPI-5.0 §7.2, §7.4.
//!
//! What must stay true: a communicator lives within its [`Universe`], so nothing is sent after its end.

use std::fmt;
use std::sync::Arc;

use posthaste_core::coll::Schedule;
use posthaste_core::comm::{Comm, Creation};
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::world::World;

use crate::error::{Error, Result};
use crate::universe::Universe;

/// A group of ranks that talk with each other: messages of different communicators never meet.
///
/// Ranks count from 0 to `size() - 1`. A clone is the same communicator; [`Communicator::dup`] makes another one
/// with the same ranks.
#[derive(Clone)]
pub struct Communicator<'u> {
    universe: &'u Universe,
    comm: Arc<Comm>,
}

impl<'u> Communicator<'u> {
    pub(crate) fn new(universe: &'u Universe, comm: Arc<Comm>) -> Self {
        Self { universe, comm }
    }

    /// This process's rank in the communicator, from 0.
    #[inline]
    pub fn rank(&self) -> usize {
        self.comm.rank() as usize
    }

    /// Number of ranks in the communicator.
    #[inline]
    pub fn size(&self) -> usize {
        self.comm.size() as usize
    }

    /// The communicator's name, for diagnostics; empty when it has none (`MPI_Comm_get_name`, MPI-5.0 §7.8).
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
    pub fn set_name(&self, name: &str) {
        self.comm.set_name(name);
    }

    /// Makes another communicator with the same ranks (`MPI_Comm_dup`, MPI-5.0 §7.4.2). All ranks call it.
    ///
    /// A library that uses a duplicate never receives its caller's messages by mistake.
    ///
    /// # Errors
    /// When a rank has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let own = world.dup()?;
    /// world.send_one(1, 0, 0)?;
    /// assert!(own.probe_now(0, 0)?.is_none());
    /// # world.receive_one::<i32>(0, 0)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn dup(&self) -> Result<Self> {
        let plan = self.comm.plan_dup(|| self.engine().allocate_context());
        let made = self.create("dup", plan)?;
        self.named("dup", made.ok_or_else(|| Cause::other(ErrorClass::Intern, "this rank got no duplicate")))
    }

    /// Divides the communicator (`MPI_Comm_split`, MPI-5.0 §7.4.2). All ranks call it.
    ///
    /// Ranks that pass the same `color` come together in a new communicator; their ranks there follow `key`, and for
    /// equal keys their ranks here. Who passes `None` comes into no communicator and gets `None`.
    ///
    /// # Errors
    /// A color beyond `i32::MAX`; a rank that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// // Rows of four ranks.
    /// let row = world.split(Some(world.rank() / 4), 0)?.expect("every rank has a color");
    /// assert_eq!(row.rank(), world.rank() % 4);
    /// # Ok(())
    /// # }
    /// ```
    pub fn split(&self, color: Option<usize>, key: i32) -> Result<Option<Self>> {
        let number = color.map(|color| {
            let wrong = |_| Cause::invalid(ErrorClass::Arg, "color", color, format_args!("0..={}", i32::MAX));
            i32::try_from(color).map_err(wrong)
        });
        let number = number.transpose();
        let plan =
            number.and_then(|color| self.comm.plan_split(color, key, || self.engine().allocate_context()));
        self.create("split", plan)
    }

    /// Makes what has been planned.
    pub(crate) fn create(
        &self,
        call: &'static str,
        plan: Checked<(Schedule, Creation)>,
    ) -> Result<Option<Self>> {
        let (schedule, creation) = self.named(call, plan)?;
        self.named(call, self.engine().run(schedule))?;
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

    /// Adds call and rank to an error.
    #[inline]
    pub(crate) fn named<T>(&self, call: &'static str, result: Checked<T>) -> Result<T> {
        result.map_err(|cause| Error::new(call, Some(self.engine().rank() as usize), cause))
    }
}

impl fmt::Debug for Communicator<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Communicator(rank {} of {})", self.rank(), self.size())
    }
}
