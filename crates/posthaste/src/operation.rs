//! The reduction operations: those of the standard, and functions of the program (MPI-5.0 §6.9.2 to §6.9.5).
//!
//! What must stay true: a function meets operands of its own type only, by the parameter of [`Reduction`].

use std::fmt;
use std::marker::PhantomData;

use posthaste_core::buffer::Equivalence;
use posthaste_core::op::{Op, Predefined};

/// How a reduction combines the ranks' elements, position by position.
///
/// Integers wrap around. A result that several ranks get is the same on each of them, bit for bit.
/// [`Operation::from_fn`] makes more of them.
///
/// ```
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::Operation::{Maximum, Sum};
/// assert_eq!(world.all_reduce_one(1, Sum)?, world.size());
/// assert_eq!(world.all_reduce_one(world.rank(), Maximum)?, world.size() - 1);
/// # Ok::<(), posthaste::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The sum.
    #[doc(alias = "MPI_SUM")]
    Sum,
    /// The product.
    #[doc(alias = "MPI_PROD")]
    Product,
    /// The smallest.
    #[doc(alias = "MPI_MIN")]
    Minimum,
    /// The largest.
    #[doc(alias = "MPI_MAX")]
    Maximum,
    /// The smallest, and where it is: of pairs of a value and its index ([`Located`](crate::Located)), for which there is no
    /// other operation but [`Operation::MaximumLocation`]. Of equal values the lower index counts.
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::{Located, Operation};
    /// let mine = Located { value: -(world.rank() as f64), index: world.rank() as i64 };
    /// let lowest = world.all_reduce_one(mine, Operation::MinimumLocation)?;
    /// assert_eq!(lowest.index, world.size() as i64 - 1);
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_MINLOC")]
    MinimumLocation,
    /// The largest, and where it is.
    #[doc(alias = "MPI_MAXLOC")]
    MaximumLocation,
    /// Bits set on every rank. For integers only, as are all below.
    #[doc(alias = "MPI_BAND")]
    BitAnd,
    /// Bits set on some rank.
    #[doc(alias = "MPI_BOR")]
    BitOr,
    /// Bits set on an odd number of ranks.
    #[doc(alias = "MPI_BXOR")]
    BitXor,
    /// 1 where every rank has something other than 0, else 0.
    #[doc(alias = "MPI_LAND")]
    LogicalAnd,
    /// 1 where some rank has something other than 0, else 0.
    #[doc(alias = "MPI_LOR")]
    LogicalOr,
    /// 1 where an odd number of ranks have something other than 0, else 0.
    #[doc(alias = "MPI_LXOR")]
    LogicalXor,
}

/// A function of the program as a reduction operation on slices of `T`; see [`Operation::from_fn`].
///
/// ```
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Operation, UserOperation};
/// // The greatest common divisor.
/// let gcd: UserOperation<u64> = Operation::from_fn(
///     |incoming: &[u64], result: &mut [u64]| {
///         for (mut a, b) in incoming.iter().copied().zip(result) {
///             while a != 0 {
///                 (a, *b) = (*b % a, a);
///             }
///         }
///     },
///     true,
/// );
/// assert_eq!(world.all_reduce_one(12, &gcd)?, 12);
/// # Ok::<(), posthaste::Error>(())
/// ```
#[derive(Clone)]
pub struct UserOperation<T> {
    op: Op,
    operands: PhantomData<fn(&[T])>,
}

/// What can combine elements of `T`: an [`Operation`], or a borrowed [`UserOperation`] on them.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Communicator, Operation, Reduction, Result};
/// fn of_all<R: Reduction<u64>>(world: &Communicator<'_>, by: R) -> Result<u64> {
///     world.all_reduce_one(world.rank() as u64 + 1, by)
/// }
/// let least = Operation::from_fn(|a: &[u64], b: &mut [u64]| a.iter().zip(b).for_each(|(a, b)| *b = *a.min(b)), true);
/// assert_eq!(of_all(&world, Operation::Minimum)?, of_all(&world, &least)?);
/// # Ok(())
/// # }
/// ```
///
/// A function of another type than that of the buffers does not compile:
///
/// ```compile_fail,E0277
/// # let universe = posthaste::init().unwrap();
/// use posthaste::Operation;
/// let longest = Operation::from_fn(|_: &[u64], _: &mut [u64]| (), true);
/// universe.world().all_reduce_one(1.5f64, &longest).unwrap(); // error: no Reduction<f64>
/// ```
pub trait Reduction<T>: sealed::Sealed {}

mod sealed {
    pub trait Sealed {
        /// As core spells it.
        fn op(&self) -> posthaste_core::op::Op;
    }
}

impl Operation {
    /// Makes an operation of a function (`MPI_Op_create`, MPI-5.0 §6.9.5). It combines each element of its first argument with
    /// that at the same place of the second, and leaves the result in the second.
    ///
    /// The first has the left operands: those of lower ranks. Every function is taken for associative. Where it is not
    /// `commutative`, operands keep the order of ranks. The function sees as many elements at once as are there, and may be
    /// called several times, on any thread. It must not call this crate.
    ///
    /// A panic of the function ends in the reduction of the rank where it happens: it fails with
    /// [`ErrorClass::Op`](crate::ErrorClass::Op) and the text of the panic. Other ranks do not hear of it, and what they get is
    /// anything. (In a program built with `panic = "abort"` the rank ends, and the launcher ends the job.)
    ///
    /// ```
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Operation;
    /// // Decimal digits, one behind the other: not commutative.
    /// let digits = Operation::from_fn(
    ///     |incoming: &[u64], result: &mut [u64]| {
    ///         for (left, right) in incoming.iter().zip(result) {
    ///             *right += left * 10u64.pow(right.checked_ilog10().unwrap_or(0) + 1);
    ///         }
    ///     },
    ///     false,
    /// );
    /// let all = world.all_reduce_one(world.rank() as u64 + 1, &digits)?;
    /// assert!(all.to_string().starts_with('1'));
    ///
    /// let picky = Operation::from_fn(|_: &[u8], _: &mut [u8]| panic!("not mine"), true);
    /// let error = world.reduce_local(&[1], &mut [2], &picky).unwrap_err();
    /// assert!(error.to_string().contains("not mine"));
    /// # Ok::<(), posthaste::Error>(())
    /// ```
    #[doc(alias = "MPI_Op_create")]
    #[doc(alias = "UserOperation")]
    pub fn from_fn<T: Equivalence>(
        function: impl Fn(&[T], &mut [T]) + Send + Sync + 'static,
        commutative: bool,
    ) -> UserOperation<T> {
        UserOperation { op: Op::of_slices(function, commutative), operands: PhantomData }
    }

    /// Whether operands may be exchanged (`MPI_Op_commutative`).
    ///
    /// ```
    /// assert!(posthaste::Operation::Sum.is_commutative());
    /// ```
    #[doc(alias = "MPI_Op_commutative")]
    pub fn is_commutative(self) -> bool {
        self.op().is_commutative()
    }

    /// As core spells it.
    pub(crate) fn op(self) -> Op {
        self.predefined().into()
    }

    /// The same, of those that every rank knows.
    pub(crate) fn predefined(self) -> Predefined {
        match self {
            Self::Sum => Predefined::Sum,
            Self::Product => Predefined::Prod,
            Self::Minimum => Predefined::Min,
            Self::Maximum => Predefined::Max,
            Self::MinimumLocation => Predefined::Minloc,
            Self::MaximumLocation => Predefined::Maxloc,
            Self::BitAnd => Predefined::Band,
            Self::BitOr => Predefined::Bor,
            Self::BitXor => Predefined::Bxor,
            Self::LogicalAnd => Predefined::Land,
            Self::LogicalOr => Predefined::Lor,
            Self::LogicalXor => Predefined::Lxor,
        }
    }
}

impl<T> UserOperation<T> {
    /// Whether operands may be exchanged (`MPI_Op_commutative`).
    ///
    /// ```
    /// # use posthaste::Operation;
    /// assert!(!Operation::from_fn(|_: &[u8], _: &mut [u8]| (), false).is_commutative());
    /// ```
    #[doc(alias = "MPI_Op_commutative")]
    pub fn is_commutative(&self) -> bool {
        self.op.is_commutative()
    }
}

impl sealed::Sealed for Operation {
    fn op(&self) -> Op {
        (*self).op()
    }
}

impl<T: Equivalence> Reduction<T> for Operation {}

impl<T> sealed::Sealed for &UserOperation<T> {
    fn op(&self) -> Op {
        self.op.clone()
    }
}

impl<T: Equivalence> Reduction<T> for &UserOperation<T> {}

impl<T> fmt::Debug for UserOperation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UserOperation({:?})", self.op)
    }
}
