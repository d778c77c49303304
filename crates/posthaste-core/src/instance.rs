//! The engine of this process, and who has a share of it: the C library between `MPI_Init` and `MPI_Finalize`, each session,
//! each `Universe` of the Rust API.
//!
//! The first share opens the engine. Those of `MPI_Init` and of a `Universe` are taken and closed by all processes of the job
//! together ([`share`]): the last of these that is closed closes the engine, and then it can be opened again, which brings all
//! processes together, too. Between two openings the process remains a member of its job: the connection to the launcher stays,
//! and the end of the process takes leave, unless whoever closed the last share has said that the job is left (`MPI_Finalize`).
//! MPI-5.0 §11.2.
//!
//! Sessions come and go in each process alone ([`session`]), so their end waits for nobody: the engine stays open without
//! shares, for the next one, and the end of the process closes it. What processes close together they then leave open, if one
//! of them has had a session (`World::take_leave`): otherwise that one could not know that the others open theirs again. §11.3.
//!
//! All copies of this code that the process has loaded (the C library, extension libraries, a program with the crate linked in)
//! share one instance, which they find by a note in their files (`os/slot.rs`); copies of two builds cannot. A `static` of the
//! engine or below it therefore exists once for each copy. Each either says why that does no harm, or is reached through the
//! instance, as the tables of jobs and of devices are. What holds for all: numbers come from tables that are alike in copies of one build; memory
//! is given back to the allocator that it came from; locks and the threads that sleep on them stand in the locked object.
//!
//! What must stay true: a process has one engine at a time, whichever copies use it; threads that do not exclude each other by a lock never have
//! shares that they could use at the same time, unless a binding vouches that they do not ([`Threads`]).

use std::cell::Cell;
use std::ops::Deref;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use posthaste_os::{machine, process, slot};

use crate::buffer::device::Devices;
use crate::config::{Config, INITIAL_HANDLER, InitialHandler};
use crate::error::{Error, ErrorClass, Result};
use crate::jobs::Jobs;
use crate::world::{Calls, Engines, Membership, World};

/// Which threads use a share.
///
/// Whoever opens the engine decides whether it excludes threads from each other: [`Threads::Several`] and
/// [`Threads::WithProgress`], or the setting `POSTHASTE_THREADED`, or the progress thread. It does not change while the engine is open, for whoever is inside has not
/// locked anything; so a later share can have less than it asks for ([`World::is_threaded`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The one that asks, which types ensure.
    This,
    /// The same, beside the progress thread.
    WithProgress,
    /// Any, but never two at the same time, in none of the shares: the binding vouches for it, because its user has promised it
    /// (`MPI_THREAD_SERIALIZED` and below).
    OneAtATime,
    /// Any at any time (`MPI_THREAD_MULTIPLE`).
    Several,
}

impl Threads {
    /// Whether they exclude each other by locks, if they open the engine.
    fn lock(self) -> bool {
        matches!(self, Self::WithProgress | Self::Several)
    }

    /// Whether a binding vouches that they do not call at the same time in an engine without locks.
    fn are_vouched_for(self) -> bool {
        matches!(self, Self::OneAtATime | Self::Several)
    }
}

/// What becomes of the job when the last share is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// This process remains a member, so that the engine can be opened again; its end takes leave of the launcher.
    Stays,
    /// Leave is taken of the launcher now, as `MPI_Finalize` wants it. Not every launcher lets a process in again.
    Left,
}

/// The engine of a process, open or not.
#[derive(Debug)]
struct Instance {
    state: Mutex<State>,
    jobs: &'static Jobs,
    devices: &'static Devices,
}

#[derive(Debug)]
struct State {
    membership: Option<Membership>,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    engines: Engines,
    shares: usize,
    /// Those among them that all processes close together.
    common: usize,
    /// There is or was a share that goes alone.
    had_sessions: bool,
    /// Who opened it.
    thread: usize,
    threads: Threads,
}

/// The name of this build, which copies that share an engine have in common.
pub const BUILD: &str = env!("POSTHASTE_BUILD");

impl Instance {
    /// The instance of this process, which the first copy that asks has made.
    fn of_process() -> Result<&'static Self> {
        let state = State { membership: None, open: None };
        let new =
            || Self { state: Mutex::new(state), jobs: Jobs::of_process(), devices: Devices::of_process() };
        let instance = slot::shared(BUILD, new);
        let instance = instance.map_err(|why| Error::other(ErrorClass::Other, why.to_string()))?;
        Jobs::adopt(instance.jobs);
        Devices::adopt(instance.devices);
        Ok(instance)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A share of the engine. It can be used like the [`World`] that it is; dropped without [`Share::close`], it is given back
/// without waiting for anybody.
#[derive(Debug)]
pub struct Share {
    world: World,
    instance: &'static Instance,
    goes: Goes,
    closed: Cell<bool>,
}

/// How a share comes and goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    /// All processes of the job do so.
    Together,
    /// Whenever this process likes.
    Alone,
}

/// Takes a share of this process's engine, whose blocking calls have these names; opens the engine if it is closed, together with
/// all other processes of the job.
///
/// # Errors
/// When this process cannot join the job it was started for, or not again; when there is not enough memory; when the engine is
/// in use by another thread and does not exclude threads from each other; when a copy of another build, or with another
/// allocator, has an engine in this process already.
pub fn share(threads: Threads, calls: Calls) -> Result<Share> {
    take(threads, calls, Goes::Together)
}

/// Takes a share that this process closes when it likes, whatever others do; opens the engine if it is closed, which waits for
/// others only where the first opening does: between hosts, and after all processes have closed the engine together.
///
/// # Errors
/// As [`share`].
pub fn session(threads: Threads, calls: Calls) -> Result<Share> {
    take(threads, calls, Goes::Alone)
}

fn take(threads: Threads, calls: Calls, goes: Goes) -> Result<Share> {
    let instance = Instance::of_process()?;
    let mut state = instance.state();
    let State { membership, open } = &mut *state;
    let open = match open {
        Some(open) => open,
        None => {
            let engines = Engines::open(threads.lock(), membership)?;
            let thread = machine::this_thread();
            let had_sessions = false;
            open.insert(Open { engines, shares: 0, common: 0, had_sessions, thread, threads })
        }
    };
    open.admit(threads, goes)?;
    Ok(Share { world: open.engines.world(calls), instance, goes, closed: Cell::new(false) })
}

impl Open {
    /// One share more.
    fn admit(&mut self, threads: Threads, goes: Goes) -> Result<()> {
        let thread = machine::this_thread();
        if self.shares == 0 {
            (self.thread, self.threads) = (thread, threads);
        }
        let vouched = threads.are_vouched_for() && self.threads.are_vouched_for();
        if !(self.engines.is_threaded() || vouched || thread == self.thread) {
            return Err(Error::other(
                ErrorClass::Other,
                "another thread of this process has opened the engine, for itself alone: open it first for several threads \
                 (MPI_Init_thread with MPI_THREAD_MULTIPLE, or POSTHASTE_THREADED=1), or use it on one thread",
            ));
        }
        self.shares += 1;
        match goes {
            Goes::Together => self.common += 1,
            Goes::Alone => self.had_sessions = true,
        }
        Ok(())
    }
}

/// The error handler that this process was started with (MPI-5.0 §11.5), the default when the setting cannot be read. The variable
/// that names it is spent when the process joins its job.
pub fn initial_handler() -> InitialHandler {
    let joined = Instance::of_process().ok().and_then(|instance| {
        let state = instance.state();
        state.membership.as_ref().map(Membership::initial_handler)
    });
    let only = |name: &str| if name == INITIAL_HANDLER { std::env::var(name).ok() } else { None };
    joined.unwrap_or_else(|| Config::read(only).unwrap_or_default().initial_handler)
}

/// Ends this process with `code`, and with it the job that it belongs to, though it has no engine: it could not join, or has closed
/// it.
pub fn abort(code: i32) -> ! {
    process::ignore_request_to_end();
    if let Ok(instance) = Instance::of_process()
        && let Some(membership) = &instance.state().membership
    {
        membership.abort(code);
    }
    std::process::exit(if code == 0 { 1 } else { code })
}

/// The process ends, and nobody has taken leave of the launcher. While a share is open that would be wrong: the others wait. An
/// engine that stayed open without shares is closed.
fn leave_at_exit() {
    let Ok(instance) = Instance::of_process() else { return };
    let mut state = match instance.state.try_lock() {
        Ok(state) => state,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    let State { membership, open } = &mut *state;
    match open {
        Some(open) if open.shares > 0 => return,
        Some(open) => open.engines.world(Calls::C).close(),
        None => {}
    }
    if let Some(membership) = membership {
        membership.leave();
    }
}

impl Share {
    /// Gives the share back. The last of those that all processes close together closes the engine, which waits until all do so;
    /// one of a session waits for nobody. Done again it does nothing.
    ///
    /// # Errors
    /// When the last synchronisation fails; the engine stays open.
    pub fn close(&self, job: Job) -> Result<()> {
        if self.closed.get() {
            return Ok(());
        }
        let is_last_common = |open: &Open| self.goes == Goes::Together && open.common == 1;
        let parts = self
            .instance
            .state()
            .open
            .as_ref()
            .filter(|open| is_last_common(open))
            .map(|open| open.had_sessions);
        // Others may take and close shares meanwhile, so nothing is locked.
        let stays = parts.map_or(Ok(true), |stays| self.world.take_leave(stays))?;
        if stays {
            // What was sent through this share leaves now, for the others may not call for a long time; while the share is still
            // counted, so that no other thread takes the engine over.
            self.world.drain_for_a_while();
        }
        let mut state = self.instance.state();
        self.give_back(&mut state);
        let State { membership, open } = &mut *state;
        let is_used = open.as_ref().is_some_and(|open| open.shares > 0 || open.had_sessions);
        if stays || is_used {
            process::at_exit(leave_at_exit);
            return Ok(());
        }
        self.world.close();
        *open = None;
        if let Some(membership) = membership {
            match job {
                Job::Left => membership.leave(),
                Job::Stays => process::at_exit(leave_at_exit),
            }
        }
        Ok(())
    }

    /// Takes a share of a session again that was closed.
    ///
    /// # Errors
    /// As [`session`].
    pub fn take_again(&self, threads: Threads) -> Result<()> {
        if self.closed.get() {
            let mut state = self.instance.state();
            let open = state.open.as_mut().filter(|_| self.goes == Goes::Alone);
            let closed =
                || Error::other(ErrorClass::Intern, "a share was taken again of an engine that is closed");
            open.ok_or_else(closed)?.admit(threads, self.goes)?;
            self.closed.set(false);
        }
        Ok(())
    }

    fn give_back(&self, state: &mut State) {
        self.closed.set(true);
        if let Some(open) = &mut state.open {
            open.shares -= 1;
            open.common -= usize::from(self.goes == Goes::Together);
        }
    }
}

impl Deref for Share {
    type Target = World;

    #[inline(always)]
    fn deref(&self) -> &World {
        &self.world
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.closed.get() {
            return;
        }
        let mut state = self.instance.state();
        self.give_back(&mut state);
        match &state.open {
            Some(open) if open.shares == 0 && open.had_sessions => process::at_exit(leave_at_exit),
            Some(open) if open.shares == 0 => {
                state.open = None;
                drop(state);
                self.world.stop_progress_thread();
            }
            _ => {}
        }
    }
}
