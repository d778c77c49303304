//! Waiting: the only room that blocks.
//!
//! While every rank has a CPU a waiter spins first; where CPUs are shared, or have just proved to be shared, it gives
//! the CPU away at once. After a while without anything happening it sleeps until a peer rings the doorbell. Who shares a CPU with
//! a program that computes sleeps instead of giving it away: it would have it back after that program's whole turn, and who is woken
//! has it at once. MPI-5.0 §3.7.3; seed 000 "MPI_Wait".
//!
//! A waiter is at home in the VCI of what it waits for. Whoever finds nothing to do there looks after the VCIs where nobody
//! else does.
//!
//! What must stay true: every way out of a wait calls somebody to listen if threads are parked and nobody does.
//!
//! Parts: `sleep`; `several_vcis`, the wait for what belongs to several VCIs; `report`, which publishes what a sleeping
//! call waits for; `progress_thread`, a waiter that waits for nothing.

mod sleep;
mod several_vcis;
mod progress_thread;
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::node::Node;

use crate::progress::Vci;
use crate::runtime::{Entered, Runtime, STEPS_PER_LOOK, Seen};
use crate::trace::Counter;
use report::{Note, Reporter};

pub use progress_thread::ProgressThread;
pub use report::{Awaited, OfWindow};

/// Looks for a message between two steps, and fruitless steps between two looks elsewhere.
const POLLS_PER_LOOK: u32 = 64;
/// Fruitless steps between two looks at the clock: where connections are asked each takes microseconds.
const POLLS_PER_CLOCK: u32 = 16;
/// Rounds of a fast path, and where ranks share CPUs.
const ROUNDS: u32 = 64;
const OVERSUBSCRIBED_ROUNDS: u32 = 4;
/// Looks at a word in memory before a call waits properly.
const WORD_LOOKS: u32 = 1000;
/// The first of them come one right behind the other: most words are a hand-off away, and a pause can last as long.
const EAGER_LOOKS: u32 = 100;
/// Turns that such a call gives to others where ranks share CPUs.
const WORD_YIELDS: u32 = 8;
/// A yield that takes longer than this let somebody else run.
const LONG_YIELD: Duration = Duration::from_micros(4);
/// One that takes longer than this let somebody run who computes: processes that wait for messages are faster, but several of them one
/// after the other may take as long for once.
const TURN: Duration = Duration::from_millis(1);
/// Waits that go without spinning after the CPU has proved to be shared.
const REMEMBER: u32 = 64;
/// How often waits sleep instead of yielding after somebody has taken a whole turn: where that was chance, they cost some
/// microseconds each.
const REMEMBER_TURN: u32 = 512;
/// Who is told to yield for longer than by default stays awake beside anybody.
const LONGEST_YIELDING: Duration = Duration::from_millis(1);
/// Rounds and looks of a fast path where other threads may want the VCI.
const SHARED_ROUNDS: u32 = 256;
const SHARED_LOOKS: u32 = 16;

/// What a waiter needs: the VCIs to advance, and how patient to be.
#[derive(Debug)]
pub struct Waiting {
    runtime: Arc<Runtime>,
    reporter: Option<Reporter>,
    /// Whether fast paths may look for messages.
    patient: bool,
    spin: Duration,
    yielding: Duration,
    /// Waits to go without spinning: the CPU has proved to be shared.
    shared: AtomicU32,
    /// For so many yields it counts that one took a whole turn: the next such one is no chance.
    suspected: AtomicU32,
    /// How often waits are to sleep instead of yielding: somebody computes on the CPU.
    taken: AtomicU32,
}

impl Waiting {
    /// Spins for `spin` (zero where ranks share CPUs; half of it looking for a message, half making progress), then yields for `yielding`,
    /// then sleeps.
    pub fn new(runtime: &Arc<Runtime>, spin: Duration, yielding: Duration) -> Self {
        Self {
            runtime: Arc::clone(runtime),
            reporter: None,
            patient: true,
            spin,
            yielding,
            shared: AtomicU32::new(0),
            suspected: AtomicU32::new(0),
            taken: AtomicU32::new(0),
        }
    }

    /// Sleeping calls publish what they wait for on the status page of this rank.
    pub fn publishing(self, node: &Node, local_rank: usize) -> Self {
        let reporter = Reporter::new(node.clone(), local_rank, self.runtime.is_threaded());
        Self { reporter: Some(reporter), ..self }
    }

    /// Every message is explained, so receives keep off their fast path.
    pub fn explaining(self) -> Self {
        Self { patient: false, ..self }
    }

    /// Whether a call may spin before it gives its CPU away: ranks have one each.
    pub(crate) fn may_spin(&self) -> bool {
        !self.spin.is_zero()
    }

    /// The patience of fast paths: `look` looks for a message in the one place where it should arrive, as often as it
    /// is asked, again and again until it gives a value. `None`: it is time to wait properly.
    ///
    /// Where every rank has a CPU the message is a matter of moments, and progress is made now and then. Where ranks
    /// share CPUs it comes once we have given ours away; progress would only take it from where we look. Where several
    /// threads may call, one that is alone for the moment has patience, and lets others in.
    #[inline]
    pub fn spin_poll<T>(
        &self,
        vci: &mut Entered<'_>,
        mut look: impl FnMut(&mut Vci, u32) -> Option<T>,
    ) -> Option<T> {
        let threaded = self.runtime.is_threaded();
        if self.runtime.has_vcis() && vci.is_time_for_others() {
            let at = vci.engine.vci;
            vci.leave_while(|| self.runtime.advance_others(at));
        }
        if !self.patient || (threaded && !vci.is_alone()) {
            return None;
        }
        let oversubscribed = self.spin.is_zero();
        let hurried = oversubscribed || self.shared.load(Ordering::Relaxed) > 0;
        // Others are let in more often than progress is made, which may ask the system for what has come over a network.
        let (rounds, looks, rounds_per_step) = match (hurried, threaded) {
            (true, _) => (OVERSUBSCRIBED_ROUNDS, 1, 1),
            (false, true) => (SHARED_ROUNDS, SHARED_LOOKS, POLLS_PER_LOOK / SHARED_LOOKS),
            (false, false) => (ROUNDS, POLLS_PER_LOOK, 1),
        };
        let mut since = None;
        for round in 1..=rounds {
            if !vci.is_quiet() {
                return None;
            }
            if let Some(value) = look(vci, looks) {
                return Some(value);
            }
            if oversubscribed {
                machine::yield_now();
                vci.engine.counts.add(Counter::Yields, 1);
            } else if round.is_multiple_of(rounds_per_step) {
                vci.progress();
                if self.has_spun(&mut since) {
                    return None;
                }
            }
            if threaded {
                vci.let_others_in();
            }
        }
        None
    }

    /// Whether it has been spun for long enough: where a look or a step is slow, so many of them take long. Who looks for a message spins
    /// so twice, here and where progress is made.
    fn has_spun(&self, since: &mut Option<Duration>) -> bool {
        let now = machine::now();
        now - *since.get_or_insert(now) >= self.spin / 2
    }

    /// Whether a wait in which nothing happens is to do something else than spin.
    fn is_time_to_idle(&self, idler: &mut Idler) -> bool {
        let looks_at_clock = || idler.polls.is_multiple_of(POLLS_PER_CLOCK);
        self.spin.is_zero()
            || idler.polls.is_multiple_of(POLLS_PER_LOOK)
            || (looks_at_clock() && self.has_spun(&mut idler.since))
    }

    /// The patience of calls that wait for a word in memory: looks again and again while every rank has a CPU, and between some yields
    /// where ranks share CPUs. Whether it has been written; if not, it is time to wait properly.
    #[inline]
    pub fn spin_on(&self, mut is_written: impl FnMut() -> bool) -> bool {
        if is_written() {
            return true;
        }
        if self.spin.is_zero() {
            // Who writes it needs our CPU.
            let may_yield = self.taken.load(Ordering::Relaxed) == 0;
            return may_yield
                && (0..WORD_YIELDS).any(|_| {
                    machine::yield_now();
                    is_written()
                });
        }
        if self.shared.load(Ordering::Relaxed) > 0 {
            return false;
        }
        (0..WORD_LOOKS).any(|look| {
            if look >= EAGER_LOOKS {
                std::hint::spin_loop();
            }
            is_written()
        })
    }

    /// What a call says of its wait that does not sleep.
    pub fn aloud(&self) -> Aloud<'_> {
        Aloud { waiting: self, note: None }
    }

    /// Advances everything until `done`, which looks at the VCI `at`, gives a value. `call` and `awaited` say what is
    /// waited for, should it take long: they are looked at only before sleeping.
    #[inline]
    pub fn until<T>(
        &self,
        at: usize,
        call: &'static str,
        awaited: impl Fn(&Vci) -> Awaited,
        done: impl FnMut(&mut Vci) -> Option<T>,
    ) -> T {
        self.until_or(at, call, awaited, |_| false, done)
    }

    /// The same. `look` is asked before the first step, again and again as long as it says that something has ended; it may make progress
    /// itself.
    #[inline]
    pub fn until_or<T>(
        &self,
        at: usize,
        call: &'static str,
        awaited: impl Fn(&Vci) -> Awaited,
        mut look: impl FnMut(&mut Entered<'_>) -> bool,
        mut done: impl FnMut(&mut Vci) -> Option<T>,
    ) -> T {
        let mut idler = Idler::default();
        let mut vci = self.runtime.enter(at);
        loop {
            if let Some(value) = done(&mut vci) {
                drop(vci);
                self.leave(&idler);
                return value;
            }
            idler.happened = vci.happened();
            if idler.steps == 0 && look(&mut vci) {
                continue;
            }
            let busy = vci.progress();
            idler.steps += 1;
            let handlers = !vci.engine.finished.handlers.is_empty();
            drop(vci);
            if handlers {
                self.run_handlers(at, &mut idler);
            }
            if busy {
                (idler.polls, idler.since) = (0, None);
                if idler.steps.is_multiple_of(STEPS_PER_LOOK.into()) {
                    self.look_around(at, &mut idler);
                }
            } else {
                idler.polls += 1;
                if self.is_time_to_idle(&mut idler) && self.idle(&[at], &mut idler) {
                    self.sleep(at, &mut idler, call, &awaited);
                }
            }
            vci = self.runtime.enter(at);
        }
    }

    /// Runs handlers.
    #[cold]
    fn run_handlers(&self, at: usize, idler: &mut Idler) {
        self.says_no_more(idler);
        self.runtime.run_handlers(at);
    }

    /// Does what the progress thread has left to threads of the program.
    fn take_over(&self, idler: &mut Idler) {
        if self.runtime.may_take_over() {
            self.says_no_more(idler);
            self.runtime.take_over();
        }
    }

    /// What runs next may wait itself: what this call waits for is told when it goes on waiting.
    fn says_no_more(&self, idler: &mut Idler) {
        if let (Some(reporter), Some(note)) = (&self.reporter, idler.note.take()) {
            reporter.retract(&note);
        }
    }

    /// Much has happened in the VCI of a call: it looks elsewhere for once.
    #[cold]
    fn look_around(&self, at: usize, idler: &mut Idler) {
        self.take_over(idler);
        self.runtime.open_called();
        if self.runtime.has_vcis() {
            self.runtime.advance_others(at);
        }
    }

    /// Nothing has happened for a while: looks after other VCIs, spins on, yields, or says that it is time to sleep.
    #[cold]
    fn idle(&self, own: &[usize], idler: &mut Idler) -> bool {
        self.take_over(idler);
        self.runtime.open_called();
        if self.runtime.has_vcis() {
            let others = self.runtime.look_after_others(own, idler.seen.get_or_insert_default());
            idler.others |= others.active;
            if others.busy {
                idler.since = None;
            }
        }
        if self.runtime.look_at_descriptors() {
            idler.since = None;
        }
        self.has_waited(own[0], idler)
    }

    /// Whether it has been waited for long enough to sleep; if not, this may give the CPU away.
    fn has_waited(&self, at: usize, idler: &mut Idler) -> bool {
        let now = machine::now();
        idler.began.get_or_insert(now);
        let waited = now - *idler.since.get_or_insert(now);
        let shared = self.shared.load(Ordering::Relaxed);
        if waited < self.spin / 2 && shared == 0 {
            return false;
        }
        let taken = self.taken.load(Ordering::Relaxed);
        if taken > 0 {
            self.taken.store(taken - 1, Ordering::Relaxed);
            return true;
        }
        if waited < self.spin + self.yielding {
            machine::yield_now();
            let gone = machine::now() - now;
            let mut vci = self.runtime.enter(at);
            vci.engine.counts.add(Counter::Yields, 1);
            if gone > LONG_YIELD {
                // Much may have come meanwhile, and who goes on waiting is away as long again.
                vci.methods.look_at_sockets();
            }
            drop(vci);
            let was_suspected = self.suspected.load(Ordering::Relaxed);
            let suspected = if gone > TURN { REMEMBER } else { was_suspected.saturating_sub(1) };
            self.suspected.store(suspected, Ordering::Relaxed);
            let is_turn = gone > TURN && was_suspected > 0;
            if is_turn && !self.spin.is_zero() && self.yielding <= LONGEST_YIELDING {
                self.shared.store(0, Ordering::Relaxed);
                self.taken.store(REMEMBER_TURN, Ordering::Relaxed);
            } else if gone > LONG_YIELD {
                self.shared.store(REMEMBER, Ordering::Relaxed);
            } else if shared > 0 {
                self.shared.store(shared - 1, Ordering::Relaxed);
            }
            return false;
        }
        true
    }
}

/// What a call publishes of its wait that does not sleep, until this is dropped.
#[derive(Debug)]
pub struct Aloud<'a> {
    waiting: &'a Waiting,
    note: Option<Note>,
}

impl Aloud<'_> {
    /// Says what the call has waited for since then, in the VCI `at`.
    #[cold]
    pub fn say(&mut self, call: &'static str, began: Duration, at: usize, awaited: &Awaited) {
        if let Some(reporter) = &self.waiting.reporter
            && !Reporter::is_fresh(self.note.as_ref())
        {
            let vci = self.waiting.runtime.enter(at);
            reporter.publish(&mut self.note, (call, began), (at, &vci), awaited, false);
        }
    }
}

impl Drop for Aloud<'_> {
    fn drop(&mut self) {
        if let (Some(reporter), Some(note)) = (&self.waiting.reporter, &self.note) {
            reporter.retract(note);
        }
    }
}

/// How a wait goes.
#[derive(Debug, Default)]
struct Idler {
    polls: u32,
    /// Since when nothing has happened.
    since: Option<Duration>,
    /// When the call was first seen waiting.
    began: Option<Duration>,
    /// What was published of it.
    note: Option<Note>,
    /// It has slept before.
    slept: bool,
    /// A descriptor ended its last sleep at the bell.
    roused: bool,
    /// It was about to sleep, is awake, and looks for all.
    looks: bool,
    /// What had happened in its VCI when it last looked whether it is over.
    happened: u64,
    /// Steps of its VCI up to its last sleep, and of this call since.
    steps: u64,
    /// How long it sleeps next while others look around.
    doze: Duration,
    /// How often other VCIs had been entered at the last look; small while there was none.
    seen: Option<Box<Seen>>,
    /// Threads were active there.
    others: bool,
}
