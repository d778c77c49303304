//! What only epochs of locks allow: flushes, and accesses with requests (MPI-5.0 §12.3.5, §12.5.4).

use std::fmt;
use std::ops::Deref;

use posthaste_core::buffer::Equivalence;
use posthaste_core::world::{self, Extent};

use super::access::{Epoch, Update};
use crate::argument::Destination;
use crate::communicator::Communicator;
use crate::error::Result;
use crate::scope::{Request, Scope};

/// Access to the elements of ranks that take no part ([`Window::lock`](crate::Window::lock),
/// [`Window::lock_all`](crate::Window::lock_all)): all of [`Epoch`], flushes, and requests, which are futures as all requests are.
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let window = world.window().create(vec![world.rank() as u32; 4])?;
/// let next = (world.rank() + 1) % world.size();
/// let (mut first, mut last) = ([0; 2], [0; 2]);
/// window.lock_all(|epoch| {
///     let mut requests = [epoch.rget(&mut first, next, 0)?, epoch.rget(&mut last, next, 2)?];
///     while posthaste::wait_any(&mut requests)?.is_some() {}
///     Ok(())
/// })?;
/// assert_eq!([first, last], [[next as u32; 2]; 2]);
/// # Ok(())
/// # }
/// ```
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::Operation::Sum;
/// let window = world.window().allocate::<u64>(2)?;
/// let (me, data, mut old) = (world.rank(), [5; 2], [0; 2]);
/// window.lock_all(|epoch| {
///     epoch.rput(&data, me, 0)?.wait()?;
///     epoch.flush_local(me)?; // it has left,
///     epoch.flush(me)?; // and is there
///     epoch.raccumulate(&data, me, 0, Sum)?.wait()?;
///     epoch.flush_local_all()?;
///     epoch.flush_all()?;
///     epoch.rget_accumulate(&data, &mut old, me, 0, Sum)?.wait().map(drop)
/// })?;
/// assert_eq!(old, [10; 2]);
/// # Ok(())
/// # }
/// ```
///
/// Epochs in which targets take part have neither:
///
/// ```compile_fail,E0599
/// # let universe = posthaste::init().unwrap();
/// # let mut window = universe.world().window().allocate::<i32>(1).unwrap();
/// window.fence(|epoch| epoch.flush(0)).unwrap(); // error: no method named `flush`
/// ```
///
/// ```compile_fail,E0599
/// # let universe = posthaste::init().unwrap();
/// # let mut window = universe.world().window().allocate::<i32>(1).unwrap();
/// let data = [1];
/// window.fence(|epoch| epoch.rput(&data, 0, 0)?.wait()).unwrap(); // error: no method named `rput`
/// ```
pub struct LockEpoch<'scope, 'env: 'scope, T> {
    epoch: Epoch<'scope, 'env, T>,
    scope: Scope<'scope, 'env>,
    /// The only target, if there is only one.
    target: Option<i32>,
}

impl<'scope, 'env, T> Deref for LockEpoch<'scope, 'env, T> {
    type Target = Epoch<'scope, 'env, T>;
    fn deref(&self) -> &Self::Target {
        &self.epoch
    }
}

impl<'scope, 'env, T: Equivalence> LockEpoch<'scope, 'env, T> {
    /// Runs `body`, and waits for the requests that it has not waited for.
    pub(super) fn run<R>(
        communicator: &'env Communicator<'env>,
        epoch: world::Epoch<'scope, 'env, T>,
        target: Option<i32>,
        body: impl FnOnce(&Self) -> Result<R>,
    ) -> Result<R> {
        let scope = Scope::of(communicator, *epoch.operations());
        let epoch = Self { epoch: Epoch::new(communicator, epoch), scope, target };
        let result = body(&epoch)?;
        epoch.scope.finish()?;
        Ok(result)
    }

    /// As [`Epoch::put`], with a request (`MPI_Rput`, MPI-5.0 §12.3.5). It is over when `data` has left; that the target has it, only
    /// a flush says, or the end of the epoch.
    ///
    /// # Errors
    /// As [`Epoch::put`].
    #[doc(alias = "MPI_Rput")]
    pub fn rput(&self, data: &'scope [T], to: impl Into<Destination>, at: usize) -> Result<Request<'scope>> {
        let place = self.named("rput", self.place(to.into(), at))?;
        self.scope.started("rput", self.core().rput("rput", data, place))
    }

    /// As [`Epoch::get`], with a request (`MPI_Rget`), at whose end the elements are there.
    ///
    /// # Errors
    /// As [`Epoch::get`].
    #[doc(alias = "MPI_Rget")]
    pub fn rget(
        &self,
        into: &'scope mut [T],
        from: impl Into<Destination>,
        at: usize,
    ) -> Result<Request<'scope>> {
        let place = self.named("rget", self.place(from.into(), at))?;
        self.scope.started("rget", self.core().rget("rget", into, place))
    }

    /// As [`Epoch::accumulate`], with a request (`MPI_Raccumulate`), which is over as that of [`LockEpoch::rput`].
    ///
    /// # Errors
    /// As [`Epoch::accumulate`].
    #[doc(alias = "MPI_Raccumulate")]
    pub fn raccumulate(
        &self,
        data: &'scope [T],
        to: impl Into<Destination>,
        at: usize,
        update: impl Into<Update>,
    ) -> Result<Request<'scope>> {
        const CALL: &str = "raccumulate";
        let place = self.named(CALL, self.place(to.into(), at))?;
        let update = update.into().predefined();
        self.scope.started(CALL, self.core().raccumulate(CALL, data, None, place, update))
    }

    /// As [`Epoch::get_accumulate`], with a request (`MPI_Rget_accumulate`), at whose end `old` has what the elements were.
    ///
    /// # Errors
    /// As [`Epoch::get_accumulate`].
    #[doc(alias = "MPI_Rget_accumulate")]
    pub fn rget_accumulate(
        &self,
        data: &'scope [T],
        old: &'scope mut [T],
        to: impl Into<Destination>,
        at: usize,
        update: impl Into<Update>,
    ) -> Result<Request<'scope>> {
        const CALL: &str = "rget_accumulate";
        let place = self.named(CALL, self.place(to.into(), at))?;
        let update = update.into().predefined();
        self.scope.started(CALL, self.core().raccumulate(CALL, data, Some(old), place, update))
    }

    /// Waits until a rank has what it has been given (`MPI_Win_flush`, MPI-5.0 §12.5.4). Buffers stay lent;
    /// [`LockEpoch::flushed`] gives them back.
    ///
    /// # Errors
    /// What went wrong with an access; a rank to which this epoch gives no access; a rank that has ended.
    #[doc(alias = "MPI_Win_flush")]
    #[inline]
    pub fn flush(&self, rank: impl Into<Destination>) -> Result<()> {
        self.flush_one("flush", rank.into(), Extent::Target)
    }

    /// The same of all ranks (`MPI_Win_flush_all`).
    ///
    /// # Errors
    /// As [`LockEpoch::flush`].
    #[doc(alias = "MPI_Win_flush_all")]
    pub fn flush_all(&self) -> Result<()> {
        self.flush_every("flush_all", Extent::Target)
    }

    /// Waits until everything for a rank has left (`MPI_Win_flush_local`).
    ///
    /// # Errors
    /// As [`LockEpoch::flush`].
    #[doc(alias = "MPI_Win_flush_local")]
    pub fn flush_local(&self, rank: impl Into<Destination>) -> Result<()> {
        self.flush_one("flush_local", rank.into(), Extent::Local)
    }

    /// The same of all ranks (`MPI_Win_flush_local_all`).
    ///
    /// # Errors
    /// As [`LockEpoch::flush`].
    #[doc(alias = "MPI_Win_flush_local_all")]
    pub fn flush_local_all(&self) -> Result<()> {
        self.flush_every("flush_local_all", Extent::Local)
    }

    /// Runs `body` as a part of the epoch: the buffers that are lent to it are given back at its end, when all ranks have what they
    /// have been given.
    ///
    /// # Errors
    /// What `body` returned; as [`LockEpoch::flush`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let window = world.window().allocate::<u64>(8)?;
    /// let mut block = [0; 8];
    /// window.lock_all(|epoch| {
    ///     for round in 0..3 {
    ///         block.fill(round);
    ///         epoch.flushed(|part| part.put(&block, world.rank(), 0))?;
    ///         epoch.flushed(|part| part.get(&mut block, world.rank(), 0))?;
    ///         assert_eq!(block, [round; 8]);
    ///     }
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// What is lent to the whole epoch does not come back earlier:
    ///
    /// ```compile_fail,E0506
    /// # let universe = posthaste::init().unwrap();
    /// # let window = universe.world().window().allocate::<u64>(8).unwrap();
    /// let mut block = [0; 8];
    /// window.lock_all(|epoch| {
    ///     epoch.put(&block, 0, 0)?;
    ///     epoch.flush_all()?;
    ///     block[0] = 1; // error: cannot assign because it is borrowed
    ///     Ok(())
    /// }).unwrap();
    /// ```
    pub fn flushed<'inner, F, R>(&'inner self, body: F) -> Result<R>
    where
        F: for<'part> FnOnce(&LockEpoch<'part, 'inner, T>) -> Result<R>,
    {
        let (communicator, target) = (self.communicator(), self.target);
        let (result, flushed) =
            self.core().flushed("flushed", |epoch| LockEpoch::run(communicator, epoch, target, body));
        let result = result?;
        self.named("flushed", flushed)?;
        Ok(result)
    }

    /// Orders this rank's loads and stores of [`Epoch::cells`] with those of the others (`MPI_Win_sync`, MPI-5.0 §12.5.4).
    #[doc(alias = "MPI_Win_sync")]
    pub fn sync(&self) {
        self.core().sync();
    }

    #[inline]
    fn flush_one(&self, call: &'static str, rank: Destination, extent: Extent) -> Result<()> {
        let rank = self.named(call, rank.number(self.communicator().peers()))?;
        self.named(call, self.core().flush(call, Some(rank), extent))
    }

    fn flush_every(&self, call: &'static str, extent: Extent) -> Result<()> {
        self.named(call, self.core().flush(call, self.target, extent))
    }
}

impl<T> fmt::Debug for LockEpoch<'_, '_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Lock{:?}", self.epoch)
    }
}
