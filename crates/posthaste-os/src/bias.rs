//! The bias of a lock: a thread that enters it often, and nobody else does, gets in without an atomic instruction.
//!
//! The lock behind it is in `sync`; the barriers are those of `memory`, so that it can be modelled. The protocol is
//! that of `wake`: the owner writes a word and reads another one with no fence between them, and whoever wants to be
//! sure of having been seen runs one in every thread instead.
//!
//! What must stay true: after [`Bias::revoke`] the owner is not inside, and does not get in again without the lock behind.
//! A thread that is about to look whether it still has the bias writes a word that is its own for good, so it never undoes
//! what the next owner has said: of the threads that share a word, only the first one ever gets the bias.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::memory::{AtomicU32, AtomicU64, heavy_fence, join_fences, light_fence};

/// Turns in a row after which a thread counts as alone.
const ALONE: u32 = 16;
/// Turns in a row after which it gets the bias: at first, and at most, for each time that it is taken back doubles them.
const FIRST: u32 = if cfg!(loom) { 1 } else { 64 };
const MOST: u32 = 1 << 14;
/// Words for threads that may have the bias.
const WORDS: usize = 8;

/// Which thread may enter without the lock behind.
#[derive(Debug)]
pub struct Bias {
    usable: AtomicBool,
    /// The thread that has the bias, or 0. Changed only by who holds the lock behind.
    owner: AtomicU64,
    /// The thread that a word belongs to, or 0. Changed as `owner`.
    heirs: [AtomicU64; WORDS],
    /// That thread is inside by the bias, or about to look whether it may be.
    inside: [AtomicU32; WORDS],
    /// The thread that last held the lock behind, how often in a row, and how often it takes. Changed as `owner`.
    last: AtomicU64,
    turns: AtomicU32,
    needed: AtomicU32,
}

impl Bias {
    /// None so far; never any unless it is `wanted` and the system can run barriers.
    pub fn new(wanted: bool) -> Self {
        Self {
            usable: AtomicBool::new(wanted && join_fences()),
            owner: AtomicU64::new(0),
            heirs: std::array::from_fn(|_| AtomicU64::new(0)),
            inside: std::array::from_fn(|_| AtomicU32::new(0)),
            last: AtomicU64::new(0),
            turns: AtomicU32::new(0),
            needed: AtomicU32::new(FIRST),
        }
    }

    /// Whether there can be any.
    pub fn is_usable(&self) -> bool {
        self.usable.load(Ordering::Relaxed)
    }

    /// There may be one from now on, if the system can run barriers.
    pub fn allow(&self) {
        self.usable.store(join_fences(), Ordering::Relaxed);
    }

    /// Enters if this thread has the bias.
    #[inline(always)]
    pub fn enter(&self, thread: usize) -> bool {
        self.owner.load(Ordering::Relaxed) == thread as u64 && self.enter_own(thread)
    }

    #[inline(always)]
    fn enter_own(&self, thread: usize) -> bool {
        let inside = &self.inside[word(thread as u64)];
        inside.store(1, Ordering::Relaxed);
        light_fence();
        if self.owner.load(Ordering::Relaxed) == thread as u64 {
            return true;
        }
        inside.store(0, Ordering::Release);
        false
    }

    /// A thread that has entered leaves.
    #[inline(always)]
    pub fn leave(&self, thread: usize) {
        // SYNC: pairs with the Acquire in `take_back`.
        self.inside[word(thread as u64)].store(0, Ordering::Release);
    }

    /// Whether this thread has entered by the bias, which may have been taken back since.
    pub fn is_inside(&self, thread: usize) -> bool {
        let at = word(thread as u64);
        self.heirs[at].load(Ordering::Relaxed) == thread as u64
            && self.inside[at].load(Ordering::Relaxed) != 0
    }

    /// Takes the bias from whoever has it. The caller holds the lock behind.
    #[inline]
    pub fn revoke(&self) {
        match self.owner.load(Ordering::Relaxed) {
            0 => {}
            owner => self.take_back(owner),
        }
    }

    #[cold]
    fn take_back(&self, owner: u64) {
        self.owner.store(0, Ordering::Relaxed);
        heavy_fence();
        let mut looks = 0u32;
        while self.inside[word(owner)].load(Ordering::Acquire) != 0 {
            wait(looks);
            looks += 1;
        }
        let needed = self.needed.load(Ordering::Relaxed);
        self.needed.store((needed * 2).min(MOST), Ordering::Relaxed);
    }

    /// A thread that holds the lock behind is about to leave it: it has the bias from now on, if it has been alone for long
    /// enough.
    #[inline]
    pub fn count(&self, thread: usize) {
        if self.last.load(Ordering::Relaxed) != thread as u64 {
            self.last.store(thread as u64, Ordering::Relaxed);
            self.turns.store(0, Ordering::Relaxed);
            return;
        }
        let turns = self.turns.load(Ordering::Relaxed).saturating_add(1);
        self.turns.store(turns, Ordering::Relaxed);
        if self.is_usable() && turns >= self.needed.load(Ordering::Relaxed) {
            self.turns.store(0, Ordering::Relaxed);
            self.give(thread as u64);
        }
    }

    #[cold]
    fn give(&self, thread: u64) {
        let heir = &self.heirs[word(thread)];
        if heir.load(Ordering::Relaxed) == 0 {
            heir.store(thread, Ordering::Relaxed);
        }
        if heir.load(Ordering::Relaxed) == thread {
            self.owner.store(thread, Ordering::Relaxed);
        }
    }

    /// Whether this thread, which holds the lock behind, has been the only one for a while.
    #[inline]
    pub fn is_alone(&self, thread: usize) -> bool {
        self.last.load(Ordering::Relaxed) == thread as u64 && self.turns.load(Ordering::Relaxed) >= ALONE
    }
}

/// The word of a thread.
#[inline(always)]
fn word(thread: u64) -> usize {
    // Numbers of threads are addresses: the higher bits tell them apart.
    ((thread >> 6).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61) as usize % WORDS
}

/// The owner is inside: for a moment, unless it has lost its CPU.
fn wait(looks: u32) {
    #[cfg(loom)]
    {
        let _ = looks;
        loom::thread::yield_now();
    }
    #[cfg(not(loom))]
    match looks {
        0..100 => std::hint::spin_loop(),
        100..1000 => std::thread::yield_now(),
        _ => std::thread::sleep(std::time::Duration::from_micros(50)),
    }
}
