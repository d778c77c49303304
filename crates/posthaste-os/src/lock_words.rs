//! The words by which processes lock memory that all of them have mapped: windows of one-sided communication (MPI-5.0 §12.5.3).
//!
//! ```text
//!   0   lock      exclusive holder + 1 (high half) | shared holders (low half)
//!   8   writers   members that wait for an exclusive lock
//!   16  waiters   members that wait for any
//!   24  busy      the member + 1 that changes elements which the processor cannot change in one step
//!   32  passed    shared locks that were taken while members waited for an exclusive one
//!   40  overtaken exclusive ones that were taken meanwhile by members that had not waited
//!   48  tickets   that were given to members that wait for an exclusive lock
//!   56  turn      the ticket whose member gets the next one
//! ```
//!
//! What must stay true: one exclusive holder or any number of shared ones; who waits has said so before it looks once more and
//! sleeps, and who gives a lock back looks for waiters afterwards. So many shared locks pass who waits for an exclusive one, since who
//! holds a shared lock may wait for somebody who asks for another one, and so many exclusive ones, since waking somebody for each takes
//! longer than most of them last; those after them stand back. Those who wait for an exclusive lock get it in the order in which they
//! have begun to wait; one that does not look for its turn, because it is stopped, or runs something that waits in its turn, is passed by, and
//! waits behind the others from then on.
//! Proved by `tests/loom.rs`.

use std::sync::atomic::Ordering;

use crate::memory::AtomicU64;

/// Bytes of the words of one memory: a cache line.
pub const LINE: usize = 64;
/// Locks of each kind that pass those who wait for an exclusive one.
pub const PASSES: u64 = 64;
/// Where the exclusive holder stands.
const HOLDER: u32 = 32;

/// The words of one memory. Zeros are a lock that nobody has.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct LockWords {
    lock: AtomicU64,
    writers: AtomicU64,
    waiters: AtomicU64,
    busy: AtomicU64,
    passed: AtomicU64,
    overtaken: AtomicU64,
    tickets: AtomicU64,
    turn: AtomicU64,
}

/// A member that waits for a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiter {
    /// For a shared one.
    Shared,
    /// For an exclusive one, with this ticket.
    Exclusive(u64),
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<LockWords>() == LINE);

impl Default for LockWords {
    fn default() -> Self {
        let [lock, writers, waiters, busy, passed, overtaken, tickets, turn] = [0; 8].map(AtomicU64::new);
        Self { lock, writers, waiters, busy, passed, overtaken, tickets, turn }
    }
}

impl LockWords {
    /// Takes the lock for a member, unless somebody else has it, or enough have passed those who want it exclusively.
    pub fn try_lock(&self, me: u32, exclusive: bool) -> bool {
        if !exclusive {
            return self.try_shared();
        }
        let overtakes = self.writers.load(Ordering::Relaxed) > 0;
        if overtakes && self.overtaken.load(Ordering::Relaxed) >= PASSES {
            return false;
        }
        let taken = self.try_exclusive(me);
        if taken && overtakes {
            self.overtaken.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// The same for a member that waits. Its ticket may be another one then: its turn has passed while it did not look.
    pub fn try_lock_in_turn(&self, me: u32, waiter: &mut Waiter) -> bool {
        let Waiter::Exclusive(ticket) = waiter else { return self.try_shared() };
        // SYNC: an old turn is at worst too low, and the holder's own step on the lock comes before anything that it protects.
        let turn = self.turn.load(Ordering::SeqCst);
        if turn > *ticket {
            *ticket = self.tickets.fetch_add(1, Ordering::Relaxed);
        }
        let taken = turn == *ticket && self.try_exclusive(me);
        if taken {
            self.overtaken.store(0, Ordering::Relaxed);
            // Others may have passed it between our look and the step on the lock; were it to go back, it would stop at a ticket
            // whose member has gone.
            self.turn.fetch_max(*ticket + 1, Ordering::Relaxed);
        }
        taken
    }

    /// Whose turn it is, where nobody has the lock.
    pub fn turn(&self) -> Option<u64> {
        let held = self.lock.load(Ordering::SeqCst);
        (held == 0).then(|| self.turn.load(Ordering::SeqCst))
    }

    /// Nobody has taken the lock in this turn for long though it is free: it passes.
    pub fn pass(&self, turn: u64) {
        let _ = self.turn.compare_exchange(turn, turn + 1, Ordering::SeqCst, Ordering::SeqCst);
    }

    #[inline]
    fn try_exclusive(&self, me: u32) -> bool {
        let mine = u64::from(me + 1) << HOLDER;
        // SYNC: pairs with the step in `unlock`: what was done under the lock before is seen.
        let taken = self.lock.compare_exchange(0, mine, Ordering::Acquire, Ordering::Relaxed).is_ok();
        if taken && self.passed.load(Ordering::Relaxed) > 0 {
            self.passed.store(0, Ordering::Relaxed);
        }
        taken
    }

    #[inline]
    fn try_shared(&self) -> bool {
        let passes = self.writers.load(Ordering::Relaxed) > 0;
        let stands_back = passes && self.passed.load(Ordering::Relaxed) >= PASSES;
        let more = |held: u64| (held >> HOLDER == 0 && !stands_back).then_some(held + 1);
        // SYNC: as above.
        let taken = self.lock.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok();
        if taken && passes {
            self.passed.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }

    /// Gives the lock back. Whether somebody waits for it.
    pub fn unlock(&self, exclusive: bool) -> bool {
        // SYNC: pairs with the Acquire in `try_lock`; sequentially consistent, so that the look at the waiters comes after it
        // (see `waits`).
        if exclusive {
            self.lock.swap(0, Ordering::SeqCst);
        } else {
            self.lock.fetch_sub(1, Ordering::SeqCst);
        }
        in_one_order();
        self.waiters.load(Ordering::SeqCst) > 0
    }

    /// A member waits from now on.
    pub fn waits(&self, exclusive: bool) -> Waiter {
        let waiter = if exclusive {
            self.writers.fetch_add(1, Ordering::SeqCst);
            Waiter::Exclusive(self.tickets.fetch_add(1, Ordering::Relaxed))
        } else {
            Waiter::Shared
        };
        // SYNC: comes before the waiter's next look at the lock, in the one order of all such steps.
        self.waiters.fetch_add(1, Ordering::SeqCst);
        in_one_order();
        waiter
    }

    /// A member waits no more: it has the lock, or has given up since a member is lost. The turn of who gives up before it has come
    /// comes all the same, and passes.
    pub fn waits_no_more(&self, waiter: Waiter) {
        if let Waiter::Exclusive(ticket) = waiter {
            self.pass(ticket);
            if self.writers.fetch_sub(1, Ordering::SeqCst) == 1 {
                self.passed.store(0, Ordering::Relaxed);
                self.overtaken.store(0, Ordering::Relaxed);
            }
        }
        self.waiters.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether who waits could take the lock.
    pub fn is_free(&self, waiter: Waiter) -> bool {
        let held = self.lock.load(Ordering::SeqCst);
        match waiter {
            // SYNC: whoever sees the lock given back sees the turn that its holder had passed on before, so nobody sleeps through it.
            Waiter::Exclusive(ticket) => held == 0 && self.turn.load(Ordering::SeqCst) >= ticket,
            Waiter::Shared => {
                let wanted = self.writers.load(Ordering::SeqCst) > 0;
                held >> HOLDER == 0 && !(wanted && self.passed.load(Ordering::SeqCst) >= PASSES)
            }
        }
    }

    /// Who has the lock: the exclusive holder, and how many shared ones.
    pub fn holders(&self) -> (Option<u32>, u32) {
        let held = self.lock.load(Ordering::Relaxed);
        (((held >> HOLDER) as u32).checked_sub(1), held as u32)
    }

    /// Takes the lock under which elements are changed that the processor cannot change in one step for a member, unless somebody has
    /// it.
    #[inline]
    pub fn try_busy(&self, me: u32) -> bool {
        // SYNC: pairs with the Release in `idle`.
        self.busy.compare_exchange(0, u64::from(me) + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Who has that lock.
    pub fn busy(&self) -> Option<u32> {
        (self.busy.load(Ordering::Relaxed) as u32).checked_sub(1)
    }

    /// Gives that lock back.
    #[inline]
    pub fn idle(&self) {
        // SYNC: pairs with the Acquire in `try_busy`.
        self.busy.store(0, Ordering::Release);
    }
}

/// What comes before and what comes after are in the one order of sequentially consistent steps. They are so already; but the
/// model knows that order of fences alone.
#[inline(always)]
fn in_one_order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const SHARED: bool = false;
    const EXCLUSIVE: bool = true;

    #[test]
    fn one_writer_or_several_readers_and_readers_stand_back() {
        let words = LockWords::default();
        assert!(words.try_lock(0, SHARED) && words.try_lock(1, SHARED));
        assert!(!words.try_lock(2, EXCLUSIVE));
        let mut writer = words.waits(EXCLUSIVE);
        for _ in 0..PASSES {
            assert!(words.is_free(Waiter::Shared) && words.try_lock(2, SHARED) && words.unlock(SHARED));
        }
        assert!(!words.try_lock(2, SHARED), "a writer waits");
        assert!(words.unlock(SHARED));
        assert_eq!(words.holders(), (None, 1));
        assert!(!words.is_free(writer) && words.unlock(SHARED) && words.is_free(writer));
        assert!(words.try_lock_in_turn(1, &mut writer));
        let mut second = words.waits(EXCLUSIVE);
        words.waits_no_more(writer);
        assert!(
            words.unlock(EXCLUSIVE) && words.try_lock(0, SHARED) && words.unlock(SHARED),
            "it has had its turn"
        );
        assert!(words.try_lock_in_turn(1, &mut second));
        words.waits_no_more(second);
        assert_eq!(words.holders(), (Some(1), 0));
        assert!(!words.try_lock(0, SHARED) && !words.is_free(Waiter::Shared));
        assert!(!words.unlock(EXCLUSIVE) && words.try_lock(2, EXCLUSIVE));
    }

    #[test]
    fn who_has_not_waited_overtakes_those_who_do_a_bounded_number_of_times() {
        let words = LockWords::default();
        let [first, second] = [0; 2].map(|_| words.waits(EXCLUSIVE));
        for mut waiter in [first, second] {
            for _ in 0..PASSES {
                assert!(words.try_lock(0, EXCLUSIVE) && words.unlock(EXCLUSIVE));
            }
            assert!(!words.try_lock(0, EXCLUSIVE), "somebody waits");
            assert!(words.try_lock(0, SHARED) && words.unlock(SHARED), "those are counted apart");
            assert!(words.try_lock_in_turn(1, &mut waiter) && words.unlock(EXCLUSIVE));
        }
        for _ in 0..PASSES {
            assert!(words.try_lock(0, EXCLUSIVE) && words.unlock(EXCLUSIVE), "it has had its turn");
        }
        assert!(!words.try_lock(0, EXCLUSIVE));
        [first, second].into_iter().for_each(|waiter| words.waits_no_more(waiter));
        assert!(words.try_lock(0, EXCLUSIVE) && !words.unlock(EXCLUSIVE), "nobody waits");
    }

    #[test]
    fn those_who_wait_for_an_exclusive_lock_get_it_in_order() {
        let words = LockWords::default();
        assert!(words.try_lock(9, EXCLUSIVE));
        let waiters = [0; 3].map(|_| words.waits(EXCLUSIVE));
        assert!(words.unlock(EXCLUSIVE));
        for (at, mut waiter) in waiters.into_iter().enumerate() {
            for mut other in waiters.into_iter().skip(at + 1) {
                assert!(!words.is_free(other) && !words.try_lock_in_turn(7, &mut other), "not its turn");
            }
            assert!(words.is_free(waiter) && words.try_lock_in_turn(at as u32, &mut waiter));
            words.waits_no_more(waiter);
            assert_eq!(words.unlock(EXCLUSIVE), at < 2);
        }
        let [gives_up, mut next] = [0; 2].map(|_| words.waits(EXCLUSIVE));
        assert!(words.is_free(gives_up) && !words.is_free(next));
        words.waits_no_more(gives_up);
        assert!(words.is_free(next) && words.try_lock_in_turn(1, &mut next));
    }

    #[test]
    fn who_does_not_look_for_its_turn_is_passed_by_and_waits_behind_the_others() {
        let words = LockWords::default();
        let [mut absent, mut next, mut last] = [0; 3].map(|_| words.waits(EXCLUSIVE));
        let turn = words.turn().unwrap();
        words.pass(turn);
        words.pass(turn);
        assert!(words.is_free(next) && !words.is_free(last), "once");
        assert!(words.is_free(absent) && !words.try_lock_in_turn(0, &mut absent), "its turn has passed");
        assert!(words.try_lock_in_turn(1, &mut next) && words.turn().is_none());
        assert!(words.unlock(EXCLUSIVE) && !words.try_lock_in_turn(0, &mut absent));
        assert!(words.try_lock_in_turn(2, &mut last) && words.unlock(EXCLUSIVE));
        assert!(words.try_lock_in_turn(0, &mut absent), "behind all");
    }

    #[test]
    fn one_at_a_time_is_busy() {
        let words = LockWords::default();
        assert!(words.try_busy(0) && !words.try_busy(1));
        assert_eq!(words.busy(), Some(0));
        words.idle();
        assert!(words.busy().is_none() && words.try_busy(1));
        assert_eq!(words.busy(), Some(1));
    }
}
