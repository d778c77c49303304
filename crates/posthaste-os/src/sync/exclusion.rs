//! Mutual exclusion by one word and the system's futex.
//!
//! Nothing of it is outside the word, so two copies of this code in one process (the C library and a program with the crate
//! linked in) exclude each other; a lock whose sleepers stand in a table of its library does not.
//!
//! What must stay true: who leaves a lock for which somebody sleeps wakes one; a sleeper that has been passed over a few
//! times gets the lock handed over, for threads that poll enter again at once and would leave it none.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const CONTENDED: u32 = 2;
/// Held by whoever has slept and comes first.
const HANDED: u32 = 3;
/// Looks before a thread sleeps.
const LOOKS: u32 = 60;
/// Times that a thread is woken for nothing before the lock is handed to it.
const PATIENCE: u32 = 2;

pub(super) const MAY_BE_BIASED: bool = true;

pub(super) struct Exclusion {
    state: AtomicU32,
    /// Threads that have lost their patience.
    starving: AtomicU32,
}

impl Exclusion {
    pub(super) fn new() -> Self {
        Self { state: AtomicU32::new(FREE), starving: AtomicU32::new(0) }
    }

    #[inline]
    pub(super) fn lock(&self) {
        if self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.wait();
        }
    }

    /// # Safety
    /// The calling thread holds it.
    #[inline]
    pub(super) unsafe fn unlock(&self) {
        // SYNC: pairs with the Acquire in `lock` and `take`.
        if self.state.compare_exchange(HELD, FREE, Ordering::Release, Ordering::Relaxed).is_err() {
            self.wake();
        }
    }

    fn take(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self) {
        for _ in 0..LOOKS {
            match self.state.load(Ordering::Relaxed) {
                FREE if self.take(FREE, HELD) => return,
                FREE | HELD => spin_loop(),
                _ => break, // others sleep already
            }
        }
        let mut woken = 0;
        loop {
            let seen = self.state.load(Ordering::Relaxed);
            // Others may sleep, so from now on it is held as contended.
            let taken = match seen {
                FREE => self.take(FREE, CONTENDED),
                HANDED => woken > 0 && self.take(HANDED, CONTENDED),
                _ => false,
            };
            if taken {
                break;
            }
            if seen == FREE || (seen == HANDED && woken > 0) || (seen == HELD && !self.take(HELD, CONTENDED))
            {
                continue; // it has just changed
            }
            sleep(&self.state, if seen == HELD { CONTENDED } else { seen });
            woken += 1;
            if woken == PATIENCE {
                self.starving.fetch_add(1, Ordering::Relaxed);
            }
        }
        if woken >= PATIENCE {
            self.starving.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Leaves when somebody may sleep.
    #[cold]
    fn wake(&self) {
        let next = if self.starving.load(Ordering::Relaxed) > 0 { HANDED } else { FREE };
        // SYNC: as in `unlock`.
        self.state.store(next, Ordering::Release);
        // SAFETY: an address that nobody reads; that of a lock which is gone meanwhile wakes nobody who minds.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                self.state.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                1,
            );
        }
    }
}

/// Sleeps until woken, unless the word has another value.
fn sleep(word: &AtomicU32, value: u32) {
    let forever = std::ptr::null::<libc::timespec>();
    // SAFETY: a word that lives, and no time limit.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            value,
            forever,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::UnsafeCell;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    struct Counted(Exclusion, UnsafeCell<u64>);
    // SAFETY: the number is reached only while the lock is held.
    unsafe impl Sync for Counted {}

    impl Counted {
        fn add(&self) -> u64 {
            self.0.lock();
            // SAFETY: held.
            unsafe {
                *self.1.get() += 1;
                let count = *self.1.get();
                self.0.unlock();
                count
            }
        }
    }

    #[test]
    fn threads_that_sleep_and_spin_are_excluded() {
        let counted = Counted(Exclusion::new(), UnsafeCell::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| (0..20_000).for_each(|_| _ = counted.add()));
            }
        });
        assert_eq!(counted.add(), 160_001);
        assert_eq!(counted.0.starving.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_thread_that_polls_starves_nobody() {
        let (counted, over) = (Counted(Exclusion::new(), UnsafeCell::new(0)), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !over.load(Ordering::Relaxed) {
                        counted.0.lock();
                        let until = Instant::now() + Duration::from_micros(200);
                        while Instant::now() < until {}
                        // SAFETY: held.
                        unsafe { counted.0.unlock() };
                    }
                });
            }
            let start = Instant::now();
            (0..50).for_each(|_| _ = counted.add());
            over.store(true, Ordering::Relaxed);
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
        });
    }
}
