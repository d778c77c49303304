//! The progress thread: keeps transfers going while the program computes (`POSTHASTE_PROGRESS_THREAD`). Another one does what others
//! ask of this process's windows, of which the first one starts it (`POSTHASTE_WINDOW_THREAD`): it calls no function of the
//! program, neither handlers nor operations. Its deputy sees to it that it comes to run beside a program that computes.
//!
//! It is a waiter that waits for nothing: it advances what there is, runs handlers, and sleeps like any other thread,
//! as the one that listens if no other does. Beside a thread that computes it sleeps at once; where threads of the program sleep in
//! the library, and each rank has a CPU, the one for windows is as patient as they have been. MPI-5.0 §3.7.4
//! "progress"; seed 001, "poll may be called from many places".

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use posthaste_os::machine;

use crate::error::{Error, Result};
use crate::runtime::{Others, Seen, make_progress, only_serve, serves_only};
use crate::wait::sleep::LONGEST_DOZE;
use crate::wait::{Awaited, Idler, Waiting};

/// From one look of a deputy to the next.
const BEAT: Duration = Duration::from_micros(300);
/// After so many looks since the thread was last needed its deputy rests.
const BEATS: u32 = 150;
/// A look counts for so many where the program looks around itself.
const BESIDE_ACTIVE: u32 = 15;

/// The thread, and its deputy if it has one. They end when they have to, or with the process.
#[derive(Debug)]
pub struct ProgressThread {
    state: Arc<State>,
    threads: Vec<JoinHandle<()>>,
}

/// What the thread, its deputy and who ends them know of each other.
#[derive(Debug, Default)]
struct State {
    over: Arc<AtomicBool>,
    /// The thread sleeps, or was woken and has not come to run.
    asleep: AtomicBool,
    deputy: OnceLock<Thread>,
    /// Looks of the deputy until it rests.
    beats: AtomicU32,
}

impl ProgressThread {
    /// Starts it. The VCI must have a real lock.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(waiting: &Arc<Waiting>) -> Result<Self> {
        let state = Arc::<State>::default();
        let thread = spawn(&state, waiting, |state, waiting| waiting.attend(state))?;
        Ok(Self { state, threads: vec![thread] })
    }

    /// Starts one that calls no function of the program, and a deputy, without which it does what it has to, too, but later.
    ///
    /// # Errors
    /// As [`ProgressThread::start`].
    pub fn serving(waiting: &Arc<Waiting>) -> Result<Self> {
        let state = Arc::<State>::default();
        let serving = |does: fn(&Waiting, &State)| {
            spawn(&state, waiting, move |state, waiting| {
                only_serve();
                machine::take_short_turns();
                does(waiting, state);
            })
        };
        let mut threads = vec![serving(Waiting::attend)?];
        if let Ok(deputy) = serving(Waiting::look_in) {
            state.deputy.get_or_init(|| deputy.thread().clone());
            threads.push(deputy);
        }
        Ok(Self { state, threads })
    }

    /// Ends it, and waits until it has ended, unless that is the thread that asks.
    pub fn stop(self, waiting: &Waiting) {
        self.state.over.store(true, Ordering::Release);
        self.threads.iter().for_each(|thread| thread.thread().unpark());
        waiting.runtime.doorbell.nudge();
        for thread in self.threads {
            if thread.thread().id() != thread::current().id() {
                // It has panicked, or it is over: either way it does nothing more.
                let _ = thread.join();
            }
        }
    }
}

fn spawn(
    state: &Arc<State>,
    waiting: &Arc<Waiting>,
    body: impl FnOnce(&State, &Waiting) + Send + 'static,
) -> Result<JoinHandle<()>> {
    let (state, waiting) = (Arc::clone(state), Arc::clone(waiting));
    thread::Builder::new()
        .name("posthaste-progress".to_owned())
        .spawn(move || body(&state, &waiting))
        .map_err(|e| Error::system("starting the progress thread", e))
}

impl State {
    /// The thread has done something, and may soon have to again.
    fn has_helped(&self) {
        if let Some(deputy) = self.deputy.get()
            && self.beats.swap(BEATS, Ordering::Relaxed) == 0
        {
            deputy.unpark();
        }
    }
}

impl Waiting {
    /// Advances everything until it is over. It is at home in the first VCI.
    fn attend(&self, state: &State) {
        make_progress();
        // As if it had slept until now: beside a program that looks around all the time it dozes at once. It might find something each
        // time that it is about to sleep, and never do.
        let mut idler = Idler { slept: true, steps: self.runtime.enter(0).steps, ..Idler::default() };
        while !state.over.load(Ordering::Acquire) {
            let mut busy = self.runtime.advance(0);
            idler.steps += 1;
            if self.runtime.has_vcis() {
                let others = self.runtime.look_after_others(&[0], idler.seen.get_or_insert_default());
                idler.others |= others.active;
                busy |= others.busy;
            }
            // A network may do all by itself as soon as it is looked at: then nothing else tells that it was needed.
            if busy | std::mem::take(&mut idler.roused) {
                // Not for what the program itself would have seen, which looks around all the time.
                if idler.doze < LONGEST_DOZE {
                    state.has_helped();
                }
            }
            // The program's thread has given its CPU up, and to sleep after each message would cost more than the message.
            let is_patient = serves_only() && self.may_spin() && self.runtime.sleepers.are_there();
            if busy {
                idler.since = None;
            } else if !is_patient || self.has_waited(0, &mut idler) {
                state.asleep.store(true, Ordering::Relaxed);
                self.sleep(0, &mut idler, "progress", &|_| Awaited::End(Arc::clone(&state.over)));
                state.asleep.store(false, Ordering::Relaxed);
            }
        }
        self.leave(&idler);
    }

    /// The deputy. Who was woken beside a program that computes may have to wait for the end of that one's turn, and the system sees it at
    /// its next tick, up to four milliseconds later, or as soon as anybody else wakes there: so this thread does, every 0.3 ms
    /// for a while after the other one was needed. Where it wakes on another CPU, it does itself what there is to do.
    fn look_in(&self, state: &State) {
        make_progress();
        let mut seen = Seen::default();
        while !state.over.load(Ordering::Acquire) {
            let beats = state.beats.load(Ordering::Relaxed);
            if beats == 0 {
                thread::park();
                continue;
            }
            thread::sleep(BEAT);
            let is_asleep = state.asleep.load(Ordering::Relaxed);
            let others = if is_asleep { self.runtime.stand_in(&mut seen) } else { Others::default() };
            let left = match others {
                Others { busy: true, .. } => BEATS,
                Others { active: true, .. } => beats.saturating_sub(BESIDE_ACTIVE),
                _ => beats - 1,
            };
            // The thread may have been needed since then.
            let _ = state.beats.compare_exchange(beats, left, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}
