//! C functions for the synchronisation of windows (MPI-5.0 §12.5).

use std::ffi::c_int;

use posthaste_core::error::{Error, ErrorClass, Result};
use posthaste_core::win::{Assert, LockKind, Window};
use posthaste_core::world::{Extent, Fenced};

use crate::abi::constants::{
    MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED, MPI_MODE_NOCHECK, MPI_MODE_NOPRECEDE, MPI_MODE_NOPUT,
    MPI_MODE_NOSTORE, MPI_MODE_NOSUCCEED,
};
use crate::abi::pointer::Out;
use crate::abi::types::{MPI_Group, MPI_Win};
use crate::call::mpi_fn;
use crate::layer::library::library;
use crate::mapping::ranks::rank_in;
use crate::object::{group, window};

// Active target.
mpi_fn! {
    /// MPI-5.0 §12.5.1
    fn MPI_Win_fence / PMPI_Win_fence(assert: c_int, win: MPI_Win) raises win => {
        let known = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;
        let asserted = assertions(assert, known)?;
        let now = |window: &Window| library().world.fence_now(window, asserted.no_succeed);
        match window::look_at_recent(win, now) {
            Some(Fenced::Over) => Ok(()),
            fenced => fence(win, asserted, fenced),
        }
    }
    /// MPI-5.0 §12.5.2
    fn MPI_Win_start / PMPI_Win_start(group: MPI_Group, assert: c_int, win: MPI_Win) raises win => {
        let (found, group) = (window::find("win", win)?, group::find("group", group)?);
        library().world.start_access(&found.window, &group, assertions(assert, MPI_MODE_NOCHECK)?)
    }
    /// MPI-5.0 §12.5.2
    fn MPI_Win_complete / PMPI_Win_complete(win: MPI_Win) raises win => {
        let world = &library().world;
        if window::look_at_recent(win, |window| world.complete_now(window)) == Some(true) {
            return Ok(());
        }
        world.complete_access(&window::find("win", win)?.window)
    }
    /// MPI-5.0 §12.5.2
    fn MPI_Win_post / PMPI_Win_post(group: MPI_Group, assert: c_int, win: MPI_Win) raises win => {
        let known = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;
        let (found, group) = (window::find("win", win)?, group::find("group", group)?);
        library().world.post(&found.window, &group, assertions(assert, known)?)
    }
    /// MPI-5.0 §12.5.2
    fn MPI_Win_wait / PMPI_Win_wait(win: MPI_Win) raises win => {
        let world = &library().world;
        if window::look_at_recent(win, |window| world.wait_exposure_now(window)) == Some(true) {
            return Ok(());
        }
        world.wait_exposure(&window::find("win", win)?.window)
    }
    /// MPI-5.0 §12.5.2
    fn MPI_Win_test / PMPI_Win_test(win: MPI_Win, flag: Out<c_int>) raises win => {
        let found = window::find("win", win)?;
        flag.ready("flag")?;
        flag.set("flag", c_int::from(library().world.test_exposure(&found.window)?))
    }
}

// Passive target.
mpi_fn! {
    /// MPI-5.0 §12.5.3
    fn MPI_Win_lock / PMPI_Win_lock(lock_type: c_int, rank: c_int, assert: c_int, win: MPI_Win)
        raises win => {
        let kind = match lock_type {
            MPI_LOCK_EXCLUSIVE => Some(LockKind::Exclusive),
            MPI_LOCK_SHARED => Some(LockKind::Shared),
            _ => None,
        };
        if let (Some(kind), 0) = (kind, assert)
            && window::look_at_recent(win, |window| window.lock_now(rank_in(rank), kind)) == Some(true)
        {
            return Ok(());
        }
        lock((lock_type, kind), rank, assert, win)
    }
    /// MPI-5.0 §12.5.3
    fn MPI_Win_lock_all / PMPI_Win_lock_all(assert: c_int, win: MPI_Win) raises win => {
        let found = window::find("win", win)?;
        library().world.lock_all(&found.window, assertions(assert, MPI_MODE_NOCHECK)?)
    }
    /// MPI-5.0 §12.5.3
    fn MPI_Win_unlock / PMPI_Win_unlock(rank: c_int, win: MPI_Win) raises win => {
        match window::look_at_recent(win, |window| window.unlock_now(rank_in(rank))) {
            Some(Some(false)) => Ok(()),
            unlocked => unlock(rank, win, unlocked.flatten().is_some()),
        }
    }
    /// MPI-5.0 §12.5.3
    fn MPI_Win_unlock_all / PMPI_Win_unlock_all(win: MPI_Win) raises win => {
        library().world.unlock_all(&window::find("win", win)?.window)
    }
    /// MPI-5.0 §12.5.4
    fn MPI_Win_flush / PMPI_Win_flush(rank: c_int, win: MPI_Win) raises win => {
        flush("MPI_Win_flush", win, Some(rank), Extent::Target)
    }
    /// MPI-5.0 §12.5.4
    fn MPI_Win_flush_all / PMPI_Win_flush_all(win: MPI_Win) raises win => {
        flush("MPI_Win_flush_all", win, None, Extent::Target)
    }
    /// MPI-5.0 §12.5.4
    fn MPI_Win_flush_local / PMPI_Win_flush_local(rank: c_int, win: MPI_Win) raises win => {
        flush("MPI_Win_flush_local", win, Some(rank), Extent::Local)
    }
    /// MPI-5.0 §12.5.4
    fn MPI_Win_flush_local_all / PMPI_Win_flush_local_all(win: MPI_Win) raises win => {
        flush("MPI_Win_flush_local_all", win, None, Extent::Local)
    }
    /// MPI-5.0 §12.5.4
    fn MPI_Win_sync / PMPI_Win_sync(win: MPI_Win) raises win => {
        let found = window::find("win", win)?;
        found.window.check_revoked()?;
        library().world.sync_window(&found.window);
        Ok(())
    }
}

/// The rest of a fence, or all of it.
#[inline(never)]
fn fence(win: MPI_Win, assert: Assert, fenced: Option<Fenced>) -> Result<()> {
    let (world, found) = (&library().world, window::find("win", win)?);
    match fenced {
        Some(fenced) => world.go_on_to_fence(&found.window, assert, fenced),
        None => world.fence(&found.window, assert),
    }
}

#[inline(never)]
fn lock(
    (lock_type, kind): (c_int, Option<LockKind>),
    rank: c_int,
    assert: c_int,
    win: MPI_Win,
) -> Result<()> {
    let found = window::find("win", win)?;
    let kind = kind.ok_or_else(|| {
        let expected = "MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED";
        Error::invalid(ErrorClass::Locktype, "lock_type", lock_type, expected)
    })?;
    let assert = assertions(assert, MPI_MODE_NOCHECK)?;
    library().world.lock(&found.window, rank_in(rank), kind, assert)
}

/// The rest of an unlock: of all of it, or of one after which somebody is to be woken.
#[inline(never)]
fn unlock(rank: c_int, win: MPI_Win, is_done: bool) -> Result<()> {
    let (world, found) = (&library().world, window::find("win", win)?);
    if is_done {
        world.wake_members(&found.window);
        return Ok(());
    }
    world.unlock_with_progress(&found.window, rank_in(rank))
}

#[inline]
fn flush(call: &'static str, win: MPI_Win, rank: Option<c_int>, extent: Extent) -> Result<()> {
    if window::look_at_recent(win, |window| window.flush_now(rank.map(rank_in))) == Some(true) {
        return Ok(());
    }
    flush_anyway(call, win, rank, extent)
}

#[inline(never)]
fn flush_anyway(call: &'static str, win: MPI_Win, rank: Option<c_int>, extent: Extent) -> Result<()> {
    library().world.flush(call, &window::find("win", win)?.window, rank.map(rank_in), extent)
}

/// The assertions of a call that knows these.
fn assertions(assert: c_int, known: c_int) -> Result<Assert> {
    if assert & !known != 0 {
        let expected = format_args!("0, or some of the bits {known:#x}");
        return Err(Error::invalid(ErrorClass::Assert, "assert", format_args!("{assert:#x}"), expected));
    }
    Ok(Assert {
        no_check: assert & MPI_MODE_NOCHECK != 0,
        no_precede: assert & MPI_MODE_NOPRECEDE != 0,
        no_succeed: assert & MPI_MODE_NOSUCCEED != 0,
    })
}
