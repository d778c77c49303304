//! The VCIs of a process.
//!
//! The first one is always there and has everything: all networks, the communicators of all processes. A further one is
//! opened when it is first entered, or when a peer has called it over TCP. What must stay true: nobody joins a communicator whose
//! VCI cannot be opened here; entering it all the same leads to the first one.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use posthaste_os::node::VCIS;
use posthaste_os::sync::Lock;

use crate::progress::Vci;

/// What opens further VCIs.
pub struct Opener {
    /// Makes the VCI with this number, from 1 on.
    pub make: Box<dyn Fn(usize) -> Option<Lock<Vci>> + Send + Sync>,
    /// One that a peer wants to be open, and that is not; each is named once.
    pub called: Box<dyn Fn() -> Option<usize> + Send + Sync>,
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

#[derive(Debug)]
pub(super) struct Vcis {
    pub(super) first: Lock<Vci>,
    further: [OnceLock<Option<Box<Lock<Vci>>>>; VCIS - 1],
    /// A bit for each VCI that is open.
    open: AtomicU32,
    opener: Option<Opener>,
}

impl Vcis {
    /// The first one alone.
    pub(super) fn one(first: Lock<Vci>) -> Self {
        Self { first, further: Default::default(), open: AtomicU32::new(1), opener: None }
    }

    pub(super) fn opening(self, opener: Opener) -> Self {
        Self { opener: Some(opener), ..self }
    }

    /// Whether there is more than one.
    #[inline]
    pub(super) fn are_several(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 1
    }

    #[inline]
    pub(super) fn is_open(&self, at: usize) -> bool {
        self.open.load(Ordering::Relaxed) & 1 << at != 0
    }

    /// The numbers of those that are open.
    pub(super) fn open(&self) -> impl Iterator<Item = usize> {
        // SYNC: pairs with the Release in `make`, though whoever comes early only waits for the VCI to be in its place.
        let open = self.open.load(Ordering::Acquire);
        (0..VCIS).filter(move |at| open & 1 << at != 0)
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> &Lock<Vci> {
        if at == 0 { &self.first } else { self.further(at) }
    }

    #[inline]
    fn further(&self, at: usize) -> &Lock<Vci> {
        match self.further.get(at - 1).and_then(OnceLock::get) {
            Some(Some(vci)) => vci,
            _ => self.make(at),
        }
    }

    /// One that a peer wants to be open, and that is not.
    #[inline]
    pub(super) fn called(&self) -> Option<usize> {
        self.opener.as_ref().and_then(|opener| (opener.called)())
    }

    #[cold]
    fn make(&self, at: usize) -> &Lock<Vci> {
        let Some(place) = self.further.get(at - 1) else { return &self.first };
        let made = place.get_or_init(|| {
            let vci = self
                .opener
                .as_ref()
                .and_then(|opener| (opener.make)(at))
                .map(|lock| self.like_first(lock))?;
            // Before anybody finds it in its place: who has it finds it open.
            self.open.fetch_or(1 << at, Ordering::Release);
            Some(vci)
        });
        made.as_deref().unwrap_or(&self.first)
    }

    /// A VCI that is opened when several threads call excludes them, as the first one does, whatever was so when the engine began.
    fn like_first(&self, lock: Lock<Vci>) -> Box<Lock<Vci>> {
        if self.first.is_threaded() {
            lock.exclude_from_now_on();
        }
        Box::new(lock)
    }
}

/// How often each VCI had been entered when a thread last looked there.
#[derive(Debug, Default)]
pub(crate) struct Seen([Option<u32>; VCIS]);

impl Seen {
    /// Whether somebody has been in the VCI since the last look.
    pub(super) fn is_visited(&self, at: usize, visits: u32) -> bool {
        self.0[at].is_some_and(|seen| seen != visits)
    }

    pub(super) fn leaves(&mut self, at: usize, visits: u32) {
        self.0[at] = Some(visits);
    }
}
