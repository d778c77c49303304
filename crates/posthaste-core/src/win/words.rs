//! The words by which members of a window whose memory is mapped lock each other's memory: a line for each target, in front
//! of the memory.
//!
//! ```text
//!   0   lock      exclusive holder + 1 (high half) | shared holders (low half)
//!   8   writers   members that wait for an exclusive lock
//!   16  waiters   members that wait for any
//!   24  busy      a member changes elements that the processor cannot change in one step
//! ```
//!
//! A target takes no part in any of it. What must stay true: one exclusive holder or any number of shared ones; who waits
//! has said so before it looks once more and sleeps, and who gives a lock back looks for waiters afterwards. Shared locks
//! stand back behind who waits for an exclusive one.

use std::sync::atomic::Ordering;

use posthaste_os::mapped::{Mapped, PAGE};

use super::LockKind;

/// Bytes of the words of one target: a cache line.
const LINE: usize = 64;
const LOCK: usize = 0;
const WRITERS: usize = 8;
const WAITERS: usize = 16;
const BUSY: usize = 24;
/// Where the exclusive holder stands.
const HOLDER: u32 = 32;

/// Bytes of the words of so many members, whole pages.
pub fn control(members: usize) -> usize {
    (members * LINE).next_multiple_of(PAGE)
}

/// The words of one target.
#[derive(Clone, Copy, Debug)]
pub struct Words<'a> {
    memory: &'a Mapped,
    at: usize,
}

impl<'a> Words<'a> {
    /// Those of a target.
    #[inline]
    pub fn of(memory: &'a Mapped, target: usize) -> Self {
        Self { memory, at: target * LINE }
    }

    /// Takes the lock for a member, unless somebody else has it, or wants it exclusively.
    pub fn try_lock(self, me: u32, kind: LockKind) -> bool {
        let word = self.memory.word(self.at + LOCK);
        match kind {
            LockKind::Exclusive => {
                let mine = u64::from(me + 1) << HOLDER;
                // SYNC: pairs with the Release in `unlock`: what was done under the lock before is seen.
                word.compare_exchange(0, mine, Ordering::Acquire, Ordering::Relaxed).is_ok()
            }
            LockKind::Shared => {
                let stands_back = self.memory.word(self.at + WRITERS).load(Ordering::Relaxed) > 0;
                let more = |held: u64| (held >> HOLDER == 0 && !stands_back).then_some(held + 1);
                // SYNC: as above.
                word.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
            }
        }
    }

    /// Gives the lock back. Whether somebody waits for it.
    pub fn unlock(self, kind: LockKind) -> bool {
        let word = self.memory.word(self.at + LOCK);
        match kind {
            // SYNC: pairs with the Acquire in `try_lock`; sequentially consistent, so that the look at the waiters comes
            // after it (see `waits`).
            LockKind::Exclusive => _ = word.swap(0, Ordering::SeqCst),
            LockKind::Shared => _ = word.fetch_sub(1, Ordering::SeqCst),
        }
        self.memory.word(self.at + WAITERS).load(Ordering::SeqCst) > 0
    }

    /// A member waits from now on.
    pub fn waits(self, kind: LockKind) {
        if kind == LockKind::Exclusive {
            self.memory.word(self.at + WRITERS).fetch_add(1, Ordering::SeqCst);
        }
        // SYNC: comes before the waiter's next look at the lock, in the one order of all such steps.
        self.memory.word(self.at + WAITERS).fetch_add(1, Ordering::SeqCst);
    }

    /// A member waits no more.
    pub fn waits_no_more(self, kind: LockKind) {
        if kind == LockKind::Exclusive {
            self.memory.word(self.at + WRITERS).fetch_sub(1, Ordering::SeqCst);
        }
        self.memory.word(self.at + WAITERS).fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a lock of this kind could be taken.
    pub fn is_free(self, kind: LockKind) -> bool {
        let held = self.memory.word(self.at + LOCK).load(Ordering::SeqCst);
        let wanted = self.memory.word(self.at + WRITERS).load(Ordering::SeqCst) > 0;
        match kind {
            LockKind::Exclusive => held == 0,
            LockKind::Shared => held >> HOLDER == 0 && !wanted,
        }
    }

    /// Who has the lock: the exclusive holder, and how many shared ones.
    pub fn holders(self) -> (Option<u32>, u32) {
        let held = self.memory.word(self.at + LOCK).load(Ordering::Relaxed);
        (((held >> HOLDER) as u32).checked_sub(1), held as u32)
    }

    /// Takes the lock under which elements are changed that the processor cannot change in one step, unless somebody has it.
    pub fn try_busy(self) -> bool {
        // SYNC: pairs with the Release in `idle`.
        self.memory.word(self.at + BUSY).compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Gives that lock back.
    pub fn idle(self) {
        // SYNC: pairs with the Acquire in `try_busy`.
        self.memory.word(self.at + BUSY).store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_writer_or_several_readers_and_readers_stand_back() {
        let (memory, _) = Mapped::create(control(3)).unwrap();
        let words = Words::of(&memory, 2);
        assert!(words.try_lock(0, LockKind::Shared) && words.try_lock(1, LockKind::Shared));
        assert!(!words.try_lock(2, LockKind::Exclusive));
        words.waits(LockKind::Exclusive);
        assert!(!words.try_lock(2, LockKind::Shared), "a writer waits");
        assert!(words.unlock(LockKind::Shared));
        assert_eq!(words.holders(), (None, 1));
        assert!(!words.is_free(LockKind::Exclusive) && words.unlock(LockKind::Shared));
        assert!(words.try_lock(1, LockKind::Exclusive));
        words.waits_no_more(LockKind::Exclusive);
        assert_eq!(words.holders(), (Some(1), 0));
        assert!(!words.try_lock(0, LockKind::Shared) && !words.is_free(LockKind::Shared));
        assert!(!words.unlock(LockKind::Exclusive) && words.is_free(LockKind::Exclusive));
        assert!(Words::of(&memory, 1).is_free(LockKind::Exclusive), "targets have locks of their own");
    }

    #[test]
    fn one_at_a_time_is_busy() {
        let (memory, _) = Mapped::create(control(1)).unwrap();
        let words = Words::of(&memory, 0);
        assert!(words.try_busy() && !words.try_busy());
        words.idle();
        assert!(words.try_busy());
    }
}
