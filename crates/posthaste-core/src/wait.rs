//! Waiting: the only room that blocks.
//!
//! Called by `world` for every blocking call; calls `progress`. While every rank has a CPU a waiter spins first;
//! where CPUs are shared, or have just proved to be shared, it gives the CPU away at once. After a while without
//! anything happening it sleeps until a peer rings the doorbell. MPI-5.0 §3.7.3; seed 000 "MPI_Wait".
//!
//! What must stay true: between saying "I sleep" and sleeping the waiter looks at everything once more; nobody
//! sleeps while this process itself has bytes to copy; handlers run outside the lock.
//!
//! Parts: `report`, which tells others what a sleeping call waits for; `attend`, the progress thread.

mod attend;
mod report;

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::node::Node;
use posthaste_os::park::{self, Wake};
use posthaste_os::sync::{Guard, Lock};
use posthaste_os::wake::Doorbell;

use crate::progress::Lane;
use crate::pt2pt::Engine;
use crate::request::complete;
use crate::trace::Counter;
use report::{Note, Teller};

pub use attend::ProgressThread;
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
/// The same while other threads of this process look around, too: at first, and after several such sleeps.
const DOZE: Duration = Duration::from_micros(200);
const LONGEST_DOZE: Duration = Duration::from_millis(2);
/// Rounds and looks of a fast path where other threads may want the lane.
const SHARED_ROUNDS: u32 = 256;
const SHARED_LOOKS: u32 = 16;
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
        Self { lane, doorbell, teller: None, patient: true, spin, yielding, shared: AtomicU32::new(0) }
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
    /// share CPUs it comes once we have given ours away; progress would only take it from where we look. Where several
    /// threads may call, one that is alone for the moment has patience, and lets others in.
    #[inline]
    pub fn glance<T>(
        &self,
        lane: &mut Entered<'_>,
        mut look: impl FnMut(&mut Lane, u32) -> Option<T>,
    ) -> Option<T> {
        if !self.patient || (self.lane.is_threaded() && !lane.is_alone()) {
            return None;
        }
        let crowded = self.spin.is_zero();
        let hurried = crowded || self.shared.load(Ordering::Relaxed) > 0;
        let (rounds, looks) = match (hurried, self.lane.is_threaded()) {
            (true, _) => (CROWDED_ROUNDS, 1),
            (false, true) => (SHARED_ROUNDS, SHARED_LOOKS),
            (false, false) => (ROUNDS, POLLS_PER_LOOK),
        };
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
            if self.lane.is_threaded() {
                lane.let_others_in();
            }
        }
        None
    }

    /// Enters the lane. Leaving it wakes sleeping threads of this process that what happened concerns.
    #[inline]
    pub fn enter(&self) -> Entered<'_> {
        Entered { lane: Some(self.lane.lock()), waiting: self }
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
        let mut idler = Idler::default();
        loop {
            let mut lane = self.enter();
            if let Some(value) = done(&mut lane) {
                if idler.slept {
                    lane.parked.stops_looking();
                }
                if idler.note.is_some() {
                    self.retract(&idler);
                }
                if lane.parked.lacks_listener() {
                    lane.call_listener();
                }
                return value;
            }
            let busy = lane.progress();
            idler.steps += 1;
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
            let Engine { requests, finished, .. } = &mut lane.engine;
            complete::handled(requests, finished, id);
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

    /// Sleeps: as the thread that listens for all, if there is none, else parked until its own wait is over.
    #[cold]
    fn sleep(&self, idler: &mut Idler, call: &'static str, awaited: &dyn Fn(&Lane) -> Awaited) {
        let mut lane = self.enter();
        // While another thread looks around all the time, peers need not wake this one for each of its messages.
        let dozes = lane.steps > idler.steps && idler.slept;
        let bell = self.doorbell.as_ref().filter(|_| !lane.parked.has_listener() && !dozes);
        let ticket = bell.map(Doorbell::about_to_sleep);
        if lane.progress() || (ticket.is_some() && !lane.methods.is_quiet()) {
            return bell.map_or((), Doorbell::stay_awake);
        }
        let awaited = awaited(&lane);
        let until = awaited.until();
        let Some(sleeper) = lane.falls_asleep(&until, bell.is_none()) else {
            return bell.map_or((), Doorbell::stay_awake);
        };
        if idler.slept {
            lane.parked.stops_looking();
        }
        let listens = lane.parked.is_listener(sleeper);
        let nap = if lane.methods.is_connecting() { SHORT_NAP } else { NAP };
        lane.engine.counts.add(Counter::Sleeps, 1);
        if let Some(teller) = &self.teller {
            teller.tell(&lane, &mut idler.note, call, idler.began.unwrap_or_default(), &awaited);
        }
        let doze = idler.doze.max(DOZE);
        idler.doze = if dozes { LONGEST_DOZE.min(2 * doze) } else { DOZE };
        (idler.slept, idler.steps) = (true, lane.steps);
        drop(lane);
        match (bell, ticket) {
            (Some(bell), Some(ticket)) => bell.sleep(ticket, nap),
            _ => park::park(if listens && self.doorbell.is_some() { doze } else { NAP }),
        }
        let mut lane = self.enter();
        lane.awake(&until, sleeper);
        lane.methods.look_at_sockets();
        if let Some(bell) = bell {
            bell.stay_awake();
        }
    }
}

impl Waiting {
    fn wake(&self, wake: Wake) {
        wake.now(self.doorbell.as_ref().map(|bell| || bell.nudge()));
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
    waiting: &'a Waiting,
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
        if self.lane.as_ref().is_some_and(|lane| lane.concerns_sleepers()) {
            self.wake_sleepers();
        }
    }
}

impl Entered<'_> {
    /// Leaves and enters again.
    #[inline]
    fn let_others_in(&mut self) {
        if self.concerns_sleepers() {
            self.wake_sleepers();
        }
        self.lane = None;
        self.lane = Some(self.waiting.lane.lock());
    }

    /// Leaves, wakes whom what happened concerns.
    #[cold]
    fn wake_sleepers(&mut self) {
        let wakes = self.wakes();
        self.lane = None;
        wakes.into_iter().for_each(|wake| self.waiting.wake(wake));
    }

    /// Leaves for good, and calls a parked thread to listen for all.
    #[cold]
    fn call_listener(mut self) {
        let mut wakes = self.wakes();
        wakes.extend(self.parked.call_listener());
        self.lane = None;
        wakes.into_iter().for_each(|wake| self.waiting.wake(wake));
    }
}

#[derive(Debug, Default)]
struct Idler {
    polls: u32,
    /// Since when nothing has happened.
    since: Option<Duration>,
    /// When the call was first seen waiting.
    began: Option<Duration>,
    /// What others were told of it.
    note: Option<Note>,
    /// It has slept before.
    slept: bool,
    /// Steps of the lane up to then, and of this call since.
    steps: u64,
    /// How long it sleeps next while others look around.
    doze: Duration,
}
