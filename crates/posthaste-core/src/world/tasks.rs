//! Awaiting: requests and messages of which a task of an executor wants to know, and an executor of our own.
//!
//! A task that awaits something is woken by whoever finds that it is there. Someone has to look: the progress thread, a call
//! that waits, or [`World::block_on`], which advances everything while its future has nothing to do, and then sleeps like any
//! other wait. A future that finds nothing takes a step itself, unless the progress thread does: what comes with that step needs
//! no waker. On another executor without the progress thread nobody looks while the executor sleeps; so there it also asks to be
//! polled again ([`World::is_attended`]).
//!
//! What must stay true: who finds that something goes on and registers does both in one visit of the VCI.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use posthaste_os::machine;

use crate::comm::Comm;
use crate::error::{Error, ErrorClass, Result};
use crate::ids::RequestId;
use crate::progress::Vci;
use crate::pt2pt::listeners::ListenerId;
use crate::pt2pt::matching::Unexpected;
use crate::pt2pt::probe;
use crate::request::{Status, complete};
use crate::runtime::Runtime;
use crate::wait::{Awaited, ProgressThread};
use crate::world::{Sought, World, sought, take_if_complete};

/// Tests before a task that does nothing else leaves a waker: about as long as that takes.
const PATIENCE: u32 = 16;

/// The registration of a task that waits for a message. Dropped, it is forgotten.
#[derive(Debug)]
pub struct Listener {
    runtime: Weak<Runtime>,
    at: usize,
    id: ListenerId,
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.upgrade() {
            let waker = runtime.enter(self.at).engine.listeners.forget(self.id);
            drop(waker); // outside
        }
    }
}

impl World {
    /// Takes the status if the request is over; otherwise `waker` is woken when it is, in the place of an earlier one. Takes a
    /// step before, unless the progress thread does.
    ///
    /// # Errors
    /// A stale id.
    pub fn poll(&self, id: RequestId, waker: &Waker) -> Result<Poll<Status>> {
        let at = self.vci_number(id.slot as usize);
        let look = |registers: bool| {
            let mut vci = self.runtime.enter(at);
            let taken = take_if_complete(&mut vci, id).transpose()?;
            if taken.is_none() && registers {
                let engine = &mut vci.engine;
                let before = complete::watch_by_task(&mut engine.requests, &mut engine.finished, id, waker);
                drop(vci);
                drop(before);
            }
            Ok(taken)
        };
        self.look_twice(at, waker, look)
    }

    /// As [`World::poll`], for a task that does nothing else meanwhile: where every rank has a CPU what comes in a moment is taken
    /// without a waker.
    ///
    /// # Errors
    /// A stale id.
    pub fn poll_patiently(&self, id: RequestId, waker: &Waker) -> Result<Poll<Status>> {
        if self.waiting.may_spin() && !self.has_progress_thread() {
            for _ in 0..PATIENCE {
                if let Some(status) = self.test(id)? {
                    return Ok(Poll::Ready(status));
                }
            }
        }
        self.poll(id, waker)
    }

    /// `waker` is woken when a test would find the request over: now, if it would.
    pub fn watch(&self, id: RequestId, waker: &Waker) {
        let mut vci = self.runtime.enter(self.vci_number(id.slot as usize));
        let engine = &mut vci.engine;
        let goes_on =
            |id: &RequestId| engine.requests.get(*id).is_some_and(|request| !complete::is_complete(request));
        match engine.persistent.waited_for(id).filter(goes_on) {
            Some(behind) => {
                let before =
                    complete::watch_by_task(&mut engine.requests, &mut engine.finished, behind, waker);
                drop(vci);
                drop(before);
            }
            None => {
                drop(vci);
                waker.wake_by_ref();
            }
        }
    }

    /// Takes what a receive would get now out of the queue, `None` being the message from nobody; otherwise `waker` is woken when
    /// there may be something, as long as `listener` lives.
    ///
    /// # Errors
    /// A wrong rank or tag; a sender that is down.
    pub fn poll_message(
        &self,
        comm: &Comm,
        (from, tag): (i32, i32),
        listener: &mut Option<Listener>,
        waker: &Waker,
    ) -> Result<Poll<Option<Unexpected>>> {
        let Some(Sought { pattern, .. }) = sought(comm, from, tag)? else { return Ok(Poll::Ready(None)) };
        let at = pattern.context.vci();
        let look = |registers: bool| {
            let mut vci = self.runtime.enter(at);
            let Vci { engine, methods, .. } = &mut *vci;
            if let Some(message) = probe::take(engine, methods, &pattern) {
                return Ok(Some(Some(message)));
            }
            if let Some(why) = engine.losses.concerns(&engine.contexts, &pattern) {
                return Err(why);
            }
            if !registers {
                return Ok(None);
            }
            let (id, before) = engine.listeners.listen(listener.as_ref().map(|known| known.id), waker);
            drop(vci);
            drop(before);
            match listener {
                Some(known) => known.id = id,
                None => *listener = Some(Listener { runtime: Arc::downgrade(&self.runtime), at, id }),
            }
            Ok(None)
        };
        self.look_twice(at, waker, look)
    }

    /// Looks, takes a step unless the progress thread does, looks again and registers; where nobody makes progress meanwhile the
    /// task asks once more. `look` is told whether to register.
    #[inline]
    fn look_twice<T>(
        &self,
        at: usize,
        waker: &Waker,
        mut look: impl FnMut(bool) -> Result<Option<T>>,
    ) -> Result<Poll<T>> {
        if let Some(found) = look(false)? {
            return Ok(Poll::Ready(found));
        }
        if !self.has_progress_thread() {
            self.runtime.step(at);
        }
        if let Some(found) = look(true)? {
            return Ok(Poll::Ready(found));
        }
        if !self.is_attended() {
            waker.wake_by_ref();
        }
        Ok(Poll::Pending)
    }

    /// Whether somebody makes progress while a task sleeps: the progress thread, or [`World::block_on`].
    pub fn is_attended(&self) -> bool {
        self.block_ons.get() > 0 || self.has_progress_thread()
    }

    /// Whether there is a progress thread.
    pub fn has_progress_thread(&self) -> bool {
        self.common.threaded && self.common.progress.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Starts the progress thread, unless there is one.
    ///
    /// # Errors
    /// When the engine does not exclude threads from each other; when the system gives no thread.
    pub fn ensure_progress_thread(&self) -> Result<()> {
        let mut progress = self.common.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if progress.is_none() {
            if !self.common.threaded {
                return Err(Error::other(
                    ErrorClass::Other,
                    "it needs the progress thread, and the engine was opened for one thread: set POSTHASTE_PROGRESS_THREAD=1, or \
                     open it for several (posthaste::init_with_progress, MPI_Init_thread with MPI_THREAD_MULTIPLE)",
                ));
            }
            *progress = Some(ProgressThread::start(&self.waiting)?);
            drop(progress); // the other thread looks at that
            // What the thread for windows does, this one does, too.
            let serving = self.common.serving.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(serving) = serving {
                serving.stop(&self.waiting);
            }
        }
        Ok(())
    }

    /// Starts the thread that does what others ask of windows, unless there is one, or the progress thread does it, or the setting
    /// forbids it. It and the threads of the program exclude each other from then on.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(crate) fn attend_windows(&self) -> Result<()> {
        let mut serving = self.common.serving.lock().unwrap_or_else(PoisonError::into_inner);
        if serving.is_none() && !self.has_progress_thread() && self.vci().engine.config.window_thread {
            self.runtime.admit_threads();
            *serving = Some(ProgressThread::serving(&self.waiting)?);
        }
        Ok(())
    }

    /// Ends the progress thread, and the one that serves windows, as far as they are there.
    pub(crate) fn stop_progress_thread(&self) {
        for thread in [&self.common.progress, &self.common.serving] {
            let thread = thread.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(thread) = thread {
                thread.stop(&self.waiting);
            }
        }
    }

    /// Runs a future to its end on this thread, in a call with this name. While it has nothing to do everything is advanced,
    /// and when nothing happens the thread sleeps, until a request or a message comes or somebody wakes the future, on any
    /// thread.
    pub fn block_on<F: Future>(&self, call: &'static str, future: F) -> F::Output {
        let signal = Arc::new(Signal {
            woken: AtomicBool::new(false),
            thread: machine::this_thread(),
            runtime: Arc::downgrade(&self.runtime),
        });
        let waker = Waker::from(signal.clone());
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        let _inside = Inside::of(&self.block_ons);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            if signal.woken.load(Ordering::Relaxed) {
                // A task that goes on at once, again and again, keeps nobody from what it may be looking for.
                self.runtime.step(0);
            }
            let awaited = |_: &Vci| {
                let signal = signal.clone();
                Awaited::Tasks(Box::new(move || signal.woken.load(Ordering::Acquire)))
            };
            let woken =
                || signal.woken.load(Ordering::Relaxed) && signal.woken.swap(false, Ordering::Acquire);
            self.waiting.until(0, call, awaited, |_| woken().then_some(()));
        }
    }
}

/// Counts the calls of `block_on` that are under way.
struct Inside<'a>(&'a Cell<u32>);

impl<'a> Inside<'a> {
    fn of(count: &'a Cell<u32>) -> Self {
        count.set(count.get() + 1);
        Self(count)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Wakes the thread that runs a future.
struct Signal {
    woken: AtomicBool,
    thread: usize,
    /// Requests that nobody asks for any more keep their wakers, which must not keep the engine.
    runtime: Weak<Runtime>,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        // The thread itself looks before it sleeps. Another one that is about to sleep is registered before it looks, under the
        // lock taken here.
        if machine::this_thread() != self.thread
            && let Some(runtime) = self.runtime.upgrade()
        {
            let wakes = runtime.sleepers.with(|parked| parked.happened());
            wakes.into_iter().for_each(|wake| runtime.wake(wake));
        }
    }
}
