//! The VCIs of this process and the threads in them. Whatever happens to an engine happens in a VCI that a thread has
//! entered here. Calls that only start something use nothing more; blocking is [`crate::wait`]'s.
//!
//! A process has one VCI, or several where several threads call: then each communicator has one. MPI-5.0 §11.6; seed 000
//! "MPI_Wait", multi-threaded.
//!
//! What must stay true: a thread is inside one VCI at a time; handlers run outside the lock; whoever leaves a VCI wakes
//! the sleeping threads that have to know of what happened there.
//!
//! Parts: `vcis`, which there are; `asleep`, who sleeps until something happens in one; `entered`, a VCI under its lock, and
//! what leaving it does; `ender`, for those who are inside none; `descriptors`, which end requests.

mod vcis;
mod asleep;
mod descriptors;
mod ender;
mod entered;
mod handlers;

use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use posthaste_os::park::{Sleepers, Wake};
use posthaste_os::sync::Lock;
use posthaste_os::wake::Doorbell;

use crate::error::say;
use crate::op;
use crate::progress::Vci;
use descriptors::Descriptors;
use vcis::Vcis;

pub use asleep::{Asleep, Until};
pub use descriptors::WhenReady;
pub use ender::Ender;
pub use entered::Entered;
pub use handlers::Left;
pub(crate) use handlers::{ForProgram, Gate};
pub use vcis::Opener;
pub(crate) use vcis::Seen;

/// Single steps between two questions who has ended: a program that only tests, once a millisecond, hears of a loss, too.
const STEPS_PER_QUESTION: u64 = 256;
/// Single steps, or steps of a wait in which something happens each time, between two looks at the other VCIs.
pub(crate) const STEPS_PER_LOOK: u32 = 64;
/// Steps at most in which a thread serves a VCI for one that sleeps.
const MOST_SERVED: usize = 16;

/// The VCIs, the threads that sleep until something happens in them, and the bell that peers ring.
#[derive(Debug)]
pub struct Runtime {
    vcis: Vcis,
    /// The threads of this process that sleep in `wait`.
    pub(crate) sleepers: Sleepers,
    /// What wakes the one of them that listens for all.
    pub(crate) doorbell: Doorbell,
    /// Descriptors that requests wait for, made with the first one by one thread.
    descriptors: OnceLock<Descriptors>,
    making: Mutex<()>,
    /// Whether handlers of the program may run.
    pub(crate) gate: Gate,
    for_program: ForProgram,
    /// Single steps so far, where there are several VCIs.
    steps: AtomicU32,
}

thread_local! {
    /// Whether the thread is one of the library that calls no function of the program. Of each copy of the code its own; each asks
    /// for threads that it has started.
    static SERVES_ONLY: Cell<bool> = const { Cell::new(false) };
    /// Whether it is one that makes progress for the program.
    static IS_PROGRESS: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread is a progress thread, and no thread of the program.
pub fn is_progress_thread() -> bool {
    IS_PROGRESS.get()
}

/// The calling thread is a progress thread from now on.
pub(crate) fn make_progress() {
    IS_PROGRESS.set(true);
}

/// Whether the calling thread is one of the library that calls no function of the program.
pub(crate) fn serves_only() -> bool {
    SERVES_ONLY.get()
}

/// The calling thread calls no function of the program from now on.
pub(crate) fn only_serve() {
    SERVES_ONLY.set(true);
}

impl Runtime {
    /// With one VCI.
    pub fn new(vci: Lock<Vci>, doorbell: Doorbell) -> Self {
        Self {
            vcis: Vcis::one(vci),
            sleepers: Sleepers::default(),
            doorbell,
            descriptors: OnceLock::new(),
            making: Mutex::new(()),
            gate: Gate::default(),
            for_program: ForProgram::default(),
            steps: AtomicU32::new(0),
        }
    }

    /// Further VCIs may be opened.
    pub fn opening(self, opener: Opener) -> Self {
        Self { vcis: self.vcis.opening(opener), ..self }
    }

    /// Opens a VCI, unless it is open; otherwise that happens when it is first entered. Whether it is open now.
    pub fn open(&self, at: usize) -> bool {
        self.vcis.get(at);
        self.is_open(at)
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

    /// Whether several threads may call.
    #[inline]
    pub fn is_threaded(&self) -> bool {
        self.vcis.first.is_threaded()
    }

    /// Several threads may call from now on, all but the calling one started later.
    pub(crate) fn admit_threads(&self) {
        self.vcis.open().for_each(|at| self.vcis.get(at).exclude_from_now_on());
    }

    /// Enters a VCI.
    #[inline]
    pub fn enter(&self, at: usize) -> Entered<'_> {
        Entered::new(self.vcis.get(at).lock_unless_inside(is_inside), self)
    }

    /// One step of progress in a VCI, and the handlers that it made due; now and then in the others, too.
    pub fn step(&self, at: usize) {
        self.look_at_descriptors();
        self.advance(at);
        if self.has_vcis() && self.steps.fetch_add(1, Ordering::Relaxed).is_multiple_of(STEPS_PER_LOOK) {
            // Whoever calls any of them is heard in the first one.
            self.look_at_sockets(&[], false);
            self.advance_others(at);
        }
    }

    /// One step of progress in a VCI, and the handlers that it made due. Whether anything happened.
    pub(crate) fn advance(&self, at: usize) -> bool {
        if serves_only() {
            return self.serve(at);
        }
        let mut vci = self.enter(at);
        let asks = vci.steps.is_multiple_of(STEPS_PER_QUESTION);
        if asks {
            vci.methods.look_at_sockets();
            vci.attend_tested();
        }
        let busy = vci.progress();
        let handlers = !vci.engine.finished.handlers.is_empty();
        drop(vci);
        if handlers {
            self.run_handlers(at);
        }
        if asks {
            self.open_called();
        }
        busy
    }

    /// Opens the VCIs that peers have called: somebody is to hear them.
    #[inline]
    pub(crate) fn open_called(&self) {
        while let Some(at) = self.vcis.called() {
            // Whoever leaves it wakes the one who listens, who may not have seen it.
            drop(self.enter(at));
        }
    }

    /// A step that calls no function of the program. Its threads do that; those that sleep are woken for it.
    fn serve(&self, at: usize) -> bool {
        self.serve_by(at, Vci::serve)
    }

    /// Serves the VCIs in which nobody has been since the last look, for a thread that sleeps: it is not to think that others look around.
    pub(crate) fn stand_in(&self, seen: &mut Seen) -> Others {
        let unseen = |vci: &mut Vci| {
            let steps = vci.steps;
            let busy = vci.serve();
            vci.steps = steps;
            busy
        };
        // A network may do all by itself in the next step.
        let mut others = Others { busy: self.doorbell.has_ready_descriptors(), active: false };
        for at in self.vcis.open() {
            if seen.is_visited(at, self.vcis.get(at).visits()) {
                others.active = true;
            } else {
                // Not for as long as a peer goes on sending.
                others.busy |= (0..MOST_SERVED).take_while(|_| self.serve_by(at, unseen)).count() > 0;
            }
            seen.leaves(at, self.vcis.get(at).visits());
        }
        others
    }

    fn serve_by(&self, at: usize, step: impl FnOnce(&mut Vci) -> bool) -> bool {
        let mut vci = self.enter(at);
        let busy = step(&mut vci);
        let owes = busy && vci.owes();
        drop(vci);
        if owes {
            self.rouse_parked();
        }
        busy
    }

    /// Wakes all threads that sleep but for the one that listens.
    #[cold]
    pub(crate) fn rouse_parked(&self) {
        let wakes = self.sleepers.with(|parked| parked.rouse_parked());
        wakes.into_iter().for_each(|wake| self.wake(wake));
    }

    /// The bell was rung, maybe for what no packet tells: wakes those that wait for such things.
    pub(crate) fn look_again(&self) {
        if self.sleepers.are_curious() {
            let wakes = self.sleepers.with(|parked| parked.look_again());
            wakes.into_iter().for_each(|wake| self.wake(wake));
        }
    }

    /// A descriptor is ready that is not the listener's: wakes those that are parked and wait for anything.
    #[cold]
    pub(crate) fn tell_the_curious(&self) {
        let wakes = self.sleepers.with(|parked| parked.found());
        wakes.into_iter().for_each(|wake| self.wake(wake));
    }

    /// Advances all VCIs but one.
    #[cold]
    pub(crate) fn advance_others(&self, at: usize) {
        self.vcis.open().filter(|other| *other != at).for_each(|other| _ = self.advance(other));
    }

    /// Advances the VCIs that are not among `own` and in which nobody else has been since the last look.
    #[cold]
    pub(crate) fn look_after_others(&self, own: &[usize], seen: &mut Seen) -> Others {
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

    /// The next step in these VCIs and the first one looks at the sockets, too; after sleep at the bell that in every one does in which
    /// something may have rung it.
    pub(crate) fn look_at_sockets(&self, own: &[usize], was_rung: bool) {
        let all = was_rung && self.doorbell.has_descriptors();
        let looks = |at: &usize| *at == 0 || all || own.contains(at);
        self.vcis.open().filter(looks).for_each(|at| self.enter(at).methods.look_at_sockets());
    }

    /// Whether a VCI other than this one makes a connection.
    pub(crate) fn is_connecting_elsewhere(&self, at: usize) -> bool {
        self.vcis.open().any(|other| other != at && self.enter(other).methods.is_connecting())
    }

    /// Where a thread has just been does not count as others' doing.
    pub(crate) fn forget_own_visits(&self, seen: &mut Seen) {
        self.vcis.open().for_each(|vci| seen.leaves(vci, self.vcis.get(vci).visits()));
    }

    /// Wakes a sleeping thread.
    pub(crate) fn wake(&self, wake: Wake) {
        wake.now(|| self.doorbell.nudge());
    }
}

/// A thread enters the VCI in which it is. Of functions of the program only those of operations run inside one.
#[cold]
fn is_inside() -> ! {
    let why = "the function of a reduction operation (MPI_Op_create) has called a function of MPI that communicates or looks at \
               communication, which it must not do (MPI-5.0 §6.9.5); it may call local ones, such as MPI_Type_get_extent, and \
               MPI_Abort";
    if op::is_called() {
        say(format_args!("{why}"));
        std::process::abort();
    }
    op::panics_inside(why)
}

/// How it stands with the VCIs that a thread is not at home in.
#[derive(Default)]
pub(crate) struct Others {
    /// Something happened there.
    pub(crate) busy: bool,
    /// Other threads are active there.
    pub(crate) active: bool,
}
