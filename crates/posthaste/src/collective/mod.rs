//! Collective operations: all ranks of a communicator call them, in the same order (MPI-5.0 chapter 6).
//!
//! - `data`: what moves data. `reduction`: what combines it. `neighbor`: the same among neighbours. `lengths`: forms that
//!   work the lengths out. `persistent`: operations that are planned once and started often.
//!
//! Each operation is declared once, as a plan; from that the macro of this file makes the blocking form, a method of
//! [`Communicator`], the nonblocking one, of [`Scope`] (§6.12), and what persistent operations are made of (§6.13). Core's
//! `slice` checks lengths and plans the schedules.
//!
//! What must stay true: all forms use the same plans, and no form lacks what another has.

use posthaste_core::comm::Comm;
use posthaste_core::error::Result as Checked;
use posthaste_core::slice::Collective;

use crate::communicator::Communicator;
use crate::error::Result;
use crate::scope::{Request, Scope};

/// Plans collective operations of a communicator, for [`Communicator::persistent`].
///
/// It has the operations that [`Communicator`] has, under the same names and with the same arguments.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let mut data = [world.rank(); 2];
/// let mut copy = world.persistent(vec![], data.to_vec(), |plans, _, data| plans.broadcast(data, 0))?;
/// copy.start()?.wait()?;
/// data.copy_from_slice(copy.result());
/// assert_eq!(data, [0, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Plans<'c> {
    communicator: &'c Communicator<'c>,
}

/// A collective operation on buffers lent for `'a`, ready to be started.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::{Operation, Plan, Plans, Result};
/// // Which operation it is, the program finds out when it runs.
/// fn choose<'a>(plans: Plans<'_>, data: &'a [u64], result: &'a mut [u64], sum: bool) -> Result<Plan<'a>> {
///     plans.all_reduce(data, result, if sum { Operation::Sum } else { Operation::Maximum })
/// }
/// let mut chosen = world.persistent(vec![1], vec![0], |plans, data, result| choose(plans, data, result, true))?;
/// chosen.start()?.wait()?;
/// assert_eq!(chosen.result(), [world.size() as u64]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a plan does nothing until it is started"]
pub struct Plan<'a> {
    call: &'static str,
    operation: Collective<'a>,
}

/// Declares operations of the first type: their blocking forms, the nonblocking ones of the second, and the plans of the third. `'a`
/// is the lifetime of the buffers; the plan is made of a communicator of core and the arguments.
macro_rules! collectives {
    ($blocking:ident, $scope:ident, $plans:ident, $a:lifetime; $(
        $(#[$about:meta])*
        ($now:literal, $started:literal, $kept:literal)
        fn $name:ident[$($generic:tt)*]($($argument:ident: $type:ty),* $(,)?) = |$comm:ident| $plan:expr;
    )*) => {
        /// A call that fails on one rank because of its arguments leaves the others waiting for it.
        #[allow(clippy::extra_unused_lifetimes, reason = "a barrier has no buffers")]
        impl $blocking<'_> {$(
            $(#[$about])*
            #[doc(alias = $now)]
            pub fn $name<$a, $($generic)*>(&self, $($argument: $type),*) -> $crate::Result<()> {
                self.complete(self.plans().$name($($argument),*))
            }
        )*}

        /// Nonblocking collective operations: they go on while the program does, as in [`Communicator::scope`](crate::Communicator::scope). All ranks
        /// start those of a communicator in the same order.
        impl<$a> $scope<$a, '_> {$(
            #[doc = concat!("Starts [`", stringify!($blocking), "::", stringify!($name), "`] (`", $started, "`).")]
            ///
            /// # Errors
            /// As the blocking form.
            #[doc(alias = $started)]
            pub fn $name<$($generic)*>(&self, $($argument: $type),*) -> $crate::Result<Request<$a>> {
                self.begin(self.communicator().plans().$name($($argument),*))
            }
        )*}

        /// The operations.
        impl $plans<'_> {$(
            #[doc = concat!("Plans [`", stringify!($blocking), "::", stringify!($name), "`] (`", $kept, "`).")]
            ///
            /// # Errors
            /// As the blocking form.
            #[doc(alias = $kept)]
            pub fn $name<$a, $($generic)*>(&self, $($argument: $type),*) -> $crate::Result<Plan<$a>> {
                self.planned(stringify!($name), |$comm| $plan)
            }
        )*}
    };
}

pub(crate) use collectives;

mod data;
mod lengths;
mod neighbor;
mod persistent;
mod reduction;

pub use persistent::{Persistent, Started};
/// They say where the blocks of the `_varying` operations are:
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::Counts;
/// // Blocks of 1, 2, 3, … elements, the last rank's first.
/// let lengths: Vec<usize> = (1..=world.size()).collect();
/// let places: Vec<usize> = (0..world.size()).map(|rank| lengths[rank + 1..].iter().sum()).collect();
/// let mut all = vec![0; lengths.iter().sum()];
/// let mine = vec![world.rank(); world.rank() + 1];
/// world.all_gather_varying(&mine, &mut all, Counts::at(&lengths, &places))?;
/// assert_eq!((all.first(), all.last()), (Some(&(world.size() - 1)), Some(&0)));
/// assert_eq!(Counts::packed(&lengths).lengths(), lengths);
/// # Ok(())
/// # }
/// ```
#[doc(inline)]
pub use posthaste_core::slice::Counts;

impl Plans<'_> {
    fn planned<'a>(
        &self,
        call: &'static str,
        plan: impl FnOnce(&Comm) -> Checked<Collective<'a>>,
    ) -> Result<Plan<'a>> {
        let of_one_group = self.communicator.of_one_group();
        let operation = of_one_group.and_then(|()| plan(self.communicator.core()));
        self.communicator.plan(call, operation)
    }
}

impl Communicator<'_> {
    pub(crate) fn plans(&self) -> Plans<'_> {
        Plans { communicator: self }
    }

    /// A plan that core has made, or not.
    pub(crate) fn plan<'a>(
        &self,
        call: &'static str,
        operation: Checked<Collective<'a>>,
    ) -> Result<Plan<'a>> {
        self.named(call, operation).map(|operation| Plan { call, operation })
    }

    /// Runs a planned operation to its end.
    pub(crate) fn complete(&self, plan: Result<Plan<'_>>) -> Result<()> {
        let Plan { call, operation } = plan?;
        self.named(call, self.engine().run_collective(call, operation))
    }

    /// The same of a plan of core.
    pub(crate) fn run(&self, call: &'static str, plan: Checked<Collective<'_>>) -> Result<()> {
        self.named(call, self.of_one_group())?;
        self.complete(self.plan(call, plan))
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a planned operation on buffers lent for `'scope`.
    pub(crate) fn begin(&self, plan: Result<Plan<'scope>>) -> Result<Request<'scope>> {
        let Plan { call, operation } = plan?;
        self.started(call, self.operations().start(call, operation))
    }
}
