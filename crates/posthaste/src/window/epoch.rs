//! Epochs: when there is access to a window (MPI-5.0 §12.5).
//!
//! What must stay true: an epoch is a call, never a value, which could be forgotten with the borrows of its buffers while its
//! operations go on. What a fence exposes is exposed as long as the call has the window for itself.

use std::fmt;

use posthaste_core::buffer::Equivalence;
use posthaste_core::error::Result as Checked;
use posthaste_core::world::{self, Closed, LockKind};

use super::{Epoch, LockEpoch, Window};
use crate::argument::Destination;
use crate::error::Result;
use crate::group::Group;

/// How the elements of a rank are locked (MPI-5.0 §12.5.3).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// use posthaste::Lock;
/// let window = world.window().allocate::<i32>(1)?;
/// window.lock(world.rank(), Lock::Exclusive, |epoch| epoch.put_one(5, world.rank(), 0))?;
/// assert_eq!(window.lock(world.rank(), Lock::Shared, |epoch| epoch.get_one(world.rank(), 0))?, 5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// For the rank that calls alone.
    #[doc(alias = "MPI_LOCK_EXCLUSIVE")]
    Exclusive,
    /// For any number of ranks.
    #[doc(alias = "MPI_LOCK_SHARED")]
    Shared,
}

/// An exposure epoch of this rank ([`Window::post`]).
///
/// ```
/// # fn main() -> posthaste::Result<()> {
/// # let universe = posthaste::init()?;
/// # let world = universe.world();
/// let own = universe.own();
/// let mut window = own.window().allocate::<u8>(1)?;
/// window.post(&own.group(), |exposure| {
///     window.start(&own.group(), |epoch| epoch.put_one(1, 0, 0))?;
///     while !exposure.test()? {}
///     Ok(())
/// })?;
/// assert_eq!(window.lock_own(|elements| elements[0])?, 1);
/// # Ok(())
/// # }
/// ```
pub struct Exposure<'a, T> {
    window: &'a world::Exposed<'a, T>,
    communicator: &'a crate::Communicator<'a>,
}

impl<T: Equivalence, M> Window<'_, T, M> {
    /// Gives all ranks access to all elements while `body` runs, which every rank calls: a fence before, and one behind it
    /// (`MPI_Win_fence`, MPI-5.0 §12.5.1).
    ///
    /// When it returns, what `body` has written is there, at every rank, and what it has read is here.
    ///
    /// # Errors
    /// What `body` returned; a rank that has ended, after which the window is of no more use. After a panic in `body` it is of no more
    /// use either, because the other ranks wait for the end of this epoch.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let mut window = world.window().allocate::<usize>(world.size())?;
    /// let mine = [world.rank()];
    /// window.fence(|epoch| (0..world.size()).try_for_each(|rank| epoch.put(&mine, rank, world.rank())))?;
    /// let all: Vec<usize> = window.lock_own(|elements| elements.to_vec())?;
    /// assert!(all.into_iter().eq(0..world.size()));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// What is being read is not there before the epoch is over:
    ///
    /// ```compile_fail,E0502
    /// # let universe = posthaste::init().unwrap();
    /// # let mut window = universe.world().window().allocate::<i32>(4).unwrap();
    /// let mut theirs = [0; 4];
    /// window.fence(|epoch| {
    ///     epoch.get(&mut theirs, 0, 0)?;
    ///     println!("{theirs:?}"); // error: cannot borrow as immutable
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// What is being written cannot be changed:
    ///
    /// ```compile_fail,E0506
    /// # let universe = posthaste::init().unwrap();
    /// # let mut window = universe.world().window().allocate::<i32>(4).unwrap();
    /// let mut mine = [1, 2, 3, 4];
    /// window.fence(|epoch| {
    ///     epoch.put(&mine, 0, 0)?;
    ///     mine[0] = 5; // error: cannot assign because it is borrowed
    ///     Ok(())
    /// }).unwrap();
    /// ```
    ///
    /// A buffer lives as long as the epoch:
    ///
    /// ```compile_fail,E0597
    /// # let universe = posthaste::init().unwrap();
    /// # let mut window = universe.world().window().allocate::<i32>(4).unwrap();
    /// window.fence(|epoch| {
    ///     let short_lived = [1; 4];
    ///     epoch.put(&short_lived, 0, 0) // error: does not live long enough
    /// }).unwrap();
    /// ```
    ///
    /// Fences are not within each other, because all ranks count them:
    ///
    /// ```compile_fail,E0499
    /// # let universe = posthaste::init().unwrap();
    /// # let mut window = universe.world().window().allocate::<i32>(4).unwrap();
    /// window.fence(|_| window.fence(|_| Ok(()))).unwrap(); // error: cannot borrow as mutable more than once
    /// ```
    ///
    /// And an epoch cannot be kept:
    ///
    /// ```compile_fail,E0521
    /// # let universe = posthaste::init().unwrap();
    /// # let mut window = universe.world().window().allocate::<i32>(4).unwrap();
    /// let mut kept = None;
    /// window.fence(|epoch| {
    ///     kept = Some(epoch); // error: borrowed data escapes
    ///     Ok(())
    /// }).unwrap();
    /// ```
    #[doc(alias = "MPI_Win_fence")]
    pub fn fence<'env, F, R>(&'env mut self, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&Epoch<'scope, 'env, T>) -> Result<R>,
    {
        let Self { communicator, window } = self;
        let communicator = &*communicator;
        let closed = window.fence(|epoch| body(&Epoch::new(communicator, epoch)));
        told("fence", communicator, closed)
    }

    /// Waits until the ranks of `group` have posted, and has access to their elements while `body` runs (`MPI_Win_start`,
    /// `MPI_Win_complete`, MPI-5.0 §12.5.2).
    ///
    /// When it returns, what `body` has written is on its way to the targets, whose [`Window::post`] waits for it, and what
    /// it has read is here.
    ///
    /// # Errors
    /// What `body` returned; a group with others than the window's ranks; another epoch of this rank with access to others; a rank
    /// that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// let (rank, size) = (world.rank(), world.size());
    /// let mut window = world.window().allocate::<usize>(1)?;
    /// let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    /// let (from, to) = (window.group().include(&[left])?, window.group().include(&[right])?);
    /// window.post(&from, |_| window.start(&to, |epoch| epoch.put_one(rank, right, 0)))?;
    /// assert_eq!(window.lock_own(|elements| elements[0])?, left);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Win_start", alias = "MPI_Win_complete")]
    pub fn start<'env, F, R>(&'env self, group: &Group, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&Epoch<'scope, 'env, T>) -> Result<R>,
    {
        let Self { communicator, window } = self;
        let closed = window.members().start(group.core(), |epoch| body(&Epoch::new(communicator, epoch)));
        told("start", communicator, closed)
    }

    /// Exposes this rank's elements to the ranks of `group` while `body` runs, and then until all of these have ended their access
    /// (`MPI_Win_post`, `MPI_Win_wait`, MPI-5.0 §12.5.2). The rank's own access to others is within: see [`Window::start`].
    ///
    /// # Errors
    /// What `body` returned; a group with others than the window's ranks; an exposure within another one; a rank that has ended, after
    /// which the window is of no more use, as after a panic in `body`.
    #[doc(alias = "MPI_Win_post", alias = "MPI_Win_wait")]
    pub fn post<F, R>(&self, group: &Group, body: F) -> Result<R>
    where
        F: FnOnce(&Exposure<'_, T>) -> Result<R>,
    {
        let Self { communicator, window } = self;
        let closed = window.members().post(group.core(), |window| body(&Exposure { window, communicator }));
        told("post", communicator, closed)
    }

    /// Locks the elements of a rank, which takes no part, and has access to them while `body` runs (`MPI_Win_lock`,
    /// `MPI_Win_unlock`, MPI-5.0 §12.5.3).
    ///
    /// When it returns, what `body` has written is there, and what it has read is here.
    ///
    /// # Errors
    /// What `body` returned; a rank that does not exist; another epoch of this rank, unless it is a lock on another rank; a rank that has
    /// ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Lock;
    /// let mut window = world.window().allocate::<u64>(2)?;
    /// window.lock(0, Lock::Exclusive, |epoch| {
    ///     let before = epoch.get_one(0, 1)?;
    ///     epoch.put_one(before + 1, 0, 1)
    /// })?;
    /// world.barrier()?;
    /// assert_eq!(window.lock(0, Lock::Shared, |epoch| epoch.get_one(0, 1))?, world.size() as u64);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Win_lock", alias = "MPI_Win_unlock")]
    pub fn lock<'env, F, R>(&'env self, rank: impl Into<Destination>, lock: Lock, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&LockEpoch<'scope, 'env, T>) -> Result<R>,
    {
        let Self { communicator, window } = self;
        let rank = communicator.named("lock", rank.into().number(communicator.peers()))?;
        let kind = match lock {
            Lock::Exclusive => LockKind::Exclusive,
            Lock::Shared => LockKind::Shared,
        };
        let closed =
            window.members().lock(rank, kind, |epoch| LockEpoch::run(communicator, epoch, Some(rank), body));
        told("lock", communicator, closed)
    }

    /// Has access to the elements of all ranks, which take no part, while `body` runs, with shared locks (`MPI_Win_lock_all`,
    /// `MPI_Win_unlock_all`, MPI-5.0 §12.5.3).
    ///
    /// # Errors
    /// As [`Window::lock`].
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// # let world = universe.world();
    /// use posthaste::Operation::Sum;
    /// let window = world.window().allocate::<u64>(1)?;
    /// let ticket = window.lock_all(|epoch| epoch.fetch_and_op(1, 0, 0, Sum))?;
    /// assert!(ticket < world.size() as u64);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "MPI_Win_lock_all", alias = "MPI_Win_unlock_all")]
    pub fn lock_all<'env, F, R>(&'env self, body: F) -> Result<R>
    where
        F: for<'scope> FnOnce(&LockEpoch<'scope, 'env, T>) -> Result<R>,
    {
        let Self { communicator, window } = self;
        let closed = window.members().lock_all(|epoch| LockEpoch::run(communicator, epoch, None, body));
        told("lock_all", communicator, closed)
    }

    /// Locks the elements of this rank for itself alone, and lends them to `body` as a slice.
    ///
    /// On memory that all ranks map this is one step of the processor and another at the end.
    ///
    /// # Errors
    /// A rank that has ended with the lock; elements that are not aligned, where ranks share memory for elements of different types; a
    /// window of which a synchronisation has failed.
    pub fn lock_own<R>(&mut self, body: impl FnOnce(&mut [T]) -> R) -> Result<R> {
        let Self { communicator, window } = self;
        let (result, ended) = communicator.named("lock_own", window.lock_own(body))?;
        communicator.named("lock_own", ended)?;
        Ok(result)
    }
}

impl<T: Equivalence> Exposure<'_, T> {
    /// Whether all ranks have ended their access (`MPI_Win_test`); again so at every later call.
    ///
    /// # Errors
    /// A rank that has ended.
    ///
    /// ```
    /// # fn main() -> posthaste::Result<()> {
    /// # let universe = posthaste::init()?;
    /// let own = universe.own();
    /// let window = own.window().allocate::<u8>(1)?;
    /// window.post(&own.group(), |exposure| {
    ///     assert!(!exposure.test()?);
    ///     window.start(&own.group(), |epoch| epoch.put_one(1, 0, 0))?;
    ///     while !exposure.test()? {}
    ///     Ok(())
    /// })
    /// # }
    /// ```
    #[doc(alias = "MPI_Win_test")]
    pub fn test(&self) -> Result<bool> {
        self.communicator.named("test", self.window.test())
    }
}

impl<T> fmt::Debug for Exposure<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exposure({:?})", self.communicator)
    }
}

/// What a body came to, if its epoch came to an end.
fn told<R>(
    call: &'static str,
    communicator: &crate::Communicator<'_>,
    closed: Checked<Closed<Result<R>>>,
) -> Result<R> {
    let (result, ended) = communicator.named(call, closed)?;
    let result = result?;
    communicator.named(call, ended)?;
    Ok(result)
}
