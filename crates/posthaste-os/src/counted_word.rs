//! A word in memory that several processes have mapped, which says how far its writer has come: the fences and epochs of windows of
//! one-sided communication (MPI-5.0 §12.5).
//!
//! What must stay true: it has one writer and only grows; who sees a count sees what the writer did before it. Who waits for one looks
//! once more between saying that it sleeps and sleeping, and who has seen all counts rings those who sleep. Proved by
//! `tests/loom.rs`.

use std::sync::atomic::Ordering;

use crate::memory::AtomicU64;

/// A count. Zeros are one that has not begun.
#[derive(Debug)]
#[repr(transparent)]
pub struct CountedWord(AtomicU64);

#[cfg(not(loom))]
const _: () = assert!(size_of::<CountedWord>() == 8);

impl Default for CountedWord {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl CountedWord {
    /// Its writer has come so far, which it knows by itself: to look here, where others have looked, would take a hand-off.
    #[inline]
    pub fn counts(&self, count: u64) {
        // SYNC: pairs with the load in `count`: what came before is seen.
        self.0.store(count, Ordering::Release);
    }

    /// How far its writer has come.
    #[inline]
    pub fn count(&self) -> u64 {
        // SYNC: pairs with the store in `counts`.
        self.0.load(Ordering::Acquire)
    }
}
