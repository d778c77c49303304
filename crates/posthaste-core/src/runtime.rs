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

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use posthaste_os::park::{Sleepers, Wake};
use posthaste_os::sync::Lock;
use posthaste_os::wake::Doorbell;

use crate::progress::Vci;
use descriptors::Descriptors;
use vcis::Vcis;

pub use asleep::{Asleep, Until};
pub use descriptors::WhenReady;
pub use ender::Ender;
pub use entered::Entered;
pub(crate) use handlers::Gate;
pub use vcis::Opener;
pub(crate) use vcis::Seen;

/// Single steps, or steps of a wait in which something happens each time, between two looks at the other VCIs.
pub(crate) const STEPS_PER_LOOK: u32 = 64;

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
    /// Single steps so far, where there are several VCIs.
    steps: AtomicU32,
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

    /// Whether several threads may call.
    #[inline]
    pub fn is_threaded(&self) -> bool {
        self.vcis.first.is_threaded()
    }

    /// Enters a VCI.
    #[inline]
    pub fn enter(&self, at: usize) -> Entered<'_> {
        Entered::new(self.vcis.get(at).lock(), self)
    }

    /// One step of progress in a VCI, and the handlers that it made due; now and then in the others, too.
    pub fn step(&self, at: usize) {
        self.look_at_descriptors();
        self.advance(at);
        if self.has_vcis() && self.steps.fetch_add(1, Ordering::Relaxed).is_multiple_of(STEPS_PER_LOOK) {
            self.advance_others(at);
        }
    }

    /// One step of progress in a VCI, and the handlers that it made due. Whether anything happened.
    pub(crate) fn advance(&self, at: usize) -> bool {
        let mut vci = self.enter(at);
        let busy = vci.progress();
        let handlers = !vci.engine.finished.handlers.is_empty();
        drop(vci);
        if handlers {
            self.run_handlers(at);
        }
        busy
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

    /// Where a thread has just been does not count as others' doing.
    pub(crate) fn forget_own_visits(&self, seen: &mut Seen) {
        self.vcis.open().for_each(|vci| seen.leaves(vci, self.vcis.get(vci).visits()));
    }

    /// Wakes a sleeping thread.
    pub(crate) fn wake(&self, wake: Wake) {
        wake.now(|| self.doorbell.nudge());
    }
}

/// How it stands with the VCIs that a thread is not at home in.
#[derive(Default)]
pub(crate) struct Others {
    /// Something happened there.
    pub(crate) busy: bool,
    /// Other threads are active there.
    pub(crate) active: bool,
}
