//! Synchronisation in which the target takes part: fence; post, start, complete and wait (MPI-5.0 §12.5.1, §12.5.2).
//!
//! ```text
//!   origin                          target
//!   start    <----- POSTED -------  post
//!   accesses
//!   complete ------ COMPLETED --->  wait, test
//! ```
//!
//! What must stay true: the word that an origin is done comes behind what it has done, which has been flushed. The words are
//! empty messages, so a lost peer ends whoever waits for one; who fails on that account still says its words to the others, which
//! wait for them.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::{Extent, Fenced, lost_member};
use crate::coll;
use crate::datatype::{Segment, Types};
use crate::error::{Error, ErrorClass, Result};
use crate::explain::Part;
use crate::group::Group;
use crate::ids::RequestId;
use crate::progress::Vci;
use crate::pt2pt::matching::Pattern;
use crate::pt2pt::recv;
use crate::pt2pt::send::{self, Started};
use crate::request::{Table, complete};
use crate::wait::{Awaited, OfWindow};
use crate::win::{Assert, Exposure, Targets, Window, Word};
use crate::wire::Mode;
use crate::world::{World, envelope, outcome};

/// Tags of messages on a window's communicator: the exposure epoch has begun, the access epoch is over.
const POSTED: i32 = 0;
const COMPLETED: i32 = 1;

impl World {
    /// `MPI_Win_sync`: loads and stores of this member and of the others are ordered. A program may wait by it alone.
    pub fn sync_window(&self, window: &Window) {
        self.step_now_and_then(window);
        fence(Ordering::SeqCst);
    }

    /// `MPI_Win_fence`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`; what went wrong with an operation; a lost member.
    pub fn fence(&self, window: &Arc<Window>, assert: Assert) -> Result<()> {
        let fenced = self.fence_now(window, assert.no_succeed);
        self.go_on_to_fence(window, assert, fenced)
    }

    /// The rest of `MPI_Win_fence` after [`World::fence_now`].
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn go_on_to_fence(&self, window: &Arc<Window>, assert: Assert, fenced: Fenced) -> Result<()> {
        const CALL: &str = "MPI_Win_fence";
        match fenced {
            Fenced::No => {}
            Fenced::Over => return Ok(()),
            Fenced::Came(fence) => return self.meet_at_fence(CALL, window, fence, assert.no_succeed),
        }
        self.check_revoked(CALL, window)?;
        window.epochs().check_fence(is_exposed(window))?;
        let all = if assert.no_precede { Targets::These(&[]) } else { Targets::All };
        // The others wait for us, whatever became of our operations.
        let completed = self.complete(CALL, window, all, Extent::Target);
        let met = self.run_in(CALL, coll::fence(window.comm()));
        window.check_revoked()?;
        fence(Ordering::SeqCst);
        // The epoch before is over in any case. Where not all have come, none begins.
        window.epochs().fenced(assert.no_succeed || met.is_err());
        // A barrier fails at those who wait for the lost member themselves; its accesses are missing everywhere.
        met.and(completed).and(lost_member(&self.vci_of(window.comm()).engine, window))
    }
}

// Post, start, complete, wait.
impl World {
    /// `MPI_Win_post`.
    ///
    /// # Errors
    /// `MPI_ERR_RMA_SYNC`, `MPI_ERR_GROUP`; a lost member.
    pub fn post(&self, window: &Window, group: &Group, assert: Assert) -> Result<()> {
        window.check_revoked()?;
        let origins = window.members(group)?;
        window.epochs().check_post(is_exposed(window), window.comm().rank() as usize)?;
        if window.mapped().is_some() {
            // The words order what comes before and behind them.
            let told = if assert.no_check { Vec::new() } else { origins.clone() };
            *crate::win::lock(&window.exposure) = Some(Exposure::Words(origins));
            self.tell_members(window, Word::Posted, &told);
            return Ok(());
        }
        fence(Ordering::SeqCst);
        let (mut requests, mut completed, mut failed) = (Vec::new(), Vec::new(), None);
        for origin in origins {
            let word = self.hear_word(window, origin, COMPLETED)?;
            completed.push((origin, word));
            requests.push(word);
            if !assert.no_check {
                match self.say_word(window, origin, POSTED) {
                    Ok(posted) => requests.push(posted),
                    // The epoch of the other origins begins; its end tells.
                    Err(why) => failed = failed.or(Some(why)),
                }
            }
        }
        // The program may not come back soon, and origins wait for this.
        self.vci_of(window.comm()).methods.flush_gathered();
        *crate::win::lock(&window.exposure) = Some(Exposure::Messages { requests, completed, failed });
        Ok(())
    }

    /// `MPI_Win_start`, which waits for the targets to have begun.
    ///
    /// # Errors
    /// As [`World::post`].
    pub fn start_access(&self, window: &Arc<Window>, group: &Group, assert: Assert) -> Result<()> {
        const CALL: &str = "MPI_Win_start";
        window.check_revoked()?;
        let targets = window.members(group)?;
        window.epochs().check_start()?;
        if window.mapped().is_some() {
            if !assert.no_check {
                self.until_members_posted(CALL, window, &targets)?;
            }
            window.epochs().started(&targets);
            return Ok(());
        }
        if !assert.no_check {
            let (mut words, mut posted, mut failed) = (Vec::new(), Vec::new(), Ok(()));
            for target in &targets {
                match self.hear_word(window, *target, POSTED) {
                    Ok(word) => words.push((*target, word)),
                    Err(why) => failed = failed.and(Err(why)),
                }
            }
            self.until_said(CALL, window, Part::ForPost, words.clone());
            for (target, word) in words {
                match self.wait_in(CALL, word).and_then(outcome) {
                    Ok(()) => posted.push(target),
                    Err(why) => failed = failed.and(Err(why)),
                }
            }
            let failed = window.check_revoked().and(failed);
            if failed.is_err() {
                return failed.and(self.tell_completed(CALL, window, &posted));
            }
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
        if self.complete_now(window) {
            return Ok(());
        }
        self.check_revoked(CALL, window)?;
        let targets = window.epochs().check_complete()?;
        let completed = self.complete(CALL, window, Targets::These(&targets), Extent::Target);
        window.epochs().completed();
        completed.and(self.tell_completed(CALL, window, &targets))
    }

    /// Says a word to a member, with a request of the reserve if need be: the member counts on it.
    fn say_word(&self, window: &Window, member: usize, tag: i32) -> Result<RequestId> {
        let (comm, nothing) = (window.comm(), Segment::empty());
        let Some(peer) = comm.destination(member as i32)? else { return Ok(Table::DONE) };
        let envelope = envelope(comm, tag, &nothing, Mode::Standard, Types::UNKNOWN)?;
        let Vci { engine, methods, .. } = &mut *self.vci_of(comm);
        engine.requests.reserve(true);
        let started = send::start(engine, methods, peer, &envelope, nothing);
        engine.requests.reserve(false);
        Ok(if let Started::Request(id) = started? { id } else { Table::DONE })
    }

    /// Begins to wait for a word of a member, likewise.
    fn hear_word(&self, window: &Window, member: usize, tag: i32) -> Result<RequestId> {
        let comm = window.comm();
        let Some(peer) = comm.destination(member as i32)? else { return Ok(Table::DONE) };
        let pattern = Pattern { context: comm.context(), source: member as i32, tag };
        let Vci { engine, methods, .. } = &mut *self.vci_of(comm);
        engine.requests.reserve(true);
        let word = recv::start_from(engine, methods, Some(peer), &pattern, Segment::empty());
        engine.requests.reserve(false);
        word
    }

    /// Tells targets that this member is done, those that are left in any case.
    fn tell_completed(&self, call: &'static str, window: &Window, targets: &[usize]) -> Result<()> {
        let (mut told, mut failed) = (Vec::new(), Ok(()));
        for target in targets {
            match self.say_word(window, *target, COMPLETED) {
                Ok(word) => told.push(word),
                Err(why) => failed = failed.and(Err(why)),
            }
        }
        self.vci_of(window.comm()).methods.flush_gathered();
        failed.and(self.wait_for_all(call, told))
    }

    /// `MPI_Win_wait`.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn wait_exposure(&self, window: &Arc<Window>) -> Result<()> {
        const CALL: &str = "MPI_Win_wait";
        let exposure = self.exposure(window)?;
        let outcome = match exposure {
            Exposure::Words(origins) => {
                self.until_members_told((CALL, Part::ForComplete), window, Word::Completed, &origins)
            }
            Exposure::Messages { requests, completed, failed } => {
                self.until_said(CALL, window, Part::ForComplete, completed);
                failed.map_or(Ok(()), Err).and(self.wait_for_all(CALL, requests))
            }
        };
        fence(Ordering::SeqCst);
        window.check_revoked().and(outcome)
    }

    /// `MPI_Win_test`: whether the exposure epoch is over, which it is once, also where it ends with an error.
    ///
    /// # Errors
    /// As [`World::fence`].
    pub fn test_exposure(&self, window: &Window) -> Result<bool> {
        let exposure = self.exposure(window)?;
        let (requests, completed, mut failed) = match exposure {
            Exposure::Words(origins) => {
                let is_over = self.have_members_told(window, Word::Completed, &origins)?;
                fence(Ordering::SeqCst);
                if !is_over {
                    *crate::win::lock(&window.exposure) = Some(Exposure::Words(origins));
                }
                return Ok(is_over);
            }
            Exposure::Messages { requests, completed, failed } => (requests, completed, failed),
        };
        let mut open = Vec::new();
        for id in requests {
            match self.test(id)? {
                Some(status) => failed = failed.or(status.error),
                None => open.push(id),
            }
        }
        fence(Ordering::SeqCst);
        if open.is_empty() {
            return window.check_revoked().and(failed.map_or(Ok(true), Err));
        }
        *crate::win::lock(&window.exposure) = Some(Exposure::Messages { requests: open, completed, failed });
        Ok(false)
    }

    /// What ends the exposure epoch. Its requests end by themselves once the window is revoked.
    fn exposure(&self, window: &Window) -> Result<Exposure> {
        let exposure = crate::win::lock(&window.exposure).take();
        exposure.map_or_else(|| window.check_revoked().and(Err(not_exposed())), Ok)
    }

    /// Waits until these members have said their words, each a receive of this process.
    fn until_said(&self, call: &'static str, window: &Window, part: Part, words: Vec<(usize, RequestId)>) {
        let context = window.comm().context();
        let is_open = |vci: &Vci, word: RequestId| {
            vci.engine.requests.get(word).is_some_and(|request| !complete::is_complete(request))
        };
        let awaited = |vci: &Vci| {
            let open = words.iter().filter(|(_, word)| is_open(vci, *word));
            let need = |(member, _): &(usize, RequestId)| (Some(window.peer(*member)), part, *member as i32);
            Awaited::Window(OfWindow { context, needs: open.map(need).collect(), is_there: None })
        };
        let are_said = |vci: &mut Vci| (!words.iter().any(|(_, word)| is_open(vci, *word))).then_some(());
        self.waiting.until(context.vci(), call, awaited, are_said);
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

pub(super) fn is_exposed(window: &Window) -> bool {
    crate::win::lock(&window.exposure).is_some()
}

#[cold]
fn not_exposed() -> Error {
    Error::invalid(ErrorClass::RmaSync, "win", "within no exposure epoch", "MPI_Win_post before")
}
