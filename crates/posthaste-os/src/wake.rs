//! The doorbell: how a sender finds out that a receiver has stopped looking, without paying for it.
//!
//! A sender writes its record and then *reads* two words of the receiver: the active-ring bitmap and `sleeping`.
//! Between that write and those reads the sender has no fence; the receiver, before it relies on its own words having
//! been seen, runs one in every process instead (membarrier). So the cost is paid by whoever goes to sleep, not per
//! message. Where the system has no membarrier, every ring of the doorbell has a fence ([`Doorbell::fenced`]).
//!
//! A process that has sockets, too, sleeps on all of them at once: it waits in epoll for the sockets and for a pipe, and the
//! `sleeping` word says so; whoever rings then writes into that pipe, which it opens through /proc.
//!
//! A process that shares segments with processes of other jobs sleeps in all of them at once: whoever rings in one finds it there.
//!
//! What must stay true: after `about_to_sleep` or `clear_active`, a record that was written before is found by
//! looking at the rings once more, and the writer of a record written after sees the words.

#[cfg(not(loom))]
use std::io;
use std::sync::atomic::Ordering;
#[cfg(not(loom))]
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::memory::{Node, fence, futex_wait, futex_wake, heavy_fence, join_fences, light_fence, pipe_wake};
use crate::node::{ACTIVE_BITS, ACTIVE_WORDS};
#[cfg(not(loom))]
use crate::socket::{Pipe, Ready, Set};

/// What the word `sleeping` says: nobody sleeps (0), or somebody does on the futex, or in epoll.
const ON_FUTEX: u32 = 1;
const ON_PIPE: u32 = 2;
/// Longest sleep where a ring may be missed.
const SHORT: Duration = Duration::from_millis(1);
/// The pipe in the set of descriptors, and a set within it.
#[cfg(not(loom))]
const PIPE: u64 = u64::MAX;
#[cfg(not(loom))]
const OTHERS: u64 = u64::MAX - 1;

/// The doorbells of all ranks of this host, seen from one of them.
#[derive(Debug, Clone)]
pub struct Doorbell {
    node: Node,
    me: usize,
    /// The word and the bit of the rings from here, in the bitmap of whoever they lead to.
    bit: (usize, u64),
    fenced: bool,
    /// Where there are descriptors to watch, which may become so at any time.
    #[cfg(not(loom))]
    watch: Arc<OnceLock<Watch>>,
    /// Further segments in which this process sleeps, and its rank there.
    #[cfg(not(loom))]
    further: Arc<Mutex<Vec<(Node, usize)>>>,
}

/// What a sleeper finds ready when it wakes up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Woken {
    /// A descriptor, the pipe in which others ring among them.
    pub anything: bool,
    /// Something in the sets of [`Doorbell::watch_too`].
    pub others: bool,
}

/// What a process with sockets sleeps on.
#[cfg(not(loom))]
#[derive(Debug)]
struct Watch {
    set: Arc<Set>,
    pipe: Pipe,
}

impl Doorbell {
    /// Joins in as rank `me`. Every rank must do so before it sends.
    pub fn new(node: &Node, me: usize) -> Self {
        let fenced = !join_fences();
        let bit = me % ACTIVE_BITS;
        Self {
            node: node.clone(),
            me,
            bit: (bit / 64, 1 << (bit % 64)),
            fenced,
            #[cfg(not(loom))]
            watch: Arc::default(),
            #[cfg(not(loom))]
            further: Arc::default(),
        }
    }

    /// The same for a process that has descriptors to watch.
    ///
    /// # Errors
    /// When there are no descriptors left for the pipe.
    #[cfg(not(loom))]
    pub fn watching(self, set: Arc<Set>) -> io::Result<Self> {
        self.watch_with(set)?;
        Ok(self)
    }

    /// From its next sleep on this process also wakes when something in `others` is ready. Who sleeps already has to be woken.
    /// One thread at a time, and once.
    ///
    /// # Errors
    /// When there are no descriptors left.
    #[cfg(not(loom))]
    pub fn watch_too(&self, others: &Set) -> io::Result<()> {
        if self.watch.get().is_none() {
            self.watch_with(Arc::new(Set::new()?))?;
        }
        self.watch.get().map_or(Ok(()), |watch| watch.set.add(others, OTHERS, false))
    }

    /// From its next sleep on this process also wakes when somebody rings for rank `me` of this segment. Who sleeps already is
    /// woken. It has descriptors to watch.
    #[cfg(not(loom))]
    pub fn sleep_in(&self, node: &Node, me: usize) {
        let pipe = self.watch.get().map(|watch| node.set_pipe(me, watch.pipe.writer()));
        if !matches!(pipe, Some(Ok(()))) {
            node.set_pipe_out_of_reach(me);
        }
        self.further().push((node.clone(), me));
        self.nudge();
    }

    /// From now on it sleeps there no more.
    #[cfg(not(loom))]
    pub fn leave(&self, node: &Node) {
        self.further().retain(|(other, _)| !other.is(node));
    }

    #[cfg(not(loom))]
    fn further(&self) -> MutexGuard<'_, Vec<(Node, usize)>> {
        self.further.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(not(loom))]
    fn watch_with(&self, set: Arc<Set>) -> io::Result<()> {
        let pipe = Pipe::new()?;
        set.add(&pipe, PIPE, false)?;
        self.node.set_pipe(self.me, pipe.writer())?;
        self.watch.get_or_init(|| Watch { set, pipe });
        Ok(())
    }

    /// Whether each ring costs a fence because the system has no membarrier.
    pub fn fenced(&self) -> bool {
        self.fenced
    }

    /// Notifies `to` that the ring from here has something new. Returns whether a sleeper was woken.
    #[inline(always)]
    pub fn ring(&self, to: usize) -> bool {
        self.order();
        let (at, bit) = self.bit;
        let word = &self.node.active(to)[at];
        if word.load(Ordering::Relaxed) & bit == 0 {
            self.announce(to);
        }
        if self.node.sleeping(to).load(Ordering::Relaxed) != 0 {
            return self.wake(to);
        }
        false
    }

    /// Written only when the ring was idle: the line stays shared while messages flow.
    #[cold]
    fn announce(&self, to: usize) {
        let (at, bit) = self.bit;
        self.node.active(to)[at].fetch_or(bit, Ordering::Release);
        // A sleeper looks only at announced rings: the bit comes before the look at `sleeping`, too.
        self.order();
    }

    /// Notifies `to` of freed space in the ring from there, or in a bounce buffer: only a sleeper needs to know.
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
        let sleeping = self.node.sleeping(to).swap(0, Ordering::AcqRel);
        if sleeping == 0 {
            return false;
        }
        self.node.futex(to).fetch_add(1, Ordering::Release);
        if sleeping == ON_PIPE {
            pipe_wake(&self.node, to)
        } else {
            futex_wake(&self.node, to)
        }
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
    /// with the ticket, or [`Doorbell::stay_awake`]. One thread of a process at a time.
    pub fn about_to_sleep(&self) -> u32 {
        let ticket = self.node.futex(self.me).load(Ordering::Acquire);
        self.node.sleeping(self.me).store(self.place(), Ordering::SeqCst);
        #[cfg(not(loom))]
        self.further().iter().for_each(|(node, me)| node.sleeping(*me).store(ON_PIPE, Ordering::SeqCst));
        self.barrier();
        ticket
    }

    /// Takes `about_to_sleep` back. Whether somebody has rung meanwhile.
    pub fn stay_awake(&self) -> bool {
        // SYNC: pairs with the Release in `wake`: what was done before the ring is seen.
        let was_rung = |node: &Node, me: usize| node.sleeping(me).swap(0, Ordering::Acquire) == 0;
        let rung = was_rung(&self.node, self.me);
        #[cfg(not(loom))]
        let rung = self.further().iter().fold(rung, |rung, (node, me)| was_rung(node, *me) | rung);
        rung
    }

    /// What this process sleeps on.
    fn place(&self) -> u32 {
        #[cfg(not(loom))]
        if self.watch.get().is_some() {
            return ON_PIPE;
        }
        ON_FUTEX
    }

    /// Sleeps until somebody rings, a descriptor is ready, or the time is over; the caller then calls
    /// [`Doorbell::stay_awake`].
    pub fn sleep(&self, ticket: u32, limit: Duration) -> Woken {
        // Without a barrier in the senders a ring can be missed, so the sleep is short.
        let limit = if self.fenced { limit.min(SHORT) } else { limit };
        #[cfg(not(loom))]
        if let Some(watch) = self.watch.get() {
            let unheard = self.node.is_pipe_out_of_reach(self.me)
                || self.further().iter().any(|(node, me)| node.is_pipe_out_of_reach(*me));
            return watch.sleep(if unheard { limit.min(SHORT) } else { limit });
        }
        futex_wait(&self.node, self.me, ticket, limit);
        Woken::default()
    }

    /// Whether a sleeper watches descriptors.
    #[cfg(not(loom))]
    pub fn has_descriptors(&self) -> bool {
        self.watch.get().is_some()
    }

    /// Whether a sleeper would find a descriptor ready.
    #[cfg(not(loom))]
    pub fn has_ready_descriptors(&self) -> bool {
        self.watch.get().is_some_and(Watch::is_ready)
    }

    /// Wakes the thread of this process that sleeps here.
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

#[cfg(not(loom))]
impl Watch {
    fn sleep(&self, limit: Duration) -> Woken {
        let mut ready = Vec::new();
        self.set.wait(limit, &mut ready);
        // The others are still ready when their owner looks.
        if ready.iter().any(|Ready { token, .. }| *token == PIPE) {
            self.pipe.drain();
        }
        let others = ready.iter().any(|Ready { token, .. }| *token == OTHERS);
        Woken { anything: !ready.is_empty(), others }
    }

    fn is_ready(&self) -> bool {
        let mut ready = Vec::new();
        self.set.wait(Duration::ZERO, &mut ready);
        !ready.is_empty()
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
        let sleeper = Doorbell::new(&node, 1);
        assert!(sleeper.stay_awake(), "it was rung");
        sleeper.about_to_sleep();
        assert!(!sleeper.stay_awake());
    }

    #[test]
    fn a_process_with_descriptors_is_woken_through_its_pipe_and_by_them() {
        let node = Node::create(2).unwrap();
        node.set_pid(1, std::process::id());
        let set = Arc::new(Set::new().unwrap());
        let other = Pipe::new().unwrap();
        set.add(&other, 7, false).unwrap();
        let sender = Doorbell::new(&node, 0);
        let watcher = Doorbell::new(&node, 1).watching(set).unwrap();
        let asleep = |watcher: &Doorbell| {
            let watcher = watcher.clone();
            let ticket = watcher.about_to_sleep();
            std::thread::spawn(move || {
                let start = std::time::Instant::now();
                watcher.sleep(ticket, Duration::from_secs(20));
                start.elapsed()
            })
        };
        for _ in 0..2 {
            let thread = asleep(&watcher);
            assert!(sender.ring(1));
            assert!(!sender.ring(1));
            assert!(thread.join().unwrap() < Duration::from_secs(10));
        }
        let thread = asleep(&watcher);
        other.ring();
        assert!(thread.join().unwrap() < Duration::from_secs(10));
        other.drain();
        // The pipe was drained: nothing is left that would end a sleep.
        watcher.stay_awake();
        let start = std::time::Instant::now();
        watcher.sleep(0, Duration::from_millis(50));
        assert!(start.elapsed() >= Duration::from_millis(50));
    }

    #[test]
    fn who_sleeps_in_several_segments_is_woken_in_each() {
        let (own, pair) = (Node::create(1).unwrap(), Node::create_pair(0).unwrap());
        own.set_pid(0, std::process::id());
        pair.set_pid(1, std::process::id());
        let sleeper = Doorbell::new(&own, 0).watching(Arc::new(Set::new().unwrap())).unwrap();
        let sender = Doorbell::new(&pair, 0);
        let sleeps = |sleeper: &Doorbell, limit: u64| {
            let (ticket, sleeper) = (sleeper.about_to_sleep(), sleeper.clone());
            std::thread::spawn(move || {
                let start = std::time::Instant::now();
                sleeper.sleep(ticket, Duration::from_millis(limit));
                (start.elapsed() < Duration::from_millis(limit), sleeper.stay_awake())
            })
        };
        let thread = sleeps(&sleeper, 50);
        assert!(!sender.ring(1), "nobody sleeps there yet");
        assert_eq!(thread.join().unwrap(), (false, false));
        let thread = sleeps(&sleeper, 20_000);
        sleeper.sleep_in(&pair, 1);
        assert_eq!(thread.join().unwrap(), (true, true), "who slept looks again");
        let thread = sleeps(&sleeper, 20_000);
        assert!(sender.ring(1) && !sender.ring(1));
        assert_eq!(thread.join().unwrap(), (true, true));
        sleeper.about_to_sleep();
        assert!(!sleeper.stay_awake() && !sender.ring(1));
        sleeper.leave(&pair);
        sleeper.about_to_sleep();
        assert!(!sender.ring(1));
    }

    #[test]
    fn descriptors_may_come_later() {
        let node = Node::create(2).unwrap();
        node.set_pid(1, std::process::id());
        let (sender, sleeper) = (Doorbell::new(&node, 0), Doorbell::new(&node, 1));
        let (set, other) = (Set::new().unwrap(), Pipe::new().unwrap());
        set.add(&other, 7, false).unwrap();
        let slept = |wake: &dyn Fn()| {
            let (ticket, sleeper) = (sleeper.about_to_sleep(), sleeper.clone());
            let thread = std::thread::spawn(move || {
                let start = std::time::Instant::now();
                sleeper.sleep(ticket, Duration::from_secs(20));
                start.elapsed()
            });
            wake();
            assert!(thread.join().unwrap() < Duration::from_secs(10));
        };
        slept(&|| assert!(sender.ring(1)));
        sleeper.watch_too(&set).unwrap();
        slept(&|| other.ring());
        other.drain();
        slept(&|| assert!(sender.ring(1)));
    }

    #[test]
    fn a_pipe_that_is_another_one_is_never_written() {
        let node = Node::create(2).unwrap();
        node.set_pid(1, std::process::id());
        let set = Arc::new(Set::new().unwrap());
        let watcher = Doorbell::new(&node, 1).watching(set).unwrap();
        // As in another container: the number is there, and means something else.
        node.set_pid(1, 1);
        let ticket = watcher.about_to_sleep();
        assert!(Doorbell::new(&node, 0).ring(1));
        assert!(node.is_pipe_out_of_reach(1));
        let start = std::time::Instant::now();
        watcher.sleep(ticket, Duration::from_secs(20));
        assert!(start.elapsed() < Duration::from_secs(10));
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
