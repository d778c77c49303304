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
#[derive(Clone, Copy, Debug)]
pub struct Plans<'c> {
    communicator: &'c Communicator<'c>,
}

/// A collective operation on buffers lent for `'a`, ready to be started.
#[derive(Debug)]
#[must_use = "a plan does nothing until it is started"]
pub struct Plan<'a> {
    call: &'static str,
    operation: Collective<'a>,
}

/// Declares operations. `'a` is the lifetime of the buffers; the plan is made of a communicator of core and the arguments.
macro_rules! collectives {
    ($a:lifetime; $(
        $(#[$about:meta])*
        ($now:literal, $started:literal, $kept:literal)
        fn $name:ident[$($generic:tt)*]($($argument:ident: $type:ty),* $(,)?) = |$comm:ident| $plan:expr;
    )*) => {
        /// A call that fails on one rank because of its arguments leaves the others waiting for it.
        #[allow(clippy::extra_unused_lifetimes, reason = "a barrier has no buffers")]
        impl Communicator<'_> {$(
            $(#[$about])*
            #[doc(alias = $now)]
            pub fn $name<$a, $($generic)*>(&self, $($argument: $type),*) -> $crate::Result<()> {
                self.complete(self.plans().$name($($argument),*))
            }
        )*}

        /// Nonblocking collective operations: they go on while the program does, as in [`Communicator::scope`]. All ranks
        /// start those of a communicator in the same order.
        impl<$a> Scope<$a, '_> {$(
            #[doc = concat!("Starts [`Communicator::", stringify!($name), "`] (`", $started, "`).")]
            ///
            /// # Errors
            /// As the blocking form.
            #[doc(alias = $started)]
            pub fn $name<$($generic)*>(&self, $($argument: $type),*) -> $crate::Result<Request<$a>> {
                self.begin(self.communicator().plans().$name($($argument),*))
            }
        )*}

        /// The operations.
        impl Plans<'_> {$(
            #[doc = concat!("Plans [`Communicator::", stringify!($name), "`] (`", $kept, "`).")]
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

mod data;
mod lengths;
mod neighbor;
mod persistent;
mod reduction;

pub use persistent::{Persistent, Started};
pub use posthaste_core::slice::Counts;

impl Plans<'_> {
    fn planned<'a>(
        &self,
        call: &'static str,
        plan: impl FnOnce(&Comm) -> Checked<Collective<'a>>,
    ) -> Result<Plan<'a>> {
        let operation = self.communicator.named(call, plan(self.communicator.core()))?;
        Ok(Plan { call, operation })
    }
}

impl Communicator<'_> {
    pub(crate) fn plans(&self) -> Plans<'_> {
        Plans { communicator: self }
    }

    /// Runs a planned operation to its end.
    fn complete(&self, plan: Result<Plan<'_>>) -> Result<()> {
        let Plan { call, operation } = plan?;
        self.run(call, Ok(operation))
    }

    /// The same of a plan of core.
    pub(crate) fn run(&self, call: &'static str, plan: Checked<Collective<'_>>) -> Result<()> {
        self.named(call, plan.and_then(|plan| self.engine().run_collective(plan)))
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a planned operation on buffers lent for `'scope`.
    fn begin(&self, plan: Result<Plan<'scope>>) -> Result<Request<'scope>> {
        let Plan { call, operation } = plan?;
        self.started(call, self.operations().start(call, operation))
    }
}
