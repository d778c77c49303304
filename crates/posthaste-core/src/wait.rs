//! Waiting: the only room that blocks.
//!
//! Called by `world` for every blocking call; calls `progress`. While every rank has a CPU a waiter spins first;
//! where CPUs are shared, or have just proved to be shared, it gives the CPU away at once. After a while without
//! anything happening it sleeps until a peer rings the doorbell. MPI-5.0 §3.7.3; seed 000 "MPI_Wait".
//!
//! What must stay true: between saying "I sleep" and sleeping the waiter looks at everything once more; nobody
//! sleeps while this process itself has bytes to copy; handlers run outside the lock.

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::sync::{Guard, Lock};
use posthaste_os::wake::Doorbell;

use crate::progress::Lane;
use crate::request::complete;
use crate::trace::Counter;

/// Polls between two looks at the clock.
const POLLS_PER_LOOK: u32 = 64;
/// Rounds of a fast path, and where ranks share CPUs.
const ROUNDS: u32 = 64;
const CROWDED_ROUNDS: u32 = 4;
/// A yield that takes longer than this let somebody else run.
const LONG_YIELD: Duration = Duration::from_micros(4);
/// Waits that go without spinning after the CPU has proved to be shared.
const REMEMBER: u32 = 64;
/// Longest sleep before a look around.
const NAP: Duration = Duration::from_millis(250);

/// What a waiter needs: the lane to advance, the bell to sleep on, and how patient to be.
#[derive(Debug)]
pub struct Waiting {
    /// The lane.
    pub lane: Lock<Lane>,
    doorbell: Option<Doorbell>,
    spin: Duration,
    yielding: Duration,
    /// Waits to go without spinning: the CPU has proved to be shared.
    shared: AtomicU32,
}

impl Waiting {
    /// Spins for `spin` (zero where ranks share CPUs), then yields for `yielding`, then sleeps on `doorbell`; a
    /// process without peers has none.
    pub fn new(lane: Lock<Lane>, doorbell: Option<Doorbell>, spin: Duration, yielding: Duration) -> Self {
        Self { lane, doorbell, spin, yielding, shared: AtomicU32::new(0) }
    }

    /// The patience of fast paths: `look` looks for a message in the one place where it should arrive, as often as it
    /// is told, again and again until it gives a value. `None`: it is time to wait properly.
    ///
    /// Where every rank has a CPU the message is a matter of moments, and progress is made now and then. Where ranks
    /// share CPUs it comes once we have given ours away; progress would only take it from where we look. Where
    /// several threads share the lane there is no patience at all.
    #[inline]
    pub fn glance<T>(&self, lane: &mut Lane, mut look: impl FnMut(&mut Lane, u32) -> Option<T>) -> Option<T> {
        if self.lane.is_threaded() {
            return None;
        }
        let crowded = self.spin.is_zero();
        let hurried = crowded || self.shared.load(Ordering::Relaxed) > 0;
        let (rounds, looks) = if hurried { (CROWDED_ROUNDS, 1) } else { (ROUNDS, POLLS_PER_LOOK) };
        for _ in 0..rounds {
            if !lane.is_quiet() {
                return None;
            }
            if let Some(value) = look(lane, looks) {
                return Some(value);
            }
            if crowded {
                machine::yield_now();
                lane.engine.counts.add(Counter::Yields, 1);
            } else {
                lane.progress();
            }
        }
        None
    }

    /// Enters the lane. Leaving it wakes sleeping threads of this process that what happened concerns.
    #[inline]
    pub fn enter(&self) -> Entered<'_> {
        Entered { lane: Some(self.lane.lock()), doorbell: self.doorbell.as_ref() }
    }

    /// Advances everything until `done` gives a value.
    #[inline]
    pub fn until<T>(&self, mut done: impl FnMut(&mut Lane) -> Option<T>) -> T {
        let mut idler = Idler { polls: 0, since: None };
        loop {
            let mut lane = self.enter();
            if let Some(value) = done(&mut lane) {
                return value;
            }
            let busy = lane.progress();
            let handlers = !lane.engine.finished.handlers.is_empty();
            drop(lane);
            if handlers {
                self.run_handlers();
            }
            if busy {
                idler = Idler { polls: 0, since: None };
                continue;
            }
            idler.polls += 1;
            if idler.polls.is_multiple_of(POLLS_PER_LOOK) || self.spin.is_zero() {
                self.idle(&mut idler);
            }
        }
    }

    /// One step of progress, and the handlers that it made due.
    pub fn step(&self) {
        let mut lane = self.enter();
        lane.progress();
        let handlers = !lane.engine.finished.handlers.is_empty();
        drop(lane);
        if handlers {
            self.run_handlers();
        }
    }

    /// Runs the handlers that are due, outside the lock.
    #[cold]
    fn run_handlers(&self) {
        loop {
            let due = self.enter().engine.finished.handlers.pop_front();
            let Some((id, handler, status)) = due else { break };
            handler(id, &status);
            let mut lane = self.enter();
            complete::handled(&mut lane.engine.requests, id);
            lane.engine.finished.ends += 1;
        }
    }

    /// Nothing has happened for a while: spins on, yields or sleeps.
    #[cold]
    fn idle(&self, idler: &mut Idler) {
        let now = machine::now();
        let waited = now - *idler.since.get_or_insert(now);
        let shared = self.shared.load(Ordering::Relaxed);
        if waited < self.spin && shared == 0 {
            return;
        }
        if waited < self.spin + self.yielding {
            machine::yield_now();
            self.enter().engine.counts.add(Counter::Yields, 1);
            if machine::now() - now > LONG_YIELD {
                self.shared.store(REMEMBER, Ordering::Relaxed);
            } else if shared > 0 {
                self.shared.store(shared - 1, Ordering::Relaxed);
            }
            return;
        }
        self.sleep();
    }

    #[cold]
    fn sleep(&self) {
        let Some(doorbell) = &self.doorbell else { return machine::yield_now() };
        let mut lane = self.enter();
        let ticket = doorbell.about_to_sleep();
        if lane.progress() || !lane.methods.is_quiet() {
            if lane.sleepers == 0 {
                doorbell.stay_awake();
            }
            return;
        }
        lane.sleepers += 1;
        lane.told_sleepers = lane.engine.finished.ends;
        lane.engine.counts.add(Counter::Sleeps, 1);
        drop(lane);
        doorbell.sleep(ticket, NAP);
        let mut lane = self.enter();
        lane.sleepers -= 1;
        if lane.sleepers == 0 {
            doorbell.stay_awake();
        }
    }
}

/// The lane, entered. Leaving it wakes sleeping threads of this process that what happened concerns.
#[derive(Debug)]
pub struct Entered<'a> {
    lane: Option<Guard<'a, Lane>>,
    doorbell: Option<&'a Doorbell>,
}

impl Deref for Entered<'_> {
    type Target = Lane;
    #[inline]
    fn deref(&self) -> &Lane {
        self.lane.as_ref().expect("entered until dropped")
    }
}

impl DerefMut for Entered<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Lane {
        self.lane.as_mut().expect("entered until dropped")
    }
}

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.concerns_sleepers() {
            self.wake_sleepers();
        }
    }
}

impl Entered<'_> {
    #[cold]
    fn wake_sleepers(&mut self) {
        self.told_sleepers = self.engine.finished.ends;
        self.lane = None;
        if let Some(doorbell) = self.doorbell {
            doorbell.nudge();
        }
    }
}

#[derive(Debug)]
struct Idler {
    polls: u32,
    since: Option<Duration>,
}
