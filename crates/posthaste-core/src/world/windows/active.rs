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
//! empty messages, so a lost peer ends whoever waits for one.

use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use super::{Extent, lost_member};
use crate::coll;
use crate::datatype::Segment;
use crate::error::{Error, ErrorClass, Result};
use crate::group::Group;
use crate::ids::RequestId;
use crate::win::{Assert, Exposure, Window};
use crate::wire::Mode;
use crate::world::{World, outcome};

/// Tags of messages on a window's communicator: the exposure epoch has begun, the access epoch is over.
const POSTED: i32 = 0;
const COMPLETED: i32 = 1;

impl World {
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
        // A barrier fails at those who wait for the lost member themselves; its accesses are missing everywhere.
        completed.and(lost_member(&self.vci_of(window.comm()).engine, window))
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

fn is_exposed(window: &Window) -> bool {
    crate::win::lock(&window.exposure).is_some()
}

#[cold]
fn not_exposed() -> Error {
    Error::invalid(ErrorClass::RmaSync, "win", "within no exposure epoch", "MPI_Win_post before")
}
