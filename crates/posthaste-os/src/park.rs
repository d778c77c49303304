//! The threads of one process that sleep in the library: whom to wake, and who of them listens for all.
//!
//! There once for all VCIs. One sleeper, the *listener*, sleeps where peers can wake it (on the doorbell); the others
//! are parked, each on its own. A parked thread is woken when what it waits for is over, and only then, whoever found
//! that out: there is no broadcast. A listener that leaves calls a parked thread, which takes its place. MPI-5.0 §11.6;
//! seed 000 "MPI_Wait", multi-threaded.
//!
//! What must stay true: while anybody is parked, somebody listens, has been called to, or is awake inside the library
//! and will call when it leaves. A sleeper registers under the lock of the VCI in which it saw that it has to wait, and a
//! parked thread keeps a wake-up that comes before it parks; so none is lost. A listener looks at the other VCIs once it
//! is registered: whoever leaves something to be done there either did so before that look, or sees that somebody sleeps. And it
//! has those look again that wait for what no packet tells, then and when the bell was rung: peers ring for a listener that sleeps.

use std::time::Duration;

#[cfg(loom)]
use loom::thread::{self, Thread};
use std::sync::atomic::{AtomicU32, Ordering};
#[cfg(not(loom))]
use std::thread::{self, Thread};

use crate::sync::Mutex;

/// What a sleeper waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wants {
    /// So many of the ends that are reported by [`Parked::ended`].
    Ends(usize),
    /// Whatever happens next.
    Anything,
    /// The same, and what another process does in memory that both have mapped. No packet tells of that, only the bell, which the
    /// listener alone hears.
    Unannounced,
}

impl Wants {
    fn is_curious(self) -> bool {
        !matches!(self, Self::Ends(_))
    }
}

/// The number of a sleeper while it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleeperId(u32);

#[derive(Debug)]
struct Sleeper {
    wants: Wants,
    thread: Thread,
    /// It is the listener.
    listens: bool,
    dozes: bool,
    /// It has been woken, because its wait is over or because it is to listen.
    woken: bool,
    /// It is to listen.
    called: bool,
}

/// Somebody sleeps.
const ASLEEP: u32 = 1;
/// Somebody sleeps until anything happens.
const CURIOUS: u32 = 2;
/// Threads are parked and nobody listens, looks around, or has been called to.
const LACKS_LISTENER: u32 = 4;

/// The sleeping threads of a process, behind a lock of their own, and what has to be known of them in passing.
#[derive(Debug, Default)]
pub struct Sleepers {
    parked: Mutex<Parked>,
    signs: AtomicU32,
}

impl Sleepers {
    /// Changes or asks something. Nothing else is locked meanwhile.
    pub fn with<T>(&self, change: impl FnOnce(&mut Parked) -> T) -> T {
        self.parked.with(|parked| {
            let result = change(parked);
            self.signs.store(parked.signs(), Ordering::Release);
            result
        })
    }

    /// Whether somebody sleeps. In a VCI this is true of whoever has seen there that it has to wait, and of a listener
    /// that has looked around there.
    #[inline]
    pub fn are_there(&self) -> bool {
        self.signs.load(Ordering::Relaxed) & ASLEEP != 0
    }

    /// Whether somebody sleeps until anything happens.
    #[inline]
    pub fn are_curious(&self) -> bool {
        self.signs.load(Ordering::Relaxed) & CURIOUS != 0
    }

    /// Whether who leaves the library has to call a listener.
    #[inline]
    pub fn lack_listener(&self) -> bool {
        self.signs.load(Ordering::Relaxed) & LACKS_LISTENER != 0
    }
}

/// The sleeping threads of a process.
#[derive(Debug, Default)]
pub struct Parked {
    sleepers: Vec<Option<Sleeper>>,
    parked: usize,
    /// Threads that have slept and are awake for the moment: they look for all.
    awake: usize,
    listens: bool,
    called: bool,
}

/// Somebody to be woken once the lock has been left.
#[derive(Debug)]
pub enum Wake {
    /// A parked thread.
    Parked(Thread),
    /// The listener, by the doorbell of this process.
    Listener,
}

impl Parked {
    fn signs(&self) -> u32 {
        let curious = self.sleepers.iter().flatten().any(|sleeper| sleeper.wants.is_curious());
        let sign = |is: bool, sign| if is { sign } else { 0 };
        sign(!self.is_empty(), ASLEEP) | sign(curious, CURIOUS) | sign(self.lacks_listener(), LACKS_LISTENER)
    }

    /// Whether nobody sleeps.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.parked == 0 && !self.listens
    }

    /// Whether somebody listens for all.
    #[inline]
    pub fn has_listener(&self) -> bool {
        self.listens
    }

    /// Whether threads are parked and nobody listens, looks around, or has been called to: who leaves the library has to
    /// call.
    #[inline]
    pub fn lacks_listener(&self) -> bool {
        self.parked > 0 && !self.listens && !self.called && self.awake == 0
    }

    /// The calling thread is about to sleep: as the listener if there is none, else parked. A listener may doze: then it
    /// looks around by itself soon, and is woken as if it were parked.
    pub fn register(&mut self, wants: Wants, dozes: bool) -> SleeperId {
        let listens = !self.listens;
        if listens {
            self.listens = true;
        } else {
            self.parked += 1;
        }
        let thread = thread::current();
        let sleeper = Some(Sleeper { wants, thread, listens, dozes, woken: false, called: false });
        let free = self.sleepers.iter().position(Option::is_none);
        let at = free.unwrap_or(self.sleepers.len());
        if at == self.sleepers.len() {
            self.sleepers.push(sleeper);
        } else {
            self.sleepers[at] = sleeper;
        }
        SleeperId(at as u32)
    }

    /// Whether this sleeper is the listener.
    pub fn is_listener(&self, id: SleeperId) -> bool {
        self.sleepers.get(id.0 as usize).and_then(Option::as_ref).is_some_and(|sleeper| sleeper.listens)
    }

    /// The calling thread, which was registered, is awake, until it registers again or leaves.
    pub fn unregister(&mut self, id: SleeperId) {
        self.awake += 1;
        let Some(sleeper) = self.sleepers.get_mut(id.0 as usize).and_then(Option::take) else { return };
        if sleeper.listens {
            self.listens = false;
        } else {
            self.parked -= 1;
        }
        if sleeper.called {
            self.called = false; // it will listen, or call another one
        }
    }

    /// A thread that is awake goes back to sleep, or leaves.
    pub fn stops_looking(&mut self) {
        self.awake -= 1;
    }

    /// One of the ends that this sleeper waits for has come; whom to wake if that was the last of them.
    pub fn ended(&mut self, id: SleeperId) -> Option<Wake> {
        let sleeper = self.sleepers.get_mut(id.0 as usize)?.as_mut()?;
        let Wants::Ends(missing) = &mut sleeper.wants else { return None };
        *missing = missing.saturating_sub(1);
        if *missing > 0 { None } else { sleeper.wake() }
    }

    /// Something happened that is nobody's end: whom to wake of those that wait for anything.
    pub fn happened(&mut self) -> Vec<Wake> {
        let curious = |sleeper: &&mut Sleeper| sleeper.wants.is_curious();
        self.sleepers.iter_mut().flatten().filter(curious).filter_map(Sleeper::wake).collect()
    }

    /// The listener has found something that is not its own: whom to wake of those that are parked and wait for anything.
    pub fn found(&mut self) -> Vec<Wake> {
        let curious = |sleeper: &&mut Sleeper| sleeper.wants.is_curious() && !sleeper.listens;
        self.sleepers.iter_mut().flatten().filter(curious).filter_map(Sleeper::wake).collect()
    }

    /// The bell was rung, or may have been while nobody heard it: whom to wake of those that are parked and wait for what no packet
    /// tells.
    pub fn look_again(&mut self) -> Vec<Wake> {
        let looks = |sleeper: &&mut Sleeper| sleeper.wants == Wants::Unannounced && !sleeper.listens;
        self.sleepers.iter_mut().flatten().filter(looks).filter_map(Sleeper::wake).collect()
    }

    /// There is work that the listener leaves to others: all that are parked look for it.
    pub fn rouse_parked(&mut self) -> Vec<Wake> {
        self.sleepers
            .iter_mut()
            .flatten()
            .filter(|sleeper| !sleeper.listens)
            .filter_map(Sleeper::wake)
            .collect()
    }

    /// There is work that only a thread which is awake can do: wakes the listener.
    pub fn rouse_listener(&mut self) -> Option<Wake> {
        self.sleepers.iter_mut().flatten().find(|sleeper| sleeper.listens)?.wake()
    }

    /// Calls a parked thread to listen, if nobody does.
    pub fn call_listener(&mut self) -> Option<Wake> {
        if !self.lacks_listener() {
            return None;
        }
        // One that has been woken already is on its way, and calls the next one when it leaves.
        let asleep = |sleeper: &&mut Sleeper| !sleeper.woken && !sleeper.listens;
        let sleeper = self.sleepers.iter_mut().flatten().find(asleep)?;
        sleeper.called = true;
        self.called = true;
        sleeper.wake()
    }
}

impl Sleeper {
    fn wake(&mut self) -> Option<Wake> {
        if std::mem::replace(&mut self.woken, true) {
            return None;
        }
        let thread = self.thread.clone();
        Some(if self.listens && !self.dozes { Wake::Listener } else { Wake::Parked(thread) })
    }
}

impl Wake {
    /// Wakes; the listener by `ring`, at the doorbell.
    pub fn now(self, ring: impl FnOnce()) {
        match self {
            Self::Listener => ring(),
            Self::Parked(thread) => thread.unpark(),
        }
    }
}

/// Parks the calling thread until it is woken, or for `limit`; it may also return for no reason.
pub fn park(limit: Duration) {
    #[cfg(not(loom))]
    thread::park_timeout(limit);
    #[cfg(loom)]
    {
        let _ = limit; // in the model a lost wake-up has to be seen
        thread::park();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_the_listener_finds_wakes_the_others_that_wait_for_anything() {
        let mut parked = Parked::default();
        parked.register(Wants::Anything, false);
        parked.register(Wants::Ends(1), false);
        assert_eq!(parked.found().len(), 0);
        parked.register(Wants::Anything, false);
        assert_eq!(parked.found().len(), 1);
        assert_eq!(parked.found().len(), 0, "it has been woken");
    }

    #[test]
    fn the_first_sleeper_listens_and_the_others_are_parked() {
        let mut parked = Parked::default();
        assert!(parked.is_empty() && !parked.lacks_listener());
        let first = parked.register(Wants::Ends(1), false);
        let second = parked.register(Wants::Ends(2), false);
        assert!(parked.is_listener(first) && !parked.is_listener(second));
        assert!(parked.ended(second).is_none());
        assert!(matches!(parked.ended(second), Some(Wake::Parked(_))));
        assert!(parked.ended(second).is_none(), "woken twice");
        assert!(matches!(parked.ended(first), Some(Wake::Listener)));
    }

    #[test]
    fn a_listener_that_leaves_calls_one_that_sleeps() {
        let mut parked = Parked::default();
        let [first, second, third] = [(); 3].map(|()| parked.register(Wants::Ends(1), false));
        assert!(parked.call_listener().is_none());
        assert!(parked.ended(second).is_some());
        parked.unregister(first);
        assert!(!parked.lacks_listener(), "the first one looks");
        parked.stops_looking();
        assert!(parked.lacks_listener());
        assert!(matches!(parked.call_listener(), Some(Wake::Parked(_))));
        assert!(parked.call_listener().is_none(), "two are called");
        parked.unregister(second);
        parked.stops_looking();
        assert!(!parked.lacks_listener());
        parked.unregister(third); // it was called
        assert!(parked.is_empty());
        assert!(!parked.is_listener(first));
    }

    #[test]
    fn work_that_the_listener_leaves_wakes_all_others() {
        let mut parked = Parked::default();
        let [listener, ..] = [(); 3].map(|()| parked.register(Wants::Ends(1), false));
        assert_eq!(parked.rouse_parked().len(), 2);
        assert!(parked.rouse_parked().is_empty());
        assert!(matches!(parked.ended(listener), Some(Wake::Listener)));
    }

    #[test]
    fn the_bell_has_those_look_again_that_wait_for_what_it_alone_tells() {
        let mut parked = Parked::default();
        parked.register(Wants::Unannounced, false);
        assert!(parked.look_again().is_empty(), "the listener hears the bell itself");
        parked.register(Wants::Anything, false);
        let second = parked.register(Wants::Unannounced, false);
        assert!(matches!(parked.look_again()[..], [Wake::Parked(_)]));
        assert!(parked.look_again().is_empty(), "woken twice");
        parked.unregister(second);
        assert_eq!(parked.happened().len(), 2);
    }

    #[test]
    fn who_waits_for_anything_hears_of_everything_once() {
        let mut parked = Parked::default();
        let listener = parked.register(Wants::Anything, false);
        parked.register(Wants::Ends(1), false);
        parked.register(Wants::Anything, false);
        assert_eq!(parked.happened().len(), 2);
        assert!(parked.happened().is_empty());
        assert!(parked.ended(listener).is_none());
    }
}
