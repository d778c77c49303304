//! The engine of this process, and who has a share of it: the C library between `MPI_Init` and `MPI_Finalize`, each session,
//! each `Universe` of the Rust API.
//!
//! The first share opens the engine, the last one that is closed closes it, and then it can be opened again. Opening and
//! closing bring all processes of the job together. Between two openings the process remains a member of its job: the
//! connection to the launcher stays, and the end of the process takes leave, unless whoever closed the last share has said that
//! the job is left (`MPI_Finalize`). MPI-5.0 §11.2, §11.3.
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
use crate::error::{Error, ErrorClass, Result};
use crate::jobs::Jobs;
use crate::world::{Calls, Engines, Membership, World};

/// Which threads use a share.
///
/// Whoever opens the engine decides whether it excludes threads from each other: [`Threads::Several`], or the setting
/// `POSTHASTE_THREADED`, or the progress thread. It does not change while the engine is open, for whoever is inside has not
/// locked anything; so a later share can have less than it asks for ([`World::is_threaded`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// The one that asks, which types ensure.
    This,
    /// Any, but never two at the same time, in none of the shares: the binding vouches for it, because its user has promised it
    /// (`MPI_THREAD_SERIALIZED` and below).
    OneAtATime,
    /// Any at any time (`MPI_THREAD_MULTIPLE`).
    Several,
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
    closed: Cell<bool>,
}

/// Takes a share of this process's engine, whose blocking calls have these names; opens the engine if it is closed, together with
/// all other processes of the job.
///
/// # Errors
/// When this process cannot join the job it was started for, or not again; when there is not enough memory; when the engine is
/// in use by another thread and does not exclude threads from each other; when a copy of another build, or with another
/// allocator, has an engine in this process already.
pub fn share(threads: Threads, calls: Calls) -> Result<Share> {
    let instance = Instance::of_process()?;
    let mut state = instance.state();
    let State { membership, open } = &mut *state;
    let thread = machine::this_thread();
    let open = match open {
        Some(open) => open,
        None => {
            let engines = Engines::open(threads == Threads::Several, membership)?;
            open.insert(Open { engines, shares: 0, thread, threads })
        }
    };
    let vouched = threads != Threads::This && open.threads != Threads::This;
    if !(open.engines.is_threaded() || vouched || thread == open.thread) {
        return Err(Error::other(
            ErrorClass::Other,
            "another thread of this process has opened the engine, for itself alone: open it first for several threads \
             (MPI_Init_thread with MPI_THREAD_MULTIPLE, or POSTHASTE_THREADED=1), or use it on one thread",
        ));
    }
    open.shares += 1;
    Ok(Share { world: open.engines.world(calls), instance, closed: Cell::new(false) })
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

/// The process ends, and nobody has taken leave of the launcher. While a share is open that would be wrong: the others wait.
fn leave_at_exit() {
    let Ok(instance) = Instance::of_process() else { return };
    let state = match instance.state.try_lock() {
        Ok(state) => state,
        Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        Err(TryLockError::WouldBlock) => return,
    };
    if let State { open: None, membership: Some(membership) } = &*state {
        membership.leave();
    }
}

impl Share {
    /// Gives the share back; the last one closes the engine, which waits until all processes of the job do so. Done again it
    /// does nothing.
    ///
    /// # Errors
    /// When the last synchronisation fails; the engine stays open.
    pub fn close(&self, job: Job) -> Result<()> {
        if self.closed.get() {
            return Ok(());
        }
        let mut state = self.instance.state();
        let State { membership, open } = &mut *state;
        match open {
            Some(others) if others.shares > 1 => {
                others.shares -= 1;
                self.closed.set(true);
                drop(state);
                // What was sent through this share leaves now, for the others may not call for a long time.
                self.world.drain_for_a_while();
                return Ok(());
            }
            _ => self.world.close()?,
        }
        self.closed.set(true);
        *open = None;
        if let Some(membership) = membership {
            match job {
                Job::Left => membership.leave(),
                Job::Stays => process::at_exit(leave_at_exit),
            }
        }
        Ok(())
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
        if let Some(open) = &mut state.open {
            open.shares -= 1;
            if open.shares == 0 {
                state.open = None;
            }
        }
    }
}
