//! The progress thread: keeps transfers going while the program computes (`POSTHASTE_PROGRESS_THREAD`). Another one does what others
//! ask of this process's windows, of which the first one starts it (`POSTHASTE_WINDOW_THREAD`): it calls no function of the
//! program, neither handlers nor operations.
//!
//! It is a waiter that waits for nothing: it advances what there is, runs handlers, and sleeps like any other thread,
//! as the one that listens if no other does. MPI-5.0 §3.7.4 "progress"; seed 001, "poll may be called from many
//! places".

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::error::{Error, Result};
use crate::runtime::{make_progress, only_serve};
use crate::wait::{Awaited, Idler, Waiting};

/// The thread. It ends when it has to, or with the process.
#[derive(Debug)]
pub struct ProgressThread {
    over: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

impl ProgressThread {
    /// Starts it. The VCI must have a real lock.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(waiting: &Arc<Waiting>) -> Result<Self> {
        Self::spawn(waiting, || ())
    }

    /// Starts one that calls no function of the program.
    ///
    /// # Errors
    /// As [`ProgressThread::start`].
    pub fn serving(waiting: &Arc<Waiting>) -> Result<Self> {
        Self::spawn(waiting, only_serve)
    }

    fn spawn(waiting: &Arc<Waiting>, first: impl FnOnce() + Send + 'static) -> Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let (theirs, waiting) = (Arc::clone(&over), Arc::clone(waiting));
        let thread = thread::Builder::new()
            .name("posthaste-progress".to_owned())
            .spawn(move || {
                first();
                waiting.attend(&theirs);
            })
            .map_err(|e| Error::system("starting the progress thread", e))?;
        Ok(Self { over, thread })
    }

    /// Ends it, and waits until it has ended, unless that is the thread that asks.
    pub fn stop(self, waiting: &Waiting) {
        self.over.store(true, Ordering::Release);
        self.thread.thread().unpark();
        waiting.runtime.doorbell.nudge();
        if self.thread.thread().id() != thread::current().id() {
            // It has panicked, or it is over: either way it does nothing more.
            let _ = self.thread.join();
        }
    }
}

impl Waiting {
    /// Advances everything until it is over. It is at home in the first VCI.
    fn attend(&self, over: &AtomicBool) {
        make_progress();
        let mut idler = Idler::default();
        while !over.load(Ordering::Acquire) {
            let mut busy = self.runtime.advance(0);
            idler.steps += 1;
            if self.runtime.has_vcis() {
                let others = self.runtime.look_after_others(&[0], idler.seen.get_or_insert_default());
                idler.others |= others.active;
                busy |= others.busy;
            }
            if !busy {
                self.sleep(0, &mut idler, "progress", &|_| Awaited::Nothing);
            }
        }
        self.leave(&idler);
    }
}
