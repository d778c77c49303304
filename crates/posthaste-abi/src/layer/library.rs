//! The library between `MPI_Init` and `MPI_Finalize`, and while there are sessions: the engine and the level of thread support.
//!
//! MPI-5.0 §11.2, §11.3, §11.6.
//!
//! What must stay true: whoever sees the pointer that [`inside`] reads sees everything behind it; a library is
//! never taken down before the process ends, so references to it live for good. There are two in the life of a process at most:
//! that of `MPI_Init`, which comes once (MPI-5.0 §11.2.2), and that of all sessions. Each has a share of the one engine
//! (`posthaste_core::instance`); while both are there, calls use that of `MPI_Init`.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};

use posthaste_core::error::{Result, say};
use posthaste_core::instance::{self, Job, Share, Threads};
use posthaste_core::op;
use posthaste_core::world::Calls;

/// What exists while MPI is initialised, or a session is.
pub(crate) struct Library {
    /// The share of the engine.
    pub(crate) world: Share,
    /// Level of thread support.
    pub(crate) provided: ThreadLevel,
    /// Whether what the standard leaves out, and other libraries accept, is refused.
    pub(crate) strict: bool,
    /// The thread that made it: it called `MPI_Init`.
    pub(crate) main: ThreadId,
}

/// Level of thread support (MPI-5.0 §11.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// This process's rank in the world; -1 before `MPI_Init` and the first session.
pub(crate) static WORLD_RANK: AtomicI32 = AtomicI32::new(-1);

static LIBRARY: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
/// The library of `MPI_Init`, until `MPI_Finalize`.
static OF_WORLD: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
/// The same, and kept after the end: a thread may still look at it, and leak checkers see that it is not lost.
#[used]
static KEPT: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
/// The library of all sessions, from the first one on.
static OF_SESSIONS: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
/// How many sessions are open.
static SESSIONS: AtomicUsize = AtomicUsize::new(0);
/// Held by whoever opens or closes one, or begins or ends MPI.
static LIFE: Mutex<()> = Mutex::new(());
static STARTED: AtomicBool = AtomicBool::new(false);
/// What every guarded entry looks at: as `LIBRARY`, but null while requests have handlers. So their handlers are looked for
/// before each call without a single instruction in programs that have none.
static DOOR: AtomicPtr<Library> = AtomicPtr::new(ptr::null_mut());
/// Held by whoever opens or closes the door by what handlers there are.
static DOORKEEPER: Mutex<()> = Mutex::new(());
/// Calls since the last one that found handlers; enough to open the door while there was none.
static WITHOUT: AtomicU32 = AtomicU32::new(UNTIL_OPEN);
/// Calls without handlers that open the door. To open and close it costs more than to look for handlers, and a program that has
/// had one soon has another.
const UNTIL_OPEN: u32 = 1000;

/// The library, while MPI is initialised or there is a session.
#[inline(always)]
pub(crate) fn inside() -> Option<&'static Library> {
    at(&LIBRARY)
}

/// The library between `MPI_Init` and `MPI_Finalize`, which alone have `MPI_COMM_WORLD` and `MPI_COMM_SELF`.
#[inline(always)]
pub(crate) fn of_world() -> Option<&'static Library> {
    at(&OF_WORLD)
}

#[inline(always)]
fn at(place: &AtomicPtr<Library>) -> Option<&'static Library> {
    // SAFETY: the pointer is null or comes from `Box::leak` in `open` or `open_session`; the Acquire pairs with the Release
    // there. Other threads may come here: with MPI_THREAD_MULTIPLE the world's VCI is locked, and below it the program
    // promises that calls do not overlap (MPI-5.0 §11.6.2).
    unsafe { place.load(Ordering::Acquire).as_ref() }
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
    if op::is_called() {
        return true; // the engine is busy with that operation
    }
    let handlers = library.world.run_due_handlers();
    let without = if handlers > 0 { 0 } else { WITHOUT.load(Ordering::Relaxed).saturating_add(1) };
    WITHOUT.store(without, Ordering::Relaxed);
    if without > UNTIL_OPEN {
        open_door(library);
    }
    true
}

#[cold]
fn open_door(library: &Library) {
    let _one_thread = DOORKEEPER.lock().unwrap_or_else(PoisonError::into_inner);
    let is_watched = || library.world.handlers_attached() > 0 || library.world.has_left_to_program();
    if !is_watched() {
        DOOR.store(LIBRARY.load(Ordering::Acquire), Ordering::Release);
        // Who has attached one since then has found the door closed, and left it.
        if is_watched() {
            DOOR.store(ptr::null_mut(), Ordering::Release);
        }
    }
}

/// A request has got a handler, or something is left to threads of the program, so every entry looks for what is due. Called
/// outside all VCIs.
pub(crate) fn watch() {
    // SYNC: the VCI of the request orders this with `open_door`, which enters it once more after it has opened the door.
    if is_watched() {
        return;
    }
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
    if of_world().is_some() {
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
    Ok(Library::with(world, required))
}

impl Library {
    fn with(world: Share, required: ThreadLevel) -> Self {
        WORLD_RANK.store(world.rank() as i32, Ordering::Relaxed);
        let provided = provided(&world, required);
        let strict = world.vci().engine.config.strict;
        Self { world, provided, strict, main: thread::current().id() }
    }
}

/// What the engine provides of a level, which has real locks or not.
fn provided(world: &Share, required: ThreadLevel) -> ThreadLevel {
    if world.is_threaded() { required } else { required.min(ThreadLevel::Serialized) }
}

/// A session begins, with the level of thread support that it asks for; gives what is provided.
///
/// Each session is used by threads of its own, whichever level it has, so only one that promises a process of one thread does
/// without locks.
pub(crate) fn open_session(required: ThreadLevel) -> Result<ThreadLevel> {
    let threads = if required == ThreadLevel::Single { Threads::OneAtATime } else { Threads::Several };
    let _one_thread = LIFE.lock().unwrap_or_else(PoisonError::into_inner);
    let library = match at(&OF_SESSIONS) {
        Some(library) => library,
        None => {
            let library = Library::with(instance::session(threads, Calls::C)?, required);
            let library: *mut Library = Box::leak(Box::new(library));
            OF_SESSIONS.store(library, Ordering::Release);
            at(&OF_SESSIONS).expect("just made")
        }
    };
    library.world.take_again(threads)?;
    SESSIONS.fetch_add(1, Ordering::Relaxed);
    if of_world().is_none() {
        use_library(&OF_SESSIONS);
    }
    Ok(provided(&library.world, required))
}

/// A session is over. The last one gives its share of the engine back.
pub(crate) fn close_session() -> Result<()> {
    let _one_thread = LIFE.lock().unwrap_or_else(PoisonError::into_inner);
    if open_sessions() == 1
        && let Some(library) = at(&OF_SESSIONS)
    {
        library.world.close(Job::Stays)?;
        if of_world().is_none() {
            use_none();
        }
    }
    SESSIONS.fetch_sub(1, Ordering::Relaxed);
    Ok(())
}

/// Whether there was a session.
pub(crate) fn has_had_sessions() -> bool {
    at(&OF_SESSIONS).is_some()
}

/// How many sessions are open.
pub(crate) fn open_sessions() -> usize {
    SESSIONS.load(Ordering::Relaxed)
}

/// Calls use this library from now on. The door stays closed, for the next call to look whether there are handlers.
fn use_library(of: &AtomicPtr<Library>) {
    WITHOUT.store(UNTIL_OPEN, Ordering::Relaxed);
    DOOR.store(ptr::null_mut(), Ordering::Release);
    LIBRARY.store(of.load(Ordering::Acquire), Ordering::Release);
}

/// No calls any more.
fn use_none() {
    DOOR.store(ptr::null_mut(), Ordering::Release);
    LIBRARY.store(ptr::null_mut(), Ordering::Release);
}

/// MPI is initialised for this process.
pub(crate) fn open(library: Library) {
    STARTED.store(true, Ordering::Release);
    let library: *mut Library = Box::leak(Box::new(library));
    KEPT.store(library, Ordering::Relaxed);
    let _one_thread = LIFE.lock().unwrap_or_else(PoisonError::into_inner);
    OF_WORLD.store(library, Ordering::Release);
    use_library(&OF_WORLD);
}

/// MPI is over for this process. Its share of the engine has been closed. Sessions go on.
pub(crate) fn end() {
    let _one_thread = LIFE.lock().unwrap_or_else(PoisonError::into_inner);
    OF_WORLD.store(ptr::null_mut(), Ordering::Release);
    if open_sessions() > 0 { use_library(&OF_SESSIONS) } else { use_none() }
}

/// Ends the job.
pub(crate) fn abort(code: i32) -> ! {
    match inside() {
        Some(library) => library.world.abort(code),
        None => instance::abort(code),
    }
}
