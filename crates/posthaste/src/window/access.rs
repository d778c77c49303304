//! Accesses to the elements of a window (MPI-5.0 §12.3).

use std::fmt;

use posthaste_core::buffer::{Cells, Equivalence};
use posthaste_core::error::{Error as Cause, ErrorClass, Result as Checked};
use posthaste_core::op::Predefined;
use posthaste_core::world::{self, Spot};

use crate::argument::Destination;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::operation::Operation;

/// Access to the elements of other ranks, until the epoch is over: see [`Window`](crate::Window).
///
/// A place is a rank and the number of its first element there, from 0. An access to nobody (`None`) does nothing.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut window = world.window().allocate::<u64>(2)?;
/// let (mine, mut got) = ([3, 4], [0; 2]);
/// window.fence(|epoch| epoch.put(&mine, world.rank(), 0))?;
/// window.fence(|epoch| epoch.get(&mut got, world.rank(), 0))?;
/// assert_eq!(got, mine);
/// # Ok(())
/// # }
/// ```
pub struct Epoch<'scope, 'env: 'scope, T> {
    communicator: &'env Communicator<'env>,
    epoch: world::Epoch<'scope, 'env, T>,
}

/// How accumulate operations change elements: by an [`Operation`], or one of these.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Operation, Update};
/// let window = world.window().allocate::<u64>(1)?;
/// let me = world.rank();
/// window.lock_all(|epoch| {
///     assert_eq!(epoch.fetch_and_op(5, me, 0, Update::Replace)?, 0);
///     assert_eq!(epoch.fetch_and_op(3, me, 0, Operation::Sum)?, 5);
///     assert_eq!(epoch.fetch_and_op(0, me, 0, Update::NoOp)?, 8);
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// Functions of the program are none: a target could not call them.
///
/// ```compile_fail,E0277
/// # let universe = posthaste::init().unwrap();
/// # let window = universe.world().window().allocate::<u64>(1).unwrap();
/// use posthaste::Operation;
/// let longest = Operation::from_fn(|_: &[u64], _: &mut [u64]| (), true);
/// window.lock_all(|epoch| epoch.fetch_and_op(1, 0, 0, &longest)).unwrap(); // error: no Update
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    /// The operand is combined with the element.
    Combine(Operation),
    /// The operand takes the element's place.
    #[doc(alias = "MPI_REPLACE")]
    Replace,
    /// The element stays; the operand is not looked at.
    #[doc(alias = "MPI_NO_OP")]
    NoOp,
}

/// Elements that can be compared and swapped: integers of all lengths.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let window = world.window().allocate::<u64>(1)?;
/// let half = 0.5f64.to_bits();
/// window.lock_all(|epoch| {
///     assert_eq!(epoch.compare_and_swap(0, half, world.rank(), 0)?, 0);
///     assert_eq!(epoch.compare_and_swap(0, 7, world.rank(), 0)?, half); // it is not 0
///     Ok(())
/// })?;
/// # Ok(())
/// # }
/// ```
///
/// Others are refused:
///
/// ```compile_fail,E0277
/// # let universe = posthaste::init().unwrap();
/// # let window = universe.world().window().allocate::<f64>(1).unwrap();
/// window.lock_all(|epoch| epoch.compare_and_swap(0.0, 1.0, 0, 0)).unwrap(); // error: `f64` is not Comparable
/// ```
#[diagnostic::on_unimplemented(
    message = "elements of `{Self}` cannot be compared and swapped",
    note = "integers can (MPI-5.0 §12.3.4); a float can as the integer of its bits: `f64::to_bits`"
)]
pub trait Comparable: Equivalence + sealed::Sealed {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! comparable {
    ($($integer:ty),*) => {$(
        impl sealed::Sealed for $integer {}
        impl Comparable for $integer {}
    )*};
}
comparable!(i8, u8, i16, u16, i32, u32, i64, u64, isize, usize);

impl From<Operation> for Update {
    fn from(operation: Operation) -> Self {
        Self::Combine(operation)
    }
}

impl Update {
    /// As core spells it.
    pub(super) fn predefined(self) -> Predefined {
        match self {
            Self::Combine(operation) => operation.predefined(),
            Self::Replace => Predefined::Replace,
            Self::NoOp => Predefined::NoOp,
        }
    }
}

impl<'scope, 'env, T: Equivalence> Epoch<'scope, 'env, T> {
    pub(super) fn new(communicator: &'env Communicator<'env>, epoch: world::Epoch<'scope, 'env, T>) -> Self {
        Self { communicator, epoch }
    }

    /// Writes to the elements of a rank from the element `at` on (`MPI_Put`, MPI-5.0 §12.3.1).
    ///
    /// Other accesses to the same elements in the same epoch leave any of their values, unless all are accumulate operations.
    ///
    /// # Errors
    /// A rank that does not exist, or to which this epoch gives no access; elements that the rank does not have; a rank that has ended.
    #[doc(alias = "MPI_Put")]
    #[inline]
    pub fn put(&self, data: &'scope [T], to: impl Into<Destination>, at: usize) -> Result<()> {
        self.named("put", self.place(to.into(), at).and_then(|place| self.epoch.put(data, place)))
    }

    /// Reads the elements of a rank from the element `at` on (`MPI_Get`, MPI-5.0 §12.3.2). They are in `into` when the epoch is over.
    ///
    /// # Errors
    /// As [`Epoch::put`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut window = world.window().create(vec![world.rank(); 3])?;
    /// let mut last = [0; 2];
    /// window.fence(|epoch| epoch.get(&mut last, world.size() - 1, 1))?;
    /// assert_eq!(last, [world.size() - 1; 2]);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Get")]
    #[inline]
    pub fn get(&self, into: &'scope mut [T], from: impl Into<Destination>, at: usize) -> Result<()> {
        self.named("get", self.place(from.into(), at).and_then(|place| self.epoch.get(into, place)))
    }

    /// Combines elements of a rank with those of `data`, each of them atomically (`MPI_Accumulate`, MPI-5.0 §12.3.4).
    ///
    /// # Errors
    /// As [`Epoch::put`]; an operation that `T` does not have.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Operation::Sum;
    /// let mut window = world.window().allocate::<f64>(3)?;
    /// let mine = [0.5, 1.0];
    /// window.fence(|epoch| epoch.accumulate(&mine, 0, 1, Sum))?;
    /// if world.rank() == 0 {
    ///     assert_eq!(window.lock_own(|elements| elements[2])?, world.size() as f64);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Accumulate")]
    pub fn accumulate(
        &self,
        data: &'scope [T],
        to: impl Into<Destination>,
        at: usize,
        update: impl Into<Update>,
    ) -> Result<()> {
        let update = update.into().predefined();
        let place = self.place(to.into(), at);
        self.named("accumulate", place.and_then(|place| self.epoch.accumulate(data, None, place, update)))
    }

    /// As [`Epoch::accumulate`]; `old` gets what the elements were, when the epoch is over (`MPI_Get_accumulate`).
    ///
    /// # Errors
    /// As [`Epoch::accumulate`]; an `old` of another length than `data`.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let own = universe.own();
    /// let mut window = own.window().create(vec![5, 6, 7])?;
    /// let (new, mut old) = ([1, 2], [0, 0]);
    /// window.fence(|epoch| epoch.get_accumulate(&new, &mut old, 0, 1, posthaste::Update::Replace))?;
    /// assert_eq!((old, window.free()?), ([6, 7], vec![5, 1, 2]));
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Get_accumulate")]
    pub fn get_accumulate(
        &self,
        data: &'scope [T],
        old: &'scope mut [T],
        to: impl Into<Destination>,
        at: usize,
        update: impl Into<Update>,
    ) -> Result<()> {
        let update = update.into().predefined();
        let place = self.place(to.into(), at);
        self.named(
            "get_accumulate",
            place.and_then(|place| self.epoch.accumulate(data, Some(old), place, update)),
        )
    }

    /// Writes one element. The value has left when this returns; where memory is not mapped that takes the time of an answer, so many
    /// values are better lent to [`Epoch::put`].
    ///
    /// # Errors
    /// As [`Epoch::put`].
    #[inline]
    pub fn put_one(&self, value: T, to: impl Into<Destination>, at: usize) -> Result<()> {
        self.named("put_one", self.place(to.into(), at).and_then(|place| self.epoch.put_one(value, place)))
    }

    /// Reads one element, and waits for it.
    ///
    /// # Errors
    /// As [`Epoch::put`].
    #[inline]
    pub fn get_one(&self, from: impl Into<Destination>, at: usize) -> Result<T> {
        self.named("get_one", self.place(from.into(), at).and_then(|place| self.epoch.get_one(place)))
    }

    /// Combines one element of a rank with an operand, atomically, and waits for what it was (`MPI_Fetch_and_op`, MPI-5.0 §12.3.4).
    /// Of nobody it was 0.
    ///
    /// # Errors
    /// As [`Epoch::accumulate`].
    #[doc(alias = "MPI_Fetch_and_op")]
    #[inline]
    pub fn fetch_and_op(
        &self,
        operand: T,
        to: impl Into<Destination>,
        at: usize,
        update: impl Into<Update>,
    ) -> Result<T> {
        let update = update.into().predefined();
        let place = self.place(to.into(), at);
        self.named("fetch_and_op", place.and_then(|place| self.epoch.fetch_and_op(operand, place, update)))
    }

    /// Replaces one element of a rank by `new` if it is `expected`, atomically, and waits for what it was (`MPI_Compare_and_swap`,
    /// MPI-5.0 §12.3.4). It has been replaced if that is `expected`.
    ///
    /// # Errors
    /// As [`Epoch::put`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let window = world.window().allocate::<u32>(1)?;
    /// let first = window.lock_all(|epoch| epoch.compare_and_swap(0, 1 + world.rank() as u32, 0, 0))? == 0;
    /// assert_eq!(world.all_reduce_one(first as u32, posthaste::Operation::Sum)?, 1);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Compare_and_swap")]
    #[inline]
    pub fn compare_and_swap(&self, expected: T, new: T, to: impl Into<Destination>, at: usize) -> Result<T>
    where
        T: Comparable,
    {
        let place = self.place(to.into(), at);
        let swapped = place.and_then(|place| self.epoch.compare_and_swap(expected, new, place));
        self.named("compare_and_swap", swapped)
    }

    /// The elements of a rank in place, if loads and stores reach them; `None`: they do not. Those of this rank they always reach,
    /// and those of others on the node in windows that the library has allocated, as a rule (`MPI_Win_shared_query`, MPI-5.0 §12.2.3).
    ///
    /// They are no slice, because other ranks may change them at the same time.
    ///
    /// # Errors
    /// A rank that does not exist, or to which this epoch gives no access; elements that are not aligned, where ranks share memory for
    /// elements of different types.
    ///
    /// They do not leave the epoch:
    ///
    /// ```compile_fail
    /// # let universe = posthaste::init().unwrap();
    /// # let window = universe.world().window().allocate::<i32>(1).unwrap();
    /// let cells = window.lock_all(|epoch| epoch.cells(0)).unwrap(); // error: lifetime may not live long enough
    /// ```
    #[doc(alias = "MPI_Win_shared_query")]
    pub fn cells(&self, rank: usize) -> Result<Option<Cells<'scope, T>>> {
        let place = self.place(rank.into(), 0);
        self.named("cells", place.and_then(|place| self.epoch.cells(place.rank)))
    }

    /// A place as core spells it. Whether it exists is checked there.
    #[inline]
    pub(super) fn place(&self, rank: Destination, at: usize) -> Checked<Spot> {
        let rank = rank.number(self.communicator.peers())?;
        match i64::try_from(at) {
            Ok(disp) => Ok(Spot { rank, disp }),
            Err(_) => {
                let expected = format_args!("0..={}", i64::MAX);
                Err(Cause::invalid(ErrorClass::Disp, "at", at, expected))
            }
        }
    }

    #[inline]
    pub(super) fn named<R>(&self, call: &'static str, result: Checked<R>) -> Result<R> {
        self.communicator.named(call, result)
    }

    pub(super) fn communicator(&self) -> &'env Communicator<'env> {
        self.communicator
    }

    pub(super) fn core(&self) -> &world::Epoch<'scope, 'env, T> {
        &self.epoch
    }
}

impl<T> fmt::Debug for Epoch<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epoch({:?})", self.communicator)
    }
}
