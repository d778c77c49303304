//! Locks of windows (MPI-5.0 §12.5.3): by words in memory that all members have mapped, else by asking the owner.
//!
//! What must stay true: all locks of a call are taken or none is; who gives a lock back in mapped memory wakes those who wait
//! for it, and who waits ends with an error when a member is lost.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use posthaste_os::machine;

use super::active::is_exposed;
use super::{Extent, lost_member};
use crate::error::{Error, ErrorClass, Result};
use crate::explain::Part;
use crate::ids::PROC_NULL;
use crate::progress::Vci;
use crate::wait::{Awaited, OfWindow};
use crate::win::{Assert, EpochWords, LockKind, Locked, Operations, Targets, Window, Words};
use crate::world::World;

/// How long a lock may be free for somebody whose turn it is before others pass.
const ATTENTION: Duration = Duration::from_millis(50);

// Locks.
impl World {
    /// `MPI_Win_lock`.
    ///
    /// # Errors
    /// `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`; a lost member.
    pub fn lock(&self, window: &Arc<Window>, rank: i32, kind: LockKind, assert: Assert) -> Result<()> {
        window.check_revoked()?;
        if rank == PROC_NULL {
            return Ok(());
        }
        if assert == Assert::default() && window.lock_now(rank, kind) {
            return Ok(());
        }
        let target = window.target(rank)?;
        may_lock(window)?;
        if rank == window.comm().rank() {
            may_lock_own(window)?;
        }
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
        window.check_revoked()?;
        may_lock(window)?;
        may_lock_own(window)?;
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
        if rank == PROC_NULL {
            return Ok(());
        }
        if let Some(is_awaited) = window.unlock_now(rank) {
            if is_awaited {
                self.wake_members(window);
            }
            return Ok(());
        }
        self.unlock_with_progress(window, rank)
    }

    /// The rest of `MPI_Win_unlock` where [`Window::unlock_now`] does not go.
    ///
    /// # Errors
    /// As [`World::unlock`].
    pub fn unlock_with_progress(&self, window: &Arc<Window>, rank: i32) -> Result<()> {
        self.check_revoked("MPI_Win_unlock", window)?;
        if rank == PROC_NULL {
            return Ok(());
        }
        let target = window.target(rank)?;
        let locked = window.epochs().check_unlock(target)?;
        if window.mapped().is_some() {
            self.step_in(window.comm()); // the program may lock and unlock until something comes
        }
        let completed = self.complete("MPI_Win_unlock", window, Targets::These(&[target]), Extent::Target);
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
        self.check_revoked("MPI_Win_unlock_all", window)?;
        let gives_back = window.epochs().check_unlock_all()?;
        self.step_now_and_then(window);
        let completed = self.complete("MPI_Win_unlock_all", window, Targets::All, Extent::Target);
        window.epochs().completed();
        if !gives_back {
            return completed;
        }
        let all: Vec<usize> = (0..window.parts().len()).collect();
        completed.and(self.release(window, &all, LockKind::Shared))
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
        self.until_quiet(call, window, &asked, window.traffic().so_far());
        window.check_revoked()?;
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
        if words.try_lock(me, kind.is_exclusive()) {
            window.shares(memory, target, kind, true);
            return Ok(());
        }
        let waiter = Cell::new(words.waits(kind.is_exclusive()));
        let awaited = |_: &Vci| {
            let need = |rank: usize| (Some(window.peer(rank)), Part::ForLock, target as i32);
            let mut needs: Vec<_> = match words.holders().0 {
                Some(rank) => vec![need(rank as usize)],
                None => EpochWords::of(memory, window.parts().len()).sharers(target).map(need).collect(),
            };
            if needs.is_empty() {
                needs.push((None, Part::ForLock, target as i32));
            }
            let (context, window, waiter) = (window.comm().context(), window.clone(), waiter.get());
            let is_free =
                move || window.mapped().is_some_and(|memory| Words::of(memory, target).is_free(waiter));
            Awaited::Window(OfWindow { context, needs, is_there: Some(Box::new(is_free)) })
        };
        // A handler that runs inside somebody's wait, or a signal that stops it, must not keep a free lock from all others: so the turn that the
        // lock has been free in, and since when, as far as we have looked.
        let mut untaken: Option<(u64, Duration)> = None;
        let taken = self.waiting.until(window.comm().context().vci(), call, awaited, |vci| {
            let mut own = waiter.get();
            let is_taken = words.try_lock_in_turn(me, &mut own);
            waiter.set(own);
            if is_taken {
                return Some(Ok(()));
            }
            untaken = words.turn().filter(|_| kind.is_exclusive()).map(|turn| match untaken {
                Some((known, since)) if known == turn => (known, since),
                _ => (turn, machine::now()),
            });
            if let Some((turn, since)) = untaken
                && machine::now() > since + ATTENTION
            {
                words.pass(turn);
            }
            lost_member(&vci.engine, window).err().map(Err)
        });
        words.waits_no_more(waiter.get());
        if taken.is_ok() {
            window.shares(memory, target, kind, true);
        }
        taken
    }

    /// Gives locks back.
    fn release(&self, window: &Window, targets: &[usize], kind: LockKind) -> Result<()> {
        let Some(memory) = window.mapped() else {
            let mut vci = self.vci_of(window.comm());
            let Vci { engine, methods, .. } = &mut *vci;
            let mut outcome = Ok(());
            for target in targets {
                outcome = outcome.and(Operations::unlock(engine, methods, window, *target));
            }
            // The program may not come back soon, and others wait for the locks.
            methods.flush_gathered();
            return outcome;
        };
        for target in targets {
            window.shares(memory, *target, kind, false);
            if Words::of(memory, *target).unlock(kind.is_exclusive()) {
                self.wake_members(window);
            }
        }
        Ok(())
    }

    /// A lock of mapped memory has been given back for which members wait.
    #[cold]
    pub fn wake_members(&self, window: &Window) {
        self.ring_members(window, 0..window.parts().len());
    }
}

/// What is exposed is not locked (MPI-5.0 §12.5.3), at least not by who has exposed it.
fn may_lock_own(window: &Window) -> Result<()> {
    if !is_exposed(window) {
        return Ok(());
    }
    let got = "exposed by MPI_Win_post, and is to be locked";
    Err(Error::invalid(ErrorClass::RmaSync, "win", got, "MPI_Win_wait before"))
}

/// # Errors
/// `MPI_ERR_RMA_SYNC`: the program has said that it takes no locks.
fn may_lock(window: &Window) -> Result<()> {
    if !window.hints().no_locks() {
        return Ok(());
    }
    let got = "a window with the hint no_locks";
    Err(Error::invalid(ErrorClass::RmaSync, "win", got, "one without, or MPI_Win_fence, MPI_Win_start"))
}
