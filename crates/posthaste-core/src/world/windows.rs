//! The calls on windows: accesses, and synchronisation, which waits (MPI-5.0 §12.3, §12.5).
//!
//! On memory that is mapped an access is over when its call returns, and its target takes no part. What must stay true: a
//! synchronisation waits for what it completes and for nothing else, and ends with an error when a member that it needs is
//! lost.

mod create;

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::{World, outcome};
use crate::buffer::OwnedBuf;
use crate::coll;
use crate::datatype::{Builtin, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::{Peer, RequestId};
use crate::method::Route;
use crate::op::Predefined;
use crate::progress::Vci;
use crate::pt2pt::Engine;
use crate::request::Table;
use crate::wait::{Awaited, OfWindow};
use crate::win::{Assert, At, Exposure, LockKind, Locked, Operations, Origin, Place, Update, Window, Words};
use crate::wire::Mode;

pub use create::NewWindow;

/// Tags of messages on a window's communicator: the exposure epoch has begun, the access epoch is over.
const POSTED: i32 = 0;
const COMPLETED: i32 = 1;

/// How far an operation has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The buffers are the program's again.
    Local,
    /// The target has done it, too.
    Target,
}

// Accesses. The way of those that are over at once is kept short: the checks, then the copy.
impl World {
    /// Writes to a target. `request`: the program wants one.
    ///
    /// # Errors
    /// What [`Window::locate`] says; a lost peer.
    #[inline]
    pub fn put(&self, window: &Window, data: Segment, at: &At<'_>, request: bool) -> Result<RequestId> {
        let Some(place) = window.locate(at, data.len(), request)? else { return Ok(Table::DONE) };
        if let Some(memory) = window.segment(place, at.count, at.datatype) {
            return self.copy(data, memory).map(|()| Table::DONE);
        }
        self.by_packets(window, request, |operations, origin| {
            operations.put(origin, window, (at, place), &data)
        })
    }

    /// Reads from a target.
    ///
    /// # Errors
    /// As [`World::put`].
    #[inline]
    pub fn get(&self, window: &Window, into: Segment, at: &At<'_>, request: bool) -> Result<RequestId> {
        let Some(place) = window.locate(at, into.len(), request)? else { return Ok(Table::DONE) };
        if let Some(memory) = window.segment(place, at.count, at.datatype) {
            return self.copy(memory, into).map(|()| Table::DONE);
        }
        self.by_packets(window, request, |operations, origin| {
            operations.get(origin, window, (at, place), &into)
        })
    }

    /// Combines elements of a target with operands, atomically for each; `old` gets what they were. `MPI_NO_OP` needs no
    /// operands.
    ///
    /// # Errors
    /// As [`World::put`].
    pub fn accumulate(
        &self,
        window: &Window,
        operands: Option<Segment>,
        old: Option<Segment>,
        at: &At<'_>,
        (element, operation): (&'static Builtin, Predefined),
        request: bool,
    ) -> Result<RequestId> {
        let bytes = operands.as_ref().or(old.as_ref()).map_or(0, Segment::len);
        let Some(place) = window.locate(at, bytes, request)? else { return Ok(Table::DONE) };
        self.update(window, (at, place), (element, Update::Combine(operation)), operands, old, request)
    }

    /// Replaces one element by a new one if it is as expected; `old` gets what it was.
    ///
    /// # Errors
    /// As [`World::put`].
    pub fn compare_and_swap(
        &self,
        window: &Window,
        (mut expected, mut new): (Segment, Segment),
        old: Segment,
        at: &At<'_>,
        element: &'static Builtin,
    ) -> Result<()> {
        let Some(place) = window.locate(at, element.size, false)? else { return Ok(()) };
        let mut both = OwnedBuf::new(2 * element.size as usize);
        let (first, second) = both.sink().split_at(element.size as usize);
        expected.pack(first);
        new.pack(second);
        let operands = Segment::contiguous(both.user_buf(), both.len() as u64);
        let what = (element, Update::CompareAndSwap);
        self.update(window, (at, place), what, Some(operands), Some(old), false).map(drop)
    }

    fn update(
        &self,
        window: &Window,
        (at, place): (&At<'_>, Place),
        what: (&'static Builtin, Update),
        operands: Option<Segment>,
        old: Option<Segment>,
        request: bool,
    ) -> Result<RequestId> {
        if let Some(on_device) = operands.iter().chain(&old).find(|segment| segment.is_on_device()) {
            let text =
                format!("{} bytes in memory of a device: copy them to the host first", on_device.len());
            return Err(Error::other(ErrorClass::Buffer, text));
        }
        if let Some(mapped) = window.mapped() {
            let busy = |words: Words<'_>| self.become_busy(window, words);
            window.update_mapped(mapped, (at, place), what, operands, old, busy)?;
            return Ok(Table::DONE);
        }
        // What MPI_NO_OP is given is not looked at: the memory for what it fetches has the right length.
        let Some(operands) = operands.as_ref().or(old.as_ref()) else { return Ok(Table::DONE) };
        self.by_packets(window, request, |operations, origin| {
            operations.update(origin, window, (at, place), what, operands, old.as_ref())
        })
    }

    /// Starts operations that the target does.
    fn by_packets(
        &self,
        window: &Window,
        request: bool,
        start: impl FnOnce(&mut Operations, &mut Origin<'_>) -> Result<()>,
    ) -> Result<RequestId> {
        let mut vci = self.vci_of(window.comm());
        let Vci { engine, methods, operations, .. } = &mut *vci;
        let request = if request { Some(Operations::request(engine)?) } else { None };
        let started = start(operations, &mut Origin { engine, methods, request });
        if let Err(why) = started {
            request.map(|request| engine.requests.remove(request));
            return Err(why);
        }
        operations.settle(engine);
        let Some(request) = request else { return Ok(Table::DONE) };
        Operations::sealed(engine, request);
        Ok(request)
    }

    /// Waits for the lock under which elements are changed that the processor cannot change in one step.
    fn become_busy(&self, window: &Window, words: Words<'_>) -> Result<()> {
        while !words.try_busy() {
            posthaste_os::machine::yield_now();
            let vci = self.vci_of(window.comm());
            lost_member(&vci.engine, window)?;
        }
        Ok(())
    }
}

// Completion.
impl World {
    /// `MPI_Win_flush`, `MPI_Win_flush_local`, and their forms for all targets (`None`).
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`; what went wrong with an operation.
    pub fn flush(
        &self,
        call: &'static str,
        window: &Arc<Window>,
        target: Option<i32>,
        extent: Extent,
    ) -> Result<()> {
        let targets = match target {
            Some(crate::ids::PROC_NULL) => return Ok(()),
            Some(rank) => {
                let target = window.target(rank)?;
                window.epochs().check_locked(target)?;
                vec![target]
            }
            None => window.epochs().locked()?,
        };
        self.complete(call, window, &targets, extent)
    }

    /// Waits until what was started towards these targets is so far.
    fn complete(
        &self,
        call: &'static str,
        window: &Arc<Window>,
        targets: &[usize],
        extent: Extent,
    ) -> Result<()> {
        fence(Ordering::SeqCst);
        if window.mapped().is_some() {
            return Ok(());
        }
        let dirty = window.traffic().dirty();
        let targets: Vec<usize> = targets.iter().copied().filter(|target| dirty.contains(target)).collect();
        let mut outcome = Ok(());
        if extent == Extent::Target {
            let mut vci = self.vci_of(window.comm());
            let Vci { engine, methods, operations, .. } = &mut *vci;
            for target in &targets {
                outcome = outcome.and(operations.flush(engine, methods, window, *target));
            }
        }
        self.until_quiet(call, window, &targets);
        targets.iter().fold(outcome, |outcome, target| outcome.and(window.traffic().outcome(*target)))
    }

    /// Waits until everything that was asked of these targets has been answered.
    fn until_quiet(&self, call: &'static str, window: &Arc<Window>, targets: &[usize]) {
        let peers = || targets.iter().map(|target| window.parts()[*target].peer).collect();
        let awaited = |_: &Vci| Awaited::Window(OfWindow { peers: peers(), is_there: None });
        let is_quiet = || targets.iter().all(|target| window.traffic().is_quiet(*target));
        self.waiting.until(window.comm().context().vci(), call, awaited, |_| is_quiet().then_some(()));
    }

    /// `MPI_Win_sync`: loads and stores of this member and of the others are ordered.
    pub fn sync_window(&self) {
        fence(Ordering::SeqCst);
    }

    /// `MPI_Win_fence`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`; what went wrong with an operation; a lost member.
    pub fn fence(&self, window: &Arc<Window>, assert: Assert) -> Result<()> {
        const CALL: &str = "MPI_Win_fence";
        window.epochs().check_fence(is_exposed(window))?;
        let all: Vec<usize> =
            if assert.no_precede { Vec::new() } else { (0..window.parts().len()).collect() };
        // The others wait for us, whatever became of our operations.
        let completed = self.complete(CALL, window, &all, Extent::Target);
        self.run_in(CALL, coll::barrier(window.comm()))?;
        fence(Ordering::SeqCst);
        window.epochs().fenced(assert.no_succeed);
        completed
    }
}

// Post, start, complete, wait.
impl World {
    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`, `MPI_ERR_GROUP`; a lost member.
    pub fn post(&self, window: &Window, group: &Group, assert: Assert) -> Result<()> {
        let origins = window.members(group)?;
        if is_exposed(window) {
            let got = "called within the exposure epoch of MPI_Win_post";
            return Err(Error::invalid(ErrorClass::RmaSync, "win", got, "MPI_Win_wait before"));
        }
        fence(Ordering::SeqCst);
        let mut requests = Vec::new();
        for origin in origins {
            requests.push(self.irecv(window.comm(), origin as i32, COMPLETED, Segment::empty())?);
            if !assert.no_check {
                let posted =
                    self.isend(window.comm(), origin as i32, POSTED, Segment::empty(), Mode::Standard);
                requests.push(posted?);
            }
        }
        *crate::win::lock(&window.exposure) = Some(Exposure { requests });
        Ok(())
    }

    /// `MPI_Win_start`, which waits for the targets to have begun.
    ///
    /// # Errors
    /// As [`World::post`].
    pub fn start_access(&self, window: &Window, group: &Group, assert: Assert) -> Result<()> {
        const CALL: &str = "MPI_Win_start";
        let targets = window.members(group)?;
        window.epochs().check_start()?;
        if !assert.no_check {
            let posted = |target: &usize| self.irecv(window.comm(), *target as i32, POSTED, Segment::empty());
            let requests = targets.iter().map(posted).collect::<Result<Vec<_>>>()?;
            self.wait_for_all(CALL, requests)?;
        }
        fence(Ordering::SeqCst);
        window.epochs().started(&targets);
        Ok(())
    }

    /// `MPI_Win_complete`.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn complete_access(&self, window: &Arc<Window>) -> Result<()> {
        const CALL: &str = "MPI_Win_complete";
        let targets = window.epochs().check_complete()?;
        let completed = self.complete(CALL, window, &targets, Extent::Target);
        window.epochs().completed();
        let tell = |target: &usize| {
            self.isend(window.comm(), *target as i32, COMPLETED, Segment::empty(), Mode::Standard)
        };
        let told = targets.iter().map(tell).collect::<Result<Vec<_>>>()?;
        completed.and(self.wait_for_all(CALL, told))
    }

    /// `MPI_Win_wait`.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn wait_exposure(&self, window: &Window) -> Result<()> {
        let exposure = crate::win::lock(&window.exposure).take().ok_or_else(not_exposed)?;
        let outcome = self.wait_for_all("MPI_Win_wait", exposure.requests);
        fence(Ordering::SeqCst);
        outcome
    }

    /// `MPI_Win_test`: whether the exposure epoch is over, which it is once.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn test_exposure(&self, window: &Window) -> Result<bool> {
        let mut exposure = crate::win::lock(&window.exposure).take().ok_or_else(not_exposed)?;
        let mut failed = None;
        let mut open = Vec::new();
        for id in exposure.requests.drain(..) {
            match self.test(id)? {
                Some(status) => failed = failed.or(status.error),
                None => open.push(id),
            }
        }
        if let Some(why) = failed {
            self.wait_for_all("MPI_Win_test", open)?;
            return Err(why);
        }
        fence(Ordering::SeqCst);
        let is_over = open.is_empty();
        if !is_over {
            *crate::win::lock(&window.exposure) = Some(Exposure { requests: open });
        }
        Ok(is_over)
    }

    /// Waits for all of these requests; the first error.
    fn wait_for_all(&self, call: &'static str, requests: Vec<RequestId>) -> Result<()> {
        let mut first = Ok(());
        for id in requests {
            let ended = self.wait_in(call, id).and_then(outcome);
            first = first.and(ended);
        }
        first
    }
}

// Locks.
impl World {
    /// `MPI_Win_lock`.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`; a lost member.
    pub fn lock(&self, window: &Arc<Window>, rank: i32, kind: LockKind, assert: Assert) -> Result<()> {
        if rank == crate::ids::PROC_NULL {
            return Ok(());
        }
        let target = window.target(rank)?;
        window.epochs().check_lock(target)?;
        if !assert.no_check {
            self.take_locks("MPI_Win_lock", window, &[target], kind)?;
        }
        window.epochs().lock(target, kind, assert.no_check);
        Ok(())
    }

    /// `MPI_Win_lock_all`.
    ///
    /// # Errors
    /// As [`World::lock`].
    pub fn lock_all(&self, window: &Arc<Window>, assert: Assert) -> Result<()> {
        window.epochs().check_lock_all()?;
        if !assert.no_check {
            let all: Vec<usize> = (0..window.parts().len()).collect();
            self.take_locks("MPI_Win_lock_all", window, &all, LockKind::Shared)?;
        }
        window.epochs().lock_all(assert.no_check);
        Ok(())
    }

    /// `MPI_Win_unlock`.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn unlock(&self, window: &Arc<Window>, rank: i32) -> Result<()> {
        if rank == crate::ids::PROC_NULL {
            return Ok(());
        }
        let target = window.target(rank)?;
        let locked = window.epochs().check_unlock(target)?;
        let completed = self.complete("MPI_Win_unlock", window, &[target], Extent::Target);
        window.epochs().unlock(target);
        let released = match locked {
            Locked::Unchecked => Ok(()),
            Locked::Exclusive => self.release(window, &[target], LockKind::Exclusive),
            Locked::Shared => self.release(window, &[target], LockKind::Shared),
        };
        completed.and(released)
    }

    /// `MPI_Win_unlock_all`.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn unlock_all(&self, window: &Arc<Window>) -> Result<()> {
        let gives_back = window.epochs().check_unlock_all()?;
        let all: Vec<usize> = (0..window.parts().len()).collect();
        let completed = self.complete("MPI_Win_unlock_all", window, &all, Extent::Target);
        window.epochs().completed();
        let released = if gives_back { self.release(window, &all, LockKind::Shared) } else { Ok(()) };
        completed.and(released)
    }

    /// Takes locks, all or none.
    fn take_locks(
        &self,
        call: &'static str,
        window: &Arc<Window>,
        targets: &[usize],
        kind: LockKind,
    ) -> Result<()> {
        if window.mapped().is_some() {
            for (at, target) in targets.iter().enumerate() {
                if let Err(why) = self.take_mapped_lock(call, window, *target, kind) {
                    self.release(window, &targets[..at], kind)?;
                    return Err(why);
                }
            }
            return Ok(());
        }
        let mut asked = Vec::new();
        let mut outcome = Ok(());
        {
            let mut vci = self.vci_of(window.comm());
            let Vci { engine, methods, operations, .. } = &mut *vci;
            for target in targets {
                match operations.lock(engine, methods, window, (*target, kind)) {
                    Ok(()) => asked.push(*target),
                    Err(why) => outcome = outcome.and(Err(why)),
                }
            }
        }
        self.until_quiet(call, window, &asked);
        asked.retain(|target| match window.traffic().outcome(*target) {
            Ok(()) => true,
            Err(why) => {
                outcome = outcome.clone().and(Err(why));
                false
            }
        });
        if outcome.is_err() {
            self.release(window, &asked, kind)?;
        }
        outcome
    }

    /// Takes the lock of memory that is mapped: the target is not asked.
    fn take_mapped_lock(
        &self,
        call: &'static str,
        window: &Arc<Window>,
        target: usize,
        kind: LockKind,
    ) -> Result<()> {
        let Some(memory) = window.mapped() else { return Ok(()) };
        let (words, me) = (Words::of(memory, target), window.comm().rank() as u32);
        if words.try_lock(me, kind) {
            return Ok(());
        }
        words.waits(kind);
        let awaited = |_: &Vci| {
            let peers = window.parts().iter().map(|part| part.peer).collect();
            let window = window.clone();
            let is_free =
                move || window.mapped().is_some_and(|memory| Words::of(memory, target).is_free(kind));
            Awaited::Window(OfWindow { peers, is_there: Some(Box::new(is_free)) })
        };
        let taken = self.waiting.until(window.comm().context().vci(), call, awaited, |vci| {
            if words.try_lock(me, kind) {
                return Some(Ok(()));
            }
            lost_member(&vci.engine, window).err().map(Err)
        });
        words.waits_no_more(kind);
        taken
    }

    /// Gives locks back.
    fn release(&self, window: &Window, targets: &[usize], kind: LockKind) -> Result<()> {
        let Some(memory) = window.mapped() else {
            let mut vci = self.vci_of(window.comm());
            let Vci { engine, methods, .. } = &mut *vci;
            return targets.iter().fold(Ok(()), |outcome, target| {
                outcome.and(Operations::unlock(engine, methods, window, *target))
            });
        };
        for target in targets {
            if Words::of(memory, *target).unlock(kind) {
                self.wake_members(window);
            }
        }
        Ok(())
    }

    /// Wakes the members, who may sleep for what no packet tells.
    #[cold]
    fn wake_members(&self, window: &Window) {
        let routes: Vec<Route> = {
            let vci = self.vci_of(window.comm());
            window.parts().iter().map(|part| vci.methods.route(part.peer)).collect()
        };
        for route in routes {
            if let Route::Shm(local) = route {
                self.runtime.doorbell.ring_for_room(local as usize);
            }
        }
        // Other threads of this process.
        let wakes = self.runtime.sleepers.with(|parked| parked.happened());
        wakes.into_iter().for_each(|wake| self.runtime.wake(wake));
    }
}

fn is_exposed(window: &Window) -> bool {
    crate::win::lock(&window.exposure).is_some()
}

#[cold]
fn not_exposed() -> Error {
    Error::invalid(ErrorClass::RmaSync, "win", "within no exposure epoch", "MPI_Win_post before")
}

/// Whether all members of a window are there.
///
/// # Errors
/// Why one is not.
fn lost_member(engine: &Engine, window: &Window) -> Result<()> {
    if engine.losses.is_empty() {
        return Ok(());
    }
    window.parts().iter().map(|part| part.peer).try_for_each(|peer: Peer| engine.losses.check(peer))
}
