//! Windows by their handles.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicIsize, AtomicUsize, Ordering};

use posthaste_core::error::Result;
use posthaste_core::win::{Flavor, Window};

use super::errhandler::Handler;
use crate::abi::constants::{
    MPI_WIN_BASE, MPI_WIN_CREATE_FLAVOR, MPI_WIN_DISP_UNIT, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_CREATE,
    MPI_WIN_FLAVOR_DYNAMIC, MPI_WIN_FLAVOR_SHARED, MPI_WIN_MODEL, MPI_WIN_SIZE, MPI_WIN_UNIFIED,
};
use crate::abi::types::MPI_Win;
use crate::handle::{Kind, Table};
use crate::layer::object_ref::Recent;

/// A window, with the numbers that its predefined attributes show by their addresses (MPI-5.0 §12.2.6).
pub(crate) struct Win {
    pub(crate) window: Arc<Window>,
    size: AtomicIsize,
    unit: AtomicI32,
    flavor: AtomicI32,
    model: AtomicI32,
}

/// All windows that were made and not freed.
static WINS: Table<Win> = Table::new(Kind::Win);

/// The window with this handle.
#[inline]
pub(crate) fn find(argument: &'static str, handle: MPI_Win) -> Result<Arc<Win>> {
    WINS.get(argument, handle.number())
}

/// What `look` finds out about the window with this handle, if this thread has used it last: it is found without a lock.
#[inline(always)]
pub(crate) fn look_at_recent<R>(handle: MPI_Win, look: impl FnOnce(&Window) -> R) -> Option<R> {
    let mark = (handle.number(), FREED.load(Ordering::Acquire));
    let Ok(Some(win)) = RECENT.try_with(|recent| recent.take(mark)) else { return remember(mark) };
    let found = look(&win.window);
    let _ = RECENT.try_with(|recent| recent.give_back(win, mark));
    Some(found)
}

/// The thread uses another window from now on.
#[cold]
#[inline(never)]
fn remember<R>(mark: (usize, usize)) -> Option<R> {
    let win = WINS.peek(mark.0)?;
    let _ = RECENT.try_with(|recent| recent.give_back(win, mark));
    None
}

/// How many windows have been freed, going round.
static FREED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The window that this thread used last.
    static RECENT: Recent<Win> = const { Recent::new() };
}

/// The window with this handle is found no more.
pub(crate) fn remove(handle: MPI_Win) -> Result<()> {
    let removed = WINS.remove("win", handle.number())?;
    removed.window.comm().leave();
    FREED.fetch_add(1, Ordering::Release);
    let _ = RECENT.try_with(Recent::forget);
    drop(removed);
    Ok(())
}

/// Gives a window to the program.
pub(crate) fn store(window: Arc<Window>) -> Result<MPI_Win> {
    let (_, size, unit) = window.memory();
    let flavor = match window.flavor() {
        Flavor::Create => MPI_WIN_FLAVOR_CREATE,
        Flavor::Allocate => MPI_WIN_FLAVOR_ALLOCATE,
        Flavor::Shared => MPI_WIN_FLAVOR_SHARED,
        Flavor::Dynamic => MPI_WIN_FLAVOR_DYNAMIC,
    };
    let win = Win {
        window,
        size: AtomicIsize::new(size as isize),
        unit: AtomicI32::new(c_int::try_from(unit).unwrap_or(c_int::MAX)),
        flavor: AtomicI32::new(flavor),
        model: AtomicI32::new(MPI_WIN_UNIFIED),
    };
    WINS.insert(Arc::new(win)).map(MPI_Win::numbered)
}

impl Win {
    /// The value of a predefined attribute: the address of the memory, or that of a number.
    pub(crate) fn predefined(&self, key: c_int) -> Option<usize> {
        Some(match key {
            MPI_WIN_BASE => self.window.memory().0,
            MPI_WIN_SIZE => self.size.as_ptr().expose_provenance(),
            MPI_WIN_DISP_UNIT => self.unit.as_ptr().expose_provenance(),
            MPI_WIN_CREATE_FLAVOR => self.flavor.as_ptr().expose_provenance(),
            MPI_WIN_MODEL => self.model.as_ptr().expose_provenance(),
            _ => return None,
        })
    }

    /// The error handler; every window begins with `MPI_ERRORS_ARE_FATAL` (MPI-5.0 §12.6.1).
    pub(crate) fn handler(&self) -> Handler {
        let set = self.window.handler().and_then(|handler| handler.downcast::<Handler>().ok());
        set.map_or(Handler::Fatal, |handler| Handler::clone(&handler))
    }

    /// How to call it.
    pub(crate) fn name(&self) -> String {
        self.window.comm().name()
    }
}
