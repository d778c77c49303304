//! Waiting: the only room that blocks.
//!
//! While every rank has a CPU a waiter spins first; where CPUs are shared, or have just proved to be shared, it gives
//! the CPU away at once. After a while without anything happening it sleeps until a peer rings the doorbell. MPI-5.0
//! §3.7.3; seed 000 "MPI_Wait".
//!
//! A process has one VCI, or several where several threads call: then each communicator has one, and a waiter is at home
//! in that of what it waits for. Whoever finds nothing to do there looks after the VCIs where nobody else does.
//!
//! What must stay true: between saying "I sleep" and sleeping the waiter looks at everything once more; nobody
//! sleeps while this process itself has bytes to copy; handlers run outside the lock; a thread is inside one VCI at a
//! time.
//!
//! Parts: `vcis`; `several_vcis`, the wait for what belongs to several VCIs; `report`, which tells others what a sleeping call
//! waits for; `progress_thread`.

mod several_vcis;
mod ender;
mod progress_thread;
mod vcis;
mod report;

use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use posthaste_os::machine;
use posthaste_os::node::Node;
use posthaste_os::park::{self, Sleepers, Wake};
use posthaste_os::sync::{Guard, Lock};
use posthaste_os::wake::Doorbell;

use crate::progress::{Asleep, Vci};
use crate::pt2pt::Engine;
use crate::request::complete;
use crate::trace::Counter;
use report::{Note, Teller};
use vcis::{Seen, Vcis};

pub use ender::Ender;
pub use progress_thread::ProgressThread;
pub use report::Awaited;
pub use vcis::Opener;

/// Polls between two looks at the clock.
const POLLS_PER_LOOK: u32 = 64;
/// Rounds of a fast path, and where ranks share CPUs.
const ROUNDS: u32 = 64;
const OVERSUBSCRIBED_ROUNDS: u32 = 4;
/// A yield that takes longer than this let somebody else run.
const LONG_YIELD: Duration = Duration::from_micros(4);
/// Waits that go without spinning after the CPU has proved to be shared.
const REMEMBER: u32 = 64;
/// Longest sleep before a look around.
const NAP: Duration = Duration::from_millis(250);
/// The same while connections are being made, which may need a further step without being rung for.
const SHORT_NAP: Duration = Duration::from_millis(20);
/// Longest sleep while other threads of this process look around, too: at first, and after several such sleeps.
const DOZE: Duration = Duration::from_micros(200);
const LONGEST_DOZE: Duration = Duration::from_millis(2);
/// Rounds and looks of a fast path where other threads may want the VCI.
const SHARED_ROUNDS: u32 = 256;
const SHARED_LOOKS: u32 = 16;
/// Single steps, or steps of a wait in which something happens each time, between two looks at the other VCIs.
const STEPS_PER_LOOK: u32 = 64;

/// What a waiter needs: the VCIs to advance, the bell to sleep on, and how patient to be.
#[derive(Debug)]
pub struct Waiting {
    vcis: Vcis,
    sleepers: Sleepers,
    doorbell: Option<Doorbell>,
    teller: Option<Teller>,
    /// Whether fast paths may look for messages.
    patient: bool,
    spin: Duration,
    yielding: Duration,
    /// Waits to go without spinning: the CPU has proved to be shared.
    shared: AtomicU32,
    /// Single steps so far, where there are several VCIs.
    steps: AtomicU32,
}

impl Waiting {
    /// Spins for `spin` (zero where ranks share CPUs), then yields for `yielding`, then sleeps on `doorbell`; a
    /// process without peers has none.
    pub fn new(vci: Lock<Vci>, doorbell: Option<Doorbell>, spin: Duration, yielding: Duration) -> Self {
        Self {
            vcis: Vcis::one(vci),
            sleepers: Sleepers::default(),
            doorbell,
            teller: None,
            patient: true,
            spin,
            yielding,
            shared: AtomicU32::new(0),
            steps: AtomicU32::new(0),
        }
    }

    /// Further VCIs may be opened.
    pub fn opening(self, opener: Opener) -> Self {
        Self { vcis: self.vcis.opening(opener), ..self }
    }

    /// Opens a VCI, unless it is open; otherwise that happens when it is first entered.
    pub fn open(&self, at: usize) {
        self.vcis.get(at);
    }

    /// Whether a VCI is open.
    #[inline]
    pub fn is_open(&self, at: usize) -> bool {
        self.vcis.is_open(at)
    }

    /// Whether there are VCIs besides the first.
    #[inline]
    pub fn has_vcis(&self) -> bool {
        self.vcis.are_several()
    }

    /// The numbers of the VCIs that are open.
    pub fn open_vcis(&self) -> impl Iterator<Item = usize> {
        self.vcis.open()
    }

    /// Sleeping calls tell what they wait for on the status page of this rank.
    pub fn telling(self, node: &Node, local_rank: usize) -> Self {
        let teller = Teller::new(node.clone(), local_rank, self.is_threaded());
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
    pub fn spin_poll<T>(
        &self,
        vci: &mut Entered<'_>,
        mut look: impl FnMut(&mut Vci, u32) -> Option<T>,
    ) -> Option<T> {
        let threaded = self.is_threaded();
        if self.has_vcis() && vci.is_time_for_others() {
            let at = vci.engine.vci;
            vci.vci.leave_while(|| self.advance_others(at));
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
            }
            if threaded {
                vci.let_others_in();
            }
        }
        None
    }

    /// Whether several threads may call.
    #[inline]
    pub fn is_threaded(&self) -> bool {
        self.vcis.first.is_threaded()
    }

    /// Enters a VCI. Leaving it wakes sleeping threads of this process that what happened concerns.
    #[inline]
    pub fn enter(&self, at: usize) -> Entered<'_> {
        Entered { vci: self.vcis.get(at).lock(), waiting: self }
    }

    /// Advances everything until `done`, which looks at the VCI `at`, gives a value. `call` and `awaited` say what is
    /// waited for, should it take long: they are looked at only before sleeping.
    #[inline]
    pub fn until<T>(
        &self,
        at: usize,
        call: &'static str,
        awaited: impl Fn(&Vci) -> Awaited,
        mut done: impl FnMut(&mut Vci) -> Option<T>,
    ) -> T {
        let mut idler = Idler::default();
        loop {
            let mut vci = self.enter(at);
            if let Some(value) = done(&mut vci) {
                drop(vci);
                self.leave(&idler);
                return value;
            }
            idler.happened = vci.happened();
            let busy = vci.progress();
            idler.steps += 1;
            let handlers = !vci.engine.finished.handlers.is_empty();
            drop(vci);
            if handlers {
                self.run_handlers(at);
            }
            if busy {
                (idler.polls, idler.since) = (0, None);
                if idler.steps.is_multiple_of(STEPS_PER_LOOK.into()) && self.has_vcis() {
                    self.advance_others(at);
                }
                continue;
            }
            idler.polls += 1;
            if (idler.polls.is_multiple_of(POLLS_PER_LOOK) || self.spin.is_zero())
                && self.idle(&[at], &mut idler)
            {
                self.sleep(at, &mut idler, call, &awaited);
            }
        }
    }

    /// A wait is over.
    #[inline]
    fn leave(&self, idler: &Idler) {
        if idler.looks || idler.note.is_some() || self.sleepers.lack_listener() {
            self.leave_after_sleep(idler);
        }
    }

    #[cold]
    fn leave_after_sleep(&self, idler: &Idler) {
        if let (Some(teller), Some(note)) = (&self.teller, &idler.note) {
            teller.retract(note);
        }
        let called = self.sleepers.with(|parked| {
            if idler.looks {
                parked.stops_looking();
            }
            parked.call_listener()
        });
        if let Some(wake) = called {
            self.wake(wake);
        }
    }

    /// One step of progress in a VCI, and the handlers that it made due; now and then in the others, too.
    pub fn step(&self, at: usize) {
        self.advance(at);
        if self.has_vcis() && self.steps.fetch_add(1, Ordering::Relaxed).is_multiple_of(STEPS_PER_LOOK) {
            self.advance_others(at);
        }
    }

    /// Advances all VCIs but one.
    #[cold]
    fn advance_others(&self, at: usize) {
        self.vcis.open().filter(|other| *other != at).for_each(|other| _ = self.advance(other));
    }

    fn advance(&self, at: usize) -> bool {
        let mut vci = self.enter(at);
        let busy = vci.progress();
        let handlers = !vci.engine.finished.handlers.is_empty();
        drop(vci);
        if handlers {
            self.run_handlers(at);
        }
        busy
    }

    /// Advances the VCIs that are not among `own` and in which nobody else has been since the last look. Whether anything
    /// happened there, or somebody else is active.
    #[cold]
    fn look_after_others(&self, own: &[usize], seen: &mut Seen) -> Others {
        let mut others = Others::default();
        for vci in self.vcis.open().filter(|vci| !own.contains(vci)) {
            let lock = self.vcis.get(vci);
            if seen.is_visited(vci, lock.visits()) {
                others.active = true;
            } else {
                others.busy |= self.advance(vci);
            }
            seen.leaves(vci, lock.visits());
        }
        others
    }

    /// Runs the handlers that are due, outside the lock.
    #[cold]
    fn run_handlers(&self, at: usize) {
        loop {
            let due = self.enter(at).engine.finished.handlers.pop_front();
            let Some((id, handler, status)) = due else { break };
            handler(id, &status);
            let mut vci = self.enter(at);
            let Engine { requests, finished, .. } = &mut vci.engine;
            complete::handled(requests, finished, id);
        }
    }

    /// Nothing has happened for a while: looks after other VCIs, spins on, yields, or says that it is time to sleep.
    #[cold]
    fn idle(&self, own: &[usize], idler: &mut Idler) -> bool {
        if self.has_vcis() {
            let others = self.look_after_others(own, idler.seen.get_or_insert_default());
            idler.others |= others.active;
            if others.busy {
                idler.since = None;
            }
        }
        let now = machine::now();
        idler.began.get_or_insert(now);
        let waited = now - *idler.since.get_or_insert(now);
        let shared = self.shared.load(Ordering::Relaxed);
        if waited < self.spin && shared == 0 {
            return false;
        }
        if waited < self.spin + self.yielding {
            machine::yield_now();
            self.enter(own[0]).engine.counts.add(Counter::Yields, 1);
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
    fn sleep(&self, at: usize, idler: &mut Idler, call: &'static str, awaited: &dyn Fn(&Vci) -> Awaited) {
        let mut vci = self.enter(at);
        let dozes = self.dozes(idler, vci.steps);
        let bell = self.doorbell.as_ref().filter(|_| !dozes);
        let awaited = awaited(&vci);
        let until = awaited.until();
        let Some(asleep) = vci.falls_asleep(&self.sleepers, &until, bell, idler.happened) else { return };
        self.registered(idler);
        let handlers = !vci.engine.finished.handlers.is_empty();
        if vci.progress() || handlers || (asleep.ticket.is_some() && vci.is_copying()) {
            self.stays_awake(asleep);
            return vci.awake(&self.sleepers, &until, asleep.sleeper);
        }
        vci.engine.counts.add(Counter::Sleeps, 1);
        if let Some(teller) = self.due_teller(idler) {
            let call = (call, idler.began.unwrap_or_default());
            teller.tell(&mut idler.note, call, (at, &vci), &awaited, false);
        }
        let nap = if vci.methods.is_connecting() { SHORT_NAP } else { NAP };
        (idler.slept, idler.steps) = (true, vci.steps);
        drop(vci);
        self.rest(at, idler, asleep, dozes, nap);
        self.stays_awake(asleep);
        self.enter(at).awake(&self.sleepers, &until, asleep.sleeper);
        self.enter(0).methods.look_at_sockets();
        if at != 0 {
            self.enter(at).methods.look_at_sockets();
        }
        self.forget_own_visits(idler);
    }

    /// A thread does not sleep at the bell any more; before another one may listen.
    fn stays_awake(&self, asleep: Asleep) {
        if let (Some(bell), Some(_)) = (&self.doorbell, asleep.ticket) {
            bell.stay_awake();
        }
    }

    /// Who tells what a call waits for, unless that has just been told.
    fn due_teller(&self, idler: &Idler) -> Option<&Teller> {
        self.teller.as_ref().filter(|_| !Teller::is_fresh(idler.note.as_ref()))
    }

    /// Whether who is about to sleep only dozes: while another thread looks around all the time, peers need not wake this
    /// one for each of its messages. `steps`: those of its VCI so far.
    fn dozes(&self, idler: &mut Idler, steps: u64) -> bool {
        let others = std::mem::take(&mut idler.others);
        idler.slept && (others || steps > idler.steps)
    }

    /// Who was awake for the moment has been registered again; when it is not any more, it looks for all.
    fn registered(&self, idler: &mut Idler) {
        if std::mem::replace(&mut idler.looks, true) {
            self.sleepers.with(|parked| parked.stops_looking());
        }
    }

    /// Sleeps, registered and outside all VCIs. A listener looks at the other VCIs first; what it finds there to be done
    /// wakes it like anybody else's doing.
    fn rest(&self, at: usize, idler: &mut Idler, asleep: Asleep, dozes: bool, nap: Duration) {
        let doze = idler.doze.max(DOZE);
        idler.doze = if dozes { LONGEST_DOZE.min(2 * doze) } else { DOZE };
        let looks = asleep.listens && self.has_vcis();
        let nap = if looks { nap.min(self.settle_others(at, idler)) } else { nap };
        match (&self.doorbell, asleep.ticket) {
            (Some(bell), Some(ticket)) => bell.sleep(ticket, nap),
            (Some(_), None) if asleep.listens => park::park(doze),
            _ => park::park(NAP),
        }
    }

    /// Advances the other VCIs for a listener that is about to sleep; for how long it may.
    #[cold]
    fn settle_others(&self, at: usize, idler: &mut Idler) -> Duration {
        self.advance_others(at);
        let is_connecting = at != 0 && self.enter(0).methods.is_connecting();
        self.forget_own_visits(idler);
        if is_connecting { SHORT_NAP } else { NAP }
    }

    /// Where this thread has just been does not count as others' doing.
    fn forget_own_visits(&self, idler: &mut Idler) {
        if self.has_vcis() {
            let seen = idler.seen.get_or_insert_default();
            self.vcis.open().for_each(|vci| seen.leaves(vci, self.vcis.get(vci).visits()));
        }
    }
}

impl Waiting {
    fn wake(&self, wake: Wake) {
        wake.now(self.doorbell.as_ref().map(|bell| || bell.nudge()));
    }
}

/// How it stands with the VCIs that a waiter is not at home in.
#[derive(Default)]
struct Others {
    /// Something happened there.
    busy: bool,
    /// Other threads are active there.
    active: bool,
}

/// The VCI, entered. Leaving it wakes sleeping threads of this process that what happened concerns.
#[derive(Debug)]
pub struct Entered<'a> {
    vci: Guard<'a, Vci>,
    waiting: &'a Waiting,
}

impl Deref for Entered<'_> {
    type Target = Vci;
    #[inline(always)]
    fn deref(&self) -> &Vci {
        &self.vci
    }
}

impl DerefMut for Entered<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Vci {
        &mut self.vci
    }
}

impl Drop for Entered<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.vci.concerns(&self.waiting.sleepers) {
            self.wake_sleepers();
        }
    }
}

impl Entered<'_> {
    /// Whether no other thread has been here for a while.
    #[inline]
    fn is_alone(&self) -> bool {
        self.vci.is_alone()
    }

    /// Leaves and enters again.
    #[inline]
    fn let_others_in(&mut self) {
        if self.vci.concerns(&self.waiting.sleepers) {
            self.wake_sleepers();
        } else {
            self.vci.leave_while(|| ());
        }
    }

    /// Wakes whom what happened concerns, outside the VCI.
    #[cold]
    fn wake_sleepers(&mut self) {
        let Self { vci, waiting } = self;
        let wakes = vci.wakes(&waiting.sleepers);
        vci.leave_while(|| wakes.into_iter().for_each(|wake| waiting.wake(wake)));
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
