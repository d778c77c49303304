//! A lock that costs nothing when only one thread calls, and next to nothing when only one does so for a while.
//!
//! There is one around each VCI. MPI-5.0 §11.6: below `MPI_THREAD_MULTIPLE` the user promises that no two threads are
//! inside the library at once, so there is nothing to exclude; with it the lock is real.
//!
//! A real lock is *biased* to a thread that has entered it often while nobody else did. That thread enters by a plain store
//! and a look at whether it is still the owner, without the atomic instruction that would wait for its messages to
//! leave the core. Whoever else wants to enter takes the lock behind it, takes the bias back, runs a barrier in all
//! threads (membarrier), and waits until the owner has left. Where the system has no membarrier there is no bias.
//!
//! What must stay true: a thread makes itself the owner, and only while it holds the lock behind; so it has seen all that
//! was done before. The owner looks after it has said that it is inside, with the revoker's barrier between.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

use exclusion::Exclusion;

use crate::bias::Bias;
use crate::machine;

/// Mutual exclusion by thread level. Entering twice from one thread is a bug of ours or of a callback, which is said instead
/// of giving out the value twice or waiting for ever.
#[derive(Debug)]
pub struct Lock<T> {
    threaded: AtomicBool,
    locked: AtomicBool,
    /// The thread that is inside without the bias, where the lock excludes; 0 while there is none.
    holder: AtomicUsize,
    /// How often it has been entered, where it excludes; changed by whoever is inside.
    visits: AtomicU32,
    bias: Bias,
    raw: Exclusion,
    value: UnsafeCell<T>,
}

// SAFETY: with `threaded` set, `raw` and `bias` exclude other threads. Without it, the creator promised through
// `Lock::new`'s contract that calls do not overlap.
unsafe impl<T: Send> Sync for Lock<T> {}

impl<T> Lock<T> {
    /// A lock around `value`. While `threaded` is false the lock does not exclude other threads.
    ///
    /// # Safety
    /// If `threaded` is false, no two threads may call [`Lock::lock`] at overlapping times (MPI's promise below
    /// `MPI_THREAD_MULTIPLE`; the typed Rust API keeps it by types).
    pub unsafe fn new(value: T, threaded: bool) -> Self {
        Self {
            threaded: AtomicBool::new(threaded),
            locked: AtomicBool::new(false),
            holder: AtomicUsize::new(0),
            visits: AtomicU32::new(0),
            bias: Bias::new(threaded && exclusion::MAY_BE_BIASED),
            raw: Exclusion::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// Excludes other threads from now on. So far only the calling one has entered, and it starts the others afterwards.
    ///
    /// # Panics
    /// When the calling thread is inside.
    pub fn exclude_from_now_on(&self) {
        assert!(!self.locked.load(Ordering::Relaxed), "a lock that is held cannot change");
        if !self.threaded.swap(true, Ordering::Relaxed) && exclusion::MAY_BE_BIASED {
            self.bias.allow();
        }
    }

    /// Enters.
    ///
    /// # Panics
    /// When the same thread is inside already (only a callback that calls back into the library can do that).
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        self.lock_unless_inside(entered_twice)
    }

    /// Enters; `is_inside` says what is wrong when the same thread is inside already.
    #[inline]
    pub fn lock_unless_inside(&self, is_inside: fn() -> !) -> Guard<'_, T> {
        Guard { lock: self, biased: self.enter(is_inside), on_one_thread: PhantomData }
    }

    /// Enters; whether by the bias.
    #[inline(always)]
    fn enter(&self, is_inside: fn() -> !) -> bool {
        let biased = self.threaded.load(Ordering::Relaxed) && self.exclude(is_inside);
        if self.locked.load(Ordering::Relaxed) {
            is_inside();
        }
        self.locked.store(true, Ordering::Relaxed);
        biased
    }

    /// Leaves, as it was entered.
    #[inline(always)]
    fn leave(&self, biased: bool) {
        self.locked.store(false, Ordering::Relaxed);
        if self.threaded.load(Ordering::Relaxed) {
            self.stop_excluding(biased);
        }
    }

    #[inline]
    fn stop_excluding(&self, biased: bool) {
        if biased {
            return self.bias.leave(machine::this_thread());
        }
        self.bias.count(machine::this_thread());
        self.holder.store(0, Ordering::Relaxed);
        // SAFETY: whoever leaves has entered, and without the bias by locking; `threaded` does not change while somebody
        // is inside.
        unsafe { self.raw.unlock() };
    }

    /// Keeps other threads out; whether by the bias.
    #[inline]
    fn exclude(&self, is_inside: fn() -> !) -> bool {
        let biased = self.bias.enter(machine::this_thread());
        if !biased {
            self.exclude_all(is_inside);
        }
        self.visits.store(self.visits.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        biased
    }

    #[inline(never)]
    fn exclude_all(&self, is_inside: fn() -> !) {
        let thread = machine::this_thread();
        // What is looked at has this thread's number only if this thread has written it.
        if self.holder.load(Ordering::Relaxed) == thread || self.bias.is_inside(thread) {
            is_inside();
        }
        self.raw.lock();
        self.bias.revoke();
        self.holder.store(thread, Ordering::Relaxed);
    }

    /// How often threads have entered so far, going round; nothing where the lock does not exclude.
    pub fn visits(&self) -> u32 {
        self.visits.load(Ordering::Relaxed)
    }

    /// Whether the lock really excludes.
    #[inline]
    pub fn is_threaded(&self) -> bool {
        self.threaded.load(Ordering::Relaxed)
    }
}

#[cold]
fn entered_twice() -> ! {
    panic!("a callback called back into the library")
}

/// Access to the value; leaves when dropped.
#[derive(Debug)]
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
    biased: bool,
    /// Neither leaves its thread nor is shared: the lock must be left where it was entered.
    on_one_thread: PhantomData<*const ()>,
}

impl<T> Guard<'_, T> {
    /// Whether no other thread has been inside for a while.
    #[inline]
    pub fn is_alone(&self) -> bool {
        self.biased || !self.lock.is_threaded() || self.lock.bias.is_alone(machine::this_thread())
    }

    /// Leaves, does something, and enters again.
    pub fn leave_while<R>(&mut self, what: impl FnOnce() -> R) -> R {
        struct Enter<'a, 'b, T>(&'a mut Guard<'b, T>);
        impl<T> Drop for Enter<'_, '_, T> {
            fn drop(&mut self) {
                self.0.biased = self.0.lock.enter(entered_twice);
            }
        }
        let enter = Enter(self);
        enter.0.lock.leave(enter.0.biased);
        what()
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists only while `locked`, so nobody else has the value (see `Lock`).
        unsafe { &*self.lock.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` excludes other borrows through this guard.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.lock.leave(self.biased);
    }
}

/// A mutex for what is off the path of messages; like [`Lock`], it is one that race detectors understand when built for
/// them.
#[derive(Debug)]
pub struct Mutex<T> {
    raw: Exclusion,
    value: UnsafeCell<T>,
}

// SAFETY: `with` reaches the value only while it holds `raw`.
unsafe impl<T: Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    /// A mutex around `value`.
    pub fn new(value: T) -> Self {
        Self { raw: Exclusion::new(), value: UnsafeCell::new(value) }
    }

    /// Does something with the value, alone. It must not come back here.
    pub fn with<R>(&self, what: impl FnOnce(&mut T) -> R) -> R {
        struct Unlock<'a>(&'a Exclusion);
        impl Drop for Unlock<'_> {
            fn drop(&mut self) {
                // SAFETY: locked just before this value was made.
                unsafe { self.0.unlock() }
            }
        }
        self.raw.lock();
        let _unlock = Unlock(&self.raw);
        // SAFETY: nobody else is between `lock` and `unlock`.
        what(unsafe { &mut *self.value.get() })
    }
}

impl<T: Default> Default for Mutex<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// What really excludes.
#[cfg(not(helgrind))]
mod exclusion;

/// The same by pthreads, which valgrind's race detectors understand: only with `--cfg helgrind`. They know nothing of
/// barriers run by the system, so there is no bias.
#[cfg(helgrind)]
mod exclusion {
    use std::cell::UnsafeCell;

    pub(super) const MAY_BE_BIASED: bool = false;

    pub(super) struct Exclusion(UnsafeCell<libc::pthread_mutex_t>);

    // SAFETY: a mutex is there to be used by several threads.
    unsafe impl Send for Exclusion {}
    // SAFETY: as above.
    unsafe impl Sync for Exclusion {}

    impl Exclusion {
        pub(super) fn new() -> Self {
            Self(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER))
        }

        pub(super) fn lock(&self) {
            // SAFETY: initialised in `new`; a `Lock` is not moved any more once it is in use.
            assert_eq!(unsafe { libc::pthread_mutex_lock(self.0.get()) }, 0);
        }

        /// # Safety
        /// The calling thread holds it.
        pub(super) unsafe fn unlock(&self) {
            // SAFETY: as in `lock`, and as the caller promised.
            assert_eq!(unsafe { libc::pthread_mutex_unlock(self.0.get()) }, 0);
        }
    }
}

impl std::fmt::Debug for Exclusion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Exclusion")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_excluded_when_asked() {
        // SAFETY: `threaded` is true.
        let lock = unsafe { Lock::new(0u64, true) };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| *lock.lock() += 1));
            }
        });
        assert_eq!(*lock.lock(), 4000);
    }

    #[test]
    fn a_thread_that_enters_twice_is_told_so() {
        // Without exclusion, with it, and by the bias.
        for (threaded, turns) in [(false, 1), (true, 1), (true, 5000)] {
            // SAFETY: one thread calls.
            let lock = unsafe { Lock::new(0u64, threaded) };
            (0..turns).for_each(|_| *lock.lock() += 1);
            let inside = lock.lock();
            let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(lock.lock())));
            assert!(again.is_err(), "{threaded} {turns}");
            drop(inside);
        }
    }

    #[test]
    fn a_bias_comes_and_goes() {
        // SAFETY: `threaded` is true.
        let lock = unsafe { Lock::new(0u64, true) };
        let mut biased = 0;
        for turn in 0..20 {
            // Alone for long enough, then side by side with another thread.
            (0..5000).for_each(|_| *lock.lock() += 1);
            biased += u64::from(lock.lock().biased);
            assert!(lock.lock().is_alone());
            std::thread::scope(|scope| {
                scope.spawn(|| (0..100 + turn).for_each(|_| *lock.lock() += 1));
                (0..1000).for_each(|_| *lock.lock() += 1);
            });
        }
        assert_eq!(*lock.lock(), 20 * 6000 + (0..20).map(|turn| 100 + turn).sum::<u64>());
        assert!(biased > 0 || !lock.bias.is_usable(), "it was never biased");
    }
}
