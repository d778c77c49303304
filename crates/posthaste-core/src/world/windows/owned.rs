//! Windows of elements that own their memory, and epochs that borrow the buffers of their operations: what the typed API
//! rests on (MPI-5.0 §12.2 to §12.5).
//!
//! ```text
//!   who may change this rank's memory                  what keeps others away meanwhile
//!   others between fences            fence             a fence is every rank's, and borrows the window for itself
//!   others between start, complete   post              nobody starts before `post`, whose end waits for all
//!   others that hold a lock          nothing here      the exclusive lock of `lock_own`
//! ```
//!
//! What must stay true:
//! - A reference to the memory is made by `lock_own` alone. It borrows the window for itself, so no epoch of this rank is open
//!   and nobody else's can be that needs this rank to take part; the lock keeps away those that do not. No epoch goes on without
//!   the checks that the standard lets a program leave out.
//! - An epoch ends before the borrows of its buffers do, whatever way it is left ([`World::scope`] says why that holds).
//! - A rank that has left a fence or an exposure without the others (a panic, a lost member) cannot know who still has
//!   access: the window is of no use to it then, and its memory is never freed.

use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::Arc;

use super::{Extent, NewWindow};
use crate::buffer::{Cells, Equivalence, Kept, zeroed};
use crate::datatype::{Builtin, Datatype};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::op::{Op, Predefined};
use crate::slice::{RecvBuf, SendBuf, run, run_mut};
use crate::win::{Assert, At, Flavor, LockKind, Spot, Targets, Window};
use crate::world::World;
use crate::world::scope::{Operation, Scope, to_the_end};

/// What a body came to, and the end of its epoch.
pub type Closed<R> = (R, Result<()>);

/// A window of elements of `T` with the memory `M` of this rank.
pub struct OwnedWindow<'w, T, M> {
    members: Members<'w, T>,
    /// `None`: given back.
    memory: Option<Kept<M>>,
}

/// The window as its epochs see it.
pub struct Members<'w, T> {
    world: &'w World,
    window: Arc<Window>,
    datatype: Datatype,
    /// Within [`OwnedWindow::post`].
    is_exposed: Cell<bool>,
    /// Others may have access, and nobody knows until when.
    is_broken: Cell<bool>,
    elements: PhantomData<T>,
}

/// Starts operations on buffers that are lent to it until the epoch is over.
pub struct Epoch<'scope, 'env: 'scope, T> {
    members: &'env Members<'env, T>,
    operations: Scope<'scope, 'env>,
    /// The only target, if there is only one.
    target: Option<i32>,
}

/// An exposure epoch.
pub struct Exposed<'env, T> {
    members: &'env Members<'env, T>,
    is_over: &'env Cell<bool>,
}

// Windows come and go.
impl World {
    /// As [`World::allocate_window`], with memory for `len` elements.
    ///
    /// # Errors
    /// As [`World::allocate_window`].
    pub fn allocate_elements<T: Equivalence>(
        &self,
        new: &NewWindow<'_>,
        len: usize,
        flavor: Flavor,
    ) -> Result<OwnedWindow<'_, T, ()>> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        let window = self.allocate_window(&NewWindow { unit: unit::<T>(), ..*new }, bytes, flavor)?;
        Ok(OwnedWindow::new(self, window, Kept::new(())))
    }

    /// As [`World::create_window`], of elements that belong to the window until it is freed. They cannot be of a borrow, which could
    /// end while the window is forgotten:
    ///
    /// ```compile_fail,E0521
    /// use posthaste_core::world::{NewWindow, World};
    /// struct Borrowed<'a>(&'a mut [u8]);
    /// impl AsMut<[u8]> for Borrowed<'_> {
    ///     fn as_mut(&mut self) -> &mut [u8] { self.0 }
    /// }
    /// fn wrong(world: &World, new: &NewWindow<'_>, memory: &mut [u8]) {
    ///     drop(world.create_of_elements(new, Borrowed(memory))); // error: borrowed data escapes
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`World::create_window`]; the memory is never freed then, because some members may have got to know of it.
    pub fn create_of_elements<T: Equivalence, M: AsMut<[T]> + Send + 'static>(
        &self,
        new: &NewWindow<'_>,
        memory: M,
    ) -> Result<OwnedWindow<'_, T, M>> {
        let mut kept = Kept::new(memory);
        let bytes = RecvBuf::bytes_of(kept.lend().as_mut()).lend();
        let new = NewWindow { unit: unit::<T>(), ..*new };
        let window = to_the_end(|| self.create_window(&new, &bytes))?;
        Ok(OwnedWindow::new(self, window, kept))
    }
}

impl<'w, T: Equivalence, M> OwnedWindow<'w, T, M> {
    fn new(world: &'w World, window: Arc<Window>, memory: Kept<M>) -> Self {
        let members = Members {
            world,
            window,
            datatype: Datatype::of::<T>(),
            is_exposed: Cell::new(false),
            is_broken: Cell::new(false),
            elements: PhantomData,
        };
        Self { members, memory: Some(memory) }
    }

    /// What the window is for every use that needs no memory of its own.
    pub fn members(&self) -> &Members<'w, T> {
        &self.members
    }

    /// As [`World::free_window`], which all members call. Gives the memory back.
    ///
    /// # Errors
    /// As [`World::free_window`]; a synchronisation that has failed before. The memory is never freed then.
    pub fn free(mut self) -> Result<M> {
        let memory = self.end()?;
        memory.ok_or_else(|| Error::other(ErrorClass::Win, "the window has been freed"))
    }

    /// As [`World::fence`], twice, with accesses in between: every member calls it.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn fence<'env, F, R>(&'env mut self, body: F) -> Result<Closed<R>>
    where
        F: for<'scope> FnOnce(Epoch<'scope, 'env, T>) -> R,
    {
        let members = &self.members;
        members.check()?;
        let first = Assert { no_precede: true, ..Assert::default() };
        members.unbroken(to_the_end(|| members.world.fence(&members.window, first)))?;
        let end = || {
            let last = Assert { no_succeed: true, ..Assert::default() };
            members.unbroken(members.world.fence(&members.window, last))
        };
        // The others may never come to the end of a body that has panicked.
        let leave = || {
            members.is_broken.set(true);
            members.land(None)
        };
        Ok(members.within(None, body, end, leave))
    }

    /// Locks this rank's memory for itself alone, and lends it.
    ///
    /// # Errors
    /// As [`World::lock`]; elements that are not aligned, as where ranks share memory for elements of different types.
    pub fn lock_own<R>(&mut self, body: impl FnOnce(&mut [T]) -> R) -> Result<Closed<R>> {
        let members = &self.members;
        members.check()?;
        let own = members.window.own();
        let (base, len) = (own.base, count::<T>(own.size));
        let rank = members.window.comm().rank();
        members.world.lock(&members.window, rank, LockKind::Exclusive, Assert::default())?;
        let elements = base.and_then(|base| base.locked::<T>(len));
        let unlock = || members.world.unlock(&members.window, rank);
        let Some(elements) = elements else {
            unlock()?;
            return Err(not_aligned::<T>(rank));
        };
        Ok(ended(|| body(elements), unlock, unlock))
    }

    fn end(&mut self) -> Result<Option<M>> {
        let Some(memory) = self.memory.take() else { return Ok(None) };
        let members = &self.members;
        let freed = members.check().and_then(|()| to_the_end(|| members.world.free_window(&members.window)));
        match freed {
            Ok(()) => Ok(Some(memory.take_back())),
            Err(why) => {
                members.keep();
                Err(why)
            }
        }
    }
}

impl<T, M> Drop for OwnedWindow<'_, T, M> {
    /// As [`OwnedWindow::free`]; after a panic the others may not come to that, so the memory stays.
    fn drop(&mut self) {
        if self.memory.is_none() {
            return;
        }
        let members = &self.members;
        let is_over = !std::thread::panicking()
            && !members.is_broken.get()
            && to_the_end(|| members.world.free_window(&members.window)).is_ok();
        match self.memory.take() {
            Some(memory) if is_over => drop(memory.take_back()),
            _ => members.keep(),
        }
    }
}

impl<T> Members<'_, T> {
    /// The window's memory stays for ever, because peers may have access to it for ever.
    fn keep(&self) {
        std::mem::forget(Arc::clone(&self.window));
    }
}

// Epochs in which this rank has access to others.
impl<T: Equivalence> Members<'_, T> {
    /// The window.
    pub fn window(&self) -> &Arc<Window> {
        &self.window
    }

    /// The process's part in its job.
    pub fn world(&self) -> &World {
        self.world
    }

    /// Number of elements of a member, which may be asked for that.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`; a lost member; `MPIX_ERR_REVOKED`.
    pub fn len(&self, rank: i32) -> Result<usize> {
        let target = self.window.target(rank)?;
        self.world.learn("Members::len", &self.window, target)?;
        Ok(count::<T>(self.window.part(target)?.size))
    }

    /// As [`World::lock`], accesses, and [`World::unlock`].
    ///
    /// # Errors
    /// As [`World::lock`].
    pub fn lock<'env, F, R>(&'env self, rank: i32, kind: LockKind, body: F) -> Result<Closed<R>>
    where
        F: for<'scope> FnOnce(Epoch<'scope, 'env, T>) -> R,
    {
        self.check()?;
        self.world.lock(&self.window, rank, kind, Assert::default())?;
        let unlock = || self.world.unlock(&self.window, rank);
        Ok(self.within(Some(rank), body, unlock, unlock))
    }

    /// As [`World::lock_all`], accesses, and [`World::unlock_all`].
    ///
    /// # Errors
    /// As [`World::lock_all`].
    pub fn lock_all<'env, F, R>(&'env self, body: F) -> Result<Closed<R>>
    where
        F: for<'scope> FnOnce(Epoch<'scope, 'env, T>) -> R,
    {
        self.check()?;
        self.world.lock_all(&self.window, Assert::default())?;
        let unlock = || self.world.unlock_all(&self.window);
        Ok(self.within(None, body, unlock, unlock))
    }

    /// As [`World::start_access`], accesses, and [`World::complete_access`].
    ///
    /// # Errors
    /// As [`World::start_access`].
    pub fn start<'env, F, R>(&'env self, group: &Group, body: F) -> Result<Closed<R>>
    where
        F: for<'scope> FnOnce(Epoch<'scope, 'env, T>) -> R,
    {
        self.check()?;
        self.world.start_access(&self.window, group, Assert::default())?;
        let complete = || self.world.complete_access(&self.window);
        Ok(self.within(None, body, complete, complete))
    }

    /// As [`World::post`], and [`World::wait_exposure`] behind `body`.
    ///
    /// # Errors
    /// As [`World::post`].
    pub fn post<R>(&self, group: &Group, body: impl FnOnce(&Exposed<'_, T>) -> R) -> Result<Closed<R>> {
        self.check()?;
        if self.is_exposed.get() {
            let got = "called within an exposure epoch";
            return Err(Error::invalid(ErrorClass::RmaSync, "the window", got, "its end before"));
        }
        self.window.members(group)?;
        self.unbroken(self.world.post(&self.window, group, Assert::default()))?;
        self.is_exposed.set(true);
        let is_over = Cell::new(false);
        let wait = || {
            let waited = if is_over.get() { Ok(()) } else { self.world.wait_exposure(&self.window) };
            self.is_exposed.set(false);
            self.unbroken(waited)
        };
        let leave = || {
            self.is_broken.set(true);
            Ok(())
        };
        Ok(ended(|| body(&Exposed { members: self, is_over: &is_over }), wait, leave))
    }

    /// Runs `body` in an epoch that has begun, and ends it; by `leave` if `body` panics.
    fn within<'env, F, R>(
        &'env self,
        target: Option<i32>,
        body: F,
        end: impl FnOnce() -> Result<()>,
        leave: impl FnOnce() -> Result<()>,
    ) -> Closed<R>
    where
        F: for<'scope> FnOnce(Epoch<'scope, 'env, T>) -> R,
    {
        ended(|| self.world.scope(|operations| body(Epoch { members: self, operations, target })), end, leave)
    }

    /// Waits until the buffers of all operations, or of those to one target, are the program's again.
    fn land(&self, target: Option<i32>) -> Result<()> {
        let one;
        let targets = match target {
            Some(crate::ids::PROC_NULL) => return Ok(()),
            Some(rank) => {
                one = [self.window.target(rank)?];
                Targets::These(&one)
            }
            None => Targets::All,
        };
        self.world.complete("the end of an access", &self.window, targets, Extent::Local)
    }

    /// # Errors
    /// A synchronisation has failed; `MPIX_ERR_REVOKED`.
    fn check(&self) -> Result<()> {
        self.window.check_revoked()?;
        if self.is_broken.get() {
            let got = "one of which a synchronisation has failed";
            return Err(Error::invalid(
                ErrorClass::RmaSync,
                "the window",
                got,
                "one that all ranks synchronise",
            ));
        }
        Ok(())
    }

    /// Remembers that a synchronisation has failed.
    fn unbroken(&self, synchronised: Result<()>) -> Result<()> {
        if synchronised.is_err() {
            self.is_broken.set(true);
        }
        synchronised
    }
}

// Accesses whose buffers are lent until the end of the epoch.
impl<'scope, 'env, T: Equivalence> Epoch<'scope, 'env, T> {
    /// As [`World::put`].
    ///
    /// # Errors
    /// As [`World::put`].
    #[inline]
    pub fn put(&self, data: &'scope [T], to: Spot) -> Result<()> {
        let at = self.at(to, data.len())?;
        let Members { world, window, .. } = self.members;
        if run(data).is_some_and(|data| window.put_now(data, to)) {
            return Ok(());
        }
        to_the_end(|| world.put(window, SendBuf::new(data).lend(), &at, false)).map(drop)
    }

    /// As [`World::get`].
    ///
    /// # Errors
    /// As [`World::get`].
    #[inline]
    pub fn get(&self, into: &'scope mut [T], from: Spot) -> Result<()> {
        let at = self.at(from, into.len())?;
        let Members { world, window, .. } = self.members;
        if run_mut(into).is_some_and(|into| window.get_now(into, from)) {
            return Ok(());
        }
        to_the_end(|| world.get(window, RecvBuf::new(into).lend(), &at, false)).map(drop)
    }

    /// As [`World::accumulate`]; `old` gets what the elements were.
    ///
    /// # Errors
    /// As [`World::accumulate`]; an operation that `T` does not have.
    pub fn accumulate(
        &self,
        data: &'scope [T],
        old: Option<&'scope mut [T]>,
        to: Spot,
        op: Predefined,
    ) -> Result<()> {
        let at = self.at(to, data.len())?;
        let what = (Window::element(&at, &[], &Op::from(op))?, op);
        let Members { world, window, .. } = self.members;
        let old = same_length(data, old)?.map(|old| RecvBuf::new(old).lend());
        let data = Some(SendBuf::new(data).lend());
        to_the_end(|| world.accumulate(window, data, old, &at, what, false)).map(drop)
    }

    /// As [`Epoch::put`], with a request (`MPI_Rput`).
    ///
    /// # Errors
    /// As [`World::put`].
    pub fn rput(&self, call: &'static str, data: &'scope [T], to: Spot) -> Result<Operation<'scope>> {
        let at = self.at(to, data.len())?;
        let Members { world, window, .. } = self.members;
        self.operations.started(call, |_| world.put(window, SendBuf::new(data).lend(), &at, true))
    }

    /// As [`Epoch::get`], with a request (`MPI_Rget`).
    ///
    /// # Errors
    /// As [`World::get`].
    pub fn rget(&self, call: &'static str, into: &'scope mut [T], from: Spot) -> Result<Operation<'scope>> {
        let at = self.at(from, into.len())?;
        let Members { world, window, .. } = self.members;
        self.operations.started(call, |_| world.get(window, RecvBuf::new(into).lend(), &at, true))
    }

    /// As [`Epoch::accumulate`], with a request (`MPI_Raccumulate`, `MPI_Rget_accumulate`).
    ///
    /// # Errors
    /// As [`Epoch::accumulate`].
    pub fn raccumulate(
        &self,
        call: &'static str,
        data: &'scope [T],
        old: Option<&'scope mut [T]>,
        to: Spot,
        op: Predefined,
    ) -> Result<Operation<'scope>> {
        let at = self.at(to, data.len())?;
        let what = (Window::element(&at, &[], &Op::from(op))?, op);
        let Members { world, window, .. } = self.members;
        let old = same_length(data, old)?.map(|old| RecvBuf::new(old).lend());
        let data = Some(SendBuf::new(data).lend());
        self.operations.started(call, |_| world.accumulate(window, data, old, &at, what, true))
    }
}

// Accesses to one element, which are over when they return.
impl<T: Equivalence> Epoch<'_, '_, T> {
    /// As [`World::put`], until the value has left.
    ///
    /// # Errors
    /// As [`World::put`].
    #[inline]
    pub fn put_one(&self, value: T, to: Spot) -> Result<()> {
        let at = self.at(to, 1)?;
        let Members { world, window, .. } = self.members;
        let data = std::slice::from_ref(&value);
        if run(data).is_some_and(|data| window.put_now(data, to)) {
            return Ok(());
        }
        self.landed(to, || world.put(window, SendBuf::new(data).lend(), &at, false).map(drop))
    }

    /// As [`World::get`], until the value is there.
    ///
    /// # Errors
    /// As [`World::get`].
    #[inline]
    pub fn get_one(&self, from: Spot) -> Result<T> {
        let at = self.at(from, 1)?;
        let Members { world, window, .. } = self.members;
        let mut value = zeroed::<T>();
        let into = std::slice::from_mut(&mut value);
        if run_mut(into).is_some_and(|into| window.get_now(into, from)) {
            return Ok(value);
        }
        self.landed(from, || world.get(window, RecvBuf::new(into).lend(), &at, false).map(drop))?;
        Ok(value)
    }

    /// As [`World::accumulate`] of one element, until what it was is there.
    ///
    /// # Errors
    /// As [`Epoch::accumulate`].
    #[inline]
    pub fn fetch_and_op(&self, operand: T, to: Spot, op: Predefined) -> Result<T> {
        let at = self.at(to, 1)?;
        let Members { world, window, datatype, .. } = self.members;
        let (mut old, operand) = (zeroed::<T>(), std::slice::from_ref(&operand));
        let into = std::slice::from_mut(&mut old);
        if let Some(element) = datatype.builtin()
            && let (Some(operand), Some(into)) = (run(operand), run_mut(into))
            && window.update_now(element, op, Some(operand), Some(into), to)
        {
            return Ok(old);
        }
        let what = (Window::element(&at, &[], &Op::from(op))?, op);
        let (operand, into) = (Some(SendBuf::new(operand).lend()), Some(RecvBuf::new(into).lend()));
        self.landed(to, || world.accumulate(window, operand, into, &at, what, false).map(drop))?;
        Ok(old)
    }

    /// As [`World::compare_and_swap`], until what the element was is there.
    ///
    /// # Errors
    /// As [`World::compare_and_swap`]; `MPI_ERR_TYPE` for elements of several numbers.
    #[inline]
    pub fn compare_and_swap(&self, expected: T, new: T, to: Spot) -> Result<T> {
        let at = self.at(to, 1)?;
        let Members { world, window, datatype, .. } = self.members;
        let element: &'static Builtin = datatype.builtin().ok_or_else(|| {
            let expected = "elements of one number";
            Error::invalid(ErrorClass::Type, "the element", datatype.name(), expected)
        })?;
        let mut old = zeroed::<T>();
        let [expected, new] = [&expected, &new].map(std::slice::from_ref);
        let into = std::slice::from_mut(&mut old);
        if let (Some(expected), Some(new), Some(into)) = (run(expected), run(new), run_mut(into))
            && window.swap_now(element, [expected, new, into], to)
        {
            return Ok(old);
        }
        let both = (SendBuf::new(expected).lend(), SendBuf::new(new).lend());
        let into = RecvBuf::new(into).lend();
        self.landed(to, || world.compare_and_swap(window, both, into, &at, element))?;
        Ok(old)
    }

    /// Starts an access, and waits until its buffers are over with, also when it has failed half-way.
    fn landed(&self, to: Spot, access: impl FnOnce() -> Result<()>) -> Result<()> {
        to_the_end(|| {
            let started = access();
            started.and(self.members.land(Some(to.rank)))
        })
    }
}

impl<'scope, 'env, T: Equivalence> Epoch<'scope, 'env, T> {
    /// The elements of a member that loads and stores reach; `None`: they do not.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`; elements that are not aligned.
    pub fn cells(&self, rank: i32) -> Result<Option<Cells<'scope, T>>> {
        let at = self.at(Spot { rank, disp: 0 }, 0)?;
        let Members { world, window, .. } = self.members;
        world.locate(window, &at, 0, false)?;
        let target = window.target(rank)?;
        world.learn("Epoch::cells", window, target)?;
        let part = window.part(target)?;
        let Some(base) = part.base else { return Ok(None) };
        Cells::new(base, count::<T>(part.size)).map(Some).ok_or_else(|| not_aligned::<T>(rank))
    }

    /// As [`World::flush`].
    ///
    /// # Errors
    /// As [`World::flush`].
    #[inline]
    pub fn flush(&self, call: &'static str, target: Option<i32>, extent: Extent) -> Result<()> {
        let Members { world, window, .. } = self.members;
        if window.flush_now(target) {
            return Ok(());
        }
        world.flush(call, window, target, extent)
    }

    /// As [`World::sync_window`].
    pub fn sync(&self) {
        self.members.world.sync_window(&self.members.window);
    }

    /// Runs `body` with buffers that are lent to it alone, and flushes them.
    pub fn flushed<'inner, F, R>(&'inner self, call: &'static str, body: F) -> Closed<R>
    where
        F: for<'part> FnOnce(Epoch<'part, 'inner, T>) -> R,
    {
        let members = self.members;
        let flush = || members.world.flush(call, &members.window, self.target, Extent::Target);
        members.within(self.target, body, flush, || members.land(self.target))
    }

    /// The operations with requests.
    pub fn operations(&self) -> &Scope<'scope, 'env> {
        &self.operations
    }

    /// So many elements at a place.
    #[inline]
    fn at(&self, Spot { rank, disp }: Spot, count: usize) -> Result<At<'env>> {
        if let Some(only) = self.target.filter(|only| *only != rank) {
            return Err(other_target(rank, only));
        }
        Ok(At { rank, disp, count: count as u64, datatype: &self.members.datatype })
    }
}

impl<T: Equivalence> Exposed<'_, T> {
    /// As [`World::test_exposure`]; again true at every later call.
    ///
    /// # Errors
    /// As [`World::test_exposure`].
    pub fn test(&self) -> Result<bool> {
        if !self.is_over.get() {
            let tested = self.members.world.test_exposure(&self.members.window);
            // What has failed is not waited for again.
            self.is_over.set(!matches!(tested, Ok(false)));
            self.members.unbroken(tested.map(drop))?;
        }
        Ok(self.is_over.get())
    }
}

/// Runs `body`, then `end`; `leave` if `body` panics.
fn ended<R>(
    body: impl FnOnce() -> R,
    end: impl FnOnce() -> Result<()>,
    leave: impl FnOnce() -> Result<()>,
) -> Closed<R> {
    struct Leave<F: FnOnce() -> Result<()>>(Option<F>);
    impl<F: FnOnce() -> Result<()>> Drop for Leave<F> {
        fn drop(&mut self) {
            if let Some(leave) = self.0.take() {
                // There is a panic to report already.
                let _ = to_the_end(leave);
            }
        }
    }
    let mut panicked = Leave(Some(leave));
    let result = body();
    panicked.0 = None;
    (result, to_the_end(end))
}

/// Bytes of a unit of displacement.
fn unit<T>() -> u64 {
    size_of::<T>().max(1) as u64
}

/// Whole elements of so many bytes.
fn count<T>(bytes: u64) -> usize {
    (bytes / unit::<T>()) as usize
}

fn same_length<'a, T>(data: &[T], old: Option<&'a mut [T]>) -> Result<Option<&'a mut [T]>> {
    match old {
        Some(old) if old.len() != data.len() => {
            let expected = format_args!("{}, as of data", data.len());
            Err(Error::invalid(ErrorClass::Count, "the length of old", old.len(), expected))
        }
        old => Ok(old),
    }
}

#[cold]
fn not_aligned<T>(rank: i32) -> Error {
    let got = format_args!("memory of rank {rank} that is not aligned for them");
    let expected = format_args!("multiples of {} bytes at every rank", align_of::<T>());
    Error::invalid(ErrorClass::Buffer, "the elements' memory", got, expected)
}

#[cold]
fn other_target(rank: i32, only: i32) -> Error {
    let expected = format_args!("{only}, which this epoch has locked");
    Error::invalid(ErrorClass::RmaSync, "target_rank", crate::ids::Wrong(rank), expected)
}
