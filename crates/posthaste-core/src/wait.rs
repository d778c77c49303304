//! Waiting: the only room that blocks.
//!
//! Called by `world` for every blocking call; calls `progress`. While every rank has a CPU a waiter spins first;
//! where CPUs are shared, or have just proved to be shared, it gives the CPU away at once. After a while without
//! anything happening it sleeps until a peer rings the doorbell. MPI-5.0 §3.7.3; seed 000 "MPI_Wait".
//!
//! What must stay true: between saying "I sleep" and sleeping the waiter looks at everything once more; nobody
//! sleeps while this process itself has bytes to copy; handlers run outside the lock.
//!
//! Part: `report`, which tells others what a sleeping call waits for.

mod report;

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::node::Node;
use posthaste_os::sync::{Guard, Lock};
use posthaste_os::wake::Doorbell;

use crate::progress::Lane;
use crate::request::complete;
use crate::trace::Counter;
use report::{Note, Teller};

pub use report::Awaited;

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
/// The same while connections are being made, which may need a further step without being rung for.
const SHORT_NAP: Duration = Duration::from_millis(20);

/// What a waiter needs: the lane to advance, the bell to sleep on, and how patient to be.
#[derive(Debug)]
pub struct Waiting {
    /// The lane.
    pub lane: Lock<Lane>,
    doorbell: Option<Doorbell>,
    teller: Option<Teller>,
    /// Whether fast paths may look for messages.
    patient: bool,
    spin: Duration,
    yielding: Duration,
    /// Waits to go without spinning: the CPU has proved to be shared.
    shared: AtomicU32,
}

impl Waiting {
    /// Spins for `spin` (zero where ranks share CPUs), then yields for `yielding`, then sleeps on `doorbell`; a
    /// process without peers has none.
    pub fn new(lane: Lock<Lane>, doorbell: Option<Doorbell>, spin: Duration, yielding: Duration) -> Self {
        // Where several threads share the lane, what is next may be another thread's.
        let patient = !lane.is_threaded();
        Self { lane, doorbell, teller: None, patient, spin, yielding, shared: AtomicU32::new(0) }
    }

    /// Sleeping calls tell what they wait for on the board of this rank.
    pub fn telling(self, node: &Node, local_rank: usize) -> Self {
        let teller = Teller::new(node.clone(), local_rank, self.lane.is_threaded());
        Self { teller: Some(teller), ..self }
    }

    /// Every message is explained, so receives keep off their fast path.
    pub fn explaining(self) -> Self {
        Self { patient: false, ..self }
    }

    /// The patience of fast paths: `look` looks for a message in the one place where it should arrive, as often as it
    /// is told, again and again until it gives a value. `None`: it is time to wait properly.
    ///
    /// Where every rank has a CPU the message is a matter of moments, and progress is made now and then. Where ranks
    /// share CPUs it comes once we have given ours away; progress would only take it from where we look. Where
    /// several threads share the lane there is no patience at all.
    #[inline]
    pub fn glance<T>(&self, lane: &mut Lane, mut look: impl FnMut(&mut Lane, u32) -> Option<T>) -> Option<T> {
        if !self.patient {
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

    /// Advances everything until `done` gives a value. `call` and `awaited` say what is waited for, should it take
    /// long: they are looked at only before sleeping.
    #[inline]
    pub fn until<T>(
        &self,
        call: &'static str,
        awaited: impl Fn(&Lane) -> Awaited,
        mut done: impl FnMut(&mut Lane) -> Option<T>,
    ) -> T {
        let mut idler = Idler { polls: 0, since: None, began: None, note: None };
        loop {
            let mut lane = self.enter();
            if let Some(value) = done(&mut lane) {
                if idler.note.is_some() {
                    self.retract(&idler);
                }
                return value;
            }
            let busy = lane.progress();
            let handlers = !lane.engine.finished.handlers.is_empty();
            drop(lane);
            if handlers {
                self.run_handlers();
            }
            if busy {
                (idler.polls, idler.since) = (0, None);
                continue;
            }
            idler.polls += 1;
            if (idler.polls.is_multiple_of(POLLS_PER_LOOK) || self.spin.is_zero()) && self.idle(&mut idler) {
                self.sleep(&mut idler, call, &awaited);
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

    /// Nothing has happened for a while: spins on, yields, or says that it is time to sleep.
    #[cold]
    fn idle(&self, idler: &mut Idler) -> bool {
        let now = machine::now();
        idler.began.get_or_insert(now);
        let waited = now - *idler.since.get_or_insert(now);
        let shared = self.shared.load(Ordering::Relaxed);
        if waited < self.spin && shared == 0 {
            return false;
        }
        if waited < self.spin + self.yielding {
            machine::yield_now();
            self.enter().engine.counts.add(Counter::Yields, 1);
            if machine::now() - now > LONG_YIELD {
                self.shared.store(REMEMBER, Ordering::Relaxed);
            } else if shared > 0 {
                self.shared.store(shared - 1, Ordering::Relaxed);
            }
            return false;
        }
        true
    }

    #[cold]
    fn sleep(&self, idler: &mut Idler, call: &'static str, awaited: &dyn Fn(&Lane) -> Awaited) {
        let Some(doorbell) = &self.doorbell else {
            self.tell(&self.enter(), idler, call, awaited);
            return machine::yield_now();
        };
        let mut lane = self.enter();
        let ticket = doorbell.about_to_sleep();
        if lane.progress() || !lane.methods.is_quiet() {
            if lane.sleepers == 0 {
                doorbell.stay_awake();
            }
            return;
        }
        lane.sleepers += 1;
        let nap = if lane.methods.is_connecting() { SHORT_NAP } else { NAP };
        lane.told_sleepers = lane.engine.finished.ends;
        lane.engine.counts.add(Counter::Sleeps, 1);
        self.tell(&lane, idler, call, awaited);
        drop(lane);
        doorbell.sleep(ticket, nap);
        let mut lane = self.enter();
        lane.methods.look_at_sockets();
        lane.sleepers -= 1;
        if lane.sleepers == 0 {
            doorbell.stay_awake();
        }
    }
}

impl Waiting {
    fn tell(&self, lane: &Lane, idler: &mut Idler, call: &'static str, awaited: &dyn Fn(&Lane) -> Awaited) {
        if let Some(teller) = &self.teller {
            teller.tell(lane, &mut idler.note, call, idler.began.unwrap_or_default(), awaited);
        }
    }

    /// The call that stands on the board goes on.
    #[cold]
    fn retract(&self, idler: &Idler) {
        if let (Some(teller), Some(note)) = (&self.teller, &idler.note) {
            teller.retract(note);
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
    /// Since when nothing has happened.
    since: Option<Duration>,
    /// When the call was first seen waiting.
    began: Option<Duration>,
    /// What others were told of it.
    note: Option<Note>,
}
