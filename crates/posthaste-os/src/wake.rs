//! The doorbell: how a sender finds out that a receiver has stopped looking, without paying for it.
//!
//! Called by `core::method::shm` (ring after each record) and `core::wait` (sleep). A sender writes its record
//! and then *reads* two words of the receiver: the active-ring bitmap and `sleeping`. Between that write and
//! those reads the sender has no fence; the receiver, before it relies on its own words having been seen, runs
//! one in every process instead (membarrier). So the cost is paid by whoever goes to sleep, not per message.
//! Where the system has no membarrier, every ring of the doorbell has a fence ([`Doorbell::fenced`]).
//!
//! What must stay true: after `about_to_sleep` or `clear_active`, a record that was written before is found by
//! looking at the rings once more, and the writer of a record written after sees the words.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::memory::{Node, fence, futex_wait, futex_wake, heavy_fence, join_fences, light_fence};
use crate::node::{ACTIVE_BITS, ACTIVE_WORDS};

/// The doorbells of all ranks of this host, seen from one of them.
#[derive(Debug, Clone)]
pub struct Doorbell {
    node: Node,
    me: usize,
    fenced: bool,
}

impl Doorbell {
    /// Joins in as rank `me`. Every rank must do so before it sends.
    pub fn new(node: &Node, me: usize) -> Self {
        Self { node: node.clone(), me, fenced: !join_fences() }
    }

    /// Whether each ring costs a fence because the system has no membarrier.
    pub fn fenced(&self) -> bool {
        self.fenced
    }

    /// Tells `to` that the ring from here has something new. Returns whether a sleeper was woken.
    #[inline]
    pub fn ring(&self, to: usize) -> bool {
        self.order();
        let bit = self.me % ACTIVE_BITS;
        let word = &self.node.active(to)[bit / 64];
        if word.load(Ordering::Relaxed) & (1 << (bit % 64)) == 0 {
            // Written only when the ring was idle: the line stays shared while messages flow.
            word.fetch_or(1 << (bit % 64), Ordering::Release);
            // A sleeper looks only at announced rings: the bit comes before the look at `sleeping`, too.
            self.order();
        }
        if self.node.sleeping(to).load(Ordering::Relaxed) != 0 {
            return self.wake(to);
        }
        false
    }

    /// Tells `to` that there is room in the ring from there, or in a copy buffer: only a sleeper needs to know.
    #[inline]
    pub fn ring_for_room(&self, to: usize) {
        self.order();
        if self.node.sleeping(to).load(Ordering::Relaxed) != 0 {
            self.wake(to);
        }
    }

    /// Keeps what was written before ahead of what is read behind, as far as a sleeper's barrier cannot.
    #[inline(always)]
    fn order(&self) {
        if self.fenced {
            fence(Ordering::SeqCst);
        } else {
            light_fence();
        }
    }

    #[cold]
    fn wake(&self, to: usize) -> bool {
        // Only one of several senders makes the system call.
        if self.node.sleeping(to).swap(0, Ordering::AcqRel) == 0 {
            return false;
        }
        self.node.futex(to).fetch_add(1, Ordering::Release);
        futex_wake(&self.node, to);
        true
    }

    /// One word of the bitmap of rings that have been written.
    #[inline]
    pub fn active(&self, word: usize) -> u64 {
        self.node.active(self.me)[word].load(Ordering::Acquire)
    }

    /// Forgets that the rings in `idle` were active. The caller looks at them once more afterwards.
    pub fn clear_active(&self, idle: &[u64; ACTIVE_WORDS]) {
        for (word, bits) in self.node.active(self.me).iter().zip(idle) {
            if *bits != 0 {
                word.fetch_and(!bits, Ordering::AcqRel);
            }
        }
        self.barrier();
    }

    /// First step to sleep: says so. The caller looks at everything once more, then calls [`Doorbell::sleep`]
    /// with the ticket, or [`Doorbell::stay_awake`].
    pub fn about_to_sleep(&self) -> u32 {
        let ticket = self.node.futex(self.me).load(Ordering::Acquire);
        self.node.sleeping(self.me).store(1, Ordering::SeqCst);
        self.barrier();
        ticket
    }

    /// Takes `about_to_sleep` back.
    pub fn stay_awake(&self) {
        self.node.sleeping(self.me).store(0, Ordering::Relaxed);
    }

    /// Sleeps until somebody rings or the time is over; the caller then calls [`Doorbell::stay_awake`].
    pub fn sleep(&self, ticket: u32, limit: Duration) {
        // Without a barrier in the senders a ring can be missed, so the sleep is short.
        let limit = if self.fenced { limit.min(Duration::from_millis(1)) } else { limit };
        futex_wait(&self.node, self.me, ticket, limit);
    }

    /// Wakes the sleeping threads of this process.
    pub fn nudge(&self) {
        self.wake(self.me);
    }

    /// A full fence in every process that joined in.
    fn barrier(&self) {
        fence(Ordering::SeqCst);
        if !self.fenced {
            heavy_fence();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_sleeper_is_woken_and_only_once() {
        let node = Node::create(2).unwrap();
        let (sender, sleeper) = (Doorbell::new(&node, 0), Doorbell::new(&node, 1));
        assert!(!sender.ring(1));
        assert_eq!(sleeper.active(0), 1);
        let ticket = sleeper.about_to_sleep();
        let asleep = std::thread::spawn(move || {
            let start = std::time::Instant::now();
            sleeper.sleep(ticket, Duration::from_secs(20));
            start.elapsed()
        });
        assert!(sender.ring(1));
        assert!(!sender.ring(1));
        assert!(asleep.join().unwrap() < Duration::from_secs(10));
    }

    #[test]
    fn cleared_rings_are_announced_again() {
        let node = Node::create(2).unwrap();
        let (sender, reader) = (Doorbell::new(&node, 0), Doorbell::new(&node, 1));
        sender.ring(1);
        reader.clear_active(&[1, 0, 0, 0, 0, 0]);
        assert_eq!(reader.active(0), 0);
        sender.ring(1);
        assert_eq!(reader.active(0), 1);
    }
}
