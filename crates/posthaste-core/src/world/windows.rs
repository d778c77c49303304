//! The calls on windows: accesses, and what completes them (MPI-5.0 §12.3, §12.5.4). Parts: `create`; `asked`, windows of many
//! members; `attached`, memory of dynamic windows; `active` and `locks`, synchronisation; `owned`, windows of elements, for the typed
//! API.
//!
//! On memory that is mapped an access is over when its call returns, and its target takes no part. What must stay true: a
//! synchronisation waits for what it completes and for nothing else, and ends with an error when a member that it needs is
//! lost.

mod active;
mod asked;
mod attached;
mod by_words;
mod create;
mod locks;
mod mappings;
mod owned;

pub use by_words::Fenced;

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use posthaste_os::machine;

use super::World;
use crate::buffer::OwnedBuf;
use crate::datatype::{Builtin, Segment};
use crate::error::{Error, ErrorClass, Result};
use crate::explain::Part;
use crate::ids::RequestId;
use crate::method::Direction;
use crate::op::Predefined;
use crate::progress::Vci;
use crate::pt2pt::Engine;
use crate::request::Table;
use crate::wait::{Awaited, OfWindow};
use crate::win::{Age, At, Operands, Operations, Origin, Place, Targets, Update, Window, Words};

pub use create::NewWindow;
pub(super) use mappings::Mappings;
pub use owned::{Closed, Epoch, Exposed, Members, OwnedWindow};

/// Tries to get the lock of elements between two looks for members that have ended.
const TRIES_PER_LOOK: u32 = 16;
/// How long a call tries to get that lock before it says so: who has it has a CPU again by then, unless it is stopped. Nobody rings for
/// this lock, so the call does not sleep.
const AWAKE: Duration = Duration::from_millis(100);

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
        let Some(place) = self.locate(window, at, data.len(), request)? else {
            return Ok(Table::DONE);
        };
        at.check_types(&data)?;
        if let Some(memory) = window.segment(place, at.count, at.datatype) {
            return self.copy(data, memory).map(|()| Table::DONE);
        }
        if self.copy_attached(window, Direction::Put, (at, place), &data)? {
            return Ok(Table::DONE);
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
        let Some(place) = self.locate(window, at, into.len(), request)? else {
            return Ok(Table::DONE);
        };
        at.check_types(&into)?;
        if let Some(memory) = window.segment(place, at.count, at.datatype) {
            return self.copy(memory, into).map(|()| Table::DONE);
        }
        if self.copy_attached(window, Direction::Get, (at, place), &into)? {
            return Ok(Table::DONE);
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
        window: &Arc<Window>,
        operands: Option<Segment>,
        old: Option<Segment>,
        at: &At<'_>,
        (element, operation): (&'static Builtin, Predefined),
        request: bool,
    ) -> Result<RequestId> {
        let bytes = operands.as_ref().or(old.as_ref()).map_or(0, Segment::len);
        let place = self.locate(window, at, bytes, request)?;
        let Some(place) = place else { return Ok(Table::DONE) };
        self.update(window, (at, place), (element, Update::Combine(operation)), operands, old, request)
    }

    /// Replaces one element by a new one if it is as expected; `old` gets what it was.
    ///
    /// # Errors
    /// As [`World::put`].
    pub fn compare_and_swap(
        &self,
        window: &Arc<Window>,
        (mut expected, mut new): (Segment, Segment),
        old: Segment,
        at: &At<'_>,
        element: &'static Builtin,
    ) -> Result<()> {
        let place = self.locate(window, at, element.size, false)?;
        let Some(place) = place else { return Ok(()) };
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
        window: &Arc<Window>,
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
            let busy = || self.become_busy(window, place.target);
            let operands = Operands { given: operands, old };
            window.update_mapped(mapped, (at, place), what, operands, busy)?;
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

    /// Waits for the lock under which elements of a target are changed that the processor cannot change in one step.
    fn become_busy(&self, window: &Arc<Window>, target: usize) -> Result<()> {
        let Some(memory) = window.mapped() else { return Ok(()) };
        let (words, me) = (Words::of(memory, target), window.comm().rank() as u32);
        let (mut tries, mut began, mut told) = (0_u32, None, self.waiting.aloud());
        while !words.try_busy(me) {
            machine::yield_now();
            // Who has it may have ended: that is heard of by progress alone, and soon only where somebody asks.
            tries = tries.wrapping_add(1);
            if tries.is_multiple_of(TRIES_PER_LOOK) {
                self.runtime.enter(0).methods.look_at_sockets();
                self.vci_of(window.comm()).methods.look_at_sockets();
                let began = *began.get_or_insert_with(machine::now);
                if machine::now() - began > AWAKE {
                    let holder = words.busy().map(|rank| window.peer(rank as usize));
                    let (context, needs) =
                        (window.comm().context(), vec![(holder, Part::ForLock, target as i32)]);
                    let awaited = Awaited::Window(OfWindow { context, needs, is_there: None });
                    told.say("an operation on elements of a window", began, context.vci(), &awaited);
                }
            }
            self.step_in(window.comm());
            window.check_revoked()?;
            // Who waits for a living one goes on: only a dead one never gives it back.
            if let Some(holder) = words.busy() {
                self.vci_of(window.comm()).engine.losses.check(window.peer(holder as usize))?;
            }
        }
        Ok(())
    }
}

// Revoking.
impl World {
    /// `MPIX_Win_revoke`: whatever members wait for in a synchronisation of the window ends with `MPIX_ERR_REVOKED`, and so does every
    /// access and synchronisation that they begin later. The others hear of it without doing anything for it.
    pub fn revoke_window(&self, window: &Window) {
        self.revoke(window.comm());
    }

    /// Whether this process has heard that the window is revoked.
    pub fn is_window_revoked(&self, window: &Window) -> bool {
        self.is_revoked(window.comm())
    }
}

// Completion.
impl World {
    /// `MPI_Win_flush`, `MPI_Win_flush_local`, and their forms for all targets (`None`), where [`Window::flush_now`] is not enough.
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
        self.check_revoked(call, window)?;
        let locked = match target {
            Some(crate::ids::PROC_NULL) => return Ok(()),
            Some(rank) => {
                let target = window.target(rank)?;
                window.epochs().check_locked(target)?;
                Some(vec![target])
            }
            None => window.epochs().locked()?,
        };
        if window.mapped().is_some() {
            self.step_in(window.comm()); // the program may flush until something comes
        }
        self.complete(call, window, locked.as_deref().map_or(Targets::All, Targets::These), extent)
    }

    /// Fails when the window is revoked; its operations are done with their buffers then.
    fn check_revoked(&self, call: &'static str, window: &Arc<Window>) -> Result<()> {
        let revoked = window.check_revoked();
        if revoked.is_err() {
            self.until_quiet(call, window, &window.traffic().busy(Targets::All), window.traffic().so_far());
        }
        revoked
    }

    /// Waits until what was started towards these targets is so far.
    fn complete(
        &self,
        call: &'static str,
        window: &Arc<Window>,
        targets: Targets<'_>,
        extent: Extent,
    ) -> Result<()> {
        fence(Ordering::SeqCst);
        if window.mapped().is_some() {
            return window.check_revoked();
        }
        // What another thread flushes at the same time is waited for as well, and nothing that it begins from here on.
        let targets = window.traffic().busy(targets);
        let mut outcome = Ok(());
        if extent == Extent::Target {
            let mut vci = self.vci_of(window.comm());
            let Vci { engine, methods, operations, .. } = &mut *vci;
            for target in window.traffic().dirty(&targets) {
                outcome = outcome.and(operations.flush(engine, methods, window, target));
            }
        }
        let so_far = window.traffic().so_far();
        self.until_quiet(call, window, &targets, so_far);
        let outcome =
            targets.iter().fold(outcome, |outcome, target| outcome.and(window.traffic().outcome(*target)));
        window.check_revoked().and(outcome)
    }

    /// Waits until everything of this age or older that was asked of these targets has been answered. Once the window is revoked,
    /// until its operations are done with their buffers.
    fn until_quiet(&self, call: &'static str, window: &Window, targets: &[usize], age: Age) {
        let context = window.comm().context();
        let need = |target: &usize| (Some(window.peer(*target)), Part::ForOwner, *target as i32);
        let open = || targets.iter().filter(|target| !window.traffic().is_quiet(**target, age));
        let awaited = |_: &Vci| {
            Awaited::Window(OfWindow { context, needs: open().map(need).collect(), is_there: None })
        };
        self.waiting.until(context.vci(), call, awaited, |vci| {
            if window.comm().is_revoked() {
                vci.operations.ask_no_more(window);
            }
            open().next().is_none().then_some(())
        });
    }
}

/// Whether all members of a window are there, and it is not revoked.
///
/// # Errors
/// Why one is not; `MPIX_ERR_REVOKED`.
fn lost_member(engine: &Engine, window: &Window) -> Result<()> {
    window.check_revoked()?;
    if engine.losses.is_empty() {
        return Ok(());
    }
    let lost = engine.losses.among(window.comm().group()).next();
    lost.map_or(Ok(()), |peer| engine.losses.check(peer))
}
