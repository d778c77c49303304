//! A lock that costs nothing when only one thread calls.
//!
//! Called by `core::world` around each lane. MPI-5.0 §11.6: below `MPI_THREAD_MULTIPLE` the user promises that
//! no two threads are inside the library at once, so there is nothing to exclude; with it the lock is real.

use std::cell::UnsafeCell;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use exclusion::Exclusion;

/// Mutual exclusion by thread level. Entering twice from one thread is a bug of ours or of a callback and
/// panics instead of giving out the value twice.
#[derive(Debug)]
pub struct Lock<T> {
    threaded: AtomicBool,
    held: AtomicBool,
    /// How often it has been entered, where it excludes; changed by whoever is inside.
    visits: AtomicU32,
    raw: Exclusion,
    value: UnsafeCell<T>,
}

// SAFETY: with `threaded` set, `raw` excludes other threads. Without it, the creator promised through
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
            held: AtomicBool::new(false),
            visits: AtomicU32::new(0),
            raw: Exclusion::new(),
            value: UnsafeCell::new(value),
        }
    }

    /// Enters.
    ///
    /// # Panics
    /// When the same thread is inside already (only a callback that calls back into the library can do that).
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        if self.threaded.load(Ordering::Relaxed) {
            self.raw.lock();
            self.visits.store(self.visits.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        }
        assert!(!self.held.load(Ordering::Relaxed), "a callback called back into the library");
        self.held.store(true, Ordering::Relaxed);
        Guard { lock: self, on_one_thread: PhantomData }
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

/// Access to the value; leaves when dropped.
#[derive(Debug)]
pub struct Guard<'a, T> {
    lock: &'a Lock<T>,
    /// Neither leaves its thread nor is shared: the lock must be left where it was entered.
    on_one_thread: PhantomData<*const ()>,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the guard exists only while `held`, so nobody else has the value (see `Lock`).
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
    #[inline]
    fn drop(&mut self) {
        self.lock.held.store(false, Ordering::Relaxed);
        if self.lock.threaded.load(Ordering::Relaxed) {
            // SAFETY: this guard locked it in `Lock::lock`; `threaded` never changes after creation.
            unsafe { self.lock.raw.unlock() };
        }
    }
}

/// What really excludes.
#[cfg(not(helgrind))]
mod exclusion {
    use parking_lot::lock_api::RawMutex as _;

    pub(super) struct Exclusion(parking_lot::RawMutex);

    impl Exclusion {
        pub(super) fn new() -> Self {
            Self(parking_lot::RawMutex::INIT)
        }

        #[inline]
        pub(super) fn lock(&self) {
            self.0.lock();
        }

        /// # Safety
        /// The calling thread holds it.
        #[inline]
        pub(super) unsafe fn unlock(&self) {
            // SAFETY: as the caller promised.
            unsafe { self.0.unlock() };
        }
    }
}

/// The same by pthreads, which valgrind's race detectors understand: only with `--cfg helgrind`.
#[cfg(helgrind)]
mod exclusion {
    use std::cell::UnsafeCell;

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
}
