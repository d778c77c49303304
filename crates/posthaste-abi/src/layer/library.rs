//! The library between `MPI_Init` and `MPI_Finalize`: the engine and the level of thread support.
//!
//! MPI-5.0 §11.2, §11.6.
//!
//! What must stay true: whoever sees the pointer that [`inside`] reads sees everything behind it; the library is
//! never taken down before the process ends, so references to it live for good. It exists once in the life of a process (MPI-5.0
//! §11.2.2 wants that of `MPI_Init`); the engine that it has a share of may be opened again (`posthaste_core::instance`).

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use posthaste_core::error::{Result, say};
use posthaste_core::instance::{self, Share, Threads};
use posthaste_core::world::Calls;

/// What exists while MPI is initialised.
pub(crate) struct Library {
    /// The share of the engine.
    pub(crate) world: Share,
    /// Level of thread support.
    pub(crate) provided: ThreadLevel,
    /// Whether what the standard leaves out, and other libraries accept, is refused.
    pub(crate) strict: bool,
    /// The thread that called `MPI_Init`.
    pub(crate) main: ThreadId,
}

/// Level of thread support (MPI-5.0 §11.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThreadLevel {
    /// There is one thread.
    Single,
    /// Only the main thread calls.
    Funneled,
    /// One thread calls at a time.
    Serialized,
    /// Any thread calls at any time.
    Multiple,
}

/// Where this process stands between `MPI_Init` and `MPI_Finalize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// MPI was not initialised yet.
    Before,
    /// MPI may be used.
    Inside,
    /// MPI was finalised.
    After,
}

/// This process's rank in the world; -1 before `MPI_Init`.
pub(crate) static WORLD_RANK: AtomicI32 = AtomicI32::new(-1);

static LIBRARY: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
/// The same, and kept after the end: a thread may still look at it, and leak checkers see that it is not lost.
#[used]
static KEPT: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
static STARTED: AtomicBool = AtomicBool::new(false);
/// What every guarded entry looks at: as `LIBRARY`, but null while requests have handlers. So their handlers are looked for
/// before each call without a single instruction in programs that have none.
static DOOR: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
/// Held by whoever opens or closes the door by what handlers there are.
static DOORKEEPER: Mutex<()> = Mutex::new(());

/// The library, while MPI is initialised.
#[inline(always)]
pub(crate) fn inside() -> Option<&'static Library> {
    // SAFETY: the pointer is null or comes from `Box::leak` in `open`; the Acquire pairs with the Release there.
    // Other threads may come here: with MPI_THREAD_MULTIPLE the world's VCI is locked, and below it the program
    // promises that calls do not overlap (MPI-5.0 §11.6.2).
    unsafe { LIBRARY.load(Ordering::Acquire).as_ref() }
}

/// Whether a guarded entry may go on.
#[inline(always)]
pub(crate) fn may_enter() -> bool {
    !DOOR.load(Ordering::Acquire).is_null() || admit()
}

/// The same where the door is closed: MPI is not initialised, or handlers may be due, which are run first (seed 004, "at the
/// earliest opportunity").
#[cold]
fn admit() -> bool {
    let Some(library) = inside() else { return false };
    if library.world.run_due_handlers() == 0 {
        let _one_thread = DOORKEEPER.lock().unwrap_or_else(PoisonError::into_inner);
        if library.world.handlers_attached() == 0 {
            DOOR.store(LIBRARY.load(Ordering::Acquire), Ordering::Release);
        }
    }
    true
}

/// A request has got a handler, so every entry looks for handlers that are due. Called outside all VCIs.
pub(crate) fn watch() {
    let _one_thread = DOORKEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    DOOR.store(ptr::null_mut(), Ordering::Release);
}

/// Whether a request has a handler.
#[inline]
pub(crate) fn is_watched() -> bool {
    DOOR.load(Ordering::Acquire).is_null()
}

/// The library, in an entry that was guarded (`call`).
///
/// # Panics
/// Outside of guarded entries, when MPI is not initialised.
#[inline(always)]
pub(crate) fn library() -> &'static Library {
    match inside() {
        Some(library) => library,
        None => gone(),
    }
}

#[cold]
fn gone() -> ! {
    // Another thread has finalised MPI during this call, which the program must not do (MPI-5.0 §11.2.2).
    say(format_args!("a call was still running on another thread when MPI_Finalize ended"));
    std::process::abort()
}

/// Where this process stands.
pub(crate) fn life() -> Life {
    if inside().is_some() {
        Life::Inside
    } else if STARTED.load(Ordering::Acquire) {
        Life::After
    } else {
        Life::Before
    }
}

/// Takes a share of the engine with the level of thread support that was asked for, which is provided unless the engine is open
/// already and for fewer threads. MPI is not initialised before [`open`].
pub(crate) fn start(required: ThreadLevel) -> Result<Library> {
    let multiple = required == ThreadLevel::Multiple;
    let world = instance::share(if multiple { Threads::Several } else { Threads::OneAtATime }, Calls::C)?;
    let provided = if multiple && !world.is_threaded() { ThreadLevel::Serialized } else { required };
    WORLD_RANK.store(world.rank() as i32, Ordering::Relaxed);
    let strict = world.vci().engine.config.strict;
    Ok(Library { world, provided, strict, main: thread::current().id() })
}

/// MPI is initialised for this process.
pub(crate) fn open(library: Library) {
    STARTED.store(true, Ordering::Release);
    let library: *mut Library = Box::leak(Box::new(library));
    KEPT.store(library, Ordering::Relaxed);
    LIBRARY.store(library, Ordering::Release);
    DOOR.store(library, Ordering::Release);
}

/// MPI is over for this process. Its share of the engine has been closed.
pub(crate) fn end() {
    DOOR.store(ptr::null_mut(), Ordering::Release);
    LIBRARY.store(ptr::null_mut(), Ordering::Release);
}

/// Ends the job.
pub(crate) fn abort(code: i32) -> ! {
    match inside() {
        Some(library) => library.world.abort(code),
        None => instance::abort(code),
    }
}
