//! What those that are left do when ranks end: the proposal of the MPI forum's fault tolerance working group (ULFM).
//!
//! What must stay true: everything here works on a communicator of which ranks have ended, and agreements and shrinking also on one
//! that is revoked.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use posthaste_core::error::Result as Checked;
use posthaste_core::world;

use super::Communicator;
use crate::error::{Error, Result};
use crate::group::Group;

/// What the ranks of a communicator have agreed on.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let posthaste::Agreed { flags, unacknowledged } = world.agree(0b101)?;
/// assert_eq!(flags, 0b101);
/// assert!(unacknowledged.is_none(), "nobody has ended");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Agreed {
    /// The bits that all have that are alive.
    pub flags: i32,
    /// Ranks have ended whom not everybody has acknowledged ([`Communicator::acknowledge`]): an error that names one of them. It
    /// is there at all ranks or at none.
    pub unacknowledged: Option<Error>,
}

/// What the ranks that are left decide, under way: a future of it ([`Communicator::agree_async`],
/// [`Communicator::shrink_async`]). Dropped, it goes on, since the others need this rank, and nobody hears of the outcome.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let (mine, theirs) = (world.agree_async(0b11), world.agree_async(1 << world.rank()));
/// // … compute something else …
/// assert_eq!(mine.wait()?.flags, 0b11);
/// let agreed = universe.block_on(theirs)?;
/// assert_eq!(agreed.flags, i32::from(world.size() == 1));
/// # Ok(())
/// # }
/// ```
///
/// Polled again after it has given its outcome, it panics, as futures may.
#[must_use = "dropped at once, it goes on, and nobody hears of the outcome"]
pub struct Deciding<'u, T> {
    call: &'static str,
    comm: Communicator<'u>,
    under_way: Option<Checked<world::Deciding<'u>>>,
    finish: fn(&Communicator<'u>, &'static str, &world::Deciding<'u>, Checked<()>) -> Result<T>,
}

// Nothing points into it.
impl<T> Unpin for Deciding<'_, T> {}

impl<T> Deciding<'_, T> {
    /// Waits for the outcome: what awaiting it gives.
    ///
    /// # Errors
    /// As the function that started it.
    pub fn wait(mut self) -> Result<T> {
        let mut deciding = self.started()?;
        let outcome = deciding.wait(self.call);
        (self.finish)(&self.comm, self.call, &deciding, outcome)
    }
}

impl<'u, T> Deciding<'u, T> {
    fn started(&mut self) -> Result<world::Deciding<'u>> {
        let started = self.under_way.take().expect("an operation is polled after its end");
        self.comm.named(self.call, started)
    }
}

impl<T> Future for Deciding<'_, T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let mut deciding = this.started()?;
        match deciding.poll(context.waker()) {
            Poll::Pending => {
                this.under_way = Some(Ok(deciding));
                Poll::Pending
            }
            Poll::Ready(outcome) => Poll::Ready((this.finish)(&this.comm, this.call, &deciding, outcome)),
        }
    }
}

impl<T> fmt::Debug for Deciding<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Deciding({}, {:?})", self.call, self.comm)
    }
}

impl<'u> Communicator<'u> {
    /// Revokes the communicator (`MPIX_Comm_revoke`): whatever its ranks wait for on it ends with [`ErrorClass::Revoked`], and so does
    /// what they start there later, except [`Communicator::agree`] and [`Communicator::shrink`]. One rank calls it, and the
    /// others hear of it, whatever they wait for.
    ///
    /// [`ErrorClass::Revoked`]: crate::ErrorClass::Revoked
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let own = universe.own().dup()?;
    /// own.revoke();
    /// let error = own.barrier().unwrap_err();
    /// assert!(own.is_revoked() && error.class() == posthaste::ErrorClass::Revoked);
    /// assert_eq!(own.shrink()?.size(), 1);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPIX_Comm_revoke")]
    pub fn revoke(&self) {
        self.engine().revoke(self.core());
    }

    /// Whether this rank has heard that the communicator is revoked (`MPIX_Comm_is_revoked`).
    #[doc(alias = "MPIX_Comm_is_revoked")]
    pub fn is_revoked(&self) -> bool {
        self.engine().is_revoked(self.core())
    }

    /// The ranks that this one knows to have ended, in the order in which it heard of them (`MPIX_Comm_get_failed`).
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert_eq!(world.failed().size(), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPIX_Comm_get_failed")]
    pub fn failed(&self) -> Group {
        let (failed, _) = self.engine().failed(self.core());
        Group::of(&Arc::new(failed), self.me())
    }

    /// Acknowledges the first `count` ranks of [`Communicator::failed`], or all that are known if there are less
    /// (`MPIX_Comm_ack_failed`): receives from [`ANY`](crate::ANY) do not fail on account of them any more, nor do agreements if
    /// everybody has acknowledged them. Gives how many are acknowledged now.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// assert_eq!(world.acknowledge(world.failed().size()), 0);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPIX_Comm_ack_failed", alias = "MPIX_Comm_failure_ack")]
    pub fn acknowledge(&self, count: usize) -> usize {
        self.engine().acknowledge(self.core(), count)
    }

    /// Agrees on the bits that all have that are alive (`MPIX_Comm_agree`). All ranks call it that are left. Everybody gets the same,
    /// whoever ends meanwhile.
    ///
    /// # Errors
    /// A full table of requests.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let went_well = true;
    /// let agreed = world.agree(went_well.into())?;
    /// assert!(agreed.flags == 1 && agreed.unacknowledged.is_none());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPIX_Comm_agree")]
    pub fn agree(&self, flags: i32) -> Result<Agreed> {
        self.start_agree("agree", flags).wait()
    }

    /// Starts to agree on bits (`MPIX_Comm_iagree`). Several of a communicator are done one after the other.
    ///
    /// # Errors
    /// In the outcome: as [`Communicator::agree`].
    #[doc(alias = "MPIX_Comm_iagree")]
    pub fn agree_async(&self, flags: i32) -> Deciding<'u, Agreed> {
        self.start_agree("agree_async", flags)
    }

    fn start_agree(&self, call: &'static str, flags: i32) -> Deciding<'u, Agreed> {
        let under_way = Some(self.engine().start_deciding(self.core(), flags));
        let finish = |comm: &Self, call, deciding: &world::Deciding<'u>, outcome| {
            let flags = comm.named(call, deciding.flags())?;
            Ok(Agreed { flags, unacknowledged: comm.named(call, outcome).err() })
        };
        Deciding { call, comm: self.clone(), under_way, finish }
    }

    /// A communicator of the ranks that are left, in their order (`MPIX_Comm_shrink`). All of them call it. Everybody gets the same;
    /// who ends meanwhile may be in it.
    ///
    /// # Errors
    /// A full table of requests; the others have taken this rank for lost.
    #[doc(alias = "MPIX_Comm_shrink")]
    pub fn shrink(&self) -> Result<Self> {
        self.start_shrink("shrink").wait()
    }

    /// Starts to make a communicator of the ranks that are left (`MPIX_Comm_ishrink`).
    ///
    /// # Errors
    /// In the outcome: as [`Communicator::shrink`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let left = universe.block_on(world.shrink_async())?;
    /// assert_eq!((left.rank(), left.size()), (world.rank(), world.size()), "nobody has ended");
    /// left.barrier()?;
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPIX_Comm_ishrink")]
    pub fn shrink_async(&self) -> Deciding<'u, Self> {
        self.start_shrink("shrink_async")
    }

    fn start_shrink(&self, call: &'static str) -> Deciding<'u, Self> {
        let under_way = Some(self.engine().start_leaving_out(self.core()));
        let finish = |comm: &Self, call, deciding: &world::Deciding<'u>, outcome: Checked<()>| {
            let made = outcome.and_then(|()| deciding.shrunk(comm.core()));
            Ok(Self::new(comm.universe, comm.named(call, made)?))
        };
        Deciding { call, comm: self.clone(), under_way, finish }
    }
}
