//! Making communicators out of others.
//!
//! MPI-5.0 §7.4.2.

use posthaste_core::error::{Error as Cause, ErrorClass};
use posthaste_core::info::Info;
use posthaste_core::world::{Split, TYPE};

use super::Communicator;
use crate::error::Result;
use crate::group::Group;

/// What ranks have in common that come together in [`Communicator::split_type`].
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let node = world.split_type(posthaste::SplitType::Shared, world.rank() as i32)?;
/// println!("rank {} of {} on this host", node.rank(), node.size());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias = "MPI_Comm_split_type")]
pub enum SplitType {
    /// They share memory (`MPI_COMM_TYPE_SHARED`): they are on one node.
    #[doc(alias = "MPI_COMM_TYPE_SHARED")]
    Shared,
}

impl Communicator<'_> {
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
    #[doc(alias = "MPI_Comm_dup", alias = "duplicate")]
    pub fn dup(&self) -> Result<Self> {
        let plan = self.core().plan_dup(|| self.engine().allocate_context_from(self.core()));
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
    #[doc(alias = "MPI_Comm_split", alias = "split_by_color_with_key")]
    pub fn split(&self, color: Option<usize>, key: i32) -> Result<Option<Self>> {
        let number = color.map(|color| {
            let wrong = |_| Cause::invalid(ErrorClass::Arg, "color", color, format_args!("0..={}", i32::MAX));
            i32::try_from(color).map_err(wrong)
        });
        let number = number.transpose();
        let plan = number.and_then(|color| {
            self.core().plan_split(color, key, || self.engine().allocate_context_from(self.core()))
        });
        self.create("split", plan)
    }

    /// Divides the communicator by what ranks share (`MPI_Comm_split_type`, MPI-5.0 §7.4.2). All ranks call it.
    ///
    /// # Errors
    /// A rank that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let node = world.split_type(posthaste::SplitType::Shared, 0)?;
    /// assert!(node.size() <= world.size());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_split_type", alias = "split_shared")]
    pub fn split_type(&self, split: SplitType, key: i32) -> Result<Self> {
        const CALL: &str = "split_type";
        let SplitType::Shared = split;
        let made = self.divide(CALL, Split::Shared, &Info::default(), key)?;
        self.named(CALL, made.ok_or_else(|| Cause::other(ErrorClass::Intern, "this rank is on no node")))
    }

    /// Divides the communicator by the hardware that ranks are restricted to (`MPI_Comm_split_type` with `MPI_COMM_TYPE_HW_GUIDED` and
    /// `MPI_COMM_TYPE_HW_UNGUIDED`, MPI-5.0 §7.4.2). All ranks call it.
    ///
    /// `kind` is one of those that [`Universe::hardware`](crate::Universe::hardware) lists: who is not restricted to one of these gets `None`.
    /// Without it, the widest kind divides that leaves fewer ranks together, and the hint `mpi_hw_resource_type` of the new communicator says
    /// which; where nothing divides them, all ranks get `None`. So a loop goes down from hosts to hardware threads.
    ///
    /// # Errors
    /// Ranks that do not all name a kind, or none; a rank that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut level = world.dup()?;
    /// while let Some(part) = level.split_by_hardware(None, 0)? {
    ///     println!("{} ranks share {:?}", part.size(), part.hint("mpi_hw_resource_type"));
    ///     level = part;
    /// }
    /// let node = world.split_by_hardware(Some("mpi_shared_memory"), 0)?.expect("every rank is on a host");
    /// assert!(node.size() <= world.size());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_COMM_TYPE_HW_GUIDED", alias = "MPI_COMM_TYPE_HW_UNGUIDED")]
    pub fn split_by_hardware(&self, kind: Option<&str>, key: i32) -> Result<Option<Self>> {
        const CALL: &str = "split_by_hardware";
        let hints = Info::default();
        let named = kind.map_or(Ok(()), |kind| hints.set(TYPE, kind.as_bytes()));
        self.named(CALL, named)?;
        self.divide(CALL, if kind.is_some() { Split::Guided } else { Split::Unguided }, &hints, key)
    }

    fn divide(&self, call: &'static str, split: Split, hints: &Info, key: i32) -> Result<Option<Self>> {
        let part = self.named(call, self.engine().part_in(self.core(), Some(split), hints))?;
        let color = part.map(|part| part.color);
        let plan = self.core().plan_split(color, key, || self.engine().allocate_context_from(self.core()));
        let made = self.create(call, plan)?;
        if let Some((made, kind)) = made.as_ref().zip(part.and_then(|part| part.found)) {
            made.set_hints([("mpi_hw_resource_type", kind)])?;
        }
        Ok(made)
    }

    /// A communicator of some of the ranks (`MPI_Comm_create`, MPI-5.0 §7.4.2). All ranks call it; they may name different groups if
    /// nobody is in two of them. Who is not in its group gets `None`.
    ///
    /// # Errors
    /// A group with a process that is no rank of this communicator; a rank that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let first = world.group().include(&[0])?;
    /// let alone = world.create_from(&first)?;
    /// assert_eq!(alone.is_some(), world.rank() == 0);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_create", alias = "split_by_subgroup_collective")]
    pub fn create_from(&self, group: &Group) -> Result<Option<Self>> {
        let plan = self.core().plan_create(group.core(), || self.engine().allocate_context_from(self.core()));
        self.create("create_from", plan)
    }

    /// The same, called by the ranks in `group` only (`MPI_Comm_create_group`). Calls of several threads at the same time are told
    /// apart by `tag`, from 0 on.
    ///
    /// # Errors
    /// A group without this rank, or with a process that is no rank of this communicator; a negative tag; a rank that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let even = world.group().include_ranges(&[(0, world.size() - 1, 2)])?;
    /// if even.rank().is_some() {
    ///     let half = world.create_group(&even, 0)?;
    ///     assert_eq!(half.rank(), world.rank() / 2);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Comm_create_group", alias = "split_by_subgroup_with_tag")]
    pub fn create_group(&self, group: &Group, tag: i32) -> Result<Self> {
        const CALL: &str = "create_group";
        let plan = self
            .core()
            .plan_create_group(group.core(), tag, || self.engine().allocate_context_from(self.core()));
        let made = self.create(CALL, plan)?;
        self.named(
            CALL,
            made.ok_or_else(|| Cause::other(ErrorClass::Intern, "this rank got no communicator")),
        )
    }
}
